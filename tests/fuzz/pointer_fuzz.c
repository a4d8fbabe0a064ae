/* Foreign JSON documents under a pointer: first line the pointer, the rest the document. What was written is read back. */
#include <stdint.h>
#include <string.h>

#include "adapt/pointer.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char pointer[256] = "", why[160] = "";
    struct knob_value v = {0}, back = {0};
    struct buf out = BUF_INIT;
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    size_t n = line ? (size_t)(line - data) : 0;
    if (!line || n >= sizeof pointer || memchr(data, '\0', n)) return 0;
    memcpy(pointer, data, n);
    const char *doc = (const char *)line + 1;
    size_t len = size - n - 1;
    if (!pointer_get(doc, len, pointer, &v, why)) {
        CHECK(why[0] != '\0');
        return 0;
    }
    if (pointer[0] && pointer_set(doc, len, pointer, v.bytes, v.len, &out, why)) {
        CHECK(pointer_get(buf_text(&out), out.len, pointer, &back, why));
        CHECK(knob_value_same(&v, &back));
    }
    buf_free(&out);
    return 0;
}
