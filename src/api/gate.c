/* The one place that says who may. Order: the address a request comes from, our own page or a foreign one, who it is, the
 * role, the proof against forged requests. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access.h"
#include "api/api.h"
#include "api/http_request.h"
#include "base/text.h"

#define BASIC_KEPT_US (300 * US_PER_S)

static void refuse(struct http_request *r, int status, const char *text, const char *reason)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "{\"status\":\"error\",\"errorType\":\"%s\",\"error\":", status == 401 ? "unauthorized" : "forbidden");
    buf_json_string(&b, text, strlen(text));
    buf_printf(&b, ",\"reason\":\"%s\"}\n", reason);
    if (status == 401) http_reply_header(r, "WWW-Authenticate", "Bearer");
    http_reply_buf(r, status, "application/json", &b);
}

/* ---- where from ---- */

static bool listed(const char *const *list, unsigned n, const char *word)
{
    for (unsigned i = 0; i < n; i++) {
        if (text_eq(list[i], word)) return true;
    }
    return false;
}

static bool by_proxy(const struct access *a, const struct http_request *r)
{
    return listed(a->web->proxies, a->web->proxy_count, http_request_peer(r));
}

/* The last address that a trusted proxy added: those before it may be anybody's words. */
static void find_address(const struct access *a, struct http_request *r)
{
    const char *list = by_proxy(a, r) ? http_request_header(r, "X-Forwarded-For") : NULL;
    const char *last = list ? strrchr(list, ',') : NULL;
    last = last ? last + 1 : list;
    while (last && *last == ' ') last++;
    if (last && last[0] && strspn(last, "0123456789abcdefABCDEF.:") == strlen(last))
        (void)text_copy(r->address, sizeof r->address, last);
}

bool gate_secure(const struct access *a, const struct http_request *r)
{
    return a->tls || (by_proxy(a, r) && text_eq(http_request_header(r, "X-Forwarded-Proto"), "https"));
}

/* A browser says on every change where the page is from. The host has to be the one that was asked. */
static bool origin_good(const struct access *a, const struct http_request *r)
{
    const char *origin = http_request_header(r, "Origin"), *host = http_request_header(r, "Host");
    const char *site = http_request_header(r, "Sec-Fetch-Site");
    if (site && !text_eq(site, "same-origin") && !text_eq(site, "none")) return false;
    if (!origin) return true;
    if (text_starts(origin, "https://")) origin += 8;
    else if (text_starts(origin, "http://") && !gate_secure(a, r)) origin += 7;
    else return false;
    return host && strcasecmp(origin, host) == 0;
}

static bool is_loopback(const char *peer) { return text_starts(peer, "127.") || text_eq(peer, "::1") || text_starts(peer,
        "::ffff:127."); }

bool gate_anonymous(const struct access *a, const struct http_request *r)
{
    static const char *const passed_on[] = {"X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via"};
    if (a->broken || a->web->anonymous == WEB_ANONYMOUS_NEVER) return false;
    if (a->web->anonymous == WEB_ANONYMOUS_ALWAYS) return true;
    for (unsigned i = 0; i < ARRAY_LEN(passed_on); i++) {
        if (http_request_header(r, passed_on[i])) return false;
    }
    return a->loopback && is_loopback(http_request_peer(r)) && auth_lists(a->auth)->user_n == 0 && a->basic.user_n == 0 &&
           a->web->proxy_count == 0;
}

/* ---- who ---- */

const char *gate_cookie_name(bool secure) { return secure ? "__Host-trimtab_session" : "trimtab_session"; }

bool gate_cookie(const struct access *a, const struct http_request *r, char out[AUTH_SECRET_TEXT])
{
    const char *at = http_request_header(r, "Cookie"), *name = gate_cookie_name(gate_secure(a, r));
    size_t n = strlen(name);
    while (at && *at) {
        while (*at == ' ' || *at == ';') at++;
        size_t len = strcspn(at, ";");
        if (len > n && strncmp(at, name, n) == 0 && at[n] == '=') {
            size_t value = len - n - 1;
            if (value >= AUTH_SECRET_TEXT) value = AUTH_SECRET_TEXT - 1;
            memcpy(out, at + n + 1, value);
            out[value] = '\0';
            return true;
        }
        at += len;
    }
    return false;
}

static void by_bearer(struct access *a, const char *secret, struct identity *who)
{
    if (auth_same(a->local, secret)) {
        *who = (struct identity){.kind = IDENTITY_LOCAL, .role = ROLE_ADMIN, .name = "local", .expires = ACCESS_NEVER};
    } else {
        (void)auth_token_find(a->auth, secret, a->port.now(a->port.ctx), who);
    }
}

/* What a proxy that we trust says; the role is the one of the user of that name, else the least. */
static bool by_proxy_user(struct access *a, const struct http_request *r, struct identity *who)
{
    const char *name = a->web->proxy_header && by_proxy(a, r) ? http_request_header(r, a->web->proxy_header) : NULL;
    if (!name || auth_name_fault(name)) return false;
    const struct access_user *u = auth_user(a->auth, name);
    *who = (struct identity){.kind = IDENTITY_PROXY, .role = u ? (enum role)u->role : ROLE_VIEWER, .expires = ACCESS_NEVER};
    (void)text_copy(who->name, sizeof who->name, name);
    auth_csrf(a->auth, name, who->csrf);
    return true;
}

/* ---- basic: name and password with every request; what was right stays known for five minutes ---- */

static const struct access_user *basic_user(const struct access *a, const char *name)
{
    for (unsigned i = 0; i < a->basic.user_n; i++) {
        if (text_eq(a->basic.users[i].name, name)) return &a->basic.users[i];
    }
    return NULL;
}

static bool basic_identity(struct access *a, const char *name, struct identity *who)
{
    const struct access_user *u = basic_user(a, name);
    if (!u) return false;
    *who = (struct identity){.kind = IDENTITY_BASIC, .role = (enum role)u->role, .expires = ACCESS_NEVER};
    (void)text_copy(who->name, sizeof who->name, name);
    auth_csrf(a->auth, name, who->csrf);
    return true;
}

static bool basic_known(struct access *a, const uint8_t hash[32], struct identity *who)
{
    int64_t now = a->port.now(a->port.ctx);
    for (unsigned i = 0; i < ACCESS_BASIC_SEEN; i++) {
        if (a->basic_seen[i].until > now && sodium_memcmp(a->basic_seen[i].hash, hash, 32) == 0)
            return basic_identity(a, a->basic_seen[i].name, who);
    }
    return false;
}

struct pending {
    struct api *api;
    const struct route *row;
    struct http_request *r;
    uint8_t hash[32];
    char name[ACCESS_NAME_MAX + 1];
};

static void decide(struct api *api, const struct route *row, struct http_request *r);

static void basic_done(void *ctx, const struct access_hashed *h)
{
    struct pending *p = ctx;
    struct access *a = &p->api->access;
    int64_t now = a->port.now(a->port.ctx);
    struct identity *who = http_request_who(p->r);
    if (h->good && basic_identity(a, p->name, who)) {
        auth_good(a->auth, p->name, http_request_address(p->r));
        unsigned i = a->basic_next++ % ACCESS_BASIC_SEEN;
        memcpy(a->basic_seen[i].hash, p->hash, sizeof p->hash);
        (void)text_copy(a->basic_seen[i].name, sizeof a->basic_seen[i].name, p->name);
        a->basic_seen[i].until = now + BASIC_KEPT_US;
    } else {
        who->why = "bad-login";
        a->port.told(a->port.ctx, false, "login refused", p->name, http_request_address(p->r), "basic");
    }
    decide(p->api, p->row, p->r);
    free(p);
}

static void basic_drop(void *ctx)
{
    struct pending *p = ctx;
    http_reply_error(p->r, 503, "the daemon ends");
    free(p);
}

static bool basic_split(const char *text, char name[ACCESS_NAME_MAX + 1], char password[AUTH_PASSWORD_MAX + 1])
{
    char plain[ACCESS_NAME_MAX + AUTH_PASSWORD_MAX + 4];
    size_t n = 0;
    if (sodium_base642bin((unsigned char *)plain, sizeof plain - 1, text, strlen(text), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0 || memchr(plain, '\0', n))
        return false;
    plain[n] = '\0';
    char *colon = strchr(plain, ':');
    if (!colon) return false;
    *colon = '\0';
    bool ok = text_copy(name, ACCESS_NAME_MAX + 1, plain) && text_copy(password, AUTH_PASSWORD_MAX + 1, colon + 1);
    sodium_memzero(plain, sizeof plain);
    return ok;
}

/* true: it is being found out, or was answered. */
static bool by_basic(struct api *api, const struct route *row, struct http_request *r, const char *text)
{
    struct access *a = &api->access;
    struct identity *who = http_request_who(r);
    struct pending *p = calloc(1, sizeof *p);
    char password[AUTH_PASSWORD_MAX + 1];
    uint8_t hash[32];
    auth_hash(text, hash);
    who->why = "bad-login";
    if (!p || basic_known(a, hash, who) || !basic_split(text, p->name, password) || !basic_user(a, p->name)) {
        free(p);
        return false;
    }
    int64_t now = a->port.now(a->port.ctx);
    p->api = api;
    p->row = row;
    p->r = r;
    memcpy(p->hash, hash, sizeof hash);
    if (auth_wait(a->auth, p->name, http_request_address(r), now) > 0) {
        who->why = "locked";
        free(p);
        return false;
    }
    auth_try(a->auth, p->name, http_request_address(r), now);
    bool taken = access_hash(a, password, basic_user(a, p->name)->hash, basic_done, basic_drop, p);
    sodium_memzero(password, sizeof password);
    if (taken) return true;
    free(p);
    http_reply_header(r, "Retry-After", "2");
    http_reply_error(r, 503, "too many logins at once; ask again in a moment");
    return true;
}

/* true: the answer comes later. */
static bool recognise(struct api *api, const struct route *row, struct http_request *r)
{
    struct access *a = &api->access;
    struct identity *who = http_request_who(r);
    const char *authorization = http_request_header(r, "Authorization");
    char cookie[AUTH_SECRET_TEXT];
    *who = (struct identity){.expires = ACCESS_NEVER};
    if (authorization && strncasecmp(authorization, "Bearer ", 7) == 0) {
        by_bearer(a, authorization + 7, who);
    } else if (authorization && strncasecmp(authorization, "Basic ", 6) == 0 && a->basic.user_n) {
        return by_basic(api, row, r, authorization + 6);
    } else if (authorization) {
        who->why = "bad-token";
    } else if (gate_cookie(a, r, cookie)) {
        (void)auth_session_find(a->auth, cookie, a->port.now(a->port.ctx), true, who);
        sodium_memzero(cookie, sizeof cookie);
    } else {
        (void)by_proxy_user(a, r, who);
    }
    if (who->kind == IDENTITY_NONE && !authorization && gate_anonymous(a, r)) {
        *who = (struct identity){.kind = IDENTITY_ANONYMOUS, .role = ROLE_VIEWER, .name = "anonymous", .expires = ACCESS_NEVER,
                                 .why = who->why};
    }
    return false;
}

/* ---- may it ---- */

static void ask_login(struct http_request *r, const struct identity *who)
{
    const char *why = who->why ? who->why : "no-session";
    if (text_eq(why, "session-ended")) refuse(r, 401, "the session has ended; log in again", why);
    else if (text_eq(why, "token-expired")) refuse(r, 401, "this token has expired; an admin can make a new one", why);
    else if (text_eq(why, "bad-token")) refuse(r, 401,
                                               "this token is not known; here it stands in the data folder's file token", why);
    else if (text_eq(why, "locked")) refuse(r, 401, "too many failed logins; wait a moment", why);
    else if (text_eq(why, "bad-login")) refuse(r, 401, "name or password is wrong", why);
    else refuse(r, 401, "log in, or send Authorization: Bearer with a token (here: the data folder's file token)", why);
}

static bool changes(const struct http_request *r) { return !(http_request_method(r) & (HTTP_GET | HTTP_HEAD)); }

static void decide(struct api *api, const struct route *row, struct http_request *r)
{
    const struct identity *who = http_request_who(r);
    const char *csrf = http_request_header(r, "X-CSRF-Token");
    char text[160];
    if (row->role == ROLE_NONE) {
        routes_run(&api->routes, row, r);
    } else if (who->kind == IDENTITY_NONE || (who->kind == IDENTITY_ANONYMOUS && who->role < row->role)) {
        ask_login(r, who);
    } else if (who->role < row->role) {
        snprintf(text, sizeof text, "this takes the role %s; %s has the role %s", auth_role_name(row->role), who->name,
                 auth_role_name(who->role));
        refuse(r, 403, text, "role");
    } else if (changes(r) && who->csrf[0] && !(csrf && auth_same(who->csrf, csrf))) {
        refuse(r, 403, "the header X-CSRF-Token is missing or not this session's; load the page again", "csrf");
    } else {
        routes_run(&api->routes, row, r);
    }
}

void gate_check(void *ctx, const struct route *row, struct http_request *r)
{
    struct api *api = ctx;
    find_address(&api->access, r);
    if (changes(r) && !origin_good(&api->access, r)) {
        refuse(r, 403, "this change was asked for by a page of another origin", "origin");
        return;
    }
    if (!recognise(api, row, r)) decide(api, row, r);
}
