/* Rules: compiled against the service, their faults placed in the file. */
#include <string.h>

#include "config/build.h"

const struct expr *config_rule(struct config_work *w, const struct config_value *v)
{
    if (!v->is_set) return NULL;
    struct expr_scope scope = {.service = w->s, .needs = &w->s->needs};
    struct expr_error error;
    const struct expr *e = expr_compile(w->arena, v->at->text, v->at->len, &scope, &error);
    char name[64];
    size_t at;
    if (e || config_rule_names_wrong(w, v->at->text, v->at->len)) return e;
    if (w->cut && config_rule_lacks(w, v->at->text, v->at->len, name, &at)) return NULL;
    config_wrong_in(w->d, v->at, error.offset, error.length, error.hint, "%s", error.text);
    return NULL;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_keyword(const char *s, size_t len)
{
    static const char *const words[] = {"and", "or", "not", "true", "false"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i]) == len && strncmp(words[i], s, len) == 0) return true;
    return false;
}

static size_t word_length(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && (is_letter(s[n]) || is_digit(s[n]) || (s[n] == '-' && n + 1 < len && is_letter(s[n + 1])))) n++;
    return n;
}

/* Of "/s" that stands for a rate, as in 100 /s and 40 MB/s. */
static size_t per_second(const char *s, size_t len)
{
    bool rate = len >= 2 && s[0] == '/' && s[1] == 's';
    bool ends = len == 2 || (len > 2 && !is_letter(s[2]) && !is_digit(s[2]) && s[2] != '(');
    return rate && ends ? 2 : 0;
}

/* Over a number and the unit behind it. */
static size_t number_length(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && (is_digit(s[n]) || s[n] == '.')) n++;
    size_t unit = n;
    while (unit < len && s[unit] == ' ') unit++;
    size_t word = 0;
    while (unit + word < len && is_letter(s[unit + word])) word++;
    if (word > 0 && is_keyword(s + unit, word)) return n;
    size_t rate = per_second(s + unit + word, len - unit - word);
    return word + rate == 0 ? n : unit + word + rate;
}

static size_t blanks(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && (s[n] == ' ' || s[n] == '\t' || s[n] == '\n')) n++;
    return n;
}

bool config_rule_words(const char *text, size_t len, bool (*see)(void *ctx, const char *word, size_t len, size_t at), void *ctx)
{
    for (size_t i = 0; i < len;) {
        if (is_digit(text[i])) {
            i += number_length(text + i, len - i);
        } else if (is_letter(text[i])) {
            size_t n = word_length(text + i, len - i), next = i + n + blanks(text + i + n, len - i - n);
            bool call = next < len && text[next] == '(';
            if (call && n == 3 && strncmp(text + i, "age", 3) == 0) {
                while (next < len && text[next] != ')') next++;
            } else if (!call && !is_keyword(text + i, n) && see(ctx, text + i, n, i)) {
                return true;
            }
            i = call ? next : i + n;
        } else {
            i++;
        }
    }
    return false;
}

struct search {
    const struct config_work *w;
    char *name;
    size_t at;
};

static bool has_name(const struct service_def *s, const char *name)
{
    return service_signal(s, name) != NO_INDEX || service_knob(s, name) != NO_INDEX;
}

static bool see_missing(void *ctx, const char *word, size_t len, size_t at)
{
    struct search *search = ctx;
    if (len > POLICY_NAME_MAX) len = POLICY_NAME_MAX;
    memcpy(search->name, word, len);
    search->name[len] = '\0';
    search->at = at;
    if (has_name(search->w->s, search->name)) return false;
    char *dash = strchr(search->name, '-');   /* a-b is a difference where the service has no such name */
    if (!dash) return true;
    size_t first = (size_t)(dash - search->name);
    *dash = '\0';
    if (!has_name(search->w->s, search->name)) return true;
    return see_missing(ctx, word + first + 1, len - first - 1, at + first + 1);
}

bool config_rule_lacks(const struct config_work *w, const char *text, size_t len, char name[64], size_t *ret_at)
{
    struct search search = {.w = w, .name = name};
    bool lacks = config_rule_words(text, len, see_missing, &search);
    *ret_at = search.at;
    return lacks;
}

static bool see_wrong(void *ctx, const char *word, size_t len, size_t at)
{
    (void)at;
    const struct config_work *w = ctx;
    for (uint16_t i = 0; i < w->s->signal_count; i++)
        if (w->signal_wrong[i] && strlen(w->s->signals[i].name) == len &&
            strncmp(w->s->signals[i].name, word, len) == 0)
            return true;
    for (uint16_t i = 0; i < w->s->knob_count; i++)
        if (w->knob_wrong[i] && strlen(w->s->knobs[i].name) == len && strncmp(w->s->knobs[i].name, word, len) == 0) return true;
    return false;
}

bool config_rule_names_wrong(const struct config_work *w, const char *text, size_t len)
{
    return config_rule_words(text, len, see_wrong, (void *)(uintptr_t)w);
}
