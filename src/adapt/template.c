#include "adapt/template.h"

#include <stdio.h>
#include <string.h>

struct word { const char *name, *text; size_t len; bool is_instance; };

static void url_byte(struct buf *out, unsigned char c)
{
    static const char hex[] = "0123456789ABCDEF";
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c);
    if (plain && c) {
        buf_putc(out, (char)c);
        return;
    }
    buf_putc(out, '%');
    buf_putc(out, hex[c >> 4]);
    buf_putc(out, hex[c & 15]);
}

static bool is_host(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._:[]", c);
        if (!ok || !c) return false;
    }
    return len > 0;
}

static bool put(struct buf *out, const struct word *w, enum template_place place, bool quoted, char why[160])
{
    if (place == TEMPLATE_URL && w->is_instance) {
        if (!is_host(w->text, w->len)) {
            snprintf(why, 160, "instance '%.60s' is not host:port, so it cannot stand in an address", w->text);
            return false;
        }
        buf_add(out, w->text, w->len);
    } else if (place == TEMPLATE_URL) {
        for (size_t i = 0; i < w->len; i++) url_byte(out, (unsigned char)w->text[i]);
    } else if (place == TEMPLATE_HEADER) {
        for (size_t i = 0; i < w->len; i++) {
            if ((unsigned char)w->text[i] < ' ' || w->text[i] == 0x7f) {
                snprintf(why, 160, "{%s} holds a control character, so it cannot stand in a header", w->name);
                return false;
            }
        }
        buf_add(out, w->text, w->len);
    } else if (quoted) {
        struct buf escaped = BUF_INIT;
        buf_json_string(&escaped, w->text, w->len);
        if (escaped.len >= 2) buf_add(out, escaped.data + 1, escaped.len - 2);
        buf_free(&escaped);
    } else {
        buf_add(out, w->text, w->len);
    }
    return true;
}

static size_t brace_word(const char *at, const char *name)
{
    size_t n = strlen(name);
    return at[0] == '{' && strncmp(at + 1, name, n) == 0 && at[n + 1] == '}' ? n + 2 : 0;
}

bool template_uses(const char *text, const char *word)
{
    for (; text && *text; text++) {
        if (brace_word(text, word)) return true;
    }
    return false;
}

bool template_expand(struct buf *out, const char *text, enum template_place place, const struct template_words *w,
                     char why[160])
{
    struct word words[] = {
        {"value", w->value, w->value ? w->value_len : 0, false},
        {"old", w->old, w->old ? w->old_len : 0, false},
        {"instance", w->instance, w->instance ? strlen(w->instance) : 0, true},
        {"version", w->version, w->version ? strlen(w->version) : 0, false},
    };
    bool quoted = false;
    for (const char *at = text; *at;) {
        size_t skip = 0;
        for (unsigned i = 0; i < sizeof words / sizeof *words && !skip; i++) {
            skip = brace_word(at, words[i].name);
            if (!skip) continue;
            if (!words[i].text) {
                snprintf(why, 160, "{%s} has no value here", words[i].name);
                return false;
            }
            if (!put(out, &words[i], place, quoted, why)) return false;
        }
        if (skip) {
            at += skip;
            continue;
        }
        if (*at == '\\' && at[1]) buf_putc(out, *at++);
        else if (*at == '"') quoted = !quoted;
        buf_putc(out, *at++);
    }
    if (!buf_ok(out)) snprintf(why, 160, "the request is too long");
    return buf_ok(out);
}
