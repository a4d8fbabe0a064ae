#include "expr/lex.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "expr/fault.h"
#include "expr/unit.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(char c) { return is_letter(c) || is_digit(c); }

static uint32_t word_end(const char *text, uint32_t at)
{
    while (is_word(text[at])) at++;
    return at;
}

static bool word_is(const char *text, uint32_t at, uint32_t end, const char *word)
{
    return strlen(word) == end - at && memcmp(text + at, word, end - at) == 0;
}

/* Words that other languages use for our operators, and wide characters of an input method. */
static const struct { const char *seen, *hint; } foreign[] = {
    {"&&", "write 'and'"}, {"||", "write 'or'"}, {"&", "write 'and'"}, {"|", "write 'or'"}, {"!", "write 'not'"},
    {"=", "write '=='"}, {"AND", "write 'and'"}, {"OR", "write 'or'"}, {"NOT", "write 'not'"},
    {"\xEF\xBC\x9E", "write the plain '>'"}, {"\xEF\xBC\x9C", "write the plain '<'"},
    {"\xEF\xBC\x88", "write the plain '('"}, {"\xEF\xBC\x89", "write the plain ')'"},
    {"\xEF\xBC\x8C", "write the plain ','"}, {"\xEF\xBC\x9D", "write the plain '=='"},
    {"\xEF\xBC\x85", "write the plain '%'"}, {"\xE2\x89\xA5", "write '>='"}, {"\xE2\x89\xA4", "write '<='"},
    {"\xE2\x89\xA0", "write '!='"}, {"\xC3\x97", "write '*'"}, {"\xE2\x88\x92", "write the plain '-'"},
};

/* Bytes of the character at `text`, as far as its first byte and the end of the text allow. */
static size_t character_length(const char *text)
{
    unsigned char c = (unsigned char)text[0];
    size_t want = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1, n = 1;
    while (n < want && ((unsigned char)text[n] & 0xC0) == 0x80) n++;
    return n;
}

static bool stray(const char *text, uint32_t at, struct expr_error *error)
{
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
        size_t n = strlen(foreign[i].seen);
        if (strncmp(text + at, foreign[i].seen, n) == 0)
            return expr_fault(error, text, at, n, foreign[i].hint, "unexpected '%s'", foreign[i].seen);
    }
    size_t n = character_length(text + at);
    char quote[EXPR_QUOTE];
    if (text[at] >= ' ' && text[at] <= '~')
        return expr_fault(error, text, at, n, NULL, "unexpected '%s'", expr_quote(quote, text, at, n));
    return expr_fault(error, text, at, n, "rules are written in plain ASCII", "unexpected byte 0x%02X",
                      (unsigned)(unsigned char)text[at]);
}

static bool unknown_unit(const char *text, uint32_t at, uint32_t end, struct expr_error *error)
{
    char quote[EXPR_QUOTE], hint[sizeof error->hint];
    expr_quote(quote, text, at, end - at);
    const char *near = expr_unit_nearest(quote);
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    else
        snprintf(hint, sizeof hint,
                 "units are us ms s m h d %% ratio B KB MB GB /s MB/s W C MHz; or an operator is missing");
    return expr_fault(error, text, at, end - at, hint, "unknown unit '%s'", quote);
}

/* "s" after a slash that stands for a rate: 100 /s. */
static bool per_second(const char *text, uint32_t at)
{
    return text[at] == '/' && text[at + 1] == 's' && !is_word(text[at + 2]) && text[at + 2] != '(';
}

static bool is_keyword(const char *text, uint32_t at, uint32_t end)
{
    static const char *const words[] = {"and", "or", "not", "AND", "OR", "NOT"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (word_is(text, at, end, words[i])) return true;
    return false;
}

/* The unit after a number, if there is one; moves *at behind it. */
static bool lex_unit(const char *text, uint32_t *at, struct expr_token *t, struct expr_error *error)
{
    uint32_t from = *at;
    while (text[from] == ' ') from++;
    uint32_t end = from;
    if (text[from] == '%') {
        end = from + 1;
    } else if (per_second(text, from)) {
        end = from + 2;
    } else if (is_letter(text[from])) {
        while (is_letter(text[end])) end++;  /* no digits: 1h30m */
        if (is_keyword(text, from, end)) return true;
        if (per_second(text, end)) end += 2;
    } else {
        return true;
    }
    char word[16] = "";
    if (end - from < sizeof word) memcpy(word, text + from, end - from);
    if (!word[0] || !unit_parse(word, &t->unit)) return unknown_unit(text, from, end, error);
    t->has_unit = true;
    *at = end;
    return true;
}

static bool lex_value(const char *text, uint32_t *at, double *ret, struct expr_error *error)
{
    size_t n = num_parse(text + *at, strlen(text + *at), ret);
    if (!isfinite(*ret)) return expr_fault(error, text, *at, n, NULL, "the number is too large");
    *at += (uint32_t)n;
    return true;
}

/* 1h30m: each further part directly behind, in a smaller unit. The sum is kept in the smallest. */
static bool lex_parts(const char *text, uint32_t *at, struct expr_token *t, struct expr_error *error)
{
    while (t->has_unit && unit_dimension(t->unit) == DIM_TIME && is_digit(text[*at])) {
        struct expr_token part = {0};
        uint32_t from = *at;
        if (!lex_value(text, at, &part.number, error) || !lex_unit(text, at, &part, error)) return false;
        if (!part.has_unit || unit_dimension(part.unit) != DIM_TIME || part.unit >= t->unit)
            return expr_fault(error, text, from, *at - from, "write it like 1h30m, largest first",
                              "a duration goes from larger to smaller units");
        double factor;
        bool divide = expr_unit_factor(t->unit, part.unit, &factor);
        t->number = (divide ? t->number / factor : t->number * factor) + part.number;
        t->unit = part.unit;
    }
    return true;
}

static bool lex_number(const char *text, uint32_t at, struct expr_token *t, struct expr_error *error)
{
    t->kind = TOKEN_NUMBER;
    if (!lex_value(text, &at, &t->number, error) || !lex_unit(text, &at, t, error)) return false;
    if (!lex_parts(text, &at, t, error)) return false;
    t->length = at - t->offset;
    return true;
}

static bool lex_name(const char *text, uint32_t at, struct expr_token *t, struct expr_error *error)
{
    uint32_t end = word_end(text, at);
    static const struct { const char *word; enum expr_token_kind kind; enum expr_op op; } words[] = {
        {"and", TOKEN_OPERATOR, OP_AND}, {"or", TOKEN_OPERATOR, OP_OR}, {"not", TOKEN_OPERATOR, OP_NOT},
        {"true", TOKEN_TRUE, OP_BOOL}, {"false", TOKEN_FALSE, OP_BOOL},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!word_is(text, at, end, words[i].word)) continue;
        t->kind = words[i].kind;
        t->op = words[i].op;
        t->length = end - at;
        return true;
    }
    if (is_keyword(text, at, end)) return stray(text, at, error);
    while (text[end] == '-' && is_word(text[end + 1])) end = word_end(text, end + 1);
    t->kind = TOKEN_NAME;
    t->length = end - at;
    return true;
}

static bool lex_symbol(const char *text, uint32_t at, struct expr_token *t, struct expr_error *error)
{
    static const struct { const char *text; enum expr_token_kind kind; enum expr_op op; } symbols[] = {
        {">=", TOKEN_OPERATOR, OP_GE}, {"<=", TOKEN_OPERATOR, OP_LE}, {"==", TOKEN_OPERATOR, OP_EQ},
        {"!=", TOKEN_OPERATOR, OP_NE}, {">", TOKEN_OPERATOR, OP_GT}, {"<", TOKEN_OPERATOR, OP_LT},
        {"+", TOKEN_OPERATOR, OP_ADD}, {"-", TOKEN_OPERATOR, OP_SUB}, {"*", TOKEN_OPERATOR, OP_MUL},
        {"/", TOKEN_OPERATOR, OP_DIV}, {"(", TOKEN_OPEN, OP_BOOL}, {")", TOKEN_CLOSE, OP_BOOL},
        {",", TOKEN_COMMA, OP_BOOL},
    };
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        size_t n = strlen(symbols[i].text);
        if (strncmp(text + at, symbols[i].text, n) != 0) continue;
        t->kind = symbols[i].kind;
        t->op = symbols[i].op;
        t->length = (uint32_t)n;
        return true;
    }
    return stray(text, at, error);
}

bool expr_lex(const char *text, uint32_t at, struct expr_token *ret, struct expr_error *error)
{
    while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') at++;
    *ret = (struct expr_token){.kind = TOKEN_END, .offset = at};
    if (!text[at]) return true;
    if (is_digit(text[at]) || (text[at] == '.' && is_digit(text[at + 1]))) return lex_number(text, at, ret, error);
    if (is_letter(text[at])) return lex_name(text, at, ret, error);
    return lex_symbol(text, at, ret, error);
}
