#include "app/share.h"

#include <string.h>

#include "base/check.h"
#include "base/text.h"

#include <share_bytes.h>

struct file { const char *name; const unsigned char *bytes; size_t len; };

static const struct file *find(const char *name)
{
    static const struct file files[] = {APP_SHARE};
    for (unsigned i = 0; i < ARRAY_LEN(files); i++) {
        if (text_eq(files[i].name, name)) return &files[i];
    }
    return NULL;
}

static const struct share_word *word_at(const char *at, size_t left, const struct share_word *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        size_t len = strlen(words[i].from);
        if (len <= left && memcmp(at, words[i].from, len) == 0) return &words[i];
    }
    return NULL;
}

void share_text(const char *name, const struct share_word *words, unsigned n, struct buf *out)
{
    const struct file *f = find(name);
    CHECK(f != NULL);
    const char *text = (const char *)f->bytes;
    for (size_t i = 0; i < f->len;) {
        const struct share_word *w = text[i] == '@' ? word_at(text + i, f->len - i, words, n) : NULL;
        if (w) buf_puts(out, w->to);
        else buf_putc(out, text[i]);
        i += w ? strlen(w->from) : 1;
    }
}
