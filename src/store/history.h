/* The other file, metrics.db: signals, baseline state, policy revisions, and the lists of incidents and actions.
 * Losing it loses comfort, never the story: the lists are made again from the log. Threads as in store/store.h: what is
 * put is queued for the metrics thread; what is read is read at once, so a value just put may not be there yet. */
#ifndef STORE_HISTORY_H
#define STORE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "model/enums.h"
#include "store/store.h"


/* ---- signals ---- */

struct store_point {
    const char *service, *signal;
    enum layer layer;             /* decides how long it is kept */
    int64_t at;
    double value;                 /* stored as absent unless why is WHY_KNOWN */
    uint32_t n;
    enum unknown_why why;
};
/* A second point at the same time replaces the first. Dropped and counted (store_health) while the disk is full or when
 * the thread is far behind. */
enum status store_points_put(struct store *s, const struct store_point *points, uint32_t n, struct err *e);

/* One step of a range: [at, at + step). */
struct store_step {
    int64_t at;
    double mean, min, max, last;  /* of the known points; NaN when there is none */
    uint32_t known, unknown;
    uint32_t n;                   /* requests behind the last known point; 0: not applicable */
    enum unknown_why why;         /* of the last unknown point; KNOWN when there is none */
};
struct store_step_sink { bool (*step)(void *arg, const struct store_step *step); void *arg; };
/* Points in [from, to), oldest first, in steps of step_us counted from `from` (0: each point by itself). Empty steps
 * are left out. Steps of an hour and more reach back 90 days: of points older than their layer is kept the hours stay, with
 * their largest, smallest, sum and count; last is then the mean of the hour. */
enum status store_points_range(struct store *s, const char *service, const char *signal, int64_t from, int64_t to,
                               int64_t step_us, const struct store_step_sink *sink, struct err *e);
/* The same from a metrics.db, for reading only: of a data folder without its daemon, or beside it. */
struct store_copy;
enum status store_copy_open(struct store_copy **ret, const char *path, struct err *e);
void store_copy_close(struct store_copy *c);   /* takes NULL */
/* Its series, by service and signal. Return false to end early. */
struct store_series_sink { bool (*series)(void *arg, const char *service, const char *signal, const char *layer); void *arg; };
enum status store_copy_series(struct store_copy *c, const struct store_series_sink *sink, struct err *e);
/* What the points of a layer take. Points of the last two hours are rows, older ones lie packed in blocks. */
struct store_cost {
    uint64_t series, row_points, block_points, block_bytes;
    int64_t first, last;          /* of its points; STORE_NO_TIME: none */
};
enum status store_copy_cost(struct store_copy *c, struct store_cost ret[LAYER_COUNT], uint64_t *ret_file_bytes, struct err *e);
enum status store_copy_range(struct store_copy *c, const char *service, const char *signal, int64_t from, int64_t to,
                             int64_t step_us, const struct store_step_sink *sink, struct err *e);
/* Queues the packing of points older than two hours and the removal of those older than their layer is kept, up to two
 * hours late (model/enums.h). Once an hour is enough. */
enum status store_retain(struct store *s, int64_t now, struct err *e);

/* How many bytes metrics.db may take, its write-ahead file included; 0: any. From the next write on the oldest points go when
 * it is more, blocks first; store_health says how many and up to when. Any thread. */
void store_budget(struct store *s, uint64_t bytes);
/* A power cut takes at most the points of the last so many seconds before it (of a store with threads). */
#define STORE_SYNC_S 5

/* ---- baseline state, policy ---- */

/* Keeps the newest state of a service, as bytes that only detect understands. */
enum status store_state_put(struct store *s, const char *service, int64_t at, const void *bytes, size_t len,
                            struct err *e);
/* NOT_FOUND: none was saved. */
enum status store_state_get(struct store *s, const char *service, int64_t *ret_at, struct buf *out, struct err *e);

/* Every policy that was ever in force stays readable by its revision. The same revision again changes nothing. */
enum status store_policy_put(struct store *s, const char *revision, const char *path, const char *text, size_t len,
                             int64_t at, struct err *e);
enum status store_policy_get(struct store *s, const char *revision, struct buf *out, struct err *e);   /* NOT_FOUND */
struct store_policy { const char *revision, *path; int64_t loaded; };
struct store_policy_sink { bool (*policy)(void *arg, const struct store_policy *p); void *arg; };
enum status store_policies(struct store *s, const struct store_policy_sink *sink, struct err *e); /* newest first */

/* ---- lists from the log ---- */

struct store_incident_row {
    const char *service, *symptom, *cause;       /* cause: of the last record that named one; "" */
    uint64_t incident;
    int64_t onset, opened, closed;               /* closed: STORE_NO_TIME while open */
    const char *last_kind, *last_reason;
    const char *feedback;                        /* newest word of a person: false, true, useful; "" none */
    uint64_t actions, last_seq;
};
struct store_incident_sink { bool (*incident)(void *arg, const struct store_incident_row *row); void *arg; };
/* Newest first; service NULL: of all; opened before `before` (INT64_MAX: from the newest on); at most `limit`. */
enum status store_incidents(struct store *s, const char *service, int64_t before, uint32_t limit,
                            const struct store_incident_sink *sink, struct err *e);

/* Incidents of which a person has said something, and those called a false alarm by the newest word. */
struct store_feedback { uint64_t all, false_alarms; };
enum status store_feedback(struct store *s, struct store_feedback *ret, struct err *e);

struct store_action_row {
    const char *action, *service, *knob, *class, *cause, *from, *to, *by;
    uint64_t incident;
    bool automatic;
    int64_t intended, applied;                   /* applied: STORE_NO_TIME until read back */
    const char *verdict, *outcome;               /* "" before the verdict */
    const char *last_kind;                       /* how far its story has come */
    int64_t last_at;
    uint64_t last_seq;
};
struct store_action_sink { bool (*action)(void *arg, const struct store_action_row *row); void *arg; };
enum status store_actions(struct store *s, const char *service, int64_t before, uint32_t limit,
                          const struct store_action_sink *sink, struct err *e);

/* Waits until all that was put before is written: for tests, export, and the end of an import. */
void store_history_flush(struct store *s);

#endif
