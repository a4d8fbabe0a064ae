/* Open sessions, and the lock against guessing. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/auth_inside.h"
#include "base/text.h"

/* ---- when a session was last used ---- */

static struct auth_seen *seen_of(const struct auth *a, const uint8_t key[32])
{
    for (unsigned i = 0; i < a->seen_n; i++) {
        if (memcmp(a->seen[i].key, key, 32) == 0) return &a->seen[i];
    }
    return NULL;
}

int64_t auth_seen_at(const struct auth *a, const uint8_t key[32])
{
    const struct auth_seen *s = seen_of(a, key);
    return s ? s->at : ACCESS_NEVER;
}

static void see(struct auth *a, const uint8_t key[32], int64_t now)
{
    struct auth_seen *s = seen_of(a, key);
    if (!s) {
        if (a->seen_n == a->seen_cap) {
            unsigned cap = a->seen_cap ? 2 * a->seen_cap : 16;
            struct auth_seen *more = realloc(a->seen, cap * sizeof *more);
            if (!more) return;
            a->seen = more;
            a->seen_cap = cap;
        }
        s = &a->seen[a->seen_n++];
        memcpy(s->key, key, 32);
    }
    s->at = now;
}

static void forget(struct auth *a, const uint8_t key[32])
{
    struct auth_seen *s = seen_of(a, key);
    if (s) *s = a->seen[--a->seen_n];
}

/* ---- sessions ---- */

static struct access_session *session_of(const struct auth *a, const uint8_t key[32])
{
    for (unsigned i = 0; i < a->lists.session_n; i++) {
        if (sodium_memcmp(a->lists.sessions[i].key, key, 32) == 0) return &a->lists.sessions[i];
    }
    return NULL;
}

static bool too_old(const struct auth *a, const struct access_session *x, int64_t now)
{
    int64_t seen = auth_seen_at(a, x->key);
    return x->expires <= now || now < x->created - 5 * US_PER_S || (seen != ACCESS_NEVER && now - seen > a->idle.us);
}

static void drop_at(struct auth *a, unsigned i)
{
    forget(a, a->lists.sessions[i].key);
    memmove(&a->lists.sessions[i], &a->lists.sessions[i + 1], (--a->lists.session_n - i) * sizeof *a->lists.sessions);
}

static void drop_old(struct auth *a, int64_t now)
{
    for (unsigned i = a->lists.session_n; i-- > 0;) {
        if (too_old(a, &a->lists.sessions[i], now)) drop_at(a, i);
    }
    if (a->lists.session_n == AUTH_SESSIONS_MAX) drop_at(a, 0);
}

bool auth_session_new(struct auth *a, const char *name, int64_t now, char cookie[AUTH_SECRET_TEXT], struct access_session *ret)
{
    struct access_session x = {.created = now, .expires = now + a->longest.us};
    drop_old(a, now);
    auth_secret(cookie);
    auth_hash(cookie, x.key);
    (void)text_copy(x.name, sizeof x.name, name);
    if (!auth_lists_session(&a->lists, &x)) return false;
    see(a, x.key, now);
    *ret = x;
    return true;
}

/* Follows from the cookie, so it needs no place of its own and dies with the session. */
static void csrf_of(const char *cookie, char out[65])
{
    static const unsigned char label[] = "trimtab csrf";
    unsigned char bytes[32];
    crypto_generichash(bytes, sizeof bytes, label, sizeof label, (const unsigned char *)cookie, AUTH_SECRET_TEXT - 1);
    (void)sodium_bin2hex(out, 65, bytes, sizeof bytes);
}

bool auth_session_find(struct auth *a, const char *cookie, int64_t now, bool use, struct identity *ret)
{
    uint8_t key[32];
    if (strlen(cookie) != AUTH_SECRET_TEXT - 1) {
        ret->why = "session-ended";
        return false;
    }
    auth_hash(cookie, key);
    const struct access_session *x = session_of(a, key);
    const struct access_user *u = x ? auth_user(a, x->name) : NULL;
    if (!u || too_old(a, x, now)) {
        if (x) auth_session_end(a, key);
        ret->why = "session-ended";
        return false;
    }
    if (use) see(a, key, now);
    *ret = (struct identity){.kind = IDENTITY_SESSION, .role = (enum role)u->role, .expires = x->expires};
    memcpy(ret->session, key, 32);
    (void)text_copy(ret->name, sizeof ret->name, u->name);
    csrf_of(cookie, ret->csrf);
    return true;
}

bool auth_session_alive(const struct auth *a, const uint8_t key[32], int64_t now)
{
    const struct access_session *x = session_of(a, key);
    return x && auth_user(a, x->name) && !too_old(a, x, now);
}

void auth_session_end(struct auth *a, const uint8_t key[32])
{
    const struct access_session *x = session_of(a, key);
    if (x) drop_at(a, (unsigned)(x - a->lists.sessions));
}

void auth_sessions_end(struct auth *a, const char *name, const uint8_t *keep)
{
    for (unsigned i = a->lists.session_n; i-- > 0;) {
        const struct access_session *x = &a->lists.sessions[i];
        if (text_eq(x->name, name) && !(keep && memcmp(x->key, keep, 32) == 0)) drop_at(a, i);
    }
}

unsigned auth_sessions_of(const struct auth *a, const char *name)
{
    unsigned n = 0;
    for (unsigned i = 0; i < a->lists.session_n; i++) n += text_eq(a->lists.sessions[i].name, name);
    return n;
}

/* ---- guessing ---- */

#define FREE_ADDRESS 5
#define FREE_NAME 10
#define FORGET_US (INT64_C(3600) * US_PER_S)

static void key_of(char out[ACCESS_NAME_MAX + 4], char kind, const char *who) { snprintf(out, ACCESS_NAME_MAX + 4, "%c:%s", kind,
                                                                                         who); }

static const struct auth_fails *fails_of(const struct auth *a, char kind, const char *who)
{
    char key[ACCESS_NAME_MAX + 4];
    key_of(key, kind, who);
    for (unsigned i = 0; i < AUTH_FAILS_MAX; i++) {
        if (a->fails[i].n && text_eq(a->fails[i].who, key)) return &a->fails[i];
    }
    return NULL;
}

/* A place for it: its own, a free one, else the one that failed longest ago. */
static struct auth_fails *place_of(struct auth *a, char kind, const char *who)
{
    struct auth_fails *best = &a->fails[0];
    const struct auth_fails *own = fails_of(a, kind, who);
    if (own) return &a->fails[own - a->fails];
    for (unsigned i = 0; i < AUTH_FAILS_MAX; i++) {
        if (a->fails[i].n == 0) {
            best = &a->fails[i];
            break;
        }
        if (a->fails[i].last < best->last) best = &a->fails[i];
    }
    *best = (struct auth_fails){0};
    key_of(best->who, kind, who);
    return best;
}

static int64_t ends(const struct auth_fails *f, unsigned free, int64_t most)
{
    if (!f || f->n < free) return ACCESS_NEVER;
    unsigned doubles = f->n - free < 20 ? f->n - free : 20;
    int64_t wait = US_PER_S << doubles;
    return f->last + (wait < most ? wait : most);
}

int64_t auth_locked_until(const struct auth *a, const char *name, int64_t now)
{
    int64_t end = ends(fails_of(a, 'u', name), FREE_NAME, 60 * US_PER_S);
    return end > now ? end : ACCESS_NEVER;
}

int64_t auth_wait(const struct auth *a, const char *name, const char *address, int64_t now)
{
    int64_t by_name = ends(fails_of(a, 'u', name), FREE_NAME, 60 * US_PER_S);
    int64_t by_address = ends(fails_of(a, 'a', address), FREE_ADDRESS, 900 * US_PER_S);
    int64_t end = by_name > by_address ? by_name : by_address;
    return end > now ? end - now : 0;
}

static void count(struct auth *a, char kind, const char *who, int64_t now)
{
    struct auth_fails *f = place_of(a, kind, who);
    if (f->n && now - f->last > FORGET_US) f->n = 0;
    f->n++;
    f->last = now;
}

void auth_try(struct auth *a, const char *name, const char *address, int64_t now)
{
    count(a, 'u', name, now);
    count(a, 'a', address, now);
}

void auth_good(struct auth *a, const char *name, const char *address)
{
    place_of(a, 'u', name)->n = 0;
    place_of(a, 'a', address)->n = 0;
}
