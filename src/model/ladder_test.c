#include "support/test.h"

#include "base/prng.h"
#include "model/ladder.h"

static struct knob_def batch(void)
{
    return (struct knob_def){.name = "batch_max", .min = 4, .max = 128, .ladder = LADDER_FACTOR, .ladder_by = 2,
                             .min_step = 4, .allow_up = true, .allow_down = true, .integer = true};
}

/* The next value's text, or the status in brackets. */
static const char *next(const struct knob_def *k, const char *now, enum direction dir)
{
    static char out[300];
    struct knob_value v = {0}, to = {0};
    struct err err = {0};
    assert_true(knob_value_set(&v, now, (unsigned)strlen(now)));
    enum status st = ladder_next(k, &v, dir, &to, &err);
    if (st == STATUS_OK) {
        snprintf(out, sizeof out, "%.*s", to.len, to.bytes);
    } else {
        assert_int_equal(to.len, 0);
        assert_true(strlen(err.text) > 20);
        snprintf(out, sizeof out, "[%s]", status_text(st));
    }
    return out;
}
#define UP(k, now, want) assert_string_equal(next(&(k), now, DIR_UP), want)
#define DOWN(k, now, want) assert_string_equal(next(&(k), now, DIR_DOWN), want)

static void test_doubling_ladder_moves_one_rung(void **state)
{
    (void)state;
    struct knob_def k = batch();
    UP(k, "32", "64");
    UP(k, "4", "8");
    UP(k, "64.0", "128");
    DOWN(k, "32", "16");
    DOWN(k, "8", "4");
    UP(k, "128", "[not found]");
    DOWN(k, "4", "[not found]");
    k.max = 100;   /* 128 is no rung then, and 100 is none either */
    UP(k, "64", "[not found]");
}

static void test_off_ladder_goes_to_the_end_of_its_gap(void **state)
{
    (void)state;
    struct knob_def k = batch();
    UP(k, "48", "64");
    DOWN(k, "48", "32");
    UP(k, "62", "128");    /* 62 counts as 64: nearer than the min step of 4 */
    UP(k, "60", "64");     /* exactly the min step */
    DOWN(k, "35", "16");
    UP(k, "127", "[not found]");
    DOWN(k, "5", "[not found]");
    k.min_step = 20;
    UP(k, "48", "128");
    DOWN(k, "48", "16");
}

static void test_min_step_never_widens_a_notch_from_a_rung(void **state)
{
    (void)state;
    struct knob_def k = batch();
    k.min_step = 20;
    UP(k, "16", "[not found]");     /* 32 is nearer than 20: the ladder contradicts the min step */
    UP(k, "32", "64");
    k.min_step = 0;
    UP(k, "62", "64");
}

static void test_refuses_what_it_cannot_place(void **state)
{
    (void)state;
    struct knob_def k = batch();
    UP(k, "auto", "[invalid input]");
    UP(k, "", "[invalid input]");
    UP(k, "NaN", "[invalid input]");
    UP(k, "2", "[invalid input]");
    DOWN(k, "256", "[invalid input]");
    k.allow_up = false;
    UP(k, "32", "[not permitted]");
    DOWN(k, "32", "16");
}

static void test_step_and_list_ladders(void **state)
{
    (void)state;
    struct knob_def k = batch();
    k.ladder = LADDER_STEP;
    k.ladder_by = 4;
    UP(k, "32", "36");
    UP(k, "33", "40");     /* 36 is 3 away, nearer than 4 */
    DOWN(k, "34", "28");
    k.max = 1e9;
    UP(k, "900000000", "900000004");
    const double rungs[] = {2, 8, 24, 32, 48, 200};
    struct knob_def l = batch();
    l.ladder = LADDER_LIST;
    l.rungs = rungs;
    l.rung_count = 6;
    UP(l, "24", "32");
    UP(l, "48", "[not found]");     /* 200 is over max */
    DOWN(l, "8", "[not found]");    /* 2 is under min */
    UP(l, "4", "8");
    UP(l, "40", "48");
}

static void test_fractions_and_growth_rounded_up(void **state)
{
    (void)state;
    struct knob_def k = {.name = "ratio", .min = 0.5, .max = 3, .ladder = LADDER_FACTOR, .ladder_by = 1.1, .allow_up = true,
                         .allow_down = true};
    UP(k, "0.5", "0.55");
    UP(k, "0.605", "0.6655");
    struct knob_def r = {.name = "replicas", .min = 1, .max = 12, .ladder = LADDER_FACTOR, .ladder_by = 1.25, .min_step = 1,
                         .allow_up = true, .integer = true};
    UP(r, "1", "2");
    UP(r, "4", "5");
    UP(r, "5", "7");
    UP(r, "8", "9");
    UP(r, "9", "12");
    UP(r, "12", "[not found]");
}

static void test_rungs_are_counted_and_listed(void **state)
{
    (void)state;
    double out[8] = {0};
    struct knob_def k = batch();
    assert_int_equal(ladder_rungs(&k, out, 8), 6);
    assert_near(out[0], 4, 0);
    assert_near(out[5], 128, 0);
    assert_int_equal(ladder_rungs(&k, out, 2), 6);
    k.ladder = LADDER_STEP;
    k.ladder_by = 4;
    assert_int_equal(ladder_rungs(&k, out, 8), 32);
    assert_int_equal(ladder_rungs(&k, NULL, 0), 32);
    k.max = 1e12;
    assert_int_equal(ladder_rungs(&k, out, 8), UINT32_MAX);
    k.ladder = LADDER_FACTOR;
    k.ladder_by = 1;               /* does not climb on a fraction; a whole number climbs by 1 and is cut */
    assert_int_equal(ladder_rungs(&k, out, 8), LADDER_RUNGS_MAX);
    k.integer = false;
    assert_int_equal(ladder_rungs(&k, out, 8), 1);
    k.min = 0;
    assert_int_equal(ladder_rungs(&k, out, 8), 0);
}

/* Whatever the ladder and the value: a rung, in bounds, in the direction asked for, at least min step away, and with at most
 * one rung passed over, which is then nearer than the min step. */
static void test_a_notch_is_never_more(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 31);
    int moved = 0;
    for (int run = 0; run < 40000; run++) {
        struct knob_def k = {.name = "k", .min = (double)(1 + prng_below(&p, 8)), .ladder = (enum ladder_kind)prng_below(&p, 2),
                             .min_step = (double)prng_below(&p, 9), .allow_up = true, .allow_down = true,
                             .integer = prng_below(&p, 2) == 0};
        k.max = k.min + (double)prng_below(&p, 200);
        k.ladder_by = k.ladder == LADDER_FACTOR ? prng_between(&p, 1.05, 3) : prng_between(&p, 0.5, 20);
        double rungs[600];
        uint32_t n = ladder_rungs(&k, rungs, 600);
        assert_true(n >= 1 && n <= 600);
        struct knob_value now = {0}, to = {0};
        double v = prng_below(&p, 2) ? rungs[prng_below(&p, n)] : prng_between(&p, k.min, k.max);
        knob_value_set_number(&now, v);
        enum direction dir = (enum direction)prng_below(&p, 2);
        if (ladder_next(&k, &now, dir, &to, NULL) != STATUS_OK) continue;
        moved++;
        double sign = dir == DIR_UP ? 1 : -1;
        bool is_rung = false;
        int passed = 0;
        for (uint32_t i = 0; i < n; i++) {
            is_rung = is_rung || fabs(rungs[i] - to.decimal) < 1e-9 * (1 + to.decimal);
            bool between = sign * (rungs[i] - v) > 1e-6 && sign * (to.decimal - rungs[i]) > 1e-6;
            if (between) assert_true(fabs(rungs[i] - v) < k.min_step);
            passed += between;
        }
        assert_true(is_rung && passed <= 1);
        assert_true(to.decimal >= k.min && to.decimal <= k.max);
        assert_true(sign * (to.decimal - v) >= k.min_step * (1 - 1e-8) && sign * (to.decimal - v) > 0);
    }
    assert_true(moved > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubling_ladder_moves_one_rung),
        cmocka_unit_test(test_off_ladder_goes_to_the_end_of_its_gap),
        cmocka_unit_test(test_min_step_never_widens_a_notch_from_a_rung),
        cmocka_unit_test(test_refuses_what_it_cannot_place),
        cmocka_unit_test(test_step_and_list_ladders),
        cmocka_unit_test(test_fractions_and_growth_rounded_up),
        cmocka_unit_test(test_a_notch_is_never_more),
        cmocka_unit_test(test_rungs_are_counted_and_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
