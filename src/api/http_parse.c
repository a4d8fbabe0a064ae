#include "api/http_parse.h"

#include <string.h>
#include <strings.h>

#include "base/num.h"

struct line { char *text; size_t len; };

/* Cuts the next line off; only CR LF ends one. */
static bool next_line(char **at, char *end, struct line *ret)
{
    char *cr = memchr(*at, '\r', (size_t)(end - *at));
    if (!cr || cr + 1 >= end || cr[1] != '\n') return false;
    *ret = (struct line){*at, (size_t)(cr - *at)};
    *cr = '\0';
    *at = cr + 2;
    return memchr(ret->text, '\n', ret->len) == NULL && memchr(ret->text, '\0', ret->len) == NULL;
}

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static int method_of(const char *name, struct http_head *h)
{
    static const struct { const char *name; enum http_method method; } table[] = {
        {"GET", HTTP_GET}, {"HEAD", HTTP_HEAD}, {"POST", HTTP_POST}, {"PUT", HTTP_PUT}, {"DELETE", HTTP_DELETE},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(name, table[i].name) != 0) continue;
        h->method = table[i].method;
        h->method_name = table[i].name;
        return 0;
    }
    /* Named like a method of HTTP, but answered nowhere here; anything else is none. */
    return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0' ? 405 : 501;
}

static int read_target(char *target, struct http_head *h, const char **why)
{
    size_t len = strlen(target);
    *why = "the address of the request is too long";
    if (len > HTTP_TARGET_MAX) return 414;
    *why = "the address of the request has to begin with / and hold printable ASCII only";
    if (target[0] != '/') return 400;
    for (size_t i = 0; i < len; i++) {
        if (target[i] <= ' ' || target[i] >= 0x7f || target[i] == '#') return 400;
    }
    char *query = strchr(target, '?');
    if (query) *query++ = '\0';
    h->path = target;
    h->query = query ? query : target + strlen(target);
    return 0;
}

static int read_request_line(char *text, struct http_head *h, const char **why)
{
    char *target = strchr(text, ' ');
    char *version = target ? strchr(target + 1, ' ') : NULL;
    *why = "the first line is not METHOD ADDRESS HTTP/1.1";
    if (!version || target == text) return 400;
    *target++ = *version++ = '\0';
    if (strncmp(version, "HTTP/", 5) != 0) return 400;
    *why = "only HTTP/1.0 and HTTP/1.1 are spoken here";
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0) return 505;
    h->close = version[7] == '0';
    *why = "only GET, HEAD, POST, PUT and DELETE are spoken here";
    int status = method_of(text, h);
    return status ? status : read_target(target, h, why);
}

static int read_field(struct line l, struct http_head *h, const char **why)
{
    size_t n = 0;
    *why = "more than 64 header fields";
    if (h->field_count == HTTP_FIELDS_MAX) return 431;
    *why = "a header field is malformed";
    while (n < l.len && is_token(l.text[n])) n++;
    if (n == 0 || n == l.len || l.text[n] != ':') return 400;
    l.text[n] = '\0';
    char *value = l.text + n + 1, *end = l.text + l.len;
    while (*value == ' ' || *value == '\t') value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t')) *--end = '\0';
    for (const char *c = value; *c; c++) {
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f) return 400;
    }
    h->fields[h->field_count++] = (struct http_field){l.text, value};
    return 0;
}

const char *http_parse_field(const struct http_head *h, const char *name)
{
    for (unsigned i = 0; i < h->field_count; i++) {
        if (strcasecmp(h->fields[i].name, name) == 0) return h->fields[i].value;
    }
    return NULL;
}

static unsigned count(const struct http_head *h, const char *name)
{
    unsigned n = 0;
    for (unsigned i = 0; i < h->field_count; i++) n += strcasecmp(h->fields[i].name, name) == 0;
    return n;
}

static int check_host(const struct http_head *h, bool old_version, const char **why)
{
    unsigned n = count(h, "Host");
    const char *host = http_parse_field(h, "Host");
    *why = "exactly one Host is needed";
    if (n > 1 || (n == 0 && !old_version)) return 400;
    if (host && (host[0] == '\0' || strpbrk(host, " \t/?#@,"))) return 400;
    return 0;
}

static int check_framing(struct http_head *h, const char **why)
{
    const char *length = http_parse_field(h, "Content-Length");
    *why = "Transfer-Encoding is not spoken here; send a Content-Length";
    if (count(h, "Transfer-Encoding") > 0) return 501;
    *why = "Content-Length has to be one decimal number";
    if (count(h, "Content-Length") > 1) return 400;
    if (length && !num_parse_u64(length, strlen(length), &h->content_length)) return 400;
    h->has_length = length != NULL;
    *why = "a Content-Length is needed";
    if (!length && (h->method == HTTP_POST || h->method == HTTP_PUT)) return 411;
    const char *expect = http_parse_field(h, "Expect");
    *why = "this Expect cannot be met";
    if (expect && strcasecmp(expect, "100-continue") != 0) return 417;
    h->expects_continue = expect != NULL;
    return 0;
}

int http_parse_head(char *bytes, size_t len, struct http_head *ret, const char **ret_why)
{
    char *at = bytes, *end = bytes + len;
    struct line l;
    memset(ret, 0, sizeof *ret);
    ret->path = ret->query = bytes + len;
    *ret_why = "a line does not end with CR LF, or holds a stray control character";
    if (!next_line(&at, end, &l)) return 400;
    int status = read_request_line(l.text, ret, ret_why);
    bool old_version = ret->close;
    while (!status) {
        *ret_why = "a line does not end with CR LF, or holds a stray control character";
        if (!next_line(&at, end, &l)) return 400;
        if (l.len == 0) break;
        status = read_field(l, ret, ret_why);
    }
    if (!status) status = check_host(ret, old_version, ret_why);
    if (!status) status = check_framing(ret, ret_why);
    const char *connection = status ? NULL : http_parse_field(ret, "Connection");
    if (connection && strcasecmp(connection, "close") == 0) ret->close = true;
    if (connection && strcasecmp(connection, "keep-alive") == 0) ret->close = false;
    return status;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool http_parse_decode(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        int c = (unsigned char)*in;
        if (*in == '%') {
            int high = hex(in[1]), low = high < 0 ? -1 : hex(in[2]);
            if (low < 0) return false;
            c = high * 16 + low;
            in += 2;
        }
        if (c < ' ' || c == 0x7f) return false;
        *out++ = (char)c;
    }
    *out = '\0';
    return true;
}
