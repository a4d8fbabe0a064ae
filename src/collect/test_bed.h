/* A collector on a table: a service of up to four targets, pages and ticks at seconds. For the tests of this room.
 * Include support/test.h first. */
#ifndef COLLECT_TEST_BED_H
#define COLLECT_TEST_BED_H

#include "base/buf.h"
#include "collect/collect.h"
#include "promql/promql.h"

static struct arena arena;

static inline struct signal_def signal_of(const char *name, const char *query)
{
    struct pq_error e;
    struct signal_def d = {.name = name, .query_text = query, .interval = SPAN_S(10), .layer = LAYER_REQUEST};
    d.query = pq_compile(&arena, query, strlen(query), &e);
    if (!d.query) print_error("%s: %s\n", query, e.text);
    assert_non_null(d.query);
    d.range = pq_range(d.query);
    d.is_quantile = pq_quantile(d.query, &d.quantile);
    return d;
}

static struct target_def targets[4] = {
    {.url = "http://a/metrics", .instance = "a"}, {.url = "http://b/metrics", .instance = "b"},
    {.url = "http://c/metrics", .instance = "c"}, {.url = "http://d/metrics", .instance = "d"}};

struct bed {
    struct service_def s;
    struct signal_def signals[8];
    struct collect *c;
    struct point out[8];
    bool due[8];
    struct page_report report;
};

static inline struct bed *bed_new(uint16_t target_count, uint16_t n, const char *const *queries)
{
    struct bed *b = calloc(1, sizeof *b);
    static const char *const names[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};
    for (uint16_t i = 0; i < n; i++) b->signals[i] = signal_of(names[i], queries[i]);
    b->s = (struct service_def){.name = "svc", .targets = targets, .target_count = target_count, .signals = b->signals,
                                .signal_count = n};
    b->c = collect_new(&b->s, collect_limits_default());
    assert_non_null(b->c);
    return b;
}

static inline void bed_free(struct bed *b)
{
    collect_free(b->c);
    free(b);
    arena_free(&arena);
}

#define WALL0 (INT64_C(1780000000) * US_PER_S)
static inline struct instant at(int64_t s) { return (struct instant){s * US_PER_S}; }
static inline struct wall wall(int64_t s) { return (struct wall){WALL0 + s * US_PER_S}; }

static inline void feed(struct bed *b, uint16_t target, int64_t s, const char *text)
{
    struct page p = {.target = target, .at = at(s), .wall = wall(s), .outcome = PAGE_OK, .bytes = text, .len = strlen(text)};
    collect_page(b->c, &p, &b->report);
}

static inline void down(struct bed *b, uint16_t target, int64_t s)
{
    struct page p = {.target = target, .at = at(s), .wall = wall(s), .outcome = PAGE_DOWN, .error = "connection refused"};
    collect_page(b->c, &p, &b->report);
}

static inline struct point tick(struct bed *b, int64_t s)
{
    collect_tick(b->c, at(s), wall(s), b->out, b->due);
    return b->out[0];
}

#endif
