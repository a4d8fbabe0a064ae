/* Signatures, identities of deliveries, and what must not be seen. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "adapt/notify_format.h"
#include "base/check.h"

#define PIECE_LEAST 8        /* shorter pieces of an address are words, not keys */
#define KEY_LEAST 4

void notify_sign(struct buf *out, const char *key, size_t key_len, const char *message, size_t len)
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    char text[64];
    crypto_auth_hmacsha256_state s;
    crypto_auth_hmacsha256_init(&s, (const unsigned char *)key, key_len);
    crypto_auth_hmacsha256_update(&s, (const unsigned char *)message, len);
    crypto_auth_hmacsha256_final(&s, mac);
    sodium_memzero(&s, sizeof s);
    buf_puts(out, sodium_bin2base64(text, sizeof text, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL));
}

void notify_id(char out[NOTIFY_ID], const char *log, const char *receiver, const uint64_t *numbers, unsigned n)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s\n%s\n", log, receiver);
    for (unsigned i = 0; i < n; i++) buf_le64(&b, numbers[i]);
    crypto_hash_sha256(digest, (const unsigned char *)buf_text(&b), b.len);
    buf_free(&b);
    digest[6] = (unsigned char)((digest[6] & 0x0f) | 0x80);   /* RFC 9562: version 8, a name hashed in a way of our own */
    digest[8] = (unsigned char)((digest[8] & 0x3f) | 0x80);
    char *at = out;
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
        at += snprintf(at, 3, "%02x", digest[i]);
    }
}

static void star(char *text, const char *piece, size_t len)
{
    for (char *at = text; (at = strstr(at, piece)) != NULL; at += len) memset(at, '*', len);
}

/* Pieces between the marks of an address; a key without any is one piece. */
void notify_hide(char *text, const char *secret)
{
    char piece[512];
    const char *c = strstr(secret, "://");
    size_t least = c ? PIECE_LEAST : KEY_LEAST;
    c = c ? c + 3 + strcspn(c + 3, "/?#") : secret;
    while (*c) {
        size_t n = strcspn(c, "/?&=#:");
        if (n >= least && n < sizeof piece) {
            memcpy(piece, c, n);
            piece[n] = '\0';
            star(text, piece, n);
        }
        c += n + (c[n] != '\0');
    }
    sodium_memzero(piece, sizeof piece);
}
