#include "app/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/input.h"
#include "base/text.h"

#define ANSWER_BYTES_MAX ((size_t)64 << 20)
#define TIMEOUT_MS 60000L

static const char *pick(const struct args *a, const char *flag, const char *variable)
{
    const char *v = args_text(a, flag);
    if (!v) v = getenv(variable);
    return v && v[0] ? v : NULL;
}

/* "HOST:PORT", "http://..." or "https://HOST:PORT#sha256//PIN": the last is what the daemon writes into DATA/listen, so that
 * its key is known without a certificate that this machine trusts. */
static void set_address(struct client *c, const char *text)
{
    c->tls = text_starts(text, "https://");
    if (c->tls || text_starts(text, "http://")) text += c->tls ? 8 : 7;
    size_t n = strcspn(text, "#/");
    snprintf(c->address, sizeof c->address, "%.*s", (int)(n < sizeof c->address ? n : sizeof c->address - 1), text);
    (void)text_copy(c->pin, sizeof c->pin, text[n] == '#' ? text + n + 1 : "");
}

bool client_open(struct client *c, const struct args *a)
{
    const char *data = pick(a, "data", "TRIMTAB_DATA"), *address = pick(a, "address", "TRIMTAB_ADDRESS");
    const char *token = pick(a, "token-file", "TRIMTAB_TOKEN_FILE");
    char path[1100], line[400];
    struct err e;
    *c = (struct client){.command = a->command->name};
    if (!text_copy(c->data, sizeof c->data, data ? data : "./trimtab-data")) {
        fprintf(stderr, "trimtab %s: the path of the data folder is too long\n", c->command);
        return false;
    }
    snprintf(path, sizeof path, "%s/listen", c->data);
    if (address) set_address(c, address);
    else if (input_line(path, line, sizeof line, &e) == STATUS_OK) set_address(c, line);
    else (void)text_copy(c->address, sizeof c->address, "127.0.0.1:7373");
    if (token) (void)text_copy(c->token_file, sizeof c->token_file, token);
    else snprintf(c->token_file, sizeof c->token_file, "%s/token", c->data);
    return true;
}

void client_segment(struct buf *path, const char *segment)
{
    static const char digits[] = "0123456789ABCDEF", plain[] = "-_.~";
    for (const unsigned char *p = (const unsigned char *)segment; *p; p++) {
        bool word = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr(plain, *p);
        if (word) buf_putc(path, (char)*p);
        else buf_putc(path, '%'), buf_putc(path, digits[*p >> 4]), buf_putc(path, digits[*p & 15]);
    }
}

/* ---- one exchange ---- */

struct exchange {
    const struct client *c;
    const char *path, *type, *body;
    size_t len;
    bool post, delete, quiet;
};

static size_t on_bytes(char *bytes, size_t one, size_t n, void *ctx)
{
    struct buf *b = ctx;
    if (b->len + one * n > ANSWER_BYTES_MAX) return 0;
    buf_add(b, bytes, one * n);
    return buf_ok(b) ? one * n : 0;
}

static struct curl_slist *headers_of(const struct exchange *x, const char *token)
{
    char line[600];
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    if (token[0]) {
        snprintf(line, sizeof line, "Authorization: Bearer %s", token);
        list = curl_slist_append(list, line);
        explicit_bzero(line, sizeof line);
    }
    snprintf(line, sizeof line, "Content-Type: %s", x->type ? x->type : "application/json");
    return x->post ? curl_slist_append(list, line) : list;
}

static CURLcode perform(const struct exchange *x, const char *token, struct answer *ret, char why[CURL_ERROR_SIZE])
{
    struct buf url = BUF_INIT;
    struct curl_slist *headers = headers_of(x, token);
    long status = 0;
    CURL *curl = curl_easy_init();
    if (!curl) return CURLE_OUT_OF_MEMORY;
    buf_printf(&url, "%s://%s%s", x->c->tls ? "https" : "http", x->c->address, x->path);
    curl_easy_setopt(curl, CURLOPT_URL, buf_text(&url));
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, x->c->tls ? "https" : "http");
    if (x->c->pin[0]) {
        curl_easy_setopt(curl, CURLOPT_PINNEDPUBLICKEY, x->c->pin);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 3000L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &ret->text);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    if (x->post) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, x->body ? x->body : "");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->len);
    }
    if (x->delete) curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "DELETE");
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    ret->http = (int)status;
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    buf_free(&url);
    return code;
}

static int unreachable(const struct exchange *x, const char *why)
{
    if (!x->quiet) {
        fprintf(stderr, "trimtab %s: no daemon answers at %s (%s). Start one with 'trimtab serve', or say where it is with"
                        " --data DIR or --address HOST:PORT.\n", x->c->command, x->c->address, why);
    }
    return EXIT_FAIL;
}

static int refused(const struct exchange *x, const struct answer *a)
{
    const char *text = json_string_value(json_object_get(a->root, "error"));
    const char *reason = json_string_value(json_object_get(a->root, "reason"));
    if (!text) text = "the daemon gave an answer that is not trimtab's; is another program listening there?";
    fprintf(stderr, "trimtab %s: %s%s%s%s\n", x->c->command, text, reason ? " [" : "", reason ? reason : "", reason ? "]" : "");
    if (a->http == 401 || a->http == 403) {
        fprintf(stderr, "The token is read from %s; say another one with --token-file FILE.\n", x->c->token_file);
        return EXIT_AUTH;
    }
    return EXIT_FAIL;
}

static int token_missing(const struct exchange *x, const struct err *e)
{
    fprintf(stderr, "trimtab %s: changes need the daemon's token: %s. Run this as the daemon's user, or say --token-file FILE.\n",
            x->c->command, e->text);
    return EXIT_AUTH;
}

/* What came over the wire goes to a terminal: no control character of it may. */
static void make_plain(json_t *v)
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_array(v)) {
        json_array_foreach(v, i, item) make_plain(item);
    } else if (json_is_object(v)) {
        json_object_foreach(v, key, item) make_plain(item);
    } else if (json_is_string(v)) {
        struct buf b = BUF_INIT;
        for (const char *s = json_string_value(v); *s; s++) buf_putc(&b, (unsigned char)*s < ' ' || *s == 0x7f ? ' ' : *s);
        json_string_set(v, buf_text(&b));
        buf_free(&b);
    }
}

static int exchange(const struct exchange *x, bool json, struct answer *ret)
{
    char token[512] = "", why[CURL_ERROR_SIZE] = "";
    json_error_t fault;
    struct err e;
    *ret = (struct answer){.text = BUF_INIT};
    /* Reading may be open to all; only changes always take the token. */
    if (input_line(x->c->token_file, token, sizeof token, &e) != STATUS_OK) {
        token[0] = '\0';
        if (x->post || x->delete) return token_missing(x, &e);
    }
    CURLcode code = perform(x, token, ret, why);
    explicit_bzero(token, sizeof token);
    if (code != CURLE_OK) return unreachable(x, why[0] ? why : curl_easy_strerror(code));
    ret->reached = true;
    if (json || ret->http != 200) ret->root = json_loadb(buf_text(&ret->text), ret->text.len, 0, &fault);
    make_plain(ret->root);
    ret->data = json ? json_object_get(ret->root, "data") : NULL;
    if (ret->http == 200 && (!json || ret->data)) return EXIT_GOOD;
    return refused(x, ret);
}

int client_get(const struct client *c, const char *path, struct answer *ret)
{
    return exchange(&(struct exchange){.c = c, .path = path}, true, ret);
}

int client_try(const struct client *c, const char *path, struct answer *ret)
{
    return exchange(&(struct exchange){.c = c, .path = path, .quiet = true}, true, ret);
}

int client_file(const struct client *c, const char *path, struct answer *ret)
{
    return exchange(&(struct exchange){.c = c, .path = path}, false, ret);
}

int client_post(const struct client *c, const char *path, const char *type, const char *body, size_t len,
                           struct answer *ret)
{
    return exchange(&(struct exchange){.c = c, .path = path, .type = type, .body = body, .len = len, .post = true}, true, ret);
}

int client_delete(const struct client *c, const char *path, struct answer *ret)
{
    return exchange(&(struct exchange){.c = c, .path = path, .delete = true}, true, ret);
}

void answer_free(struct answer *a)
{
    json_decref(a->root);
    buf_free(&a->text);
    *a = (struct answer){.text = BUF_INIT};
}
