/* Whom a passing of time concerns: found in the tree of minima as by looking at everybody. */
#include "base/prng.h"
#include "loop/service.h"
#include "support/test.h"

static void the_next_one_due_is_found(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 4);
    for (int round = 0; round < 3000; round++) {
        struct instant wakes[2 * 64];
        uint32_t leaves = 1, n = 1 + (uint32_t)prng_below(&p, 60);
        while (leaves < n) leaves *= 2;
        struct loop l = {.now = {50}, .wakes = wakes, .wake_leaves = leaves, .service_count = (uint16_t)n};
        uint64_t many = 1 + prng_below(&p, 20);
        for (uint32_t i = 0; i < leaves; i++) {
            bool due = i < n && prng_below(&p, many) == 0;
            wakes[leaves + i] = due ? (struct instant){(int64_t)prng_below(&p, 51)}
                                : i < n ? (struct instant){51 + (int64_t)prng_below(&p, 50)} : INSTANT_NEVER;
        }
        for (uint32_t i = leaves - 1; i > 0; i--) wakes[i] = instant_min(wakes[2 * i], wakes[2 * i + 1]);
        for (uint32_t from = 0; from <= n; from++) {
            uint32_t want = from;
            while (want < n && wakes[leaves + want].us > 50) want++;
            assert_int_equal(fleet_next_due(&l, from), want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_next_one_due_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
