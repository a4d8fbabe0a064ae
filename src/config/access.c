/* How a knob is read and written. */
#include <string.h>

#include "config/build.h"

static const char *const placeholders[] = {"value", "old", "version", "instance"};

/* Every {word} of the template is one we fill; JSON's own braces are left alone. */
static void check_template(struct config_work *w, const struct config_node *at)
{
    char hint[160], word[32];
    for (size_t i = 0; i < at->len; i++) {
        if (at->text[i] != '{') continue;
        size_t n = strspn(at->text + i + 1, "abcdefghijklmnopqrstuvwxyz_");
        if (n == 0 || n >= sizeof word || at->text[i + 1 + n] != '}') continue;
        memcpy(word, at->text + i + 1, n);
        word[n] = '\0';
        bool known = false;
        for (size_t k = 0; k < ARRAY_LEN(placeholders); k++) known = known || strcmp(placeholders[k], word) == 0;
        if (!known)
            config_wrong_in(w->d, at, i, n + 2,
                            config_nearest(hint, sizeof hint, word, placeholders, ARRAY_LEN(placeholders),
                                           "there are {value}, {old}, {version}, {instance}"),
                            "unknown placeholder {%s}", word);
        i += n + 1;
    }
}

static bool is_secret_header(const char *text)
{
    static const char *const names[] = {
        "authorization:", "proxy-authorization:", "cookie:", "x-api-key:", "x-auth-token:", "x-vault-token:"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t k = 0;
        while (names[i][k] && (text[k] | 0x20) == (names[i][k] | 0x20)) k++;
        if (!names[i][k]) return true;
    }
    return false;
}

uint16_t config_headers(struct config_work *w, const struct config_value *v, bool templates, const char **out)
{
    uint16_t n = 0;
    for (uint32_t i = 0; v->is_set && i < config_items(v->at); i++) {
        const struct config_node *at = config_item(v->at, i);
        size_t name = strspn(at->text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
        if (name == 0 || at->text[name] != ':' || strpbrk(at->text, "\r\n"))
            config_wrong(w->d, at, "\"Content-Type: application/json\"", "a header is `Name: value` in one line");
        else if (is_secret_header(at->text))
            config_report_secret(w->d, at->source, at->offset, 1, at->offset,
                                 "put the token into a file of mode 0600 and write `secret_file: /path/of/it`",
                                 "a secret in the configuration");
        if (templates) check_template(w, at);
        out[n++] = config_copy(w, at->text);
    }
    return n;
}

static void fill_http(struct config_work *w, const struct config_http *raw, bool write, struct access_def *a)
{
    a->kind = ACCESS_HTTP;
    a->url = config_copy(w, raw->url.text);
    a->method = raw->method.is_set ? config_copy(w, raw->method.text) : write ? "PUT" : "GET";
    a->body = raw->body.is_set ? config_copy(w, raw->body.text) : NULL;
    a->pointer = raw->pointer.is_set ? config_copy(w, raw->pointer.text) : "";
    a->version_header = raw->version_header.is_set ? config_copy(w, raw->version_header.text) : NULL;
    a->secret_file = raw->secret_file.is_set ? config_copy(w, raw->secret_file.text) : NULL;
    a->timeout = raw->timeout.span;
    a->per_instance = raw->per_instance.is_set ? raw->per_instance.flag : a->url && strstr(a->url, "{instance}");
    a->header_count = config_headers(w, &raw->headers, true, a->headers);
    if (raw->url.is_set) check_template(w, raw->url.at);
    if (raw->body.is_set) check_template(w, raw->body.at);
    if (a->body && strcmp(a->method, "GET") == 0) config_wrong(w->d, raw->body.at, "method: POST", "a GET request has no body");
    if (raw->per_instance.is_set && a->per_instance && a->url && !strstr(a->url, "{instance}"))
        config_wrong(w->d, raw->per_instance.at, "put {instance} where the host stands",
                     "once for each instance, but the address is the same for all");
}

static bool take_http(struct config_work *w, const struct config_value *v, bool write, struct access_def *a)
{
    struct config_http raw;
    if (!config_read_block(w->d, CONFIG_BLOCK_HTTP, v->at, v->inherited, &raw)) return false;
    fill_http(w, &raw, write, a);
    return raw.url.is_set;
}

static bool take_file(struct config_work *w, const struct config_value *v, struct access_def *a)
{
    struct config_file raw;
    if (!config_read_block(w->d, CONFIG_BLOCK_FILE, v->at, v->inherited, &raw)) return false;
    a->kind = ACCESS_FILE;
    a->path = config_copy(w, raw.path.text);
    a->pointer = raw.pointer.is_set ? config_copy(w, raw.pointer.text) : "";
    a->timeout = SPAN_S(5);
    return raw.path.is_set;
}

static bool mentions(const struct access_def *a, const char *placeholder)
{
    if ((a->url && strstr(a->url, placeholder)) || (a->body && strstr(a->body, placeholder))) return true;
    for (uint16_t i = 0; i < a->header_count; i++)
        if (a->headers[i] && strstr(a->headers[i], placeholder)) return true;
    return false;
}

static void check_write(struct config_work *w, const struct config_node *at, const struct knob_def *k)
{
    const struct access_def *a = &k->write;
    if (a->kind != ACCESS_HTTP) return;
    if (strcmp(a->method, "GET") == 0) config_wrong(w->d, at, "method: PUT", "a write by GET: caches and crawlers repeat those");
    if (!mentions(a, "{value}")) config_wrong(w->d, at, "body: '{value}'", "the write of '%s' does not hold {value}", k->name);
    if (k->cas && !mentions(a, "{version}") && !mentions(a, "{old}"))
        config_wrong(w->d, at, "headers: [\"If-Match: {version}\"], with version_header in `read`",
                     "`cas: true`, but the write of '%s' sends neither {version} nor {old}", k->name);
    if (mentions(a, "{version}") && k->read.kind == ACCESS_HTTP && !k->read.version_header)
        config_wrong(w->d, at, "version_header: ETag, in `read`",
                     "the write of '%s' sends {version}, which its read does not take", k->name);
}

static bool take_access(struct config_work *w, const struct config_value *v, bool write, struct access_def *a)
{
    struct config_access raw;
    if (!config_read_block(w->d, CONFIG_BLOCK_ACCESS, v->at, v->inherited, &raw)) return false;
    if (!raw.http.at == !raw.file.at) config_wrong(w->d, v->at, NULL, "write either `http` or `file`");
    bool file = raw.file.is_set && take_file(w, &raw.file, a);
    bool http = raw.http.is_set && take_http(w, &raw.http, write, a);
    return file || http;
}

void config_build_access(struct config_work *w, const struct config_knob *raw, const struct config_node *node, struct knob_def *k)
{
    bool read = raw->read.is_set && take_access(w, &raw->read, false, &k->read);
    bool write = raw->write.is_set && take_access(w, &raw->write, true, &k->write);
    if (write) check_write(w, raw->write.at, k);
    if (w->cut || k->tier == 3) return;
    if (!raw->read.at && !read)
        config_wrong(w->d, node, "read: {http: {url: ...}}", "knob '%s' has no `read`: a change could not be verified",
                     k->name);
    if (!raw->write.at && !write)
        config_wrong(w->d, node, "write: {http: {url: ..., body: ...}}", "knob '%s' has no `write`", k->name);
}
