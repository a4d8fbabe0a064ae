#include "api/http_tls.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/text.h"
#include "base/time.h"

struct stamp { struct timespec changed; off_t size; ino_t file; };

struct http_tls {
    char cert[1024], key[1024];
    struct stamp stamps[2];
    SSL_CTX *ctx;
    struct http_tls_facts facts;
};

static struct stamp stamp_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) return (struct stamp){0};
    return (struct stamp){st.st_mtim, st.st_size, st.st_ino};
}

static bool same(const struct stamp *a, const struct stamp *b)
{
    return a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec && a->size == b->size &&
           a->file == b->file;
}

static int64_t time_of(const ASN1_TIME *t)
{
    struct tm tm = {0};
    return t && ASN1_TIME_to_tm(t, &tm) ? (int64_t)timegm(&tm) * US_PER_S : 0;
}

static void read_pin(X509 *x, char out[64])
{
    unsigned char *der = NULL, hash[crypto_hash_sha256_BYTES];
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x), &der);
    out[0] = '\0';
    if (len <= 0) return;
    crypto_hash_sha256(hash, der, (unsigned long long)len);
    OPENSSL_free(der);
    memcpy(out, "sha256//", 9);
    (void)sodium_bin2base64(out + 8, 56, hash, sizeof hash, sodium_base64_VARIANT_ORIGINAL);
}

static void read_facts(SSL_CTX *ctx, struct http_tls_facts *f)
{
    X509 *x = SSL_CTX_get0_certificate(ctx);
    f->on = true;
    f->loads++;
    if (!x) return;
    read_pin(x, f->pin);
    X509_NAME_oneline(X509_get_subject_name(x), f->subject, (int)sizeof f->subject);
    f->not_before = time_of(X509_get0_notBefore(x));
    f->not_after = time_of(X509_get0_notAfter(x));
}

static enum status unusable(const char *path, const char *what, struct err *e)
{
    struct stat st;
    char why[200] = "";
    ERR_error_string_n(ERR_get_error(), why, sizeof why);
    ERR_clear_error();
    if (stat(path, &st) != 0)
        return err_set(e, errno == ENOENT ? STATUS_NOT_FOUND : STATUS_DENIED, "%s of TLS, %.300s: %s", what, path, strerror(errno));
    return err_set(e, STATUS_INVALID, "%s of TLS, %.300s: not usable (%s); give PEM files that belong together", what, path, why);
}

static SSL_CTX *load(struct http_tls *t, struct err *e)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx) {
        (void)err_set(e, STATUS_MEMORY, "out of memory for TLS");
        return NULL;
    }
    (void)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    (void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    (void)SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    const char *bad = NULL;
    if (SSL_CTX_use_certificate_chain_file(ctx, t->cert) != 1) bad = t->cert;
    else if (SSL_CTX_use_PrivateKey_file(ctx, t->key, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(ctx) != 1) bad = t->key;
    if (!bad) return ctx;
    (void)unusable(bad, bad == t->cert ? "the certificate" : "the key", e);
    SSL_CTX_free(ctx);
    return NULL;
}

enum status http_tls_reload(struct http_tls *t, struct err *e)
{
    struct stamp stamps[2] = {stamp_of(t->cert), stamp_of(t->key)};
    SSL_CTX *ctx = load(t, e);
    memcpy(t->stamps, stamps, sizeof stamps);
    if (!ctx) return e->code;
    SSL_CTX_free(t->ctx);                    /* connections that are open hold their own reference */
    t->ctx = ctx;
    read_facts(ctx, &t->facts);
    return STATUS_OK;
}

enum status http_tls_look(struct http_tls *t, bool *ret_read, struct err *e)
{
    struct stamp cert = stamp_of(t->cert), key = stamp_of(t->key);
    *ret_read = !same(&cert, &t->stamps[0]) || !same(&key, &t->stamps[1]);
    return *ret_read ? http_tls_reload(t, e) : STATUS_OK;
}

enum status http_tls_new(struct http_tls **ret, const char *cert_file, const char *key_file, struct err *e)
{
    struct http_tls *t = calloc(1, sizeof *t);
    if (!t) return err_set(e, STATUS_MEMORY, "out of memory");
    if (!text_copy(t->cert, sizeof t->cert, cert_file) || !text_copy(t->key, sizeof t->key, key_file)) {
        free(t);
        return err_set(e, STATUS_LIMIT, "the path of the certificate or key is too long");
    }
    enum status s = http_tls_reload(t, e);
    if (s == STATUS_OK) *ret = t;
    else http_tls_free(t);
    return s;
}

void http_tls_free(struct http_tls *t)
{
    if (!t) return;
    SSL_CTX_free(t->ctx);
    free(t);
}

void http_tls_facts(const struct http_tls *t, struct http_tls_facts *ret)
{
    if (t) *ret = t->facts;
    else *ret = (struct http_tls_facts){0};
}

struct bufferevent *http_tls_accept(struct http_tls *t, struct event_base *base, int fd)
{
    SSL *ssl = SSL_new(t->ctx);
    if (!ssl) return NULL;
    struct bufferevent *bev = bufferevent_openssl_socket_new(base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
    if (!bev) SSL_free(ssl);
    /* A peer that closes without TLS's goodbye has still closed; nothing here depends on the difference. */
    else bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
    return bev;
}
