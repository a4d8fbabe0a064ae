/* How long the change of a cache is left alone: loop.md section 1, settle by class. Virtual time, a pretended target. */
#include "support/test.h"

#include "loop/test_bench.h"

static bool fault, hit_unknown;
static unsigned wobble;

static void plant(struct bench *b)
{
    static const double noise[] = {0, 0.4, -0.3, 0.2, -0.5, 0.3, -0.1};
    double n = noise[wobble++ % 7];
    b->signal[B_P99] = (fault ? 46.8 : 38) + n;
    b->signal[B_QUEUE] = (fault ? 320 : 90) + 4 * n;
    b->signal[B_GPU] = fault ? 0.78 : 0.65;
    b->signal[B_FETCH] = fault && hit_unknown ? NAN : 0.98;
}

/* The first knob is a cache counted in items; what was the time of a fetch is its hit ratio, and no cause any more. */
static void with_a_cache(struct bench *b)
{
    b->signals[B_FETCH].name = "cache_hit";
    b->signals[B_FETCH].unit = UNIT_RATIO;
    b->service.causes = b->causes + 1;
    b->service.cause_count = 2;
    b->knobs[B_BATCH].class = CLASS_CACHE;
    b->knobs[B_BATCH].min = 100000;
    b->knobs[B_BATCH].max = 3200000;
}

static int64_t settle_of_a_growth(bool unknown)
{
    bench_setup = with_a_cache;
    struct bench *b = bench_new(MODE_AUTO);
    bench_setup = NULL;
    fault = false;
    hit_unknown = unknown;
    wobble = 0;
    b->on_tick = plant;
    b->target.value[B_BATCH] = 400000;
    bench_start(b);
    bench_run(b, SPAN_HOUR(25));
    fault = true;
    for (int i = 0; i < 60 && !bench_last(b, RECORD_INTENT); i++) bench_run(b, SPAN_S(30));
    const struct record *r = bench_last(b, RECORD_INTENT);
    assert_non_null(r);
    assert_string_equal(record_get_text(r, RF_TO), "800000");
    int64_t settle = record_get_i64(r, RF_SETTLE, 0);
    bench_free(b);
    return settle;
}

/* 400,000 items more at 21,000 requests/s and 2 % misses = 420 misses/s: 952.38 s. */
static void test_a_cache_settles_when_the_misses_have_filled_it(void **state)
{
    (void)state;
    assert_near((double)settle_of_a_growth(false) / 1e6, 952.381, 0.001);
}

/* What is not known is not guessed: the plain time, and the window still waits until the fill has levelled off. */
static void test_an_unknown_hit_ratio_tells_nothing(void **state)
{
    (void)state;
    assert_int_equal(settle_of_a_growth(true), SPAN_MIN(2).us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cache_settles_when_the_misses_have_filled_it),
        cmocka_unit_test(test_an_unknown_hit_ratio_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
