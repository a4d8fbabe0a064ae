#include "support/test.h"

#include "sim/heap.h"

static void test_takes_by_time_and_then_by_order_of_putting(void **state)
{
    (void)state;
    struct heap h = {0};
    int a = 1, b = 2, c = 3, d = 4;
    assert_true(heap_put(&h, (struct instant){20}, &a));
    assert_true(heap_put(&h, (struct instant){10}, &b));
    assert_true(heap_put(&h, (struct instant){20}, &c));
    assert_true(heap_put(&h, (struct instant){5}, &d));
    assert_int_equal(heap_next(&h).us, 5);
    assert_ptr_equal(heap_take(&h), &d);
    assert_ptr_equal(heap_take(&h), &b);
    assert_ptr_equal(heap_take(&h), &a);
    assert_ptr_equal(heap_take(&h), &c);
    assert_null(heap_take(&h));
    assert_int_equal(heap_next(&h).us, INSTANT_NEVER.us);
    heap_free(&h);
}

static void test_many_come_out_sorted(void **state)
{
    (void)state;
    struct heap h = {0};
    uint64_t x = 1;
    int thing = 0;
    for (int i = 0; i < 1000; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        assert_true(heap_put(&h, (struct instant){(int64_t)(x >> 40)}, &thing));
    }
    int64_t last = -1;
    while (h.n) {
        assert_true(heap_next(&h).us >= last);
        last = heap_next(&h).us;
        (void)heap_take(&h);
    }
    heap_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_by_time_and_then_by_order_of_putting),
        cmocka_unit_test(test_many_come_out_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
