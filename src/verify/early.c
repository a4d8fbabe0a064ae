#include <math.h>

#include "base/text.h"
#include "base/tri.h"
#include "verify/verify.h"

#define TICKS 3

/* One tick of one condition; true when it now holds TICKS running. */
static bool run(uint8_t *ticks, enum tri holds)
{
    if (holds == TRI_FALSE) *ticks = 0;
    if (holds == TRI_TRUE && *ticks < TICKS) (*ticks)++;
    return holds == TRI_TRUE && *ticks == TICKS;
}

static enum tri worse_than(double v, double limit, enum bad bad)
{
    if (isnan(v) || isnan(limit)) return TRI_UNKNOWN;
    return tri_of(bad == BAD_DOWN ? v < limit : v > limit);
}

/* Where down is bad the limit 1.25 P becomes P / 1.25. */
static double peak_limit(const struct verify_early_input *in)
{
    return in->bad == BAD_DOWN ? in->peak_before / 1.25 : 1.25 * in->peak_before;
}

static enum tri errors_up(const struct verify_early_input *in)
{
    if (isnan(in->errors_ratio) || isnan(in->errors_before_ratio) || isnan(in->error_count)) return TRI_UNKNOWN;
    return tri_of(in->errors_ratio > in->errors_before_ratio + 0.02 && in->error_count >= 20);
}

static enum tri objective_broken(const struct verify_early_input *in)
{
    if (!(in->objective > 0) || in->objective_broken_before) return TRI_FALSE;
    return worse_than(in->p99, in->objective, in->bad);
}

static void say(char why[120], const char *what, double value, const char *against, double limit)
{
    struct buf b = BUF_INIT;
    buf_puts(&b, what);
    buf_sig3(&b, value);
    buf_puts(&b, against);
    buf_sig3(&b, limit);
    buf_puts(&b, ", three times in a row");
    (void)text_copy(why, 120, buf_text(&b));
    buf_free(&b);
}

bool verify_early(struct verify_early *state, const struct verify_early_input *in, char why[120])
{
    /* Each run is brought up to date on each tick, also when another already decides. */
    bool p99 = run(&state->p99_ticks, worse_than(in->p99, peak_limit(in), in->bad));
    bool errors = run(&state->error_ticks, errors_up(in));
    bool objective = run(&state->objective_ticks, objective_broken(in));
    bool instance = run(&state->instance_ticks, in->instances_lost < 0 ? TRI_UNKNOWN : tri_of(in->instances_lost > 0));
    bool memory = run(&state->memory_ticks, worse_than(in->gpu_memory_ratio, 0.95, BAD_UP));
    why[0] = '\0';
    if (p99) say(why, "latency ", in->p99, " is 25 % beyond its peak from before the change: the limit is ", peak_limit(in));
    else if (errors)
        say(why, "error ratio ", in->errors_ratio, " is 0.02 over what it was: the limit is ", in->errors_before_ratio + 0.02);
    else if (objective) say(why, "the objective is broken since the change: latency ", in->p99, " against ", in->objective);
    else if (instance) say(why, "instances lost since the change: ", in->instances_lost, ", allowed: ", 0);
    else if (memory) say(why, "GPU memory ", in->gpu_memory_ratio, " is over ", 0.95);
    return why[0] != '\0';
}
