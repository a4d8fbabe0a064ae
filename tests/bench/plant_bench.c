/* How many simulated requests a second one core carries, and how fast the fluid form runs. The first is limited by three histogram
 * cells and two draws a request, the second by the quantiles and logarithms of the load wobble each second. */
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "base/time.h"
#include "sim/fluid.h"
#include "sim/plant.h"

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);   /* others on the machine do not count */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_figure(const char *name, double value, const char *unit)
{
    struct buf b = BUF_INIT;
    buf_puts(&b, "{\"name\":\"");
    buf_puts(&b, name);
    buf_puts(&b, "\",\"value\":");
    buf_fixed(&b, value, 0);
    buf_puts(&b, ",\"unit\":\"");
    buf_puts(&b, unit);
    buf_puts(&b, "\"}");
    puts(buf_text(&b));
    buf_free(&b);
}

static bool measure_requests(const struct plant_config *c, struct err *e)
{
    struct plant_window w;
    struct plant *p = plant_new(c, 1, e);
    if (!p) return false;
    plant_advance(p, 10 * US_PER_S);
    plant_window_take(p, &w);
    double from = seconds_now();
    plant_advance(p, 610 * US_PER_S);
    double took = seconds_now() - from;
    plant_window_take(p, &w);
    print_figure("plant_requests", (double)w.completed / took, "requests/s");
    print_figure("plant_times_real_time", w.seconds / took, "x");
    plant_free(p);
    return true;
}

/* Thirty days in ticks of 30 s, as a scenario reads them. */
static bool measure_flows(const struct plant_config *c, struct err *e)
{
    struct plant_window w;
    struct fluid *f = fluid_new(c, 1, e);
    if (!f) return false;
    double from = seconds_now();
    for (int64_t at = 0; at < 30 * US_PER_DAY; at += 30 * US_PER_S) {
        fluid_advance(f, at);
        fluid_window_take(f, &w);
    }
    print_figure("fluid_times_real_time", 30 * 86400 / (seconds_now() - from), "x");
    fluid_free(f);
    return true;
}

int main(void)
{
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    if (measure_requests(&c, &e) && measure_flows(&c, &e)) return 0;
    fprintf(stderr, "plant_bench: %s\n", e.text);
    return 1;
}
