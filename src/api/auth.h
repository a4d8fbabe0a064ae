/* Who may do what: users, sessions, tokens and the lock against guessing, in memory. No I/O and no clock: `now` is
 * microseconds of the real clock since 1970; hashing of passwords happens elsewhere (api/login.c). */
#ifndef API_AUTH_H
#define API_AUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "api/identity.h"
#include "base/time.h"

#define AUTH_USERS_MAX 2000
#define AUTH_TOKENS_MAX 2000
#define AUTH_SESSIONS_MAX 4096
#define AUTH_SECRET_TEXT 65          /* 32 random bytes as hex, and a NUL */
#define AUTH_PASSWORD_MIN 8
#define AUTH_PASSWORD_MAX 256

struct auth_lists {
    struct access_user *users; unsigned user_n;
    struct access_token *tokens; unsigned token_n;
    struct access_session *sessions; unsigned session_n;
};
void auth_lists_free(struct auth_lists *l);
/* false: out of memory or too many. An entry of the same name, id or key is replaced. */
bool auth_lists_user(struct auth_lists *l, const struct access_user *u);
bool auth_lists_token(struct auth_lists *l, const struct access_token *t);
bool auth_lists_session(struct auth_lists *l, const struct access_session *x);

struct auth;
/* NULL: out of memory. idle, longest: how long a session lives unused, and at all. */
struct auth *auth_new(struct span idle, struct span longest);
void auth_free(struct auth *a);                                     /* takes NULL */
void auth_take(struct auth *a, struct auth_lists *l);               /* takes the lists over; what was seen of sessions stays */
void auth_limits(struct auth *a, struct span idle, struct span longest);
const struct auth_lists *auth_lists(const struct auth *a);

const struct access_user *auth_user(const struct auth *a, const char *name);    /* NULL: there is none */
unsigned auth_admins(const struct auth *a);
void auth_drop_user(struct auth *a, const char *name);              /* and its sessions */
bool auth_put_user(struct auth *a, const struct access_user *u);

/* A new session; `cookie` is the secret for the browser. false: out of memory. */
bool auth_session_new(struct auth *a, const char *name, int64_t now, char cookie[AUTH_SECRET_TEXT], struct access_session *ret);
/* Fills kind, role, name, csrf, session, expires; or why. Counts as use when `use`. */
bool auth_session_find(struct auth *a, const char *cookie, int64_t now, bool use, struct identity *ret);
bool auth_session_alive(const struct auth *a, const uint8_t key[32], int64_t now);
void auth_session_end(struct auth *a, const uint8_t key[32]);
void auth_sessions_end(struct auth *a, const char *name, const uint8_t *keep);
unsigned auth_sessions_of(const struct auth *a, const char *name);

/* A new token; `secret` is shown once. */
bool auth_token_new(struct auth *a, const char *name, enum role role, int64_t expires, const char *by, int64_t now,
                    char secret[AUTH_SECRET_TEXT + 3], struct access_token *ret);
bool auth_token_find(const struct auth *a, const char *secret, int64_t now, struct identity *ret);
bool auth_token_drop(struct auth *a, const char *id);

/* Guessing: after five failures from one address, or ten for one name, each further one waits twice as long, up to fifteen
 * minutes an address and one minute a name, so that nobody is locked out for long by somebody else. */
int64_t auth_wait(const struct auth *a, const char *name, const char *address, int64_t now);   /* microseconds; 0: may try */
void auth_try(struct auth *a, const char *name, const char *address, int64_t now);   /* counts as failed until auth_good */
void auth_good(struct auth *a, const char *name, const char *address);
int64_t auth_locked_until(const struct auth *a, const char *name, int64_t now);      /* ACCESS_NEVER: not locked */

/* The first admin, while there is no user: a secret that is valid once. */
void auth_setup_new(struct auth *a, char secret[AUTH_SECRET_TEXT]);
bool auth_setup_good(const struct auth *a, const char *secret);
void auth_setup_done(struct auth *a);

/* What proves that a change comes from our own page, for identities without a session (basic, proxy). */
void auth_csrf(const struct auth *a, const char *name, char out[65]);
bool auth_same(const char *a, const char *b);                       /* in constant time for equal lengths */
void auth_hash(const char *secret, uint8_t out[32]);
const char *auth_name_fault(const char *name);                      /* NULL: good */
const char *auth_password_fault(const char *password, const char *name);

#endif
