/* Logins: the list of users on disk, the basic-auth file, TLS, and the link for the first admin. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/access_file.h"
#include "app/daemon.h"
#include "base/text.h"

static int64_t now(void *ctx)
{
    (void)ctx;
    return clock_real_us();
}

static void told(void *ctx, bool good, const char *what, const char *name, const char *address, const char *by)
{
    (void)ctx;
    log_line(good ? LEVEL_INFO : LEVEL_WARN, "access", what, "name", name, "address", address, "by", by, NULL);
}

static enum status load(void *ctx, struct auth_lists *ret, struct err *e)
{
    struct daemon *d = ctx;
    if (!d->users) return err_set(e, STATUS_IO, "the list of users is not open");
    return access_file_load(d->users, ret, e);
}

static bool changed(void *ctx) { return store_access_changed(((struct daemon *)ctx)->users); }

static enum status write_change(void *ctx, const struct access_change *c, struct err *e)
{
    struct store_access *s = ((struct daemon *)ctx)->users;
    if (!s) return err_set(e, STATUS_IO, "the list of users is not open; the daemon's log says why");
    switch (c->kind) {
    case ACCESS_PUT_USER: return store_access_put_user(s, &c->user, e);
    case ACCESS_DROP_USER: return store_access_drop_user(s, c->user.name, e);
    case ACCESS_PUT_TOKEN: return store_access_put_token(s, &c->token, e);
    case ACCESS_DROP_TOKEN: return store_access_drop_token(s, c->token.id, e);
    case ACCESS_PUT_SESSION: return store_access_put_session(s, &c->session, e);
    case ACCESS_DROP_SESSION: return store_access_drop_session(s, c->session.key, e);
    case ACCESS_DROP_SESSIONS: return store_access_drop_sessions(s, c->session.name, c->keep ? c->session.key : NULL, e);
    }
    return STATUS_OK;
}

static void read_basic(struct daemon *d)
{
    const char *path = d->policy->web.basic_file;
    struct auth_lists fresh = {0};
    struct err e;
    if (path && access_file_basic(path, &fresh, &e) != STATUS_OK) {
        log_line(LEVEL_ERROR, "access", "the basic-auth file is not taken; what was read before stays", "error", e.text, NULL);
        auth_lists_free(&fresh);
        return;
    }
    auth_lists_free(&d->api.access.basic);
    memset(d->api.access.basic_seen, 0, sizeof d->api.access.basic_seen);
    d->api.access.basic = fresh;
}

static void say_certificate(struct daemon *d)
{
    struct http_tls_facts f;
    char until[32];
    http_tls_facts(d->tls, &f);
    struct buf b = BUF_INIT;
    wall_print(&b, (struct wall){f.not_after});
    snprintf(until, sizeof until, "%.30s", buf_text(&b));
    buf_free(&b);
    bool over = f.not_after <= clock_real_us();
    log_line(over ? LEVEL_ERROR : LEVEL_INFO, "tls", over ? "the certificate has expired: browsers will refuse it"
             : "certificate loaded",
             "subject", f.subject, "until", until, NULL);
}

bool daemon_access_open(struct daemon *d)
{
    struct access *a = &d->api.access;
    const struct web_def *w = &d->policy->web;
    const struct access_port port = {.ctx = d, .now = now, .told = told, .load = load, .changed = changed, .write = write_change};
    char secret[AUTH_SECRET_TEXT];
    struct err e;
    a->web = w;
    if (store_access_open(&d->users, d->data, &e) != STATUS_OK ||
        store_access_drop_expired(d->users, clock_real_us(), &e) != STATUS_OK)
        log_line(LEVEL_ERROR, "access", "nobody can log in; all else works", "error", e.text, NULL);
    if (access_open(a, d->base, &port, &e) != STATUS_OK && !(a->work && a->auth)) {
        log_line(LEVEL_ERROR, "access", e.text, NULL);
        return false;
    }
    read_basic(d);
    if (w->cert_file && http_tls_new(&d->tls, w->cert_file, w->key_file, &e) != STATUS_OK) {
        log_line(LEVEL_ERROR, "tls", e.text, NULL);
        return false;
    }
    if (d->tls) {
        http_server_tls(d->server, d->tls);
        say_certificate(d);
    }
    a->tls = d->tls != NULL;
    d->api.stream = stream_new(d->base, &d->api);
    if (!d->api.stream) {
        log_line(LEVEL_ERROR, "api", "cannot start: out of memory or of file descriptors", "at", "live events", NULL);
        return false;
    }
    if (!a->broken && auth_lists(a->auth)->user_n == 0) {
        auth_setup_new(a->auth, secret);
        (void)text_copy(d->setup, sizeof d->setup, secret);
    }
    return true;
}

void daemon_access_say(struct daemon *d)
{
    char link[200];
    if (!d->setup[0]) return;
    snprintf(link, sizeof link, "%s://%s/setup#%s", d->tls ? "https" : "http", d->bound, d->setup);
    log_line(LEVEL_INFO, "access", "no user exists yet; this link makes the first admin, once", "link", link, NULL);
    explicit_bzero(d->setup, sizeof d->setup);
}

void daemon_access_reload(struct daemon *d)
{
    const struct web_def *w = &d->policy->web;
    struct err e;
    d->api.access.web = w;
    stream_service(d->api.stream, ALL_SERVICES);
    daemon_chart_reset(d);
    d->api.routes.names = w->names;
    d->api.routes.name_n = w->name_count;
    auth_limits(d->api.access.auth, w->session_idle, w->session_longest);
    read_basic(d);
    if (!d->tls) return;
    if (http_tls_reload(d->tls, &e) != STATUS_OK) log_line(LEVEL_ERROR, "tls", "the old certificate stays", "error", e.text, NULL);
    else say_certificate(d);
}

void daemon_access_second(struct daemon *d)
{
    bool tried = false;
    struct err e;
    access_second(&d->api.access);
    daemon_check_second(d);
    if (!d->tls) return;
    enum status s = http_tls_look(d->tls, &tried, &e);
    if (!tried) return;
    if (s != STATUS_OK) log_line(LEVEL_ERROR, "tls", "the new certificate is not usable; the old one stays", "error", e.text, NULL);
    else say_certificate(d);
    (void)daemon_write_bound(d);
}

void daemon_access_close(struct daemon *d)
{
    daemon_check_close(d);
    stream_free(d->api.stream);
    daemon_chart_reset(d);
    access_close(&d->api.access);
    store_access_close(d->users);
    http_tls_free(d->tls);
    explicit_bzero(d->api.access.local, sizeof d->api.access.local);
}
