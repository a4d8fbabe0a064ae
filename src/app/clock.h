/* The shell's one clock. Nominal time runs `speed` times as fast as wall time from the start of the daemon (loop.md
 * section 6); at speed 1 it is wall time. Steps of the system's clock show up in the nominal wall time, unscaled. */
#ifndef APP_CLOCK_H
#define APP_CLOCK_H

#include "base/time.h"

struct clock {
    double speed;
    int64_t mono_start, real_start, nominal_start;   /* microseconds */
};

/* not_before: at another speed than 1, nominal time goes on from there if it is later than the system's clock: what an
 * earlier run wrote down must not lie in the future. */
void clock_start(struct clock *c, double speed, struct wall not_before);
void clock_now(const struct clock *c, struct instant *ret_now, struct wall *ret_wall);
struct span clock_wall_until(const struct clock *c, struct instant t);   /* wall time from now until t; 0 when past */
int64_t clock_monotonic_us(void);
int64_t clock_real_us(void);

#endif
