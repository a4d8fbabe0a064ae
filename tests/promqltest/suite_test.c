/* The public PromQL suite: everything outside native histograms passes. */
#include "promqltest/promqltest.h"
#include "support/test.h"

static void suite_passes(void **state)
{
    (void)state;
    static const char *const files[] = {"histograms", "literals", "operators", "selectors", "staleness"};
    SKIP_WITHOUT_SHARED(shared)
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[1200];
        snprintf(path, sizeof path, "%s/suites/promqltest/%s.test", shared, files[i]);
        assert_true(promqltest_file(path));
    }
    struct promqltest_tally t = promqltest_total();
    assert_true(t.passed >= 308);
    assert_int_equal(t.failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(suite_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
