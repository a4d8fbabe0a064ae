/* Inside of the loop: one service's state, and the pieces of a step. Shared by the files of this room only. */
#ifndef LOOP_SERVICE_H
#define LOOP_SERVICE_H

#include "collect/collect.h"
#include "decide/decide.h"
#include "detect/detect.h"
#include "execute/execute.h"
#include "expr/expr.h"
#include "locate/locate.h"
#include "loop/control.h"
#include "loop/intern.h"
#include "loop/loop.h"
#include "verify/verify.h"

#define ROUND_PATIENCE SPAN_S(20)     /* a round that has not got all answers by then is evaluated without them */
#define COMMANDS_WAITING_MAX 8
#define BY_MAX 64
#define WORDS_MAX 200
#define LAST_CHANGE_MAX 240

struct symptom_state {
    enum tri now;
    uint8_t history;                  /* known ticks, newest in bit 0 */
    uint8_t known;                    /* how many bits of history count, up to 3 */
    uint16_t false_run;               /* known ticks false in a row */
    struct instant true_since;        /* first tick of the present spell; NONE: not true */
    bool firing;                      /* from 2 of 3 true until 10 false ticks or its clear rule */
    bool waits;                       /* unknown only because a view is not warm yet, or the service is idle */
    struct instant unknown_since;     /* NONE: known, or waits */
};

struct knob_state {
    struct control_read last;         /* of the last answer; present == false: never read */
    struct instant last_at;
    struct instant first_seen;        /* first good read: since when at least the value is known */
    bool asked;                       /* an EFFECT_READ is out */
    struct instant asked_at;
    struct wall asked_wall;           /* a suspended machine's monotonic clock stands still */
    bool changed_set;
    struct instant changed;           /* last change by anybody: for changed(knob, w) */
    char text[64];                    /* of the last read, for people */
    struct instant expired_at;        /* a request expired: whose plan is skipped for an hour */
    uint16_t skip_cause;              /* NO_INDEX: more than one */
    uint8_t skip_direction;
};

/* What must survive from INTENT to verdict beyond control's own facts. */
/* What a running action keeps of the policy that it began under, whatever is loaded meanwhile (loop.md section 2). */
struct action_policy {
    char revision[65];                /* "": none is running */
    struct judge_def judge;           /* signals by the indices of the policy in force */
    bool replaced;                    /* another policy is in force: these spans differ from its own */
    struct span readback, interval, protect, late_watch;
};

struct action_state {
    uint8_t knob;
    struct action_policy policy;
    struct instant onset, intent_at, window_start;
    struct instant regime_from;       /* since then nobody has turned a knob, the time to settle included; NONE: ever */
    struct span behind;               /* by how much samples of before lie before these instants: after a restart records are dated
                                       * by the time that certainly passed, samples by the wall time they were taken at */
    struct instant old_since;         /* NONE: since before we know */
    struct verify_early early;
    double errors_before_ratio, peak_before, queue_threshold;   /* NaN: not told by the log after a restart */
    bool objective_broken_before;
    uint16_t instances_before;
    struct instant errors_from;
    struct verify_result result;      /* of the last judgement */
    bool judged;
    bool filling;                     /* the window began although the cache had not levelled off in time */
    char harm[120];                   /* why it is taken back early; "" no reason to */
    bool maintained;                  /* people were at work on the service while it was watched */
};

struct waiting_command {
    struct command command;           /* its texts point into the arrays below */
    char by[BY_MAX], via[16], reason[WORDS_MAX], action[128], request[80];
    struct instant since;
};

struct deferred_notice { enum notice level; char *subject, *text; };

struct service_loop {
    struct policy *policy;            /* the revision it runs; one reference */
    const struct service_def *def;
    struct control_policy control_policy;
    struct control control;
    struct collect *collect;
    struct detect *detect;
    struct intern intern;
    struct evidence evidence;         /* items owned here */
    struct point *points;             /* newest per signal */
    bool *due;
    struct symptom_state symptoms[POLICY_SYMPTOMS_MAX];
    struct knob_state knobs[CONTROL_KNOBS];
    struct action_state action;
    struct cause_list causes;
    struct decision decision;
    struct instant plan_at;           /* newest tick on which there was something to try; of whatever incident */
    bool decided;                     /* `decision` is of the last full tick */
    /* Rounds: every `round` polls and reads go out; when all have come back the points are evaluated, and on a tick the rest. */
    struct instant next_round, next_tick, round_began, next_read;
    struct instant timed_at;          /* control has been asked at this instant: a deadline up to it needs no new wake */
    uint16_t polls_out, reads_out;
    bool round_open, round_is_tick;
    struct span round;                /* shortest scrape interval */
    bool folded, warm, importing;
    bool was_warm;                    /* the log has WARM */
    struct instant saved_at;
    struct instant first_tick;
    struct instant last_seen;         /* last full tick while not halted: how long nobody watched; NONE: a halt voided it */
    bool outage, outage_told, blind_told;
    bool maintenance;                 /* such a window is in force */
    struct instant error_since;       /* error ratio over 50 % since then */
    struct instant down_since;        /* its only target has not answered since then */
    char model_version[64];
    struct instant deployed;          /* NONE: never seen */
    struct instant observed_since;
    struct waiting_command waiting[COMMANDS_WAITING_MAX];
    unsigned waiting_n;
    struct deferred_notice *deferred; /* told once the awaited record is durable */
    unsigned deferred_n, deferred_cap;
    char halted_by[BY_MAX], halted_why[WORDS_MAX];
    struct wall halted_at;
    uint8_t plan_hash[32];            /* of the decision's or request's plan */
    char request_hash[65];
    bool neighbour_harm;              /* a member of the group got a new incident that users feel since our INTENT */
    char neighbour[64];               /* its name */
    char asked_by[BY_MAX];            /* of the running action: who asked, "auto" */
    char last_change[LAST_CHANGE_MAX];/* of any knob: what, who, when; "" none known */
    uint64_t incident_last;           /* the newest that was opened: another record of it is an update */
    struct instant opened_at;         /* last incident, for the storm gate */
};

#define CLOCK_STEP SPAN_S(10)         /* loop.md row 51 */
#define RECENT_ACTIONS 1024           /* fleet.per_hour is at most 1000 */
#define WINDOWS_MAX 64

struct window {                       /* opened by a person for a while */
    uint32_t number;                  /* its id is "w" and this */
    enum freeze_kind kind;
    char service[POLICY_NAME_MAX + 1];/* "": all */
    struct wall from, until;
    char by[BY_MAX], comment[WORDS_MAX];
};

/* What counts once, however often the log tells it. who: service and action. */
struct fleet_write { uint64_t who; struct instant at; };

struct loop {
    struct policy *policy;
    struct loop_options options;
    struct service_loop *services;
    uint16_t service_count;
    struct instant *wakes;            /* fleet.c: a tree of minima; what a step costs does not grow with the fleet */
    uint32_t wake_leaves;
    struct instant now, started;
    struct wall wall;
    int64_t wall_offset_us;           /* wall - now, to see clock steps */
    int64_t record_offset_us;         /* the same for the record that is folded, as its own age tells it */
    struct instant clock_good_at;     /* a clock freeze ends then; NONE: there is none */
    int64_t doubt_offset_us;          /* wall - now before the clock was set; counts until doubt_until */
    struct instant doubt_until;
    struct window windows[WINDOWS_MAX];
    unsigned window_n;
    uint32_t window_last;             /* the highest number ever given */
    struct fleet_write harmful[3];    /* the newest harmful verdicts of the fleet, for its breaker */
    bool fleet_breaker;               /* tripped, until resume --all */
    bool storm;                       /* many services degraded at once, until most of them are well again */
    struct arena arena;               /* of this step's effects */
    struct effect *effects;
    uint32_t effect_n, effect_cap;
    struct fleet_write recent[RECENT_ACTIONS];   /* forward writes of the fleet, for its hourly budget */
    unsigned recent_n;
    struct loop_counters counters;
    struct { uint64_t runs, errors; struct instant last; } modules[MODULE_COUNT];
};

/* loop.c */
struct effect *loop_effect(struct loop *l, enum effect_kind kind, uint16_t service);
char *loop_text(struct loop *l, struct buf *b);          /* moves the text into the step's arena; frees b */
void loop_beat(struct loop *l, enum module m);
struct wall wall_at(const struct loop *l, struct instant t);
static inline uint16_t service_index(const struct loop *l, const struct service_loop *s)
{
    return (uint16_t)(s - l->services);
}

/* service.c */
bool service_init(struct service_loop *s, struct policy *p, uint16_t index, struct instant now, const struct memory *cold);
void service_options(const struct loop *l, struct service_loop *s);
bool service_running(const struct service_loop *s);   /* an action between INTENT and its end, in `action` */
void service_keep_policy(struct service_loop *s);     /* of the running action: after its INTENT, live or folded */
void service_hold_policy(struct service_loop *s);     /* control goes by it where the policy in force differs */
void service_drop_policy(const struct loop *l, struct service_loop *s);   /* once the action has ended */
void service_refold(struct loop *l, struct service_loop *s);
void service_free(struct service_loop *s);
bool service_adopt(struct loop *l, struct service_loop *s, struct policy *p, uint16_t index, const char *by);

/* round.c */
void round_time(struct loop *l, struct service_loop *s);          /* what is due now goes out; late rounds are closed */
void round_page(struct loop *l, struct service_loop *s, const struct event *e);
void round_values(struct loop *l, struct service_loop *s, const struct event *e);
void round_read(struct loop *l, struct service_loop *s, const struct event *e);
void round_ask_reads(struct loop *l, struct service_loop *s, uint32_t knobs, bool before_write);
struct instant round_wake(const struct loop *l, const struct service_loop *s);

/* tick.c */
void tick_points(struct loop *l, struct service_loop *s);
void tick_full(struct loop *l, struct service_loop *s);
void tick_evidence(struct loop *l, struct service_loop *s);
bool tick_idle(const struct service_loop *s);     /* throughput 0 with good scrapes */
struct control_decision tick_decide(struct loop *l, struct service_loop *s, uint32_t overridden);
void tick_fill_reads(const struct loop *l, const struct service_loop *s, struct control_event *e, struct span max_age);

/* symptoms.c */
void symptoms_eval(struct loop *l, struct service_loop *s);
struct symptom_summary { enum tri now; uint16_t index; struct instant since; bool opens, hopeless, clears, blind, slo; };
void symptoms_drive(const struct loop *l, const struct service_loop *s, struct symptom_summary *ret);
void symptoms_closed(struct service_loop *s);                      /* the incident is over: what is true now begins anew */
bool symptoms_any(const struct service_loop *s);                   /* one is suspect or firing */
bool symptom_is_drift(const struct symptom_def *d);
bool symptoms_request_layer_true(const struct service_loop *s, enum tri *ret);

/* standing.c */
void standing_fill(struct loop *l, struct service_loop *s, struct standing *st);

/* judge.c */
void judge_begin(struct loop *l, struct service_loop *s);          /* at INTENT: what "before" is */
enum verdict judge_window(struct loop *l, struct service_loop *s);
bool judge_early(struct loop *l, struct service_loop *s, char why[120]);
bool judge_old_known_good(const struct loop *l, const struct service_loop *s);
bool judge_outage(struct loop *l, struct service_loop *s);
struct instant judge_regime(const struct service_loop *s);         /* since when no knob has moved, and settled; NONE: ever */
bool judge_settled(const struct loop *l, struct service_loop *s);
bool judge_policy_allows(const struct service_loop *s);

/* drive.c */
void drive(struct loop *l, struct service_loop *s, struct control_event *e, const struct command *by);
void drive_poll(struct loop *l, struct service_loop *s, uint32_t knobs_read);

/* In the hands of a person who may have set a knob by hand meanwhile: row 26 then pages instead of undoing. */
bool may_be_repaired(const struct loop *l, const struct service_loop *s, const struct symptom_summary *sum);
/* A request has expired: which plan of the knob is skipped. */
void skip_note(struct service_loop *s, const struct control_record *r);

/* story.c, unstory.c */
void story_append(struct loop *l, struct service_loop *s, const struct control_output *o, const struct command *by);
bool unstory(struct loop *l, struct service_loop *s, const struct record *r, struct control_record *ret);
void change_remember(const struct loop *l, struct service_loop *s, const struct record *r);
void story_fold(struct loop *l, struct service_loop *s, const struct event *e);   /* EVENT_RECORD */

/* words.c: sentences for people */
void words_values(struct buf *out, const struct service_loop *s);
void words_causes(struct buf *out, const struct service_loop *s);
void words_gates(struct buf *out, const struct service_loop *s);
void words_now(struct buf *out, const struct loop *l, const struct service_loop *s);

/* command.c */
void command_take(struct loop *l, struct service_loop *s, const struct command *c);
void command_run_waiting(struct loop *l, struct service_loop *s);
void command_reply(struct loop *l, uint64_t id, enum status status, const char *text, const char *detail);

/* windows.c */
void windows_clock_step(struct loop *l, int64_t offset_before);
struct wall windows_other_wall(const struct loop *l);              /* what the clock before a step would show; NONE: no doubt */
void windows_fold(struct loop *l, const struct event *e);          /* EVENT_RECORD with one of loop_record_of_all */
void windows_acknowledge_fleet(struct loop *l, const struct command *c);
bool windows_command(struct loop *l, uint16_t service, const struct command *c);   /* false: not about windows */
void windows_update(struct loop *l, struct service_loop *s);       /* what is in force now, told to control */
void windows_words(struct buf *out, const struct loop *l, const struct service_loop *s);
void windows_frozen_words(struct buf *out, const struct loop *l, const struct service_loop *s);

/* notice.c */
void notice(struct loop *l, struct service_loop *s, enum notice level, const char *subject, const char *text);
void notice_defer(struct service_loop *s, enum notice level, const char *subject, const char *text);
void notice_flush(struct loop *l, struct service_loop *s);

/* fleet.c */
bool fleet_group_in_flight(const struct loop *l, const struct service_loop *s);
bool fleet_storm(const struct loop *l);
int fleet_in_flight(const struct loop *l, const struct service_loop *s);   /* of the other services: its own is gate in-flight */
int fleet_in_flight_max(const struct loop *l);
int fleet_last_hour(const struct loop *l);
void fleet_count(const struct loop *l, struct loop_counters *ret);    /* adds what stands now */
/* A forward write, or one that the log says may have been sent; told twice it counts once. */
void fleet_sent(struct loop *l, const struct service_loop *s, uint32_t action, struct instant at);
void fleet_not_sent(struct loop *l, const struct service_loop *s, uint32_t action);
void fleet_harm(struct loop *l, const struct service_loop *s, uint32_t action, struct instant at);   /* a harmful verdict */
void fleet_acknowledge(struct loop *l);                           /* resume --all */
void fleet_incident(struct loop *l, const struct service_loop *s);   /* a new incident that users feel */
void fleet_watch_storm(struct loop *l, struct service_loop *s);      /* an incident has opened or ended */
void fleet_find_storm(struct loop *l);                               /* the log has been read: is there one already? */
bool fleet_wakes_init(struct loop *l);                /* for l->service_count services */
void fleet_wake_set(struct loop *l, uint16_t service);
struct instant fleet_wake(const struct loop *l);
/* The first service from `from` on that has something to do by itself now; service_count: none. */
uint32_t fleet_next_due(const struct loop *l, uint32_t from);

#endif
