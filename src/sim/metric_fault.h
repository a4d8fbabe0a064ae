/* What goes wrong between a target and the daemon that measures it, in a scenario's world. The kinds are those of the group METRICS
 * in faults.def, so that swarm and scenarios speak of the same things. */
#ifndef SIM_METRIC_FAULT_H
#define SIM_METRIC_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "base/status.h"
#include "base/time.h"
#include "model/policy.h"
#include "model/series.h"

enum { METRIC_FAULTS_MAX = 32 };

struct metric_fault {
    uint32_t kind;               /* enum faults_kind, of the group METRICS */
    struct instant at, until;
    double size;                 /* 0..1, meaning by kind: which signal, how old, how skewed */
};

/* false: no such word. "metrics-nan", "metrics-skew" ... */
bool metric_fault_kind(const char *word, uint32_t *ret);
/* The words, for a message: "a, b, c". */
const char *metric_fault_words(void);
enum status metric_fault_check(const struct metric_fault *f, struct err *e);

/* Plain data. Zeroed, with `chance` seeded. */
struct spoiler {
    struct prng chance;
    struct metric_fault items[METRIC_FAULTS_MAX];
    double frozen[POLICY_SIGNALS_MAX];
    uint32_t n;
    bool have_frozen;
};

/* Whether the kind is in force at `now`; NULL: no. */
const struct metric_fault *spoiler_now(const struct spoiler *s, uint32_t kind, struct instant now);
/* The points of one tick as they arrive: some changed, left out or doubled; the arrays hold at least 2 * POLICY_SIGNALS_MAX.
 * Returns how late they come; 0: at once. */
struct span spoil_points(struct spoiler *s, struct instant now, const struct service_def *service, uint16_t *signals,
                         struct point *points, uint32_t *n);

#endif
