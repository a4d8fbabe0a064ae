#include "app/clock.h"

#include "support/test.h"

static void nominal_time_runs_f_times(void **state)
{
    (void)state;
    struct clock c;
    struct instant now;
    struct wall wall;
    clock_start(&c, 40, WALL_NONE);
    c.mono_start -= 1000;                   /* as if it had begun a millisecond ago */
    c.real_start -= 1000;
    clock_now(&c, &now, &wall);
    int64_t passed = now.us - c.nominal_start;
    assert_true(passed >= 40 * 1000);
    assert_true(passed < 40 * 1000 + 40 * 5 * US_PER_S);
    struct span left = clock_wall_until(&c, (struct instant){now.us + 40 * US_PER_HOUR});
    assert_true(left.us <= US_PER_HOUR);
    assert_true(left.us > US_PER_HOUR - 5 * US_PER_S);
    assert_int_equal(0, clock_wall_until(&c, (struct instant){now.us - 1}).us);
}

static void a_step_of_the_system_clock_shows_in_the_wall_only(void **state)
{
    (void)state;
    struct clock c;
    struct instant now;
    struct wall wall;
    clock_start(&c, 1, WALL_NONE);
    c.real_start -= US_PER_HOUR;            /* the system's clock has jumped an hour ahead since */
    clock_now(&c, &now, &wall);
    assert_near(US_PER_HOUR, (double)(wall.us - now.us), 1000);
    assert_true(now.us - c.nominal_start < 5 * US_PER_S);
}

static void a_fast_clock_never_begins_before_what_is_written(void **state)
{
    (void)state;
    struct clock c;
    struct wall future = {clock_real_us() + US_PER_DAY};
    clock_start(&c, 40, future);
    assert_int_equal(future.us, c.nominal_start);
    clock_start(&c, 1, future);             /* at speed 1 the system's clock is right, whatever was written */
    assert_int_equal(c.real_start, c.nominal_start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nominal_time_runs_f_times),
        cmocka_unit_test(a_step_of_the_system_clock_shows_in_the_wall_only),
        cmocka_unit_test(a_fast_clock_never_begins_before_what_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
