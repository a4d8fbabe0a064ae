#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "promql/ast.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(char c) { return is_word_start(c) || is_digit(c); }

static char peek(const struct lexer *l, size_t k) { return l->at + k < l->len ? l->text[l->at + k] : '\0'; }

static void token_error(struct lexer *l, struct token *t, const char *why)
{
    t->kind = TOK_ERROR;
    t->why = why;
    t->len = l->at > t->at ? l->at - t->at : 1;
}

static void skip_space(struct lexer *l)
{
    while (l->at < l->len) {
        char c = l->text[l->at];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') l->at++;
        else if (c == '#')
            while (l->at < l->len && l->text[l->at] != '\n') l->at++;
        else return;
    }
}

/* ---- text in quotes ---- */

static int hex_of(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static void add_utf8(struct buf *b, uint32_t c)
{
    if (c < 0x80) buf_putc(b, (char)c);
    else if (c < 0x800) buf_putc(b, (char)(0xc0 | c >> 6));
    else if (c < 0x10000) buf_putc(b, (char)(0xe0 | c >> 12));
    else buf_putc(b, (char)(0xf0 | c >> 18));
    if (c >= 0x10000) buf_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
    if (c >= 0x800) buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
    if (c >= 0x80) buf_putc(b, (char)(0x80 | (c & 0x3f)));
}

/* \xHH, \uHHHH, \UHHHHHHHH, \OOO behind the backslash. */
static bool read_code(struct lexer *l, struct buf *out)
{
    char c = l->text[l->at];
    int base = is_digit(c) ? 8 : 16;
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : is_digit(c) ? 3 : 0;
    if (digits == 0) return false;
    if (base == 16) l->at++;
    uint32_t v = 0;
    for (size_t i = 0; i < digits; i++) {
        int d = hex_of(peek(l, 0));
        if (d < 0 || d >= base) return false;
        v = v * (uint32_t)base + (uint32_t)d;
        l->at++;
    }
    if (c == 'x' || base == 8) {
        if (v > 255 || v == 0) return false;
        buf_putc(out, (char)v);
        return true;
    }
    if (v == 0 || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff)) return false;
    add_utf8(out, v);
    return true;
}

static bool read_escape(struct lexer *l, struct buf *out, char quote)
{
    static const char from[] = "abfnrtv\\", to[] = "\a\b\f\n\r\t\v\\";
    l->at++;
    char c = peek(l, 0);
    const char *hit = c ? strchr(from, c) : NULL;
    if (hit || c == quote) {
        buf_putc(out, hit ? to[hit - from] : c);
        l->at++;
        return true;
    }
    return l->at < l->len && read_code(l, out);
}

static void lex_string(struct lexer *l, struct token *t)
{
    char quote = l->text[l->at++];
    struct buf out = BUF_INIT;
    const char *why = NULL;
    for (;;) {
        if (l->at >= l->len || (l->text[l->at] == '\n' && quote != '`')) { why = "the text's closing quote is missing"; break; }
        char c = l->text[l->at];
        if (c == quote) break;
        if (c == '\0') { why = "a NUL byte"; break; }
        if (c == '\\' && quote != '`') {
            if (!read_escape(l, &out, quote)) { why = "this escape means nothing"; break; }
        } else {
            buf_putc(&out, c);
            l->at++;
        }
    }
    if (!why && !utf8_valid(buf_text(&out), out.len)) why = "the text is not UTF-8";
    if (why) {
        token_error(l, t, why);
    } else {
        l->at++;
        t->kind = TOK_STRING;
        t->string = arena_strndup(l->arena, buf_text(&out), out.len);
        t->len = l->at - t->at;
        if (!t->string) token_error(l, t, "out of memory");
    }
    buf_free(&out);
}

/* ---- numbers ---- */

static void lex_hex(struct lexer *l, struct token *t)
{
    double v = 0;
    size_t digits = 0;
    l->at += 2;
    for (int d; (d = hex_of(peek(l, 0))) >= 0; l->at++, digits++) v = v * 16 + d;
    t->kind = TOK_NUMBER;
    t->number = v;
    t->len = l->at - t->at;
    if (digits == 0 || is_word(peek(l, 0))) token_error(l, t, "not a number");
}

/* A number, or a duration when a unit follows its digits. */
static void lex_number(struct lexer *l, struct token *t)
{
    if (peek(l, 0) == '0' && (peek(l, 1) == 'x' || peek(l, 1) == 'X')) {
        lex_hex(l, t);
        return;
    }
    struct span d;
    const char *s = l->text + l->at;
    size_t left = l->len - l->at;
    unsigned dlen = span_parse(s, left > 64 ? 64 : (unsigned)left, &d);
    size_t nlen = num_parse(s, left, &t->number);
    if (dlen > nlen && !(dlen < left && is_word(s[dlen]))) {
        t->kind = TOK_DURATION;
        t->ms = d.us / US_PER_MS;
        t->number = span_seconds(d);
        l->at += dlen;
    } else {
        t->kind = TOK_NUMBER;
        l->at += nlen ? nlen : 1;
        if (nlen == 0 || is_word(peek(l, 0))) {
            while (is_word(peek(l, 0))) l->at++;
            token_error(l, t, "neither a number nor a duration such as 5m");
            return;
        }
    }
    t->len = l->at - t->at;
}

/* ---- words and signs ---- */

static void lex_word(struct lexer *l, struct token *t)
{
    while (is_word(peek(l, 0)) || peek(l, 0) == ':') l->at++;
    t->kind = TOK_WORD;
    t->len = l->at - t->at;
}

static const struct { const char text[3]; enum token_kind kind; } signs[] = {
    {"==", TOK_EQEQ}, {"!=", TOK_NE}, {"<=", TOK_LE}, {">=", TOK_GE}, {"=~", TOK_RE}, {"!~", TOK_NRE},
    {"(", TOK_LPAREN}, {")", TOK_RPAREN}, {"{", TOK_LBRACE}, {"}", TOK_RBRACE}, {"[", TOK_LBRACKET},
    {"]", TOK_RBRACKET}, {",", TOK_COMMA}, {"@", TOK_AT}, {"+", TOK_ADD}, {"-", TOK_SUB}, {"*", TOK_MUL},
    {"/", TOK_DIV}, {"%", TOK_MOD}, {"^", TOK_POW}, {"=", TOK_EQ}, {"<", TOK_LT}, {">", TOK_GT}, {":", TOK_COLON},
};

void pq_lex_next(struct lexer *l, struct token *t)
{
    skip_space(l);
    *t = (struct token){.kind = TOK_END, .at = l->at};
    if (l->at >= l->len) return;
    char c = l->text[l->at];
    if (c == '"' || c == '\'' || c == '`') { lex_string(l, t); return; }
    if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) { lex_number(l, t); return; }
    if (is_word_start(c) || (c == ':' && is_word_start(peek(l, 1)))) { lex_word(l, t); return; }
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        size_t n = strlen(signs[i].text);
        if (l->len - l->at >= n && memcmp(l->text + l->at, signs[i].text, n) == 0) {
            l->at += n;
            t->kind = signs[i].kind;
            t->len = n;
            return;
        }
    }
    l->at++;
    token_error(l, t, "this character has no meaning here");
}
