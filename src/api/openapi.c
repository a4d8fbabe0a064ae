#include "api/openapi.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/identity.h"
#include "api/route_table.h"
#include "base/check.h"
#include "base/text.h"

#include <schemas_bytes.h>

struct file { const char *name; const unsigned char *bytes; size_t len; };
static const struct file files[] = {API_SCHEMAS};

static json_t *ref(const char *kind, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "#/components/%s/%s", kind, name);
    return json_pack("{s:s}", "$ref", path);
}

/* ---- one operation ---- */

static void add_parameters(json_t *list, const struct route *row)
{
    char name[80];
    for (const char *at = strchr(row->pattern, '{'); at; at = strchr(at + 1, '{')) {
        snprintf(name, sizeof name, "path_%.*s", (int)strcspn(at + 1, "}"), at + 1);
        json_array_append_new(list, ref("parameters", name));
    }
    for (const char *at = row->query; *at;) {
        size_t n = strcspn(at, " ");
        snprintf(name, sizeof name, "query_%.*s", (int)n, at);
        json_array_append_new(list, ref("parameters", name));
        at += n + (at[n] == ' ');
    }
}

static json_t *content(const char *type, json_t *schema) { return json_pack("{s:{s:o}}", type, "schema", schema); }

/* The addresses that answer something else than JSON. */
static const char *text_type(const struct route *row)
{
    if (strstr(row->pattern, "openapi.yaml")) return "application/yaml";
    if (strstr(row->pattern, "openapi.json")) return "application/json";
    if (strstr(row->pattern, "/stream")) return "text/event-stream";
    if (strstr(row->pattern, "/export")) return "application/jsonl";
    return "text/plain";
}

static json_t *answer(const struct route *row)
{
    if (text_eq(row->data, "NONE")) {
        json_t *schema = strstr(row->pattern, "/openapi.") ? json_pack("{s:s}", "type", "object") : json_pack("{s:s}", "type",
                "string");
        return json_pack("{s:s,s:o}", "description", row->summary, "content", content(text_type(row), schema));
    }
    json_t *envelope = json_pack("{s:s,s:[s,s],s:{s:{s:s},s:o}}", "type", "object", "required", "status", "data", "properties",
                                 "status", "const", "success", "data", ref("schemas", row->data));
    return json_pack("{s:s,s:o}", "description", row->summary, "content", content("application/json", envelope));
}

static json_t *body(const struct route *row)
{
    bool csv = text_eq(row->pattern, "/api/v1/import");
    json_t *schema = csv ? json_pack("{s:s}", "type", "string") : ref("schemas", row->body);
    return json_pack("{s:b,s:o}", "required", csv, "content", content(csv ? "text/csv" : "application/json", schema));
}

static void operation_id(const struct route *row, char out[120])
{
    size_t n = 0;
    const char *method = row->methods == HTTP_GET ? "get" : row->methods == HTTP_POST ? "post" : "delete";
    n = (size_t)snprintf(out, 120, "%s%s", method, text_starts(row->pattern, "/-/") ? "Plain" : "");   /* /-/reload too */
    bool up = true;
    for (const char *c = text_starts(row->pattern, "/api/v1/") ? row->pattern + 8 : row->pattern; *c && n < 118; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        if (!letter) up = true;
        else if (up) out[n++] = (char)(*c >= 'a' ? *c - 32 : *c), up = false;
        else out[n++] = *c;
    }
    out[n] = '\0';
}

static json_t *operation(const struct route *row)
{
    char id[120];
    operation_id(row, id);
    json_t *o = json_pack("{s:s,s:[s],s:s}", "operationId", id, "tags", route_tag(row), "summary", row->summary);
    json_t *parameters = json_array(), *security = json_array();
    add_parameters(parameters, row);
    if (row->role != ROLE_NONE) {
        json_array_append_new(security, json_pack("{s:[]}", "session"));
        json_array_append_new(security, json_pack("{s:[]}", "token"));
    }
    if (json_array_size(parameters)) json_object_set(o, "parameters", parameters);
    json_decref(parameters);
    json_object_set_new(o, "security", security);
    json_object_set_new(o, "x-role", json_string(auth_role_name(row->role)));
    if (!text_eq(row->body, "NONE") || text_eq(row->pattern, "/api/v1/import")) json_object_set_new(o, "requestBody", body(row));
    json_object_set_new(o, "responses", json_pack("{s:o,s:o}", "200", answer(row), "default", ref("responses", "Error")));
    return o;
}

/* ---- the whole ---- */

static json_t *document(void)
{
    unsigned n;
    const struct route *rows = route_table(&n);
    json_t *paths = json_object();
    for (unsigned i = 0; i < n; i++) {
        const char *method = rows[i].methods == HTTP_GET ? "get" : rows[i].methods == HTTP_POST ? "post" : "delete";
        if (!json_object_get(paths, rows[i].pattern)) json_object_set_new(paths, rows[i].pattern, json_object());
        json_object_set_new(json_object_get(paths, rows[i].pattern), method, operation(&rows[i]));
    }
    json_t *components = json_loadb((const char *)files[0].bytes, files[0].len, JSON_REJECT_DUPLICATES, NULL);
    CHECK_MEMORY(components);
    return json_pack("{s:s,s:{s:s,s:s,s:s,s:s,s:{s:s,s:s}},s:[{s:s}],s:o,s:o}", "openapi", "3.1.0", "info", "title", "trimtab",
                     "version", "1", "summary",
                     "Watches inference services, changes one knob by one notch, verifies, keeps or takes back.", "description",
                     "Every JSON answer is an envelope: status success and data, or status error, errorType, error (a sentence) "
                     "and often reason (a word). A value that is not known is null. x-role is the least role that may. New "
                     "keys may be added under v1; none is renamed or removed.",
                     "license", "name", "Apache-2.0", "identifier", "Apache-2.0", "servers", "url", "/", "paths", paths,
                     "components", components);
}

void openapi_json(struct buf *out)
{
    json_t *d = document();
    char *text = json_dumps(d, JSON_INDENT(1));
    buf_puts(out, text ? text : "");
    buf_putc(out, '\n');
    free(text);
    json_decref(d);
}

/* ---- YAML: blocks, every text quoted as in JSON, which YAML reads alike ---- */

static void yaml_value(struct buf *out, const json_t *v, unsigned depth);

static void indent(struct buf *out, unsigned depth)
{
    buf_putc(out, '\n');
    for (unsigned i = 0; i < depth; i++) buf_puts(out, "  ");
}

static void yaml_text(struct buf *out, const char *s)
{
    bool plain = s[0] && s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/{}_-.$0123456789")] == '\0' &&
                 strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/", s[0]) && !text_eq(s, "true") && !text_eq(s,
                         "false") &&
                 !text_eq(s, "null");
    if (plain) buf_puts(out, s);
    else buf_json_string(out, s, strlen(s));
}

static void yaml_object(struct buf *out, const json_t *v, unsigned depth)
{
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)(uintptr_t)v, key, item) {
        indent(out, depth);
        yaml_text(out, key);
        buf_puts(out, ":");
        yaml_value(out, item, depth + 1);
    }
}

static void yaml_scalar(struct buf *out, const json_t *v)
{
    buf_putc(out, ' ');
    if (json_is_string(v)) {
        yaml_text(out, json_string_value(v));
    } else {
        char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
        buf_puts(out, text ? text : "null");
        free(text);
    }
}

static void yaml_value(struct buf *out, const json_t *v, unsigned depth)
{
    size_t i;
    json_t *item;
    if (json_is_object(v) && json_object_size(v)) {
        yaml_object(out, v, depth);
    } else if (json_is_array(v) && json_array_size(v)) {
        json_array_foreach(v, i, item) {
            indent(out, depth);
            buf_puts(out, "-");
            yaml_value(out, item, depth + 1);
        }
    } else {
        yaml_scalar(out, v);
    }
}

void openapi_yaml(struct buf *out)
{
    struct buf b = BUF_INIT;
    json_t *d = document();
    yaml_object(&b, d, 0);
    buf_add(out, buf_text(&b) + 1, b.len ? b.len - 1 : 0);   /* without the first line's break */
    buf_putc(out, '\n');
    buf_free(&b);
    json_decref(d);
}

void openapi_get_json(void *ctx, struct http_request *r)
{
    struct buf b = BUF_INIT;
    (void)ctx;
    openapi_json(&b);
    http_reply_buf(r, 200, "application/json", &b);
}

void openapi_get_yaml(void *ctx, struct http_request *r)
{
    struct buf b = BUF_INIT;
    (void)ctx;
    openapi_yaml(&b);
    http_reply_buf(r, 200, "application/yaml", &b);
}
