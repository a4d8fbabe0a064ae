/* Instants, wall times and spans: three types, so that the compiler refuses to mix them.
 * All are signed 64-bit microseconds. Inside the core every instant is NOMINAL and monotonic. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct instant { int64_t us; };  /* monotonic nominal time since an arbitrary origin (>= 0) */
struct wall { int64_t us; };     /* nominal time since 1970-01-01T00:00:00Z; may step */
struct span { int64_t us; };     /* difference of two instants; may be negative */

#define US_PER_MS INT64_C(1000)
#define US_PER_S INT64_C(1000000)
#define US_PER_MIN (60 * US_PER_S)
#define US_PER_HOUR (3600 * US_PER_S)
#define US_PER_DAY (24 * US_PER_HOUR)

#define SPAN_MS(n) ((struct span){(int64_t)(n) * US_PER_MS})
#define SPAN_S(n) ((struct span){(int64_t)(n) * US_PER_S})
#define SPAN_MIN(n) ((struct span){(int64_t)(n) * US_PER_MIN})
#define SPAN_HOUR(n) ((struct span){(int64_t)(n) * US_PER_HOUR})
#define SPAN_DAY(n) ((struct span){(int64_t)(n) * US_PER_DAY})

#define INSTANT_NEVER ((struct instant){INT64_MAX})  /* later than every instant: "no deadline" */
#define INSTANT_NONE ((struct instant){INT64_MIN})   /* earlier than every instant: "has not happened" */
#define WALL_NONE ((struct wall){INT64_MIN})

static inline bool instant_is_set(struct instant t) { return t.us != INT64_MAX && t.us != INT64_MIN; }
static inline bool instant_before(struct instant a, struct instant b) { return a.us < b.us; }
static inline bool instant_reached(struct instant now, struct instant t) { return now.us >= t.us; }
static inline struct instant instant_min(struct instant a, struct instant b) { return a.us < b.us ? a : b; }
static inline struct instant instant_max(struct instant a, struct instant b) { return a.us > b.us ? a : b; }

/* t + d, t - d, saturating one short of NEVER and NONE; these two stay what they are. */
struct instant instant_add(struct instant t, struct span d);
struct instant instant_sub(struct instant t, struct span d);
/* later - earlier, saturating; a NEVER or NONE operand gives the largest or smallest span
 * (0 between two NEVER or two NONE). */
struct span instant_since(struct instant later, struct instant earlier);

static inline double span_seconds(struct span d) { return (double)d.us / 1e6; }
static inline bool span_less(struct span a, struct span b) { return a.us < b.us; }
static inline struct span span_max(struct span a, struct span b) { return a.us > b.us ? a : b; }
static inline struct span span_min(struct span a, struct span b) { return a.us < b.us ? a : b; }

struct buf;
/* "350 ms", "45 s", "6:40" (minutes:seconds), "2 h 10 min", "3 d 4 h": for people. Smaller parts are cut off. */
void span_print(struct buf *out, struct span d);
/* Prometheus duration grammar: 1y 2w 3d 4h 5m 6s 7ms, largest first, each unit once, or "0".
 * Returns the number of bytes read, 0 when `text` does not start with a duration or it overflows. */
unsigned span_parse(const char *text, unsigned len, struct span *ret);
/* Inverse of span_parse for spans >= 0: "1d2h", "5m", "500ms", "0s". What is below a millisecond is cut off;
 * a negative span gets a '-', which span_parse refuses. */
void span_print_config(struct buf *out, struct span d);
/* RFC 3339 in UTC with milliseconds: 2026-05-12T10:02:30.000Z; WALL_NONE prints as "-". */
void wall_print(struct buf *out, struct wall t);
/* Accepts RFC 3339 (Z or offset, optional fraction, ' ' for 'T'), a date alone, or Unix seconds
 * with optional fraction and '-'; beyond a microsecond digits are cut off. false: not a time (also a leap
 * second); *ret untouched. */
bool wall_parse(const char *text, struct wall *ret);

/* Civil date of a wall time shifted by `offset_s` seconds east of UTC. month and day from 1, yday from 0,
 * weekday: 0 = Monday. */
struct civil { int year, month, day, hour, minute, second, weekday, yday; };
struct civil wall_civil(struct wall t, int offset_s);
/* Days since 1970-01-01 of a proleptic Gregorian date. */
int64_t civil_days(int year, int month, int day);

#endif
