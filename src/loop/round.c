/* Rounds: polls and reads go out together; when the last answer is in, the points are evaluated at once, and on a tick
 * the whole loop runs. So the page that opens the last gate leads to a write within milliseconds, not at the next timer. */
#include <string.h>

#include "base/check.h"
#include "loop/service.h"

#define READ_TO_WRITE SPAN_S(1)

static bool is_fast(const struct service_loop *s)
{
    struct span every;
    (void)control_reads_wanted(&s->control_policy, &s->control, &every);
    return every.us > 0;
}

void round_ask_reads(struct loop *l, struct service_loop *s, uint32_t knobs, bool before_write)
{
    for (uint16_t k = 0; k < s->def->knob_count; k++) {
        if (!(knobs >> k & 1) || s->knobs[k].asked) continue;
        struct effect *e = loop_effect(l, EFFECT_READ, service_index(l, s));
        e->u.read.knob = k;
        e->u.read.before_write = before_write;
        s->knobs[k].asked = true;
        s->knobs[k].asked_at = l->now;
        s->knobs[k].asked_wall = l->wall;
        s->reads_out++;
    }
}

static void ask_polls(struct loop *l, struct service_loop *s)
{
    if (s->def->prometheus) {
        loop_effect(l, EFFECT_POLL, service_index(l, s))->u.poll.target = POLL_SERVER;
        s->polls_out = 1;
        return;
    }
    for (uint16_t t = 0; t < s->def->target_count; t++) {
        loop_effect(l, EFFECT_POLL, service_index(l, s))->u.poll.target = t;
        s->polls_out++;
    }
}

static void close_round(struct loop *l, struct service_loop *s)
{
    bool tick = s->round_is_tick;
    s->round_open = false;
    s->round_is_tick = false;
    tick_points(l, s);
    if (tick && s->folded) tick_full(l, s);
}

static void close_if_complete(struct loop *l, struct service_loop *s)
{
    if (s->round_open && s->polls_out == 0 && s->reads_out == 0) close_round(l, s);
}

/* Keeps the grid: a late round does not shift the ones after it. */
static struct instant next_on_grid(struct instant due, struct span step, struct instant now)
{
    int64_t behind = now.us - due.us;
    int64_t skip = behind < 0 ? 0 : behind / step.us;
    return instant_add(due, (struct span){(skip + 1) * step.us});
}

static void begin_round(struct loop *l, struct service_loop *s)
{
    bool tick = instant_reached(l->now, s->next_tick);
    struct span every;
    if (s->round_open) close_round(l, s);      /* the last one never got all its answers */
    s->polls_out = 0;
    s->round_open = true;
    s->round_is_tick = tick;
    s->round_began = l->now;
    s->next_round = next_on_grid(s->next_round, s->round, l->now);
    if (tick) s->next_tick = next_on_grid(s->next_tick, s->policy->tick, l->now);
    ask_polls(l, s);
    if (tick) round_ask_reads(l, s, control_reads_wanted(&s->control_policy, &s->control, &every), false);
    close_if_complete(l, s);
}

void round_time(struct loop *l, struct service_loop *s)
{
    if (!s->folded) return;
    if (instant_reached(l->now, s->next_round)) begin_round(l, s);
    if (s->round_open && instant_reached(l->now, instant_add(s->round_began, ROUND_PATIENCE))) close_round(l, s);
    if (is_fast(s) && instant_reached(l->now, s->next_read)) {
        struct span every;
        uint32_t wanted = control_reads_wanted(&s->control_policy, &s->control, &every);
        s->next_read = instant_add(l->now, every);
        round_ask_reads(l, s, wanted, s->control.state == STATE_INTENT);
    }
    struct instant due = control_wake(&s->control_policy, &s->control);
    if (instant_reached(l->now, due) && instant_before(s->timed_at, due)) {
        s->timed_at = l->now;
        drive_poll(l, s, 0);
    }
}

void round_page(struct loop *l, struct service_loop *s, const struct event *e)
{
    if (e->u.page.target >= s->def->target_count) return;
    struct page p = {.target = e->u.page.target, .at = e->u.page.began, .wall = e->u.page.began_wall,
                     .outcome = e->u.page.outcome, .bytes = e->u.page.bytes, .len = e->u.page.len,
                     .openmetrics = e->u.page.openmetrics, .error = e->u.page.error};
    struct page_report report;
    collect_page(s->collect, &p, &report);
    loop_beat(l, MODULE_COLLECT);
    if (report.outcome != PAGE_OK) l->modules[MODULE_COLLECT].errors++;
    if (s->polls_out > 0) s->polls_out--;
    close_if_complete(l, s);
}

void round_values(struct loop *l, struct service_loop *s, const struct event *e)
{
    for (uint32_t i = 0; i < e->u.values.n; i++) {
        if (e->u.values.signals[i] < s->def->signal_count) {
            collect_value(s->collect, e->u.values.signals[i], e->u.values.points[i]);
        }
    }
    loop_beat(l, MODULE_COLLECT);
    if (!s->def->prometheus || !e->u.values.last) return;
    if (s->polls_out > 0) s->polls_out--;
    close_if_complete(l, s);
}

static uint16_t version_id(struct service_loop *s, const struct read_vector *v)
{
    char all[KNOB_BYTES_MAX];
    unsigned len = 0;
    for (unsigned i = 0; i < v->n; i++) {
        const struct knob_value *x = &v->values[i];
        if (x->version_len == 0 || len + x->version_len + 1u > sizeof all) return 0;
        memcpy(all + len, x->version, x->version_len);
        len += x->version_len;
        if (v->n > 1) all[len++] = '\n';
    }
    return intern_text(&s->intern, all, (uint16_t)len, true);
}

static struct control_read summarise(struct service_loop *s, const struct read_vector *v)
{
    struct control_read r = {.present = true, .readable = v->failed == 0 && v->n > 0};
    for (unsigned i = 0; i < v->n && r.readable; i++) {
        uint16_t id = intern_value(&s->intern, &v->values[i]);
        bool have = false;
        for (unsigned j = 0; j < r.n; j++) have = have || r.values[j] == id;
        if (have) continue;
        if (id == 0 || r.n == CONTROL_DISTINCT) r.more = true;
        else r.values[r.n++] = id;
    }
    /* Instances that differ have versions that cannot be compared as one. */
    if (r.readable && r.n == 1 && !r.more) r.version = version_id(s, v);
    return r;
}

static void print_read(struct knob_state *k, const struct read_vector *v)
{
    struct buf b = BUF_INIT;
    if (v->failed || v->n == 0) buf_puts(&b, "unreadable");
    for (unsigned i = 0; i < v->n && !v->failed; i++) {
        if (i && knob_value_same(&v->values[i], &v->values[0])) continue;
        if (i) buf_putc(&b, ',');
        buf_add(&b, v->values[i].bytes, v->values[i].len);
    }
    (void)text_copy(k->text, sizeof k->text, buf_text(&b));
    buf_free(&b);
}

/* Invariant 12: without compare-and-set a write goes out only on a value looked at at most a second ago, and nobody knows when
 * during a slow answer that was. The next read may be faster; else the INTENT's deadline ends it. */
static bool too_slow_to_write_on(const struct loop *l, const struct service_loop *s, uint16_t knob)
{
    const struct knob_state *k = &s->knobs[knob];
    bool matters = s->control.state == STATE_INTENT && s->control.active == knob && s->control_policy.knobs[knob].cas == CAS_NONE;
    struct span by_wall = {l->wall.us - k->asked_wall.us};
    return matters && (span_less(READ_TO_WRITE, instant_since(l->now, k->asked_at)) || span_less(READ_TO_WRITE, by_wall));
}

void round_read(struct loop *l, struct service_loop *s, const struct event *e)
{
    uint16_t knob = e->u.read.knob;
    if (knob >= s->def->knob_count) return;
    struct knob_state *k = &s->knobs[knob];
    if (k->asked && s->reads_out > 0) s->reads_out--;
    k->asked = false;
    k->last = summarise(s, e->u.read.vector);
    k->last_at = l->now;
    if (k->last.readable && !instant_is_set(k->first_seen)) k->first_seen = l->now;
    print_read(k, e->u.read.vector);
    loop_beat(l, MODULE_EXECUTE);
    bool in_round = s->round_open && s->round_is_tick;
    if (!s->folded) {
        /* the log is being read again: what control holds until then is nothing to act on */
    } else if (s->waiting_n > 0) {             /* a command is answered by what all knobs hold now, before anything else */
        if (s->reads_out == 0) command_run_waiting(l, s);
    } else if (too_slow_to_write_on(l, s, knob)) {
        /* not driven: asked again within a second */
    } else if (!in_round || is_fast(s)) {
        drive_poll(l, s, UINT32_C(1) << knob);
    }
    close_if_complete(l, s);
}

struct instant round_wake(const struct loop *l, const struct service_loop *s)
{
    (void)l;
    if (!s->folded) return INSTANT_NEVER;
    struct instant due = control_wake(&s->control_policy, &s->control);
    struct instant t = instant_before(s->timed_at, due) ? instant_min(s->next_round, due) : s->next_round;
    if (s->round_open) t = instant_min(t, instant_add(s->round_began, ROUND_PATIENCE));
    if (is_fast(s)) t = instant_min(t, s->next_read);
    return t;
}
