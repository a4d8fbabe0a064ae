#include "api/metrics.h"

#include <math.h>
#include <string.h>

#include "api/api.h"
#include "api/process.h"
#include "base/arena.h"
#include "base/num.h"

enum metric {
#define METRIC(id, ...) METRIC_##id,
#include "api/metrics.def"
#undef METRIC
    METRIC_COUNT
};

enum metric_type { GAUGE, COUNTER, HISTOGRAM };
static const struct { const char *name; enum metric_type type; const char *help; } table[METRIC_COUNT] = {
#define METRIC(id, name, type, help) [METRIC_##id] = {name, type, help},
#include "api/metrics.def"
#undef METRIC
};
static const char *const type_names[] = {[GAUGE] = "gauge", [COUNTER] = "counter", [HISTOGRAM] = "histogram"};

static const double bounds[API_BUCKETS] = {0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5};

void api_histogram_add(struct api_histogram *h, double seconds)
{
    unsigned i = 0;
    while (i < API_BUCKETS && seconds > bounds[i]) i++;
    h->counts[i]++;
    h->n++;
    h->sum += seconds;
}

/* ---- lines ---- */

static void head(struct buf *b, enum metric m)
{
    buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", table[m].name, table[m].help, table[m].name, type_names[table[m].type]);
}

static void label_value(struct buf *b, const char *v)
{
    for (; *v; v++) {
        if (*v == '\\' || *v == '"') buf_putc(b, '\\');
        if (*v == '\n') buf_puts(b, "\\n");
        else buf_putc(b, *v);
    }
}

/* `...` up to three pairs of label name and value, ended by NULL. */
struct labels { const char *pairs[6]; };
#define NO_LABELS ((struct labels){{0}})
#define LABELS(...) ((struct labels){{__VA_ARGS__}})

static void labels(struct buf *b, struct labels l, const char *le)
{
    bool open = false;
    for (unsigned i = 0; i < 6 && l.pairs[i]; i += 2) {
        buf_putc(b, open ? ',' : '{');
        open = true;
        buf_printf(b, "%s=\"", l.pairs[i]);
        label_value(b, l.pairs[i + 1] ? l.pairs[i + 1] : "");
        buf_putc(b, '"');
    }
    if (le) {
        buf_printf(b, "%sle=\"%s\"", open ? "," : "{", le);
        open = true;
    }
    if (open) buf_putc(b, '}');
}

static void line(struct buf *b, enum metric m, struct labels l, double v)
{
    buf_puts(b, table[m].name);
    labels(b, l, NULL);
    buf_putc(b, ' ');
    buf_double(b, v);
    buf_putc(b, '\n');
}

static void single(struct buf *b, enum metric m, double v)
{
    head(b, m);
    line(b, m, NO_LABELS, v);
}

static void outcomes(struct buf *b, enum metric m, const char *label, const struct api_outcomes *o)
{
    head(b, m);
    for (unsigned i = 0; i < o->n; i++) line(b, m, LABELS(label, o->items[i].word), (double)o->items[i].count);
}

static void histogram(struct buf *b, enum metric m, const struct api_histogram *h)
{
    uint64_t sum = 0;
    char le[NUM_TEXT_MAX];
    head(b, m);
    for (unsigned i = 0; i <= API_BUCKETS; i++) {
        sum += h->counts[i];
        if (i < API_BUCKETS) le[num_print(le, bounds[i])] = '\0';
        buf_printf(b, "%s_bucket", table[m].name);
        labels(b, NO_LABELS, i < API_BUCKETS ? le : "+Inf");
        buf_putc(b, ' ');
        buf_u64(b, sum);
        buf_putc(b, '\n');
    }
    buf_printf(b, "%s_sum ", table[m].name);
    buf_double(b, h->sum);
    buf_printf(b, "\n%s_count ", table[m].name);
    buf_u64(b, h->n);
    buf_putc(b, '\n');
}

/* ---- the parts of the page ---- */

static void receiver_lines(struct buf *b, const struct api_runtime *r)
{
    head(b, METRIC_RECEIVER_UP);
    for (unsigned i = 0; i < r->receiver_n; i++)
        line(b, METRIC_RECEIVER_UP, LABELS("receiver", r->receivers[i].name, "type", r->receivers[i].type), r->receivers[i].up);
    head(b, METRIC_RECEIVER_WAITING);
    for (unsigned i = 0; i < r->receiver_n; i++)
        line(b, METRIC_RECEIVER_WAITING, LABELS("receiver", r->receivers[i].name), r->receivers[i].waiting);
    head(b, METRIC_RECEIVER_MESSAGES);
    for (unsigned i = 0; i < r->receiver_n; i++) {
        const struct api_receiver *x = &r->receivers[i];
        const struct api_outcome all[] = {{"sent", x->sent}, {"failed", x->failed}, {"dropped", x->dropped},
                                          {"retried", x->retried}};
        for (unsigned k = 0; k < ARRAY_LEN(all); k++)
            line(b, METRIC_RECEIVER_MESSAGES, LABELS("receiver", x->name, "outcome", all[k].word), (double)all[k].count);
    }
}

static void daemon_part(struct buf *b, const struct api_runtime *r)
{
    head(b, METRIC_BUILD_INFO);
    line(b, METRIC_BUILD_INFO, LABELS("version", r->version), 1);
    single(b, METRIC_WATCHDOG, 1);
    single(b, METRIC_SPEED, r->speed);
    single(b, METRIC_READY, r->ready);
    single(b, METRIC_DRY_RUN, r->dry_run);
    single(b, METRIC_RELOAD_OK, r->reload_ok);
    single(b, METRIC_RELOAD_TIME, r->reload_seconds);
    head(b, METRIC_CONFIG_INFO);
    line(b, METRIC_CONFIG_INFO, LABELS("revision", r->revision), 1);
    single(b, METRIC_LOOP_BYTES, (double)r->loop_bytes);
    outcomes(b, METRIC_NOTICES, "severity", &r->notices);
    outcomes(b, METRIC_NOTIFICATIONS, "outcome", &r->notifications);
    single(b, METRIC_NOTIFY_WAITING, r->notify_waiting);
    if (r->receiver_n) receiver_lines(b, r);
    outcomes(b, METRIC_REMOTE_WRITES, "outcome", &r->remote_writes);
    single(b, METRIC_REMOTE_WAITING, r->remote_waiting);
    outcomes(b, METRIC_HTTP_REQUESTS, "class", &r->http_requests);
    single(b, METRIC_HTTP_CONNECTIONS, r->http_connections);
    single(b, METRIC_STREAM_LISTENERS, r->listeners);
    single(b, METRIC_STREAM_DROPPED, (double)r->listeners_dropped);
    if (r->tls_ends > 0) single(b, METRIC_TLS_ENDS, r->tls_ends);
}

static void loop_part(struct buf *b, const struct api_runtime *r)
{
    single(b, METRIC_SERVICES, r->services);
    single(b, METRIC_SERVICES_HALTED, r->halted);
    single(b, METRIC_IN_FLIGHT, r->in_flight);
    single(b, METRIC_AWAITING, r->awaiting);
    single(b, METRIC_WITH_PERSON, r->with_person);
    single(b, METRIC_TICKS, (double)r->ticks);
    head(b, METRIC_DECISIONS);
    for (unsigned i = 0; i < DECISION_COUNT; i++)
        line(b, METRIC_DECISIONS, LABELS("kind", decision_name((enum decision_kind)i)), (double)r->decisions[i]);
    single(b, METRIC_ACTIONS, (double)r->actions);
    head(b, METRIC_VERDICTS);
    for (unsigned i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++)
        line(b, METRIC_VERDICTS, LABELS("verdict", verdict_name((enum verdict)i)), (double)r->verdicts[i]);
    single(b, METRIC_ROLLBACKS, (double)r->rollbacks);
    single(b, METRIC_INCIDENTS, (double)r->incidents);
    static const char *const words[] = {"false", "true", "useful"};
    head(b, METRIC_FEEDBACK);
    for (unsigned i = 0; i < ARRAY_LEN(words); i++) line(b, METRIC_FEEDBACK, LABELS("verdict", words[i]), (double)r->feedback[i]);
    single(b, METRIC_JUDGED, (double)r->incidents_judged);
    if (r->incidents_judged) single(b, METRIC_FALSE_ALARM, (double)r->false_alarms / (double)r->incidents_judged);
    single(b, METRIC_UNEXPECTED, (double)r->unexpected);
}

static void store_part(struct buf *b, const struct api_runtime *r)
{
    single(b, METRIC_AUDIT_SIZE, (double)r->audit_size);
    single(b, METRIC_AUDIT_WAITING, (double)r->audit_waiting);
    if (r->append_seconds) histogram(b, METRIC_APPEND_SECONDS, r->append_seconds);
    head(b, METRIC_STORE_STATE);
    line(b, METRIC_STORE_STATE, LABELS("state", r->store_state), 1);
    single(b, METRIC_POINTS_DROPPED, (double)r->points_dropped);
    single(b, METRIC_POINTS_EVICTED, (double)r->points_evicted);
    single(b, METRIC_STORE_BYTES, (double)r->metrics_used);
    single(b, METRIC_STORE_BUDGET, (double)r->metrics_budget);
}

static void scrape_part(struct buf *b, const struct api_runtime *r)
{
    outcomes(b, METRIC_SCRAPES, "outcome", &r->scrapes);
    outcomes(b, METRIC_QUERIES, "outcome", &r->queries);
    single(b, METRIC_SCRAPE_SECONDS, r->scrape_seconds);
    single(b, METRIC_SCRAPE_BYTES, (double)r->scrape_bytes);
}

static void execute_part(struct buf *b, const struct api_runtime *r)
{
    outcomes(b, METRIC_READS, "outcome", &r->reads);
    outcomes(b, METRIC_WRITES, "answer", &r->writes);
}

static void module_lines(struct buf *b, const struct module_view *m, const bool wanted[MODULE_COUNT])
{
    static const enum metric list[] = {METRIC_MODULE_HEALTHY, METRIC_MODULE_SILENT, METRIC_MODULE_RUNS, METRIC_MODULE_ERRORS};
    for (unsigned k = 0; k < 4; k++) {
        head(b, list[k]);
        for (unsigned i = 0; i < MODULE_COUNT; i++) {
            const double values[] = {m[i].healthy, span_seconds(m[i].silent_for), (double)m[i].runs, (double)m[i].errors};
            if (wanted[i]) line(b, list[k], LABELS("module", module_name((enum module)i)), values[k]);
        }
    }
}

/* Views of all services at once, so that each metric's lines stand together as the format wants. */
struct views { struct service_view *items; unsigned n; };

static void by_service(struct buf *b, enum metric m, const struct views *v,
                       void (*each)(struct buf *b, const struct service_view *s))
{
    head(b, m);
    for (unsigned i = 0; i < v->n; i++) each(b, &v->items[i]);
}

static void state_of(struct buf *b, const struct service_view *s)
{
    line(b, METRIC_SERVICE_STATE, LABELS("service", s->def->name, "state", state_name(s->state)), 1);
}

static void mode_of(struct buf *b, const struct service_view *s)
{
    line(b, METRIC_SERVICE_MODE, LABELS("service", s->def->name, "mode", mode_name(s->mode)), 1);
}

static void decision_of(struct buf *b, const struct service_view *s)
{
    line(b, METRIC_SERVICE_DECISION, LABELS("service", s->def->name, "kind", decision_name(s->decision.kind), "reason",
         reason_code(s->decision.reason)), 1);
}

static void halted_of(struct buf *b, const struct service_view *s)
{
    line(b, METRIC_SERVICE_HALTED, LABELS("service", s->def->name), s->halted);
}

static void frozen_of(struct buf *b, const struct service_view *s)
{
    line(b, METRIC_SERVICE_FROZEN, LABELS("service", s->def->name), s->frozen);
}

static void incident_of(struct buf *b, const struct service_view *s)
{
    line(b, METRIC_SERVICE_INCIDENT, LABELS("service", s->def->name), s->incident_open);
}

/* An unknown value has no line: in Prometheus missing is missing, and NaN would poison sums. */
static void by_signal(struct buf *b, enum metric m, const struct views *v, double (*value)(const struct signal_view *s))
{
    head(b, m);
    for (unsigned i = 0; i < v->n; i++) {
        const struct service_view *s = &v->items[i];
        for (unsigned k = 0; k < s->signal_count; k++) {
            double x = value(&s->signals[k]);
            if (!isfinite(x)) continue;
            line(b, m,
                 LABELS("service", s->def->name, "signal", s->def->signals[k].name, "unit", unit_name(s->def->signals[k].unit)),
                 x);
        }
    }
}

static double value_of(const struct signal_view *s) { return s->now.why == WHY_KNOWN ? s->now.value : NAN; }
static double baseline_of(const struct signal_view *s) { return s->baseline; }
static double scale_of(const struct signal_view *s) { return s->baseline_scale; }
static double score_of(const struct signal_view *s) { return s->score; }
static double zscore_of(const struct signal_view *s) { return s->zscore; }

static void unknown_of(struct buf *b, const struct service_view *s)
{
    for (unsigned k = 0; k < s->signal_count; k++) {
        if (s->signals[k].now.why == WHY_KNOWN) continue;
        line(b, METRIC_SIGNAL_UNKNOWN, LABELS("service", s->def->name, "signal", s->def->signals[k].name, "why",
             unknown_name(s->signals[k].now.why)), 1);
    }
}

static void knobs_of(struct buf *b, const struct service_view *s)
{
    double x;
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        const char *text = s->knobs[k].value;
        if (!num_parse_all(text, strlen(text), &x)) continue;
        line(b, METRIC_KNOB_VALUE, LABELS("service", s->def->name, "knob", s->def->knobs[k].name, "unit",
             unit_name(s->def->knobs[k].unit)), x);
    }
}

static void free_knobs_of(struct buf *b, const struct service_view *s)
{
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        line(b, METRIC_KNOB_MAY_MOVE, LABELS("service", s->def->name, "knob", s->def->knobs[k].name),
             s->knobs[k].blocked == REASON_NONE);
    }
}

static void targets_of(struct buf *b, const struct service_view *s, enum metric m)
{
    for (unsigned t = 0; t < s->def->target_count; t++) {
        const struct target_view *v = &s->targets[t];
        double x = m == METRIC_TARGET_UP ? v->up : m == METRIC_TARGET_SAMPLES ? v->samples : v->broken_lines;
        line(b, m, LABELS("service", s->def->name, "instance", s->def->targets[t].instance), x);
    }
}

static void up_of(struct buf *b, const struct service_view *s) { targets_of(b, s, METRIC_TARGET_UP); }
static void samples_of(struct buf *b, const struct service_view *s) { targets_of(b, s, METRIC_TARGET_SAMPLES); }
static void broken_of(struct buf *b, const struct service_view *s) { targets_of(b, s, METRIC_TARGET_BROKEN); }

static void service_part(struct buf *b, const struct views *v)
{
    by_service(b, METRIC_SERVICE_STATE, v, state_of);
    by_service(b, METRIC_SERVICE_MODE, v, mode_of);
    by_service(b, METRIC_SERVICE_DECISION, v, decision_of);
    by_service(b, METRIC_SERVICE_HALTED, v, halted_of);
    by_service(b, METRIC_SERVICE_FROZEN, v, frozen_of);
    by_service(b, METRIC_SERVICE_INCIDENT, v, incident_of);
}

static void detect_part(struct buf *b, const struct views *v)
{
    by_signal(b, METRIC_SIGNAL_BASELINE, v, baseline_of);
    by_signal(b, METRIC_SIGNAL_SCALE, v, scale_of);
    by_signal(b, METRIC_SIGNAL_SCORE, v, score_of);
    by_signal(b, METRIC_SIGNAL_ZSCORE, v, zscore_of);
}

static void collect_part(struct buf *b, const struct views *v)
{
    by_signal(b, METRIC_SIGNAL_VALUE, v, value_of);
    by_service(b, METRIC_SIGNAL_UNKNOWN, v, unknown_of);
    by_service(b, METRIC_TARGET_UP, v, up_of);
    by_service(b, METRIC_TARGET_SAMPLES, v, samples_of);
    by_service(b, METRIC_TARGET_BROKEN, v, broken_of);
}

static void knob_part(struct buf *b, const struct views *v)
{
    by_service(b, METRIC_KNOB_VALUE, v, knobs_of);
    by_service(b, METRIC_KNOB_MAY_MOVE, v, free_knobs_of);
}

static void process_part(struct buf *b, const struct api_runtime *r)
{
    struct process_numbers p;
    process_read(&p);
    single(b, METRIC_PROCESS_CPU, p.cpu_seconds);
    single(b, METRIC_PROCESS_RSS, p.resident_bytes);
    single(b, METRIC_PROCESS_VIRTUAL, p.virtual_bytes);
    single(b, METRIC_PROCESS_FDS, p.open_fds);
    single(b, METRIC_PROCESS_MAX_FDS, p.max_fds);
    single(b, METRIC_PROCESS_START, r->start_seconds);
}

static struct views all_views(struct api *api, struct arena *a)
{
    const struct policy *p = api->control.policy(api->control.ctx);
    struct views v = {ARENA_NEW_N(a, p->service_count ? p->service_count : 1u, struct service_view), p->service_count};
    if (!v.items) return (struct views){0};
    for (uint16_t i = 0; i < v.n; i++) api->control.view(api->control.ctx, i, a, &v.items[i]);
    return v;
}

void metrics_page(struct api *api, struct buf *out)
{
    static const bool all[MODULE_COUNT] = {true, true, true, true, true, true};
    struct arena a = ARENA_INIT;
    struct api_runtime r = {0};
    struct module_view modules[MODULE_COUNT];
    struct views v = all_views(api, &a);
    api->runtime(api->ctx, &r);
    api->modules(api->ctx, modules);
    daemon_part(out, &r);
    loop_part(out, &r);
    store_part(out, &r);
    module_lines(out, modules, all);
    scrape_part(out, &r);
    execute_part(out, &r);
    service_part(out, &v);
    collect_part(out, &v);
    detect_part(out, &v);
    knob_part(out, &v);
    process_part(out, &r);
    arena_free(&a);
}

void metrics_module_page(struct api *api, enum module m, struct buf *out)
{
    struct arena a = ARENA_INIT;
    struct api_runtime r = {0};
    struct module_view modules[MODULE_COUNT];
    bool wanted[MODULE_COUNT] = {false};
    struct views v = all_views(api, &a);
    wanted[m] = true;
    api->runtime(api->ctx, &r);
    api->modules(api->ctx, modules);
    module_lines(out, modules, wanted);
    switch (m) {
    case MODULE_COLLECT:
        scrape_part(out, &r);
        collect_part(out, &v);
        break;
    case MODULE_DETECT: detect_part(out, &v); break;
    case MODULE_LOCATE: by_service(out, METRIC_SERVICE_INCIDENT, &v, incident_of); break;
    case MODULE_DECIDE: by_service(out, METRIC_SERVICE_DECISION, &v, decision_of); break;
    case MODULE_EXECUTE:
        execute_part(out, &r);
        knob_part(out, &v);
        break;
    case MODULE_VERIFY:
        head(out, METRIC_VERDICTS);
        for (unsigned i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++)
            line(out, METRIC_VERDICTS, LABELS("verdict", verdict_name((enum verdict)i)), (double)r.verdicts[i]);
        break;
    case MODULE_COUNT: break;
    }
    arena_free(&a);
}

void metrics_list(struct buf *out)
{
    for (unsigned i = 0; i < METRIC_COUNT; i++)
        buf_printf(out, "%s %s %s\n", table[i].name, type_names[table[i].type], table[i].help);
}
