/* Time zones of the IANA database: what offset from UTC a place has at an instant. Reads the bytes of a compiled zone file
 * (TZif, RFC 8536, versions 1 to 4); who owns files reads them. Leap seconds are not counted, as in POSIX time. */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/time.h"

#define ZONE_BYTES_MAX 65536u
#define ZONE_CHANGES_MAX 4096u

/* A day of the year on which the offset changes, from the POSIX rule at the end of the file. */
struct zone_day {
    char kind;                       /* 'M': month, week, weekday; 'J': day 1..365 without 29 February; 'D': day 0..365 */
    int month, week, weekday, day;   /* week 5: the last one; weekday 0 = Sunday */
    int32_t at_s;                    /* seconds after local midnight, -167 h .. 167 h */
};

struct zone {
    const char *name;
    const int64_t *at;               /* seconds since 1970 at which the offset becomes offset[i], ascending */
    const int32_t *offset;           /* seconds east of UTC */
    uint32_t n;
    int32_t first;                   /* before at[0] */
    bool has_rule, has_summer;       /* after the last change; without a rule that one stays */
    int32_t winter, summer;
    struct zone_day summer_begins, summer_ends;
};

/* UTC: no file needed. */
extern const struct zone zone_utc;

/* Tables live in `a`, so does a copy of `name`. INVALID with the reason in *e: not such a file, or damaged. *ret untouched then. */
enum status zone_parse(struct arena *a, const char *name, const void *bytes, size_t len, struct zone *ret, struct err *e);
/* Seconds east of UTC that are in force at `t`. */
int32_t zone_offset(const struct zone *z, struct wall t);
/* The clock on the wall there. */
struct civil zone_civil(const struct zone *z, struct wall t);
/* When that clock shows `seconds` after midnight of `day` (days since 1970): of an hour that comes twice the second one, of one
 * that is left out the instant at which the clock jumps over it. */
struct wall zone_local(const struct zone *z, int64_t day, int64_t seconds);
/* The next change of the offset after `t`; WALL_NONE: none within two years. */
struct wall zone_next_change(const struct zone *z, struct wall t);
/* Is it a name that may be looked up below the zone folder: letters, digits, + - _ and single slashes? */
bool zone_name_good(const char *name);

#endif
