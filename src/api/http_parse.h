/* The head of one HTTP/1 request, strictly: what is unusual is refused, because two readers of an unusual request may
 * read two different ones. No obs-fold, no bare CR or LF, one Host, at most one Content-Length of digits only, no
 * Transfer-Encoding, origin-form targets, no NUL in a path. */
#ifndef API_HTTP_PARSE_H
#define API_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_FIELDS_MAX 64
#define HTTP_TARGET_MAX 4096

enum http_method { HTTP_GET = 1, HTTP_HEAD = 2, HTTP_POST = 4, HTTP_PUT = 8, HTTP_DELETE = 16 };

struct http_field { const char *name, *value; };
struct http_head {
    enum http_method method;
    const char *method_name;
    char *path;                      /* as sent, still percent-encoded, without the query */
    char *query;                     /* "" when there is none */
    bool close;                      /* the peer wants the connection closed after the answer */
    bool expects_continue;
    bool has_length;
    uint64_t content_length;
    struct http_field fields[HTTP_FIELDS_MAX];
    unsigned field_count;
};

/* Reads `bytes` (the head with its last empty line), which it changes and into which the result points. Returns 0, or
 * the HTTP status to answer with; *ret_why then says what is wrong. */
int http_parse_head(char *bytes, size_t len, struct http_head *ret, const char **ret_why);
const char *http_parse_field(const struct http_head *h, const char *name);   /* NULL when absent; any case */
/* Percent-decodes in place. false: a broken escape, NUL or another control character. */
bool http_parse_decode(char *text);

#endif
