/* Between the files auth*.c. */
#ifndef API_AUTH_INSIDE_H
#define API_AUTH_INSIDE_H

#include "api/auth.h"

#define AUTH_FAILS_MAX 2048

/* When a session was last used. Not kept on disk: after a restart it counts from then. */
struct auth_seen { uint8_t key[32]; int64_t at; };

struct auth_fails { char who[ACCESS_NAME_MAX + 4]; unsigned n; int64_t last; };   /* "u:NAME" or "a:ADDRESS"; n 0: free */

struct auth {
    struct auth_lists lists;
    struct span idle, longest;
    uint8_t secret[32], setup[32];
    bool setup_open;
    struct auth_seen *seen;
    unsigned seen_n, seen_cap;
    struct auth_fails fails[AUTH_FAILS_MAX];
};

int64_t auth_seen_at(const struct auth *a, const uint8_t key[32]);   /* ACCESS_NEVER: not known */
void auth_secret(char out[AUTH_SECRET_TEXT]);

#endif
