/* Signed notes, key texts and proof files from outside: never a crash, and nothing is accepted that we did not sign. */
#include <stdlib.h>
#include <string.h>

#include "audit/proof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t seed[AUDIT_SEED_BYTES] = {1};
    struct arena a = ARENA_INIT;
    struct audit_signer s, parsed;
    struct audit_verifier v;
    struct audit_proof_file f;
    struct audit_checkpoint c;
    struct err e;
    const char *text = (const char *)data;
    if (audit_signer_make(&s, "fuzz.example/audit", seed, &e) != STATUS_OK) abort();
    if (audit_checkpoint_open(&c, text, size, &s.verifier, &e) == STATUS_OK) abort();
    if (audit_proof_verify(&a, text, size, "x", 1, &s.verifier, &f, &c, &e) == STATUS_OK) abort();
    struct buf again = BUF_INIT;
    if (audit_checkpoint_parse(&c, text, size, &e) == STATUS_OK) {
        audit_checkpoint_print(&again, &c);
        if (again.len != size || memcmp(again.data, data, size) != 0) abort();
    }
    buf_clear(&again);
    if (audit_verifier_parse(&v, text, size, &e) == STATUS_OK) {
        audit_verifier_print(&v, &again);
        if (again.len != size || memcmp(again.data, data, size) != 0) abort();
    }
    (void)audit_signer_parse(&parsed, text, size, &e);
    buf_free(&again);
    arena_free(&a);
    return 0;
}
