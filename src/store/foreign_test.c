/* The log is checked by code that is not ours: the few lines of Python in docs/audit.md, taken from that page as they
 * are. */
#include <sqlite3.h>
#include <stdlib.h>

#include "store/store.h"
#include "support/audit_records.h"
#include "support/tempdir.h"

static const uint8_t seed[AUDIT_SEED_BYTES] = {31};

static void make_log(const char *dir, unsigned records)
{
    struct store_options o = {.dir = dir, .seed = seed, .unthreaded = true};
    struct store *s = NULL;
    assert_int_equal(store_open(&s, &o, NULL), STATUS_OK);
    for (unsigned i = 0; i < records; i++) {
        char room[64];
        struct record r = sample_record(i % 3 ? RECORD_APPLIED : RECORD_INTENT, i + 1, 1, room);
        assert_int_equal(store_append_now(s, &r, 1, NULL, NULL), STATUS_OK);
    }
    store_close(s);
}

/* The page's Python into dir/check.py. */
static void take_script(const char *dir)
{
    static char page[1 << 16];
    char path[TEMPDIR_MAX + 32];
    FILE *f = fopen(SOURCE_DIR "/docs/audit.md", "rb");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    fclose(f);
    char *from = strstr(page, "```python\n");
    assert_non_null(from);
    from += strlen("```python\n");
    char *to = strstr(from, "```");
    assert_non_null(to);
    snprintf(path, sizeof path, "%s/check.py", dir);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(from, 1, (size_t)(to - from), f), to - from);
    fclose(f);
}

static int run_in(const char *dir, const char *command)
{
    char line[TEMPDIR_MAX + 128];
    snprintf(line, sizeof line, "cd '%s' && %s 2>/dev/null", dir, command);
    return system(line);
}

static void change(const char *dir, const char *sql)
{
    char path[TEMPDIR_MAX + 32];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/audit.db", dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TRIGGER IF EXISTS records_stay; DROP TRIGGER IF EXISTS records_remain",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_the_page_checks_a_log(void **state)
{
    (void)state;
    char dir[TEMPDIR_MAX];
    tempdir_make(dir);
    if (run_in(dir, "python3 -c 'import sqlite3, hashlib'") != 0) {
        print_message("skipped: no python3 with sqlite3\n");
        tempdir_remove(dir);
        skip();
    }
    take_script(dir);
    make_log(dir, 23);
    assert_int_equal(run_in(dir, "python3 check.py"), 0);
    change(dir,
           "UPDATE records SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"64\"', '\"65\"') AS BLOB) WHERE seq = 9");
    assert_int_not_equal(run_in(dir, "python3 check.py"), 0);
    change(dir,
           "UPDATE records SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"65\"', '\"64\"') AS BLOB) WHERE seq = 9");
    assert_int_equal(run_in(dir, "python3 check.py"), 0);
    change(dir, "DELETE FROM records WHERE seq = 22");
    assert_int_not_equal(run_in(dir, "python3 check.py"), 0);
    tempdir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_page_checks_a_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
