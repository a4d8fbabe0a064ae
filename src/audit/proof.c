#include "audit/proof.h"

#include <string.h>

#include "base/num.h"

static const char first_line[] = "c2sp.org/tlog-proof@v1";

void audit_proof_write(struct buf *out, uint64_t index, const struct audit_proof *proof, const void *extra,
                       size_t extra_len, const char *checkpoint, size_t checkpoint_len)
{
    buf_puts(out, first_line);
    buf_putc(out, '\n');
    if (extra) {
        buf_puts(out, "extra ");
        audit_base64(out, extra, extra_len);
        buf_putc(out, '\n');
    }
    buf_puts(out, "index ");
    buf_u64(out, index);
    buf_putc(out, '\n');
    for (unsigned i = 0; i < proof->n; i++) {
        audit_base64(out, proof->hash[i].b, AUDIT_HASH_BYTES);
        buf_putc(out, '\n');
    }
    buf_putc(out, '\n');
    buf_add(out, checkpoint, checkpoint_len);
}

struct lines { const char *text; size_t len, at; unsigned number; const char *line; size_t n; };

static bool advance(struct lines *l)
{
    const char *end = l->at < l->len ? memchr(l->text + l->at, '\n', l->len - l->at) : NULL;
    if (!end) return false;
    l->line = l->text + l->at;
    l->n = (size_t)(end - l->line);
    l->at += l->n + 1;
    l->number++;
    return true;
}

/* The text after the word and a space, when the line begins so. */
static const char *after(const struct lines *l, const char *word, size_t *ret_len)
{
    size_t n = strlen(word);
    if (l->n <= n || memcmp(l->line, word, n) != 0 || l->line[n] != ' ') return NULL;
    *ret_len = l->n - n - 1;
    return l->line + n + 1;
}

static enum status malformed(const struct lines *l, const char *what, struct err *e)
{
    return err_set(e, STATUS_INVALID, "proof file line %u: %s", l->number, what);
}

static enum status parse_extra(struct arena *a, struct lines *l, struct audit_proof_file *f, struct err *e)
{
    size_t n = 0;
    const char *text = after(l, "extra", &n);
    if (!text) return STATUS_OK;
    uint8_t *bytes = arena_alloc(a, n / 4 * 3 + 1);
    if (!bytes) return err_set(e, STATUS_MEMORY, "no memory for the %zu bytes of a proof file", l->len);
    if (!audit_base64_decode(text, n, bytes, n / 4 * 3, &f->extra_len)) return malformed(l, "extra is not base64", e);
    f->extra = bytes;
    return advance(l) ? STATUS_OK : malformed(l, "cut off after extra", e);
}

static enum status parse_index(struct lines *l, struct audit_proof_file *f, struct err *e)
{
    size_t n = 0;
    const char *text = after(l, "index", &n);
    if (!text || (n > 1 && text[0] == '0') || !num_parse_u64(text, n, &f->index))
        return malformed(l, "expected \"index\" and a decimal number", e);
    return STATUS_OK;
}

static enum status parse_hashes(struct lines *l, struct audit_proof *p, struct err *e)
{
    for (;;) {
        size_t n = 0;
        if (!advance(l)) return malformed(l, "cut off before the checkpoint", e);
        if (l->n == 0) return STATUS_OK;
        if (p->n == AUDIT_PROOF_MAX) return malformed(l, "more hashes than any proof has", e);
        struct audit_hash *h = &p->hash[p->n++];
        if (!audit_base64_decode(l->line, l->n, h->b, sizeof h->b, &n) || n != sizeof h->b)
            return malformed(l, "expected a hash: base64 of 32 bytes", e);
    }
}

enum status audit_proof_parse(struct arena *a, const char *file, size_t len, struct audit_proof_file *ret,
                              struct err *e)
{
    struct audit_proof_file f = {0};
    struct lines l = {.text = file, .len = len};
    if (len > AUDIT_NOTE_MAX)
        return err_set(e, STATUS_LIMIT, "the proof file has %zu bytes; at most %d", len, AUDIT_NOTE_MAX);
    if (!advance(&l) || l.n != sizeof first_line - 1 || memcmp(l.line, first_line, l.n) != 0)
        return err_set(e, STATUS_INVALID, "proof file line 1: expected \"%s\"", first_line);
    if (!advance(&l)) return malformed(&l, "cut off after the first line", e);
    enum status rc = parse_extra(a, &l, &f, e);
    if (rc == STATUS_OK) rc = parse_index(&l, &f, e);
    if (rc == STATUS_OK) rc = parse_hashes(&l, &f.proof, e);
    if (rc != STATUS_OK) return rc;
    f.checkpoint = file + l.at;
    f.checkpoint_len = len - l.at;
    *ret = f;
    return STATUS_OK;
}

enum status audit_proof_verify(struct arena *a, const char *file, size_t len, const void *record, size_t record_len,
                               const struct audit_verifier *v, struct audit_proof_file *ret,
                               struct audit_checkpoint *ret_log, struct err *e)
{
    struct audit_proof_file f;
    struct audit_checkpoint log;
    enum status rc = audit_proof_parse(a, file, len, &f, e);
    if (rc == STATUS_OK) rc = audit_checkpoint_open(&log, f.checkpoint, f.checkpoint_len, v, e);
    if (rc != STATUS_OK) return rc;
    if (!record) {
        if (!f.extra)
            return err_set(e, STATUS_INVALID, "the proof file does not carry its record; give the record as well");
        record = f.extra;
        record_len = f.extra_len;
    }
    struct audit_hash leaf;
    audit_leaf_hash(record, record_len, &leaf);
    if (!audit_check_inclusion(f.index, log.size, &leaf, &f.proof, &log.root))
        return err_set(e, STATUS_DENIED,
                       "the proof does not lead from this record to the signed root: one of them was changed");
    *ret = f;
    *ret_log = log;
    return STATUS_OK;
}
