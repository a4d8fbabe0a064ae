/* Reading test files: load, clear, eval. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "promqltest/promqltest.h"

static char *skip(char *p)
{
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

static bool word(char **p, const char *w)
{
    size_t n = strlen(w);
    if (strncmp(*p, w, n) != 0 || (((*p)[n] != ' ' && (*p)[n] != '\t') && (*p)[n] != '\0')) return false;
    *p = skip(*p + n);
    return true;
}

static bool time_of(char **p, int64_t *ret)
{
    bool minus = **p == '-';
    struct span d;
    double v;
    if (minus) ++*p;
    size_t left = strlen(*p), n = num_parse(*p, left, &v);
    unsigned dn = span_parse(*p, (unsigned)left, &d);
    if (!n && !dn) return false;
    *ret = dn > n ? d.us / 1000 : (int64_t)(v * 1000);
    if (minus) *ret = -*ret;
    *p = skip(*p + (dn > n ? dn : n));
    return true;
}

/* ---- series ---- */

static size_t series_length(const char *p)
{
    const char *s = p;
    char quote = 0;
    bool braces = false;
    for (; *p; p++) {
        if (quote) {
            if (*p == '\\' && p[1]) p++;
            else if (*p == quote) quote = 0;
        } else if (*p == '"' || *p == '\'' || *p == '`') quote = *p;
        else if (*p == '{') braces = true;
        else if (*p == '}') return (size_t)(p - s) + 1;
        else if ((*p == ' ' || *p == '\t') && !braces) {
            const char *q = p;
            while (*q == ' ' || *q == '\t') q++;
            if (*q != '{' || q[1] == '{') return (size_t)(p - s);
        }
    }
    return (size_t)(p - s);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pq_label *)a)->name, ((const struct pq_label *)b)->name);
}

/* A series is written like a selector: let the compiler read it. */
static bool labels_of(struct arena *a, const char *text, size_t len, struct pq_labels *ret)
{
    char *copy = arena_alloc(a, len + 16);
    bool nameless = text[0] == '{';
    snprintf(copy, len + 16, "%s%.*s", nameless ? "dummy__" : "", (int)len, text);
    struct pq_selector sel;
    const struct pq *q = pq_compile(a, copy, strlen(copy), NULL);
    if (!q && nameless) {
        q = pq_compile(a, text, len, NULL);
        nameless = false;
    }
    if (!q || pq_selector_count(q) != 1) return false;
    pq_selector(q, 0, &sel);
    struct pq_label *items = ARENA_NEW_N(a, sel.n + 1, struct pq_label);
    uint32_t n = 0;
    for (uint32_t i = 0; i < sel.n; i++) {
        const char *value = pq_matcher_value(sel.matchers[i]);
        if (*value == '\0' || (nameless && strcmp(value, "dummy__") == 0)) continue;
        items[n++] = (struct pq_label){pq_matcher_name(sel.matchers[i]), value};
    }
    qsort(items, n, sizeof *items, by_name);
    *ret = (struct pq_labels){items, n};
    return true;
}

struct points { double v[20000]; bool there[20000]; uint32_t n; bool native; };

static void add_point(struct points *out, double v, bool there)
{
    if (out->n == 20000) return;
    out->there[out->n] = there;
    out->v[out->n++] = v;
}

static double stale_marker(void)
{
    uint64_t bits = PQ_STALE_BITS;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* One word of the notation: 1, _, _x5, stale, 1x4, 1+2x5, 1-2x5. */
static bool read_point(const char *t, struct points *out)
{
    double v, by = 0;
    unsigned long times = 0;
    if (strcmp(t, "stale") == 0) { add_point(out, stale_marker(), true); return true; }
    if (*t == '_') {
        times = t[1] == 'x' ? strtoul(t + 2, NULL, 10) : 1;
        while (times--) add_point(out, 0, false);
        return true;
    }
    size_t n = num_parse(t, strlen(t), &v);
    if (n == 0) return false;
    t += n;
    if (*t == '+' || *t == '-') {
        bool minus = *t++ == '-';
        n = num_parse(t, strlen(t), &by);
        if (n == 0) return false;
        t += n;
        if (minus) by = -by;
    }
    if (*t == 'x') times = strtoul(t + 1, NULL, 10);
    else if (*t) return false;
    for (unsigned long i = 0; i <= times; i++) {
        add_point(out, v, true);
        v += by;
    }
    return true;
}

static bool read_points(char *p, struct points *out)
{
    out->n = 0;
    out->native = strstr(p, "{{") != NULL;
    if (out->native) return true;
    for (char *t = strtok(p, " \t"); t; t = strtok(NULL, " \t")) {
        if (*t == '#') break;
        if (!read_point(t, out)) return false;
    }
    return true;
}

/* ---- storage ---- */

static const char *get(struct pq_labels l, const char *name)
{
    for (uint32_t i = 0; i < l.n; i++)
        if (strcmp(l.items[i].name, name) == 0) return l.items[i].value;
    return "";
}

bool promqltest_matches(struct pq_labels l, const struct pq_matcher *const *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!pq_matches(m[i], get(l, pq_matcher_name(m[i])))) return false;
    return true;
}

bool promqltest_select(void *ctx, const struct pq_matcher *const *matchers, uint32_t n, int64_t from_ms, int64_t to_ms,
                    bool (*sink)(void *sink_ctx, const struct pq_series *series), void *sink_ctx)
{
    const struct storage *s = ctx;
    for (uint32_t i = 0; i < s->count; i++) {
        struct pq_series part = s->series[i];
        if (!promqltest_matches(part.labels, matchers, n)) continue;
        while (part.n && part.samples[0].t_ms < from_ms) { part.samples++; part.n--; }
        while (part.n && part.samples[part.n - 1].t_ms > to_ms) part.n--;
        if (part.n && !sink(sink_ctx, &part)) return false;
    }
    return true;
}

bool promqltest_names_native(const char *expr, const struct storage *s)
{
    for (uint32_t i = 0; i < s->native_count; i++)
        if (strstr(expr, get(s->native[i], "__name__"))) return true;
    return false;
}

static struct pq_series *storage_series(struct storage *s, struct pq_labels l)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct pq_labels o = s->series[i].labels;
        bool same = o.n == l.n;
        for (uint32_t k = 0; same && k < l.n; k++)
            same = strcmp(o.items[k].name, l.items[k].name) == 0 && strcmp(o.items[k].value, l.items[k].value) == 0;
        if (same) return &s->series[i];
    }
    if (s->count == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 64;
        s->series = realloc(s->series, s->cap * sizeof *s->series);
        s->caps = realloc(s->caps, s->cap * sizeof *s->caps);
    }
    s->series[s->count] = (struct pq_series){l, NULL, 0};
    s->caps[s->count] = 0;
    return &s->series[s->count++];
}

static void storage_add(struct storage *s, struct pq_series *to, int64_t t, double v)
{
    uint32_t at = (uint32_t)(to - s->series);
    struct pq_sample *samples = (struct pq_sample *)(uintptr_t)to->samples;
    if (to->n == s->caps[at]) {
        s->caps[at] = s->caps[at] ? s->caps[at] * 2 : 64;
        samples = realloc(samples, s->caps[at] * sizeof *samples);
        to->samples = samples;
    }
    uint32_t i = to->n;
    while (i && samples[i - 1].t_ms >= t) i--;
    if (i < to->n && samples[i].t_ms == t) return;
    memmove(samples + i + 1, samples + i, (to->n - i) * sizeof *samples);
    samples[i] = (struct pq_sample){t, v};
    to->n++;
}

static void storage_native(struct storage *s, struct pq_labels l)
{
    if (s->native_count == s->native_cap) {
        s->native_cap = s->native_cap ? s->native_cap * 2 : 64;
        s->native = realloc(s->native, s->native_cap * sizeof *s->native);
    }
    s->native[s->native_count++] = l;
}

/* load_with_nhcb also makes a native histogram NAME of NAME_bucket. */
static void storage_nhcb(struct storage *s, struct pq_labels l)
{
    const char *name = get(l, "__name__");
    size_t n = strlen(name);
    if (n <= 7 || strcmp(name + n - 7, "_bucket") != 0) return;
    struct pq_label *items = ARENA_NEW_N(&s->arena, l.n, struct pq_label);
    uint32_t k = 0;
    for (uint32_t i = 0; i < l.n; i++) {
        if (strcmp(l.items[i].name, "le") == 0) continue;
        items[k] = l.items[i];
        if (strcmp(items[k].name, "__name__") == 0) items[k].value = arena_strndup(&s->arena, name, n - 7);
        k++;
    }
    storage_native(s, (struct pq_labels){items, k});
}

static void storage_clear(struct storage *s)
{
    for (uint32_t i = 0; i < s->count; i++) free((void *)(uintptr_t)s->series[i].samples);
    free(s->series);
    free(s->caps);
    free(s->native);
    arena_free(&s->arena);
    *s = (struct storage){.arena = ARENA_INIT};
}

/* ---- files ---- */

struct script { char **lines; unsigned count, at; const char *path; struct storage store; struct points points; };

static char *trimmed(char *line)
{
    line = skip(line);
    size_t n = strlen(line);
    while (n && (line[n - 1] == ' ' || line[n - 1] == '\t' || line[n - 1] == '\r')) line[--n] = '\0';
    return line;
}

static bool indented(const struct script *s)
{
    if (s->at >= s->count) return false;
    const char *l = s->lines[s->at];
    return (*l == ' ' || *l == '\t') && *trimmed(s->lines[s->at]) != '\0';
}

static bool bad_line(const struct script *s, unsigned at, const char *why)
{
    fprintf(stderr, "%s:%u: %s\n", s->path, at + 1, why);
    return false;
}

static bool run_load(struct script *s, char *p, bool nhcb)
{
    int64_t step;
    if (!time_of(&p, &step)) return bad_line(s, s->at - 1, "a step expected");
    for (; indented(s); s->at++) {
        char *l = trimmed(s->lines[s->at]);
        struct pq_labels labels;
        if (*l == '#') continue;
        size_t n = series_length(l);
        if (!labels_of(&s->store.arena, l, n, &labels)) return bad_line(s, s->at, "a series expected");
        if (!read_points(l + n, &s->points)) return bad_line(s, s->at, "points expected");
        if (s->points.native) { storage_native(&s->store, labels); continue; }
        if (nhcb) storage_nhcb(&s->store, labels);
        for (uint32_t i = 0; i < s->points.n; i++) {
            struct pq_series *to = storage_series(&s->store, labels);
            if (s->points.there[i]) storage_add(&s->store, to, i * step, s->points.v[i]);
        }
    }
    return true;
}

static char *unquoted(char *p)
{
    size_t n = strlen(p);
    if (n >= 2 && (*p == '"' || *p == '`' || *p == '\'') && p[n - 1] == *p) {
        p[n - 1] = '\0';
        return p + 1;
    }
    return p;
}

static void read_expectation(struct eval_case *c, char *p)
{
    if (word(&p, "fail")) c->fail = true;
    else if (word(&p, "warn")) c->warn = true;
    else if (word(&p, "info")) c->info = true;
    else if (word(&p, "no_warn")) c->no_warn = true;
    else if (word(&p, "no_info")) c->no_info = true;
    else if (word(&p, "ordered")) c->ordered = true;
    else if (word(&p, "string")) c->string = unquoted(p);
    else if (word(&p, "range") && word(&p, "vector") && word(&p, "from") && time_of(&p, &c->points_from)) {
        int64_t to;
        if (word(&p, "to") && time_of(&p, &to) && word(&p, "step")) time_of(&p, &c->points_step);
    }
}

static bool read_expected(struct script *s, struct arena *a, struct eval_case *c)
{
    char *l = trimmed(s->lines[s->at]);
    if (*l == '#') return true;
    if (word(&l, "expect")) { read_expectation(c, l); return true; }
    if (strncmp(l, "expected_fail_", 14) == 0) { c->fail = true; return true; }
    double v;
    char *copy = arena_strdup(a, l);
    if (num_parse_all(l, strlen(l), &v)) { c->scalar_given = true; c->scalar = v; return true; }
    size_t n = series_length(copy);
    struct pq_series *e = &c->expected[c->expected_count];
    if (strncmp(copy, "{}", 2) == 0) e->labels = (struct pq_labels){NULL, 0};
    else if (!labels_of(a, copy, n, &e->labels)) return bad_line(s, s->at, "a series expected");
    if (!read_points(copy + n, &s->points)) return bad_line(s, s->at, "points expected");
    if (s->points.native) { c->native_expected = true; return true; }
    struct pq_sample *samples = ARENA_NEW_N(a, s->points.n + 1, struct pq_sample);
    e->samples = samples;
    e->n = 0;
    for (uint32_t i = 0; i < s->points.n; i++)
        if (s->points.there[i]) samples[e->n++] = (struct pq_sample){c->points_from + i * c->points_step, s->points.v[i]};
    c->expected_count++;
    return true;
}

static bool run_eval(struct script *s, struct eval_case *c, char *p)
{
    struct arena a = ARENA_INIT;
    c->file = s->path;
    c->line = s->at;
    bool ok;
    if (word(&p, "instant")) {
        ok = word(&p, "at") && time_of(&p, &c->from);
    } else {
        c->range = true;
        ok = word(&p, "range") && word(&p, "from") && time_of(&p, &c->from) && word(&p, "to") && time_of(&p, &c->to) &&
             word(&p, "step") && time_of(&p, &c->step);
    }
    if (!ok) return bad_line(s, s->at - 1, "a time expected");
    c->expr = p;
    c->points_from = c->from;
    c->points_step = c->range ? c->step : 0;
    unsigned lines = 1;
    for (unsigned i = s->at; i < s->count; i++, lines++) ;
    c->expected = ARENA_NEW_N(&a, lines, struct pq_series);
    for (; ok && indented(s); s->at++) ok = read_expected(s, &a, c);
    if (ok) promqltest_case(c, &s->store);
    arena_free(&a);
    return ok;
}

static bool run_line(struct script *s)
{
    char *l = trimmed(s->lines[s->at++]);
    struct eval_case c = {0};
    if (*l == '\0' || *l == '#') return true;
    if (word(&l, "clear")) { storage_clear(&s->store); return true; }
    if (word(&l, "load")) return run_load(s, l, false);
    if (word(&l, "load_with_nhcb")) return run_load(s, l, true);
    if (word(&l, "eval")) return run_eval(s, &c, l);
    if (word(&l, "eval_fail")) { c.fail = true; return run_eval(s, &c, l); }
    if (word(&l, "eval_warn")) { c.warn = true; return run_eval(s, &c, l); }
    if (word(&l, "eval_info")) { c.info = true; return run_eval(s, &c, l); }
    if (word(&l, "eval_ordered")) { c.ordered = true; return run_eval(s, &c, l); }
    return bad_line(s, s->at - 1, "not a command");
}

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) { perror(path); return NULL; }
    char *text = malloc((16u << 20) + 1);
    size_t n = text ? fread(text, 1, 16u << 20, f) : 0;
    fclose(f);
    if (text) text[n] = '\0';
    return text;
}

bool promqltest_file(const char *path)
{
    char *text = read_whole(path);
    if (!text) return false;
    struct script *s = calloc(1, sizeof *s);
    unsigned cap = 1;
    for (const char *p = text; *p; p++) cap += *p == '\n';
    s->lines = calloc(cap, sizeof *s->lines);
    s->path = path;
    for (char *p = text; p;) {
        s->lines[s->count++] = p;
        char *nl = strchr(p, '\n');
        if (nl) *nl = '\0';
        p = nl ? nl + 1 : NULL;
    }
    bool ok = true;
    while (s->at < s->count) ok = run_line(s) && ok;
    storage_clear(&s->store);
    free(s->lines);
    free(s);
    free(text);
    return ok;
}
