/* The bad disk under SQLite: what a sync has covered stays, what it has not may be lost or torn. */
#include <sqlite3.h>
#include <unistd.h>

#include "sim/swarm_disk.h"
#include "support/tempdir.h"

static char dir[TEMPDIR_MAX], path[TEMPDIR_MAX + 16];

static sqlite3 *open_db(void)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, DISK_VFS), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;"
                                      "CREATE TABLE IF NOT EXISTS t (x TEXT)", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static int count(void)
{
    sqlite3 *db = open_db();
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int n = sqlite3_column_int(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

static int put(sqlite3 *db, int n)
{
    int good = 0;
    for (int i = 0; i < n; i++) {
        good += sqlite3_exec(db, "INSERT INTO t VALUES (hex(randomblob(300)))", NULL, NULL, NULL) == SQLITE_OK;
    }
    return good;
}

static void begin(void)
{
    tempdir_make(dir);
    snprintf(path, sizeof path, "%s/t.db", dir);
    disk_begin();
}

static void end(void)
{
    disk_end();
    tempdir_remove(dir);
}

static void die(sqlite3 *db, struct prng *chance)
{
    disk_process_dies();
    sqlite3_close(db);
    if (chance) disk_power_cut(chance);
    else disk_settle();
    disk_process_lives();
}

static void test_what_is_committed_survives_a_power_cut(void **state)
{
    (void)state;
    struct prng chance;
    prng_seed(&chance, 1);
    begin();
    for (int run = 1; run <= 20; run++) {
        sqlite3 *db = open_db();
        assert_int_equal(put(db, 3), 3);
        die(db, &chance);
        assert_int_equal(count(), 3 * run);
    }
    end();
}

/* Writes that nothing has synced: sometimes there, sometimes not. A kill alone loses none of them. */
static void test_what_is_not_synced_may_be_lost(void **state)
{
    (void)state;
    struct prng chance;
    int there = 0, runs = 40;
    prng_seed(&chance, 2);
    begin();
    for (int run = 0; run < runs; run++) {
        bool power = run % 2;
        sqlite3 *db = open_db();
        assert_int_equal(sqlite3_exec(db, "DELETE FROM t; PRAGMA synchronous=OFF", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(put(db, 1), 1);
        die(db, power ? &chance : NULL);
        int now = count();
        if (!power) assert_int_equal(now, 1);
        there += power && now == 1;
    }
    assert_in_range(there, 0, runs / 2 - 1);
    end();
}

/* Killed after each number of writes: all of the transaction or nothing of it, and the file can be opened. */
static void test_killed_between_any_two_writes(void **state)
{
    (void)state;
    int last = 0;
    begin();
    for (uint64_t writes = 0; writes < 30; writes++) {
        sqlite3 *db = open_db();
        disk_weather()->writes_left = writes;
        int good = put(db, 1);
        die(db, NULL);
        int now = count();
        assert_true(now >= last + good && now <= last + 1);
        last = now;
    }
    assert_true(last > 0 && last < 30);
    end();
}

static void test_a_full_and_a_failing_disk(void **state)
{
    (void)state;
    begin();
    sqlite3 *db = open_db();
    assert_int_equal(put(db, 1), 1);
    disk_weather()->full = true;
    assert_int_equal(put(db, 1), 0);
    assert_int_equal(sqlite3_errcode(db) & 0xff, SQLITE_FULL);
    disk_weather()->full = false;
    disk_weather()->fails = disk_weather()->torn = true;
    assert_int_equal(put(db, 1), 0);
    assert_int_equal(sqlite3_errcode(db) & 0xff, SQLITE_IOERR);
    disk_weather()->fails = false;
    assert_int_equal(put(db, 1), 1);
    die(db, NULL);
    assert_int_equal(count(), 2);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_committed_survives_a_power_cut),
        cmocka_unit_test(test_what_is_not_synced_may_be_lost),
        cmocka_unit_test(test_killed_between_any_two_writes),
        cmocka_unit_test(test_a_full_and_a_failing_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
