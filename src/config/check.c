/* Forms of single values, and the words with which things are said about nodes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "config/read.h"

PRINTF_LIKE(5, 0)
static void say(struct config_diagnostics *d, enum config_severity severity, const struct config_node *at, const char *hint,
                const char *fmt, va_list ap)
{
    char text[400];
    vsnprintf(text, sizeof text, fmt, ap);
    config_report(d, severity, at->source, at->offset, at->length, hint, "%s", text);
}

void config_wrong(struct config_diagnostics *d, const struct config_node *at, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(d, CONFIG_ERROR, at, hint, fmt, ap);
    va_end(ap);
}

void config_warn(struct config_diagnostics *d, const struct config_node *at, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(d, CONFIG_WARNING, at, hint, fmt, ap);
    va_end(ap);
}

void config_wrong_in(struct config_diagnostics *d, const struct config_node *at, size_t from, size_t length, const char *hint,
                     const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    config_report(d, CONFIG_ERROR, at->source, config_tree_place(at, from), length, hint, "%s", text);
}

const char *config_nearest(char *out, size_t cap, const char *word, const char *const *words, size_t n,
                           const char *otherwise)
{
    const char *near = text_nearest(word, words, n);
    if (near) snprintf(out, cap, "did you mean '%s'?", near);
    else if (!text_copy(out, cap, otherwise ? otherwise : "")) out[cap - 1] = '\0';
    return out;
}

uint32_t config_items(const struct config_node *node)
{
    return node->kind == CONFIG_LIST || node->kind == CONFIG_MAP ? node->n : 1;
}

const struct config_node *config_item(const struct config_node *node, uint32_t i)
{
    return node->kind == CONFIG_LIST ? node->items[i] : node;
}

bool config_quantity(struct config_diagnostics *d, const struct config_node *node, const char *what, const char *text,
                     size_t len, struct config_value *ret)
{
    char hint[120];
    size_t n = num_parse(text, len, &ret->number);
    if (!n || !isfinite(ret->number)) {
        if (node) config_wrong(d, node, "write a number and its unit, as 80 ms", "%s: '%.80s' is not a quantity", what, text);
        return false;
    }
    while (n < len && text[n] == ' ') n++;
    ret->has_unit = n < len;
    if (!ret->has_unit || unit_parse(text + n, &ret->unit)) return true;
    const char *const *words = config_words(CONFIG_UNIT_TYPE);
    size_t count = 0;
    while (words[count]) count++;
    if (node)
        config_wrong_in(d, node, n, len - n, config_nearest(hint, sizeof hint, text + n, words, count, NULL),
                        "%s: '%.40s' is no unit that is known here", what, text + n);
    return false;
}

bool config_secret_word(const char *name)
{
    static const char *const words[] = {"token",  "password", "passwd", "secret", "bearer", "api_key",
                                        "apikey", "api-key",  "credential", "authorization", "auth"};
    size_t len = strlen(name);
    if (len > 5 && strcmp(name + len - 5, "_file") == 0) return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strstr(name, words[i])) return true;
    return false;
}

bool config_secret_query(const char *url)
{
    const char *query = strchr(url, '?');
    if (!query) return false;
    static const char *const words[] = {"token=", "key=", "secret=", "password=", "sign=", "auth="};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strstr(query, words[i])) return true;
    return false;
}

const char *config_check_url(const char *text, size_t len)
{
    size_t scheme = text_starts(text, "http://") ? 7 : text_starts(text, "https://") ? 8 : 0;
    if (!scheme) return "does not begin with http:// or https://";
    if (len > 2000) return "is too long for an address";
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f) return "holds a blank or a control character";
    size_t host = strcspn(text + scheme, "/?#");
    if (host == 0) return "has no host";
    if (memchr(text + scheme, '@', host)) return "holds a secret: a user or password";
    if (config_secret_query(text)) return "holds a secret";
    return NULL;
}

bool config_is_loopback(const char *address)
{
    const char *text = address, *colon = strrchr(address, ':');
    size_t len = colon ? (size_t)(colon - address) : 0;
    if (len == 9 && strncmp(text, "localhost", 9) == 0) return true;
    if (len == 5 && strncmp(text, "[::1]", 5) == 0) return true;
    if (len < 5 || strncmp(text, "127.", 4) != 0) return false;
    return strspn(text, "0123456789.") == len;
}

const char *config_check_address(const char *text, size_t len)
{
    const char *colon = strrchr(text, ':');
    uint64_t port;
    if (!colon || colon == text || !num_parse_u64(colon + 1, len - (size_t)(colon + 1 - text), &port) || port > 65535)
        return "is not host:port";
    return NULL;
}

const char *config_check_pointer(const char *text, size_t len)
{
    if (len && text[0] != '/') return "does not begin with /";
    for (size_t i = 0; i < len; i++)
        if (text[i] == '~' && text[i + 1] != '0' && text[i + 1] != '1') return "holds a ~ that is neither ~0 nor ~1";
    return NULL;
}

const char *config_check_origin(const char *text, size_t len)
{
    if (len == 0 || len > 63) return "is empty or longer than 63 bytes";
    if (strstr(text, "://")) return "holds a scheme";
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == '+' || text[i] == 0x7f) return "holds a blank or a +";
    return NULL;
}

static bool two_digits(const char *s, int *ret)
{
    if (s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9') return false;
    *ret = (s[0] - '0') * 10 + (s[1] - '0');
    return true;
}

bool config_parse_clock(const char *text, size_t len, int *ret_min)
{
    int hour, minute;
    if (len != 5 || text[2] != ':' || !two_digits(text, &hour) || !two_digits(text + 3, &minute)) return false;
    if (minute > 59 || hour > 24 || (hour == 24 && minute)) return false;
    *ret_min = hour * 60 + minute;
    return true;
}

bool config_parse_offset(const char *text, size_t len, int *ret_s)
{
    int minutes;
    if (len == 1 && text[0] == 'Z') {
        *ret_s = 0;
        return true;
    }
    if (len != 6 || (text[0] != '+' && text[0] != '-') || !config_parse_clock(text + 1, 5, &minutes)) return false;
    if (minutes > 14 * 60) return false;
    *ret_s = (text[0] == '-' ? -60 : 60) * minutes;
    return true;
}

static int day_index(const char *s, size_t len)
{
    const char *const *days = config_words(CONFIG_DAYS_TYPE);
    for (int i = 0; i < 7; i++)
        if (strlen(days[i]) == len && strncmp(days[i], s, len) == 0) return i;
    return -1;
}

int config_parse_days(const char *text)
{
    const char *dash = strchr(text, '-');
    int from = day_index(text, dash ? (size_t)(dash - text) : strlen(text));
    int to = dash ? day_index(dash + 1, strlen(dash + 1)) : from;
    if (from < 0 || to < 0) return 0;
    int bits = 0;
    for (int i = from;; i = (i + 1) % 7) {
        bits |= 1 << i;
        if (i == to) return bits;
    }
}
