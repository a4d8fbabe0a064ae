/* Signed notes and checkpoints (C2SP signed-note, tlog-checkpoint), with Ed25519 keys in the text forms that
 * other verifiers read. A checkpoint says: the log of this name has this many records and this root. */
#ifndef AUDIT_NOTE_H
#define AUDIT_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/tree.h"
#include "base/buf.h"
#include "base/status.h"

#define AUDIT_NAME_MAX 200           /* bytes of a key name (= origin of the log) */
#define AUDIT_NOTE_MAX 1000000       /* bytes of a note that is read at all */
#define AUDIT_SIGNATURES_MAX 100     /* more lines are malformed */
#define AUDIT_SEED_BYTES 32

struct audit_verifier {
    char name[AUDIT_NAME_MAX + 1];
    uint8_t id[4];                   /* first bytes of SHA-256(name LF 0x01 public) */
    uint8_t public[32];
};

struct audit_signer {
    struct audit_verifier verifier;
    uint8_t secret[64];              /* wipe with audit_signer_wipe */
};

/* Non-empty UTF-8 without space (any Unicode space), control character or '+'. */
bool audit_name_valid(const char *name);
/* INVALID: not a valid name. */
enum status audit_signer_make(struct audit_signer *ret, const char *name, const uint8_t seed[AUDIT_SEED_BYTES],
                              struct err *e);
enum status audit_verifier_make(struct audit_verifier *ret, const char *name, const uint8_t public[32], struct err *e);
void audit_signer_wipe(struct audit_signer *s);

/* NAME+ID+KEY, one line without its end. */
void audit_verifier_print(const struct audit_verifier *v, struct buf *out);
enum status audit_verifier_parse(struct audit_verifier *ret, const char *text, size_t len, struct err *e);
/* PRIVATE+KEY+NAME+ID+SEED: a secret. */
void audit_signer_print(const struct audit_signer *s, struct buf *out);
enum status audit_signer_parse(struct audit_signer *ret, const char *text, size_t len, struct err *e);

/* Appends the note: body (ends in LF; UTF-8 without control characters but LF), empty line, signature line.
 * INVALID when the body is none of that. */
enum status audit_note_sign(struct buf *out, const char *body, size_t len, const struct audit_signer *s, struct err *e);
/* Checks a note with one known key: lines of other keys are ignored, one bad signature of this key refuses the whole
 * note, and so does none of it. *ret_body = length of the body, which the note begins with.
 * INVALID: not a note. DENIED: a note, but not signed by this key. */
enum status audit_note_check(const char *note, size_t len, const struct audit_verifier *v, size_t *ret_body,
                             struct err *e);

struct audit_checkpoint {
    char origin[AUDIT_NAME_MAX + 1];
    uint64_t size;
    struct audit_hash root;
};

/* The three lines: origin, size, root. */
void audit_checkpoint_print(struct buf *out, const struct audit_checkpoint *c);
/* Exactly three lines, canonical in every byte; extension lines are refused: nobody would audit them. */
enum status audit_checkpoint_parse(struct audit_checkpoint *ret, const char *body, size_t len, struct err *e);
enum status audit_checkpoint_sign(struct buf *out, uint64_t size, const struct audit_hash *root,
                                  const struct audit_signer *s, struct err *e);
/* Note checked, body parsed, origin equal to the key's name. */
enum status audit_checkpoint_open(struct audit_checkpoint *ret, const char *note, size_t len,
                                  const struct audit_verifier *v, struct err *e);

/* Standard base64 with padding, as all texts here use it. Decode takes only the canonical form and fails when
 * the bytes do not fit; *ret_len is their number. */
void audit_base64(struct buf *out, const void *bytes, size_t len);
bool audit_base64_decode(const char *text, size_t len, void *out, size_t cap, size_t *ret_len);

#endif
