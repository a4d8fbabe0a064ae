/* One scalar by its key's type. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "config/read.h"

#define TEXT_BYTES_MAX 4096

struct scalar {
    struct config_diagnostics *d;
    const struct config_key *key;
    const struct config_node *node;      /* NULL: a default, which is right by construction */
    const char *text;
    size_t len;
};

static bool wrong(const struct scalar *s, const char *what, const char *hint)
{
    if (s->node) config_wrong(s->d, s->node, hint, "%s: '%.80s' %s", s->key->name, s->text, what);
    return false;
}

static bool in_range(const struct scalar *s, double v, const char *unit, double factor)
{
    const struct config_key *k = s->key;
    if ((k->least == 0 && k->most == 0) || (v >= k->least && v <= k->most)) return true;
    char low[NUM_TEXT_MAX], high[NUM_TEXT_MAX];
    num_print(low, k->least * factor);
    num_print(high, k->most * factor);
    if (s->node)
        config_wrong(s->d, s->node, NULL, "%s must be %s%s%s%s%s, not '%.80s'", k->name, low, unit,
                     k->least < k->most ? " to " : "", k->least < k->most ? high : "", k->least < k->most ? unit : "",
                     s->text);
    return false;
}

static bool read_word(const struct scalar *s, struct config_value *ret)
{
    const char *const *words = config_words(s->key->type);
    size_t n = 0;
    while (words[n]) n++;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], s->text) != 0) continue;
        ret->word = (int)i;
        ret->text = words[i];
        return true;
    }
    if (s->key->type == CONFIG_UNIT_TYPE && unit_parse(s->text, &ret->unit)) {
        ret->word = (int)ret->unit;
        return true;
    }
    struct buf all = BUF_INIT;
    for (size_t i = 0; i < n; i++)
        if (words[i][0]) buf_printf(&all, "%s%s", all.len ? ", " : "one of ", words[i]);
    char hint[200];
    config_nearest(hint, sizeof hint, s->text, words, n, buf_text(&all));
    bool ok = wrong(s, s->key->type == CONFIG_UNIT_TYPE ? "is no unit that is known here" : "is not possible here", hint);
    buf_free(&all);
    return ok;
}

static bool read_duration(const struct scalar *s, struct config_value *ret)
{
    double bare;
    if (s->len == 0 || s->len > 64 || span_parse(s->text, (unsigned)s->len, &ret->span) != s->len) {
        if (num_parse_all(s->text, s->len, &bare)) return wrong(s, "has no unit", "write 30s, 5m, 2h, 1d or 500ms");
        return wrong(s, "is not a duration", "write 30s, 5m, 1h30m, 2d or 500ms: largest unit first, no blanks");
    }
    return in_range(s, span_seconds(ret->span), " s", 1);
}

static bool read_fraction(const struct scalar *s, struct config_value *ret)
{
    size_t n = num_parse(s->text, s->len, &ret->number);
    size_t rest = n;
    while (rest < s->len && s->text[rest] == ' ') rest++;
    if (n && rest + 1 == s->len && s->text[rest] == '%') ret->number /= 100;
    else if (!n || n != s->len) return wrong(s, "is not a fraction", "write 0.05 or 5%");
    if (!isfinite(ret->number)) return wrong(s, "is not a finite number", NULL);
    return in_range(s, ret->number, "", 1);
}

static bool read_number(const struct scalar *s, struct config_value *ret)
{
    if (!num_parse_all(s->text, s->len, &ret->number) || !isfinite(ret->number)) return wrong(s, "is not a number", NULL);
    return in_range(s, ret->number, "", 1);
}

static bool read_count(const struct scalar *s, struct config_value *ret)
{
    int64_t v;
    if (!num_parse_i64(s->text, s->len, &v)) return wrong(s, "is not a whole number", NULL);
    if (!in_range(s, (double)v, "", 1)) return false;
    ret->word = (int)v;
    ret->number = (double)v;
    return true;
}

static bool read_bool(const struct scalar *s, struct config_value *ret)
{
    ret->flag = strcmp(s->text, "true") == 0;
    if (ret->flag || strcmp(s->text, "false") == 0) return true;
    return wrong(s, "is neither true nor false", "write true or false");
}

static bool read_text(const struct scalar *s, struct config_value *ret)
{
    if (s->len > TEXT_BYTES_MAX) {
        if (s->node) config_wrong(s->d, s->node, NULL, "%s is longer than 4,096 bytes", s->key->name);
        return false;
    }
    for (size_t i = 0; i < s->len; i++)
        if ((unsigned char)s->text[i] < 0x20 && s->text[i] != '\n' && s->text[i] != '\t')
            return wrong(s, "holds a control character", NULL);
    ret->text = s->text;
    return true;
}

static bool read_checked(const struct scalar *s, const char *what, const char *hint, struct config_value *ret)
{
    if (what) return wrong(s, what, hint);
    return read_text(s, ret);
}

static bool read_name(const struct scalar *s, struct config_value *ret)
{
    ret->text = s->text;
    if (text_is_name(s->text, 63)) return true;
    return wrong(s, "is not a name", "a to z, digits, - and _, beginning with a letter; at most 63 bytes");
}

static bool read_url(const struct scalar *s, struct config_value *ret)
{
    const char *what = config_check_url(s->text, s->len);
    if (!what) return read_text(s, ret);
    if (s->node && strstr(what, "secret")) {
        config_report_secret(s->d, s->node->source, s->node->offset, 1, s->node->offset,
                             "put the address into a file, or the token into the key ending in _file",
                             "a secret in the configuration: this address holds a password or a key");
        return false;
    }
    return wrong(s, what, "write http://host:port/path");
}

static bool read_place_in_time(const struct scalar *s, struct config_value *ret)
{
    switch (s->key->type) {
    case CONFIG_OFFSET_TYPE:
        return config_parse_offset(s->text, s->len, &ret->word) ||
               wrong(s, "is not an offset from UTC", "write +08:00 or -05:30");
    case CONFIG_CLOCK_TYPE:
        return config_parse_clock(s->text, s->len, &ret->word) || wrong(s, "is not a time of day", "write 00:00 to 24:00");
    default:
        return wall_parse(s->text, &ret->wall) || wrong(s, "is not a time", "write 2027-01-31 or 2027-01-31T18:00:00+08:00");
    }
}

static bool read_quantity(const struct scalar *s, struct config_value *ret)
{
    if (!config_quantity(s->d, s->node, s->key->name, s->text, s->len, ret)) return false;
    return in_range(s, ret->number, "", 1);
}

bool config_read_scalar(struct config_diagnostics *d, const struct config_key *key, const struct config_node *node,
                        const char *text, size_t len, struct config_value *ret)
{
    struct scalar s = {d, key, node, text, len};
    switch (key->type) {
    case CONFIG_NAME_TYPE:
    case CONFIG_SIGNAL_TYPE: return read_name(&s, ret);
    case CONFIG_URL_TYPE: return read_url(&s, ret);
    case CONFIG_ADDRESS_TYPE:
        return read_checked(&s, config_check_address(text, len), "write 127.0.0.1:7373", ret);
    case CONFIG_FILENAME_TYPE: return read_checked(&s, len && len < 1024 ? NULL : "is not a file name", NULL, ret);
    case CONFIG_ORIGIN_TYPE:
        return read_checked(&s, config_check_origin(text, len),
                            "a name such as trimtab/prod-cn: no blanks, no +, no scheme", ret);
    case CONFIG_POINTER_TYPE:
        return read_checked(&s, config_check_pointer(text, len), "write /key/0/key, or leave it empty for the whole text", ret);
    case CONFIG_DURATION_TYPE: return read_duration(&s, ret);
    case CONFIG_FRACTION_TYPE: return read_fraction(&s, ret);
    case CONFIG_COUNT_TYPE: return read_count(&s, ret);
    case CONFIG_NUMBER_TYPE: return read_number(&s, ret);
    case CONFIG_QUANTITY_TYPE: return read_quantity(&s, ret);
    case CONFIG_BOOL_TYPE: return read_bool(&s, ret);
    case CONFIG_OFFSET_TYPE:
    case CONFIG_CLOCK_TYPE:
    case CONFIG_TIME_TYPE: return read_place_in_time(&s, ret);
    case CONFIG_RULE_TYPE:
    case CONFIG_QUERY_TYPE: return len ? read_text(&s, ret) : wrong(&s, "is empty", NULL);
    default: return config_words(key->type) ? read_word(&s, ret) : read_text(&s, ret);
    }
}
