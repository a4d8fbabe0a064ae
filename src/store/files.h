/* The plain files beside the databases: lock, signing key, public key, reserve. */
#ifndef STORE_FILES_H
#define STORE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/note.h"
#include "base/status.h"

#define STORE_PATH_MAX 1024

/* dir/name. LIMIT: too long. */
enum status store_path(char out[STORE_PATH_MAX], const char *dir, const char *name, struct err *e);
/* Makes the folder (not its parents) when absent, mode 0700. */
enum status store_make_dir(const char *dir, struct err *e);
/* Takes the folder for this process; the lock ends with the descriptor, however the process ends.
 * BUSY: another process has it; its pid is in the text. */
enum status store_lock(const char *dir, int *ret_fd, struct err *e);
/* Reads dir/audit.key. NOT_FOUND: there is none. DENIED: others may read it. */
enum status store_key_load(const char *dir, struct audit_signer *ret, struct err *e);
/* Makes dir/audit.key (0600, synced) from the seed, or from a random one when NULL. */
enum status store_key_make(const char *dir, const char *origin, const uint8_t *seed, struct audit_signer *ret,
                           struct err *e);
/* Writes dir/audit.pub when its content differs. */
enum status store_key_publish(const char *dir, const struct audit_verifier *v, struct err *e);
/* Reads a verifier key from a file like audit.pub. */
enum status store_key_read_public(const char *path, struct audit_verifier *ret, struct err *e);

/* The newest signed checkpoint as a file of its own: dir/checkpoint. Replaced whole, not synced: after a power cut it
 * may be an older one or none, never one that audit.db does not hold. */
enum status store_checkpoint_publish(const char *dir, const struct buf *note, struct err *e);
/* NOT_FOUND: there is none, or it is not a checkpoint signed by `v`. */
enum status store_checkpoint_published(const char *dir, const struct audit_verifier *v, struct audit_checkpoint *ret,
                                       struct err *e);

/* Fills dir/reserve to its size. false: no space for it now. */
bool store_reserve_take(const char *dir, uint64_t bytes);
/* Gives its space back. false: there was none. */
bool store_reserve_release(const char *dir);

#endif
