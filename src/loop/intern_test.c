#include "support/test.h"

#include "loop/intern.h"

static uint16_t text(struct intern *in, const char *t, bool is_version)
{
    return intern_text(in, t, (uint16_t)strlen(t), is_version);
}

/* Equal bytes, equal id: versions too, which are never compared as numbers. */
static void test_equal_bytes_have_one_id(void **state)
{
    (void)state;
    struct intern in = {0};
    uint16_t v1 = text(&in, "v1", true), etag = text(&in, "\"7\"", true);
    assert_int_equal(text(&in, "v1", true), v1);
    assert_int_equal(text(&in, "\"7\"", true), etag);
    assert_true(v1 != etag);
    uint16_t seven = text(&in, "7", true);
    assert_true(text(&in, "7.0", true) != seven);
    assert_true(text(&in, "7", false) != seven);
    intern_free(&in);
}

/* Values that are equal numbers are one value, written as it was first seen. */
static void test_equal_numbers_are_one_value(void **state)
{
    (void)state;
    struct intern in = {0};
    struct knob_value v = {0};
    uint16_t id = text(&in, "64", false);
    assert_int_equal(text(&in, "64.0", false), id);
    assert_int_equal(text(&in, "6.4e1", false), id);
    assert_true(text(&in, "65", false) != id);
    assert_true(text(&in, "sixty", false) != text(&in, "seventy", false));
    assert_true(intern_get(&in, id, &v));
    assert_int_equal(v.len, 2);
    assert_memory_equal(v.bytes, "64", 2);
    intern_free(&in);
}

static void test_what_is_not_marked_is_freed(void **state)
{
    (void)state;
    struct intern in = {0};
    struct knob_value v = {0};
    uint16_t kept = text(&in, "a", false), gone = text(&in, "b", false);
    intern_mark(&in, kept);
    intern_sweep(&in);
    assert_true(intern_get(&in, kept, &v));
    assert_false(intern_get(&in, gone, &v));
    assert_false(intern_get(&in, 0, &v));
    assert_int_equal(text(&in, "c", false), gone);
    intern_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_bytes_have_one_id),
        cmocka_unit_test(test_equal_numbers_are_one_value),
        cmocka_unit_test(test_what_is_not_marked_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
