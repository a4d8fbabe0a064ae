/* A copy, and a loop that was saved and loaded, go on exactly as the original. */
#include "support/test.h"

#include "loop/test_bench.h"

static void bad(struct bench *b)
{
    b->signal[B_P99] = 46.8;
    b->signal[B_QUEUE] = 320;
    b->signal[B_GPU] = 0.78;
}

static struct bench *in_an_incident(void)
{
    struct bench *b = bench_new(MODE_AUTO);
    bench_start(b);
    bench_run(b, SPAN_HOUR(25));
    bad(b);
    bench_run(b, SPAN_MIN(3));
    assert_int_equal(bench_state(b), STATE_OPEN);
    return b;
}

/* Runs on from the state it has and gives digest and records of the next 20 minutes. */
static uint64_t go_on(struct bench *b, unsigned *ret_records)
{
    unsigned before = b->log_n;
    bench_run(b, SPAN_MIN(20));
    *ret_records = b->log_n - before;
    return loop_digest(b->loop);
}

static void test_a_clone_has_the_same_future(void **state)
{
    (void)state;
    struct bench *b = in_an_incident();
    struct bench_target target = b->target;
    struct instant now = b->now, wake = b->wake;
    struct loop *copy = loop_clone(b->loop);
    assert_non_null(copy);
    assert_true(loop_digest(copy) == loop_digest(b->loop));
    unsigned records_a, records_b;
    uint64_t first = go_on(b, &records_a);
    loop_free(b->loop);
    b->loop = copy;
    b->target = target;
    b->now = now;
    b->wake = wake;
    uint64_t second = go_on(b, &records_b);
    assert_true(records_a > 0);
    assert_int_equal(records_a, records_b);
    assert_true(first == second);
    bench_free(b);
}

static void test_saved_bytes_come_back(void **state)
{
    (void)state;
    struct bench *b = in_an_incident();
    struct buf bytes = BUF_INIT;
    loop_save(b->loop, &bytes);
    struct loop *back = loop_load(&b->policy, bytes.data, bytes.len);
    assert_non_null(back);
    assert_int_equal(loop_control(back, 0)->state, STATE_OPEN);
    loop_free(back);
    for (size_t cut = 0; cut < bytes.len; cut += 1 + bytes.len / 97) {      /* never a crash on damaged bytes */
        struct loop *damaged = loop_load(&b->policy, bytes.data, cut);
        assert_null(damaged);
    }
    buf_free(&bytes);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clone_has_the_same_future),
        cmocka_unit_test(test_saved_bytes_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
