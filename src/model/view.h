/* What people are shown about one service: filled by loop_view, printed by API, CLI and console. Plain data. */
#ifndef MODEL_VIEW_H
#define MODEL_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "model/freeze.h"
#include "model/plan.h"
#include "model/policy.h"

#define VIEW_TEXT 400

struct signal_view {
    struct point_view { double value; enum unknown_why why; struct span age; } now;
    double baseline, baseline_scale, profile, drift, zscore, score;   /* NaN when unknown */
    enum series_state state;
    enum unknown_why baseline_why;
    double anchor, origin;             /* level of the anchor now, and of the first one; NaN: not learned yet */
    struct wall origin_at;
    uint32_t learned, needed;          /* ticks of the slowest short view, for "when does it wake" */
    char finding[VIEW_TEXT];           /* "" when there is nothing to say */
};

struct symptom_view {
    enum tri now;
    uint8_t history;                   /* last 3 known ticks, newest in bit 0 */
    char explain[VIEW_TEXT];           /* with values filled in */
};

struct cause_view {
    struct cause_result result;
    char explain[VIEW_TEXT];
};

struct action_view {
    bool present;
    char id[96];
    uint16_t knob;
    char from[64], to[64];
    enum state phase;                  /* INTENT .. UNDO_READBACK */
    struct instant until;              /* end of the present phase; NEVER when open-ended */
};

struct request_view {
    bool present;
    char id[96];                       /* incident id + plan hash prefix: what approve takes */
    char plan_hash[65];
    uint16_t knob, cause;
    char from[64], to[64];
    struct wall expiry;
};

/* loop.md section 5: how much each view has learned, and when it wakes. */
#define WARM_TABLE(X)                                                                                    \
    X(SHIFT, "shift", SPAN_MIN(30)) X(SPIKE, "spike", SPAN_MIN(35)) X(AUTO, "auto", SPAN_HOUR(24))       \
    X(DRIFT, "drift", SPAN_HOUR(7 * 24)) X(WEEK, "week", SPAN_HOUR(8 * 24))
#define X(id, ...) WARM_##id,
enum warm_kind { WARM_TABLE(X) WARM_COUNT };
#undef X
struct warm_view { const char *name; bool awake; struct span learned, needed; struct wall wakes; };   /* wakes: at the earliest */

struct service_view {
    const struct service_def *def;
    struct instant at;
    struct wall wall;
    enum state state;
    bool halted, frozen, maintenance, warm_for_auto, imported;   /* imported: baselines come from history that was imported */
    bool aging;                        /* the incident is older than the freeze: its baselines learn again, slowly */
    struct warm_view views[WARM_COUNT];
    char halted_by[64], halted_why[200];
    char frozen_why[VIEW_TEXT];        /* what freezes it: windows with author, end and comment, or trouble */
    struct wall halted_at;
    enum mode mode;
    char sentence[VIEW_TEXT];          /* what is happening now, one sentence */
    struct decision decision;          /* of the last full tick */
    uint16_t signal_count, symptom_count, cause_count;
    struct signal_view *signals;       /* arrays live in the arena given to loop_view */
    struct symptom_view *symptoms;
    struct cause_view *causes;         /* ranked; empty without an incident */
    bool incident_open;
    uint64_t incident_id;
    uint16_t incident_symptom;
    struct wall incident_onset, incident_opened;
    struct action_view action;
    struct request_view request;
    int n_auto;
    struct knob_view {
        char value[64]; char believed[64];
        struct instant interval_until, protect_until, cool_until, frozen_until;
        int fails; bool late_watch, unacknowledged, suspended;
        enum reason blocked;           /* the first reason why it would not be moved now, NONE when free */
    } *knobs;
    struct target_view { const char *url; bool up; struct span age; char error[160]; uint32_t samples, broken_lines; } *targets;
    char model_version[64];
    struct wall deployed;              /* WALL_NONE: never seen */
};

/* One freeze or maintenance window: of the configuration, or opened by a person. */
struct window_view {
    const char *id;                    /* "w7", or the name in the configuration */
    enum freeze_kind kind;
    const char *by, *comment, *zone;
    bool configured, in_force;
    struct wall from, until, changes;  /* WALL_NONE: not known, for ever, never */
    const char **services; uint16_t service_n;   /* none: all */
};

struct module_view {
    enum module module;
    bool healthy;
    struct span silent_for;
    uint64_t runs, errors;
    char note[160];
};

#endif
