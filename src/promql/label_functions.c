/* pq_label_replace, pq_label_join, sort_by_label. */
#include <string.h>

#include "base/utf8.h"
#include "promql/functions.h"
#include "promql/regex.h"

#define MATCH_STEPS_MAX 100000
#define MATCH_HEAP_KB 1024

struct replacer {
    const pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
};

static bool replacer_open(struct replacer *r, struct arena *a, const char *pattern, const char **why)
{
    *r = (struct replacer){.code = pq_regex_compile(a, pattern, why)};
    if (!r->code) return false;
    r->data = pcre2_match_data_create_from_pattern(r->code, NULL);
    r->context = pcre2_match_context_create(NULL);
    *why = "out of memory";
    if (!r->data || !r->context) return false;
    pcre2_set_match_limit(r->context, MATCH_STEPS_MAX);
    pcre2_set_heap_limit(r->context, MATCH_HEAP_KB);
    return true;
}

static void replacer_close(struct replacer *r)
{
    pcre2_match_data_free(r->data);
    pcre2_match_context_free(r->context);
}

static bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

static void add_group(const struct replacer *r, const char *source, const char *name, size_t len, struct buf *out)
{
    char word[64];
    const char *word_at = word;
    int group = -1;
    if (len == 0 || len >= sizeof word) return;
    memcpy(word, name, len);
    word[len] = '\0';
    if (strspn(word, "0123456789") == len && len < 4) for (group = 0; *word_at; word_at++) group = group * 10 + (*word_at - '0');
    else group = pcre2_substring_number_from_name(r->code, (PCRE2_SPTR)word);
    if (group < 0 || (uint32_t)group >= pcre2_get_ovector_count(r->data)) return;
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(r->data) + 2 * group;
    if (at[0] != PCRE2_UNSET && at[1] >= at[0]) buf_add(out, source + at[0], at[1] - at[0]);
}

/* $1, ${1}, $name, ${name}, $$: as Go expands them; a group that is not there is empty. */
static void expand(const struct replacer *r, const char *source, const char *p, struct buf *out)
{
    while (*p) {
        if (*p != '$') { buf_putc(out, *p++); continue; }
        p++;
        if (*p == '$') { buf_putc(out, *p++); continue; }
        bool braces = *p == '{';
        const char *name = p + braces;
        size_t len = 0;
        while (is_word(name[len])) len++;
        if (len == 0 || (braces && name[len] != '}')) { buf_putc(out, '$'); continue; }
        add_group(r, source, name, len, out);
        p = name + len + braces;
    }
}

static bool replace_one(struct eval *ev, struct replacer *r, struct pq_element *e, const struct value *text)
{
    const char *source = pq_labels_get(e->labels, text[3].string);
    if (!source) source = "";
    int rc = pcre2_match(r->code, (PCRE2_SPTR)source, strlen(source), 0, 0, r->data, r->context);
    if (rc == PCRE2_ERROR_NOMATCH) return true;
    if (rc < 0) return pq_eval_fail(ev, STATUS_LIMIT, "label_replace: the regular expression is too costly: simplify it");
    struct buf out = BUF_INIT;
    expand(r, source, text[2].string, &out);
    const char *value = arena_strdup(ev->arena, buf_text(&out));
    buf_free(&out);
    if (!value) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    e->labels = pq_labels_set(ev, e->labels, text[1].string, value);
    return true;
}

static bool texts(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    for (uint32_t i = 0; i < call->arg_count; i++)
        if (!pq_eval_node(ev, call->args[i], t, &ret[i])) return false;
    return true;
}

/* pq_label_replace(v, to, replacement, from, pattern) */
bool pq_label_replace(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct value arg[16];
    struct replacer r;
    const char *why = NULL;
    if (!texts(ev, call, t, arg)) return false;
    *ret = arg[0];
    if (*arg[1].string == '\0') return pq_eval_fail(ev, STATUS_INVALID, "no destination label in label_replace()");
    bool ok = replacer_open(&r, ev->arena, arg[4].string, &why);
    if (!ok) pq_eval_fail(ev, STATUS_INVALID, "invalid regular expression in label_replace(): %s", why);
    for (uint32_t i = 0; ok && i < ret->n; i++) ok = replace_one(ev, &r, &ret->items[i], arg);
    replacer_close(&r);
    return ok && pq_vector_check_unique(ev, ret);
}

/* pq_label_join(v, to, separator, from...) */
bool pq_label_join(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct value arg[16];
    if (!texts(ev, call, t, arg)) return false;
    *ret = arg[0];
    if (*arg[1].string == '\0') return pq_eval_fail(ev, STATUS_INVALID, "no destination label in label_join()");
    for (uint32_t i = 0; i < ret->n; i++) {
        struct buf out = BUF_INIT;
        for (uint32_t k = 3; k < call->arg_count; k++) {
            const char *v = pq_labels_get(ret->items[i].labels, arg[k].string);
            if (k > 3) buf_puts(&out, arg[2].string);
            if (v) buf_puts(&out, v);
        }
        const char *value = arena_strdup(ev->arena, buf_text(&out));
        buf_free(&out);
        if (!value) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
        ret->items[i].labels = pq_labels_set(ev, ret->items[i].labels, arg[1].string, value);
    }
    return pq_vector_check_unique(ev, ret);
}

/* ---- pq_sort_by_label ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Runs of digits compare as numbers, the rest by bytes: "2" before "10". */
static int natural(const char *a, const char *b)
{
    while (*a && *b) {
        if (is_digit(*a) && is_digit(*b)) {
            while (*a == '0' && is_digit(a[1])) a++;
            while (*b == '0' && is_digit(b[1])) b++;
            size_t na = strspn(a, "0123456789"), nb = strspn(b, "0123456789");
            if (na != nb) return na < nb ? -1 : 1;
            int d = memcmp(a, b, na);
            if (d) return d;
            a += na;
            b += nb;
        } else {
            if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int compare_by(const struct pq_element *a, const struct pq_element *b, const struct value *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *x = pq_labels_get(a->labels, names[i].string), *y = pq_labels_get(b->labels, names[i].string);
        int d = natural(x ? x : "", y ? y : "");
        if (d) return d;
    }
    return pq_labels_compare(a->labels, b->labels);
}

bool pq_sort_by_label(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct value arg[16];
    if (!texts(ev, call, t, arg)) return false;
    *ret = arg[0];
    struct pq_element *from = ret->items, *to = ARENA_NEW_N(ev->arena, (size_t)ret->n + 1, struct pq_element);
    if (!to) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    /* Merge sort from the bottom up: the names are not known to a comparison of qsort. */
    for (uint32_t width = 1; width < ret->n; width *= 2) {
        for (uint32_t lo = 0; lo < ret->n; lo += 2 * width) {
            uint32_t mid = lo + width < ret->n ? lo + width : ret->n, hi = mid + width < ret->n ? mid + width : ret->n;
            uint32_t i = lo, j = mid, k = lo;
            while (i < mid || j < hi) {
                bool left = j >= hi;
                if (i < mid && j < hi) {
                    int d = compare_by(&from[i], &from[j], arg + 1, call->arg_count - 1);
                    left = call->function->number ? d >= 0 : d <= 0;
                }
                to[k++] = left ? from[i++] : from[j++];
            }
        }
        struct pq_element *swap = from;
        from = to;
        to = swap;
    }
    ret->items = from;
    return true;
}
