/* What goes into the loop and what comes out: events and effects. The daemon turns effects into I/O and I/O into
 * events; the simulator does the same under a virtual clock. */
#ifndef LOOP_EVENT_H
#define LOOP_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/time.h"
#include "model/policy.h"
#include "model/record.h"
#include "model/series.h"
#include "model/value.h"

#define ALL_SERVICES UINT16_MAX
#define POLL_SERVER UINT16_MAX      /* no target: the server of a service with a prometheus source */

enum event_kind {
    EVENT_TIME,          /* wake_at was reached */
    EVENT_PAGE,          /* a scrape ended, well or not */
    EVENT_VALUES,        /* points from outside: prometheus source (ends the poll with `last`), script */
    EVENT_READ,          /* answer to EFFECT_READ */
    EVENT_ANSWER,        /* answer to EFFECT_WRITE */
    EVENT_ACK,           /* of EFFECT_APPEND */
    EVENT_COMMAND,       /* a person */
    EVENT_RELEASE,       /* a deploy told by CI */
    EVENT_RELOAD,        /* a new policy */
    EVENT_RECORD,        /* one record of the log, at start or after EFFECT_FOLD; oldest first */
    EVENT_FOLDED,        /* the log (of `service`, or all) has been given */
    EVENT_STATE,         /* saved baseline state of a service */
    EVENT_REFILL,        /* points kept between the saved state and now, of one signal; after EVENT_STATE, before EVENT_FOLDED */
    EVENT_HISTORY,       /* imported points of one signal */
    EVENT_HEALTH         /* modules, store, clock, lease */
};

enum command_verb {
    COMMAND_APPROVE, COMMAND_REJECT, COMMAND_HALT, COMMAND_HALT_UNDO, COMMAND_RESUME, COMMAND_CANCEL, COMMAND_ROLLBACK,
    COMMAND_RETRY, COMMAND_NORMAL_NOW,
    COMMAND_FREEZE, COMMAND_MAINTENANCE, COMMAND_WINDOW_END
};
enum role { ROLE_NONE, ROLE_VIEWER, ROLE_OPERATOR, ROLE_ADMIN };

struct command {
    enum command_verb verb;
    uint64_t id;                      /* given back in the reply */
    const char *by;                   /* authenticated name */
    const char *via;                  /* cli, api, console, file, signal */
    enum role role;
    const char *reason;               /* halt, reject, windows: a person's words; may be NULL */
    const char *action;               /* cancel, rollback: action id "service/7"; NULL: the running one. window-end: "w7" */
    const char *request;              /* approve, reject: request id or plan hash prefix; NULL: the only one */
    bool clear;                       /* retry --clear */
    struct wall until;                /* freeze, maintenance: their end */
};

struct event {
    enum event_kind kind;
    struct instant now;               /* nominal, monotonic: never smaller than in the event before */
    struct wall wall;                 /* nominal wall time at `now` */
    uint16_t service;                 /* or ALL_SERVICES */
    bool has_age;                     /* EVENT_RECORD: it is certainly `age` old, by a clock that nobody sets; without, */
    struct span age;                  /* its wall time is all there is */
    union {
        struct { uint16_t target; enum page_outcome outcome; const char *bytes; size_t len; bool openmetrics; const char *error;
                 struct instant began; struct wall began_wall; } page;
        struct { const uint16_t *signals; const struct point *points; uint32_t n; bool last; } values;   /* last: of a poll */
        struct { uint16_t knob; const struct read_vector *vector; } read;
        struct { uint16_t knob; uint32_t action; enum answer_kind kind; const char *version; const char *text; } answer;
        struct { uint64_t token; enum status status; uint64_t seq; } ack;
        struct command command;
        struct { const char *version; const char *by; } release;
        struct { struct policy *policy; const char *by; } reload;
        const struct record *record;
        struct { const void *bytes; size_t len; struct span age; } state;
        struct { uint16_t signal; const struct point *points; uint32_t n; } refill;
        struct { uint16_t signal; const struct point *points; const struct wall *walls; uint32_t n; bool last; } history;
        struct { uint8_t set, clear; const char *why; } health;   /* enum freeze_bit of loop/control.h; LEASE: set = another
                                                                   * replica leads, clear = this one does: its log follows */
    } u;
};

enum effect_kind {
    EFFECT_POLL,         /* scrape target `target` of `service`; POLL_SERVER: ask for its signals that are due */
    EFFECT_APPEND,       /* append `records` durably as one, then EVENT_ACK with `token`; sync a checkpoint for INTENT */
    EFFECT_READ,         /* read knob `knob` on all instances */
    EFFECT_WRITE,        /* send ONE write; compare `epoch` with the halt flag right before the send */
    EFFECT_NOTIFY,       /* tell people */
    EFFECT_FOLD,         /* give the service's records again (EVENT_RECORD.., EVENT_FOLDED) */
    EFFECT_SAVE_STATE,   /* keep these baseline bytes */
    EFFECT_POINTS,       /* keep these points */
    EFFECT_REPLY         /* outcome of a command */
};

enum notice { NOTICE_INFO, NOTICE_WARN, NOTICE_PAGE };

struct effect {
    enum effect_kind kind;
    uint16_t service;
    union {
        struct { uint16_t target; } poll;
        struct { const struct record *records; uint32_t n; uint64_t token; bool checkpoint; } append;
        struct { uint16_t knob; bool before_write; } read;
        struct { uint16_t knob; const struct knob_value *value, *expect; uint32_t action, epoch; bool is_undo, dry; } write;
        struct { enum notice level; const char *subject, *text; bool recorded; } notify;   /* recorded: a record of the log says
                                                                                             * the same, and receivers have it
                                                                                             * from there */
        struct { const void *bytes; size_t len; } save_state;
        struct { const uint16_t *signals; const struct point *points; uint32_t n; } points;
        struct { uint64_t id; enum status status; const char *text; const char *detail; } reply;
    } u;
};

struct update {
    const struct effect *effects;     /* in order; memory valid until the next call on the same loop */
    uint32_t n;
    struct instant wake_at;           /* call EVENT_TIME then at the latest; NEVER when nothing is scheduled */
};

#endif
