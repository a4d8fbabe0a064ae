/* What the tests of an open store share: a folder of its own, a store in it, a short story to keep. Include
 * support/test.h, or a header that does, first. */
#ifndef SUPPORT_STORE_PLACE_H
#define SUPPORT_STORE_PLACE_H

#include "store/store.h"
#include "support/audit_records.h"
#include "support/tempdir.h"

static const uint8_t seed[AUDIT_SEED_BYTES] = {1, 2, 3};

struct place { char dir[TEMPDIR_MAX]; };

static inline int setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    tempdir_make(p->dir);
    *state = p;
    return 0;
}

static inline int teardown(void **state)
{
    struct place *p = *state;
    tempdir_remove(p->dir);
    free(p);
    return 0;
}

static inline struct store_options options(const struct place *p, bool unthreaded)
{
    return (struct store_options){.dir = p->dir, .seed = seed, .unthreaded = unthreaded, .reserve_bytes = 1 << 16};
}

static inline struct store *open_at(const struct place *p, bool unthreaded)
{
    struct store_options o = options(p, unthreaded);
    struct store *s = NULL;
    struct err e;
    if (store_open(&s, &o, &e) != STATUS_OK) fail_msg("%s", e.text);
    return s;
}

static inline void append(struct store *s, enum record_kind kind, unsigned action, unsigned incident)
{
    char room[64];
    struct err e;
    struct record r = sample_record(kind, action, incident, room);
    if (store_append_now(s, &r, 1, NULL, &e) != STATUS_OK) fail_msg("%s", e.text);
}

static inline void append_story(struct store *s)
{
    append(s, RECORD_START, 0, 0);
    append(s, RECORD_INCIDENT, 0, 1);
    append(s, RECORD_INTENT, 1, 1);
    append(s, RECORD_APPLIED, 1, 1);
    append(s, RECORD_VERDICT, 1, 1);
    append(s, RECORD_CLOSED, 0, 1);
    append(s, RECORD_INCIDENT, 0, 2);
}

static inline void assert_verified(struct store *s, uint64_t records)
{
    struct store_report report;
    struct err e;
    if (store_verify(s, &report, &e) != STATUS_OK) fail_msg("%s", e.text);
    if (!report.good) fail_msg("%s", report.why);
    assert_int_equal(report.records, records);
    assert_int_equal(report.newest.size, records);
}

#endif
