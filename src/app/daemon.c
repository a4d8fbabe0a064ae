/* Life of the daemon: start in order, run, end without changing a knob. */
#include "app/daemon.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "app/sdnotify.h"
#include "base/check.h"
#include "base/text.h"
#include "config/load.h"
#include "loop/control.h"

#define STOP_PATIENCE_US 1500000     /* SIGTERM ends within 2 s, whatever the disk does */
#define RETAIN_EVERY_US US_PER_HOUR
#define MODULE_GOOD_TICKS 3          /* loop.md row 51 */
#define PAGES_TURNS 15               /* seconds: so long may a page lie about that nobody needs */

/* ---- stepping ---- */

static void arm(struct daemon *d, struct instant wake_at)
{
    if (!instant_is_set(wake_at)) {
        (void)evtimer_del(d->wake);
        return;
    }
    int64_t us = clock_wall_until(&d->clock, wake_at).us;
    struct timeval tv = {us / US_PER_S, us % US_PER_S};
    CHECK_MEMORY(evtimer_add(d->wake, &tv) == 0);   /* without it the loop would sleep for ever */
}

void daemon_step(struct daemon *d, struct event *e)
{
    struct update u;
    CHECK(!d->stepping);
    d->stepping = true;
    clock_now(&d->clock, &e->now, &e->wall);
    loop_step(d->loop, e, &u);
    daemon_effects(d, &u);
    if (!d->ending) arm(d, u.wake_at);
    d->stepping = false;
}

/* What still comes in while everything is closed is for the next start, which reads it from the log and the targets. */
static void deliver(void *ctx, struct event *e)
{
    struct daemon *d = ctx;
    if (!d->ending) daemon_step(d, e);
}

static const struct policy *policy_now(void *ctx) { return ((struct daemon *)ctx)->policy; }
static void time_now(void *ctx, struct instant *now, struct wall *wall) { clock_now(&((struct daemon *)ctx)->clock, now, wall); }

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct event e = {.kind = EVENT_TIME, .service = ALL_SERVICES};
    (void)fd;
    (void)what;
    daemon_step(arg, &e);
}

static void on_acks(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    daemon_log_poll(arg);
}

/* A stage that has been silent for three ticks freezes forward writes until it has been well for three. */
static void watch_modules(struct daemon *d)
{
    struct module_view m[MODULE_COUNT];
    struct event e = {.kind = EVENT_HEALTH, .service = ALL_SERVICES};
    const char *sick = NULL;
    loop_modules(d->loop, m);
    for (unsigned i = 0; i < MODULE_COUNT && !sick; i++) {
        if (!m[i].healthy) sick = module_name((enum module)i);
    }
    double ticks_a_second = d->options.speed / span_seconds(d->policy->tick);
    if (sick) d->module_good_seconds = 0;
    else d->module_good_seconds++;
    if (sick && !d->module_frozen) {
        d->module_frozen = true;
        e.u.health.set = FREEZE_MODULE;
        e.u.health.why = sick;
        daemon_notice(d, NOTICE_PAGE, "a stage is silent; no changes are made until it works again", sick);
        daemon_step(d, &e);
    } else if (d->module_frozen && !sick && d->module_good_seconds * ticks_a_second >= MODULE_GOOD_TICKS) {
        d->module_frozen = false;
        e.u.health.clear = FREEZE_MODULE;
        log_line(LEVEL_INFO, "watchdog", "all stages work again", NULL);
        daemon_step(d, &e);
    }
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    struct err e;
    (void)fd;
    (void)what;
    daemon_halt_check(d);
    daemon_log_second(d);
    watch_modules(d);
    if (clock_monotonic_us() - d->last_retain > RETAIN_EVERY_US) {
        struct instant now;
        struct wall wall;
        d->last_retain = clock_monotonic_us();
        clock_now(&d->clock, &now, &wall);
        (void)store_retain(d->store, wall.us, &e);
        (void)malloc_trim(0);         /* holes that reading the configuration and saving baselines leave */
    }
    daemon_access_second(d);
    if (d->pages) pages_rest(d->pages, d->pages_turn++ % PAGES_TURNS, PAGES_TURNS);
    sdnotify("WATCHDOG=1");           /* from here only: it proves that the loop turns */
}

/* ---- start ---- */

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
    struct daemon *d = arg;
    struct err e;
    (void)what;
    if (sig == SIGHUP) {
        (void)daemon_reload(d, "file (SIGHUP)", &e);
        return;
    }
    log_line(LEVEL_INFO, "daemon", "told to end; no setting is changed by that", "signal", sig == SIGTERM ? "SIGTERM" : "SIGINT",
             NULL);
    daemon_end(d, EXIT_GOOD);
}

void daemon_end(struct daemon *d, int exit_code)
{
    d->ending = true;                 /* daemon_may_send says no from here on */
    if (d->exit_code == EXIT_GOOD) d->exit_code = exit_code;
    if (d->base) (void)event_base_loopbreak(d->base);
}

static bool open_policy(struct daemon *d)
{
    char error[512] = "";
    struct err e;
    d->policy = daemon_policy_read(d->options.config, &d->policy_text, &d->policy_len, error, sizeof error);
    if (!d->policy) {
        log_line(LEVEL_ERROR, "config", "the configuration has errors; nothing was started", "error", error, NULL);
        return false;
    }
    if (!daemon_speed_fits(d->policy, d->options.speed, &e)) {
        log_line(LEVEL_ERROR, "config", e.text, NULL);
        return false;
    }
    const char *data = d->options.data ? d->options.data : d->policy->data_dir;
    const char *listen = d->options.listen ? d->options.listen : d->policy->listen;
    if (!text_copy(d->data, sizeof d->data, data ? data : "./trimtab-data") ||
        !text_copy(d->listen, sizeof d->listen, listen ? listen : "127.0.0.1:7373")) {
        log_line(LEVEL_ERROR, "config", "the data folder or the listen address is too long", NULL);
        return false;
    }
    return true;
}

static bool starts(bool done, const char *what)
{
    if (!done) log_line(LEVEL_ERROR, "daemon", "cannot start: out of memory or of file descriptors", "at", what, NULL);
    return done;
}

static bool make_ports(struct daemon *d)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct timeval second = {1, 0};
    d->base = event_base_new();
    d->adapt = (struct adapt){.base = d->base, .sink = {d, deliver}, .policy = policy_now, .now = time_now, .ctx = d};
    d->adapt.fetch = d->base ? fetch_new(d->base) : NULL;
    if (!d->adapt.fetch) return false;
    d->scrape = scrape_new(&d->adapt);
    d->prometheus = prometheus_new(&d->adapt);
    d->writer = writer_new(&d->adapt);
    d->notify = notify_new(&d->adapt);
    d->server = http_server_new(d->base, http_limits_default(), api_handle, &d->api);
    d->wake = evtimer_new(d->base, on_wake, d);
    d->second = event_new(d->base, -1, EV_PERSIST, on_second, d);
    d->acks = event_new(d->base, store_fd(d->store), EV_READ | EV_PERSIST, on_acks, d);
    if (!d->scrape || !d->prometheus || !d->writer || !d->notify || !d->server || !d->wake || !d->second || !d->acks) return false;
    for (unsigned i = 0; i < ARRAY_LEN(numbers); i++) {
        d->signals[i] = evsignal_new(d->base, numbers[i], on_signal, d);
        if (!d->signals[i] || event_add(d->signals[i], NULL) != 0) return false;
    }
    if (!daemon_remote_open(d)) return false;
    return event_add(d->second, &second) == 0 && event_add(d->acks, NULL) == 0 && daemon_halt_open(d);
}

static bool open_loop(struct daemon *d)
{
    struct instant now;
    struct wall wall;
    clock_start(&d->clock, d->options.speed, daemon_log_newest(d));
    daemon_up_open(d);
    clock_now(&d->clock, &now, &wall);
    struct err e;
    d->pages = pages_open(d->data, &e);
    if (!d->pages) log_line(LEVEL_WARN, "daemon", e.text, "so", "the whole past of all signals stays in memory", NULL);
    d->loop = loop_new(d->policy, now, wall,
                       (struct loop_options){.dry_run = d->options.dry_run, .alone = true, .save_every = SPAN_MIN(5),
                                             .cold = d->pages ? pages_memory(d->pages) : NULL,
                                             .speed = (uint64_t)d->options.speed});
    if (!starts(d->loop != NULL, "services")) return false;
    daemon_log_fold_all(d);
    return !d->ending;
}

/* DATA/listen tells where the daemon listens, for whoever asked for port 0; under TLS also by which key to know it. */
bool daemon_write_bound(const struct daemon *d)
{
    char path[1200], temp[1210];
    snprintf(path, sizeof path, "%s/listen", d->data);
    snprintf(temp, sizeof temp, "%s.new", path);
    FILE *f = fopen(temp, "we");
    if (!f) return false;
    struct http_tls_facts tls;
    http_tls_facts(d->tls, &tls);
    bool ok = (tls.on ? fprintf(f, "https://%s#%s\n", d->bound, tls.pin) : fprintf(f, "%s\n", d->bound)) > 0;
    ok = fclose(f) == 0 && ok;
    return ok && rename(temp, path) == 0;
}

static bool is_loopback(const char *address)
{
    size_t host = strcspn(address, ":");
    return (text_starts(address, "127.") && strspn(address, "0123456789.") == host) || text_starts(address, "localhost:") ||
           text_starts(address, "[::1]:");
}

static bool open_server(struct daemon *d)
{
    struct err e;
    d->api.access.loopback = is_loopback(d->listen);
    if (!d->api.access.loopback && !d->policy->web.cert_file && d->policy->web.proxy_count == 0) {
        log_line(LEVEL_ERROR, "api", "passwords would cross the network in the clear: listen on a loopback address, or give"
                                     " web.cert_file and web.key_file, or name the proxy with TLS in web.proxies", "listen",
                                         d->listen, NULL);
        return false;
    }
    if (!daemon_token(d)) return false;
    daemon_api_open(d);
    if (!daemon_access_open(d)) return false;
    if (http_server_listen(d->server, d->listen, d->bound, &e) != STATUS_OK) {
        log_line(LEVEL_ERROR, "api", e.text, NULL);
        return false;
    }
    if (daemon_write_bound(d)) return true;
    log_line(LEVEL_ERROR, "api", "cannot write the file listen in the data folder", "error", strerror(errno), NULL);
    return false;
}

static void say_start(struct daemon *d)
{
    char note[200], services[16];
    struct buf speed = BUF_INIT;
    buf_double(&speed, d->options.speed);
    snprintf(note, sizeof note, "version %s, listening on %s, clock speed %s%s", TRIMTAB_VERSION, d->bound, buf_text(&speed),
             d->options.dry_run ? ", dry run" : "");
    snprintf(services, sizeof services, "%u", d->policy->service_count);
    daemon_log_own(d, RECORD_START, "trimtab", note);
    daemon_modes_at_start(d);         /* before the POLICY: what a crash leaves out is seen again at the next start */
    daemon_policy_keep(d, "start");
    log_line(LEVEL_INFO, "daemon", "started", "version", TRIMTAB_VERSION, "listen", d->bound, "data", d->data, "services", services,
             "speed", buf_text(&speed), "dry_run", d->options.dry_run ? "true" : NULL, NULL);
    buf_free(&speed);
}

/* ---- end ---- */

static void on_patience_over(int sig)
{
    static const char text[] = "trimtab: the disk does not answer; ended without saving the newest baselines\n";
    (void)sig;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) { /* nothing is left to do */
    }
    _exit(EXIT_STORE);
}

static void save_states(struct daemon *d)
{
    struct instant now;
    struct wall wall;
    struct err e;
    clock_now(&d->clock, &now, &wall);
    for (uint16_t i = 0; i < d->policy->service_count; i++) {
        struct buf b = BUF_INIT;
        loop_service_state(d->loop, i, &b);
        if (buf_ok(&b) && b.len > 0) (void)store_state_put(d->store, d->policy->services[i].name, wall.us, b.data, b.len, &e);
        buf_free(&b);
    }
}

static void stop(struct daemon *d)
{
    struct itimerval patience = {.it_value = {STOP_PATIENCE_US / US_PER_S, STOP_PATIENCE_US % US_PER_S}};
    (void)signal(SIGALRM, on_patience_over);
    (void)setitimer(ITIMER_REAL, &patience, NULL);
    sdnotify("STOPPING=1");
    http_server_free(d->server);
    d->server = NULL;
    char path[1200];
    snprintf(path, sizeof path, "%s/listen", d->data);
    (void)unlink(path);
    daemon_log_keep_halts(d, 0);
    if (d->loop && d->ready && d->exit_code != EXIT_STORE) {
        save_states(d);
        daemon_log_own(d, RECORD_STOP, "trimtab", d->exit_code == EXIT_GOOD ? "told to end" : "ended by a fault");
    }
}

static void free_event(struct event *e)
{
    if (e) event_free(e);
}

static void close_all(struct daemon *d)
{
    d->ending = true;
    prometheus_end(d->prometheus);
    notify_end(d->notify);
    remote_write_end(d->remote);
    if (d->adapt.fetch) fetch_free(d->adapt.fetch);
    prometheus_free(d->prometheus);
    remote_write_free(d->remote);
    scrape_free(d->scrape);
    writer_free(d->writer);
    notify_free(d->notify);
    if (d->base) daemon_halt_close(d);
    free_event(d->wake);
    free_event(d->remote_timer);
    free_event(d->second);
    free_event(d->acks);
    for (unsigned i = 0; i < ARRAY_LEN(d->signals); i++) free_event(d->signals[i]);
    daemon_log_close(d);
    daemon_v1_close(d);
    daemon_past_free(d);
    loop_free(d->loop);
    pages_close(d->pages);
    free(d->policy_text);
    while (d->commands) {
        struct pending_command *c = d->commands;
        d->commands = c->next;
        if (c->done) c->done(c->done_ctx, STATUS_BUSY, "the daemon ends", "");
        free(c);
    }
    daemon_access_close(d);
    config_free(d->policy);
    if (d->base) event_base_free(d->base);
    free(d);
}

/* A halt or a reload that comes while nobody listens waits instead of ending the process. */
static void hold_signals(bool hold)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    (void)pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

int daemon_run(const struct daemon_options *o)
{
    hold_signals(true);
    struct daemon *d = calloc(1, sizeof *d);
    CHECK_MEMORY(d);
    d->options = *o;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);   /* a file-size limit is an error of the write, as a full disk is */
    bool up = starts(sodium_init() >= 0, "cryptography") && open_policy(d) && daemon_log_open(d) &&
              starts(make_ports(d), "network, timers and signals") && open_loop(d) && open_server(d);
    if (up) {
        say_start(d);
        daemon_access_say(d);
        daemon_notify_open(d);
        d->ready = true;
        hold_signals(false);
        daemon_halt_check(d);
        daemon_past_start(d);
        daemon_remote_arm(d);
        sdnotify("READY=1");
        (void)event_base_dispatch(d->base);
        hold_signals(true);
        stop(d);
    }
    int code = up ? d->exit_code : EXIT_FAIL;
    close_all(d);
    if (up) log_line(LEVEL_INFO, "daemon", "ended", NULL);
    return code;
}
