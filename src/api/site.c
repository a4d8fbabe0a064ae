#include "api/site.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#include <site_bytes.h>

struct file { const char *path; const unsigned char *plain; size_t plain_len; const unsigned char *packed; size_t packed_len; };

static const struct file files[SITE_FILES_COUNT + 1] = {SITE_FILES {0}};

unsigned site_files(void) { return SITE_FILES_COUNT; }

static const struct file *find(const char *path)
{
    const struct file *f = files;
    while (f->path && !text_eq(f->path, path)) f++;
    return f->path ? f : NULL;
}

static const char *type_of(const char *path)
{
    static const struct { const char *ending, *type; } table[] = {
        {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"}, {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"}, {".png", "image/png"}, {".ico", "image/x-icon"}, {".json", "application/json"},
        {".webmanifest", "application/manifest+json"}, {".woff2", "font/woff2"}, {".txt", "text/plain; charset=utf-8"},
    };
    const char *dot = strrchr(path, '.');
    for (unsigned i = 0; dot && i < ARRAY_LEN(table); i++) {
        if (text_eq(dot, table[i].ending)) return table[i].type;
    }
    return "application/octet-stream";
}

/* Does the list of codings name gzip, without forbidding it by q=0? */
static bool takes_gzip(const struct http_request *r)
{
    const char *list = http_request_header(r, "Accept-Encoding");
    const char *at = list ? strstr(list, "gzip") : NULL;
    if (!at) return false;
    size_t len = strcspn(at, ",");
    return !(memmem(at, len, "q=0", 3) && !memmem(at, len, "q=0.", 4));
}

static void tag_of(const struct file *f, bool packed, char out[40])
{
    unsigned char hash[32];
    char hex[65];
    crypto_hash_sha256(hash, f->plain, f->plain_len);
    (void)sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    snprintf(out, 40, "\"%.24s%s\"", hex, packed ? "-gz" : "");
}

static void answer(struct http_request *r, const struct file *f)
{
    char tag[40];
    bool packed = takes_gzip(r) && f->packed_len < f->plain_len;
    const char *known = http_request_header(r, "If-None-Match");
    tag_of(f, packed, tag);
    http_reply_cache(r, text_starts(f->path, "/assets/") ? "public, max-age=31536000, immutable" : "no-cache");
    http_reply_header(r, "ETag", tag);
    http_reply_header(r, "Vary", "Accept-Encoding");
    if (known && strstr(known, tag)) {
        http_reply(r, 304, NULL, "", 0);
        return;
    }
    if (packed) http_reply_header(r, "Content-Encoding", "gzip");
    http_reply(r, 200, type_of(f->path), packed ? f->packed : f->plain, packed ? f->packed_len : f->plain_len);
}

/* The console's own addresses: /incidents/embedding/3. All else is not found, as ever. */
static bool is_page(const char *path)
{
    static const char *const pages[] = {"overview", "services", "incidents", "inbox", "audit", "policy", "tuning", "health",
                                        "login", "setup", "users", "people", "account", "help"};
    if (text_eq(path, "/")) return true;
    if (path[0] != '/' || strpbrk(path, ".%\\") || strstr(path, "//")) return false;
    for (unsigned i = 0; i < ARRAY_LEN(pages); i++) {
        size_t n = strlen(pages[i]);
        if (strncmp(path + 1, pages[i], n) == 0 && (path[n + 1] == '\0' || path[n + 1] == '/')) return true;
    }
    return false;
}

static void say_nothing_built(struct http_request *r)
{
    static const char text[] = "trimtab runs. The console is not part of this build; ask the API under /api/v1, or use the command "
                               "line: trimtab status\n";
    http_reply(r, 200, "text/plain; charset=utf-8", text, sizeof text - 1);
}

bool site_serve(void *ctx, struct http_request *r)
{
    const char *path = http_request_path(r);
    (void)ctx;
    if (!(http_request_method(r) & (HTTP_GET | HTTP_HEAD))) return false;
    const struct file *f = find(path), *index = find("/index.html");
    if (!f && is_page(path)) f = index;
    if (f) answer(r, f);
    else if (!index && text_eq(path, "/")) say_nothing_built(r);
    else return false;
    return true;
}
