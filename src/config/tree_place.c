/* Where a byte of a scalar's text stands in the file: walks text and source side by side. */
#include <string.h>

#include "config/tree.h"

struct walk {
    const char *s;       /* source */
    size_t at, end;
};

static bool blank(const struct walk *w)
{
    return w->at < w->end && (w->s[w->at] == ' ' || w->s[w->at] == '\t');
}

static bool newline(const struct walk *w)
{
    return w->at < w->end && (w->s[w->at] == '\n' || w->s[w->at] == '\r');
}

/* Over blanks, line ends and the indentation of the next line: one space or newline of the text. */
static void skip_fold(struct walk *w)
{
    while (blank(w) || newline(w)) w->at++;
}

static size_t escape_length(const struct walk *w)
{
    if (w->at + 1 >= w->end) return 1;
    switch (w->s[w->at + 1]) {
    case 'x': return 4;
    case 'u': return 6;
    case 'U': return 10;
    default: return 2;
    }
}

/* Bytes of the text that the escape at w stands for. */
static size_t escape_bytes(const char *text, size_t len)
{
    unsigned char c = len ? (unsigned char)*text : 0;
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    return n < len ? n : len;
}

/* A backslash at the end of a line of a quoted text: the text goes on in the next line. */
static bool is_joint(const struct config_node *n, const struct walk *w)
{
    if (n->style != CONFIG_DOUBLE_QUOTED || w->s[w->at] != '\\' || w->at + 1 >= w->end) return false;
    return w->s[w->at + 1] == '\n' || w->s[w->at + 1] == '\r';
}

static size_t place_flow(const struct config_node *n, size_t at)
{
    struct walk w = {n->source->bytes, n->offset, n->offset + n->length};
    if (n->style != CONFIG_PLAIN) w.at++;
    for (size_t i = 0; w.at < w.end && (i < at || is_joint(n, &w));) {
        if (is_joint(n, &w)) {
            w.at++;
            skip_fold(&w);
        } else if (n->style == CONFIG_DOUBLE_QUOTED && w.s[w.at] == '\\') {
            w.at += escape_length(&w);
            i += escape_bytes(n->text + i, n->len - i);
        } else if (w.s[w.at] == n->text[i]) {
            bool quote = n->style == CONFIG_SINGLE_QUOTED && w.s[w.at] == '\'';
            struct walk ahead = w;
            while (blank(&ahead)) ahead.at++;
            if (newline(&ahead)) skip_fold(&w);   /* a space or newline that stands for a line's end */
            else w.at += quote ? 2 : 1;
            i++;
        } else if (newline(&w) || blank(&w)) {
            skip_fold(&w);
            while (i < n->len && (n->text[i] == '\n' || n->text[i] == ' ')) i++;
        } else {
            return n->offset;
        }
    }
    return w.at < w.end ? w.at : n->offset;
}

static void skip_line(struct walk *w)
{
    while (w->at < w->end && w->s[w->at] != '\n') w->at++;
    if (w->at < w->end) w->at++;
}

/* Blanks of the first line with content: the indentation of a block scalar. */
static size_t block_indent(struct walk w)
{
    for (;;) {
        size_t from = w.at;
        while (w.at < w.end && w.s[w.at] == ' ') w.at++;
        if (w.at >= w.end) return 0;
        if (!newline(&w)) return w.at - from;
        skip_line(&w);
    }
}

static void skip_indent(struct walk *w, size_t indent)
{
    for (size_t i = 0; i < indent && w->at < w->end && w->s[w->at] == ' '; i++) w->at++;
}

static size_t place_block(const struct config_node *n, size_t at)
{
    struct walk w = {n->source->bytes, n->offset, n->source->len};
    skip_line(&w);
    size_t indent = block_indent(w);
    skip_indent(&w, indent);
    for (size_t i = 0; i < at && w.at < w.end; i++) {
        if (w.s[w.at] == '\r') w.at++;
        bool end = w.at < w.end && w.s[w.at] == '\n';
        if (w.at < w.end && w.s[w.at] != n->text[i] && !(end && n->text[i] == ' ')) return n->offset;
        w.at++;
        if (end) skip_indent(&w, indent);
    }
    return w.at < w.end ? w.at : n->offset;
}

size_t config_tree_place(const struct config_node *n, size_t at)
{
    if (n->kind != CONFIG_SCALAR) return n->offset;
    if (at > n->len) at = n->len;
    return n->style == CONFIG_LITERAL || n->style == CONFIG_FOLDED ? place_block(n, at) : place_flow(n, at);
}
