#include "app/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/num.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

int64_t clock_monotonic_us(void) { return read_clock(CLOCK_MONOTONIC); }
int64_t clock_real_us(void) { return read_clock(CLOCK_REALTIME); }

void clock_boot(char id[CLOCK_BOOT_MAX])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!f || !fgets(id, CLOCK_BOOT_MAX, f)) id[0] = '\0';
    id[strcspn(id, "\n")] = '\0';
    if (f) (void)fclose(f);
}

/* "BOOT_ID MICROSECONDS" */
void clock_boot_print(struct buf *b, const char *id, int64_t mono)
{
    buf_printf(b, "%s %lld", id, (long long)mono);
}

int64_t clock_certain(const struct clock_mark *last, const char *id, int64_t mono)
{
    size_t n = strlen(id);
    int64_t then;
    const char *at = last->boot + n;
    bool same = n > 0 && strncmp(last->boot, id, n) == 0 && *at == ' ' && num_parse_i64(at + 1, strlen(at + 1), &then);
    int64_t up = same && mono > then ? last->boot_up + (mono - then) : last->up;
    return up > last->up ? up : last->up;
}

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
