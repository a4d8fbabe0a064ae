#include "app/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "collect/collect.h"
#include "promql/promql.h"

enum family_type { FAMILY_COUNTER, FAMILY_OTHER };
struct family { const char *name; uint32_t len; enum family_type type; };
struct families { struct family *items; size_t n, cap; };

static void add_family(struct families *f, const struct expo_meta *m)
{
    static const char *const growing[] = {"counter", "histogram", "summary", "untyped", "unknown"};
    enum family_type type = FAMILY_OTHER;
    for (size_t i = 0; i < ARRAY_LEN(growing); i++)
        if (strlen(growing[i]) == m->text_len && memcmp(growing[i], m->text, m->text_len) == 0) type = FAMILY_COUNTER;
    if (f->n == f->cap) {
        size_t cap = f->cap ? f->cap * 2 : 128;
        struct family *more = realloc(f->items, cap * sizeof *more);
        if (!more) return;
        f->items = more;
        f->cap = cap;
    }
    f->items[f->n++] = (struct family){m->name, m->name_len, type};
}

/* `name` is the family itself or one of its series: _total, _bucket, _sum, _count. */
static bool belongs(const struct family *f, const struct expo_sample *s)
{
    static const char *const ends[] = {"", "_total", "_bucket", "_sum", "_count"};
    if (s->name_len < f->len || memcmp(s->name, f->name, f->len) != 0) return false;
    const char *rest = s->name + f->len;
    size_t left = s->name_len - f->len;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (strlen(ends[i]) == left && memcmp(rest, ends[i], left) == 0) return true;
    return false;
}

static bool has_quantile(const struct expo *x)
{
    for (uint32_t i = 0; i < x->sample.label_count; i++)
        if (x->labels[i].name_len == 8 && memcmp(x->labels[i].name, "quantile", 8) == 0) return true;
    return false;
}

static bool grows(const struct families *f, const struct expo *x)
{
    for (size_t i = f->n; i-- > 0;)      /* the newest first: samples stand behind their own TYPE */
        if (belongs(&f->items[i], &x->sample)) return f->items[i].type == FAMILY_COUNTER && !has_quantile(x);
    return false;
}

void probe_page(struct buf *out, const char *bytes, size_t len, enum expo_format format, unsigned k, double plus)
{
    struct expo x;
    struct families families = {0};
    enum expo_event event;
    expo_open(&x, bytes, len, format, expo_limits_default());
    x.want_meta = true;
    while ((event = expo_next(&x)) != EXPO_END && event != EXPO_OVER_LIMIT) {
        if (event == EXPO_META && x.meta.kind == EXPO_TYPE) add_family(&families, &x.meta);
        if (event != EXPO_SAMPLE) continue;
        double v = x.sample.value;
        if (k > 0 && isfinite(v) && grows(&families, &x)) v += k * (v + plus);
        buf_printf(out, "%.*s ", (int)x.sample.series_len, x.sample.series);
        if (isnan(v)) buf_puts(out, "NaN");
        else if (isinf(v)) buf_puts(out, v > 0 ? "+Inf" : "-Inf");
        else buf_double(out, v);
        buf_putc(out, '\n');
    }
    free(families.items);
}

enum expo_format probe_format(const char *bytes, size_t len)
{
    while (len && bytes[len - 1] == '\n') len--;
    return len >= 5 && memcmp(bytes + len - 5, "# EOF", 5) == 0 ? EXPO_OPENMETRICS : EXPO_TEXT;
}

/* ---- recognising ---- */

struct pattern { char name[160], label[200]; size_t len; bool prefix; };

static bool read_pattern(struct pattern *p, const char *text, size_t len)
{
    char all[360];
    if (len >= sizeof all) return false;
    memcpy(all, text, len);
    all[len] = '\0';
    char *brace = strchr(all, '{'), *end = strrchr(all, '}');
    if (brace && end && end > brace) {
        *end = *brace = '\0';
        if (!text_copy(p->label, sizeof p->label, brace + 1)) return false;
    } else {
        p->label[0] = '\0';
    }
    p->len = strlen(all);
    p->prefix = p->len > 0 && all[p->len - 1] == '*';
    if (p->prefix) p->len--;
    return text_copy(p->name, sizeof p->name, all);
}

static bool fits(const struct pattern *p, const struct expo_sample *s)
{
    if (s->name_len < p->len || (!p->prefix && s->name_len != p->len) || memcmp(s->name, p->name, p->len) != 0) return false;
    if (!p->label[0]) return true;
    char series[1024];
    size_t n = s->series_len < sizeof series - 1 ? s->series_len : sizeof series - 1;
    memcpy(series, s->series, n);
    series[n] = '\0';
    return strstr(series, p->label) != NULL;
}

static bool has_one(const struct pattern *p, const char *bytes, size_t len, enum expo_format format)
{
    struct expo x;
    enum expo_event event;
    expo_open(&x, bytes, len, format, expo_limits_default());
    while ((event = expo_next(&x)) != EXPO_END && event != EXPO_OVER_LIMIT)
        if (event == EXPO_SAMPLE && fits(p, &x.sample)) return true;
    return false;
}

bool probe_has(const char *pattern, const char *bytes, size_t len, enum expo_format format)
{
    for (const char *t = pattern; *t;) {
        struct pattern p;
        size_t n = strcspn(t, "|");
        if (read_pattern(&p, t, n) && has_one(&p, bytes, len, format)) return true;
        t += n + (t[n] == '|');
    }
    return false;
}

bool probe_matches(const struct preset_info *info, const char *bytes, size_t len, enum expo_format format)
{
    for (uint32_t i = 0; i < info->has.n; i++)
        if (!probe_has(info->has.items[i], bytes, len, format)) return false;
    for (uint32_t i = 0; i < info->lacks.n; i++)
        if (probe_has(info->lacks.items[i], bytes, len, format)) return false;
    return true;
}

/* ---- signals ---- */

struct policy *probe_policy(const struct preset_info *info, const char *preset_dir, const char *more,
                            struct config_diagnostics *d)
{
    struct buf text = BUF_INIT;
    struct config_options o = {.preset_dir = preset_dir};
    buf_printf(&text, "services: [{name: page, preset: %s, targets: ['http://page/metrics'], with: [", info->name);
    bool first = true;
    for (uint32_t i = 0; i < info->signal_count; i++) {
        if (!info->signals[i].optional) continue;
        buf_printf(&text, "%s%s", first ? "" : ", ", info->signals[i].name);
        first = false;
    }
    buf_printf(&text, "]%s%s}]\n", more[0] ? ", " : "", more);
    struct policy *p = config_load(buf_text(&text), text.len, "probe", &o, d);
    buf_free(&text);
    return p;
}

/* Is one of the metrics that the signal asks for on the page at all? */
static bool any_metric(const struct signal_def *s, const char *bytes, size_t len, enum expo_format format)
{
    const char *names[32];
    uint32_t n = pq_metric_names(s->query, names, ARRAY_LEN(names));
    for (uint32_t i = 0; i < n && i < ARRAY_LEN(names); i++)
        if (names[i] && probe_has(names[i], bytes, len, format)) return true;
    return false;
}

static bool feed_pages(struct collect *c, const char *bytes, size_t len, enum expo_format format, double plus, struct err *e)
{
    for (unsigned k = 0; k < PROBE_PAGES; k++) {
        struct buf page = BUF_INIT;
        struct page_report report;
        struct instant at = {k * PROBE_STEP.us + US_PER_S};
        probe_page(&page, bytes, len, format, k, plus);
        struct page p = {.at = at, .wall = {at.us + INT64_C(1700000000) * US_PER_S}, .outcome = PAGE_OK,
                         .bytes = buf_text(&page), .len = page.len};
        collect_page(c, &p, &report);
        buf_free(&page);
        if (report.outcome == PAGE_OK) continue;
        err_set(e, STATUS_INVALID, "this is no page of metrics: %s", report.error);
        return false;
    }
    return true;
}

bool probe_signals(const struct service_def *s, const char *bytes, size_t len, enum expo_format format, double plus,
                   struct probe_signal *out, struct err *e)
{
    struct collect *c = collect_new(s, collect_limits_default());
    struct point *points = calloc(s->signal_count + 1u, sizeof *points);
    bool *due = calloc(s->signal_count + 1u, sizeof *due);
    bool ok = c && points && due;
    if (!ok) err_set(e, STATUS_MEMORY, "out of memory");
    ok = ok && feed_pages(c, bytes, len, format, plus, e);
    struct instant now = {(PROBE_PAGES - 1) * PROBE_STEP.us + US_PER_S};
    if (ok) collect_tick(c, now, (struct wall){now.us + INT64_C(1700000000) * US_PER_S}, points, due);
    for (uint16_t i = 0; ok && i < s->signal_count; i++) {
        const struct point *p = &points[i];
        bool known = p->why == WHY_KNOWN;
        out[i] = (struct probe_signal){.name = s->signals[i].name, .value = p->value, .why = p->why, .requests = p->n};
        out[i].state = known ? PROBE_KNOWN : any_metric(&s->signals[i], bytes, len, format) ? PROBE_QUIET : PROBE_ABSENT;
    }
    free(points);
    free(due);
    collect_free(c);
    return ok;
}
