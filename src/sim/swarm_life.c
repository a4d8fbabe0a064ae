/* The life of the simulated processes: start, kill, standstill, takeover, clocks; and what each fault does when its time comes. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/swarm_real.h"

/* ---- configuration ---- */

static void stricter(struct swarm *w, struct service_def *s, const struct faults_item *i)
{
    switch ((enum faults_kind)i->kind) {
    case FAULTS_RELOAD_TIER:
        for (uint16_t k = 0; k < s->knob_count; k++) s->knobs[k].tier = 3;
        break;
    case FAULTS_RELOAD_MAX:
        for (uint16_t k = 0; k < s->knob_count; k++) s->knobs[k].max /= 4;
        break;
    case FAULTS_RELOAD_KNOB: s->knob_count--; break;
    case FAULTS_RELOAD_MODE:
        s->mode = (enum mode)((w->mode + 1 + (i->size > 0.5)) % 3);
        for (unsigned c = 0; c < CLASS_COUNT; c++) s->class_mode[c] = s->mode;
        break;
    default: break;
    }
}

static void exchange(struct swarm *w, struct policy *p)
{
    swarm_adopt(w, p);
    for (unsigned n = 0; n < SWARM_PROCESSES; n++) {
        w->p = &w->processes[n];
        if (!w->p->loop) continue;
        if (swarm_leads(w)) invariants_reload(w);
        struct event e = {.kind = EVENT_RELOAD, .service = ALL_SERVICES, .u.reload = {.policy = p, .by = "file"}};
        swarm_step(w, &e);
        if (w->p->loop && w->p->fold_wanted) swarm_second(w);
    }
    swarm_leader(w);
}

/* A file with an error: the daemon goes on with the policy that it has, and says what is wrong. */
static void reload_invalid(struct swarm *w, struct faults_item *i)
{
    swarm_tell(w, "reload of a file with an error");
    bool refused = swarm_policy_invalid(w, &i->chance);
    if (!refused) violated(w, "config: a file with an error was taken, or nobody was told what is wrong");
}

static void reload(struct swarm *w, struct faults_item *i)
{
    if (i->kind == FAULTS_RELOAD_INVALID) {
        reload_invalid(w, i);
        return;
    }
    struct policy *p = swarm_policy(w, NULL);
    if (!p) return;
    for (uint16_t n = 0; n < p->service_count; n++) {
        if (n == i->service || i->size < 0.5) stricter(w, &p->services[n], i);
    }
    (void)text_copy(p->revision, sizeof p->revision, faults_word((enum faults_kind)i->kind));
    swarm_tell(w, "reload: %s", faults_word((enum faults_kind)i->kind));
    exchange(w, p);
}

/* ---- start and end ---- */

static void give_state(struct swarm_service *s)
{
    struct swarm *w = s->w;
    struct event e = {.kind = EVENT_STATE, .service = s->index};
    struct buf copy = BUF_INIT;
    if (s->state.len == 0) return;
    buf_add(&copy, s->state.data, s->state.len);
    e.u.state.bytes = copy.data;
    e.u.state.len = copy.len;
    e.u.state.age = instant_since(w->now, s->state_at);
    swarm_step(w, &e);
    buf_free(&copy);
}

/* The process p, which is dead, begins to live and leads. */
static void live(struct swarm *w)
{
    struct swarm_process *p = w->p;
    p->mono_offset = swarm_wall(w).us - w->now.us;      /* as the daemon's clock: it starts at what the wall says */
    p->token = ++w->lease;
    p->told = p->slept = false;
    p->doubt_until = INSTANT_NONE;
    p->paused_until = (struct instant){0};
    p->loop = loop_new(w->policy, swarm_mono(w, w->now), swarm_wall(w), (struct loop_options){.alone = true, .token = p->token,
        .save_every = SPAN_MIN(15)});
    CHECK(p->loop != NULL);
    p->life = ++w->lives;
    p->wake = INSTANT_NEVER;
    swarm_tell(w, "process %u starts", p->life);
    invariants_starts(w);
    p->giving_log = true;
    for (unsigned i = 0; i < w->n; i++) give_state(&w->services[i]);
    swarm_fold(w, (UINT32_C(1) << w->n) - 1);
}

bool swarm_start(struct swarm *w)
{
    for (unsigned i = 0; i < SWARM_PROCESSES; i++) {
        if (w->processes[i].loop && w->processes[i].token == w->lease) return true;   /* one leads, or will when it wakes */
    }
    w->p = &w->processes[0];
    if (w->p->loop) w->p = &w->processes[1];
    if (w->disk && !real_open(w)) (void)swarm_later(w, LATER_RESTART, instant_add(w->now, SPAN_S(2)), false);
    else live(w);
    return true;
}

void swarm_kill(struct swarm *w, struct span down)
{
    struct swarm_process *p = w->p;
    p->kill_asked = false;
    if (!p->loop) return;
    swarm_tell(w, "process %u is killed", p->life);
    swarm_store_dies(w);
    loop_free(p->loop);
    p->loop = NULL;
    p->life = ++w->lives;            /* whatever waits for the dead process reaches nobody */
    p->paused_until = (struct instant){0};
    if (swarm_leads(w)) invariants_killed(w);
    (void)swarm_later(w, LATER_RESTART, instant_add(w->now, span_max(down, SPAN_MS(200))), false);
}

/* Asked while effects are carried out: the ones after it are lost with the process. */
void swarm_kill_at(struct swarm *w, enum faults_kind k, uint16_t service)
{
    struct faults_item *i = faults_now(&w->faults, k, service, w->now);
    if (!i) return;
    i->until = w->now;               /* once */
    w->p->kill_asked = true;
    w->p->kill_len = (struct span){(int64_t)(i->size * i->size * 6e8)};
}

static void stand_still(struct swarm *w, const struct faults_item *i, bool asleep)
{
    struct swarm_process *p = w->p;
    if (!p->loop || !instant_reached(w->now, p->paused_until)) return;
    struct span len = span_min(i->len, instant_since(w->active_end, w->now));
    p->paused_until = instant_add(w->now, len);
    p->slept = true;
    swarm_tell(w, asleep ? "the machine sleeps" : "the process stands still");
    if (asleep) p->mono_offset -= len.us;            /* monotonic time has not moved when it wakes */
}

/* ---- two daemons ---- */

/* The leader stands still so long that its lease runs out; another daemon gets it, with the next fencing token. */
static void lose_lease(struct swarm *w, struct faults_item *i)
{
    struct swarm_process *p = w->p;
    if (w->disk || !p->loop || !instant_reached(w->now, p->paused_until)) return;   /* SQLite's folder has one process */
    i->len = span_max(i->len, SPAN_S(20));
    stand_still(w, i, false);
    (void)swarm_later(w, LATER_TAKEOVER, instant_add(w->now, SWARM_LEASE), false);
    struct span look = SPAN_MS(prng_below(&i->chance, 2000));    /* each second the shell looks at its lease */
    (void)swarm_later(w, LATER_LEASE, instant_add(p->paused_until, look), true);
}

void swarm_takeover(struct swarm *w)
{
    struct swarm_process *old = w->p, *p = old == &w->processes[0] ? &w->processes[1] : &w->processes[0];
    bool hangs = old->loop && !instant_reached(w->now, old->paused_until);
    if (!hangs) return;
    w->p = p;
    if (p->loop) {                   /* it led before, and was told since: it begins anew */
        swarm_store_dies(w);
        loop_free(p->loop);
    }
    swarm_tell(w, "another daemon takes the lease");
    invariants_killed(w);
    live(w);
}

void swarm_lease(struct swarm *w)
{
    if (swarm_leads(w) || w->p->told) return;
    struct event e = {.kind = EVENT_HEALTH, .service = ALL_SERVICES,
                      .u.health = {.set = FREEZE_LEASE, .why = "another daemon leads"}};
    swarm_tell(w, "process %u sees that it leads no longer", w->p->life);
    swarm_step(w, &e);
    w->p->told = true;
}

/* ---- clocks ---- */

/* For a day after the clock was set neither time is trusted: a window is over, if it is so by both. */
static void doubt(struct swarm *w, int64_t by)
{
    for (unsigned n = 0; n < SWARM_PROCESSES; n++) {
        struct swarm_process *p = &w->processes[n];
        bool doubted = instant_is_set(p->doubt_until) && instant_before(w->now, p->doubt_until);
        if (by >= -10 * US_PER_S && by <= 10 * US_PER_S) continue;
        if (!doubted) p->step_before = w->wall_step;
        p->doubt_until = instant_add(w->now, SPAN_HOUR(24));
    }
}

static void step_clock(struct swarm *w, struct faults_item *i)
{
    int64_t by = i->len.us;
    if (i->kind == FAULTS_CLOCK_DST || prng_below(&i->chance, 4) == 0) by = US_PER_HOUR;   /* a wrong zone, DST in local time */
    if (i->kind == FAULTS_CLOCK_LEAP) by = US_PER_S;
    if (i->size < 0.5) by = -by;
    doubt(w, by);
    w->wall_step += by;
    swarm_tell(w, "the wall clock steps by %lld s", (long long)(by / US_PER_S));
    struct event e = {.kind = EVENT_TIME, .service = w->n > 1 ? ALL_SERVICES : 0};
    if (instant_reached(w->now, w->p->paused_until)) swarm_step(w, &e);
}

void swarm_fault(struct swarm *w, struct faults_item *i)
{
    struct swarm_service *s = &w->services[i->service];
    if (w->calm) return;
    w->about = s;
    i->bites += !faults_lasts((enum faults_kind)i->kind);
    switch (faults_group((enum faults_kind)i->kind)) {
    case FAULTS_HAND: swarm_hand(s, i); break;
    case FAULTS_PEOPLE: swarm_person(w, i); break;
    case FAULTS_CONFIG: reload(w, i); break;
    case FAULTS_STORE:
        if (i->kind == FAULTS_STORE_FAILS && i->size < 0.3) swarm_store_trouble(w);
        break;
    case FAULTS_DISK:
        if (i->kind == FAULTS_POWER_CUT) swarm_kill(w, i->len);
        break;
    case FAULTS_PROCESS:
        if (i->kind == FAULTS_KILL) swarm_kill(w, i->len);
        if (i->kind == FAULTS_PAUSE) stand_still(w, i, false);
        if (i->kind == FAULTS_TAKEOVER) lose_lease(w, i);
        break;
    case FAULTS_CLOCK:
        if (i->kind == FAULTS_SUSPEND) stand_still(w, i, true);
        else step_clock(w, i);
        break;
    default: break;                  /* states of the world are looked up when they matter */
    }
}

/* Items that wait for a record of this kind begin now. */
void swarm_arm(struct swarm *w, const struct record *r)
{
    uint16_t service = policy_service(w->policy, record_get_text(r, RF_SERVICE));
    for (unsigned n = 0; n < w->faults.n; n++) {
        struct faults_item *i = &w->faults.items[n];
        if (i->left_out || !i->on_record || i->armed || i->record != r->kind || w->calm) continue;
        if (!faults_meets(i, service) || !instant_reached(w->now, i->at) || ++i->seen < i->nth) continue;
        i->armed = true;
        i->from = instant_add(w->now, i->delay);
        i->until = instant_add(i->from, i->len);
        if (w->n > 1) i->service = (uint8_t)service;
        swarm_later(w, LATER_FAULT, i->from, false)->item = (uint16_t)n;
    }
}

/* All faults end; the first configuration is loaded again. What people and the world have left behind stays. */
void swarm_calm(struct swarm *w)
{
    w->calm = true;
    w->window_n = 0;
    swarm_tell(w, "calm");
    for (unsigned n = 0; n < w->faults.n; n++) {
        struct faults_item *i = &w->faults.items[n];
        if (i->armed && instant_before(w->now, i->until)) i->until = w->now;
    }
    for (unsigned n = 0; n < w->n; n++) {
        fluid_advance(w->services[n].fluid, w->now.us);
        fluid_faults_lift(w->services[n].fluid);
    }
    struct policy *p = swarm_policy(w, NULL);
    if (p) exchange(w, p);
}
