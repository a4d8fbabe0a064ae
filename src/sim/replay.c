/* The shell of a replay: points of the past in, records out, reads answered from what was recorded. */
#include "sim/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "model/ladder.h"
#include "sim/replay_inside.h"
#include "stats/order.h"

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define USE_POINTS 2880               /* of a knob's use, for the value it is taken to have had */
#define RUNGS_MAX 4096
#define INTERVAL_MAX SPAN_MIN(10)     /* as in a configuration */

const char *replay_origin_name(enum replay_origin o)
{
    static const char *const names[] = {
#define X(id, name, sentence) name,
        REPLAY_ORIGIN_TABLE(X)
#undef X
    };
    return names[o];
}

const char *replay_origin_sentence(enum replay_origin o)
{
    static const char *const sentences[] = {
#define X(id, name, sentence) sentence,
        REPLAY_ORIGIN_TABLE(X)
#undef X
    };
    return sentences[o];
}

const char *replay_would_name(enum replay_would w)
{
    static const char *const names[] = {"report", "ask", "act"};
    return names[w];
}

void *replay_grow(void *array, size_t *n, size_t *cap, size_t size)
{
    if (*n == *cap) {
        *cap = *cap ? 2 * *cap : 16;
        array = realloc(array, *cap * size);
        CHECK(array != NULL);
    }
    memset((char *)array + *n * size, 0, size);
    (*n)++;
    return array;
}

/* ---- the history ---- */

struct replay *replay_new(struct policy *policy)
{
    struct replay *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    *r = (struct replay){.policy = policy, .digest = FNV_START, .from = WALL_NONE, .until = WALL_NONE};
    r->services = calloc(policy->service_count ? policy->service_count : 1, sizeof *r->services);
    for (uint16_t i = 0; r->services && i < policy->service_count; i++) {
        struct replay_service *s = &r->services[i];
        s->def = &policy->services[i];
        s->mode = s->def->mode;
        memcpy(s->class_mode, s->def->class_mode, sizeof s->class_mode);
        s->counterfactual_from = WALL_NONE;
        s->series = calloc(s->def->signal_count ? s->def->signal_count : 1, sizeof *s->series);
        if (s->series) continue;
        replay_free(r);
        return NULL;
    }
    if (r->services) return r;
    free(r);
    return NULL;
}

void replay_free(struct replay *r)
{
    if (!r) return;
    for (uint16_t i = 0; i < r->policy->service_count; i++) {
        struct replay_service *s = &r->services[i];
        for (uint16_t k = 0; s->series && k < s->def->signal_count; k++) {
            free(s->series[k].at);
            free(s->series[k].value);
        }
        for (unsigned k = 0; k < POLICY_KNOBS_MAX; k++) free(s->knobs[k].changes);
        free(s->series);
        free(s->releases);
        free(s->incidents);
        free(s->plans);
        free(s->others);
    }
    free(r->services);
    arena_free(&r->arena);
    free(r);
}

static bool series_grow(struct replay_series *s)
{
    if (s->n < s->cap) return true;
    size_t cap = s->cap ? 2 * s->cap : 1024;
    struct wall *at = realloc(s->at, cap * sizeof *at);
    if (at) s->at = at;
    double *value = realloc(s->value, cap * sizeof *value);
    if (value) s->value = value;
    if (!at || !value) return false;
    s->cap = cap;
    return true;
}

enum status replay_point(struct replay *r, uint16_t service, uint16_t signal, struct wall at, double value, struct err *e)
{
    struct replay_series *s = &r->services[service].series[signal];
    if (s->n && at.us <= s->at[s->n - 1].us) {
        return err_set(e, STATUS_INVALID, "%s: times must grow", r->services[service].def->signals[signal].name);
    }
    if (r->points >= REPLAY_POINTS_MAX) {
        return err_set(e, STATUS_LIMIT, "more than %u points; replay a shorter time, or one service", REPLAY_POINTS_MAX);
    }
    if (!series_grow(s)) return err_set(e, STATUS_MEMORY, "no memory for the points");
    s->at[s->n] = at;
    s->value[s->n++] = isfinite(value) ? value : (double)NAN;
    r->points++;
    return STATUS_OK;
}

enum status replay_knob(struct replay *r, uint16_t service, uint16_t knob, struct wall at, double value, enum replay_origin o,
                        struct err *e)
{
    struct replay_knob *k = &r->services[service].knobs[knob];
    if (!isfinite(value)) return err_set(e, STATUS_INVALID, "the value of a knob is a number");
    if (k->n && at.us <= k->changes[k->n - 1].at) return err_set(e, STATUS_INVALID, "times of a knob must grow");
    if (k->n && k->changes[k->n - 1].value == value) return STATUS_OK;
    if (!k->n) k->origin = o;
    k->present = true;
    *REPLAY_PUSH(k->changes, k->n, k->cap) = (struct replay_change){at.us, value};
    return STATUS_OK;
}

enum status replay_release(struct replay *r, uint16_t service, struct wall at, const char *version, struct err *e)
{
    struct replay_service *s = &r->services[service];
    if (s->release_n && at.us < s->releases[s->release_n - 1].at) return err_set(e, STATUS_INVALID, "times of releases must grow");
    char *copy = arena_strdup(&r->arena, version);
    if (!copy) return err_set(e, STATUS_MEMORY, "no memory for a release");
    *REPLAY_PUSH(s->releases, s->release_n, s->release_cap) = (struct replay_release){at.us, copy};
    return STATUS_OK;
}

bool replay_bounds(const struct replay *r, struct wall *ret_first, struct wall *ret_last)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint16_t i = 0; i < r->policy->service_count; i++) {
        const struct replay_service *s = &r->services[i];
        for (uint16_t k = 0; k < s->def->signal_count; k++) {
            if (s->series[k].n == 0) continue;
            if (s->series[k].at[0].us < first) first = s->series[k].at[0].us;
            if (s->series[k].at[s->series[k].n - 1].us > last) last = s->series[k].at[s->series[k].n - 1].us;
        }
    }
    *ret_first = (struct wall){first};
    *ret_last = (struct wall){last};
    return last != INT64_MIN;
}

/* The first point at or after `at`. */
static size_t series_from(const struct replay_series *p, int64_t at)
{
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (p->at[mid].us < at) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* ---- getting ready ---- */

/* The median of the first distances: a hole or two does not matter. */
static struct span step_of(const struct replay_series *s)
{
    double steps[256];
    size_t n = 0;
    for (size_t i = 1; i < s->n && n < ARRAY_LEN(steps); i++) steps[n++] = (double)(s->at[i].us - s->at[i - 1].us);
    return (struct span){n ? (int64_t)stats_median(steps, n) : 0};
}

/* Nothing is scraped, and a signal is due as often as it was recorded. Its range stays: neighbouring points share samples. */
static void detach(struct replay_service *s, struct service_def *d)
{
    d->target_count = 0;
    d->prometheus = NULL;
    d->mode = MODE_ALERT;
    for (int c = 0; c < CLASS_COUNT; c++) d->class_mode[c] = MODE_ALERT;
    for (uint16_t i = 0; i < d->signal_count; i++) {
        s->series[i].step = step_of(&s->series[i]);
        d->signals[i].query = NULL;
        d->signals[i].interval = span_min(INTERVAL_MAX, span_max(d->signals[i].interval, s->series[i].step));
    }
}

static double assumed(const struct replay_service *s, const struct knob_def *k, enum replay_origin *ret)
{
    double rungs[RUNGS_MAX], use[USE_POINTS];
    uint32_t n = ladder_rungs(k, rungs, RUNGS_MAX), known = 0;
    if (n > RUNGS_MAX) n = RUNGS_MAX;
    *ret = REPLAY_LOWEST;
    if (n == 0 || k->use_signal == NO_INDEX) return n ? rungs[0] : k->min;
    const struct replay_series *u = &s->series[k->use_signal];
    for (size_t i = 0; i < u->n && known < USE_POINTS; i++) {
        if (!isnan(u->value[i])) use[known++] = u->value[i];
    }
    if (known == 0) return rungs[0];
    double median = stats_median(use, known);
    *ret = REPLAY_USE;
    for (uint32_t i = 0; i < n; i++) {
        if (rungs[i] >= median) return rungs[i];
    }
    return rungs[n - 1];
}

/* What is first known of a knob held before as well: nobody has seen another value. */
static void start_knobs(struct replay_service *s)
{
    for (uint16_t i = 0; i < s->def->knob_count; i++) {
        struct replay_knob *k = &s->knobs[i];
        if (!k->present) {
            k->present = true;
            k->start = assumed(s, &s->def->knobs[i], &k->origin);
        } else {
            k->start = k->changes[0].value;
        }
        k->now = k->start;
    }
}

/* ---- the run ---- */

struct answer { bool is_read; uint16_t service, knob; uint64_t token; };

struct run {
    struct replay *r;
    struct loop *loop;
    struct instant now, wake;
    uint64_t ticks;
    struct answer *answers;              /* to be given, in order */
    size_t answer_n, answer_cap, answer_next;
    struct read_vector vector;
};

static struct wall wall_of(const struct run *x) { return (struct wall){x->r->from.us + x->now.us}; }

static void take_effect(struct run *x, const struct effect *f)
{
    switch (f->kind) {
    case EFFECT_READ:
        *REPLAY_PUSH(x->answers, x->answer_n, x->answer_cap) =
            (struct answer){.is_read = true, .service = f->service, .knob = f->u.read.knob};
        break;
    case EFFECT_APPEND:
        for (uint32_t i = 0; i < f->u.append.n; i++) {
            struct record *copy = record_copy(&x->r->arena, &f->u.append.records[i]);
            CHECK(copy != NULL);
            record_u64(copy, RF_SEQ, x->r->records++);
            replay_book_record(x->r, f->service, copy, x->loop);
        }
        *REPLAY_PUSH(x->answers, x->answer_n, x->answer_cap) =
            (struct answer){.service = f->service, .token = f->u.append.token};
        break;
    case EFFECT_WRITE: CHECK(f->kind != EFFECT_WRITE); break;   /* mode alert writes nothing */
    default: break;                      /* the past hears no notice and keeps no state */
    }
}

static void give(struct run *x, struct event *e)
{
    struct update u;
    struct loop_counters c;
    e->now = x->now;
    e->wall = wall_of(x);
    loop_step(x->loop, e, &u);
    x->wake = u.wake_at;
    for (uint32_t i = 0; i < u.n; i++) take_effect(x, &u.effects[i]);
    loop_counters(x->loop, &c);
    if (c.ticks != x->ticks && e->service != ALL_SERVICES) replay_book_tick(x->r, e->service, x->loop);
    x->ticks = c.ticks;
}

static void give_answers(struct run *x)
{
    while (x->answer_next < x->answer_n) {
        struct answer a = x->answers[x->answer_next++];
        struct event e = {.kind = EVENT_ACK, .service = a.service};
        if (a.is_read) {
            x->vector.n = 1;
            x->vector.failed = 0;
            knob_value_set_number(&x->vector.values[0], x->r->services[a.service].knobs[a.knob].now);
            e.kind = EVENT_READ;
            e.u.read.knob = a.knob;
            e.u.read.vector = &x->vector;
        } else {
            e.u.ack.token = a.token;
            e.u.ack.status = STATUS_OK;
        }
        give(x, &e);
    }
    x->answer_n = x->answer_next = 0;
}

/* The newest point of each signal that has come since the last time. */
static void feed_points(struct run *x, uint16_t service)
{
    struct replay_service *s = &x->r->services[service];
    uint16_t signals[POLICY_SIGNALS_MAX];
    struct point points[POLICY_SIGNALS_MAX];
    uint32_t n = 0;
    int64_t now = wall_of(x).us;
    for (uint16_t i = 0; i < s->def->signal_count; i++) {
        struct replay_series *p = &s->series[i];
        size_t next = p->next;
        while (next < p->n && p->at[next].us <= now) next++;
        if (next == p->next) continue;
        p->next = next;
        double v = p->value[next - 1];
        signals[n] = i;
        points[n++] = (struct point){{p->at[next - 1].us - x->r->from.us}, v, 0, isnan(v) ? WHY_MISSING : WHY_KNOWN};
    }
    if (n == 0) return;
    struct event e = {.kind = EVENT_VALUES, .service = service};
    e.u.values.signals = signals;
    e.u.values.points = points;
    e.u.values.n = n;
    give(x, &e);
}

static void feed_rest(struct run *x, uint16_t service)
{
    struct replay_service *s = &x->r->services[service];
    int64_t now = wall_of(x).us;
    for (uint16_t i = 0; i < s->def->knob_count; i++) {
        struct replay_knob *k = &s->knobs[i];
        while (k->next < k->n && k->changes[k->next].at <= now) k->now = k->changes[k->next++].value;
    }
    while (s->release_next < s->release_n && s->releases[s->release_next].at <= now) {
        struct event e = {.kind = EVENT_RELEASE, .service = service};
        e.u.release.version = s->releases[s->release_next++].version;
        e.u.release.by = "history";
        give(x, &e);
    }
}

static void live(struct run *x)
{
    struct instant end = {x->r->until.us - x->r->from.us};
    while (instant_reached(end, x->wake)) {
        x->now = instant_max(x->now, x->wake);
        for (uint16_t i = 0; i < x->r->policy->service_count; i++) {
            struct event e = {.kind = EVENT_TIME, .service = i};
            feed_points(x, i);
            feed_rest(x, i);
            give(x, &e);
            give_answers(x);
        }
    }
    x->now = end;
}

static void import_history(struct run *x, uint16_t service, int64_t oldest)
{
    struct replay_service *s = &x->r->services[service];
    struct point *points = NULL;
    size_t cap = 0;
    uint16_t last = NO_INDEX;
    for (uint16_t i = 0; i < s->def->signal_count; i++) {
        const struct replay_series *p = &s->series[i];
        size_t first = series_from(p, oldest);
        if (first < p->n && p->at[first].us < x->r->from.us) last = i;
    }
    for (uint16_t i = 0; last != NO_INDEX && i <= last; i++) {
        struct replay_series *p = &s->series[i];
        size_t first = series_from(p, oldest);
        p->next = series_from(p, x->r->from.us);
        size_t n = p->next > first ? p->next - first : 0;
        if (n > cap) {
            points = realloc(points, n * sizeof *points);
            CHECK(points != NULL);
            cap = n;
        }
        for (size_t k = 0; k < n; k++) {
            double v = p->value[first + k];
            points[k] = (struct point){{p->at[first + k].us - x->r->from.us}, v, 0, isnan(v) ? WHY_MISSING : WHY_KNOWN};
        }
        struct event e = {.kind = EVENT_HISTORY, .service = service};
        e.u.history.signal = i;
        e.u.history.points = points;
        e.u.history.walls = p->at + first;
        e.u.history.n = (uint32_t)n;
        e.u.history.last = i == last;
        give(x, &e);
    }
    free(points);
}

static bool has_points(const struct replay *r)
{
    for (uint16_t i = 0; i < r->policy->service_count; i++) {
        const struct replay_service *s = &r->services[i];
        for (uint16_t k = 0; k < s->def->signal_count; k++) {
            const struct replay_series *p = &s->series[k];
            size_t first = series_from(p, r->from.us);
            if (first < p->n && p->at[first].us <= r->until.us) return true;
        }
    }
    return false;
}

enum status replay_run(struct replay *r, struct wall from, struct wall until, struct span history, struct err *e)
{
    struct run x = {.r = r, .wake = INSTANT_NEVER};
    struct event folded = {.kind = EVENT_FOLDED, .service = ALL_SERVICES};
    r->from = from;
    r->until = until;
    if (until.us <= from.us || !has_points(r)) {
        return err_set(e, STATUS_INVALID, "no point of the history lies between --since and --until");
    }
    for (uint16_t i = 0; i < r->policy->service_count; i++) {
        detach(&r->services[i], &r->policy->services[i]);
        start_knobs(&r->services[i]);
    }
    x.loop = loop_new(r->policy, x.now, from, (struct loop_options){.alone = true, .save_every = SPAN_DAY(3650), .in_step = true});
    if (!x.loop) return err_set(e, STATUS_MEMORY, "no memory for the loop");
    for (uint16_t i = 0; i < r->policy->service_count; i++) import_history(&x, i, from.us - history.us);
    give(&x, &folded);
    give_answers(&x);
    live(&x);
    replay_book_end(r);
    loop_free(x.loop);
    free(x.answers);
    return STATUS_OK;
}
