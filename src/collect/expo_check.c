/* Strict reading of a page. Text pages: grammar, metadata before samples and once, no series twice. OpenMetrics 1.0: also
 * families together, samples that fit their family's type, histograms whole and in order, exemplars only where they may
 * stand, timestamps that do not go back, "# EOF" at the end and nothing behind it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "collect/expo_check.h"

static bool no(struct checker *k, const char *at, const char *reason)
{
    k->ret->line = k->x.line;
    k->ret->col = at >= k->x.line_start ? (uint32_t)(at - k->x.line_start) + 1 : 1;
    k->ret->reason = reason;
    return false;
}

/* ---- families ---- */

static uint64_t hash_bytes(uint64_t h, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) h = (h ^ (uint8_t)s[i]) * UINT64_C(1099511628211);
    return (h ^ 0xff) * UINT64_C(1099511628211);
}

static uint64_t hash_final(uint64_t h) { return (h ^ h >> 29) | 1; }

/* A set of hashes: 64 bits make a false hit on a page of 200,000 series less likely than 1 in 10^8. */
static bool set_add(struct checker *k, struct hash_set *s, uint64_t h, bool *ret_new)
{
    if ((s->n + 1) * 2 > s->size) {
        uint32_t size = s->size ? s->size * 2 : 1024;
        uint64_t *more = calloc(size, sizeof *more);
        if (!more) return no(k, k->x.line_start, "out of memory");
        for (uint32_t i = 0; i < s->size; i++) {
            if (!s->items[i]) continue;
            uint32_t at = (uint32_t)s->items[i] & (size - 1);
            while (more[at]) at = (at + 1) & (size - 1);
            more[at] = s->items[i];
        }
        free(s->items);
        s->items = more;
        s->size = size;
    }
    uint32_t at = (uint32_t)h & (s->size - 1);
    while (s->items[at] && s->items[at] != h) at = (at + 1) & (s->size - 1);
    *ret_new = s->items[at] == 0;
    s->items[at] = h;
    s->n += *ret_new;
    return true;
}

static bool same(const char *a, uint32_t an, const char *b, uint32_t bn) { return an == bn && memcmp(a, b, an) == 0; }

static bool is_word(const char *s, uint32_t n, const char *word) { return same(s, n, word, (uint32_t)strlen(word)); }

static const struct { const char *word; enum family_type type; } types[] = {
    {"unknown", FAMILY_UNKNOWN}, {"gauge", FAMILY_GAUGE}, {"counter", FAMILY_COUNTER}, {"stateset", FAMILY_STATESET},
    {"info", FAMILY_INFO}, {"histogram", FAMILY_HISTOGRAM}, {"gaugehistogram", FAMILY_GAUGEHISTOGRAM},
    {"summary", FAMILY_SUMMARY},
};

static const char *const suffixes[][5] = {
    [FAMILY_UNKNOWN] = {""}, [FAMILY_GAUGE] = {""}, [FAMILY_STATESET] = {""}, [FAMILY_INFO] = {"_info"},
    [FAMILY_COUNTER] = {"_total", "_created"}, [FAMILY_HISTOGRAM] = {"_bucket", "_count", "_sum", "_created"},
    [FAMILY_GAUGEHISTOGRAM] = {"_bucket", "_gcount", "_gsum"}, [FAMILY_SUMMARY] = {"_count", "_sum", "_created", ""},
};

/* Text pages have no fixed suffixes but those of histograms and summaries. */
static const char *suffix_of(const struct checker *k, enum family_type t, int i)
{
    static const char *const text[] = {"", "_bucket", "_count", "_sum", NULL};
    bool compound = t == FAMILY_HISTOGRAM || t == FAMILY_SUMMARY;
    if (k->x.format == EXPO_OPENMETRICS) return suffixes[t][i];
    return i > 0 && !compound ? NULL : text[i];
}

/* Every name that a family's samples can have belongs to it alone. */
static bool claim_names(struct checker *k, const struct family *f)
{
    uint64_t base = hash_bytes(UINT64_C(14695981039346656037), f->name, f->name_len);
    bool fresh;
    if (!set_add(k, &k->families, hash_final(base), &fresh)) return false;
    if (!fresh) return no(k, k->x.line_start, "this family stood on the page before: a family's lines stand together");
    for (int i = 0; i < 4; i++) {
        const char *suffix = suffix_of(k, f->type, i);
        if (!suffix) break;
        uint64_t h = UINT64_C(14695981039346656037);
        for (uint32_t c = 0; c < f->name_len; c++) h = (h ^ (uint8_t)f->name[c]) * UINT64_C(1099511628211);
        h = hash_bytes(h, suffix, strlen(suffix)) ^ UINT64_C(0x5555);
        if (!set_add(k, &k->sample_names, hash_final(h), &fresh)) return false;
        if (!fresh) return no(k, k->x.line_start, "a sample of this family would have the name of another family's");
    }
    return true;
}

static void family_begin(struct checker *k, const char *name, uint32_t len)
{
    k->family = (struct family){.name = name, .name_len = len, .open = true};
}

/* A family's own lines are complete: its type is known now. */
static bool settle_family(struct checker *k)
{
    struct family *f = &k->family;
    if (f->settled) return true;
    f->settled = true;
    bool valueless = f->type == FAMILY_INFO || f->type == FAMILY_STATESET;
    if (valueless && f->unit_len) return no(k, k->x.line_start, "info and stateset have no unit");
    return claim_names(k, f);
}

static bool family_end(struct checker *k)
{
    if (!k->family.open) return true;
    if (!settle_family(k) || !expo_group_end(k)) return false;
    k->family.open = false;
    return true;
}

/* ---- metadata ---- */

static bool help_text_ok(const char *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (s[i] != '\\') continue;
        if (i + 1 == n) return true;
        i++;
    }
    return utf8_valid(s, n);
}

static bool plain_name(const char *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        bool letter = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_' || s[i] == ':';
        if (!letter && !(i > 0 && s[i] >= '0' && s[i] <= '9')) return false;
    }
    return n > 0;
}

static bool meta_type(struct checker *k, const struct expo_meta *m)
{
    struct family *f = &k->family;
    if (f->typed) return no(k, m->name, "a second TYPE of the same family");
    f->typed = true;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!is_word(m->text, m->text_len, types[i].word)) continue;
        f->type = types[i].type;
        return true;
    }
    if (k->x.format == EXPO_TEXT && is_word(m->text, m->text_len, "untyped")) return true;
    return no(k, m->text, "this type does not exist");
}

static bool meta_unit(struct checker *k, const struct expo_meta *m)
{
    struct family *f = &k->family;
    if (f->unit_seen) return no(k, m->name, "a second UNIT of the same family");
    f->unit_seen = true;
    f->unit = m->text;
    f->unit_len = m->text_len;
    if (m->text_len == 0) return true;
    if (!plain_name(m->text, m->text_len)) return no(k, m->text, "not a unit");
    if (m->text_len + 1 >= m->name_len || m->name[m->name_len - m->text_len - 1] != '_' ||
        memcmp(m->name + m->name_len - m->text_len, m->text, m->text_len) != 0)
        return no(k, m->text, "the family's name must end in its unit");
    return true;
}

/* The name of a metadata line may be quoted. Gives it without quotes. */
static bool meta_name(struct checker *k, struct expo_meta *m)
{
    if (m->name_len >= 2 && m->name[0] == '"') {
        const char *end = memchr(m->name + 1, '"', (size_t)(k->x.end - m->name - 1));
        const char *stop = m->text ? m->text + m->text_len : m->name + m->name_len;
        if (!end || end >= stop) return no(k, m->name, "the quote is not closed");
        m->name++;
        m->name_len = (uint32_t)(end - m->name);
        m->text = end + 1 < stop ? end + 2 : NULL;
        m->text_len = m->text && m->text <= stop ? (uint32_t)(stop - m->text) : 0;
        if (m->name_len == 0 || !utf8_valid(m->name, m->name_len)) return no(k, m->name, "not a metric's name");
        return true;
    }
    return plain_name(m->name, m->name_len) || no(k, m->name, "not a metric's name");
}

static bool check_meta(struct checker *k)
{
    struct expo_meta m = k->x.meta;
    if (!meta_name(k, &m)) return false;
    if (!m.text && (k->x.format == EXPO_OPENMETRICS || m.kind == EXPO_TYPE))
        return no(k, m.name + m.name_len, "the line ends too soon");
    bool current = k->family.open && same(k->family.name, k->family.name_len, m.name, m.name_len);
    if (!current) {
        if (!family_end(k)) return false;
        family_begin(k, m.name, m.name_len);
    } else if (k->family.samples) {
        return no(k, k->x.line_start, "metadata stands before the samples of its family");
    }
    if (m.kind == EXPO_TYPE) return meta_type(k, &m);
    if (m.kind == EXPO_UNIT) return meta_unit(k, &m);
    if (k->family.help_seen) return no(k, m.name, "a second HELP of the same family");
    k->family.help_seen = true;
    return help_text_ok(m.text, m.text_len) || no(k, m.text, "the help is not UTF-8");
}

/* ---- samples ---- */

/* Whether the sample belongs to the open family; the suffix behind the family's name is given. */
static bool in_family(const struct checker *k, const struct expo_sample *s, const char **suffix)
{
    const struct family *f = &k->family;
    if (!f->open || s->name_len < f->name_len || memcmp(s->name, f->name, f->name_len) != 0) return false;
    for (int i = 0; i < 5; i++) {
        const char *x = suffix_of(k, f->type, i);
        if (!x) return false;
        if (is_word(s->name + f->name_len, s->name_len - f->name_len, x)) { *suffix = x; return true; }
    }
    return false;
}

static bool check_sample(struct checker *k)
{
    const struct expo_sample *s = &k->x.sample;
    const char *suffix = "";
    if (!in_family(k, s, &suffix)) {
        if (!family_end(k)) return false;
        family_begin(k, s->name, s->name_len);
        k->family.type = FAMILY_UNKNOWN;
        suffix = "";
    }
    if (!settle_family(k)) return false;
    k->family.samples++;
    return k->x.format == EXPO_TEXT ? expo_check_once(k) : expo_check_typed(k, suffix);
}

/* Set of the series' labels, in any order, with its name. */
uint64_t expo_series_hash(const struct checker *k, const char *without)
{
    const struct expo_sample *s = &k->x.sample;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->label_count; i++) {
        const struct expo_label *l = &k->x.labels[i];
        if (without && is_word(l->name, l->name_len, without)) continue;
        uint64_t h = hash_bytes(UINT64_C(14695981039346656037), l->name, l->name_len);
        sum += hash_final(hash_bytes(h, l->value, l->value_len)) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return hash_final(sum);
}

bool expo_check_once(struct checker *k)
{
    const struct expo_sample *s = &k->x.sample;
    uint64_t h = hash_bytes(expo_series_hash(k, NULL), s->name, s->name_len);
    bool fresh;
    if (s->has_time) h ^= (uint64_t)s->time_ms * UINT64_C(0x9e3779b97f4a7c15);
    if (!set_add(k, &k->seen, hash_final(h), &fresh)) return false;
    return fresh || no(k, k->x.line_start, "this series stood on the page before");
}

/* Groups (metrics of one family) may come once. */
bool expo_group_is_new(struct checker *k, uint64_t group)
{
    bool fresh;
    uint64_t h = hash_bytes(group, k->family.name, k->family.name_len);
    if (!set_add(k, &k->groups, hash_final(h), &fresh)) return false;
    return fresh || no(k, k->x.line_start, "the samples of one label set stand together");
}

bool expo_no(struct checker *k, const char *at, const char *reason) { return no(k, at, reason); }

/* ---- lines ---- */

/* Comments that are none of HELP, TYPE, UNIT and EOF do not exist in OpenMetrics; blank lines neither. */
static bool check_line(struct checker *k, const char *p)
{
    if (k->x.format == EXPO_TEXT || *p == '\n') return *p != '\n' || k->x.format == EXPO_TEXT || no(k, p, "an empty line");
    if (*p != '#') return true;
    static const char *const starts[] = {"# HELP ", "# TYPE ", "# UNIT ", "# EOF"};
    for (size_t i = 0; i < 4; i++) {
        size_t n = strlen(starts[i]), left = (size_t)(k->x.end - p);
        if (left >= n && memcmp(p, starts[i], n) == 0 && (i < 3 || left == n || p[n] == '\n')) return true;
    }
    return no(k, p, "a comment: OpenMetrics has only # HELP, # TYPE, # UNIT and # EOF");
}

/* Before each line: what expo_next would skip without a word. */
static bool check_between(struct checker *k)
{
    struct expo *x = &k->x;
    if (x->p >= x->end) return true;
    bool blank_line = *x->p == '\n', comment = *x->p == '#';
    if (!blank_line && !comment) return true;
    x->line++;
    x->line_start = x->p;
    bool ok = check_line(k, x->p);
    x->line--;
    return ok;
}

static bool run(struct checker *k)
{
    struct expo *x = &k->x;
    bool open_metrics = x->format == EXPO_OPENMETRICS;
    if (open_metrics && (x->end == x->begin || x->end[-1] != '\n')) {
        /* The last line may lack its newline if it is the end mark. */
        size_t n = (size_t)(x->end - x->begin);
        if (n < 5 || memcmp(x->end - 5, "# EOF", 5) != 0) return no(k, x->end, "the page does not end with # EOF");
    }
    for (;;) {
        if (open_metrics && x->eof_seen && x->p < x->end) return no(k, x->p, "something stands behind # EOF");
        if (!check_between(k)) return false;
        enum expo_event e = expo_next(x);
        if (e == EXPO_BROKEN || e == EXPO_OVER_LIMIT) {
            *k->ret = x->fault;
            return false;
        }
        if (e == EXPO_END) break;
        if (open_metrics && x->eof_seen && e != EXPO_END) return no(k, x->line_start, "something stands behind # EOF");
        if (!(e == EXPO_META ? check_meta(k) : check_sample(k))) return false;
    }
    if (!family_end(k)) return false;
    return !open_metrics || x->eof_seen || no(k, x->end, "the page does not end with # EOF");
}

bool expo_check(const char *bytes, size_t len, enum expo_format format, struct expo_fault *ret)
{
    struct checker *k = calloc(1, sizeof *k);
    *ret = (struct expo_fault){.reason = "out of memory"};
    if (!k) return false;
    struct expo_limits limits = expo_limits_default();
    limits.line_bytes = limits.value_bytes = limits.name_bytes = UINT32_MAX;
    expo_open(&k->x, bytes, len, format, limits);
    k->x.want_meta = k->x.strict = true;
    k->ret = ret;
    bool ok = run(k);
    if (ok) *ret = (struct expo_fault){0};
    free(k->families.items);
    free(k->sample_names.items);
    free(k->seen.items);
    free(k->groups.items);
    free(k);
    return ok;
}
