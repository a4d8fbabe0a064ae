/* One tick of 1,000 services with 20 signals and rules each, through the loop's one entry: the points of all services come
 * in, time passes, every service gives its decision. Once with points from outside, once with scraped pages, and once
 * with 100 services: what a service costs must not grow with the fleet. CPU time of one core, median of the ticks. */
#include <string.h>

#include "bench/fleet.h"
#include "loop/control.h"

enum { WARM = 150, MEASURED = 40 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Milliseconds of the median tick; < 0: failed. */
static double measure(unsigned services, bool pages, bool storm, double *ret_worst)
{
    struct fleet f;
    double ms[MEASURED];
    if (!fleet_open(&f, services, pages)) return -1;
    for (int i = 0; i < WARM; i++) fleet_tick(&f);
    f.bad = storm;
    for (int i = 0; i < MEASURED; i++) {
        double from = fleet_cpu_seconds();
        fleet_tick(&f);
        ms[i] = (fleet_cpu_seconds() - from) * 1e3;
    }
    qsort(ms, MEASURED, sizeof ms[0], by_value);
    *ret_worst = ms[MEASURED - 1];
    struct loop_counters c;
    if (loop_control(f.loop, 0)->state == STATE_LEARNING) {
        fputs("loop_bench: the services have not learned: what was measured is less than a tick\n", stderr);
        return -1;
    }
    loop_counters(f.loop, &c);
    if (storm && c.incidents < services) {
        fprintf(stderr, "loop_bench: only %llu of %u services have an incident\n", (unsigned long long)c.incidents, services);
        return -1;
    }
    fleet_close(&f);
    return ms[MEASURED / 2];
}

int main(void)
{
    double worst, few = measure(100, false, false, &worst), many = measure(1000, false, false, &worst);
    if (few < 0 || many < 0) return 1;
    fleet_figure("tick_1000x20", many, 1, "ms");
    fleet_figure("tick_1000x20_worst", worst, 1, "ms");
    fleet_figure("tick_cost_growth_100_to_1000", many / few / 10, 2, "x per service");
    many = measure(1000, true, false, &worst);
    if (many < 0) return 1;
    fleet_figure("tick_1000x20_pages", many, 1, "ms");
    /* Everything degrades at once: each service has an incident, ranks its causes and passes its gates each tick. */
    many = measure(1000, false, true, &worst);
    if (many < 0) return 1;
    fleet_figure("tick_1000x20_storm", many, 1, "ms");
    fleet_figure("tick_1000x20_storm_worst", worst, 1, "ms");
    return 0;
}
