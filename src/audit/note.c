#include "audit/note.h"

#include <sodium.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "base/utf8.h"

static const char dash[] = "\xe2\x80\x94 ";   /* U+2014 and a space begin a signature line */
#define DASH_BYTES (sizeof dash - 1)
#define BLOB_BYTES (4 + crypto_sign_BYTES)

static bool is_note_text(const char *s, size_t len)
{
    if (!utf8_valid(s, len)) return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)s[i] < 0x20 && s[i] != '\n') return false;
    return true;
}

enum status audit_note_sign(struct buf *out, const char *body, size_t len, const struct audit_signer *s, struct err *e)
{
    if (len == 0 || len > AUDIT_NOTE_MAX / 2 || body[len - 1] != '\n' || !is_note_text(body, len))
        return err_set(e, STATUS_INVALID,
                       "a note must be UTF-8 lines without control characters and end in a line feed");
    uint8_t blob[BLOB_BYTES];
    memcpy(blob, s->verifier.id, sizeof s->verifier.id);
    crypto_sign_detached(blob + 4, NULL, (const uint8_t *)body, len, s->secret);
    buf_add(out, body, len);
    buf_putc(out, '\n');
    buf_puts(out, dash);
    buf_puts(out, s->verifier.name);
    buf_putc(out, ' ');
    audit_base64(out, blob, sizeof blob);
    buf_putc(out, '\n');
    return buf_ok(out) ? STATUS_OK : err_set(e, STATUS_MEMORY, "no memory for a signed note");
}

/* Length of the body: up to and with the LF before the last empty line. 0: there is none. */
static size_t body_length(const char *note, size_t len)
{
    for (size_t at = len; at >= 2; at--)
        if (note[at - 1] == '\n' && note[at - 2] == '\n') return at - 1;
    return 0;
}

/* Room for signatures of other kinds too (an ML-DSA-44 cosignature has 2,432 bytes): they must be well-formed. */
struct signature_line { const char *name; size_t name_len; uint8_t blob[4096]; size_t blob_len; };

static bool parse_signature(const char *line, size_t len, struct signature_line *ret)
{
    if (len <= DASH_BYTES || memcmp(line, dash, DASH_BYTES) != 0) return false;
    const char *name = line + DASH_BYTES;
    size_t rest = len - DASH_BYTES;
    const char *space = memchr(name, ' ', rest);
    if (!space || space == name) return false;
    ret->name = name;
    ret->name_len = (size_t)(space - name);
    return audit_base64_decode(space + 1, rest - ret->name_len - 1, ret->blob, sizeof ret->blob, &ret->blob_len)
           && ret->blob_len >= 5;
}

static bool is_of(const struct signature_line *s, const struct audit_verifier *v)
{
    return s->name_len == strlen(v->name) && memcmp(s->name, v->name, s->name_len) == 0
           && memcmp(s->blob, v->id, 4) == 0;
}

enum status audit_note_check(const char *note, size_t len, const struct audit_verifier *v, size_t *ret_body,
                             struct err *e)
{
    size_t body = len <= AUDIT_NOTE_MAX && is_note_text(note, len) && len > 0 && note[len - 1] == '\n'
                      ? body_length(note, len)
                      : 0;
    if (body == 0)
        return err_set(e, STATUS_INVALID, "not a signed note: no body, empty line and signature lines in UTF-8");
    unsigned lines = 0, good = 0;
    for (size_t at = body + 1; at < len; lines++) {
        const char *end = memchr(note + at, '\n', len - at);
        size_t n = (size_t)(end - (note + at));
        struct signature_line s;
        if (lines == AUDIT_SIGNATURES_MAX || !parse_signature(note + at, n, &s))
            return err_set(e, STATUS_INVALID, "signature line %u of the note is malformed", lines + 1);
        at += n + 1;
        if (!is_of(&s, v)) continue;
        if (s.blob_len != BLOB_BYTES
            || crypto_sign_verify_detached(s.blob + 4, (const uint8_t *)note, body, v->public) != 0)
            return err_set(e, STATUS_DENIED, "the signature of %s on the note is wrong: the text was changed", v->name);
        good++;
    }
    if (good == 0) return err_set(e, STATUS_DENIED, "the note is not signed by %s with the key given", v->name);
    *ret_body = body;
    return STATUS_OK;
}

void audit_checkpoint_print(struct buf *out, const struct audit_checkpoint *c)
{
    buf_puts(out, c->origin);
    buf_putc(out, '\n');
    buf_u64(out, c->size);
    buf_putc(out, '\n');
    audit_base64(out, c->root.b, sizeof c->root.b);
    buf_putc(out, '\n');
}

/* The next line without its LF. false: no LF any more. */
static bool next_line(const char *text, size_t len, size_t *at, const char **ret, size_t *ret_len)
{
    const char *end = memchr(text + *at, '\n', len - *at);
    if (!end) return false;
    *ret = text + *at;
    *ret_len = (size_t)(end - *ret);
    *at += *ret_len + 1;
    return true;
}

static bool parse_size(const char *text, size_t len, uint64_t *ret)
{
    return (len == 1 || (len > 1 && text[0] != '0')) && num_parse_u64(text, len, ret) && *ret <= INT64_MAX;
}

enum status audit_checkpoint_parse(struct audit_checkpoint *ret, const char *body, size_t len, struct err *e)
{
    struct audit_checkpoint c = {0};
    const char *line;
    size_t n, at = 0, got = 0;
    if (!next_line(body, len, &at, &line, &n) || n == 0 || n > AUDIT_NAME_MAX || !is_note_text(line, n))
        return err_set(e, STATUS_INVALID, "checkpoint line 1: expected the name of the log");
    memcpy(c.origin, line, n);
    if (!next_line(body, len, &at, &line, &n) || !parse_size(line, n, &c.size))
        return err_set(e, STATUS_INVALID,
                       "checkpoint line 2: expected the number of records in decimal, without leading zeros");
    if (!next_line(body, len, &at, &line, &n) || !audit_base64_decode(line, n, c.root.b, sizeof c.root.b, &got)
        || got != sizeof c.root.b)
        return err_set(e, STATUS_INVALID, "checkpoint line 3: expected the root hash as base64 of 32 bytes");
    if (at != len) return err_set(e, STATUS_INVALID, "checkpoint line 4: nothing may follow the root hash");
    *ret = c;
    return STATUS_OK;
}

enum status audit_checkpoint_sign(struct buf *out, uint64_t size, const struct audit_hash *root,
                                  const struct audit_signer *s, struct err *e)
{
    struct audit_checkpoint c = {.size = size, .root = *root};
    text_copy(c.origin, sizeof c.origin, s->verifier.name);
    struct buf body = BUF_INIT;
    audit_checkpoint_print(&body, &c);
    enum status rc = buf_ok(&body) ? audit_note_sign(out, body.data, body.len, s, e)
                                   : err_set(e, STATUS_MEMORY, "no memory for a checkpoint");
    buf_free(&body);
    return rc;
}

enum status audit_checkpoint_open(struct audit_checkpoint *ret, const char *note, size_t len,
                                  const struct audit_verifier *v, struct err *e)
{
    struct audit_checkpoint c;
    size_t body = 0;
    enum status rc = audit_note_check(note, len, v, &body, e);
    if (rc == STATUS_OK) rc = audit_checkpoint_parse(&c, note, body, e);
    if (rc != STATUS_OK) return rc;
    if (!text_eq(c.origin, v->name))
        return err_set(e, STATUS_DENIED, "the checkpoint is of the log %s, not of %s", c.origin, v->name);
    *ret = c;
    return STATUS_OK;
}
