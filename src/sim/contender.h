/* Who is compared: each tunes the same world under the same chance, and its acts and the target's truth are told alike. */
#ifndef SIM_CONTENDER_H
#define SIM_CONTENDER_H

#include "sim/naive.h"
#include "sim/oracle.h"

#define CONTENDERS_MAX 24

enum contender_kind { CONTENDER_NOTHING, CONTENDER_HPA, CONTENDER_AIMD, CONTENDER_NAIVE, CONTENDER_TRIMTAB };

struct contender {
    const char *name, *about;
    enum contender_kind kind;
    void (*without)(struct service_def *s);   /* TRIMTAB: takes one guard out of the policy; NULL: as shipped */
};

/* nothing, hpa, aimd, naive, trimtab, then trimtab without each guard in turn. */
const struct contender *contender_list(unsigned *ret_n);
/* NULL: no such name. */
const struct contender *contender_find(const char *name);

/* What one contender did in one world. Plain data: it goes through a pipe. */
struct conduct {
    bool ran;
    uint32_t acts;               /* forward changes that stood at the target */
    uint32_t undos;              /* taken back by itself after it looked */
    uint32_t judged_kept;        /* trimtab: verdicts that kept a change */
    uint32_t flips;              /* forward changes against the direction of the last one of that knob, less than 24 h after it,
                                  * when that one was not taken back */
    uint32_t incidents, handovers;
    double detect_s;             /* from onset to the first incident (trimtab) or act (others); NaN: never, or no onset */
    double undone_s;             /* from the first act to its undo; NaN: never */
    bool kept;                   /* at the end a knob stands elsewhere than where doing nothing leaves it */
    bool restored, normal;       /* of oracle_hour */
    double restore_s;            /* from onset to `restored at` of oracle.h; NaN: not restored */
    double degraded_min;         /* of the hour; 0 without an onset */
    double slo_min;              /* minutes with p99 over the objective, whole run */
    double harm_min;             /* minutes with p99 over 1.1 x that of doing nothing at the same tick */
    double replica_h;
    uint64_t digest;             /* trimtab: of the whole run; 0 else */
};

/* Everything one run needs. */
struct contest {
    const struct oracle_world *world;
    const struct oracle *oracle;
    const char *folder;          /* of the scenario file, for its policy */
    double objective;            /* ms; from the policy, else twice the usual p99 */
};

enum status contender_run(const struct contender *c, const struct contest *t, struct conduct *ret, struct err *e);

#endif
