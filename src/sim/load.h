/* Load of the simulated service: sizes of work, tables for fast draws, the daily and weekly shape. */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/prng.h"
#include "base/status.h"

enum { LOAD_EXP_CELLS = 1024, LOAD_WORK_CELLS = 2048, LOAD_NOISE_CELLS = 512 };

/* Equally likely values, so that one random index is one draw. Plain data. */
struct load_tables {
    double exp[LOAD_EXP_CELLS];          /* -ln(1 - i / cells) */
    float work[LOAD_WORK_CELLS];         /* mean 1 */
    float normal[LOAD_NOISE_CELLS];      /* standard normal */
    float kernel[LOAD_NOISE_CELLS];      /* lognormal factors, median 1 */
    float fetch[LOAD_NOISE_CELLS];       /* lognormal factors, mean 1 */
};

/* Standard deviations of the logs. */
struct load_spread { double work, kernel, fetch; };
/* Built-in sizes: lognormal with mean 1 and log spread `work`. */
void load_tables_init(struct load_tables *t, const struct load_spread *spread);
/* Sizes from a trace instead: n >= 1 positive numbers in any order; the table keeps their shape, scaled to mean 1.
 * The order of `sizes` changes (sorted). */
void load_tables_sizes(struct load_tables *t, double *sizes, size_t n);
/* Context + generated tokens of each row of an Azure LLM trace (TIMESTAMP,ContextTokens,GeneratedTokens).
 * malloc'd *ret_sizes is the caller's. Errors: cannot read, a row that is not of that form (named by line). */
enum status load_trace_read(const char *path, double **ret_sizes, size_t *ret_n, struct err *e);

/* Exponential with mean 1; exact in the tail, piecewise linear within cells (mean off by 8e-5). */
double load_exp(const struct load_tables *t, struct prng *rng);
/* The days of the users. Factors on the load; a holiday wins over a weekend, a weekend over a Monday. */
struct load_days {
    double amp;                          /* of the daily wave */
    double monday, weekend, holiday;
    double holiday_first, holiday_every; /* whole days; every 0: no holidays */
    double cron_every, cron_minutes, cron_load;  /* minutes; every 0: no job */
};
/* Shape of the load at a time whose zero is Monday 00:00, before it too: 1 + amp * wave(hour), times the day's factor and the
 * job's. */
double load_season(int64_t at_us, const struct load_days *d);

#endif
