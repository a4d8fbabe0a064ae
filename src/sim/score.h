/* Many evaluated worlds as figures: per contender, over all and per family. Definitions: docs/evaluation.md, "How it is
 * measured". */
#ifndef SIM_SCORE_H
#define SIM_SCORE_H

#include "sim/evaluate.h"

struct score_rate { uint32_t n, of; };

struct score {
    uint32_t runs;                       /* worlds this contender ran in */
    struct score_rate recovered;         /* of tunable worlds */
    struct score_rate normal;            /* the same to 1.15 x the reference, whatever was promised */
    double recovered_low;                /* Wilson, 95 % */
    struct score_rate first_acts_incurable, second_acts_incurable;   /* incurable worlds, inert ones left out */
    struct score_rate placebo_acts;      /* inert worlds with an act: nobody can know before trying */
    struct score_rate placebo_kept;      /* of incurable worlds it acted in, those by rule left out, block sd <= 8 %: the
                                          * change stands at the end */
    struct score_rate placebo_kept_noisy;    /* the same over 8 % */
    struct score_rate self_healing_kept; /* of self-healing worlds it acted in */
    struct score_rate self_healing_acts; /* of self-healing worlds */
    struct score_rate quiet_acts;        /* of worlds in which p99 never got worse, and that are not clean */
    struct score_rate detected;          /* of degraded worlds */
    uint32_t clean_acts, clean_incidents;
    double clean_years, wrong, wrong_high;   /* acts a 1,000 service-years; Poisson 95 % upper bound; NaN: no clean world ran */
    double false_incidents_week, false_acts_week;
    uint32_t flips;
    double flips_day;
    double slo_minutes;                  /* mean of all worlds that are not clean */
    double slo_curable, slo_incurable;   /* of degraded ones: where scaling cures, where it cannot */
    double detect_delay_s, recover_s, undone_s;   /* medians */
    double harm_minutes, regret, replica_hours;   /* means; regret over tunable worlds */
};

/* Over the worlds that contender `who` ran in and, when `beside` is not `who`, ran as well; of `family`, NULL: all. */
void score_of(const struct evaluate_result *all, size_t n, unsigned who, unsigned beside, const char *family, struct score *ret);
/* The mean number of a Poisson variable of which n were seen is below this with 95 %. */
double score_poisson_high(uint32_t n);

struct score_list {
    const struct evaluate_result *all;
    size_t n;
    uint64_t seed;
    const char *command;                 /* how the run was asked for */
};
void score_json(const struct score_list *l, struct buf *out);
/* One line for one world. */
void score_each(const struct evaluate_result *r, struct buf *out);
void score_table(const struct score_list *l, struct buf *out);
/* Families in the order in which they come first. Returns how many; at most `cap` are filled. */
unsigned score_families(const struct score_list *l, const char **ret, unsigned cap);

#endif
