/* Request bodies: hostile until shown otherwise. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api/v1_inside.h"
#include "base/text.h"

#define DEPTH_MAX 32

static bool shallow(const char *s, size_t len)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        if (quoted) {
            if (s[i] == '\\') i++;
            else if (s[i] == '"') quoted = false;
        } else if (s[i] == '"') {
            quoted = true;
        } else if (s[i] == '{' || s[i] == '[') {
            if (++depth > DEPTH_MAX) return false;
        } else if (s[i] == '}' || s[i] == ']') {
            depth--;
        }
    }
    return true;
}

static bool control_free(const char *s)
{
    for (; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == 0x7f) return false;
    }
    return true;
}

static bool take(struct v1_field *f, const json_t *value, char *why, size_t cap)
{
    if (f->is_bool) {
        if (!json_is_boolean(value)) {
            snprintf(why, cap, "'%s' is true or false", f->key);
            return false;
        }
        f->on = json_is_true(value);
    } else {
        size_t most = f->most ? f->most : sizeof f->text - 1;
        if (!json_is_string(value) || json_string_length(value) > most || !control_free(json_string_value(value))) {
            snprintf(why, cap, "'%s' is a text of at most %zu bytes on one line", f->key, most);
            return false;
        }
        (void)text_copy(f->text, sizeof f->text, json_string_value(value));
    }
    f->set = true;
    return true;
}

static bool take_all(json_t *root, struct v1_field *fields, unsigned n, char *why, size_t cap)
{
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value) {
        const char *names[V1_FIELDS_MAX];
        unsigned i = 0;
        while (i < n && strcmp(fields[i].key, key) != 0) names[i] = fields[i].key, i++;
        if (i == n) {
            const char *near = text_nearest(key, names, n);
            if (near) snprintf(why, cap, "unknown key '%.60s'; did you mean '%s'?", key, near);
            else snprintf(why, cap, "unknown key '%.60s'", key);
            return false;
        }
        if (!take(&fields[i], value, why, cap)) return false;
    }
    return true;
}

bool v1_body(struct http_request *r, struct v1_field *fields, unsigned n)
{
    size_t len;
    const char *text = http_request_body(r, &len);
    char why[300] = "";
    json_error_t fault;
    if (len == 0) return true;
    if (!shallow(text, len)) {
        v1_refuse(r, STATUS_INVALID, "the body is nested more than 32 deep", "");
        return false;
    }
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &fault);
    if (!root) snprintf(why, sizeof why, "the body is not JSON: line %d, column %d: %.150s", fault.line, fault.column, fault.text);
    else if (!json_is_object(root)) snprintf(why, sizeof why, "the body is a JSON object");
    bool ok = why[0] == '\0' && take_all(root, fields, n, why, sizeof why);
    json_decref(root);
    if (!ok) v1_refuse(r, STATUS_INVALID, why, "");
    return ok;
}
