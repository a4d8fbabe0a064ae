/* From the last byte of the page that opens the last gate to the first byte of the write it leads to, with both read-backs,
 * the INTENT and its checkpoint on disk: the real daemon against a real HTTP target on loopback. Many services in one
 * daemon, each with a healthy day behind it; one after the other gets worse and is tuned once. The clock runs fast
 * (nothing is shortened by that but the waiting), and the target takes both times where it hands the page to the socket
 * and where it gets the write, parsed: what the target itself costs counts too.
 * Limited by the sync of the audit log, see disk_write_28k_and_sync of audit_bench. */
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/http_server.h"
#include "bench/fleet.h"
#include "store/history.h"
#include "store/store.h"

enum { SERVICES = 200, SPEED = 60, PATIENCE_S = 300, WARM_TICKS = 90, HISTORY = 3000 };
#define FAULT_EVERY_US 400000         /* 25 of 200 services within ten nominal minutes: under the storm gate */

struct subject { bool bad, written; unsigned ticks; int batch; int64_t page_at; double ms; };

static struct subject subjects[SERVICES];
static unsigned faulted, written;
static struct event_base *base;
static char folder[256], address[80];
static const char *const texts[] = {"latency_p99", "queue_depth", "throughput", "batch_size", "gpu_util", "error_ratio"};
static const double healthy[] = {38, 140, 1000, 31, .65, .001}, worse[] = {46.8, 320, 1000, 31, .78, .001};
#define SIGNALS (sizeof healthy / sizeof healthy[0])

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

static void die(const char *what, const char *why)
{
    fprintf(stderr, "latency_bench: %s: %s\n", what, why);
    exit(1);
}

/* ---- the target ---- */

static void give_page(struct http_request *r, struct subject *s)
{
    struct buf b = BUF_INIT;
    bool bad = s->bad && !s->written;
    for (unsigned i = 0; i < SIGNALS; i++) {
        double wobble = 0.99 + 0.02 * ((double)((s->ticks * 7919u + i * 31) % 101) / 100);
        buf_printf(&b, "# HELP %s Of one service.\n# TYPE %s gauge\n%s ", texts[i], texts[i], texts[i]);
        buf_double(&b, (bad ? worse[i] : healthy[i]) * wobble);
        buf_putc(&b, '\n');
    }
    /* What else stands on a page: 100 buckets that no signal asks for. */
    for (unsigned i = 0; i < 100; i++) buf_printf(&b, "other_seconds_bucket{model=\"embed\",le=\"%u\"} %u\n", i, s->ticks * i);
    s->ticks++;
    s->page_at = now_us();
    http_reply_buf(r, 200, "text/plain; version=0.0.4", &b);
}

static void take_write(struct http_request *r, struct subject *s)
{
    size_t len;
    int value;
    int64_t at = now_us();
    if (!s->written) s->ms = (double)(at - s->page_at) / 1e3;
    if (sscanf(http_request_body(r, &len), "{\"value\": %d}", &value) == 1) s->batch = value;
    if (!s->written && ++written == SERVICES) (void)event_base_loopbreak(base);
    s->written = true;
}

static void handle(void *ctx, struct http_request *r)
{
    unsigned i;
    char what[16], text[64];
    (void)ctx;
    if (sscanf(http_request_path(r), "/s%u/%15[a-z]", &i, what) != 2 || i >= SERVICES) {
        http_reply_error(r, 404, "no such thing");
        return;
    }
    struct subject *s = &subjects[i];
    if (what[0] == 'm') {
        give_page(r, s);
        return;
    }
    if (http_request_method(r) == HTTP_PUT) take_write(r, s);
    snprintf(text, sizeof text, "\"%d\"", s->batch);
    http_reply_header(r, "ETag", text);
    int n = snprintf(text, sizeof text, "{\"value\": %d}", s->batch);
    http_reply(r, 200, "application/json", text, (size_t)n);
}

/* ---- configuration and a learned day ---- */

static void write_config(struct buf *b)
{
    buf_puts(b, "version: 1\norigin: trimtab/bench\nfleet: {in_flight: 50%, per_hour: 1000}\nprofiles:\n  server:\n"
                "    mode: auto\n    signals:\n"
                "      latency_p99: {layer: request, unit: ms, interval: 30s, query: latency_p99, resolution: 1 ms, quantile: 0}\n"
                "      queue_depth: {layer: processing, unit: \"\", interval: 30s, query: queue_depth}\n"
                "      throughput: {layer: processing, unit: /s, bad: down, interval: 30s, query: throughput}\n"
                "      batch_size: {layer: processing, unit: \"\", bad: both, interval: 30s, query: batch_size}\n"
                "      gpu_util: {layer: system, unit: ratio, bad: both, interval: 30s, query: gpu_util}\n"
                "      error_ratio: {layer: request, unit: ratio, interval: 30s, query: error_ratio}\n"
                "    judge: {objective: 80 ms}\n    symptoms:\n"
                "      latency-degraded: latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250\n"
                "    playbook:\n      - {cause: compute-bound, when: gpu_util > 0.7, try: [batch_max up]}\nservices:\n");
    for (unsigned i = 0; i < SERVICES; i++) {
        buf_printf(b, "  - name: s%u\n    profile: server\n    targets: [{url: 'http://%s/s%u/metrics'}]\n", i, address, i);
        buf_printf(b, "    knobs:\n      batch_max:\n        {class: batch, min: 4, max: 128, ladder: x2, min_step: 4, "
                      "use: batch_size, cas: true,\n         read: {http: {url: 'http://%s/s%u/config', pointer: /value, "
                      "version_header: ETag}},\n", address, i);
        buf_printf(b, "         write: {http: {url: 'http://%s/s%u/config', method: PUT, headers: [\"Content-Type: "
                      "application/json\", \"If-Match: {version}\"], body: '{\"value\": {value}}'}}}\n", address, i);
    }
}

static void import_day(struct loop *loop, uint16_t signal, struct wall wall)
{
    static struct point points[HISTORY];
    static struct wall walls[HISTORY];
    struct update u;
    struct event e = {.kind = EVENT_HISTORY, .now = {wall.us}, .wall = wall};
    for (unsigned i = 0; i < HISTORY; i++) {
        int64_t at = wall.us - (int64_t)(HISTORY - i) * 30 * US_PER_S;
        double wobble = 0.99 + 0.02 * ((double)((i * 7919u + signal * 31u) % 101) / 100);
        points[i] = (struct point){{at}, healthy[signal] * wobble, 10000, WHY_KNOWN};
        walls[i] = (struct wall){at};
    }
    e.u.history.signal = signal;
    e.u.history.points = points;
    e.u.history.walls = walls;
    e.u.history.n = HISTORY;
    e.u.history.last = signal + 1u == SIGNALS;
    loop_step(loop, &e, &u);
}

/* All services have lived through the same day. */
static void seed(const char *config, size_t len, const char *data)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct err e;
    struct buf state = BUF_INIT;
    struct timespec t;
    struct store *store;
    struct policy *p = config_load(config, len, "bench", NULL, &d);
    if (!p) die("configuration", d.n ? d.items[0].text : "no policy");
    clock_gettime(CLOCK_REALTIME, &t);
    struct wall wall = {(int64_t)t.tv_sec * US_PER_S};
    struct loop *loop = loop_new(p, (struct instant){wall.us}, wall, (struct loop_options){.alone = true});
    for (unsigned i = 0; i < SIGNALS; i++) import_day(loop, service_signal(&p->services[0], texts[i]), wall);
    loop_service_state(loop, 0, &state);
    struct store_options o = {.dir = data, .origin = p->origin, .unthreaded = true};
    if (store_open(&store, &o, &e) != STATUS_OK) die(data, e.text);
    for (unsigned i = 0; i < SERVICES; i++)
        if (store_state_put(store, p->services[i].name, wall.us, state.data, state.len, &e) != STATUS_OK) die(data, e.text);
    store_history_flush(store);
    store_close(store);
    buf_free(&state);
    loop_free(loop);
    config_free(p);
    config_diagnostics_free(&d);
}

static pid_t start_daemon(const char *config, const char *data, const char *log)
{
    char speed[16];
    snprintf(speed, sizeof speed, "%d", SPEED);
    pid_t pid = fork();
    if (pid != 0) return pid;
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || dup2(out, 2) < 0 || dup2(out, 1) < 0) _exit(1);
    execl(TRIMTAB_BINARY, "trimtab", "serve", "--config", config, "--data", data, "--listen", "127.0.0.1:0", "--speed", speed,
          (char *)NULL);
    _exit(127);
}

/* ---- course ---- */

static void on_fault(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    /* Steps of 67: neighbours in the list are neighbours in time, and faults should not be. */
    if (subjects[0].ticks > WARM_TICKS && faulted < SERVICES) subjects[faulted++ * 67 % SERVICES].bad = true;
}

static void on_patience_over(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    (void)event_base_loopbreak(base);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int report(void)
{
    double ms[SERVICES];
    unsigned n = 0;
    for (unsigned i = 0; i < SERVICES; i++)
        if (subjects[i].written) ms[n++] = subjects[i].ms;
    if (n < SERVICES * 9 / 10) {
        fprintf(stderr, "latency_bench: only %u of %d services were tuned; the daemon's log is %s/log\n", n, SERVICES, folder);
        return 1;
    }
    qsort(ms, n, sizeof ms[0], by_value);
    fputs("latency_bench: the slowest, in ms:", stderr);
    for (unsigned i = n > 20 ? n - 20 : 0; i < n; i++) fprintf(stderr, " %.1f", ms[i]);
    fputs("\n", stderr);
    fleet_figure("page_to_write_p50", ms[n / 2], 2, "ms");
    fleet_figure("page_to_write_p99", ms[n * 99 / 100], 2, "ms");
    fleet_figure("page_to_write_max", ms[n - 1], 2, "ms");
    fleet_figure("page_to_write_repeats", n, 0, "writes");
    return 0;
}

static void run(void)
{
    struct timeval every = {0, FAULT_EVERY_US}, patience = {PATIENCE_S, 0};
    struct event *fault = event_new(base, -1, EV_PERSIST, on_fault, NULL), *end = evtimer_new(base, on_patience_over, NULL);
    (void)event_add(fault, &every);
    (void)event_add(end, &patience);
    (void)event_base_dispatch(base);
    event_free(fault);
    event_free(end);
}

int main(void)
{
    const char *temp = getenv("TMPDIR");
    char config[300], data[300], log[300], command[320];
    struct err e;
    struct buf text = BUF_INIT;
    snprintf(folder, sizeof folder, "%s/trimtab-latency-XXXXXX", temp ? temp : "/tmp");
    if (!mkdtemp(folder)) die(folder, "cannot be made");
    snprintf(config, sizeof config, "%s/config.yaml", folder);
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    for (unsigned i = 0; i < SERVICES; i++) subjects[i].batch = 32;
    base = event_base_new();
    struct http_server *server = http_server_new(base, http_limits_default(), handle, NULL);
    if (http_server_listen(server, "127.0.0.1:0", address, &e) != STATUS_OK) die("target", e.text);
    write_config(&text);
    seed(text.data, text.len, data);
    FILE *f = fopen(config, "w");
    if (!f || fwrite(text.data, 1, text.len, f) != text.len || fclose(f) != 0) die(config, "cannot be written");
    buf_free(&text);
    pid_t daemon = start_daemon(config, data, log);
    if (daemon < 0) die("daemon", "cannot be started");
    run();
    int status = 0, rc = report();
    (void)kill(daemon, SIGTERM);
    (void)waitpid(daemon, &status, 0);
    http_server_free(server);
    event_base_free(base);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return rc != 0 ? rc : system(command) != 0;
}
