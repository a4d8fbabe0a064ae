#include "app/target.h"

#include <event2/event.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "app/clock.h"
#include "app/command.h"
#include "base/num.h"
#include "base/text.h"
#include "sim/page.h"
#include "sim/plant.h"
#include "sim/plant_world.h"

#define STEP_US 5000          /* wall time between two steps of the plant */

struct target {
    struct event_base *base;
    struct http_server *server;
    struct event *timer, *term;
    struct routes routes;
    struct plant *plant;
    struct clock clock;
    struct instant start;
    struct wall origin;
    uint64_t version[16];     /* of each knob */
};

static void catch_up(struct target *t)
{
    struct instant now;
    struct wall wall;
    clock_now(&t->clock, &now, &wall);
    plant_advance(t->plant, instant_since(now, t->start).us);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    catch_up(arg);
}

static void on_term(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    event_base_loopbreak(((struct target *)arg)->base);
}

static void get_metrics(void *ctx, struct http_request *r)
{
    struct target *t = ctx;
    struct buf page = BUF_INIT;
    catch_up(t);
    if (page_write(t->plant, t->origin, &page)) http_reply_buf(r, 200, "text/plain; version=0.0.4; charset=utf-8", &page);
    else http_reply_error(r, 503, "the service is starting");
}

static int knob_index(const char *name)
{
    size_t n;
    const char *const *names = plant_knob_names(&n);
    for (size_t i = 0; i < n && i < 16; i++) {
        if (text_eq(names[i], name)) return (int)i;
    }
    return -1;
}

static void reply_value(struct target *t, struct http_request *r, int knob, const char *name)
{
    struct buf body = BUF_INIT, etag = BUF_INIT;
    struct err e;
    buf_puts(&body, "{\"value\": ");
    if (plant_knob_get(t->plant, name, &body, &e) != STATUS_OK) {
        buf_free(&body);
        http_reply_error(r, 404, "%s", e.text);
        return;
    }
    buf_puts(&body, "}\n");
    buf_puts(&etag, "\"");
    buf_u64(&etag, t->version[knob]);
    buf_puts(&etag, "\"");
    http_reply_header(r, "ETag", buf_text(&etag));
    http_reply_buf(r, 200, "application/json", &body);
    buf_free(&etag);
}

static void get_knob(void *ctx, struct http_request *r)
{
    const char *name = http_request_param(r, "knob");
    int knob = knob_index(name);
    if (knob < 0) http_reply_error(r, 404, "no knob of that name");
    else if (!plant_up(((struct target *)ctx)->plant)) http_reply_error(r, 503, "the service is starting");
    else reply_value(ctx, r, knob, name);
}

static bool version_matches(const struct target *t, int knob, const char *if_match)
{
    struct buf etag = BUF_INIT;
    buf_puts(&etag, "\"");
    buf_u64(&etag, t->version[knob]);
    buf_puts(&etag, "\"");
    bool same = !if_match || text_eq(if_match, "*") || text_eq(if_match, buf_text(&etag));
    buf_free(&etag);
    return same;
}

static bool body_value(struct http_request *r, struct buf *out)
{
    size_t len;
    const char *body = http_request_body(r, &len);
    json_error_t error;
    json_t *root = json_loadb(body, len, JSON_REJECT_DUPLICATES, &error);
    const json_t *v = json_object_get(root, "value");
    bool ok = json_is_number(v) && isfinite(json_number_value(v));
    if (ok) buf_double(out, json_number_value(v));
    json_decref(root);
    return ok;
}

static void put_knob(void *ctx, struct http_request *r)
{
    struct target *t = ctx;
    const char *name = http_request_param(r, "knob");
    int knob = knob_index(name);
    struct buf value = BUF_INIT;
    struct err e;
    catch_up(t);
    if (knob < 0) {
        http_reply_error(r, 404, "no knob of that name");
    } else if (!version_matches(t, knob, http_request_header(r, "If-Match"))) {
        http_reply_error(r, 412, "the value was changed since");
    } else if (!body_value(r, &value)) {
        http_reply_error(r, 400, "the body must be {\"value\": NUMBER}");
    } else if (plant_knob_set(t->plant, name, value.data, value.len, NULL, &e) != STATUS_OK) {
        http_reply_error(r, 400, "%s", e.text);
    } else {
        t->version[knob]++;
        reply_value(t, r, knob, name);
    }
    buf_free(&value);
}

static void number(struct buf *b, const char *name, double v, bool first)
{
    buf_printf(b, "%s\"%s\": ", first ? "{" : ", ", name);
    if (isfinite(v)) buf_double(b, v);
    else buf_puts(b, "null");
}

static void get_truth(void *ctx, struct http_request *r)
{
    struct target *t = ctx;
    struct plant_window w;
    struct buf b = BUF_INIT;
    catch_up(t);
    plant_window_take(t->plant, &w);
    number(&b, "seconds", w.seconds, true);
    number(&b, "p99_ms", w.p99_ms, false);
    number(&b, "p50_ms", w.p50_ms, false);
    number(&b, "queue", w.queue, false);
    number(&b, "gpu_util", w.gpu_util, false);
    number(&b, "throughput", w.throughput, false);
    number(&b, "fetch_ms", w.fetch_ms, false);
    number(&b, "offered", (double)w.offered, false);
    number(&b, "completed", (double)w.completed, false);
    buf_puts(&b, "}\n");
    http_reply_buf(r, 200, "application/json", &b);
}

static void post_world(void *ctx, struct http_request *r)
{
    struct target *t = ctx;
    const struct plant_world *world;
    struct plant_fault faults[PLANT_WORLD_FAULTS];
    struct err e = {0};
    catch_up(t);
    enum status st = plant_world_find(http_request_param(r, "world"), &world, &e);
    if (st != STATUS_OK) {
        http_reply_error(r, 404, "%s", e.text);
        return;
    }
    plant_faults_lift(t->plant);
    unsigned n = plant_world_faults(world, plant_now_us(t->plant), 0, faults);
    for (unsigned i = 0; i < n && st == STATUS_OK; i++) st = plant_fault_add(t->plant, &faults[i], &e);
    if (st != STATUS_OK) http_reply_error(r, 400, "%s", e.text);
    else http_reply(r, 200, "application/json", "{}\n", 3);
}

static const struct route rows[] = {
    {HTTP_GET, "/metrics", ROLE_NONE, get_metrics, "Prometheus text", NULL, NULL, NULL},
    {HTTP_GET, "/config/{knob}", ROLE_NONE, get_knob, "value of a knob, with ETag", NULL, NULL, NULL},
    {HTTP_PUT, "/config/{knob}", ROLE_NONE, put_knob, "set a knob; If-Match", NULL, NULL, NULL},
    {HTTP_GET, "/truth", ROLE_NONE, get_truth, "what users felt since the last call", NULL, NULL, NULL},
    {HTTP_POST, "/world/{world}", ROLE_NONE, post_world, "begin the faults of a named world", NULL, NULL, NULL},
};
static const struct route_table table = {rows, sizeof rows / sizeof rows[0]};

static void handle(void *ctx, struct http_request *r) { routes_dispatch(&((struct target *)ctx)->routes, r); }

static bool make_plant(struct target *t, const struct target_options *o)
{
    const struct plant_world *world;
    struct plant_config config;
    struct err e = {0};
    if (plant_world_find(o->world ? o->world : "clean", &world, &e) != STATUS_OK) {
        fprintf(stderr, "trimtab target: %s\n", e.text);
        return false;
    }
    plant_world_config(world, &config);
    t->plant = plant_new(&config, o->seed, &e);
    if (!t->plant) fprintf(stderr, "trimtab target: %s\n", e.text);
    return t->plant != NULL;
}

/* Written beside and renamed, so that whoever waits for it never reads half of it. */
static bool write_port(const char *path, const char *bound)
{
    if (!path) return true;
    struct buf temp = BUF_INIT;
    buf_printf(&temp, "%s.new", path);
    FILE *f = fopen(buf_text(&temp), "w");
    bool ok = f && fprintf(f, "%s\n", bound) > 0;
    if (f && fclose(f) != 0) ok = false;
    ok = ok && rename(buf_text(&temp), path) == 0;
    if (!ok) perror(path);
    buf_free(&temp);
    return ok;
}

static bool listen_on(struct target *t, const struct target_options *o)
{
    char bound[80];
    struct err e = {0};
    t->routes = (struct routes){.tables = &table, .n = 1, .ctx = t};
    t->server = http_server_new(t->base, http_limits_default(), handle, t);
    if (!t->server || http_server_listen(t->server, o->listen, bound, &e) != STATUS_OK) {
        fprintf(stderr, "trimtab target: %s\n", e.text);
        return false;
    }
    return write_port(o->port_file, bound);
}

int target_run(const struct target_options *o)
{
    struct target t = {.base = event_base_new()};
    struct timeval every = {0, STEP_US};
    bool ok = t.base && make_plant(&t, o);
    if (ok) {
        clock_start(&t.clock, o->speed, WALL_NONE);
        clock_now(&t.clock, &t.start, &t.origin);
        t.timer = event_new(t.base, -1, EV_PERSIST, on_timer, &t);
        t.term = evsignal_new(t.base, SIGTERM, on_term, &t);
        ok = t.timer && t.term && event_add(t.timer, &every) == 0 && event_add(t.term, NULL) == 0 && listen_on(&t, o);
    }
    if (ok) event_base_dispatch(t.base);
    http_server_free(t.server);
    if (t.timer) event_free(t.timer);
    if (t.term) event_free(t.term);
    plant_free(t.plant);
    if (t.base) event_base_free(t.base);
    return ok ? EXIT_GOOD : EXIT_FAIL;
}

int command_target(const struct args *a)
{
    struct target_options o = {.listen = args_text(a, "listen"), .port_file = args_text(a, "port-file"), .speed = 1, .seed = 1,
                               .world = args_text(a, "world")};
    const char *speed = args_text(a, "speed"), *seed = args_text(a, "seed");
    if (!args_want(a, 0, 0)) return EXIT_USAGE;
    if (!o.listen) o.listen = "127.0.0.1:9464";
    if (speed && (!num_parse_all(speed, strlen(speed), &o.speed) || !(o.speed >= 1 && o.speed <= 1000))) {
        fprintf(stderr, "trimtab target: --speed is a number from 1 to 1000, not '%s'\n", speed);
        return EXIT_USAGE;
    }
    if (seed && !num_parse_u64(seed, strlen(seed), &o.seed)) {
        fprintf(stderr, "trimtab target: --seed is a whole number, not '%s'\n", seed);
        return EXIT_USAGE;
    }
    return target_run(&o);
}
