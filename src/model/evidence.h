/* What expressions are evaluated against: a table filled once per tick, never read from live state.
 * Each compiled expression names its needs at load; detect fills those of signals, loop those of context. */
#ifndef MODEL_EVIDENCE_H
#define MODEL_EVIDENCE_H

#include <stdint.h>

#include "base/time.h"
#include "model/enums.h"

/* X(ID, word in the language, subject, takes a window). loop.md section 1, "Language".
 * The subject of VALUE.. is a signal, of KNOB and CHANGED a knob, of AGE one of AGE_*. */
#define FN_TABLE(X)                             \
    X(VALUE, "", SIGNAL, 0)                     \
    X(BASELINE, "baseline", SIGNAL, 0)          \
    X(PROFILE, "profile", SIGNAL, 0)            \
    X(DRIFT, "drift", SIGNAL, 0)                \
    X(WEEK_AGO, "week_ago", SIGNAL, 0)          \
    X(ZSCORE, "zscore", SIGNAL, 0)              \
    X(SCORE, "score", SIGNAL, 0)                \
    X(SLOPE, "slope", SIGNAL, 1)                \
    X(MEAN, "mean", SIGNAL, 1)                  \
    X(STDDEV, "stddev", SIGNAL, 1)              \
    X(KNOB, "", KNOB, 0)                        \
    X(CHANGED, "changed", KNOB, 1)              \
    X(AGE, "age", AGE, 0)

#define X(id, ...) FN_##id,
enum fn { FN_TABLE(X) FN_COUNT };
#undef X

enum age_subject { AGE_DEPLOY, AGE_CONFIG, AGE_REPLICA, AGE_COUNT };

struct need {
    enum fn fn;
    uint16_t subject;       /* index of the signal or knob in its service, or enum age_subject */
    struct span window;     /* 0 where the function takes none */
};

/* The needs of all expressions of one service, without doubles. Index = index into evidence.items. */
struct needs {
    struct need *items;
    uint16_t n, cap;
};
#define NEEDS_MAX 512

/* CHANGED is 1 or 0 in `value`; AGE is in seconds; DRIFT is a ratio (0.15 = 15 %); ZSCORE, SCORE plain numbers;
 * all others in the signal's (knob's) unit. */
struct datum {
    double value;           /* NaN unless why == WHY_KNOWN */
    uint32_t n;             /* samples behind it */
    enum unknown_why why;
};

struct evidence {
    struct instant at;
    struct wall wall;
    const struct needs *needs;
    struct datum *items;    /* needs->n of them */
};

/* One sentence about one signal under one view: which reference, which deviation, how many samples. */
struct finding {
    uint16_t signal;
    enum view view;
    double value, reference, deviation;   /* deviation: ratio to its limit, 1 = at the limit */
    uint32_t n;
    enum unknown_why why;
    enum fn fn;             /* which function of the view: a view may have two (profile and drift) */
};

/* Index of the need in `needs`, adding it when absent; -1 when the table is full. Grows items by realloc. */
int needs_add(struct needs *needs, struct need need);
int needs_find(const struct needs *needs, struct need need);
void needs_free(struct needs *needs);
const char *fn_name(enum fn fn);
const char *age_subject_name(enum age_subject a);
/* FNV-1a 64 over the known values and whys, for digests of runs (the audit uses SHA-256 over the printed form). */
uint64_t evidence_digest(const struct evidence *e);

#endif
