/* What 100 services of 20 signals cost in memory: the loop with scraped pages after a simulated day, then what 15 and 60
 * days of learned slots add (a service's slots fill as history grows). Resident set, after freeing what the allocator holds for
 * nobody. The longer pasts come by import: the same memory is touched. Of the loop alone: the program around it (libraries,
 * stores, HTTP) is 15 MB.
 * Limited by: rings of blocks and points (6 KB a signal), and slots of 60 days (2 bytes each 15 min: 11.5 KB a signal). */
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/fleet.h"

enum { SERVICES = 100, DAY_TICKS = 2880 };

static double resident_mb(void)
{
    unsigned long size, resident;
    (void)malloc_trim(0);
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu %lu", &size, &resident) != 2) resident = 0;
    if (f) (void)fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

/* A past of `days` for the first service, a point each tick; the others get a copy of what it has learned. */
static void import(struct fleet *f, unsigned days)
{
    unsigned n = days * DAY_TICKS;
    struct point *points = malloc(n * sizeof *points);
    struct wall *walls = malloc(n * sizeof *walls);
    struct buf state = BUF_INIT;
    struct update u;
    if (!points || !walls) exit(1);
    for (uint16_t k = 0; k < FLEET_SIGNALS; k++) {
        struct event e = {.kind = EVENT_HISTORY};
        for (unsigned i = 0; i < n; i++) {
            points[i] = (struct point){{f->now.us - (int64_t)(n - i) * FLEET_TICK_US}, fleet_value(f, k), 1000, WHY_KNOWN};
            walls[i] = (struct wall){points[i].at.us + FLEET_WALL_US};
        }
        e.u.history.signal = k;
        e.u.history.points = points;
        e.u.history.walls = walls;
        e.u.history.n = n;
        e.u.history.last = k == FLEET_SIGNALS - 1;
        fleet_step(f, &e, &u);
    }
    free(points);
    free(walls);
    loop_service_state(f->loop, 0, &state);
    for (uint16_t i = 1; i < SERVICES; i++) {
        struct event e = {.kind = EVENT_STATE, .service = i};
        e.u.state.bytes = state.data;
        e.u.state.len = state.len;
        fleet_step(f, &e, &u);
    }
    buf_free(&state);
}

/* In a process of its own, so that what one fleet leaves behind does not count for the next. */
static bool measure(unsigned days, int ticks, const char *name)
{
    struct fleet f;
    int status = 1;
    (void)fflush(stdout);
    pid_t child = fork();
    if (child > 0) return waitpid(child, &status, 0) == child && status == 0;
    if (child < 0 || !fleet_open(&f, SERVICES, true)) _exit(1);
    double born = resident_mb();
    if (days) import(&f, days);
    for (int i = 0; i < ticks; i++) fleet_tick(&f);
    fleet_figure(name, resident_mb(), 1, "MB resident");
    fprintf(stderr, "memory_bench: %s: %.1f MB before the first tick\n", name, born);
    _exit(0);
}

int main(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);       /* as the program does, see src/app/main.c */
    return measure(0, DAY_TICKS, "rss_100x20_day") && measure(15, 120, "rss_100x20_15_days")
                   && measure(60, 120, "rss_100x20_60_days") ? 0 : 1;
}
