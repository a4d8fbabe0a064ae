#include "app/csv.h"

#include <math.h>
#include <string.h>

#include "support/test.h"

static enum status read(const char *text, struct csv_rows *r, struct err *e)
{
    return csv_read("a.csv", text, strlen(text), r, e);
}

static void names_may_stand_in_any_place(void **state)
{
    struct csv_rows r;
    struct err e;
    (void)state;
    const char *text = "host,value,timestamp\r\na,1.5,2026-05-12T10:00:00Z\r\n\"b,c\",,2026-05-12 10:00:30\r\n";
    assert_int_equal(STATUS_OK, read(text, &r, &e));
    assert_int_equal(2, r.n);
    assert_true(r.values[0] == 1.5);
    assert_true(isnan(r.values[1]));
    assert_true(r.times[1].us - r.times[0].us == 30 * US_PER_S);
    csv_free(&r);
}

static void without_names_the_first_two_columns_count(void **state)
{
    struct csv_rows r;
    struct err e;
    (void)state;
    assert_int_equal(STATUS_OK, read("1700000000,3\n\n1700000060,4", &r, &e));
    assert_int_equal(2, r.n);
    assert_true(r.values[1] == 4);
    assert_true(r.times[0].us == INT64_C(1700000000) * US_PER_S);
    csv_free(&r);
}

static void refuses_with_line(void **state)
{
    struct csv_rows r;
    struct err e;
    (void)state;
    assert_int_equal(STATUS_INVALID, read("timestamp,value\n1700000000,3\nyesterday,4\n", &r, &e));
    assert_non_null(strstr(e.text, "a.csv:3: 'yesterday' is not a time"));
    assert_int_equal(STATUS_INVALID, read("timestamp,value\n1700000000,many\n", &r, &e));
    assert_non_null(strstr(e.text, "a.csv:2: 'many' is not a number"));
    assert_int_equal(STATUS_INVALID, read("timestamp,value\n1700000000\n", &r, &e));
    assert_non_null(strstr(e.text, "a.csv:2: 1 columns"));
    assert_int_equal(STATUS_INVALID, read("", &r, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_may_stand_in_any_place),
        cmocka_unit_test(without_names_the_first_two_columns_count),
        cmocka_unit_test(refuses_with_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
