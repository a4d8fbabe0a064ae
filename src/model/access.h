/* Who may come in: people, API tokens and open sessions, as the store keeps them and the API uses them. Passwords and
 * tokens stand here only as hashes. Times: microseconds of the real clock since 1970; ACCESS_NEVER: not, or not yet. */
#ifndef MODEL_ACCESS_H
#define MODEL_ACCESS_H

#include <stdint.h>

#define ACCESS_NAME_MAX 60
#define ACCESS_HASH_MAX 128
#define ACCESS_NEVER INT64_MIN

struct access_user {
    char name[ACCESS_NAME_MAX + 1];
    int role;                        /* enum role of loop/event.h */
    char hash[ACCESS_HASH_MAX];      /* Argon2id, as libsodium prints it */
    int64_t created, changed, last_login;
};

struct access_token {
    char id[17];                     /* 16 hex digits, not secret */
    char name[ACCESS_NAME_MAX + 1];
    int role;
    uint8_t hash[32];                /* of the token */
    int64_t created, expires;        /* expires: ACCESS_NEVER: does not */
    char by[ACCESS_NAME_MAX + 1];
};

struct access_session {
    uint8_t key[32];                 /* hash of the cookie */
    char name[ACCESS_NAME_MAX + 1];
    int64_t created, expires;
};

#endif
