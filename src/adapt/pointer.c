#include "adapt/pointer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

static bool whole(const char *text, size_t len, struct knob_value *ret, char why[160])
{
    while (len > 0 && strchr(" \t\r\n", text[len - 1]) && text[len - 1]) len--;
    while (len > 0 && strchr(" \t\r\n", text[0]) && text[0]) text++, len--;
    if (len > 0 && len <= KNOB_BYTES_MAX && knob_value_set(ret, text, (unsigned)len)) return true;
    if (len == 0) snprintf(why, 160, "the value is empty");
    else snprintf(why, 160, "the value has %zu bytes; a knob has at most %d", len, KNOB_BYTES_MAX);
    return false;
}

static json_t *parse(const char *text, size_t len, char why[160])
{
    json_error_t e;
    if (len > POINTER_DOCUMENT_MAX) {
        snprintf(why, 160, "the document is over %zu KiB", POINTER_DOCUMENT_MAX >> 10);
        return NULL;
    }
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (!root) snprintf(why, 160, "not JSON: line %d column %d: %.90s", e.line, e.column, e.text);
    return root;
}

/* One reference token, unescaped (~1 is /, ~0 is ~). Returns what follows, or NULL when it is too long. */
static const char *token(const char *at, char *out, size_t cap)
{
    size_t n = 0;
    for (; *at && *at != '/'; at++) {
        char c = *at;
        if (c == '~' && (at[1] == '0' || at[1] == '1')) c = *++at == '0' ? '~' : '/';
        if (n + 1 >= cap) return NULL;
        out[n++] = c;
    }
    out[n] = '\0';
    return at;
}

static json_t *child(json_t *node, const char *key)
{
    uint64_t i;
    if (json_is_object(node)) return json_object_get(node, key);
    if (!json_is_array(node) || (key[0] == '0' && key[1]) || !num_parse_u64(key, strlen(key), &i)) return NULL;
    return json_array_get(node, (size_t)i);
}

/* The value at `pointer`; its container and key too, when asked. NULL: no such place. */
static json_t *find(json_t *root, const char *pointer, json_t **ret_in, char *key, size_t cap)
{
    json_t *node = root;
    while (*pointer == '/' && node) {
        pointer = token(pointer + 1, key, cap);
        if (!pointer) return NULL;
        *ret_in = node;
        node = child(node, key);
    }
    return *pointer ? NULL : node;
}

static bool scalar_text(const json_t *v, struct knob_value *ret, char why[160])
{
    char number[NUM_TEXT_MAX];
    if (json_is_string(v)) {
        size_t n = json_string_length(v);
        if (n <= KNOB_BYTES_MAX && knob_value_set(ret, json_string_value(v), (unsigned)n)) return true;
        snprintf(why, 160, "the value has %zu bytes; a knob has at most %d", n, KNOB_BYTES_MAX);
        return false;
    }
    if (json_is_real(v)) {
        size_t n = num_print(number, json_real_value(v));
        return knob_value_set(ret, number, (unsigned)n);
    }
    char *dumped = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    bool ok = dumped && whole(dumped, strlen(dumped), ret, why);
    if (!dumped) snprintf(why, 160, "out of memory");
    free(dumped);
    return ok;
}

bool pointer_get(const char *text, size_t len, const char *pointer, struct knob_value *ret, char why[160])
{
    char key[256];
    json_t *in = NULL;
    if (!pointer || !pointer[0]) return whole(text, len, ret, why);
    json_t *root = parse(text, len, why);
    if (!root) return false;
    const json_t *v = find(root, pointer, &in, key, sizeof key);
    if (!v) snprintf(why, 160, "the answer has nothing at %.100s", pointer);
    bool ok = v && scalar_text(v, ret, why);
    json_decref(root);
    return ok;
}

static json_t *replacement(const json_t *old, const char *bytes, size_t len, char why[160])
{
    if (json_is_string(old)) return json_stringn(bytes, len);
    json_t *v = parse(bytes, len, why);
    if (!v)
        snprintf(why, 160, "the value '%.*s' is not JSON, and the place does not hold a string", (int)(len < 60 ? len : 60),
                 bytes);
    return v;
}

static bool replace(json_t *in, const char *key, json_t *fresh)
{
    uint64_t i = 0;
    if (json_is_object(in)) return json_object_set_new(in, key, fresh) == 0;
    (void)num_parse_u64(key, strlen(key), &i);
    return json_array_set_new(in, (size_t)i, fresh) == 0;
}

bool pointer_set(const char *text, size_t len, const char *pointer, const char *bytes, size_t bytes_len, struct buf *out,
                 char why[160])
{
    char key[256];
    json_t *in = NULL;
    if (!pointer || !pointer[0]) {
        buf_add(out, bytes, bytes_len);
        return buf_ok(out);
    }
    json_t *root = parse(text, len, why);
    if (!root) return false;
    const json_t *old = find(root, pointer, &in, key, sizeof key);
    if (!old || !in) snprintf(why, 160, "the document has nothing at %.100s", pointer);
    json_t *fresh = old && in ? replacement(old, bytes, bytes_len, why) : NULL;
    bool ok = fresh && replace(in, key, fresh);
    char *dumped = ok ? json_dumps(root, JSON_INDENT(2)) : NULL;
    if (dumped) {
        buf_puts(out, dumped);
        buf_putc(out, '\n');
    }
    ok = dumped != NULL;
    free(dumped);
    json_decref(root);
    return ok && buf_ok(out);
}
