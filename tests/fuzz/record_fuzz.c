/* Audit records: whatever is accepted has exactly one byte form. */
#include <stdlib.h>
#include <string.h>

#include "audit/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_INIT;
    struct record r;
    struct buf out = BUF_INIT;
    struct err e;
    if (audit_decode(&a, (const char *)data, size, &r, &e) == STATUS_OK) {
        if (audit_encode(&out, &r, &e) != STATUS_OK) abort();
        if (out.len != size || memcmp(out.data, data, size) != 0) abort();
    }
    buf_free(&out);
    arena_free(&a);
    return 0;
}
