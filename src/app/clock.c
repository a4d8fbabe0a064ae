#include "app/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

int64_t clock_monotonic_us(void) { return read_clock(CLOCK_MONOTONIC); }
int64_t clock_real_us(void) { return read_clock(CLOCK_REALTIME); }

void clock_start(struct clock *c, double speed, struct wall not_before)
{
    *c = (struct clock){.speed = speed, .mono_start = clock_monotonic_us(), .real_start = clock_real_us()};
    c->nominal_start = c->real_start;
    if (speed > 1 && not_before.us > c->nominal_start) c->nominal_start = not_before.us;
}

void clock_now(const struct clock *c, struct instant *ret_now, struct wall *ret_wall)
{
    int64_t elapsed = clock_monotonic_us() - c->mono_start;
    int64_t stepped = clock_real_us() - c->real_start - elapsed;
    int64_t nominal = c->nominal_start + (int64_t)((double)elapsed * c->speed);
    if (c->speed <= 1) nominal = c->nominal_start + elapsed;
    *ret_now = (struct instant){nominal};
    *ret_wall = (struct wall){nominal + stepped};
}

struct span clock_wall_until(const struct clock *c, struct instant t)
{
    struct instant now;
    struct wall wall;
    clock_now(c, &now, &wall);
    if (t.us <= now.us) return SPAN_MS(0);
    return (struct span){(int64_t)((double)(t.us - now.us) / c->speed)};
}
