#include "support/test.h"

#include "sim/series_script.h"

/* Values in order; 'm' missing and 's' stale stand as -1000 and -2000. */
static void expect(const char *text, const double *want, size_t n)
{
    struct series_script s;
    struct err e;
    assert_int_equal(script_parse(text, strlen(text), &s, &e), STATUS_OK);
    assert_int_equal(s.points, n);
    for (size_t i = 0; i < n; i++) {
        struct script_point p = script_at(&s, i);
        double got = p.kind == SCRIPT_VALUE ? p.value : p.kind == SCRIPT_MISSING ? -1000 : -2000;
        assert_near(got, want[i], 1e-12);
    }
    assert_int_equal(script_at(&s, n).kind, SCRIPT_MISSING);
    script_free(&s);
}

static void notation_of_promtool(void **state)
{
    (void)state;
    expect("1 2.5 -3", (double[]){1, 2.5, -3}, 3);
    expect("7x2", (double[]){7, 7, 7}, 3);
    expect("-2+4x3", (double[]){-2, 2, 6, 10}, 4);
    expect("1-2x4", (double[]){1, -1, -3, -5, -7}, 5);
    expect(" 1 _x3  stale\n_ 4 ", (double[]){1, -1000, -1000, -1000, -2000, -1000, 4}, 7);
    expect("1e-1x1", (double[]){.1, .1}, 2);
    expect("", NULL, 0);
    /* Each accepted and refused by promtool 2.42 in the same way. */
    expect("0x3", (double[]){0, 0, 0, 0}, 4);
    expect("3 3x0 +5 5. 1E2", (double[]){3, 3, 5, 5, 100}, 5);
    expect(".5x1 _x0 7", (double[]){.5, .5, 7}, 3);
    expect("1 stale stale 2", (double[]){1, -2000, -2000, 2}, 4);
}

static void the_reference_series(void **state)
{
    (void)state;
    const char *text = "38x2880 46.8x60";  /* 2,881 values, then 61 */
    struct series_script s;
    struct err e;
    assert_int_equal(script_parse(text, strlen(text), &s, &e), STATUS_OK);
    assert_int_equal(s.points, 2942);
    assert_near(script_at(&s, 2880).value, 38, 0);
    assert_near(script_at(&s, 2881).value, 46.8, 0);
    script_free(&s);
}

static void expect_error(const char *text, enum status code, const char *where)
{
    struct series_script s = {.points = 77};
    struct err e;
    assert_int_equal(script_parse(text, strlen(text), &s, &e), code);
    assert_int_equal(s.points, 77);
    if (strncmp(e.text, where, strlen(where)) != 0) {
        print_error("%s: got \"%s\"\n", text, e.text);
        fail();
    }
}

static void errors_name_the_place(void **state)
{
    (void)state;
    expect_error("38x", STATUS_INVALID, "series 1:4: after x comes a whole number");
    expect_error("38 x5", STATUS_INVALID, "series 1:4: not a value");
    expect_error("38\n1+2", STATUS_INVALID, "series 2:4: a step needs a count");
    expect_error("1+-2x2", STATUS_INVALID, "series 1:2: not a value");
    expect_error("1 + 2x3", STATUS_INVALID, "series 1:3: not a value");
    expect_error("1x1x1", STATUS_INVALID, "series 1:4: unexpected text");
    expect_error("1x 2", STATUS_INVALID, "series 1:3: after x");
    expect_error("1_x2", STATUS_INVALID, "series 1:2: unexpected text");
    expect_error("38,39", STATUS_INVALID, "series 1:3: unexpected text");
    expect_error("1 stalex3", STATUS_INVALID, "series 1:8: unexpected text");
    expect_error("{{schema:1}}", STATUS_INVALID, "series 1:1: native histograms");
    expect_error("1x-3", STATUS_INVALID, "series 1:3: after x");
    expect_error("1x99999999999999999999999", STATUS_INVALID, "series 1:3: after x");
    expect_error("1x100000000", STATUS_LIMIT, "series 1:1: more than");
    expect_error("1x99999998 _x2", STATUS_LIMIT, "series 1:12: more than");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notation_of_promtool),
        cmocka_unit_test(the_reference_series),
        cmocka_unit_test(errors_name_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
