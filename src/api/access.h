/* Logins as a whole: the lists in memory (auth.h), the thread that hashes and writes, and what the configuration says. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "api/auth.h"
#include "api/routes.h"
#include "api/work.h"
#include "base/status.h"
#include "model/policy.h"

enum access_change_kind {
    ACCESS_PUT_USER, ACCESS_DROP_USER, ACCESS_PUT_TOKEN, ACCESS_DROP_TOKEN, ACCESS_PUT_SESSION, ACCESS_DROP_SESSION,
    ACCESS_DROP_SESSIONS             /* of `session.name`, but session.key when `keep` */
};
struct access_change {
    enum access_change_kind kind;
    bool keep;
    struct access_user user;         /* DROP_USER: its name */
    struct access_token token;       /* DROP_TOKEN: its id */
    struct access_session session;   /* DROP_SESSION: its key */
};

/* Filled by the daemon. */
struct access_port {
    void *ctx;
    int64_t (*now)(void *ctx);       /* real clock, microseconds since 1970 */
    /* For the daemon's log: "login", "login refused", "user added"... */
    void (*told)(void *ctx, bool good, const char *what, const char *name, const char *address, const char *by);
    /* On the thread beside the loop; may wait for the disk. */
    enum status (*load)(void *ctx, struct auth_lists *ret, struct err *e);
    bool (*changed)(void *ctx);      /* has another program written? */
    enum status (*write)(void *ctx, const struct access_change *c, struct err *e);
};

#define ACCESS_BASIC_SEEN 64

struct access {
    struct access_port port;
    struct auth *auth;
    struct work *work;
    const struct web_def *web;       /* of the policy in force */
    struct auth_lists basic;         /* of the basic-auth file: users only */
    struct { uint8_t hash[32]; int64_t until; char name[ACCESS_NAME_MAX + 1]; } basic_seen[ACCESS_BASIC_SEEN];
    unsigned basic_next;
    char local[72];                  /* the token of DATA/token */
    bool loopback, tls, broken;      /* broken: the list of users cannot be read: nobody logs in, nobody reads anonymously */
    bool looking;
    uint64_t changes;                /* counts what this process changed: an older list from disk must not undo it */
};

/* Reads the lists on the calling thread. Not OK: `broken`, all else works. */
enum status access_open(struct access *a, struct event_base *base, const struct access_port *port, struct err *e);
void access_close(struct access *a);
/* Each second: has the command line changed something? */
void access_second(struct access *a);

/* Writes on the thread, then tells in the loop thread. `done` NULL: nobody waits. */
void access_write(struct access *a, const struct access_change *c,
                  void (*done)(void *ctx, enum status s, const struct err *e), void *ctx);
/* Hashes (hash "") or verifies `password` on the thread. false: too many wait. The password is wiped. */
struct access_hashed { bool good; char hash[ACCESS_HASH_MAX]; };
bool access_hash(struct access *a, const char *password, const char *hash,
                 void (*done)(void *ctx, const struct access_hashed *h), void (*drop)(void *ctx), void *ctx);
/* On the calling thread: for the command line. false: out of memory. */
bool access_hash_now(const char *password, char out[ACCESS_HASH_MAX]);

struct api;
/* The guard of all routes: who is it, does it come from our page, may it? ctx is the struct api. */
void gate_check(void *ctx, const struct route *row, struct http_request *r);
/* Do cookies of this request travel encrypted? */
bool gate_secure(const struct access *a, const struct http_request *r);
const char *gate_cookie_name(bool secure);
/* The value of our cookie; false: there is none. */
bool gate_cookie(const struct access *a, const struct http_request *r, char out[AUTH_SECRET_TEXT]);
/* Is this request one that may read although nobody has logged in? */
bool gate_anonymous(const struct access *a, const struct http_request *r);

#endif
