/* The shell's one clock. Nominal time runs `speed` times as fast as wall time from the start of the daemon (loop.md
 * section 6); at speed 1 it is wall time. Steps of the system's clock show up in the nominal wall time, unscaled. */
#ifndef APP_CLOCK_H
#define APP_CLOCK_H

#include "base/buf.h"
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

/* ---- time that has certainly passed, over restarts, whoever sets the wall clock (spec.md invariant 13) ----
 * Each record carries `up`: at least so much time has passed since the log began. Within a life it runs with the monotonic
 * clock; between two lives of one boot of the machine that clock tells how long it was; between two boots nothing does, and
 * the time between is not counted: a window gets longer by it. */
#define CLOCK_BOOT_MAX 40

/* What the log says: `up` of its newest record, and of the START before it, with its `boot`. */
struct clock_mark { int64_t up, boot_up; char boot[96]; };

void clock_boot(char id[CLOCK_BOOT_MAX]);      /* of this boot of the machine; "": not known */
void clock_boot_print(struct buf *b, const char *id, int64_t mono);
/* `up` now, at the start of a life: never more than the time that has passed. */
int64_t clock_certain(const struct clock_mark *last, const char *id, int64_t mono);

#endif
