/* The field's own words as enumerations. Each list is a table: X(IDENTIFIER, "word as people and files see it", ...).
 * Names never change once released: they stand in audit records, API replies and configuration files. */
#ifndef MODEL_ENUMS_H
#define MODEL_ENUMS_H

#include <stdbool.h>
#include <stdint.h>

/* spec section 2: four layers; sampling interval in seconds and days kept. */
#define LAYER_TABLE(X)                          \
    X(REQUEST, "request", 10, 14)               \
    X(PROCESSING, "processing", 10, 14)         \
    X(SYSTEM, "system", 30, 7)                  \
    X(DATA, "data", 60, 7)

/* X(ID, text, dimension, factor to the dimension's base unit). Values of a signal stay in its own unit. */
#define UNIT_TABLE(X)                           \
    X(ONE, "", NUMBER, 1.0)                     \
    X(RATIO, "ratio", RATIO, 1.0)               \
    X(PERCENT, "%", RATIO, 0.01)                \
    X(US, "us", TIME, 1e-6)                     \
    X(MS, "ms", TIME, 1e-3)                     \
    X(S, "s", TIME, 1.0)                        \
    X(MIN, "m", TIME, 60.0)                     \
    X(HOUR, "h", TIME, 3600.0)                  \
    X(DAY, "d", TIME, 86400.0)                  \
    X(BYTES, "B", BYTES, 1.0)                   \
    X(KB, "KB", BYTES, 1e3)                     \
    X(MB, "MB", BYTES, 1e6)                     \
    X(GB, "GB", BYTES, 1e9)                     \
    X(PER_S, "/s", RATE, 1.0)                   \
    X(MB_PER_S, "MB/s", BYTE_RATE, 1e6)         \
    X(WATT, "W", POWER, 1.0)                    \
    X(CELSIUS, "C", TEMPERATURE, 1.0)           \
    X(MHZ, "MHz", FREQUENCY, 1e6)

#define DIMENSION_TABLE(X)                                                                     \
    X(NUMBER, "number") X(RATIO, "ratio") X(TIME, "time") X(BYTES, "bytes") X(RATE, "rate")    \
    X(BYTE_RATE, "byte rate") X(POWER, "power") X(TEMPERATURE, "temperature")                  \
    X(FREQUENCY, "frequency")

/* Which direction of a signal is bad. */
#define BAD_TABLE(X) X(UP, "up") X(DOWN, "down") X(BOTH, "both")

/* What a signal says of a distribution, against the one it had: loop.md section 1, spec section 3 (d). */
#define SHAPE_TABLE(X) X(NONE, "none") X(PSI, "psi") X(KS, "ks")

/* spec section 5. */
#define MODE_TABLE(X) X(ALERT, "alert") X(CONFIRM, "confirm") X(AUTO, "auto")
#define DIRECTION_TABLE(X) X(UP, "up") X(DOWN, "down")
#define APPLY_TABLE(X) X(HOT, "hot") X(RELOAD, "reload") X(RESTART, "restart")
#define BUDGET_TABLE(X) X(OWN, "own") X(SHARED, "shared")
#define LADDER_TABLE(X) X(FACTOR, "factor") X(STEP, "step") X(LIST, "list")

/* loop.md section 1, "Classes and groups". X(ID, word, default tier). */
#define CLASS_TABLE(X)                          \
    X(BATCH, "batch", 1)                        \
    X(CONCURRENCY, "concurrency", 1)            \
    X(CACHE, "cache", 1)                        \
    X(TIMEOUT, "timeout", 2)                    \
    X(QUEUE_LIMIT, "queue-limit", 2)            \
    X(RETRY, "retry", 2)                        \
    X(REPLICAS, "replicas", 2)                  \
    X(VERSION, "version", 3)                    \
    X(QUOTA, "quota", 3)                        \
    X(GPU_MEMORY, "gpu-memory", 3)

/* loop.md section 4. The order is the table's. HALTED is H. */
#define STATE_TABLE(X)                          \
    X(LEARNING, "learning")                     \
    X(WATCHING, "watching")                     \
    X(SUSPECT, "suspect")                       \
    X(OPEN, "open")                             \
    X(PERSON, "person")                         \
    X(AWAITING, "awaiting")                     \
    X(INTENT, "intent")                         \
    X(WRITING, "writing")                       \
    X(READBACK, "readback")                     \
    X(SETTLING, "settling")                     \
    X(OBSERVING, "observing")                   \
    X(UNDO_INTENT, "undo-intent")               \
    X(UNDO_WRITING, "undo-writing")             \
    X(UNDO_READBACK, "undo-readback")           \
    X(HALTED, "halted")                         \
    X(RECOVERING, "recovering")

#define READ_CLASS_TABLE(X) X(OLD, "old") X(NEW, "new") X(MIX, "mix") X(THIRD, "third") X(NONE, "none")

/* How a scrape and a write ended, as whoever carried them out knows it. */
#define PAGE_TABLE(X)                                                                                        \
    X(OK, "ok") X(DOWN, "down") X(HTTP_ERROR, "http_error") X(TIMEOUT, "timeout") X(TOO_LARGE, "too_large")   \
    X(GARBAGE, "garbage") X(REDIRECT, "redirect")
#define ANSWER_TABLE(X)                                                                                      \
    X(OK, "ok") X(REFUSED, "refused") X(ERROR, "error") X(TIMEOUT, "timeout") X(NOT_SENT, "not_sent")

#define VERDICT_TABLE(X)                        \
    X(NONE, "none")                             \
    X(EFFECTIVE, "effective")                   \
    X(PARTIAL, "partial")                       \
    X(INEFFECTIVE, "ineffective")               \
    X(HARMFUL, "harmful")                       \
    X(INCONCLUSIVE, "inconclusive")

/* Every tick of every service yields exactly one. */
#define DECISION_TABLE(X) X(NOOP, "noop") X(TUNE, "tune") X(ASK, "ask") X(ALERT, "alert")

/* Verdict on one cause in one pass. */
#define CAUSE_VERDICT_TABLE(X)                                                               \
    X(CHOSEN, "chosen") X(MATCHED, "matched") X(EXCLUDED, "excluded") X(FALSE, "false")      \
    X(UNKNOWN, "unknown") X(DEMOTED, "demoted")

/* loop.md section 1 rank groups, most upstream first. */
#define CAUSE_GROUP_TABLE(X)                    \
    X(OUTAGE, "outage")                         \
    X(RECENT_RELEASE, "recent-release")         \
    X(DATA_QUALITY, "data-quality")             \
    X(UPSTREAM_DATA, "upstream-data")           \
    X(CACHE_TOO_SMALL, "cache-too-small")       \
    X(DEMAND, "demand")                         \
    X(ONE_BAD_INSTANCE, "one-bad-instance")     \
    X(HOST_OR_IO_BOUND, "host-or-io-bound")     \
    X(CEILING, "ceiling")                       \
    X(COMPUTE_BOUND, "compute-bound")

/* loop.md "Independent views": profile and drift are one view. */
#define VIEW_TABLE(X)                                                                        \
    X(BASELINE, "baseline") X(ZSCORE, "zscore") X(DRIFT, "drift") X(WEEK_AGO, "week_ago")    \
    X(SCORE, "score") X(SLOPE, "slope") X(OBJECTIVE, "objective") X(VALUE, "value")

/* Per-series state of spec section 3. */
#define SERIES_STATE_TABLE(X)                                                                \
    X(WARMING, "warming") X(NORMAL, "normal") X(SUSPECT, "suspect") X(FIRING, "firing")      \
    X(RECOVERING, "recovering") X(UNKNOWN, "unknown") X(IDLE, "idle")

/* Why a value is unknown. X(ID, word, sentence). */
#define UNKNOWN_TABLE(X)                                                                     \
    X(KNOWN, "known", "the value is known")                                                  \
    X(MISSING, "missing", "no sample of it in the last page")                                \
    X(STALE, "stale", "the newest sample is older than three intervals")                     \
    X(NAN, "not-a-number", "the target reports NaN or infinity")                             \
    X(RESET, "reset", "a counter was reset inside the range")                                \
    X(SCRAPE, "scrape-failed", "the page could not be read")                                 \
    X(LIMIT, "limit", "the page is over a limit, so nothing on it counts")                   \
    X(SENTINEL, "sentinel", "the target reports a placeholder instead of a value")           \
    X(WARMING, "warming", "too little history yet")                                          \
    X(LOW_TRAFFIC, "low-traffic", "too few requests in the window")                          \
    X(GAPS, "gaps", "less than two thirds of the window is known")                           \
    X(INSTANCES, "instances", "fewer than two thirds of the instances report")               \
    X(REGIME, "regime", "the samples belong to the time before a change")                    \
    X(CLOCK, "clock", "the target's clock is too far off")                                   \
    X(BROKEN, "broken-line", "the line of this series could not be read")                    \
    X(NOT_CONFIGURED, "not-configured", "no such signal is configured")                      \
    X(NO_HISTORY, "no-history", "nothing is known about that time")                          \
    X(AMBIGUOUS, "ambiguous", "the expression gives more than one series")                   \
    X(SERVER, "server", "the metrics server could not answer the query")                     \
    X(PARTIAL, "partial", "the metrics server warns that its data are not complete")

#define MODULE_TABLE(X)                                                                      \
    X(COLLECT, "collect") X(DETECT, "detect") X(LOCATE, "locate") X(DECIDE, "decide")        \
    X(EXECUTE, "execute") X(VERIFY, "verify")

#define X(id, ...) LAYER_##id,
enum layer { LAYER_TABLE(X) LAYER_COUNT };
#undef X
#define X(id, ...) UNIT_##id,
enum unit { UNIT_TABLE(X) UNIT_COUNT };
#undef X
#define X(id, ...) DIM_##id,
enum dimension { DIMENSION_TABLE(X) DIM_COUNT };
#undef X
#define X(id, ...) BAD_##id,
enum bad { BAD_TABLE(X) BAD_COUNT };
#undef X
#define X(id, ...) SHAPE_##id,
enum shape { SHAPE_TABLE(X) SHAPE_COUNT };
#undef X
#define X(id, ...) MODE_##id,
enum mode { MODE_TABLE(X) MODE_COUNT };
#undef X
#define X(id, ...) DIR_##id,
enum direction { DIRECTION_TABLE(X) DIR_COUNT };
#undef X
#define X(id, ...) APPLY_##id,
enum apply { APPLY_TABLE(X) APPLY_COUNT };
#undef X
#define X(id, ...) BUDGET_##id,
enum budget { BUDGET_TABLE(X) BUDGET_COUNT };
#undef X
#define X(id, ...) LADDER_##id,
enum ladder_kind { LADDER_TABLE(X) LADDER_COUNT };
#undef X
#define X(id, ...) CLASS_##id,
enum action_class { CLASS_TABLE(X) CLASS_COUNT };
#undef X
#define X(id, ...) STATE_##id,
enum state { STATE_TABLE(X) STATE_COUNT };
#undef X
#define X(id, ...) READ_##id,
enum read_class { READ_CLASS_TABLE(X) READ_COUNT };
#undef X
#define X(id, ...) PAGE_##id,
enum page_outcome { PAGE_TABLE(X) PAGE_COUNT };
#undef X
#define X(id, ...) ANSWER_##id,
enum answer_kind { ANSWER_TABLE(X) ANSWER_COUNT };
#undef X
#define X(id, ...) VERDICT_##id,
enum verdict { VERDICT_TABLE(X) VERDICT_COUNT };
#undef X
#define X(id, ...) DECISION_##id,
enum decision_kind { DECISION_TABLE(X) DECISION_COUNT };
#undef X
#define X(id, ...) CAUSE_##id,
enum cause_verdict { CAUSE_VERDICT_TABLE(X) CAUSE_VERDICT_COUNT };
#undef X
#define X(id, ...) GROUP_##id,
enum cause_group { CAUSE_GROUP_TABLE(X) GROUP_COUNT };
#undef X
#define X(id, ...) VIEW_##id,
enum view { VIEW_TABLE(X) VIEW_COUNT };
#undef X
#define X(id, ...) SERIES_##id,
enum series_state { SERIES_STATE_TABLE(X) SERIES_STATE_COUNT };
#undef X
#define X(id, ...) WHY_##id,
enum unknown_why { UNKNOWN_TABLE(X) WHY_COUNT };
#undef X
#define X(id, ...) MODULE_##id,
enum module { MODULE_TABLE(X) MODULE_COUNT };
#undef X

const char *layer_name(enum layer v);
const char *unit_name(enum unit v);
const char *bad_name(enum bad v);
const char *mode_name(enum mode v);
const char *direction_name(enum direction v);
const char *apply_name(enum apply v);
const char *budget_name(enum budget v);
const char *class_name(enum action_class v);
const char *state_name(enum state v);
const char *read_class_name(enum read_class v);
const char *page_outcome_name(enum page_outcome v);
const char *answer_kind_name(enum answer_kind v);
const char *verdict_name(enum verdict v);
const char *decision_name(enum decision_kind v);
const char *cause_verdict_name(enum cause_verdict v);
const char *cause_group_name(enum cause_group v);
const char *view_name(enum view v);
const char *series_state_name(enum series_state v);
const char *unknown_name(enum unknown_why v);
const char *unknown_sentence(enum unknown_why v);
const char *module_name(enum module v);
const char *dimension_name(enum dimension v);

enum dimension unit_dimension(enum unit u);
double unit_factor(enum unit u);        /* value in base units = value * factor */
int layer_interval_s(enum layer l);     /* 10, 10, 30, 60 */
int layer_kept_days(enum layer l);      /* 14, 14, 7, 7 */
int class_default_tier(enum action_class c);
/* By exact word; false leaves *ret untouched. A unit also accepts "percent", "1", "count", "req/s", "1/s". */
bool layer_parse(const char *word, enum layer *ret);
bool unit_parse(const char *word, enum unit *ret);
bool bad_parse(const char *word, enum bad *ret);
bool mode_parse(const char *word, enum mode *ret);
bool direction_parse(const char *word, enum direction *ret);
bool apply_parse(const char *word, enum apply *ret);
bool budget_parse(const char *word, enum budget *ret);
bool class_parse(const char *word, enum action_class *ret);
bool cause_group_parse(const char *word, enum cause_group *ret);
bool state_parse(const char *word, enum state *ret);
bool verdict_parse(const char *word, enum verdict *ret);
bool module_parse(const char *word, enum module *ret);

#endif
