/* How many simulated requests a second one core carries. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/time.h"
#include "sim/plant.h"

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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

int main(void)
{
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    struct plant *p = plant_new(&c, 1, &e);
    if (!p) {
        fprintf(stderr, "plant_bench: %s\n", e.text);
        return 1;
    }
    plant_advance(p, 10 * US_PER_S);
    struct plant_window w;
    plant_window_take(p, &w);
    double from = seconds_now();
    plant_advance(p, 610 * US_PER_S);
    double took = seconds_now() - from;
    plant_window_take(p, &w);
    print_figure("plant_requests", (double)w.completed / took, "requests/s");
    print_figure("plant_times_real_time", w.seconds / took, "x");
    plant_free(p);
    return 0;
}
