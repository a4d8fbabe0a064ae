#include "support/test.h"

#include "sim/naive.h"

static struct naive_decision tick(struct naive *n, double p99, double queue, double gpu, double batch)
{
    return naive_step(n, &(struct naive_signals){p99, queue, gpu, batch, 13});
}

static void the_first_sample_never_fires(void **state)
{
    (void)state;
    struct naive n;
    naive_init(&n);
    assert_int_equal(tick(&n, 46.8, 320, 0.78, 32).kind, DECISION_NOOP);
    assert_near(n.baseline, 46.8, 0);
}

/* 38 -> 46.8: baseline first becomes .2 * 46.8 + .8 * 38 = 39.76, limit 45.724: fires. Then 41.168, limit 47.343: silent. */
static void a_step_fires_once_and_is_forgotten(void **state)
{
    (void)state;
    struct naive n;
    naive_init(&n);
    for (int i = 0; i < 100; i++) assert_int_equal(tick(&n, 38, 140, 0.65, 32).kind, DECISION_NOOP);
    struct naive_decision d = tick(&n, 46.8, 320, 0.78, 32);
    assert_int_equal(d.kind, DECISION_TUNE);
    assert_string_equal(d.knob, "batch_max");
    assert_near(d.to, 64, 0);
    assert_near(n.baseline, 39.76, 1e-9);
    assert_int_equal(tick(&n, 46.8, 320, 0.78, 32).kind, DECISION_NOOP);
    assert_near(n.baseline, 41.168, 1e-9);
}

static struct naive_decision after_calm(double gpu, double batch)
{
    struct naive n;
    naive_init(&n);
    for (int i = 0; i < 50; i++) tick(&n, 38, 140, 0.65, batch);
    return tick(&n, 80, 320, gpu, batch);
}

static void the_gpu_decides_which_way(void **state)
{
    (void)state;
    assert_near(after_calm(0.71, 96).to, 128, 0);
    assert_int_equal(after_calm(0.71, 128).kind, DECISION_ALERT);
    assert_string_equal(after_calm(0.45, 32).knob, "replicas");
    assert_near(after_calm(0.45, 32).to, 14, 0);
    assert_int_equal(after_calm(0.6, 32).kind, DECISION_ALERT);
    assert_int_equal(after_calm(NAN, 32).kind, DECISION_NOOP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_sample_never_fires),
        cmocka_unit_test(a_step_fires_once_and_is_forgotten),
        cmocka_unit_test(the_gpu_decides_which_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
