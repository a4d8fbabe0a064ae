/* Logging in and out, the first admin, one's own password. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/access.h"
#include "api/v1_inside.h"
#include "base/check.h"
#include "base/text.h"

/* Verified against when there is no such user, so that the answer takes as long. */
static const char nobody[] = "$argon2id$v=19$m=32768,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

static struct access *access_of(void *ctx) { return &((struct api *)ctx)->access; }
static int64_t now_of(const struct access *a) { return a->port.now(a->port.ctx); }

static void session_json(struct api *api, struct http_request *r, const struct identity *who)
{
    const struct access *a = &api->access;
    struct api_runtime run = {0};
    struct v1_answer x;
    bool somebody = who->kind > IDENTITY_ANONYMOUS;
    api->runtime(api->ctx, &run);
    v1_begin(&x);
    emit_open(&x.e, "data", '{');
    emit_bool(&x.e, "authenticated", somebody);
    emit_text_or_null(&x.e, "name", somebody ? who->name : NULL);
    emit_text(&x.e, "role", auth_role_name(who->role));
    emit_text(&x.e, "kind", auth_kind_name(who->kind));
    emit_text_or_null(&x.e, "csrf", who->csrf);
    emit_wall(&x.e, "expires", (struct wall){who->expires});
    if (who->kind == IDENTITY_SESSION) emit_seconds(&x.e, "idle_seconds", a->web->session_idle);
    else emit_null(&x.e, "idle_seconds");
    emit_text_or_null(&x.e, "why", who->kind == IDENTITY_SESSION ? NULL : who->why);
    emit_bool(&x.e, "setup_open", !a->broken && auth_lists(a->auth)->user_n == 0);
    emit_bool(&x.e, "tls", gate_secure(a, r));
    emit_text(&x.e, "version", run.version);
    emit_close(&x.e, '}');
    v1_end(&x, r);
}

void login_get_session(void *ctx, struct http_request *r) { session_json(ctx, r, http_request_who(r)); }

static void set_cookie(const struct access *a, struct http_request *r, const char *value, struct span lives)
{
    char line[300];
    bool secure = gate_secure(a, r);
    snprintf(line, sizeof line, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s; Max-Age=%lld", gate_cookie_name(secure), value,
             secure ? "; Secure" : "", (long long)(lives.us / US_PER_S));
    http_reply_header(r, "Set-Cookie", line);
}

/* A session always begins with a secret of its own; whatever cookie came with the request ends. */
static void begin_session(struct api *api, struct http_request *r, const char *name)
{
    struct access *a = &api->access;
    char cookie[AUTH_SECRET_TEXT];
    struct identity who = {0}, old;
    struct access_change c = {.kind = ACCESS_PUT_SESSION}, end = {.kind = ACCESS_DROP_SESSION};
    int64_t now = now_of(a);
    if (gate_cookie(a, r, cookie) && auth_session_find(a->auth, cookie, now, false, &old)) {
        memcpy(end.session.key, old.session, sizeof old.session);
        auth_session_end(a->auth, old.session);
        access_write(a, &end, NULL, NULL);
    }
    if (!auth_session_new(a->auth, name, now, cookie, &c.session)) {
        v1_error(r, 503, "unavailable", "out of memory for a session", "");
        return;
    }
    access_write(a, &c, NULL, NULL);
    (void)auth_session_find(a->auth, cookie, now, true, &who);
    set_cookie(a, r, cookie, a->web->session_longest);
    sodium_memzero(cookie, sizeof cookie);
    session_json(api, r, &who);
}

/* ---- login ---- */

struct attempt { struct api *api; struct http_request *r; char name[ACCESS_NAME_MAX + 1]; };

static void login_drop(void *ctx)
{
    struct attempt *t = ctx;
    v1_error(t->r, 503, "unavailable", "the daemon ends", "");
    free(t);
}

static void login_done(void *ctx, const struct access_hashed *h)
{
    struct attempt *t = ctx;
    struct access *a = &t->api->access;
    const struct access_user *u = h->good ? auth_user(a->auth, t->name) : NULL;
    const char *address = http_request_address(t->r);
    a->port.told(a->port.ctx, u != NULL, u ? "login" : "login refused", t->name, address, "password");
    if (u) {
        struct access_change c = {.kind = ACCESS_PUT_USER, .user = *u};
        c.user.last_login = now_of(a);
        auth_good(a->auth, t->name, address);
        (void)auth_put_user(a->auth, &c.user);
        access_write(a, &c, NULL, NULL);
        begin_session(t->api, t->r, t->name);
    } else {
        v1_error(t->r, 401, "unauthorized", "name or password is wrong", "bad-login");
    }
    free(t);
}

static void busy(struct http_request *r, int status, int64_t wait_us, const char *reason)
{
    char seconds[24], text[120];
    long long s = (long long)((wait_us + US_PER_S - 1) / US_PER_S);
    snprintf(seconds, sizeof seconds, "%lld", s);
    snprintf(text, sizeof text, status == 429 ? "too many failed logins; wait %lld s"
             : "too many logins at once; ask again in %lld s", s);
    http_reply_header(r, "Retry-After", seconds);
    v1_error(r, status, status == 429 ? "too_many" : "unavailable", text, reason);
}

static bool name_and_password(struct http_request *r, struct v1_field f[2])
{
    f[0] = (struct v1_field){.key = "name", .most = ACCESS_NAME_MAX};
    f[1] = (struct v1_field){.key = "password", .most = AUTH_PASSWORD_MAX};
    if (!v1_body(r, f, 2)) return false;
    if (f[0].text[0] && f[1].text[0]) return true;
    v1_refuse(r, STATUS_INVALID, "a login has a name and a password", "");
    return false;
}

void login_post_login(void *ctx, struct http_request *r)
{
    struct access *a = access_of(ctx);
    struct v1_field f[2];
    if (!name_and_password(r, f)) return;
    if (a->broken) {
        v1_error(r, 503, "unavailable", "the list of users cannot be read; the daemon's log says why", "");
        return;
    }
    int64_t now = now_of(a), wait = auth_wait(a->auth, f[0].text, http_request_address(r), now);
    if (wait > 0) {
        busy(r, 429, wait, "locked");
        return;
    }
    const struct access_user *u = auth_user(a->auth, f[0].text);
    struct attempt *t = calloc(1, sizeof *t);
    CHECK_MEMORY(t);
    t->api = ctx;
    t->r = r;
    (void)text_copy(t->name, sizeof t->name, f[0].text);
    auth_try(a->auth, f[0].text, http_request_address(r), now);
    bool taken = access_hash(a, f[1].text, u ? u->hash : nobody, login_done, login_drop, t);
    sodium_memzero(f, sizeof f);
    if (taken) return;
    free(t);
    busy(r, 503, 2 * US_PER_S, "");
}

void login_post_logout(void *ctx, struct http_request *r)
{
    struct access *a = access_of(ctx);
    const struct identity *who = http_request_who(r);
    if (who->kind == IDENTITY_SESSION) {
        struct access_change c = {.kind = ACCESS_DROP_SESSION};
        memcpy(c.session.key, who->session, sizeof who->session);
        auth_session_end(a->auth, who->session);
        access_write(a, &c, NULL, NULL);
    }
    set_cookie(a, r, "", (struct span){0});
    v1_done(r, "logged out");
}

/* ---- the first admin, and one's own password ---- */

struct change { struct api *api; struct http_request *r; struct access_user user; bool first; };

static void change_drop(void *ctx)
{
    struct change *c = ctx;
    v1_error(c->r, 503, "unavailable", "the daemon ends", "");
    free(c);
}

static void change_written(void *ctx, enum status s, const struct err *e)
{
    struct change *c = ctx;
    struct access *a = &c->api->access;
    if (s != STATUS_OK) {
        v1_refuse(c->r, s, e->text, "");
    } else if (c->first) {
        begin_session(c->api, c->r, c->user.name);
    } else {
        struct access_change drop = {.kind = ACCESS_DROP_SESSIONS, .keep = true};
        const struct identity *who = http_request_who(c->r);
        (void)text_copy(drop.session.name, sizeof drop.session.name, c->user.name);
        memcpy(drop.session.key, who->session, sizeof who->session);
        auth_sessions_end(a->auth, c->user.name, who->session);
        access_write(a, &drop, NULL, NULL);
        v1_done(c->r, "the password is changed; other sessions have ended");
    }
    free(c);
}

static void change_hashed(void *ctx, const struct access_hashed *h)
{
    struct change *c = ctx;
    struct access *a = &c->api->access;
    struct access_change put = {.kind = ACCESS_PUT_USER};
    (void)text_copy(c->user.hash, sizeof c->user.hash, h->hash);
    c->user.changed = now_of(a);
    bool still = c->first ? auth_lists(a->auth)->user_n == 0 : auth_user(a->auth, c->user.name) != NULL;
    if (!h->good || !still || !auth_put_user(a->auth, &c->user)) {
        v1_error(c->r, still ? 503 : 409, still ? "unavailable" : "conflict",
                 still ? "out of memory for hashing" : "the list of users has changed meanwhile", "");
        free(c);
        return;
    }
    if (c->first) auth_setup_done(a->auth);
    a->port.told(a->port.ctx, true, c->first ? "first admin" : "password changed", c->user.name, http_request_address(c->r),
                 c->user.name);
    put.user = c->user;
    access_write(a, &put, change_written, c);
}

static void hash_for(struct change *c, const char *password)
{
    if (access_hash(&c->api->access, password, "", change_hashed, change_drop, c)) return;
    busy(c->r, 503, 2 * US_PER_S, "");
    free(c);
}

void login_post_setup(void *ctx, struct http_request *r)
{
    struct access *a = access_of(ctx);
    struct v1_field f[] = {{.key = "token", .most = 64}, {.key = "name", .most = ACCESS_NAME_MAX}, {.key = "password"}};
    if (!v1_body(r, f, 3)) return;
    const char *fault = auth_name_fault(f[1].text) ? auth_name_fault(f[1].text) : auth_password_fault(f[2].text, f[1].text);
    int64_t wait = auth_wait(a->auth, "", http_request_address(r), now_of(a));
    if (wait > 0) {
        busy(r, 429, wait, "locked");
    } else if (a->broken || !auth_setup_good(a->auth, f[0].text)) {
        auth_try(a->auth, "", http_request_address(r), now_of(a));
        v1_error(r, 401, "unauthorized", "this link is not valid any more; on the machine: trimtab user add NAME --role admin",
                 "bad-link");
    } else if (fault) {
        v1_refuse(r, STATUS_INVALID, fault, "");
    } else {
        struct change *c = calloc(1, sizeof *c);
        CHECK_MEMORY(c);
        *c = (struct change){.api = ctx, .r = r, .first = true, .user = {.role = ROLE_ADMIN, .last_login = now_of(a)}};
        c->user.created = c->user.last_login;
        (void)text_copy(c->user.name, sizeof c->user.name, f[1].text);
        hash_for(c, f[2].text);
    }
    sodium_memzero(f, sizeof f);
}

struct renewal { struct change *change; char password[AUTH_PASSWORD_MAX + 1]; };

static void renewal_drop(void *ctx)
{
    struct renewal *n = ctx;
    change_drop(n->change);
    sodium_memzero(n, sizeof *n);
    free(n);
}

static void renewal_checked(void *ctx, const struct access_hashed *h)
{
    struct renewal *n = ctx;
    struct change *c = n->change;
    struct access *a = &c->api->access;
    if (h->good) {
        auth_good(a->auth, c->user.name, http_request_address(c->r));
        hash_for(c, n->password);
    } else {
        v1_error(c->r, 401, "unauthorized", "the old password is wrong", "bad-login");
        free(c);
    }
    sodium_memzero(n, sizeof *n);
    free(n);
}

void login_post_password(void *ctx, struct http_request *r)
{
    struct access *a = access_of(ctx);
    const struct identity *who = http_request_who(r);
    const struct access_user *u = who->kind == IDENTITY_SESSION ? auth_user(a->auth, who->name) : NULL;
    struct v1_field f[] = {{.key = "old", .most = AUTH_PASSWORD_MAX}, {.key = "password", .most = AUTH_PASSWORD_MAX}};
    if (!v1_body(r, f, 2)) return;
    const char *fault = auth_password_fault(f[1].text, who->name);
    int64_t now = now_of(a), wait = auth_wait(a->auth, who->name, http_request_address(r), now);
    struct renewal *n = calloc(1, sizeof *n);
    struct change *c = calloc(1, sizeof *c);
    CHECK_MEMORY(n && c);
    if (!u || fault || wait > 0) {
        if (!u) v1_refuse(r, STATUS_STATE, "only who has logged in with a password has one to change", "");
        else if (fault) v1_refuse(r, STATUS_INVALID, fault, "");
        else busy(r, 429, wait, "locked");
        free(n);
        free(c);
    } else {
        *c = (struct change){.api = ctx, .r = r, .user = *u};
        n->change = c;
        (void)text_copy(n->password, sizeof n->password, f[1].text);
        auth_try(a->auth, who->name, http_request_address(r), now);
        if (!access_hash(a, f[0].text, u->hash, renewal_checked, renewal_drop, n)) {
            busy(r, 503, 2 * US_PER_S, "");
            free(n);
            free(c);
        }
    }
    sodium_memzero(f, sizeof f);
}
