/* Offline proof files (C2SP tlog-proof): a record's place in a signed log, checkable with the verifier key alone. */
#ifndef AUDIT_PROOF_H
#define AUDIT_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "audit/note.h"
#include "audit/tree.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#define AUDIT_PROOF_FILE ".tlog-proof"   /* end of the file's name */

/* Appends the file. `extra` (may be NULL) goes along unproven; the record's own bytes make the file speak for itself.
 * `checkpoint` is the signed note, taken over byte for byte. */
void audit_proof_write(struct buf *out, uint64_t index, const struct audit_proof *proof, const void *extra,
                       size_t extra_len, const char *checkpoint, size_t checkpoint_len);

struct audit_proof_file {
    uint64_t index;
    struct audit_proof proof;
    const uint8_t *extra;            /* NULL when absent; else in the arena */
    size_t extra_len;
    const char *checkpoint;          /* into the file */
    size_t checkpoint_len;
};
enum status audit_proof_parse(struct arena *a, const char *file, size_t len, struct audit_proof_file *ret,
                              struct err *e);
/* The whole check: the file is well-formed, its checkpoint is signed by `v`, and the record is at that index under its
 * root. `record` NULL: the bytes in `extra` are taken for the record. */
enum status audit_proof_verify(struct arena *a, const char *file, size_t len, const void *record, size_t record_len,
                               const struct audit_verifier *v, struct audit_proof_file *ret,
                               struct audit_checkpoint *ret_log, struct err *e);

#endif
