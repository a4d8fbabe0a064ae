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

/* Two lives in one boot: the monotonic clock tells; across boots only what each life saw counts. */
static void time_between_two_lives_is_only_counted_when_it_is_certain(void **state)
{
    (void)state;
    struct clock_mark m = {.up = 5000, .boot_up = 1000, .boot = "1b4e28ba-2fa1-11d2-883f-0016d3cca427 700"};
    const char *same = "1b4e28ba-2fa1-11d2-883f-0016d3cca427", *other = "1b4e28ba-2fa1-11d2-883f-0016d3cca428";
    assert_int_equal(1000 + 9300, clock_certain(&m, same, 10000));
    assert_int_equal(5000, clock_certain(&m, same, 1000));      /* less than the log has seen: it is not the same clock */
    assert_int_equal(5000, clock_certain(&m, same, 600));
    assert_int_equal(5000, clock_certain(&m, other, 10000));
    assert_int_equal(5000, clock_certain(&m, "", 10000));
    assert_int_equal(5000, clock_certain(&(struct clock_mark){.up = 5000}, same, 10000));
    assert_int_equal(0, clock_certain(&(struct clock_mark){0}, same, 10000));
    char id[CLOCK_BOOT_MAX];
    struct buf b = BUF_INIT;
    clock_boot(id);
    assert_int_equal(36, strlen(id));
    clock_boot_print(&b, id, 700);
    (void)snprintf(m.boot, sizeof m.boot, "%s", buf_text(&b));
    assert_int_equal(1000 + 9300, clock_certain(&m, id, 10000));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nominal_time_runs_f_times),
        cmocka_unit_test(a_step_of_the_system_clock_shows_in_the_wall_only),
        cmocka_unit_test(a_fast_clock_never_begins_before_what_is_written),
        cmocka_unit_test(time_between_two_lives_is_only_counted_when_it_is_certain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
