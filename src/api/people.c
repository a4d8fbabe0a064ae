/* Users and API tokens, for admins. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/access.h"
#include "api/v1_inside.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"

#define DAYS_MAX 3650

static struct access *access_of(void *ctx) { return &((struct api *)ctx)->access; }
static int64_t now_of(const struct access *a) { return a->port.now(a->port.ctx); }

static void told(struct access *a, struct http_request *r, const char *what, const char *name)
{
    a->port.told(a->port.ctx, true, what, name, http_request_address(r), http_request_who(r)->name);
}

/* ---- users ---- */

void people_get_users(void *ctx, struct http_request *r)
{
    const struct access *a = access_of(ctx);
    const struct auth_lists *l = auth_lists(a->auth);
    struct v1_answer x;
    v1_begin(&x);
    emit_open(&x.e, "data", '{');
    emit_open(&x.e, "users", '[');
    for (unsigned i = 0; i < l->user_n; i++) {
        const struct access_user *u = &l->users[i];
        emit_open(&x.e, NULL, '{');
        emit_text(&x.e, "name", u->name);
        emit_text(&x.e, "role", auth_role_name((enum role)u->role));
        emit_wall(&x.e, "created", (struct wall){u->created});
        emit_wall(&x.e, "changed", (struct wall){u->changed});
        emit_wall(&x.e, "last_login", (struct wall){u->last_login});
        emit_wall(&x.e, "locked_until", (struct wall){auth_locked_until(a->auth, u->name, now_of(a))});
        emit_int(&x.e, "sessions", auth_sessions_of(a->auth, u->name));
        emit_close(&x.e, '}');
    }
    emit_close(&x.e, ']');
    emit_close(&x.e, '}');
    v1_end(&x, r);
}

struct putting { struct api *api; struct http_request *r; struct access_user user; bool is_new; };

static void putting_drop(void *ctx)
{
    struct putting *p = ctx;
    v1_error(p->r, 503, "unavailable", "the daemon ends", "");
    free(p);
}

static void put_written(void *ctx, enum status s, const struct err *e)
{
    struct putting *p = ctx;
    if (s != STATUS_OK) v1_refuse(p->r, s, e->text, "");
    else v1_done(p->r, p->is_new ? "the user is added" : "the user is changed; its sessions have ended");
    free(p);
}

/* A changed user has to log in again. */
static void put_user(struct putting *p)
{
    struct access *a = &p->api->access;
    struct access_change put = {.kind = ACCESS_PUT_USER}, drop = {.kind = ACCESS_DROP_SESSIONS};
    p->user.changed = now_of(a);
    put.user = p->user;
    if ((p->is_new && auth_user(a->auth, p->user.name)) || !auth_put_user(a->auth, &p->user)) {
        v1_refuse(p->r, STATUS_EXISTS, p->is_new ? "there is a user of this name already" : "too many users", "exists");
        free(p);
        return;
    }
    told(a, p->r, p->is_new ? "user added" : "user changed", p->user.name);
    if (!p->is_new) {
        (void)text_copy(drop.session.name, sizeof drop.session.name, p->user.name);
        auth_sessions_end(a->auth, p->user.name, NULL);
        access_write(a, &drop, NULL, NULL);
    }
    access_write(a, &put, put_written, p);
}

static void put_hashed(void *ctx, const struct access_hashed *h)
{
    struct putting *p = ctx;
    if (h->good) {
        (void)text_copy(p->user.hash, sizeof p->user.hash, h->hash);
        put_user(p);
        return;
    }
    v1_error(p->r, 503, "unavailable", "out of memory for hashing", "");
    free(p);
}

static void hash_and_put(struct putting *p, const char *password)
{
    if (access_hash(&p->api->access, password, "", put_hashed, putting_drop, p)) return;
    v1_error(p->r, 503, "unavailable", "too many logins at once; ask again in a moment", "");
    free(p);
}

static bool role_of(struct http_request *r, const struct v1_field *f, int *ret)
{
    enum role role;
    if (auth_role_parse(f->text, &role)) {
        *ret = (int)role;
        return true;
    }
    v1_refuse(r, STATUS_INVALID, "role is viewer, operator or admin", "");
    return false;
}

void people_post_users(void *ctx, struct http_request *r)
{
    struct access *a = access_of(ctx);
    enum { NAME, ROLE, PASSWORD, FIELDS };
    struct v1_field f[FIELDS] = {[NAME] = {.key = "name", .most = ACCESS_NAME_MAX}, [ROLE] = {.key = "role", .most = 16},
                                 [PASSWORD] = {.key = "password", .most = AUTH_PASSWORD_MAX}};
    struct access_user u = {.created = now_of(a), .last_login = ACCESS_NEVER};
    if (!v1_body(r, f, FIELDS) || !role_of(r, &f[ROLE], &u.role)) return;
    const char *fault = auth_name_fault(f[NAME].text);
    if (!fault) fault = auth_password_fault(f[PASSWORD].text, f[NAME].text);
    if (fault) {
        v1_refuse(r, STATUS_INVALID, fault, "");
    } else if (auth_user(a->auth, f[NAME].text)) {
        v1_refuse(r, STATUS_EXISTS, "there is a user of this name already", "exists");
    } else {
        struct putting *p = calloc(1, sizeof *p);
        CHECK_MEMORY(p);
        *p = (struct putting){.api = ctx, .r = r, .user = u, .is_new = true};
        (void)text_copy(p->user.name, sizeof p->user.name, f[NAME].text);
        hash_and_put(p, f[PASSWORD].text);
    }
    sodium_memzero(f, sizeof f);
}

static const struct access_user *named(struct access *a, struct http_request *r)
{
    const struct access_user *u = auth_user(a->auth, http_request_param(r, "name"));
    if (!u) v1_refuse(r, STATUS_NOT_FOUND, "no such user", "");
    return u;
}

static bool last_admin(const struct access *a, struct http_request *r, const struct access_user *u)
{
    if (u->role != ROLE_ADMIN || auth_admins(a->auth) > 1) return false;
    v1_refuse(r, STATUS_CONFLICT, "this is the last admin; make another one first", "last-admin");
    return true;
}

void people_post_user(void *ctx, struct http_request *r)
{
    struct access *a = access_of(ctx);
    enum { ROLE, PASSWORD, FIELDS };
    struct v1_field f[FIELDS] = {[ROLE] = {.key = "role", .most = 16}, [PASSWORD] = {.key = "password", .most = AUTH_PASSWORD_MAX}};
    const struct access_user *u = named(a, r);
    if (!u || !v1_body(r, f, FIELDS)) return;
    struct access_user changed = *u;
    if (f[ROLE].set && !role_of(r, &f[ROLE], &changed.role)) return;
    if (changed.role != ROLE_ADMIN && last_admin(a, r, u)) return;
    const char *fault = f[PASSWORD].set ? auth_password_fault(f[PASSWORD].text, u->name) : NULL;
    if (fault || (!f[ROLE].set && !f[PASSWORD].set)) {
        v1_refuse(r, STATUS_INVALID, fault ? fault : "say a role, a password or both", "");
        return;
    }
    struct putting *p = calloc(1, sizeof *p);
    CHECK_MEMORY(p);
    *p = (struct putting){.api = ctx, .r = r, .user = changed};
    if (f[PASSWORD].set) hash_and_put(p, f[PASSWORD].text);
    else put_user(p);
    sodium_memzero(f, sizeof f);
}

static void on_written(void *ctx, enum status s, const struct err *e)
{
    if (s != STATUS_OK) v1_refuse(ctx, s, e->text, "");
    else v1_done(ctx, "removed");
}

void people_delete_user(void *ctx, struct http_request *r)
{
    struct access *a = access_of(ctx);
    const struct access_user *u = named(a, r);
    struct access_change c = {.kind = ACCESS_DROP_USER};
    if (!u || last_admin(a, r, u)) return;
    c.user = *u;
    told(a, r, "user removed", u->name);
    auth_drop_user(a->auth, c.user.name);
    access_write(a, &c, on_written, r);
}

/* ---- tokens ---- */

void people_get_tokens(void *ctx, struct http_request *r)
{
    const struct auth_lists *l = auth_lists(access_of(ctx)->auth);
    struct v1_answer x;
    v1_begin(&x);
    emit_open(&x.e, "data", '{');
    emit_open(&x.e, "tokens", '[');
    for (unsigned i = 0; i < l->token_n; i++) {
        const struct access_token *t = &l->tokens[i];
        emit_open(&x.e, NULL, '{');
        emit_text(&x.e, "id", t->id);
        emit_text(&x.e, "name", t->name);
        emit_text(&x.e, "role", auth_role_name((enum role)t->role));
        emit_wall(&x.e, "created", (struct wall){t->created});
        emit_text(&x.e, "created_by", t->by);
        emit_wall(&x.e, "expires", (struct wall){t->expires});
        emit_bool(&x.e, "expired", t->expires != ACCESS_NEVER && t->expires <= now_of(access_of(ctx)));
        emit_close(&x.e, '}');
    }
    emit_close(&x.e, ']');
    emit_close(&x.e, '}');
    v1_end(&x, r);
}

struct showing { struct http_request *r; struct access_token token; char secret[AUTH_SECRET_TEXT + 3]; };

static void token_written(void *ctx, enum status s, const struct err *e)
{
    struct showing *w = ctx;
    struct v1_answer x;
    if (s != STATUS_OK) {
        v1_refuse(w->r, s, e->text, "");
    } else {
        v1_begin(&x);
        emit_open(&x.e, "data", '{');
        emit_text(&x.e, "id", w->token.id);
        emit_text(&x.e, "token", w->secret);
        emit_wall(&x.e, "expires", (struct wall){w->token.expires});
        emit_close(&x.e, '}');
        v1_end(&x, w->r);
    }
    sodium_memzero(w, sizeof *w);
    free(w);
}

void people_post_tokens(void *ctx, struct http_request *r)
{
    struct access *a = access_of(ctx);
    enum { NAME, ROLE, DAYS, FIELDS };
    struct v1_field f[FIELDS] = {[NAME] = {.key = "name", .most = ACCESS_NAME_MAX}, [ROLE] = {.key = "role", .most = 16},
                                 [DAYS] = {.key = "days", .most = 8}};
    uint64_t days = 90;
    int role;
    if (!v1_body(r, f, FIELDS) || !role_of(r, &f[ROLE], &role)) return;
    const char *fault = auth_name_fault(f[NAME].text);
    if (!fault && f[DAYS].set && (!num_parse_u64(f[DAYS].text, strlen(f[DAYS].text), &days) || days == 0 || days > DAYS_MAX))
        fault = "days is a whole number from 1 to 3650, as text";
    struct showing *w = fault ? NULL : calloc(1, sizeof *w);
    struct access_change c = {.kind = ACCESS_PUT_TOKEN};
    int64_t now = now_of(a);
    if (!w || !auth_token_new(a->auth, f[NAME].text, (enum role)role, now + (int64_t)days * 24 * US_PER_HOUR,
                              http_request_who(r)->name, now, w->secret, &w->token)) {
        v1_refuse(r, fault ? STATUS_INVALID : STATUS_MEMORY, fault ? fault : "too many tokens", "");
        free(w);
        return;
    }
    w->r = r;
    c.token = w->token;
    told(a, r, "token added", w->token.name);
    access_write(a, &c, token_written, w);
}

void people_delete_token(void *ctx, struct http_request *r)
{
    struct access *a = access_of(ctx);
    struct access_change c = {.kind = ACCESS_DROP_TOKEN};
    const char *id = http_request_param(r, "id");
    if (!auth_token_drop(a->auth, id)) {
        v1_refuse(r, STATUS_NOT_FOUND, "no such token", "");
        return;
    }
    (void)text_copy(c.token.id, sizeof c.token.id, id);
    told(a, r, "token removed", id);
    access_write(a, &c, on_written, r);
}
