/* What the API asks of the daemon. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapt/secret.h"
#include "app/daemon.h"
#include "base/text.h"

static const struct policy *get_policy(void *ctx) { return ((struct daemon *)ctx)->policy; }

static void get_view(void *ctx, uint16_t service, struct arena *a, struct service_view *ret)
{
    loop_view(((struct daemon *)ctx)->loop, service, a, ret);
}

static void get_windows(void *ctx, struct arena *a, struct window_view **ret, uint32_t *ret_n)
{
    loop_windows(((struct daemon *)ctx)->loop, a, ret, ret_n);
}

/* A halt file outlives the process, so as long as it stands a resume would only be undone. */
static void take_command(void *ctx, uint16_t service, const struct command *c,
                         void (*done)(void *done_ctx, enum status s, const char *text, const char *detail), void *done_ctx)
{
    struct daemon *d = ctx;
    struct command copy = *c;
    char path[1200], text[1300];
    if (c->verb == COMMAND_RESUME && daemon_halt_file(d, service, path)) {
        snprintf(text, sizeof text, "the file %s still says halt; remove it first", path);
        done(done_ctx, STATUS_STATE, text, "halt-file");
        return;
    }
    daemon_command(d, service, &copy, done, done_ctx);
}

static void get_modules(void *ctx, struct module_view ret[MODULE_COUNT]) { loop_modules(((struct daemon *)ctx)->loop, ret); }

static bool get_ready(void *ctx, char why[200])
{
    struct daemon *d = ctx;
    struct store_health h;
    store_health(d->store, &h);
    if (!d->ready) snprintf(why, 200, "the log is being read");
    else if (h.state != STORE_GOOD && h.state != STORE_RESERVE)
        snprintf(why, 200, "the audit store is %s", store_state_name(h.state));
    else return true;
    return false;
}

static enum status do_reload(void *ctx, const char *by, struct err *e) { return daemon_reload(ctx, by, e); }

static void add(struct api_outcomes *o, const char *word, uint64_t count)
{
    if (o->n < API_OUTCOMES) o->items[o->n++] = (struct api_outcome){word, count};
}

static void loop_numbers(struct daemon *d, struct api_runtime *r)
{
    struct loop_counters c;
    loop_counters(d->loop, &c);
    r->ticks = c.ticks;
    r->unexpected = c.unexpected_events;
    r->actions = c.actions;
    r->rollbacks = c.rollbacks;
    r->incidents = c.incidents;
    memcpy(r->decisions, c.decisions, sizeof r->decisions);
    memcpy(r->verdicts, c.verdicts, sizeof r->verdicts);
    memcpy(r->feedback, d->feedback, sizeof r->feedback);
    r->services = c.services;
    r->in_flight = c.in_flight;
    r->awaiting = c.awaiting;
    r->halted = c.halted;
    r->with_person = c.with_person;
    r->loop_bytes = loop_bytes(d->loop);
}

static void receiver_numbers(struct daemon *d, struct api_runtime *r)
{
    for (unsigned i = 0; i < notify_receivers(d->notify) && i < API_RECEIVERS; i++) {
        struct notify_view v;
        notify_view(d->notify, i, &v);
        r->receivers[r->receiver_n++] = (struct api_receiver){
            .name = v.name, .type = v.type, .state = v.state, .error = v.error, .up = v.up, .sent = v.sent, .failed = v.failed,
            .dropped = v.dropped, .retried = v.retried, .waiting = v.waiting,
            .good_seconds = v.since.us < 0 ? -1 : span_seconds(v.since)};
    }
}

static void port_numbers(struct daemon *d, struct api_runtime *r)
{
    static const char *const classes[] = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};
    struct scrape_counters s;
    struct writer_counters w;
    struct notify_counters n;
    struct prometheus_counters q;
    struct remote_counters m;
    scrape_counters(d->scrape, &s);
    writer_counters(d->writer, &w);
    notify_counters(d->notify, &n);
    for (unsigned k = 0; k < PAGE_COUNT; k++) add(&r->scrapes, page_outcome_name((enum page_outcome)k), s.pages[k]);
    r->scrape_seconds = s.seconds;
    r->scrape_bytes = s.bytes;
    prometheus_counters(d->prometheus, &q);
    add(&r->queries, "ok", q.ok);
    add(&r->queries, "failed", q.failed);
    add(&r->queries, "refused", q.refused);
    add(&r->queries, "partial", q.partial);
    add(&r->queries, "not_sent", q.not_sent);
    add(&r->reads, "ok", w.reads - w.failed_reads);
    add(&r->reads, "failed", w.failed_reads);
    for (unsigned k = 0; k < ANSWER_COUNT; k++) add(&r->writes, answer_kind_name((enum answer_kind)k), w.answers[k]);
    for (unsigned k = 0; k < 3; k++) add(&r->notices, notify_level_name((enum notice)k), n.notices[k]);
    add(&r->notifications, "sent", n.sent);
    add(&r->notifications, "failed", n.failed);
    add(&r->notifications, "dropped", n.dropped);
    receiver_numbers(d, r);
    remote_write_counters(d->remote, &m);
    add(&r->remote_writes, "sent", m.sent);
    add(&r->remote_writes, "failed", m.failed);
    add(&r->remote_writes, "dropped", m.dropped);
    r->remote_waiting = m.waiting;
    r->notify_waiting = n.waiting;
    for (unsigned k = 2; k < 6; k++) add(&r->http_requests, classes[k], http_server_requests(d->server, k));
    r->http_connections = http_server_connections(d->server);
    r->listeners = stream_listeners(d->api.stream);
    r->listeners_dropped = stream_dropped(d->api.stream);
    struct http_tls_facts tls;
    http_tls_facts(d->tls, &tls);
    r->tls_ends = (double)tls.not_after / 1e6;
}

static void get_runtime(void *ctx, struct api_runtime *ret)
{
    struct daemon *d = ctx;
    struct store_health h;
    char why[200];
    struct store_feedback said = {0};
    store_health(d->store, &h);
    (void)store_feedback(d->store, &said, NULL);
    ret->false_alarms = said.false_alarms;
    ret->incidents_judged = said.all;
    ret->version = TRIMTAB_VERSION;
    ret->revision = d->policy->revision;
    ret->reload_error = d->reload_error;
    ret->store_state = store_state_name(h.state);
    ret->speed = d->options.speed;
    ret->start_seconds = (double)d->clock.real_start / 1e6;
    ret->reload_seconds = (double)d->reload_at / 1e6;
    ret->ready = get_ready(d, why);
    ret->dry_run = d->options.dry_run;
    ret->reload_ok = d->reload_ok;
    ret->audit_size = h.size;
    ret->audit_waiting = h.waiting;
    ret->points_dropped = h.dropped;
    ret->points_evicted = h.evicted;
    ret->metrics_used = h.used;
    ret->metrics_budget = h.budget;
    ret->append_seconds = &d->append_seconds;
    loop_numbers(d, ret);
    port_numbers(d, ret);
}

/* Whole or not at all: half a token would keep every later start from working. */
static bool make_token(const char *path, char *out, size_t cap)
{
    unsigned char bytes[32];
    char fresh[1210];
    randombytes_buf(bytes, sizeof bytes);
    (void)sodium_bin2hex(out, cap, bytes, sizeof bytes);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    (void)unlink(fresh);               /* left over from a start that did not come so far */
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return false;
    bool ok = write(fd, out, strlen(out)) == (ssize_t)strlen(out) && write(fd, "\n", 1) == 1 && fsync(fd) == 0;
    return close(fd) == 0 && ok && rename(fresh, path) == 0;
}

bool daemon_token(struct daemon *d)
{
    char path[1200], secret[SECRET_MAX];
    struct err e;
    snprintf(path, sizeof path, "%s/token", d->data);
    enum status s = secret_read(path, secret, &e);
    if (s == STATUS_NOT_FOUND) {
        if (make_token(path, d->api.access.local, sizeof d->api.access.local)) return true;
        (void)err_set(&e, STATUS_IO, "cannot write %s: %s", path, strerror(errno));
    } else if (s == STATUS_OK && strlen(secret) >= 32 && text_copy(d->api.access.local, sizeof d->api.access.local, secret)) {
        explicit_bzero(secret, sizeof secret);
        return true;
    } else if (s == STATUS_OK) {
        (void)err_set(&e, STATUS_INVALID, "%s: a token has 32 to 71 characters; remove the file to have one made", path);
    }
    log_line(LEVEL_ERROR, "api", "no token for the API", "error", e.text, NULL);
    return false;
}

void daemon_api_open(struct daemon *d)
{
    d->api.control = (struct control_port){.ctx = d, .policy = get_policy, .view = get_view, .windows = get_windows,
                                           .command = take_command};
    d->api.ctx = d;
    d->api.modules = get_modules;
    d->api.runtime = get_runtime;
    d->api.ready = get_ready;
    d->api.reload = do_reload;
    api_init(&d->api);
    d->api.routes.names = d->policy->web.names;
    d->api.routes.name_n = d->policy->web.name_count;
    daemon_v1_open(d);
}
