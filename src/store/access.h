/* access.db: people, API tokens and open sessions, in a file of their own, so that the command line can change them while
 * the daemon runs and a login never waits for the audit. Not for the loop thread: every call may wait for the disk. */
#ifndef STORE_ACCESS_H
#define STORE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "model/access.h"

struct store_access;

/* Opens DIR/access.db, made (0600) when absent. Errors as store_open; BUSY only while another program writes. */
enum status store_access_open(struct store_access **ret, const char *dir, struct err *e);
void store_access_close(struct store_access *s);   /* takes NULL */

/* Durable when they return. */
enum status store_access_put_user(struct store_access *s, const struct access_user *u, struct err *e);
enum status store_access_drop_user(struct store_access *s, const char *name, struct err *e);   /* its sessions too */
enum status store_access_put_token(struct store_access *s, const struct access_token *t, struct err *e);
enum status store_access_drop_token(struct store_access *s, const char *id, struct err *e);
enum status store_access_put_session(struct store_access *s, const struct access_session *x, struct err *e);
enum status store_access_drop_session(struct store_access *s, const uint8_t key[32], struct err *e);
/* All sessions of one person but `keep` (NULL: none kept). */
enum status store_access_drop_sessions(struct store_access *s, const char *name, const uint8_t *keep, struct err *e);
enum status store_access_drop_expired(struct store_access *s, int64_t now, struct err *e);

struct store_access_sink {
    void *arg;
    void (*user)(void *arg, const struct access_user *u);
    void (*token)(void *arg, const struct access_token *t);
    void (*session)(void *arg, const struct access_session *x);
};
/* Everything, by name or age; a function may be NULL. */
enum status store_access_each(struct store_access *s, const struct store_access_sink *sink, struct err *e);
/* Has somebody else written since the last call (or since the opening)? */
bool store_access_changed(struct store_access *s);

#endif
