/* Memory from a file: zeros at first and again after it came back, contents that outlive a rest, and fewer resident pages. */
#include "adapt/pages.h"

#include <stdio.h>
#include <unistd.h>

#include "support/test.h"

static void what_was_written_survives_a_rest(void **state)
{
    (void)state;
    struct err e = {0};
    struct pages *p = pages_open("/tmp", &e);
    if (!p) fail_msg("%s", e.text);
    const struct memory *m = pages_memory(p);
    char *a = memory_take(m, 100000), *b = memory_take(m, 5);
    for (int i = 0; i < 100000; i++) assert_int_equal(a[i], 0);
    memset(a, 7, 100000);
    b[4] = 9;
    pages_rest(p, 0, 1);
    for (int i = 0; i < 100000; i++) assert_int_equal(a[i], 7);
    assert_int_equal(b[4], 9);
    assert_int_equal(pages_lent(p), 100000 / 4096 * 4096 + 4096 + 4096);
    memory_give(m, a, 100000);
    char *again = memory_take(m, 99999);         /* as many pages: the same piece, and nothing of the past in it */
    assert_ptr_equal(again, a);
    for (int i = 0; i < 99999; i++) assert_int_equal(again[i], 0);
    memory_give(m, again, 99999);
    memory_give(m, b, 5);
    assert_int_equal(pages_lent(p), 0);
    assert_int_equal(pages_refused(p), 0);
    pages_close(p);
}

static unsigned long resident_pages(void)
{
    unsigned long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &size, &resident), 2);
    (void)fclose(f);
    return resident;
}

static void a_rest_gives_pages_back_by_turns(void **state)
{
    (void)state;
    enum { PIECES = 8, BYTES = 1 << 20 };
    struct err e = {0};
    struct pages *p = pages_open("/tmp", &e);
    if (!p) fail_msg("%s", e.text);
    char *all[PIECES];
    for (int i = 0; i < PIECES; i++) {
        all[i] = memory_take(pages_memory(p), BYTES);
        memset(all[i], i + 1, BYTES);
    }
    unsigned long full = resident_pages();
    pages_rest(p, 1, 2);
    unsigned long half = resident_pages();
    pages_rest(p, 0, 2);
    unsigned long none = resident_pages();
    assert_true(full - half > 900 && half - none > 900);   /* 4 MiB each are 1,024 pages of 4 KiB */
    for (int i = 0; i < PIECES; i++) {
        assert_int_equal(all[i][BYTES - 1], i + 1);
        memory_give(pages_memory(p), all[i], BYTES);
    }
    pages_close(p);
}

static void without_a_folder_it_says_so(void **state)
{
    (void)state;
    struct err e = {0};
    assert_null(pages_open("/nowhere/at/all", &e));
    assert_non_null(strstr(e.text, "/nowhere/at/all: no file for rarely used pages"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_survives_a_rest),
        cmocka_unit_test(a_rest_gives_pages_back_by_turns),
        cmocka_unit_test(without_a_folder_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
