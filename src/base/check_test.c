#include "base/check.h"

#include "support/test.h"

static jmp_buf back;
static int seen_line;
static char seen_expr[64];

static void note(const char *expr, const char *file, int line)
{
    assert_non_null(strstr(file, "check_test.c"));
    snprintf(seen_expr, sizeof seen_expr, "%s", expr);
    seen_line = line;
    longjmp(back, 1);
}

static void failed_check_reaches_the_handler(void **state)
{
    (void)state;
    check_set_handler(note);
    const int line = __LINE__;
    if (setjmp(back) == 0) {
        CHECK(1 + 1 == 3);
        fail();
    }
    check_set_handler(NULL);
    assert_string_equal(seen_expr, "1 + 1 == 3");
    assert_int_equal(seen_line, line + 2);
}

static void true_check_passes(void **state)
{
    (void)state;
    struct { unsigned magic; } o = {7};
    CHECK(2 > 1);
    OBJ_VALID(&o, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_check_reaches_the_handler),
        cmocka_unit_test(true_check_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
