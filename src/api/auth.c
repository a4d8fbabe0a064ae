#include "api/auth.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/auth_inside.h"
#include "base/text.h"

static const char *const role_words[] = {"none", "viewer", "operator", "admin"};
static const char *const kind_words[] = {"none", "anonymous", "session", "token", "local", "basic", "proxy"};

const char *auth_role_name(enum role r) { return r <= ROLE_ADMIN ? role_words[r] : "none"; }
const char *auth_kind_name(enum identity_kind k) { return k <= IDENTITY_PROXY ? kind_words[k] : "none"; }

int auth_role_parse(const char *word, enum role *ret)
{
    for (int i = ROLE_VIEWER; i <= ROLE_ADMIN; i++) {
        if (!text_eq(word, role_words[i])) continue;
        *ret = (enum role)i;
        return 1;
    }
    return 0;
}

/* ---- lists ---- */

void auth_lists_free(struct auth_lists *l)
{
    free(l->users);
    free(l->tokens);
    free(l->sessions);
    *l = (struct auth_lists){0};
}

/* Room for one more of `size` bytes; grows by powers of two. */
static void *grow(void *list, unsigned n, unsigned most, size_t size)
{
    if (n >= most) return NULL;
    if (n != 0 && (n & (n - 1)) != 0) return list;
    return realloc(list, (n ? 2u * n : 1u) * size);
}

bool auth_lists_user(struct auth_lists *l, const struct access_user *u)
{
    for (unsigned i = 0; i < l->user_n; i++) {
        if (!text_eq(l->users[i].name, u->name)) continue;
        l->users[i] = *u;
        return true;
    }
    void *more = grow(l->users, l->user_n, AUTH_USERS_MAX, sizeof *l->users);
    if (!more) return false;
    l->users = more;
    l->users[l->user_n++] = *u;
    return true;
}

bool auth_lists_token(struct auth_lists *l, const struct access_token *t)
{
    void *more = grow(l->tokens, l->token_n, AUTH_TOKENS_MAX, sizeof *l->tokens);
    if (!more) return false;
    l->tokens = more;
    l->tokens[l->token_n++] = *t;
    return true;
}

bool auth_lists_session(struct auth_lists *l, const struct access_session *x)
{
    void *more = grow(l->sessions, l->session_n, AUTH_SESSIONS_MAX, sizeof *l->sessions);
    if (!more) return false;
    l->sessions = more;
    l->sessions[l->session_n++] = *x;
    return true;
}

struct auth *auth_new(struct span idle, struct span longest)
{
    struct auth *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->idle = idle;
    a->longest = longest;
    randombytes_buf(a->secret, sizeof a->secret);
    return a;
}

void auth_free(struct auth *a)
{
    if (!a) return;
    auth_lists_free(&a->lists);
    free(a->seen);
    sodium_memzero(a, sizeof *a);
    free(a);
}

void auth_limits(struct auth *a, struct span idle, struct span longest)
{
    a->idle = idle;
    a->longest = longest;
}

const struct auth_lists *auth_lists(const struct auth *a) { return &a->lists; }

void auth_take(struct auth *a, struct auth_lists *l)
{
    struct auth_seen *seen = calloc(l->session_n ? l->session_n : 1u, sizeof *seen);
    for (unsigned i = 0; seen && i < l->session_n; i++) {
        memcpy(seen[i].key, l->sessions[i].key, sizeof seen[i].key);
        seen[i].at = auth_seen_at(a, l->sessions[i].key);
    }
    auth_lists_free(&a->lists);
    free(a->seen);
    a->lists = *l;
    a->seen = seen;
    a->seen_n = a->seen_cap = seen ? l->session_n : 0;
    *l = (struct auth_lists){0};
}

/* ---- people ---- */

const struct access_user *auth_user(const struct auth *a, const char *name)
{
    for (unsigned i = 0; i < a->lists.user_n; i++) {
        if (text_eq(a->lists.users[i].name, name)) return &a->lists.users[i];
    }
    return NULL;
}

unsigned auth_admins(const struct auth *a)
{
    unsigned n = 0;
    for (unsigned i = 0; i < a->lists.user_n; i++) n += a->lists.users[i].role == ROLE_ADMIN;
    return n;
}

bool auth_put_user(struct auth *a, const struct access_user *u) { return auth_lists_user(&a->lists, u); }

void auth_drop_user(struct auth *a, const char *name)
{
    auth_sessions_end(a, name, NULL);
    for (unsigned i = 0; i < a->lists.user_n; i++) {
        if (!text_eq(a->lists.users[i].name, name)) continue;
        memmove(&a->lists.users[i], &a->lists.users[i + 1], (--a->lists.user_n - i) * sizeof *a->lists.users);
        return;
    }
}

/* ---- secrets ---- */

void auth_hash(const char *secret, uint8_t out[32]) { crypto_hash_sha256(out, (const unsigned char *)secret, strlen(secret)); }

void auth_secret(char out[AUTH_SECRET_TEXT])
{
    unsigned char bytes[32];
    randombytes_buf(bytes, sizeof bytes);
    (void)sodium_bin2hex(out, AUTH_SECRET_TEXT, bytes, sizeof bytes);
    sodium_memzero(bytes, sizeof bytes);
}

bool auth_same(const char *a, const char *b)
{
    size_t n = strlen(a);
    return n > 0 && n == strlen(b) && sodium_memcmp(a, b, n) == 0;
}

void auth_csrf(const struct auth *a, const char *name, char out[65])
{
    unsigned char bytes[32];
    crypto_generichash(bytes, sizeof bytes, (const unsigned char *)name, strlen(name), a->secret, sizeof a->secret);
    (void)sodium_bin2hex(out, 65, bytes, sizeof bytes);
}

void auth_setup_new(struct auth *a, char secret[AUTH_SECRET_TEXT])
{
    auth_secret(secret);
    auth_hash(secret, a->setup);
    a->setup_open = true;
}

bool auth_setup_good(const struct auth *a, const char *secret)
{
    uint8_t hash[32];
    auth_hash(secret, hash);
    return a->setup_open && a->lists.user_n == 0 && sodium_memcmp(hash, a->setup, sizeof hash) == 0;
}

void auth_setup_done(struct auth *a) { a->setup_open = false; }

/* ---- tokens ---- */

bool auth_token_new(struct auth *a, const char *name, enum role role, int64_t expires, const char *by, int64_t now,
                    char secret[AUTH_SECRET_TEXT + 3], struct access_token *ret)
{
    unsigned char id[8];
    struct access_token t = {.role = (int)role, .created = now, .expires = expires};
    memcpy(secret, "tt_", 3);
    auth_secret(secret + 3);
    auth_hash(secret, t.hash);
    randombytes_buf(id, sizeof id);
    (void)sodium_bin2hex(t.id, sizeof t.id, id, sizeof id);
    (void)text_copy(t.name, sizeof t.name, name);
    (void)text_copy(t.by, sizeof t.by, by);
    if (!auth_lists_token(&a->lists, &t)) return false;
    *ret = t;
    return true;
}

bool auth_token_find(const struct auth *a, const char *secret, int64_t now, struct identity *ret)
{
    uint8_t hash[32];
    auth_hash(secret, hash);
    for (unsigned i = 0; i < a->lists.token_n; i++) {
        const struct access_token *t = &a->lists.tokens[i];
        if (sodium_memcmp(hash, t->hash, sizeof hash) != 0) continue;
        if (t->expires != ACCESS_NEVER && t->expires <= now) {
            ret->why = "token-expired";
            return false;
        }
        *ret = (struct identity){.kind = IDENTITY_TOKEN, .role = (enum role)t->role, .expires = t->expires};
        (void)text_copy(ret->name, sizeof ret->name, t->name);
        return true;
    }
    ret->why = "bad-token";
    return false;
}

bool auth_token_drop(struct auth *a, const char *id)
{
    for (unsigned i = 0; i < a->lists.token_n; i++) {
        if (!text_eq(a->lists.tokens[i].id, id)) continue;
        memmove(&a->lists.tokens[i], &a->lists.tokens[i + 1], (--a->lists.token_n - i) * sizeof *a->lists.tokens);
        return true;
    }
    return false;
}

/* ---- what people choose ---- */

const char *auth_name_fault(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > ACCESS_NAME_MAX) return "a name has 1 to 60 characters";
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (i > 0 && strchr("._@-", c));
        if (!good) return "a name is made of letters, digits, '.', '_', '@' and '-', and begins with a letter or digit";
    }
    static const char *const taken[] = {"auto", "local", "anonymous", "trimtab", "token"};
    for (unsigned i = 0; i < ARRAY_LEN(taken); i++) {
        if (text_eq(name, taken[i])) return "this name stands for trimtab itself in the audit; choose another";
    }
    return NULL;
}

const char *auth_password_fault(const char *password, const char *name)
{
    static const char *const common[] = {"password", "12345678", "123456789", "1234567890", "qwertyuiop", "11111111", "88888888",
                                         "password1", "iloveyou", "sunshine", "princess", "football", "baseball", "superman",
                                         "admin123", "admin1234", "letmein1", "trimtab1", "qwerty123", "changeme", "00000000"};
    size_t n = strlen(password);
    if (n < AUTH_PASSWORD_MIN) return "a password has at least 8 characters";
    if (n > AUTH_PASSWORD_MAX) return "a password has at most 256 bytes";
    if (text_eq(password, name)) return "the password is the name; choose another";
    for (unsigned i = 0; i < ARRAY_LEN(common); i++) {
        if (text_eq(password, common[i])) return "this password is on every list of common passwords; choose another";
    }
    return NULL;
}
