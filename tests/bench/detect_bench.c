/* How many (signal, tick) pairs detect does in a second on one core: one point in, all views out, slots and anchor
 * alive (nine days of history), every need of a rule answered for the first signal of each service. For 2,000 signals, whose
 * state the caches hold, and for 200,000, whose state they do not. The nine days are lived through once and copied.
 * Limited by arithmetic (the scales of B, two logarithms), then by memory. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/prng.h"
#include "detect/detect.h"

enum { SIGNALS = 20, WARM = 9 * 2880, ROUNDS = 5, UPDATES = 3000000 };

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

static void run(struct detect **d, int services, struct prng *rng, int from, int ticks)
{
    static const struct detect_context quiet;
    struct datum data[7];
    struct evidence ev = {.needs = &needs, .items = data};
    for (int i = from; i < from + ticks; i++) {
        struct instant now = {(int64_t)i * 30 * US_PER_S};
        for (int s = 0; s < services; s++) {
            for (uint16_t k = 0; k < SIGNALS; k++) {
                double noise = prng_unit(rng);
                detect_feed(d[s], k, (struct point){.at = now, .value = 38 + noise, .n = 3000, .why = WHY_KNOWN});
            }
            detect_tick(d[s], now, (struct wall){now.us + 1760000400 * US_PER_S}, &quiet, &ev);
        }
    }
}

static void figure(const char *name, double value, const char *unit)
{
    printf("{\"name\":\"%s\",\"value\":%.0f,\"unit\":\"%s\"}\n", name, value, unit);
    (void)fflush(stdout);
}

/* Updates a second with so many services like `warm`, in the best of some rounds; 0: out of memory. */
static double measure(const struct detect *warm, int services)
{
    struct detect **d = calloc((size_t)services, sizeof *d);
    struct prng rng;
    bool good = d != NULL;
    double best = 1e9;
    int ticks = UPDATES / (services * SIGNALS);
    prng_seed(&rng, 2);
    for (int s = 0; good && s < services; s++) good = (d[s] = detect_clone(warm)) != NULL;
    if (good) run(d, services, &rng, WARM, 1);            /* the pages of all are there before the clock runs */
    for (int r = 0; good && r < ROUNDS; r++) {
        double t0 = seconds();
        run(d, services, &rng, WARM + 1 + r * ticks, ticks);
        double t = seconds() - t0;
        if (t < best) best = t;
    }
    for (int s = 0; d && s < services; s++) detect_free(d[s]);
    free(d);
    return good ? (double)services * SIGNALS * ticks / best : 0;
}

int main(void)
{
    static struct service_def service = {.name = "bench", .signals = signals, .signal_count = SIGNALS};
    struct prng rng;
    prng_seed(&rng, 1);
    for (int k = 0; k < SIGNALS; k++)
        signals[k] = (struct signal_def){.name = "s", .unit = UNIT_MS, .bad = BAD_UP, .rel_floor = 0.02, .interval = SPAN_S(30),
                                         .is_quantile = k == 0, .quantile = k == 0 ? 0.99 : 0};
    struct detect *warm = detect_new(&service, 0.2, SPAN_S(30));
    if (!warm) return 1;
    run(&warm, 1, &rng, 0, WARM);
    double few = measure(warm, 100), many = measure(warm, 10000);
    if (!(few > 0 && many > 0)) {
        fputs("detect_bench: out of memory: 200,000 signals with nine days of slots take 1.6 GB here\n", stderr);
        return 1;
    }
    figure("detector_updates_2000", few, "updates/s");
    figure("detector_updates_200000", many, "updates/s");
    figure("detector_hot_state", (double)detect_hot_bytes(warm) / SIGNALS, "bytes/signal");
    figure("detector_state", (double)detect_bytes(warm) / SIGNALS, "bytes/signal");
    detect_free(warm);
    return 0;
}
