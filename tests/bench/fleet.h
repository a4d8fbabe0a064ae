/* A fleet for the benches: N services of 20 signals with the shipped symptoms' kind of rules, two knobs each, made by the
 * same loader as a file. Signals are gauges g0 .. g19 of one target a service, so that a page can be made for them too. */
#ifndef BENCH_FLEET_H
#define BENCH_FLEET_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/prng.h"
#include "config/load.h"
#include "loop/loop.h"

#define FLEET_SIGNALS 20
#define FLEET_TICK_US (30 * US_PER_S)
#define FLEET_WALL_US (INT64_C(1778544000) * US_PER_S)   /* wall time of instant 0 */

static const char *const fleet_names[FLEET_SIGNALS] = {
    "latency_p99", "latency_p50", "latency_mean", "error_ratio", "timeout_ratio", "queue_depth", "batch_size", "throughput",
    "arrivals", "kernel_ms", "cpu", "memory", "gpu_util", "gpu_memory", "network", "feature_fetch_ms", "vector_search_ms",
    "cache_hit", "upstream_errors", "queue_wait_ms"};
static const double fleet_levels[FLEET_SIGNALS] = {38, 20, 22, .001, .001, 140, 27, 21000, 21000, 14,
                                                   .4, .5, .65, .6, 1e8, 6.2, 3, .84, .001, 4};

static const char fleet_rules[] =
    "    judge: {latency: latency_p99, latency_mean: latency_mean, queue: queue_depth, throughput: throughput,\n"
    "            arrivals: arrivals, errors: error_ratio, objective: 80 ms}\n"
    "    symptoms:\n"
    "      latency-degraded: latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250\n"
    "      latency-spike: zscore(latency_p99) > 3 and score(latency_p99) > 1\n"
    "      slo: {when: latency_p99 > 80 ms, slo: true}\n"
    "      latency-creep: drift(latency_p99) > 15% and (drift(kernel_ms) > 10% or drift(queue_depth) > 10%)\n"
    "      latency-week: latency_p99 > 1.3 * week_ago(latency_p99) and zscore(queue_depth) > 3\n"
    "    playbook:\n"
    "      - {cause: upstream-data, when: feature_fetch_ms > 1.5 * baseline(feature_fetch_ms), share: feature_fetch_ms,\n"
    "         try: [\"advise: look at the feature service\"]}\n"
    "      - {cause: host-or-io-bound, when: gpu_util < 0.5, try: [replicas up]}\n"
    "      - {cause: compute-bound, when: gpu_util > 0.7, try: [batch_max up, replicas up]}\n"
    "    knobs:\n"
    "      batch_max:\n"
    "        {class: batch, tier: 1, min: 4, max: 128, ladder: x2, min_step: 4, use: batch_size, cas: true,\n"
    "         read: {http: {url: \"http://{instance}/config/batch_max\", pointer: /value, version_header: ETag}},\n"
    "         write: {http: {url: \"http://{instance}/config/batch_max\", headers: [\"If-Match: {version}\"],\n"
    "                 body: '{\"value\": {value}}'}}}\n"
    "      replicas:\n"
    "        {class: replicas, tier: 1, budget: own, owner: none, min: 2, max: 20, ladder: +1, directions: [up], cas: true,\n"
    "         read: {http: {url: \"http://{instance}/config/replicas\", pointer: /value, version_header: ETag}},\n"
    "         write: {http: {url: \"http://{instance}/config/replicas\", headers: [\"If-Match: {version}\"],\n"
    "                 body: '{\"value\": {value}}'}}}\n";

static inline void fleet_signal(struct buf *b, unsigned i, bool with_query)
{
    static const char *const more[FLEET_SIGNALS] = {
        "layer: request, unit: ms, resolution: 1 ms", "layer: request, unit: ms", "layer: request, unit: ms",
        "layer: request, unit: ratio", "layer: request, unit: ratio", "layer: processing, unit: \"\"",
        "layer: processing, unit: \"\", bad: both", "layer: processing, unit: /s, bad: down",
        "layer: processing, unit: /s, bad: both", "layer: processing, unit: ms", "layer: system, unit: ratio, bad: both",
        "layer: system, unit: ratio, bad: both", "layer: system, unit: ratio, bad: both", "layer: system, unit: ratio",
        "layer: system, unit: \"\", bad: both", "layer: data, unit: ms", "layer: data, unit: ms",
        "layer: data, unit: ratio, bad: down", "layer: data, unit: ratio", "layer: processing, unit: ms"};
    buf_printf(b, "      %s: {%s, interval: 30s", fleet_names[i], more[i]);
    if (with_query) buf_printf(b, ", query: g%u", i);
    buf_puts(b, "}\n");
}

/* NULL: said on stderr. */
static inline struct policy *fleet_policy(unsigned services, bool with_targets)
{
    struct config_options o = {.points_from_outside = true};
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct buf b = BUF_INIT;
    buf_puts(&b, "version: 1\norigin: trimtab/bench\nprofiles:\n  server:\n    mode: auto\n    signals:\n");
    for (unsigned i = 0; i < FLEET_SIGNALS; i++) fleet_signal(&b, i, with_targets);
    buf_puts(&b, fleet_rules);
    buf_puts(&b, "services:\n");
    for (unsigned i = 0; i < services; i++) {
        buf_printf(&b, "  - {name: s%u, profile: server", i);
        if (with_targets) buf_printf(&b, ", targets: [{url: \"http://10.0.%u.%u:9464/metrics\"}]", i / 250, i % 250 + 1);
        buf_puts(&b, "}\n");
    }
    struct policy *p = config_load(b.data, b.len, "bench", &o, &d);
    if (!p) fprintf(stderr, "fleet: line %u: %s\n", d.n ? d.items[0].pos.line : 0, d.n ? d.items[0].text : "no policy");
    /* Scripted points come in without targets; what check says about those is not for this. */
    for (unsigned i = 0; p && !with_targets && i < p->service_count; i++) p->services[i].target_count = 0;
    config_diagnostics_free(&d);
    buf_free(&b);
    return p;
}

struct fleet {
    struct policy *policy;
    struct loop *loop;
    struct prng rng;
    struct instant now;
    unsigned services;
    bool pages, bad;                  /* bad: latency and queue of every service are far over their baselines */
    uint64_t effects, appends;
};

static inline void fleet_step(struct fleet *f, struct event *e, struct update *u)
{
    e->now = f->now;
    e->wall = (struct wall){f->now.us + FLEET_WALL_US};
    loop_step(f->loop, e, u);
    f->effects += u->n;
}

/* What a step asks for, answered at once: reads (batch_max 32, replicas 4) and appends. Only kinds and handles of the
 * effects are used, so that copies of them do. */
static inline void fleet_answer(struct fleet *f, const struct effect *effects, uint32_t n)
{
    static struct read_vector v;
    struct effect asked[64];
    unsigned kept = 0;
    for (uint32_t i = 0; i < n && kept < 64; i++)
        if (effects[i].kind == EFFECT_READ || effects[i].kind == EFFECT_APPEND) asked[kept++] = effects[i];
    for (unsigned i = 0; i < kept; i++) {
        struct update more;
        struct event e = {.kind = EVENT_ACK, .service = asked[i].service};
        if (asked[i].kind == EFFECT_READ) {
            e.kind = EVENT_READ;
            e.u.read.knob = asked[i].u.read.knob;
            e.u.read.vector = &v;
            v.n = 1;
            knob_value_set_number(&v.values[0], e.u.read.knob == 0 ? 32 : 4);
            (void)knob_value_set_version(&v.values[0], "1", 1);
        } else {
            e.u.ack.token = asked[i].u.append.token;
            f->appends += asked[i].u.append.n;
        }
        fleet_step(f, &e, &more);
        fleet_answer(f, more.effects, more.n);
    }
}

static inline double fleet_value(struct fleet *f, unsigned i)
{
    double worse = !f->bad ? 1 : i == 0 ? 1.3 : i == 5 ? 2.5 : i == 12 ? 1.2 : 1;
    return fleet_levels[i] * worse * (0.98 + 0.04 * prng_unit(&f->rng));
}

static inline void fleet_values(struct fleet *f, uint16_t service)
{
    uint16_t signals[FLEET_SIGNALS];
    struct point points[FLEET_SIGNALS];
    struct update u;
    for (uint16_t i = 0; i < FLEET_SIGNALS; i++) {
        signals[i] = i;
        points[i] = (struct point){f->now, fleet_value(f, i), 1000, WHY_KNOWN};
    }
    struct event e = {.kind = EVENT_VALUES, .service = service, .u.values = {signals, points, FLEET_SIGNALS, false}};
    fleet_step(f, &e, &u);
    fleet_answer(f, u.effects, u.n);
}

static inline void fleet_page(struct fleet *f, uint16_t service)
{
    static struct buf b;
    struct update u;
    buf_clear(&b);
    for (unsigned i = 0; i < FLEET_SIGNALS; i++) {
        buf_printf(&b, "# HELP g%u Signal %s of this server.\n# TYPE g%u gauge\ng%u{pool=\"a\"} ", i, fleet_names[i], i, i);
        buf_double(&b, fleet_value(f, i));
        buf_putc(&b, '\n');
    }
    struct event e = {.kind = EVENT_PAGE, .service = service};
    e.u.page.outcome = PAGE_OK;
    e.u.page.bytes = b.data;
    e.u.page.len = b.len;
    e.u.page.began = f->now;
    e.u.page.began_wall = (struct wall){f->now.us + FLEET_WALL_US};
    fleet_step(f, &e, &u);
    fleet_answer(f, u.effects, u.n);
}

/* One tick of all services, each woken alone as the daemon would. */
static inline void fleet_tick(struct fleet *f)
{
    struct update u;
    struct event e = {.kind = EVENT_TIME, .service = ALL_SERVICES};
    f->now.us += FLEET_TICK_US;
    if (!f->pages)
        for (unsigned i = 0; i < f->services; i++) fleet_values(f, (uint16_t)i);
    fleet_step(f, &e, &u);
    static struct effect *kept;
    static uint32_t cap;
    if (u.n > cap) {
        cap = u.n;
        kept = realloc(kept, cap * sizeof *kept);
        if (!kept) exit(1);
    }
    for (uint32_t i = 0; i < u.n; i++) kept[i] = u.effects[i];
    for (uint32_t i = 0, n = u.n; i < n; i++) fleet_answer(f, &kept[i], 1);
    if (!f->pages) return;
    for (unsigned i = 0; i < f->services; i++) fleet_page(f, (uint16_t)i);
}

static inline bool fleet_open_with(struct fleet *f, unsigned services, bool pages, struct loop_options options)
{
    struct update u;
    *f = (struct fleet){.policy = fleet_policy(services, pages), .services = services, .pages = pages};
    prng_seed(&f->rng, 1);
    if (!f->policy) return false;
    f->loop = loop_new(f->policy, f->now, (struct wall){FLEET_WALL_US}, options);
    if (!f->loop) return false;
    struct event e = {.kind = EVENT_FOLDED, .service = ALL_SERVICES};
    fleet_step(f, &e, &u);
    return true;
}

static inline bool fleet_open_in(struct fleet *f, unsigned services, bool pages, const struct memory *cold)
{
    return fleet_open_with(f, services, pages, (struct loop_options){.alone = true, .cold = cold});
}

static inline bool fleet_open(struct fleet *f, unsigned services, bool pages) { return fleet_open_in(f, services, pages, NULL); }

static inline void fleet_close(struct fleet *f)
{
    loop_free(f->loop);
    config_free(f->policy);
}

static inline double fleet_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void fleet_figure(const char *name, double value, int digits, const char *unit)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "{\"name\":\"%s\",\"value\":", name);
    buf_fixed(&b, value, digits);
    buf_printf(&b, ",\"unit\":\"%s\"}", unit);
    puts(buf_text(&b));
    (void)fflush(stdout);
    buf_free(&b);
}

#endif
