#include "api/http_request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

struct http_request *http_request_new(struct http_connection *c, const char *peer)
{
    struct http_request *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->connection = c;
    r->head.path = r->head.query = (char *)(uintptr_t)"";
    (void)text_copy(r->peer, sizeof r->peer, peer);
    (void)text_copy(r->address, sizeof r->address, peer);
    return r;
}

bool http_request_reserve(struct http_request *r, size_t head_len)
{
    r->raw = calloc(1, head_len + 1);
    return r->raw != NULL;
}

void http_request_free(struct http_request *r)
{
    free(r->raw);
    buf_free(&r->body);
    buf_free(&r->more);
    free(r);
}

void http_request_orphan(struct http_request *r) { r->connection = NULL; }

enum http_method http_request_method(const struct http_request *r) { return r->head.method; }
const char *http_request_path(const struct http_request *r) { return r->head.path; }
const char *http_request_header(const struct http_request *r, const char *name) { return http_parse_field(&r->head, name); }
const char *http_request_peer(const struct http_request *r) { return r->peer; }
bool http_request_gone(const struct http_request *r) { return r->connection == NULL; }

const char *http_request_body(const struct http_request *r, size_t *ret_len)
{
    if (ret_len) *ret_len = r->body.len;
    return buf_text(&r->body);
}

bool http_request_query(const struct http_request *r, const char *name, char *out, size_t cap)
{
    size_t n = strlen(name);
    for (const char *at = r->head.query; *at;) {
        size_t len = strcspn(at, "&");
        if (len > n && strncmp(at, name, n) == 0 && at[n] == '=') {
            size_t value = len - n - 1;
            if (value >= cap) return false;
            memcpy(out, at + n + 1, value);
            out[value] = '\0';
            for (char *c = out; *c; c++) {
                if (*c == '+') *c = ' ';
            }
            return http_parse_decode(out);
        }
        at += len + (at[len] == '&');
    }
    return false;
}

const char *http_request_param(const struct http_request *r, const char *name)
{
    for (unsigned i = 0; i < r->param_count; i++) {
        if (strcmp(r->params[i].name, name) == 0) return r->params[i].value;
    }
    return NULL;
}

bool http_request_add_param(struct http_request *r, const char *name, const char *value, size_t len)
{
    if (r->param_count == HTTP_PARAMS_MAX || len >= sizeof r->params->value) return false;
    char *copy = r->params[r->param_count].value;
    memcpy(copy, value, len);
    copy[len] = '\0';
    if (!http_parse_decode(copy) || !text_copy(r->params[r->param_count].name, sizeof r->params->name, name)) return false;
    r->param_count++;
    return true;
}

void http_reply_cache(struct http_request *r, const char *value) { r->cache = value; }
struct identity *http_request_who(struct http_request *r) { return &r->who; }
const char *http_request_address(const struct http_request *r) { return r->address; }

void http_reply_header(struct http_request *r, const char *name, const char *value)
{
    CHECK(!strpbrk(name, "\r\n:") && !strpbrk(value, "\r\n"));
    buf_printf(&r->more, "%s: %s\r\n", name, value);
}

void http_reply(struct http_request *r, int status, const char *content_type, const void *bytes, size_t len)
{
    if (r->connection) http_connection_answer(r->connection, r, status, content_type, bytes, len);
    http_request_free(r);
}

void http_reply_buf(struct http_request *r, int status, const char *content_type, struct buf *b)
{
    if (buf_ok(b)) http_reply(r, status, content_type, buf_text(b), b->len);
    else http_reply_error(r, 500, "the answer is too large");
    buf_free(b);
}

static const char *error_type(int status)
{
    switch (status) {
    case 401: return "unauthorized";
    case 403: return "forbidden";
    case 429: return "too_many";
    case 404: return "not_found";
    case 409: return "conflict";
    case 422: return "execution";
    case 503: return "unavailable";
    default: return status < 500 ? "bad_data" : "internal";
    }
}

void http_reply_error(struct http_request *r, int status, const char *fmt, ...)
{
    char text[600];
    struct buf b = BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_printf(&b, "{\"status\":\"error\",\"errorType\":\"%s\",\"error\":", error_type(status));
    buf_json_string(&b, text, strlen(text));
    buf_puts(&b, "}\n");
    http_reply(r, status, "application/json", buf_text(&b), b.len);
    buf_free(&b);
}

const char *http_status_text(int status)
{
    static const struct { int status; const char *text; } table[] = {
        {200, "OK"}, {201, "Created"}, {202, "Accepted"}, {204, "No Content"}, {304, "Not Modified"},
        {400, "Bad Request"}, {401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"},
        {405, "Method Not Allowed"}, {408, "Request Timeout"}, {409, "Conflict"}, {411, "Length Required"},
        {413, "Content Too Large"}, {414, "URI Too Long"}, {415, "Unsupported Media Type"},
        {417, "Expectation Failed"}, {421, "Misdirected Request"}, {422, "Unprocessable Content"},
        {429, "Too Many Requests"}, {431, "Request Header Fields Too Large"}, {500, "Internal Server Error"},
        {501, "Not Supported"}, {503, "Service Unavailable"}, {505, "HTTP Version Not Supported"},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].status == status) return table[i].text;
    }
    return "Status";
}
