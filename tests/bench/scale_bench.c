/* What a service costs in a small and in a large fleet: 100, 1,000 and 10,000 services of 20 signals, points from outside, each
 * tick of all of them on one core; and what stays in memory at 10,000 when the past lies in a file, as it does in the daemon.
 * Figures: CPU a tick, the part of a 30 s interval that it takes, nanoseconds a signal, that against 100 services, bytes a signal.
 * Limited by memory: at 10,000 services nothing that a tick works on is in a cache. */
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapt/pages.h"
#include "bench/fleet.h"
#include "loop/control.h"

enum { WARM = 70, MEASURED = 8 };

static double resident_mb(void)
{
    unsigned long size, resident;
    (void)malloc_trim(0);
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu %lu", &size, &resident) != 2) resident = 0;
    if (f) (void)fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct cost { double tick_s, mb, empty_mb; };

/* In a process of its own, whose memory is its own. */
static bool measure_here(unsigned services, struct cost *ret)
{
    struct fleet f;
    struct err e;
    double s[MEASURED];
    double before = resident_mb();
    struct pages *pages = pages_open("/tmp", &e);
    if (!pages) return fprintf(stderr, "scale_bench: %s\n", e.text) < 0;
    if (!fleet_open_in(&f, services, false, pages_memory(pages))) return false;
    ret->empty_mb = resident_mb() - before;
    for (int i = 0; i < WARM; i++) {
        fleet_tick(&f);
        pages_rest(pages, 0, 1);
    }
    for (int i = 0; i < MEASURED; i++) {
        double from = fleet_cpu_seconds();
        fleet_tick(&f);
        pages_rest(pages, 0, 1);
        s[i] = fleet_cpu_seconds() - from;
    }
    if (loop_control(f.loop, 0)->state == STATE_LEARNING) return false;
    qsort(s, MEASURED, sizeof s[0], by_value);
    ret->tick_s = s[MEASURED / 2];
    ret->mb = resident_mb();
    return true;
}

static bool measure(unsigned services, struct cost *ret)
{
    int ends[2], status = 1;
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        struct cost c;
        _exit(measure_here(services, &c) && write(ends[1], &c, sizeof c) == (ssize_t)sizeof c ? 0 : 1);
    }
    (void)close(ends[1]);
    bool got = read(ends[0], ret, sizeof *ret) == (ssize_t)sizeof *ret;
    (void)close(ends[0]);
    return waitpid(child, &status, 0) == child && status == 0 && got;
}

int main(void)
{
    static const unsigned fleets[] = {100, 1000, 10000};
    double first = 0;
    (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);       /* as the program does, see src/app/main.c */
    for (unsigned i = 0; i < 3; i++) {
        struct cost c;
        char name[64];
        if (!measure(fleets[i], &c)) {
            fprintf(stderr, "scale_bench: %u services could not be measured\n", fleets[i]);
            return 1;
        }
        double ns = c.tick_s * 1e9 / (fleets[i] * FLEET_SIGNALS);
        if (i == 0) first = ns;
        (void)snprintf(name, sizeof name, "fleet_%ux20_tick", fleets[i]);
        fleet_figure(name, c.tick_s * 1e3, 1, "ms CPU");
        (void)snprintf(name, sizeof name, "fleet_%ux20_share_of_interval", fleets[i]);
        fleet_figure(name, c.tick_s / 30 * 100, 2, "%");
        (void)snprintf(name, sizeof name, "fleet_%ux20_per_signal", fleets[i]);
        fleet_figure(name, ns, 0, "ns CPU");
        (void)snprintf(name, sizeof name, "fleet_%ux20_per_signal_against_100", fleets[i]);
        fleet_figure(name, ns / first, 2, "x");
        (void)snprintf(name, sizeof name, "fleet_%ux20_rss", fleets[i]);
        fleet_figure(name, c.mb, 1, "MB resident");
        (void)snprintf(name, sizeof name, "fleet_%ux20_rss_per_signal", fleets[i]);
        fleet_figure(name, c.mb * 1e6 / (fleets[i] * FLEET_SIGNALS), 0, "bytes");
    }
    return 0;
}
