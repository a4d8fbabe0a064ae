/* How many (signal, tick) pairs detect does in a second on one core: one point in, all views out, slots and anchor
 * alive (nine days of history), every need of a rule answered for the first signal of each service.
 * Limited by memory: a tick touches about 2 KB of each signal's state. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/prng.h"
#include "detect/detect.h"

enum { SERVICES = 20, SIGNALS = 20, WARM = 9 * 2880, MEASURED = 3000, ROUNDS = 5 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct signal_def signals[SIGNALS];
static struct need items[] = {{FN_VALUE, 0, {0}}, {FN_BASELINE, 0, {0}}, {FN_PROFILE, 0, {0}}, {FN_DRIFT, 0, {0}},
                              {FN_WEEK_AGO, 0, {0}}, {FN_ZSCORE, 0, {0}}, {FN_SCORE, 0, {0}}};
static const struct needs needs = {.items = items, .n = 7, .cap = 7};

static void run(struct detect **d, struct prng *rng, int from, int ticks)
{
    static const struct detect_context quiet;
    struct datum data[7];
    struct evidence ev = {.needs = &needs, .items = data};
    for (int i = from; i < from + ticks; i++) {
        struct instant now = {(int64_t)i * 30 * US_PER_S};
        for (int s = 0; s < SERVICES; s++) {
            for (uint16_t k = 0; k < SIGNALS; k++) {
                double noise = prng_unit(rng);
                detect_feed(d[s], k, (struct point){.at = now, .value = 38 + noise, .n = 3000, .why = WHY_KNOWN});
            }
            detect_tick(d[s], now, (struct wall){now.us + 1760000400 * US_PER_S}, &quiet, &ev);
        }
    }
}

int main(void)
{
    static struct service_def service = {.name = "bench", .signals = signals, .signal_count = SIGNALS};
    struct detect *d[SERVICES];
    struct prng rng;
    prng_seed(&rng, 1);
    for (int k = 0; k < SIGNALS; k++)
        signals[k] = (struct signal_def){.name = "s", .unit = UNIT_MS, .bad = BAD_UP, .rel_floor = 0.02, .interval = SPAN_S(30),
                                         .is_quantile = k == 0, .quantile = k == 0 ? 0.99 : 0};
    for (int s = 0; s < SERVICES; s++)
        if (!(d[s] = detect_new(&service, 0.2, SPAN_S(30)))) return 1;
    run(d, &rng, 0, WARM);
    double best = 1e9;
    for (int r = 0; r < ROUNDS; r++) {
        double t0 = seconds();
        run(d, &rng, WARM + r * MEASURED, MEASURED);
        double t = seconds() - t0;
        if (t < best) best = t;
    }
    double updates = (double)SERVICES * SIGNALS * MEASURED;
    printf("{\"name\":\"detector_updates\",\"value\":%.0f,\"unit\":\"updates/s\"}\n", updates / best);
    printf("{\"name\":\"detector_state\",\"value\":%zu,\"unit\":\"bytes/signal\"}\n", detect_bytes(d[0]) / SIGNALS);
    for (int s = 0; s < SERVICES; s++) detect_free(d[s]);
    return 0;
}
