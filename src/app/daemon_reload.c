/* Policies: reading one, keeping its text, exchanging it while running. A bad file changes nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/daemon.h"
#include "app/paths.h"
#include "base/text.h"
#include "config/load.h"
#include "config/tree.h"

static bool read_file(const char *path, struct buf *out, char *error, size_t cap)
{
    char chunk[16384];
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        snprintf(error, cap, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    while ((n = read(fd, chunk, sizeof chunk)) > 0 && out->len <= CONFIG_BYTES_MAX) buf_add(out, chunk, (size_t)n);
    if (n < 0) snprintf(error, cap, "cannot read %s: %s", path, strerror(errno));
    else if (out->len > CONFIG_BYTES_MAX) snprintf(error, cap, "%s is over 4 MiB", path);
    (void)close(fd);
    return n == 0 && out->len <= CONFIG_BYTES_MAX;
}

/* Warnings may stand before it. */
static void first_error(const struct config_diagnostics *diags, char *error, size_t cap)
{
    for (size_t i = 0; i < diags->n; i++) {
        const struct config_diagnostic *d = &diags->items[i];
        if (d->severity != CONFIG_ERROR) continue;
        snprintf(error, cap, "%s:%u:%u: %s", d->source->path, d->pos.line, d->pos.col, d->text);
        return;
    }
}

struct policy *daemon_policy_read(const char *path, char **ret_text, size_t *ret_len, char *error, size_t cap)
{
    struct buf text = BUF_INIT, said = BUF_INIT;
    struct config_diagnostics diags = CONFIG_DIAGNOSTICS_INIT;
    char presets[1024];
    struct config_options o = {.preset_dir = paths_presets(presets, sizeof presets), .now = {clock_real_us()}};
    struct policy *p = NULL;
    if (read_file(path, &text, error, cap)) {
        p = config_load(buf_text(&text), text.len, path, &o, &diags);
        config_diagnostics_sort(&diags);
        config_print_diagnostics(&said, &diags, false);
        if (!p) first_error(&diags, error, cap);
        if (said.len > 0 && write(STDERR_FILENO, buf_text(&said), said.len) < 0) { /* stderr is gone; the log line follows */
        }
    }
    config_diagnostics_free(&diags);
    buf_free(&said);
    if (p) *ret_text = buf_take(&text, ret_len);
    buf_free(&text);
    return p;
}

void daemon_policy_keep(struct daemon *d, const char *by)
{
    struct instant now;
    struct wall wall;
    struct err e;
    char note[256];
    clock_now(&d->clock, &now, &wall);
    store_budget(d->store, d->policy->metrics_bytes);
    if (store_policy_put(d->store, d->policy->revision, d->policy->path, d->policy_text ? d->policy_text : "", d->policy_len,
                         wall.us, &e) != STATUS_OK)
        log_line(LEVEL_WARN, "config", "the text of the configuration could not be kept", "error", e.text, NULL);
    snprintf(note, sizeof note, "%.180s: %u services", d->policy->path, d->policy->service_count);
    daemon_log_own(d, RECORD_POLICY, by, note);
    d->reload_ok = true;
    d->reload_at = clock_real_us();
}

bool daemon_speed_fits(const struct policy *p, double speed, struct err *e)
{
    for (uint16_t i = 0; i < p->service_count; i++) {
        const struct service_def *s = &p->services[i];
        struct span least = p->tick;
        for (uint16_t k = 0; k < s->signal_count; k++) least = span_min(least, s->signals[k].interval);
        for (uint16_t t = 0; t < s->target_count; t++) {
            if (s->targets[t].interval.us > 0) least = span_min(least, s->targets[t].interval);
        }
        if ((double)least.us / speed < 20000.0) {
            struct buf f = BUF_INIT;
            buf_fixed(&f, (double)least.us / 20000.0, 0);
            (void)err_set(e, STATUS_INVALID, "--speed: %s would be scraped more often than every 20 ms; the most is %s", s->name,
                          buf_text(&f));
            buf_free(&f);
            return false;
        }
    }
    return true;
}

static enum status refuse(struct daemon *d, struct err *e)
{
    d->reload_ok = false;
    d->failed_reloads++;
    (void)text_copy(d->reload_error, sizeof d->reload_error, e->text);
    daemon_notice(d, NOTICE_WARN, "the new configuration is not taken; the old one stays in force", e->text);
    return e->code;
}

static void say_what_needs_a_restart(struct daemon *d, const struct policy *was, const struct policy *now)
{
    if (!d->options.data && !text_eq(was->data_dir, now->data_dir))
        log_line(LEVEL_WARN, "config", "data: a new folder is used from the next start on", NULL);
    if (!d->options.listen && !text_eq(was->listen, now->listen))
        log_line(LEVEL_WARN, "config", "listen: a new address is used from the next start on", NULL);
    if (!text_eq(was->web.cert_file, now->web.cert_file) || !text_eq(was->web.key_file, now->web.key_file))
        log_line(LEVEL_WARN, "config", "web: other files for TLS are used from the next start on", NULL);
    if (!text_eq(was->origin, now->origin)) log_line(LEVEL_WARN, "config", "origin: the log keeps the one it began with", NULL);
}

enum status daemon_reload(struct daemon *d, const char *by, struct err *e)
{
    char error[512] = "", *text = NULL;
    size_t len = 0;
    struct policy *fresh = daemon_policy_read(d->options.config, &text, &len, error, sizeof error);
    if (!fresh) {
        (void)err_set(e, STATUS_INVALID, "%s", error);
        return refuse(d, e);
    }
    if (!daemon_speed_fits(fresh, d->options.speed, e)) {
        config_free(fresh);
        free(text);
        return refuse(d, e);
    }
    struct policy *was = d->policy;
    struct event ev = {.kind = EVENT_RELOAD, .service = ALL_SERVICES};
    ev.u.reload.policy = fresh;
    ev.u.reload.by = by;
    say_what_needs_a_restart(d, was, fresh);
    d->policy = fresh;                 /* effects of the exchange already speak of the new one */
    free(d->policy_text);
    d->policy_text = text;
    d->policy_len = len;
    notify_reload(d->notify);
    daemon_access_reload(d);           /* the old one's settings die with it */
    d->reloads++;
    d->reload_error[0] = '\0';
    daemon_step(d, &ev);               /* its MODE records come before the POLICY: see daemon_modes.c */
    daemon_modes_of_new(d, was, by);
    daemon_policy_keep(d, by);
    for (uint16_t i = 0; i < fresh->service_count; i++) {
        if (policy_service(was, fresh->services[i].name) == NO_INDEX) daemon_log_load_state(d, i);
    }
    config_free(was);
    daemon_log_second(d);              /* new services read their log at once */
    daemon_halt_check(d);
    log_line(LEVEL_INFO, "config", "configuration loaded", "revision", fresh->revision, "by", by, NULL);
    return STATUS_OK;
}
