/* What is computed the quick way equals what it stands for: slot medians, and which views are at their limit. */
#include <stdlib.h>

#include "base/prng.h"
#include "detect/series.h"
#include "stats/order.h"
#include "support/test.h"

static void slot_medians_are_medians(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 11);
    for (int round = 0; round < 4000; round++) {
        uint16_t codes[SLOTS_DAY];
        double values[SLOTS_DAY];
        uint32_t n = 1 + (uint32_t)prng_below(&p, SLOTS_DAY);
        bool wide = round % 3 == 0, equal = round % 7 == 0;
        for (uint32_t i = 0; i < n; i++) {
            double v = equal ? 5 : wide ? prng_between(&p, -1e6, 1e6) : prng_between(&p, 30, 40);
            codes[i] = slot_code(round % 5 == 0 ? -v : v);
            values[i] = slot_value(codes[i]);
        }
        double got = slot_median(codes, n), want = stats_median(values, n);
        if (got != want) fail_msg("round %d, %u codes: %.17g, not %.17g", round, (unsigned)n, got, want);
    }
}

/* Two at their limit light a series: seen through its state, against the quotients that findings show. */
static void at_the_limit_is_one_or_more(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 12);
    int lit = 0, dark = 0;
    for (int round = 0; round < 20000; round++) {
        struct series *s = calloc(1, sizeof *s);
        struct track t = {.bad = (enum bad)(round % 3)};
        assert_non_null(s);
        series_init(s);
        s->learned = SERIES_WARM;
        s->x = 100;
        s->scale = prng_between(&p, 0, 8);
        /* Half the references lie where excess and limit are the same number, or next to it. */
        s->base = round % 2 ? 100 / 1.15 : prng_between(&p, 80, 125);
        s->profile = prng_between(&p, 80, 125);
        s->week_ago = round % 5 ? prng_between(&p, 80, 125) : NAN;
        s->z = round % 4 ? prng_between(&p, -4, 4) : 3;
        s->drift = round % 4 ? prng_between(&p, -0.2, 0.2) : 0.15;
        s->score = prng_between(&p, 0, 1.2);
        uint32_t views = 0;
        static const enum fn plain[] = {FN_BASELINE, FN_ZSCORE, FN_WEEK_AGO, FN_SCORE};
        for (unsigned i = 0; i < ARRAY_LEN(plain); i++) views += series_view(s, &t, plain[i], NULL) >= 1;
        views += series_view(s, &t, FN_DRIFT, NULL) >= 1 || series_view(s, &t, FN_PROFILE, NULL) >= 1;
        series_state_tick(s, &t);
        assert_int_equal(s->history & 1, views > 1);
        assert_int_equal(s->state == SERIES_NORMAL, views == 0);
        lit += views > 1;
        dark += views == 0;
        free(s);
    }
    assert_true(lit > 1000 && dark > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slot_medians_are_medians),
        cmocka_unit_test(at_the_limit_is_one_or_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
