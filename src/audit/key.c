/* Names, keys and their text forms. */
#include <sodium.h>
#include <string.h>

#include "audit/note.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"
#include "base/utf8.h"

static const uint8_t ed25519_type = 0x01;
static const char private_prefix[] = "PRIVATE+KEY+";

void audit_base64(struct buf *out, const void *bytes, size_t len)
{
    char text[4 * 48 / 3 + 1];
    for (size_t at = 0; at < len; at += 48) {   /* 48 bytes give 64 characters without padding between */
        size_t part = len - at < 48 ? len - at : 48;
        buf_puts(out, sodium_bin2base64(text, sizeof text, (const uint8_t *)bytes + at, part,
                                        sodium_base64_VARIANT_ORIGINAL));
    }
}

/* The decoder of libsodium 1.0.18 reads some bytes over 0x7f as digits, so only encoding again shows that the text is
 * the canonical one. */
bool audit_base64_decode(const char *text, size_t len, void *out, size_t cap, size_t *ret_len)
{
    size_t n = 0;
    char again[4 * 48 / 3 + 1];
    if (len % 4 != 0) return false;
    if (sodium_base642bin(out, cap, text, len, NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL) != 0) return false;
    if ((n + 2) / 3 * 4 != len) return false;
    for (size_t at = 0; at < n; at += 48) {
        size_t part = n - at < 48 ? n - at : 48;
        sodium_bin2base64(again, sizeof again, (const uint8_t *)out + at, part, sodium_base64_VARIANT_ORIGINAL);
        if (memcmp(again, text + at / 3 * 4, (part + 2) / 3 * 4) != 0) return false;
    }
    *ret_len = n;
    return true;
}

/* The characters that Unicode calls white space, beyond the control characters. */
static bool is_space(uint32_t c)
{
    return c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028
           || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static bool name_valid(const char *name, size_t len)
{
    if (len == 0 || len > AUDIT_NAME_MAX) return false;
    for (size_t at = 0; at < len;) {
        uint32_t c = 0;
        unsigned n = utf8_next(name + at, len - at, &c);
        if (n == 0 || c < 0x20 || c == 0x7f || c == '+' || is_space(c)) return false;
        at += n;
    }
    return true;
}

bool audit_name_valid(const char *name) { return name_valid(name, strlen(name)); }

static void make_id(const char *name, const uint8_t public[32], uint8_t ret[4])
{
    uint8_t hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state s;
    crypto_hash_sha256_init(&s);
    crypto_hash_sha256_update(&s, (const uint8_t *)name, strlen(name));
    crypto_hash_sha256_update(&s, (const uint8_t *)"\n", 1);
    crypto_hash_sha256_update(&s, &ed25519_type, 1);
    crypto_hash_sha256_update(&s, public, 32);
    crypto_hash_sha256_final(&s, hash);
    memcpy(ret, hash, 4);
}

enum status audit_verifier_make(struct audit_verifier *ret, const char *name, const uint8_t public[32], struct err *e)
{
    if (!audit_name_valid(name))
        return err_set(
            e, STATUS_INVALID,
            "\"%.60s\" cannot name a log: use 1 to %d bytes of UTF-8 without space, '+' or control characters", name,
            AUDIT_NAME_MAX);
    struct audit_verifier v = {0};
    text_copy(v.name, sizeof v.name, name);
    memcpy(v.public, public, 32);
    make_id(name, public, v.id);
    *ret = v;
    return STATUS_OK;
}

enum status audit_signer_make(struct audit_signer *ret, const char *name, const uint8_t seed[AUDIT_SEED_BYTES],
                              struct err *e)
{
    struct audit_signer s = {0};
    uint8_t public[crypto_sign_PUBLICKEYBYTES];
    CHECK(crypto_sign_seed_keypair(public, s.secret, seed) == 0);
    enum status rc = audit_verifier_make(&s.verifier, name, public, e);
    if (rc == STATUS_OK) *ret = s;
    audit_signer_wipe(&s);
    return rc;
}

void audit_signer_wipe(struct audit_signer *s)
{
    sodium_memzero(s, sizeof *s);
}

static void print_key(struct buf *out, const struct audit_verifier *v, const uint8_t key[32])
{
    char hex[2 * sizeof v->id + 1];
    uint8_t typed[33] = {ed25519_type};
    memcpy(typed + 1, key, 32);
    buf_puts(out, v->name);
    buf_putc(out, '+');
    buf_puts(out, sodium_bin2hex(hex, sizeof hex, v->id, sizeof v->id));
    buf_putc(out, '+');
    audit_base64(out, typed, sizeof typed);
    sodium_memzero(typed, sizeof typed);
}

void audit_verifier_print(const struct audit_verifier *v, struct buf *out)
{
    print_key(out, v, v->public);
}

void audit_signer_print(const struct audit_signer *s, struct buf *out)
{
    uint8_t seed[AUDIT_SEED_BYTES];
    CHECK(crypto_sign_ed25519_sk_to_seed(seed, s->secret) == 0);
    buf_puts(out, private_prefix);
    print_key(out, &s->verifier, seed);
    sodium_memzero(seed, sizeof seed);
}

/* NAME+8 hex+base64 of type and 32 bytes. */
struct key_text { char name[AUDIT_NAME_MAX + 1]; char id[9]; uint8_t typed[33]; };

static bool split_key(const char *text, size_t len, struct key_text *ret)
{
    const char *plus = memchr(text, '+', len);
    if (!plus) return false;
    size_t name = (size_t)(plus - text), rest = len - name - 1;
    if (!name_valid(text, name) || rest < 10 || plus[9] != '+') return false;
    memcpy(ret->name, text, name);
    ret->name[name] = '\0';
    memcpy(ret->id, plus + 1, 8);
    ret->id[8] = '\0';
    size_t n = 0;
    return audit_base64_decode(plus + 10, rest - 9, ret->typed, sizeof ret->typed, &n) && n == sizeof ret->typed
           && ret->typed[0] == ed25519_type;
}

static bool id_matches(const struct audit_verifier *v, const char *hex)
{
    char want[2 * sizeof v->id + 1];
    return text_eq(sodium_bin2hex(want, sizeof want, v->id, sizeof v->id), hex);
}

enum status audit_verifier_parse(struct audit_verifier *ret, const char *text, size_t len, struct err *e)
{
    struct key_text k = {0};
    struct audit_verifier v;
    if (!split_key(text, len, &k))
        return err_set(e, STATUS_INVALID, "not a verifier key: expected NAME+8 hex digits+base64 of an Ed25519 key");
    enum status rc = audit_verifier_make(&v, k.name, k.typed + 1, e);
    if (rc != STATUS_OK) return rc;
    if (!id_matches(&v, k.id))
        return err_set(e, STATUS_INVALID, "the verifier key of %s is damaged: its ID %s does not fit name and key",
                       k.name, k.id);
    *ret = v;
    return STATUS_OK;
}

enum status audit_signer_parse(struct audit_signer *ret, const char *text, size_t len, struct err *e)
{
    struct key_text k = {0};
    struct audit_signer s = {0};
    size_t prefix = sizeof private_prefix - 1;
    bool ok = len > prefix && memcmp(text, private_prefix, prefix) == 0 && split_key(text + prefix, len - prefix, &k);
    enum status rc =
        ok ? audit_signer_make(&s, k.name, k.typed + 1, e)
           : err_set(e, STATUS_INVALID, "not a signing key: expected PRIVATE+KEY+NAME+8 hex digits+base64");
    if (rc == STATUS_OK && !id_matches(&s.verifier, k.id))
        rc = err_set(e, STATUS_INVALID, "the signing key of %s is damaged: its ID %s does not fit name and key", k.name,
                     k.id);
    if (rc == STATUS_OK) *ret = s;
    sodium_memzero(&k, sizeof k);
    audit_signer_wipe(&s);
    return rc;
}
