#include "base/text.h"

#include <stdint.h>
#include <string.h>

enum { WORD_MAX = 64 };

struct text_pos text_pos_at(const char *text, size_t offset)
{
    struct text_pos pos = {1, 1};
    for (size_t i = 0; i < offset && text[i]; i++) {
        if (text[i] == '\n') {
            pos.line++;
            pos.col = 1;
        } else {
            pos.col++;
        }
    }
    return pos;
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Edits (insert, delete, replace, swap of neighbours) between two words of at most WORD_MAX bytes. */
static unsigned edits(const char *a, size_t la, const char *b, size_t lb)
{
    unsigned rows[3][WORD_MAX + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    memset(rows, 0, sizeof rows);
    for (size_t j = 0; j <= lb; j++) last[j] = (unsigned)j;
    for (size_t i = 1; i <= la; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned replace = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(replace, least(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        unsigned *recycled = before;
        before = last;
        last = row;
        row = recycled;
    }
    return last[lb];
}

const char *text_nearest(const char *word, const char *const *candidates, size_t n)
{
    size_t len = strlen(word);
    if (len > WORD_MAX) return NULL;
    unsigned best = (unsigned)(len / 3 + 2);
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t other = candidates[i] ? strlen(candidates[i]) : WORD_MAX + 1;
        if (other > WORD_MAX) continue;
        unsigned d = edits(word, len, candidates[i], other);
        /* As many edits as the word has letters would suggest something unrelated. */
        if (d < best && (d < len || d == 0)) {
            best = d;
            found = candidates[i];
        }
    }
    return found;
}

bool text_copy(char *dst, size_t cap, const char *src)
{
    if (cap == 0) return false;
    size_t len = strlen(src);
    size_t fit = len < cap ? len : cap - 1;
    memcpy(dst, src, fit);
    dst[fit] = '\0';
    return fit == len;
}

bool text_eq(const char *a, const char *b)
{
    if (!a || !b) return a == b;
    return strcmp(a, b) == 0;
}

bool text_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

bool text_is_name(const char *s, size_t max)
{
    if (!s || !is_lower(s[0])) return false;
    size_t len = 1;
    while (is_lower(s[len]) || (s[len] >= '0' && s[len] <= '9') || s[len] == '-' || s[len] == '_') {
        if (++len > max) return false;
    }
    return s[len] == '\0' && len <= max;
}
