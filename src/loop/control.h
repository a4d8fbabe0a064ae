/* The state table of one service, alone: loop.md section 4, one row a line (loop/control_table.def).
 *
 * Plain data, no pointers, no allocation: an exhaustive explorer can drive this very code. Values and versions of
 * knobs are small ids that loop interns (equal id <=> equal bytes); 0 = none. Times are nominal instants;
 * control_canon makes them relative.
 *
 * Durable facts change only through control_fold, which control_step itself calls for each record it emits:
 * recovery is the same fold over the log, so live and recovered state cannot differ. */
#ifndef LOOP_CONTROL_H
#define LOOP_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/time.h"
#include "base/tri.h"
#include "model/enums.h"
#include "model/excluded.h"
#include "model/policy.h"
#include "model/reason.h"
#include "model/record.h"

#define CONTROL_KNOBS POLICY_KNOBS_MAX
#define CONTROL_DISTINCT 4
#define CONTROL_RECORDS 4
#define CONTROL_WOULD 8
#define NO_KNOB 0xff

enum control_cas { CAS_NONE, CAS_VALUE, CAS_VERSION };

struct control_knob_policy {
    uint8_t class, tier;
    uint8_t cas;                       /* enum control_cas */
    uint8_t versions_with;             /* first knob kept in the same place: a write to one changes the version of all of them */
    bool listed;                       /* false: removed or raised to tier 3 by a reload */
    struct span interval, protect, readback;
};

struct control_policy {
    uint8_t knob_count;
    struct control_knob_policy knobs[CONTROL_KNOBS];
    struct span late_watch, approval, release_watch, append_timeout, renotify, protect_cool, suspend, freeze_knob;
};
/* append_timeout 5 s; protect_cool, suspend, freeze_knob 24 h. */
struct control_policy control_policy_of(const struct service_def *s);

/* The story of the newest action on a knob: the last record that moved it. */
#define STORY_TABLE(X)                                                                                          \
    X(NONE) X(INTENT) X(APPLIED) X(APPLIED_LATE) X(PART) X(FAILED) X(ABORTED) X(VERDICT_BAD) X(VERDICT_UNDO)    \
    X(CANCEL) X(ROLLBACK) X(UNDO) X(UNDO_RETRY) X(UNDONE) X(UNDO_FAILED) X(YIELDED) X(HELD) X(KEPT) X(PARTIAL)
#define X(id) STORY_##id,
enum story { STORY_TABLE(X) STORY_COUNT };
#undef X
const char *story_name(enum story s);
bool story_ended(enum story s);        /* no write and no verdict outstanding */

enum origin { ORIGIN_NONE, ORIGIN_BAD, ORIGIN_INCONCLUSIVE, ORIGIN_CANCEL, ORIGIN_ROLLBACK, ORIGIN_LATE };

struct control_slot {                  /* newest action on one knob */
    uint32_t action;                   /* the service's INTENT counter, from 1 */
    uint16_t old, new_, version;       /* version: of the INTENT, then the adopted one */
    uint16_t answered;                 /* version that the answer to the undo named; volatile, 0: none */
    uint16_t cause;
    uint8_t direction, story, origin;
    bool automatic, counted;           /* counted: already in n_auto */
    bool late_open;                    /* late watch */
    bool late_doubt;                   /* reopened by a restart when it may have been over: a hit may be a person's. Volatile */
    bool confirmed;                    /* the forward write has read NEW everywhere */
    bool sent;                         /* a forward write may have been sent */
    bool extended, released, unacknowledged, cancelled;
    bool fail;                         /* a bad verdict on it counts towards cooldown */
    bool kept_once;                    /* effective or partial at some time: old values before it are known good */
    uint8_t undo_sends;
    struct instant late_after;         /* last send + deadline + late watch: a good read from then on may close it */
    struct instant applied_at, intent_at;
    struct span settle, window;
};

struct control_knob {
    struct control_slot slot;
    uint16_t believed, believed_version;   /* believed 0: mixed or not known */
    bool seen;                         /* believed was set from the log or a first read */
    uint8_t fails;
    struct instant would_until;        /* mode alert keeps a shadow ledger: as if the WOULD had been done */
    struct instant interval_until, protect_until, cool_until, frozen_until, failed_at, skip_until, believed_since;
};

struct control_request {
    bool present;
    uint8_t knob, direction;
    uint16_t from, to, cause;
    uint64_t plan;                     /* first 8 bytes of the plan hash */
    struct instant expiry;
    struct span settle, window;
};

/* Reasons for overlay Z. */
enum freeze_bit { FREEZE_MODULE = 1, FREEZE_STORE = 2, FREEZE_CLOCK = 4, FREEZE_LEASE = 8, FREEZE_WINDOW = 16 };

struct control {
    uint8_t state;                     /* enum state; HALTED overlays are kept in `halted` */
    uint8_t active;                    /* knob of the running action, NO_KNOB */
    bool halted, follower, handed;     /* handed: the incident is with a person */
    bool incident_open, release_incident, waiting_ack, store_failed;
    bool halt_owed, release_owed;      /* happened while the store failed: recorded at CE_FOLDED. Volatile */
    uint8_t frozen;                    /* freeze bits */
    uint8_t none_reads;                /* NONE in a row in UNDO_INTENT */
    uint16_t symptom;
    uint32_t epoch;                    /* halt epoch: +1 at each halt */
    uint32_t actions;                  /* INTENT counter */
    uint64_t incidents;
    uint64_t would_plans[CONTROL_WOULD]; /* plans logged as WOULD in this incident, newest last: each once */
    uint8_t n_auto;                    /* saturates at 255 */
    struct instant onset, opened, state_since, deadline, phase_until, release_until, renotify_at, ack_sent;
    struct instant gap_until, would_gap_until;
    struct instant mix_since;          /* MIX has been read since then while settling or observing; NONE: not MIX */
    struct instant harmful[2];         /* the two newest harmful verdicts, for the breaker */
    bool breaker;                      /* tripped by two of them within 24 h, until a person acknowledges */
    struct instant suspended[CLASS_COUNT];   /* until */
    struct control_request request;
    struct excluded_list excluded;
    uint32_t token;                    /* of the record whose ack is awaited */
    struct control_knob knobs[CONTROL_KNOBS];
};

/* One read of one knob, over instances. */
struct control_read {
    bool present;                      /* this event carries a read of the knob */
    bool readable;                     /* false: NONE */
    uint8_t n;                         /* distinct values, up to CONTROL_DISTINCT; more: `more` */
    bool more;
    uint16_t values[CONTROL_DISTINCT];
    uint16_t version;                  /* 0: the target has none */
};

enum control_decision_kind { CD_NONE, CD_SHUT, CD_WOULD, CD_HANDOVER, CD_TUNE, CD_ASK };
struct control_decision {
    uint8_t kind, knob, direction;
    uint16_t from, to, cause;
    uint64_t plan;
    enum reason reason;
    struct span settle, window;
};

enum control_event_kind {
    CE_TICK,             /* full evaluation: symptom, decision, verdict, harm, reads */
    CE_POLL,             /* time and reads only */
    CE_ACK, CE_APPEND_FAILED,
    CE_ANSWER,           /* of a write */
    CE_APPROVE, CE_REJECT, CE_CANCEL, CE_ROLLBACK, CE_HALT, CE_HALT_UNDO, CE_RESUME, CE_NORMAL_NOW, CE_RETRY,
    CE_RELEASE, CE_POLICY,
    CE_FREEZE, CE_THAW,  /* `bits` */
    CE_FOLDED,           /* the log has been folded (start, store good again, lease gained): begin RECOVERING */
    CE_LEASE_LOST,
    CE_KIND_COUNT
};

struct control_event {
    enum control_event_kind kind;
    struct instant now;
    /* CE_TICK: the driving symptom. opens: true on 2 of the last 3 known ticks; hopeless: 2 of 3 no longer reachable;
     * clears: false on 10 known ticks (or the clear rule); blind: unknown > 10 min. */
    enum tri symptom;
    bool opens, hopeless, clears, blind, slo, warm;
    uint16_t symptom_index;
    struct instant symptom_since;      /* a new onset if this symptom takes over the incident; NONE: the old one stands */
    struct control_decision decision;
    enum verdict verdict;              /* of the window that ends now; NONE: not over or not judged */
    bool window_over;                  /* OBSERVING: the window ends on this tick */
    bool settle_over;                  /* SETTLING: the settle time is over (cache knobs: the fill has levelled off) */
    bool early_harm, outage, neighbour;
    bool old_known_good, policy_allows_new;
    bool service_gates_open;           /* all SERVICE gates that are not control's own; for rows 20 and 15 */
    bool short_gap;                    /* RECOVERING: downtime <= 20 % of the window */
    struct control_read reads[CONTROL_KNOBS];
    uint32_t token;                    /* CE_ACK, CE_APPEND_FAILED */
    enum answer_kind answer;        /* CE_ANSWER */
    uint16_t answer_version;           /* 0: none given */
    uint8_t knob;                      /* CE_CANCEL, CE_ROLLBACK: which; NO_KNOB = the running action */
    bool remeasure_ok;                 /* CE_APPROVE */
    enum reason remeasure_reason;
    uint64_t plan;                     /* CE_APPROVE, CE_REJECT: bound to this plan */
    bool clear_excluded;               /* CE_RETRY --clear */
    uint8_t bits;                      /* CE_FREEZE, CE_THAW */
    bool person_may_have_repaired;     /* PERSON: prefer a page to row 26's undo */
};

/* What a record says about control, without bytes and sentences; loop adds those. */
struct control_record {
    enum record_kind kind;
    struct instant at;
    uint8_t knob, direction;           /* NO_KNOB: none */
    uint16_t old, new_, version, cause, read;
    uint32_t action, epoch;
    uint64_t incident, plan;
    uint16_t symptom;
    enum verdict verdict;
    enum reason reason;
    bool automatic, late, part, fail, held, undo, by_others, clear, foreign_version, sent;
    bool watch_over;                   /* FAILED: the late watch had ended, by a definite refusal or by a late enough read */
    struct instant expiry;
    struct span settle, window;
    struct instant onset;
};

/* Things for loop to do besides records and the send. */
enum control_note {
    CN_FREEZE_BASELINE = 1 << 0, CN_UNFREEZE = 1 << 1, CN_REBASE_KEPT = 1 << 2, CN_REBASE_ACCEPTED = 1 << 3,
    CN_REGIME = 1 << 4, CN_PAGE = 1 << 5, CN_NOTIFY = 1 << 6, CN_BY_HAND = 1 << 7, CN_READ_SOON = 1 << 8,
    CN_DROP_SUSPECT = 1 << 9, CN_BLIND = 1 << 10, CN_REFOLD = 1 << 11, CN_WINDOW_START = 1 << 12,
    CN_RENOTIFY = 1 << 13
};

enum control_reply { REPLY_NONE, REPLY_DONE, REPLY_REFUSED };

struct control_output {
    uint16_t row;                      /* of loop.md's table: 1..55; 340 = 34a, 410 = 41a, 490 = 49a; 0: nothing happened */
    uint8_t record_count;
    struct control_record records[CONTROL_RECORDS];   /* one durable append: all or none */
    bool send;                         /* write knob `knob` to `value` now */
    bool is_undo;
    uint8_t knob;
    uint16_t value, expect, expect_version;
    uint32_t epoch;
    uint32_t notes;                    /* enum control_note bits */
    enum control_reply reply;          /* of a command */
    enum reason why_refused;
    const char *refused;               /* static sentence */
    bool unexpected;                   /* row 55: count it */
};

void control_init(struct control *c, const struct control_policy *p, struct instant now);
/* As control_init, before the same process folds its log again (CN_REFOLD): keeps what the log may lack, a halt or a release
 * whose record failed, and the freeze bits other than the store's. CE_FOLDED then records what is owed. */
void control_restart(struct control *c, const struct control_policy *p, struct instant now);
/* Deterministic. At most one row fires; returns its number (also out->row). Loop calls again with CE_POLL while
 * CN_READ_SOON or a record was acked, so that chains (UNDO_INTENT -> UNDO acked -> write) go on at once. */
uint16_t control_step(const struct control_policy *p, struct control *c, const struct control_event *e,
                      struct control_output *out);
/* One record of the log, oldest first. Also called by control_step for what it emits. */
void control_fold(const struct control_policy *p, struct control *c, const struct control_record *r);
/* OLD, NEW, MIX, THIRD, NONE of a read against the slot's action, versions included (loop.md "Reads"). */
enum read_class control_classify(const struct control_policy *p, const struct control *c, unsigned knob,
                                 const struct control_read *r);
/* Canonical bytes: ids renamed by first appearance, times relative to now and clipped to the nearest deadline. */
void control_canon(const struct control_policy *p, const struct control *c, struct instant now, struct buf *out);
/* Earliest instant at which a row may fire by time alone; NEVER when none. */
struct instant control_wake(const struct control_policy *p, const struct control *c);
/* Which reads the state needs now and how soon again: bit per knob; *ret_every (1 s in READBACK, else a tick). */
uint32_t control_reads_wanted(const struct control_policy *p, const struct control *c, struct span *ret_every);
/* Gates that are control's own: in-flight, late watch, unacknowledged. */
bool control_in_flight(const struct control *c);
bool control_late_watch(const struct control *c);
bool control_unacknowledged(const struct control *c);
bool control_breaker(const struct control *c);                       /* two harmful verdicts in 24 h, not acknowledged */
/* The table as text: row number, states, guard, next, effects; for docs and the row-coverage test. */
struct control_row { uint16_t row; const char *number, *state, *guard, *next, *effects; };
const struct control_row *control_rows(unsigned *ret_count);

#endif
