#include "app/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/num.h"
#include "base/text.h"
#include "base/time.h"

bool output_of(const struct args *a, enum output *ret)
{
    static const char *const words[] = {"wide", "json", "yaml"};
    const char *word = args_text(a, "output");
    *ret = OUTPUT_SHORT;
    if (!word || text_eq(word, "table")) return true;
    for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
        if (!text_eq(word, words[i])) continue;
        *ret = (enum output)(OUTPUT_WIDE + i);
        return true;
    }
    fprintf(stderr, "trimtab %s: -o takes json, yaml, wide or table, not '%s'\n", a->command->name, word);
    return false;
}

static void indent(struct buf *b, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++) buf_puts(b, "  ");
}

static void scalar(struct buf *b, const json_t *v)
{
    if (json_is_string(v)) buf_json_string(b, json_string_value(v), json_string_length(v));
    else if (json_is_integer(v)) buf_i64(b, json_integer_value(v));
    else if (json_is_real(v)) buf_double(b, json_real_value(v));
    else buf_puts(b, json_is_true(v) ? "true" : json_is_false(v) ? "false" : "null");
}

void output_json(struct buf *b, const json_t *value, unsigned depth)
{
    const char *key;
    json_t *item;
    size_t i = 0;
    bool list = json_is_array(value);
    if (!list && !json_is_object(value)) {
        scalar(b, value);
        return;
    }
    size_t n = list ? json_array_size(value) : json_object_size(value);
    buf_putc(b, list ? '[' : '{');
    if (list) {
        json_array_foreach(value, i, item) {
            buf_puts(b, i ? ",\n" : "\n");
            indent(b, depth + 1);
            output_json(b, item, depth + 1);
        }
    } else {
        json_object_foreach((json_t *)(uintptr_t)value, key, item) {
            buf_puts(b, i++ ? ",\n" : "\n");
            indent(b, depth + 1);
            buf_json_string(b, key, strlen(key));
            buf_puts(b, ": ");
            output_json(b, item, depth + 1);
        }
    }
    if (n) {
        buf_putc(b, '\n');
        indent(b, depth);
    }
    buf_putc(b, list ? ']' : '}');
}

static bool is_block(const json_t *v)
{
    return (json_is_array(v) && json_array_size(v) > 0) || (json_is_object(v) && json_object_size(v) > 0);
}

static void yaml_leaf(struct buf *b, const json_t *v)
{
    if (json_is_array(v)) buf_puts(b, "[]");
    else if (json_is_object(v)) buf_puts(b, "{}");
    else scalar(b, v);              /* a JSON string is a double-quoted YAML one */
    buf_putc(b, '\n');
}

static void yaml_item(struct buf *b, const json_t *v, unsigned depth)
{
    if (!is_block(v)) {
        yaml_leaf(b, v);
        return;
    }
    size_t from = b->len;
    output_yaml(b, v, depth);
    /* The first line stands behind the dash. */
    size_t cut = (size_t)2 * depth;
    memmove(b->data + from, b->data + from + cut, b->len - from - cut + 1);
    b->len -= cut;
}

void output_yaml(struct buf *b, const json_t *value, unsigned depth)
{
    const char *key;
    json_t *item;
    size_t i;
    if (!is_block(value)) {
        yaml_leaf(b, value);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, item) {
            indent(b, depth);
            buf_puts(b, "- ");
            yaml_item(b, item, depth + 1);
        }
    } else {
        json_object_foreach((json_t *)(uintptr_t)value, key, item) {
            indent(b, depth);
            buf_puts(b, key);
            buf_puts(b, is_block(item) ? ":\n" : ": ");
            if (is_block(item)) output_yaml(b, item, depth + 1);
            else yaml_leaf(b, item);
        }
    }
}

bool output_value(enum output o, const json_t *value)
{
    struct buf b = BUF_INIT;
    if (o != OUTPUT_JSON && o != OUTPUT_YAML) return false;
    if (o == OUTPUT_JSON) {
        output_json(&b, value, 0);
        buf_putc(&b, '\n');
    } else {
        output_yaml(&b, value, 0);
    }
    fwrite(buf_text(&b), 1, b.len, stdout);
    buf_free(&b);
    return true;
}

/* ---- values for people ---- */

const char *text_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

bool is_true(const json_t *object, const char *key) { return json_is_true(json_object_get(object, key)); }

void number_text(struct buf *b, const json_t *number, const char *unit)
{
    if (!json_is_number(number)) {
        buf_puts(b, "-");
        return;
    }
    bool ratio = text_eq(unit, "ratio");
    buf_sig3(b, json_number_value(number) * (ratio ? 100 : 1));
    if (ratio) buf_puts(b, " %");
    else if (unit && unit[0]) buf_printf(b, " %s", unit);
}

void clock_text(struct buf *b, const char *rfc3339, const char *day)
{
    if (strlen(rfc3339) < 19) {
        buf_puts(b, "-");
        return;
    }
    if (strlen(day) < 10 || strncmp(rfc3339, day, 10) != 0) {
        buf_add(b, rfc3339, 10);
        buf_putc(b, ' ');
    }
    buf_add(b, rfc3339 + 11, 8);
}

void age_text(struct buf *b, const json_t *seconds)
{
    if (!json_is_number(seconds)) {
        buf_puts(b, "-");
        return;
    }
    span_print(b, (struct span){(int64_t)(json_number_value(seconds) * 1e6)});
}

bool output_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no && no[0]) && !(term && text_eq(term, "dumb")) && isatty(STDOUT_FILENO);
}

enum tone output_tone(const char *word)
{
    static const struct { const char *word; enum tone tone; } tones[] = {
        {"normal", TONE_GOOD}, {"watching", TONE_GOOD}, {"effective", TONE_GOOD}, {"partial", TONE_GOOD}, {"suspect", TONE_WARN},
        {"firing", TONE_BAD}, {"open", TONE_WARN}, {"person", TONE_BAD}, {"awaiting", TONE_WARN}, {"halted", TONE_BAD},
        {"unknown", TONE_WARN}, {"learning", TONE_FAINT}, {"warming", TONE_FAINT}, {"ineffective", TONE_WARN},
        {"harmful", TONE_BAD}, {"inconclusive", TONE_WARN}, {"shut", TONE_WARN}, {"no", TONE_BAD}, {"down", TONE_BAD},
    };
    for (unsigned i = 0; i < ARRAY_LEN(tones); i++) {
        if (text_eq(word, tones[i].word)) return tones[i].tone;
    }
    return TONE_PLAIN;
}
