/* Gives a data folder a service that has already learned a day: seed CONFIG DATA SIGNAL=VALUE... [records=N]
 * or points kept of one: seed points DATA SERVICE SIGNAL (two hours from 2026-05-12 00:00 UTC, one in ten seconds: 40 to 59).
 * Each named signal gets 25 h of that value with a little noise, through the same import the daemon has. records: so many
 * starts of a daemon stand in its log. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "config/load.h"
#include "loop/loop.h"
#include "store/history.h"
#include "store/store.h"

#define POINTS 3000

static void die(const char *what, const char *why)
{
    fprintf(stderr, "seed: %s: %s\n", what, why);
    exit(1);
}

static void import(struct loop *loop, uint16_t signal, double value, struct instant now, struct wall wall, bool last)
{
    static struct point points[POINTS];
    static struct wall walls[POINTS];
    struct update u;
    struct event e = {.kind = EVENT_HISTORY, .service = 0, .now = now, .wall = wall};
    for (unsigned i = 0; i < POINTS; i++) {
        int64_t back = (int64_t)(POINTS - i) * 30 * US_PER_S;
        double noise = 1 + 0.01 * ((double)((i * 7919u) % 101) / 50.0 - 1);
        points[i] = (struct point){.at = {now.us - back}, .value = value * noise, .n = 10000, .why = WHY_KNOWN};
        walls[i] = (struct wall){wall.us - back};
    }
    e.u.history.signal = signal;
    e.u.history.points = points;
    e.u.history.walls = walls;
    e.u.history.n = POINTS;
    e.u.history.last = last;
    loop_step(loop, &e, &u);
}

#define BATCH STORE_APPEND_MAX

static void write_records(struct store *store, uint64_t n, struct wall wall)
{
    static struct record batch[BATCH];
    struct err e;
    for (uint64_t i = 0; i < n; i += BATCH) {
        for (unsigned k = 0; k < BATCH; k++) {
            record_init(&batch[k], RECORD_START);
            record_i64(&batch[k], RF_AT, wall.us - (int64_t)(n - i - k) * US_PER_S);
            record_text(&batch[k], RF_BY, "trimtab");
        }
        uint64_t left = n - i;
        if (store_append_now(store, batch, left < BATCH ? (uint32_t)left : BATCH, NULL, &e) != STATUS_OK) die("records", e.text);
    }
}

static int write_points(const char *folder, const char *service, const char *signal)
{
    enum { N = 721 };
    static struct store_point points[N];
    struct store_options o = {.dir = folder, .origin = "seed", .unthreaded = true};
    struct store *store;
    struct err e;
    for (int i = 0; i < N; i++)
        points[i] = (struct store_point){.service = service, .signal = signal, .layer = LAYER_REQUEST, .why = WHY_KNOWN,
                                         .at = (INT64_C(1778544000) + i * 10) * US_PER_S, .value = 40 + i % 20};
    if (store_open(&store, &o, &e) != STATUS_OK) die(folder, e.text);
    if (store_points_put(store, points, N, &e) != STATUS_OK) die(folder, e.text);
    store_history_flush(store);
    store_close(store);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "points") == 0) return write_points(argv[2], argv[3], argv[4]);
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct err e;
    struct store *store;
    struct buf state = BUF_INIT;
    if (argc < 4) die("usage", "seed CONFIG DATA SIGNAL=VALUE...");
    struct policy *p = config_load_file(argv[1], NULL, &d);
    if (!p) die(argv[1], d.n ? d.items[0].text : "cannot be read");
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    struct instant now = {(int64_t)t.tv_sec * US_PER_S};
    struct wall wall = {now.us};
    struct loop *loop = loop_new(p, now, wall, (struct loop_options){.alone = true});
    uint64_t records = 0;
    for (int i = 3; i < argc; i++) {
        char *equal = strchr(argv[i], '=');
        double value = 0;
        if (!equal || !num_parse_all(equal + 1, strlen(equal + 1), &value)) die(argv[i], "expected SIGNAL=VALUE");
        *equal = '\0';
        if (strcmp(argv[i], "records") == 0) {
            records = (uint64_t)value;
            continue;
        }
        uint16_t signal = service_signal(&p->services[0], argv[i]);
        if (signal == NO_INDEX) die(argv[i], "no such signal");
        import(loop, signal, value, now, wall, i + 1 == argc || strncmp(argv[i + 1], "records=", 8) == 0);
    }
    loop_service_state(loop, 0, &state);
    struct store_options o = {.dir = argv[2], .origin = p->origin, .unthreaded = true};
    if (store_open(&store, &o, &e) != STATUS_OK) die(argv[2], e.text);
    if (store_state_put(store, p->services[0].name, wall.us, state.data, state.len, &e) != STATUS_OK) die(argv[2], e.text);
    store_history_flush(store);
    write_records(store, records, wall);
    store_close(store);
    buf_free(&state);
    loop_free(loop);
    config_free(p);
    config_diagnostics_free(&d);
    return 0;
}
