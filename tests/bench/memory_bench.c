/* What 100 services of 20 signals cost in memory: the loop with scraped pages after a simulated day, then what 15 and 60
 * days of learned slots add (a service's slots fill as history grows), and how much of it the loop itself accounts for.
 * Resident set, after freeing what the allocator holds for nobody. The days beyond the first come by import: the same
 * memory is touched. Limited by: slots of 60 days (2 bytes each 15 min), the rings of blocks and points, raw samples. */
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

/* History of `days` before now, a point each five minutes, into all signals of all services. */
static void import(struct fleet *f, unsigned days)
{
    unsigned n = days * 288;
    struct point *points = malloc(n * sizeof *points);
    struct wall *walls = malloc(n * sizeof *walls);
    struct update u;
    if (!points || !walls) exit(1);
    for (unsigned k = 0; k < SERVICES * FLEET_SIGNALS; k++) {
        struct event e = {.kind = EVENT_HISTORY, .service = (uint16_t)(k / FLEET_SIGNALS)};
        for (unsigned i = 0; i < n; i++) {
            int64_t back = (int64_t)(n - i) * 300 * US_PER_S;
            points[i] = (struct point){{f->now.us - back}, fleet_value(f, k % FLEET_SIGNALS), 1000, WHY_KNOWN};
            walls[i] = (struct wall){points[i].at.us + INT64_C(1778544000) * US_PER_S};
        }
        e.u.history.signal = (uint16_t)(k % FLEET_SIGNALS);
        e.u.history.points = points;
        e.u.history.walls = walls;
        e.u.history.n = n;
        e.u.history.last = e.u.history.signal == FLEET_SIGNALS - 1;
        fleet_step(f, &e, &u);
    }
    free(points);
    free(walls);
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
