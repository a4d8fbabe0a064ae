/* Heads of HTTP requests: whatever comes, the result points into the text and its strings end inside it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/http_parse.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(const char *s, const char *from, size_t len)
{
    CHECK(s >= from && s <= from + len);
    CHECK(strlen(s) <= (size_t)(from + len - s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_head h;
    const char *why = NULL;
    char *text = calloc(1, size + 1);
    CHECK(text != NULL);
    if (size) memcpy(text, data, size);
    int status = http_parse_head(text, size, &h, &why);
    CHECK(status == 0 || (status >= 400 && status < 600 && why && why[0]));
    CHECK(h.field_count <= HTTP_FIELDS_MAX);
    for (unsigned i = 0; i < h.field_count; i++) {
        inside(h.fields[i].name, text, size);
        inside(h.fields[i].value, text, size);
    }
    if (status == 0) {
        inside(h.path, text, size);
        inside(h.query, text, size);
        CHECK(h.path[0] == '/' && http_parse_field(&h, "Transfer-Encoding") == NULL);
        size_t before = strlen(h.path);
        if (http_parse_decode(h.path)) CHECK(strlen(h.path) <= before);
    }
    free(text);
    return 0;
}
