/* Any bytes as a query: refused it says where and why, compiled it runs over a few series within its memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "promql/promql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define POINTS 12
static const struct pq_label a1[] = {{"__name__", "a"}, {"job", "x"}, {"le", "1"}};
static const struct pq_label a2[] = {{"__name__", "a"}, {"job", "x"}, {"le", "+Inf"}};
static const struct pq_label b1[] = {{"__name__", "b"}, {"job", "x"}};
static struct pq_sample samples[3][POINTS];

static bool matches(struct pq_labels l, const struct pq_matcher *m)
{
    for (uint32_t i = 0; i < l.n; i++)
        if (strcmp(l.items[i].name, pq_matcher_name(m)) == 0) return pq_matches(m, l.items[i].value);
    return pq_matches(m, "");
}

static bool select_series(void *ctx, const struct pq_matcher *const *matchers, uint32_t n, int64_t from_ms, int64_t to_ms,
                          bool (*sink)(void *, const struct pq_series *), void *sink_ctx)
{
    (void)ctx;
    (void)from_ms;
    (void)to_ms;
    const struct pq_series all[] = {{{a1, 3}, samples[0], POINTS}, {{a2, 3}, samples[1], POINTS}, {{b1, 2}, samples[2], POINTS}};
    for (size_t i = 0; i < 3; i++) {
        bool take = true;
        for (uint32_t k = 0; k < n; k++) take = take && matches(all[i].labels, matchers[k]);
        if (take && !sink(sink_ctx, &all[i])) return false;
    }
    return true;
}

static void fill(void)
{
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < POINTS; i++) samples[s][i] = (struct pq_sample){i * 10000, s == 2 && i == 5 ? NAN : i * (s + 1.5)};
}

static void run(const struct pq *q)
{
    struct arena scratch = ARENA_INIT;
    scratch.limit = 8u << 20;
    struct pq_source source = {NULL, select_series};
    struct pq_result r;
    struct err err = {0};
    enum status st = pq_eval(q, &source, 110000, &scratch, &r, &err);
    CHECK(st == STATUS_OK || err.text[0]);
    arena_reset(&scratch);
    err.text[0] = '\0';
    if (pq_type(q) == PQ_SCALAR || pq_type(q) == PQ_VECTOR) {
        st = pq_eval_range(q, &source, 0, 110000, 50000, &scratch, &r, &err);
        CHECK(st == STATUS_OK || err.text[0]);
    }
    arena_free(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_INIT;
    struct pq_error e;
    fill();
    const struct pq *q = pq_compile(&a, (const char *)data, size, &e);
    if (q) {
        struct buf b = BUF_INIT;
        pq_print(&b, q);
        CHECK(buf_ok(&b));
        buf_free(&b);
        CHECK(pq_reach(q).us >= INT64_MIN && pq_range(q).us >= 0);
        run(q);
    } else {
        CHECK(e.text[0] && e.offset <= size);
    }
    arena_free(&a);
    return 0;
}
