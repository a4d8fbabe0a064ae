#include "base/utf8.h"

#include "base/check.h"

struct range { uint32_t first, last; };

/* Marks that stand on the character before them, and invisible format characters. */
static const struct range zero_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f}, {0x06d6, 0x06dc},
    {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};

/* East Asian Wide and Fullwidth, and emoji that terminals draw in two cells. */
static const struct range two_columns[] = {
    {0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x25fd, 0x25fe}, {0x2614, 0x2615},
    {0x26a1, 0x26a1}, {0x26d4, 0x26d4}, {0x2705, 0x2705}, {0x274c, 0x274c}, {0x2753, 0x2755}, {0x2795, 0x2797},
    {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3},
    {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

static bool in_ranges(uint32_t c, const struct range *r, size_t n)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (c > r[mid].last) lo = mid + 1;
        else if (c < r[mid].first) hi = mid;
        else return true;
    }
    return false;
}

/* Length promised by the first byte, its payload bits, and the smallest code point that needs the length. */
static unsigned lead_byte(unsigned char b, uint32_t *bits, uint32_t *least)
{
    if (b < 0x80) { *bits = b; *least = 0; return 1; }
    if (b >= 0xc2 && b < 0xe0) { *bits = b & 0x1f; *least = 0x80; return 2; }
    if (b >= 0xe0 && b < 0xf0) { *bits = b & 0x0f; *least = 0x800; return 3; }
    if (b >= 0xf0 && b < 0xf5) { *bits = b & 0x07; *least = 0x10000; return 4; }
    return 0;
}

unsigned utf8_next(const char *s, size_t len, uint32_t *ret_codepoint)
{
    if (len == 0) return 0;
    uint32_t c = 0, least = 0;
    unsigned size = lead_byte((unsigned char)s[0], &c, &least);
    if (size == 0 || size > len) return 0;
    for (unsigned i = 1; i < size; i++) {
        unsigned char b = (unsigned char)s[i];
        if ((b & 0xc0) != 0x80) return 0;
        c = c << 6 | (b & 0x3f);
    }
    if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
    if (ret_codepoint) *ret_codepoint = c;
    return size;
}

bool utf8_valid(const char *s, size_t len)
{
    size_t at = 0;
    while (at < len) {
        unsigned size = (unsigned char)s[at] < 0x80 ? 1 : utf8_next(s + at, len - at, NULL);
        if (size == 0) return false;
        at += size;
    }
    return true;
}

unsigned utf8_columns(const char *s, size_t len)
{
    unsigned columns = 0;
    size_t at = 0;
    while (at < len) {
        uint32_t c = 0;
        unsigned size = utf8_next(s + at, len - at, &c);
        if (size == 0) columns++;
        else if (in_ranges(c, two_columns, ARRAY_LEN(two_columns))) columns += 2;
        else if (!in_ranges(c, zero_width, ARRAY_LEN(zero_width))) columns++;
        at += size ? size : 1;
    }
    return columns;
}

size_t utf8_cut(const char *s, size_t len, size_t max)
{
    size_t end = len < max ? len : max;
    /* Step back over at most three continuation bytes to the lead byte of the last sequence. */
    size_t back = 0;
    while (back < 3 && back < end && ((unsigned char)s[end - 1 - back] & 0xc0) == 0x80) back++;
    if (back >= end) return end;
    uint32_t bits = 0, least = 0;
    size_t start = end - 1 - back;
    unsigned size = lead_byte((unsigned char)s[start], &bits, &least);
    return size > back + 1 ? start : end;
}
