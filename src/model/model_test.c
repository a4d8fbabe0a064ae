#include "support/test.h"

#include "model/enums.h"
#include "model/evidence.h"
#include "model/excluded.h"
#include "model/reason.h"
#include "model/record.h"
#include "model/value.h"

static void test_every_reason_code_is_unique_and_parses_back(void **state)
{
    (void)state;
    for (int i = 1; i < REASON_COUNT; i++) {
        enum reason back = REASON_NONE;
        assert_true(reason_parse(reason_code((enum reason)i), &back));
        assert_int_equal(back, i);
        assert_true(strlen(reason_sentence((enum reason)i)) > 10);
        assert_true(strlen(reason_advice((enum reason)i)) >= 7);
    }
    enum reason untouched = REASON_GAP;
    assert_false(reason_parse("no-such-code", &untouched));
    assert_int_equal(untouched, REASON_GAP);
}

static void test_every_record_kind_parses_back(void **state)
{
    (void)state;
    for (int i = 0; i < RECORD_KIND_COUNT; i++) {
        enum record_kind back;
        assert_true(record_kind_parse(record_kind_name((enum record_kind)i), &back));
        assert_int_equal(back, i);
    }
}

static void test_units_know_dimension_and_factor(void **state)
{
    (void)state;
    enum unit u;
    assert_true(unit_parse("ms", &u));
    assert_int_equal(unit_dimension(u), DIM_TIME);
    assert_near(unit_factor(u), 0.001, 0);
    assert_true(unit_parse("req/s", &u));
    assert_int_equal(u, UNIT_PER_S);
    assert_false(unit_parse("parsec", &u));
    assert_int_equal(unit_dimension(UNIT_PERCENT), unit_dimension(UNIT_RATIO));
}

static void test_needs_are_kept_once(void **state)
{
    (void)state;
    struct needs needs = {0};
    struct need a = {FN_BASELINE, 3, {0}}, b = {FN_SLOPE, 3, SPAN_HOUR(1)}, c = {FN_SLOPE, 3, SPAN_HOUR(2)};
    assert_int_equal(needs_add(&needs, a), 0);
    assert_int_equal(needs_add(&needs, b), 1);
    assert_int_equal(needs_add(&needs, c), 2);
    assert_int_equal(needs_add(&needs, b), 1);
    assert_int_equal(needs.n, 3);
    for (uint16_t i = 0; needs.n < NEEDS_MAX; i++) (void)needs_add(&needs, (struct need){FN_VALUE, i, {0}});
    assert_int_equal(needs_add(&needs, (struct need){FN_SCORE, 9, {0}}), -1);
    needs_free(&needs);
}

static void test_knob_values_compare_as_bytes_or_numbers(void **state)
{
    (void)state;
    struct knob_value a = {0}, b = {0};
    assert_true(knob_value_set(&a, "64", 2));
    assert_true(knob_value_set(&b, "64.0", 4));
    assert_true(knob_value_same(&a, &b));
    assert_true(knob_value_set(&b, "64ms", 4));
    assert_false(b.is_number);
    assert_false(knob_value_same(&a, &b));
    knob_value_set_number(&b, 128);
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.bytes, "128", 3);
    char big[KNOB_BYTES_MAX + 1] = {0};
    assert_false(knob_value_set(&b, big, sizeof big));
}

static void test_record_keeps_typed_fields_and_copies_deep(void **state)
{
    (void)state;
    struct record r;
    char note[] = "a note";
    uint8_t hash[32] = {7};
    record_init(&r, RECORD_INTENT);
    record_u64(&r, RF_EPOCH, 4);
    record_text(&r, RF_NOTE, note);
    record_text(&r, RF_CAUSE, NULL);
    record_hex32(&r, RF_PLAN, hash);
    struct arena a = ARENA_INIT;
    struct record *copy = record_copy(&a, &r);
    note[0] = 'X';
    hash[0] = 9;
    assert_string_equal(record_get_text(copy, RF_NOTE), "a note");
    assert_int_equal(copy->v[RF_PLAN].hex32[0], 7);
    assert_int_equal(record_get_u64(copy, RF_EPOCH, 0), 4);
    assert_false(record_has(copy, RF_CAUSE));
    assert_string_equal(record_get_text(copy, RF_KIND), "INTENT");
    arena_free(&a);
}

static void test_excluded_is_a_set_with_a_limit(void **state)
{
    (void)state;
    struct excluded_list l = {0};
    assert_true(excluded_add(&l, 1, 2, DIR_UP));
    assert_true(excluded_add(&l, 1, 2, DIR_UP));
    assert_int_equal(l.n, 1);
    assert_true(excluded_has(&l, 1, 2, DIR_UP));
    assert_false(excluded_has(&l, 1, 2, DIR_DOWN));
    for (uint16_t i = 0; i < EXCLUDED_MAX; i++) (void)excluded_add(&l, 9, i, DIR_UP);
    assert_false(excluded_add(&l, 10, 0, DIR_UP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_reason_code_is_unique_and_parses_back),
        cmocka_unit_test(test_every_record_kind_parses_back),
        cmocka_unit_test(test_units_know_dimension_and_factor),
        cmocka_unit_test(test_needs_are_kept_once),
        cmocka_unit_test(test_knob_values_compare_as_bytes_or_numbers),
        cmocka_unit_test(test_record_keeps_typed_fields_and_copies_deep),
        cmocka_unit_test(test_excluded_is_a_set_with_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
