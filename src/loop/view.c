/* What people are shown: a copy of the state in plain words. */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "loop/service.h"

static void take_text(char *dst, size_t cap, struct buf *b)
{
    (void)text_copy(dst, cap, buf_text(b));
    buf_free(b);
}

static void id_text(const struct service_loop *s, uint16_t id, char *dst, size_t cap)
{
    struct knob_value v = {0};
    struct buf b = BUF_INIT;
    if (intern_get(&s->intern, id, &v)) buf_add(&b, v.bytes, v.len);
    take_text(dst, cap, &b);
}

static void view_signals(const struct loop *l, const struct service_loop *s, struct arena *a, struct service_view *v)
{
    struct finding f[POLICY_SIGNALS_MAX];
    struct detect_warm warm;
    uint32_t n = detect_findings(s->detect, f, POLICY_SIGNALS_MAX);
    detect_warm(s->detect, l->now, &warm);
    v->signal_count = s->def->signal_count;
    v->signals = ARENA_NEW_N(a, v->signal_count ? v->signal_count : 1u, struct signal_view);
    CHECK_MEMORY(v->signals);
    for (uint16_t i = 0; i < v->signal_count; i++) {
        struct signal_view *out = &v->signals[i];
        struct detect_status st;
        detect_status(s->detect, i, &st);
        *out = (struct signal_view){.baseline = st.baseline, .baseline_scale = st.scale, .profile = st.profile, .drift = st.drift,
                                    .zscore = st.zscore, .score = st.score, .state = st.state, .baseline_why = st.baseline_why,
                                    .learned = warm.learned_ticks, .needed = 60,
                                    .anchor = st.anchor, .origin = st.origin, .origin_at = st.origin_at};
        out->now.value = s->points[i].value;
        out->now.why = s->points[i].why;
        out->now.age = instant_is_set(s->points[i].at) ? instant_since(l->now, s->points[i].at) : (struct span){0};
        for (uint32_t j = 0; j < n; j++) {
            if (f[j].signal != i || out->finding[0]) continue;
            struct buf b = BUF_INIT;
            detect_say(&b, s->def, &f[j]);
            take_text(out->finding, sizeof out->finding, &b);
        }
    }
}

static void view_warm(const struct loop *l, const struct service_loop *s, struct service_view *v)
{
#define X(id, name, needed) {name, false, {0}, needed, WALL_NONE},
    static const struct warm_view table[] = {WARM_TABLE(X)};
#undef X
    struct detect_warm warm;
    detect_warm(s->detect, l->now, &warm);
    const bool awake[WARM_COUNT] = {warm.shift, warm.spike, warm.imported || warm.day, warm.drift, warm.week};
    struct span ticks = {(int64_t)warm.learned_ticks * s->policy->tick.us};
    v->imported = warm.imported;
    for (unsigned i = 0; i < WARM_COUNT; i++) {
        struct warm_view *w = &v->views[i];
        *w = table[i];
        w->awake = awake[i];
        w->learned = span_min(i == WARM_SHIFT ? ticks : warm.history, w->needed);
        if (!w->awake) w->wakes = (struct wall){l->wall.us + w->needed.us - w->learned.us};
    }
}

static void view_symptoms(const struct service_loop *s, struct arena *a, struct service_view *v)
{
    v->symptom_count = s->def->symptom_count;
    v->symptoms = ARENA_NEW_N(a, v->symptom_count ? v->symptom_count : 1u, struct symptom_view);
    CHECK_MEMORY(v->symptoms);
    for (uint16_t i = 0; i < v->symptom_count; i++) {
        struct buf b = BUF_INIT;
        v->symptoms[i].now = s->symptoms[i].now;
        v->symptoms[i].history = s->symptoms[i].history;
        expr_explain(&b, s->def->symptoms[i].when, &s->evidence, s->def);
        take_text(v->symptoms[i].explain, sizeof v->symptoms[i].explain, &b);
    }
}

static void view_causes(const struct service_loop *s, struct arena *a, struct service_view *v)
{
    v->cause_count = v->incident_open ? s->causes.n : 0;
    v->causes = ARENA_NEW_N(a, v->cause_count ? v->cause_count : 1u, struct cause_view);
    CHECK_MEMORY(v->causes);
    for (uint16_t i = 0; i < v->cause_count; i++) {
        struct buf b = BUF_INIT;
        v->causes[i].result = s->causes.items[i];
        locate_explain(&b, s->def, &s->evidence, &s->causes.items[i]);
        take_text(v->causes[i].explain, sizeof v->causes[i].explain, &b);
    }
}

static void view_action(const struct service_loop *s, struct service_view *v)
{
    const struct control *c = &s->control;
    if (!control_in_flight(c)) return;
    const struct control_slot *slot = &c->knobs[c->active].slot;
    struct buf id = BUF_INIT;
    buf_printf(&id, "%s/", s->def->name);
    buf_u64(&id, slot->action);
    v->action.present = true;
    take_text(v->action.id, sizeof v->action.id, &id);
    v->action.knob = c->active;
    v->action.phase = (enum state)c->state;
    v->action.until = instant_is_set(c->phase_until) ? c->phase_until : c->deadline;
    id_text(s, slot->old, v->action.from, sizeof v->action.from);
    id_text(s, slot->new_, v->action.to, sizeof v->action.to);
}

static void view_request(const struct loop *l, const struct service_loop *s, struct service_view *v)
{
    const struct control_request *q = &s->control.request;
    if (!q->present) return;
    v->request.present = true;
    v->request.knob = q->knob;
    v->request.cause = q->cause;
    v->request.expiry = wall_at(l, q->expiry);
    id_text(s, q->from, v->request.from, sizeof v->request.from);
    id_text(s, q->to, v->request.to, sizeof v->request.to);
    (void)text_copy(v->request.plan_hash, sizeof v->request.plan_hash, s->request_hash);
    struct buf id = BUF_INIT;
    buf_add(&id, s->request_hash, strlen(s->request_hash) < 16 ? strlen(s->request_hash) : 16);
    take_text(v->request.id, sizeof v->request.id, &id);
}

static enum reason blocked(const struct loop *l, const struct service_loop *s, unsigned k)
{
    const struct control_knob *c = &s->control.knobs[k];
    if (s->control.halted) return REASON_HALTED;
    if (!instant_reached(l->now, s->control.suspended[s->def->knobs[k].class])) return REASON_CLASS_SUSPENDED;
    if (s->def->knobs[k].tier >= 3) return REASON_UNLISTED;
    if (c->slot.unacknowledged || !instant_reached(l->now, c->frozen_until)) return REASON_OWNED;
    if (!instant_reached(l->now, c->cool_until)) return REASON_COOLING;
    if (!instant_reached(l->now, c->protect_until)) return REASON_PROTECTED;
    if (!instant_reached(l->now, c->interval_until)) return REASON_INTERVAL;
    return REASON_NONE;
}

static void view_knobs(const struct loop *l, const struct service_loop *s, struct arena *a, struct service_view *v)
{
    v->knobs = arena_array(a, s->def->knob_count ? s->def->knob_count : 1u, sizeof *v->knobs);
    CHECK_MEMORY(v->knobs);
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        const struct control_knob *c = &s->control.knobs[k];
        (void)text_copy(v->knobs[k].value, sizeof v->knobs[k].value, s->knobs[k].text);
        id_text(s, c->believed, v->knobs[k].believed, sizeof v->knobs[k].believed);
        v->knobs[k].interval_until = c->interval_until;
        v->knobs[k].protect_until = c->protect_until;
        v->knobs[k].cool_until = c->cool_until;
        v->knobs[k].frozen_until = c->frozen_until;
        v->knobs[k].fails = c->fails;
        v->knobs[k].late_watch = c->slot.late_open;
        v->knobs[k].unacknowledged = c->slot.unacknowledged;
        v->knobs[k].suspended = !instant_reached(l->now, s->control.suspended[s->def->knobs[k].class]);
        v->knobs[k].blocked = blocked(l, s, k);
    }
}

static void view_targets(const struct loop *l, const struct service_loop *s, struct arena *a, struct service_view *v)
{
    v->targets = arena_array(a, s->def->target_count ? s->def->target_count : 1u, sizeof *v->targets);
    CHECK_MEMORY(v->targets);
    for (uint16_t i = 0; i < s->def->target_count; i++) {
        struct collect_target t;
        collect_target(s->collect, i, &t);
        v->targets[i].url = s->def->targets[i].url;
        v->targets[i].up = t.up;
        v->targets[i].age = instant_is_set(t.last_good) ? instant_since(l->now, t.last_good) : (struct span){-1};
        v->targets[i].samples = t.samples;
        v->targets[i].broken_lines = t.broken_lines;
        (void)text_copy(v->targets[i].error, sizeof v->targets[i].error, t.error);
    }
}

void loop_view(const struct loop *l, uint16_t service, struct arena *a, struct service_view *ret)
{
    CHECK(service < l->service_count);
    const struct service_loop *s = &l->services[service];
    const struct control *c = &s->control;
    struct detect_warm warm;
    struct buf now = BUF_INIT;
    memset(ret, 0, sizeof *ret);
    detect_warm(s->detect, l->now, &warm);
    ret->def = s->def;
    ret->at = l->now;
    ret->wall = l->wall;
    ret->state = (enum state)c->state;
    ret->halted = c->halted;
    ret->frozen = c->frozen != 0;
    ret->maintenance = s->maintenance;
    struct buf why = BUF_INIT;
    windows_frozen_words(&why, l, s);
    take_text(ret->frozen_why, sizeof ret->frozen_why, &why);
    ret->warm_for_auto = warm.imported || !span_less(warm.history, SPAN_HOUR(24));
    (void)text_copy(ret->halted_by, sizeof ret->halted_by, s->halted_by);
    ret->halted_at = s->halted_at;
    (void)text_copy(ret->halted_why, sizeof ret->halted_why, s->halted_why);
    ret->mode = s->def->mode;
    words_now(&now, l, s);
    take_text(ret->sentence, sizeof ret->sentence, &now);
    ret->decision = s->decision;
    ret->incident_open = c->incident_open;
    ret->incident_id = c->incidents;
    ret->incident_symptom = c->symptom;
    ret->incident_onset = wall_at(l, c->onset);
    ret->incident_opened = wall_at(l, c->opened);
    ret->aging = c->incident_open && detect_aging(s->detect, l->now);
    ret->n_auto = c->n_auto;
    ret->deployed = wall_at(l, s->deployed);
    (void)text_copy(ret->model_version, sizeof ret->model_version, s->model_version);
    view_signals(l, s, a, ret);
    view_warm(l, s, ret);
    view_symptoms(s, a, ret);
    view_causes(s, a, ret);
    view_action(s, ret);
    view_request(l, s, ret);
    view_knobs(l, s, a, ret);
    view_targets(l, s, a, ret);
}

void loop_modules(const struct loop *l, struct module_view ret[MODULE_COUNT])
{
    struct span limit = {3 * l->policy->tick.us};
    for (unsigned m = 0; m < MODULE_COUNT; m++) {
        struct span silent = instant_since(l->now, l->modules[m].last);
        ret[m] = (struct module_view){.module = (enum module)m, .silent_for = silent, .runs = l->modules[m].runs,
                                      .errors = l->modules[m].errors, .healthy = !span_less(limit, silent)};
    }
}

void loop_counters(const struct loop *l, struct loop_counters *ret)
{
    *ret = l->counters;
    fleet_count(l, ret);
}

void loop_service_state(const struct loop *l, uint16_t service, struct buf *out)
{
    CHECK(service < l->service_count);
    detect_save(l->services[service].detect, out);
}

size_t loop_bytes(const struct loop *l)
{
    size_t total = sizeof *l + l->service_count * sizeof *l->services + l->effect_cap * sizeof *l->effects;
    for (uint16_t i = 0; i < l->service_count; i++) {
        total += collect_bytes(l->services[i].collect) + detect_bytes(l->services[i].detect);
    }
    return total;
}
