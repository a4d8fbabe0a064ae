#ifndef PROMQLTEST_PROMQLTEST_H
#define PROMQLTEST_PROMQLTEST_H

#include "promql/promql.h"

struct promqltest_tally { unsigned passed, failed, skipped; };

struct storage {
    struct arena arena;
    struct pq_series *series;      /* samples are ours to grow */
    uint32_t *caps;
    uint32_t count, cap;
    struct pq_labels *native;      /* series that hold native histograms */
    uint32_t native_count, native_cap;
};

bool promqltest_matches(struct pq_labels l, const struct pq_matcher *const *m, uint32_t n);
bool promqltest_select(void *ctx, const struct pq_matcher *const *matchers, uint32_t n, int64_t from_ms, int64_t to_ms,
                    bool (*sink)(void *sink_ctx, const struct pq_series *series), void *sink_ctx);
/* The text speaks of a metric that holds native histograms. */
bool promqltest_names_native(const char *expr, const struct storage *s);

struct eval_case {
    const char *file;
    unsigned line;
    const char *expr;
    bool range, fail, warn, info, no_warn, no_info, ordered, native_expected, scalar_given;
    int64_t from, to, step;        /* instant: from */
    int64_t points_from, points_step;   /* of the expected points */
    const char *string;
    double scalar;
    struct pq_series *expected;
    uint32_t expected_count;
};

void promqltest_quiet(void);            /* no word on failures */
void promqltest_tolerance(double relative);   /* how far two values may be apart; 1e-6 unless told */
struct promqltest_tally promqltest_total(void);
void promqltest_case(struct eval_case *c, struct storage *s);
/* Runs all of a file. false: it cannot be read, or a line of it is no command; the rest is still run. */
bool promqltest_file(const char *path);

#endif
