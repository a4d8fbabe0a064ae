/* The life of the simulated process: configuration, start, kill, standstill, clocks; and what each fault does when its time
 * comes. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "config/load.h"
#include "sim/scenario.h"
#include "sim/swarm_inside.h"

/* ---- configuration ---- */

/* The shipped policy; points come straight from the world. Half of the runs have short intervals, so that more happens in a day. */
static struct policy *load(struct swarm *w, struct err *e)
{
    size_t len;
    struct config_options options = {.points_from_outside = true};
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    const char *bytes = scenario_shipped_policy("reference", &len);
    struct policy *p = bytes ? config_load(bytes, len, "reference", &options, &d) : NULL;
    config_diagnostics_free(&d);
    if (!p || w->policy_n == SWARM_POLICIES) {
        (void)err_set(e, STATUS_INVALID, "the shipped configuration 'reference' cannot be loaded");
        config_free(p);
        return NULL;
    }
    struct service_def *s = &p->services[0];
    s->target_count = 0;
    for (uint16_t i = 0; i < s->signal_count; i++) {
        s->signals[i].query = NULL;
        s->signals[i].range = (struct span){0};
        s->signals[i].interval = span_max(s->signals[i].interval, p->tick);
    }
    s->mode = (enum mode)w->mode;
    for (unsigned c = 0; c < CLASS_COUNT; c++) s->class_mode[c] = (enum mode)w->mode;
    for (uint16_t k = 0; k < s->knob_count; k++) {
        struct knob_def *knob = &s->knobs[k];
        knob->cas = w->cas != CAS_NONE;
        knob->single_writer = w->cas == CAS_NONE;
        if (w->cas != CAS_VERSION) knob->read.version_header = NULL;
        if (w->hurried) {
            knob->interval = SPAN_MIN(20);
            knob->protect = SPAN_HOUR(1);
            knob->dead_band = 0.02;
        }
    }
    w->policies[w->policy_n++] = p;
    return p;
}

bool swarm_policies(struct swarm *w, struct err *e)
{
    w->policy = load(w, e);
    if (!w->policy) return false;
    w->service = &w->policy->services[0];
    return true;
}

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
    w->policy = p;
    w->service = &p->services[0];
    invariants_reload(w);
    if (!w->loop) return;
    struct event e = {.kind = EVENT_RELOAD, .service = ALL_SERVICES, .u.reload = {.policy = p, .by = "file"}};
    swarm_step(w, &e);
    if (w->fold_wanted && w->loop) swarm_second(w);
}

void swarm_reload(struct swarm *w, struct faults_item *i)
{
    struct policy *p = load(w, NULL);
    if (!p) return;
    stricter(w, &p->services[0], i);
    (void)text_copy(p->revision, sizeof p->revision, faults_word((enum faults_kind)i->kind));
    swarm_tell(w, "reload: %s", faults_word((enum faults_kind)i->kind));
    exchange(w, p);
}

/* ---- start and end ---- */

bool swarm_start(struct swarm *w)
{
    if (w->loop) return true;
    w->mono_offset = swarm_wall(w).us - w->now.us;      /* as the daemon's clock: it starts at what the wall says */
    w->loop = loop_new(w->policy, swarm_mono(w, w->now), swarm_wall(w), (struct loop_options){.alone = true,
        .save_every = SPAN_MIN(5)});
    CHECK(w->loop != NULL);
    w->life++;
    w->wake = INSTANT_NEVER;
    swarm_tell(w, "process %u starts", w->life);
    w->giving_log = true;
    if (w->state.len > 0) {
        struct event e = {.kind = EVENT_STATE};
        struct buf copy = BUF_INIT;
        buf_add(&copy, w->state.data, w->state.len);
        e.u.state.bytes = copy.data;
        e.u.state.len = copy.len;
        e.u.state.age = instant_since(w->now, w->state_at);
        swarm_step(w, &e);
        buf_free(&copy);
    }
    swarm_fold_all(w);
    return true;
}

void swarm_kill(struct swarm *w, struct span down)
{
    w->kill_asked = false;
    if (!w->loop) return;
    swarm_tell(w, "process %u is killed", w->life);
    swarm_store_dies(w);
    loop_free(w->loop);
    w->loop = NULL;
    w->life++;                       /* whatever waits for the dead process reaches nobody */
    w->paused_until = (struct instant){0};
    invariants_killed(w);
    (void)swarm_later(w, LATER_RESTART, instant_add(w->now, span_max(down, SPAN_MS(200))), false);
}

/* Asked while effects are carried out: the ones after it are lost with the process. */
void swarm_kill_at(struct swarm *w, enum faults_kind k)
{
    struct faults_item *i = faults_now(&w->faults, k, w->now);
    if (!i) return;
    i->until = w->now;               /* once */
    w->kill_asked = true;
    w->kill_len = (struct span){(int64_t)(i->size * i->size * 6e8)};
}

static void stand_still(struct swarm *w, const struct faults_item *i, bool asleep)
{
    if (!w->loop || !instant_reached(w->now, w->paused_until)) return;
    struct span len = span_min(i->len, instant_since(w->active_end, w->now));
    w->paused_until = instant_add(w->now, len);
    swarm_tell(w, asleep ? "the machine sleeps" : "the process stands still");
    if (asleep) w->mono_offset -= len.us;            /* monotonic time has not moved when it wakes */
}

static void step_clock(struct swarm *w, struct faults_item *i)
{
    int64_t by = i->len.us;
    if (prng_below(&i->chance, 4) == 0) by = US_PER_HOUR;           /* a wrong zone, or DST in local time */
    if (i->size < 0.5) by = -by;
    w->wall_step += by;
    swarm_tell(w, "the wall clock steps by %lld s", (long long)(by / US_PER_S));
    struct event e = {.kind = EVENT_TIME};
    if (instant_reached(w->now, w->paused_until)) swarm_step(w, &e);
}

void swarm_fault(struct swarm *w, struct faults_item *i)
{
    if (w->calm) return;
    switch (faults_group((enum faults_kind)i->kind)) {
    case FAULTS_HAND: swarm_hand(w, i); break;
    case FAULTS_PEOPLE: swarm_person(w, i); break;
    case FAULTS_CONFIG: swarm_reload(w, i); break;
    case FAULTS_STORE:
        if (i->kind == FAULTS_STORE_FAILS && i->size < 0.3) swarm_store_trouble(w);
        break;
    case FAULTS_PROCESS:
        if (i->kind == FAULTS_KILL) swarm_kill(w, i->len);
        if (i->kind == FAULTS_PAUSE) stand_still(w, i, false);
        break;
    case FAULTS_CLOCK:
        if (i->kind == FAULTS_SUSPEND) stand_still(w, i, true);
        else step_clock(w, i);
        break;
    default: break;                  /* states of the world are looked up when they matter */
    }
}

/* Items that wait for a record of this kind begin now. */
void swarm_arm(struct swarm *w, enum record_kind kind)
{
    for (unsigned n = 0; n < w->faults.n; n++) {
        struct faults_item *i = &w->faults.items[n];
        if (i->left_out || !i->on_record || i->armed || i->record != kind || w->calm) continue;
        if (!instant_reached(w->now, i->at) || ++i->seen < i->nth) continue;
        i->armed = true;
        i->from = instant_add(w->now, i->delay);
        i->until = instant_add(i->from, i->len);
        swarm_later(w, LATER_FAULT, i->from, false)->item = (uint16_t)n;
    }
}

/* All faults end; the first configuration is loaded again. What people and the world have left behind stays. */
void swarm_calm(struct swarm *w)
{
    w->calm = true;
    swarm_tell(w, "calm");
    for (unsigned n = 0; n < w->faults.n; n++) {
        struct faults_item *i = &w->faults.items[n];
        if (i->armed && instant_before(w->now, i->until)) i->until = w->now;
    }
    fluid_advance(w->fluid, w->now.us);
    fluid_faults_lift(w->fluid);
    struct policy *p = load(w, NULL);
    if (!p) return;
    exchange(w, p);
}
