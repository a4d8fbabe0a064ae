/* One page in. First everything is staged, then, when the whole page is good, committed: a page over a limit
 * must leave no half of itself behind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/inside.h"

#define GARBAGE_RATIO 4

struct reading {
    struct collect *c;
    const struct page *p;
    struct page_report *report;
    struct target *target;
    struct expo x;
    uint32_t next;                 /* place in the target's order that the next line probably has */
    uint64_t bit;                  /* of the target, in name.broken */
    int64_t t_ms;
    double start_time;
};

/* ---- broken lines ---- */

static void say_broken(struct reading *r, const char *name, uint32_t name_len, uint32_t line, const char *reason)
{
    struct page_report *report = r->report;
    report->broken_lines++;
    if (report->broken_lines > 1) return;
    report->first_broken_line = line;
    struct buf b = BUF_INIT;
    buf_printf(&b, "line %u: ", line);
    /* A name comes from outside: only its printable part is shown. */
    for (uint32_t i = 0; i < name_len && i < 80; i++)
        buf_putc(&b, (unsigned char)name[i] < 0x20 || (unsigned char)name[i] > 0x7e ? '?' : name[i]);
    if (name_len) buf_puts(&b, ": ");
    buf_puts(&b, reason);
    text_copy(report->error, sizeof report->error, buf_text(&b));
    buf_free(&b);
}

static void mark(struct reading *r, uint32_t series, enum unknown_why why)
{
    struct series *s = &r->c->series[series];
    if (s->why == WHY_KNOWN || s->page != r->c->page) s->why = why;
    s->page = r->c->page;
}

/* The broken line's own series becomes unknown; when it cannot be told which one that is, all of its metric. */
static void broken_line(struct reading *r)
{
    const struct expo_fault *f = &r->x.fault;
    say_broken(r, f->name, f->name ? f->name_len : 0, f->line, f->reason);
    uint32_t name = f->name ? collect_name_find(r->c, f->name, f->name_len) : NO_SERIES;
    if (name == NO_SERIES) return;
    uint32_t series = f->labels_read ? collect_series_of_sample(r->c, &r->x, name, r->p->target) : NO_SERIES;
    if (series == NO_ROOM) r->c->names[name].broken |= r->bit;
    else if (series != NO_SERIES) mark(r, series, WHY_BROKEN);
    else if (!f->labels_read) r->c->names[name].broken |= r->bit;
}

/* ---- samples ---- */

static bool stage(struct collect *c, uint32_t series, int64_t t_ms, double v)
{
    if (c->staged_n == c->staged_cap) {
        uint32_t cap = c->staged_cap ? c->staged_cap * 2 : 256;
        struct staged *more = realloc(c->staged, cap * sizeof *more);
        if (!more) return false;
        c->bytes += (cap - c->staged_cap) * sizeof *more;
        c->staged = more;
        c->staged_cap = cap;
    }
    c->staged[c->staged_n++] = (struct staged){series, t_ms, v};
    return true;
}

/* A line printed twice says nothing new; two values for one series contradict each other. */
static bool says_the_same(const struct collect *c, const struct series *s, double v)
{
    double before = c->staged[s->staged].v;
    return s->why == WHY_KNOWN && (before == v || (isnan(before) && isnan(v)));
}

static bool stage_sample(struct reading *r, uint32_t series)
{
    struct collect *c = r->c;
    struct series *s = &c->series[series];
    const struct expo_sample *x = &r->x.sample;
    int64_t t = r->t_ms;
    bool again = s->page == c->page;
    if (x->has_time) {
        int64_t off = x->time_ms - r->p->wall.us / US_PER_MS, most = c->limits.clock_off.us / US_PER_MS;
        if (off > most || off < -most) { mark(r, series, WHY_CLOCK); return true; }
        t += off;
    }
    if (again && !(x->has_time && s->own_time)) {
        if (says_the_same(c, s, x->value)) return true;
        say_broken(r, x->name ? x->name : s->text, x->name ? x->name_len : s->text_len, r->x.line,
                   "this series stands twice on the page, with two values");
        mark(r, series, WHY_BROKEN);
        s->why = WHY_BROKEN;
        return true;
    }
    if (!again) s->why = WHY_KNOWN;
    s->page = c->page;
    s->own_time = x->has_time;
    s->staged = c->staged_n;
    return stage(c, series, t, x->value);
}

/* The line is the one that stood here last time. 1 taken, 0 another line, -1 out of memory. */
static int take_expected(struct reading *r)
{
    struct target *t = r->target;
    if (r->next >= t->order_n) return 0;
    uint32_t series = t->order[r->next];
    const struct series *s = &r->c->series[series];
    enum expo_event e = expo_expect(&r->x, s->text, s->text_len);
    if (e == EXPO_END) return 0;
    r->next++;
    if (e != EXPO_SAMPLE) {
        say_broken(r, s->text, s->text_len, r->x.fault.line, r->x.fault.reason);
        mark(r, series, WHY_BROKEN);
        return e == EXPO_OVER_LIMIT ? -1 : 1;
    }
    r->x.sample.name = NULL;
    r->report->samples++;
    return stage_sample(r, series) ? 1 : -1;
}

static void watch_version(struct reading *r)
{
    for (uint32_t i = 0; i < r->x.sample.label_count; i++) {
        const struct expo_label *l = &r->x.labels[i];
        if (l->name_len == 13 && memcmp(l->name, "model_version", 13) == 0)
            collect_versions_add(&r->c->page_versions, l->value, l->value_len);
    }
}

static bool take_sample(struct reading *r)
{
    struct collect *c = r->c;
    const struct expo_sample *x = &r->x.sample;
    r->report->samples++;
    if (x->label_count) watch_version(r);
    uint32_t name = collect_name_find(c, x->name, x->name_len);
    if (name == NO_SERIES && !c->takes_all) return true;
    uint32_t series = collect_series_of_sample(c, &r->x, name, r->p->target);
    if (series == NO_SERIES) return true;
    if (series == NO_ROOM) {
        text_copy(r->report->error, sizeof r->report->error, "the page brings more series than a service may have");
        return false;
    }
    if (c->series[series].place != NO_SERIES) r->next = c->series[series].place + 1;
    return stage_sample(r, series);
}

/* false: the page is over a limit (or memory is short), the report says which. */
static bool read_lines(struct reading *r)
{
    struct expo *x = &r->x;
    for (;;) {
        if (r->report->samples > r->c->limits.samples) {
            snprintf(r->report->error, sizeof r->report->error, "more than %u samples", r->c->limits.samples);
            return false;
        }
        if (!expo_to_sample(x)) return true;
        int expected = take_expected(r);
        if (expected > 0) continue;
        enum expo_event e = expected < 0 ? EXPO_OVER_LIMIT : expo_sample(x);
        if (e == EXPO_BROKEN) broken_line(r);
        else if (e == EXPO_OVER_LIMIT || !take_sample(r)) {
            if (expected == 0 && e == EXPO_OVER_LIMIT)
                snprintf(r->report->error, sizeof r->report->error, "line %u: %s", x->fault.line, x->fault.reason);
            return false;
        }
    }
}

/* ---- commit ---- */

static void remember_order(struct collect *c, struct target *t)
{
    if (c->staged_n > t->order_cap) {
        uint32_t *more = realloc(t->order, c->staged_n * sizeof *more);
        if (!more) { t->order_n = 0; return; }
        c->bytes += (c->staged_n - t->order_cap) * sizeof *more;
        t->order = more;
        t->order_cap = c->staged_n;
    }
    t->order_n = 0;
    for (uint32_t i = 0; i < c->staged_n; i++) {
        struct series *s = &c->series[c->staged[i].series];
        s->place = t->order_n;
        t->order[t->order_n++] = c->staged[i].series;
    }
}

static void commit(struct reading *r)
{
    struct collect *c = r->c;
    uint32_t start = collect_name_find(c, "process_start_time_seconds", 26);
    for (uint32_t i = 0; i < c->staged_n; i++) {
        struct series *s = &c->series[c->staged[i].series];
        if (s->why != WHY_KNOWN) continue;
        collect_series_append(c, s, c->staged[i].t_ms, c->staged[i].v);
        r->report->series++;
        if (s->name == start && c->staged[i].v > r->start_time) r->start_time = c->staged[i].v;
        for (uint32_t k = 0; k < s->labels.n; k++)
            if (strcmp(s->labels.items[k].name, "model_version") == 0)
                collect_versions_add(&c->page_versions, s->labels.items[k].value, strlen(s->labels.items[k].value));
    }
    remember_order(c, r->target);
}

/* Series of the target that this page does not have, or has broken, have ended. */
static void end_missing(struct collect *c, uint16_t target, int64_t t_ms)
{
    for (uint32_t i = 0; i < c->series_n; i++) {
        struct series *s = &c->series[i];
        if (!s->labels.items || s->target != target) continue;
        /* What is gone is missing, whatever was wrong with it when it was last seen. */
        bool gone = s->page != c->page;
        if (gone || s->why != WHY_KNOWN) collect_series_end(c, s, t_ms);
        if (gone) s->why = WHY_KNOWN;
    }
}

/* The target's `up`, as Prometheus makes it. */
static void set_up(struct reading *r, double v)
{
    struct collect *c = r->c;
    uint32_t name = collect_name_find(c, "up", 2);
    if (name == NO_SERIES && !c->takes_all) return;
    if (name == NO_SERIES) name = collect_name_add(c, "up", 2, TAKE_ALL_KEEP_MS);
    if (name == NO_SERIES) return;
    const char *instance = c->s->targets[r->p->target].instance;
    struct pq_label items[] = {{"__name__", "up"}, {"instance", instance}};
    struct pq_labels l = {items, instance && *instance ? 2 : 1};
    uint64_t hash = collect_series_hash(l);
    uint32_t s = collect_series_find(c, l, hash);
    if (s == NO_SERIES) s = collect_series_new(c, l, hash, name, r->p->target, "", 0);
    if (s == NO_SERIES) return;
    c->series[s].page = c->page;
    c->series[s].why = WHY_KNOWN;
    collect_series_append(c, &c->series[s], r->t_ms, v);
}

/* ---- judging the page ---- */

static bool page_is_good(struct reading *r)
{
    struct page_report *report = r->report;
    const struct page *p = r->p;
    if (p->outcome != PAGE_OK) {
        text_copy(report->error, sizeof report->error, p->error ? p->error : "the page could not be fetched");
        return false;
    }
    report->outcome = PAGE_TOO_LARGE;
    if (p->len > r->c->limits.page_bytes) {
        snprintf(report->error, sizeof report->error, "the page has more than %u bytes", r->c->limits.page_bytes);
        return false;
    }
    if (expo_count_lines(p->bytes, p->len) > r->c->limits.samples) {
        snprintf(report->error, sizeof report->error, "the page has more than %u samples", r->c->limits.samples);
        return false;
    }
    if (!read_lines(r)) return false;
    report->outcome = PAGE_GARBAGE;
    /* A login page may hold a line that reads like a sample: mostly broken is garbage. */
    if (report->broken_lines / GARBAGE_RATIO > report->samples || (report->broken_lines && !report->samples)) return false;
    if (p->openmetrics && !r->x.eof_seen) {
        text_copy(report->error, sizeof report->error, "the page is cut off: OpenMetrics ends with # EOF");
        return false;
    }
    report->outcome = PAGE_OK;
    return true;
}

static enum unknown_why page_why(enum page_outcome o) { return o == PAGE_TOO_LARGE ? WHY_LIMIT : WHY_SCRAPE; }

static void close_page(struct reading *r, bool good)
{
    struct collect *c = r->c;
    struct target *t = r->target;
    t->tried = true;
    t->last_try = r->p->at;
    t->outcome = r->report->outcome;
    t->samples = r->report->samples;
    t->broken_lines = r->report->broken_lines;
    text_copy(t->error, sizeof t->error, r->report->error);
    t->why = good ? WHY_KNOWN : page_why(r->report->outcome);
    if (good) {
        t->last_good = r->p->at;
        commit(r);
        collect_release_page(c, r->p->target, r->p, r->start_time);
    } else {
        /* Nothing on the page counts, so nothing may look as if it had been seen. */
        for (uint32_t i = 0; i < c->series_n; i++)
            if (c->series[i].page == c->page) { c->series[i].page = 0; c->series[i].why = WHY_KNOWN; }
        t->order_n = 0;
        r->report->series = 0;
    }
    set_up(r, good);
    end_missing(c, r->p->target, r->t_ms);
    if (c->page % 64 == 0) collect_series_forget_old(c, r->t_ms);
}

void collect_page(struct collect *c, const struct page *p, struct page_report *ret)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    CHECK(p->target < c->s->target_count);
    *ret = (struct page_report){.outcome = p->outcome};
    collect_anchor(c, p->at, p->wall);
    struct reading r = {.c = c, .p = p, .report = ret, .target = &c->targets[p->target],
                        .bit = UINT64_C(1) << p->target, .t_ms = timeline(c, p->at)};
    c->page++;
    c->staged_n = 0;
    c->page_versions.n = 0;
    for (uint32_t i = 0; i < c->name_count; i++) c->names[i].broken &= ~r.bit;
    struct expo_limits limits = {c->limits.labels, c->limits.name_bytes, c->limits.value_bytes, c->limits.line_bytes};
    expo_open(&r.x, p->bytes, p->outcome == PAGE_OK ? p->len : 0, p->openmetrics ? EXPO_OPENMETRICS : EXPO_TEXT, limits);
    close_page(&r, page_is_good(&r));
}
