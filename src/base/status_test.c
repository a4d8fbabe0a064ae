#include "base/status.h"

#include "support/test.h"

static void every_code_has_text(void **state)
{
    (void)state;
    assert_string_equal(status_text(STATUS_OK), "ok");
    assert_string_equal(status_text(STATUS_STATE), "not possible in this state");
    assert_string_equal(status_text((enum status)999), "unknown status");
}

static void set_and_prefix(void **state)
{
    (void)state;
    struct err e = {0};
    assert_int_equal(err_set(&e, STATUS_INVALID, "line %d: unknown key", 7), STATUS_INVALID);
    assert_string_equal(e.text, "line 7: unknown key");
    assert_int_equal(err_prefix(&e, "%s", "policy.yaml"), STATUS_INVALID);
    assert_string_equal(e.text, "policy.yaml: line 7: unknown key");
    err_set(&e, STATUS_IO, "again: %s", e.text);
    assert_string_equal(e.text, "again: policy.yaml: line 7: unknown key");
    assert_int_equal(err_set(NULL, STATUS_FULL, "no place"), STATUS_FULL);
    err_clear(&e);
    assert_int_equal(e.code, STATUS_OK);
}

static void long_text_is_cut_between_characters(void **state)
{
    (void)state;
    char text[600];
    memset(text, 'a', sizeof text);
    memcpy(text + 510, "\xe4\xb8\xad", 3);  /* bytes 510..512 do not fit into 511 */
    text[599] = '\0';
    struct err e;
    err_set(&e, STATUS_LIMIT, "%s", text);
    assert_int_equal(strlen(e.text), 510);
    err_prefix(&e, "xy");
    assert_int_equal(strlen(e.text), 511);
    assert_memory_equal(e.text, "xy: aaa", 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_text),
        cmocka_unit_test(set_and_prefix),
        cmocka_unit_test(long_text_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
