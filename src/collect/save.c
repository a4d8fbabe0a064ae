/* State as bytes. Series go by metric in the order in which queries meet them, so that sums come out the same. */
#include <stdlib.h>
#include <string.h>

#include "collect/inside.h"

#define FORMAT 1

/* ---- saving ---- */

static void save_instant(struct buf *out, struct instant t) { buf_le64(out, (uint64_t)t.us); }
static void save_text(struct buf *out, const char *s) { buf_le_bytes(out, s, strlen(s)); }

static void save_versions(struct buf *out, const struct versions *v)
{
    buf_le32(out, v->n);
    for (uint32_t i = 0; i < v->n; i++) save_text(out, v->text[i]);
}

static void save_target(struct buf *out, const struct target *t, const uint32_t *number)
{
    save_instant(out, t->last_good);
    save_instant(out, t->last_try);
    save_instant(out, t->start_changed);
    buf_le8(out, (uint8_t)t->outcome);
    buf_le8(out, t->tried);
    buf_le8(out, (uint8_t)t->why);
    save_text(out, t->error);
    buf_le32(out, t->samples);
    buf_le32(out, t->broken_lines);
    buf_le_double(out, t->start_time);
    save_instant(out, t->restarts_since);
    buf_le32(out, t->restarts);
    save_versions(out, &t->versions);
    buf_le32(out, t->order_n);
    for (uint32_t i = 0; i < t->order_n; i++) buf_le32(out, number[t->order[i]]);
}

/* Samples older than any query looks are there or not depending on when room was last made: they are not state. */
static uint32_t first_kept(const struct series *s, int64_t keep_ms)
{
    uint32_t i = 0;
    while (i < s->n && s->samples[s->first + i].t_ms < s->samples[s->first + s->n - 1].t_ms - keep_ms) i++;
    return i;
}

static void save_series(struct buf *out, const struct series *s, int64_t keep_ms)
{
    buf_le32(out, s->labels.n);
    for (uint32_t i = 0; i < s->labels.n; i++) {
        save_text(out, s->labels.items[i].name);
        save_text(out, s->labels.items[i].value);
    }
    buf_le_bytes(out, s->text, s->text_len);
    buf_le32(out, s->target);
    buf_le8(out, (uint8_t)s->why);
    buf_le8(out, s->own_time);
    buf_le8(out, s->ended);
    buf_le32(out, s->page);
    uint32_t from = first_kept(s, keep_ms);
    buf_le32(out, s->n - from);
    for (uint32_t i = from; i < s->n; i++) {
        buf_le64(out, (uint64_t)s->samples[s->first + i].t_ms);
        buf_le_double(out, s->samples[s->first + i].v);
    }
}

static void save_signal(struct buf *out, const struct signal_state *s)
{
    save_instant(out, s->next);
    save_instant(out, s->last.at);
    buf_le_double(out, s->last.value);
    buf_le32(out, s->last.n);
    buf_le8(out, (uint8_t)s->last.why);
    buf_le8(out, s->given);
}

void collect_save(const struct collect *c, struct buf *out)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    uint32_t *number = calloc((size_t)c->series_n + 1, sizeof *number), n = 0;
    if (!number) {
        out->failed = true;
        return;
    }
    buf_le8(out, FORMAT);
    buf_le32(out, c->page);
    buf_le8(out, c->anchored);
    buf_le64(out, (uint64_t)c->offset_ms);
    save_instant(out, c->own_reload);
    buf_le8(out, c->release.seen);
    save_text(out, c->release.version);
    save_instant(out, c->release.at);
    buf_le32(out, c->name_count);
    for (uint32_t i = 0; i < c->name_count; i++) {
        const struct name *m = &c->names[i];
        buf_le_bytes(out, m->text, m->len);
        buf_le64(out, (uint64_t)m->keep_ms);
        buf_le64(out, m->broken);
        buf_le32(out, m->series_n);
        for (uint32_t k = 0; k < m->series_n; k++) {
            number[m->series[k]] = n++;
            save_series(out, &c->series[m->series[k]], m->keep_ms);
        }
    }
    buf_le32(out, c->s->target_count);
    for (uint16_t i = 0; i < c->s->target_count; i++) save_target(out, &c->targets[i], number);
    buf_le32(out, c->s->signal_count);
    for (uint16_t i = 0; i < c->s->signal_count; i++) save_signal(out, &c->signals[i]);
    free(number);
}

/* ---- loading: every length is checked before it is used ---- */

static struct instant load_instant(struct reader *r) { return (struct instant){(int64_t)read_le64(r)}; }

static bool load_text(struct reader *r, char *to, size_t cap)
{
    size_t len;
    const uint8_t *p = read_le_bytes(r, &len);
    if (!p || len >= cap) return false;
    memcpy(to, p, len);
    to[len] = '\0';
    return true;
}

static bool load_versions(struct reader *r, struct versions *v)
{
    v->n = read_le32(r);
    if (v->n > VERSIONS_MAX) return false;
    for (uint32_t i = 0; i < v->n; i++)
        if (!load_text(r, v->text[i], VERSION_BYTES)) return false;
    return true;
}

static enum unknown_why load_why(struct reader *r)
{
    uint8_t why = read_le8(r);
    if (why >= WHY_COUNT) r->failed = true;
    return r->failed ? WHY_KNOWN : (enum unknown_why)why;
}

static bool load_order(struct collect *c, struct reader *r, struct target *t)
{
    uint32_t n = read_le32(r);
    if (r->failed || n > c->series_n) return false;
    t->order = malloc(((size_t)n + 1) * sizeof *t->order);
    if (!t->order) return false;
    t->order_cap = n;
    c->bytes += n * sizeof *t->order;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t series = read_le32(r);
        if (r->failed || series >= c->series_n) return false;
        t->order[t->order_n++] = series;
        c->series[series].place = i;
    }
    return true;
}

static bool load_target(struct collect *c, struct reader *r, struct target *t)
{
    t->last_good = load_instant(r);
    t->last_try = load_instant(r);
    t->start_changed = load_instant(r);
    uint8_t outcome = read_le8(r);
    if (outcome > PAGE_REDIRECT) return false;
    t->outcome = (enum page_outcome)outcome;
    t->tried = read_le8(r) != 0;
    t->why = load_why(r);
    if (!load_text(r, t->error, sizeof t->error)) return false;
    t->samples = read_le32(r);
    t->broken_lines = read_le32(r);
    t->start_time = read_le_double(r);
    t->restarts_since = load_instant(r);
    t->restarts = read_le32(r);
    return load_versions(r, &t->versions) && load_order(c, r, t);
}

static bool load_samples(struct collect *c, struct reader *r, struct series *s)
{
    uint32_t n = read_le32(r);
    if (r->failed || n > (r->len - r->at) / 16) return false;
    s->samples = malloc(((size_t)n + 1) * sizeof *s->samples);
    if (!s->samples) return false;
    s->cap = n;
    c->bytes += n * sizeof *s->samples;
    for (uint32_t i = 0; i < n; i++) {
        s->samples[i].t_ms = (int64_t)read_le64(r);
        s->samples[i].v = read_le_double(r);
        s->n++;
    }
    return !r->failed;
}

/* Copies a text of the saved bytes into the scratch arena, terminated. */
static const char *load_copy(struct collect *c, struct reader *r)
{
    size_t len;
    const uint8_t *p = read_le_bytes(r, &len);
    return p ? arena_strndup(&c->scratch, (const char *)p, len) : NULL;
}

static bool load_series(struct collect *c, struct reader *r, uint32_t name)
{
    struct pq_label items[EXPO_LABELS_MAX + 3];
    struct pq_labels l = {items, read_le32(r)};
    if (l.n == 0 || l.n > ARRAY_LEN(items)) return false;
    arena_reset(&c->scratch);
    for (uint32_t i = 0; i < l.n; i++) {
        items[i].name = load_copy(c, r);
        items[i].value = load_copy(c, r);
        if (!items[i].name || !items[i].value) return false;
    }
    size_t text_len;
    const uint8_t *text = read_le_bytes(r, &text_len);
    uint32_t target = read_le32(r);
    if (!text || r->failed || target >= c->s->target_count || text_len > UINT32_MAX) return false;
    uint64_t hash = collect_series_hash(l);
    if (collect_series_find(c, l, hash) != NO_SERIES) return false;
    uint32_t at = collect_series_new(c, l, hash, name, (uint16_t)target, (const char *)text, (uint32_t)text_len);
    if (at == NO_SERIES) return false;
    struct series *s = &c->series[at];
    s->why = load_why(r);
    s->own_time = read_le8(r) != 0;
    s->ended = read_le8(r) != 0;
    s->page = read_le32(r);
    return load_samples(c, r, s);
}

static bool load_names(struct collect *c, struct reader *r)
{
    uint32_t n = read_le32(r);
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        size_t len;
        const uint8_t *text = read_le_bytes(r, &len);
        int64_t keep = (int64_t)read_le64(r);
        uint64_t broken = read_le64(r);
        uint32_t count = read_le32(r);
        if (!text || len == 0 || len > UINT32_MAX || r->failed) return false;
        uint32_t name = collect_name_add(c, (const char *)text, (uint32_t)len, keep);
        if (name == NO_SERIES) return false;
        c->names[name].broken = broken;
        for (uint32_t k = 0; k < count; k++)
            if (!load_series(c, r, name)) return false;
    }
    return !r->failed;
}

static bool load_signal(struct reader *r, struct signal_state *s)
{
    s->next = load_instant(r);
    s->last.at = load_instant(r);
    s->last.value = read_le_double(r);
    s->last.n = read_le32(r);
    s->last.why = load_why(r);
    s->given = read_le8(r) != 0;
    return !r->failed;
}

bool collect_load(struct collect *c, const void *bytes, size_t len)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    struct reader r = {.p = bytes, .len = len};
    if (c->series_live || read_le8(&r) != FORMAT) return false;
    c->page = read_le32(&r);
    c->anchored = read_le8(&r) != 0;
    c->offset_ms = (int64_t)read_le64(&r);
    c->own_reload = load_instant(&r);
    c->release.seen = read_le8(&r) != 0;
    if (!load_text(&r, c->release.version, sizeof c->release.version)) return false;
    c->release.at = load_instant(&r);
    if (!load_names(c, &r) || read_le32(&r) != c->s->target_count) return false;
    for (uint16_t i = 0; i < c->s->target_count; i++)
        if (!load_target(c, &r, &c->targets[i])) return false;
    if (read_le32(&r) != c->s->signal_count) return false;
    for (uint16_t i = 0; i < c->s->signal_count; i++)
        if (!load_signal(&r, &c->signals[i])) return false;
    return !r.failed && r.at == r.len;
}

struct collect *collect_clone(const struct collect *c)
{
    struct buf b = BUF_INIT;
    struct collect *n = collect_new(c->s, c->limits);
    b.limit = SIZE_MAX;
    if (n) collect_save(c, &b);
    bool ok = n && buf_ok(&b) && collect_load(n, b.data, b.len);
    buf_free(&b);
    if (ok) return n;
    collect_free(n);
    return NULL;
}

uint64_t collect_digest(const struct collect *c)
{
    struct buf b = BUF_INIT;
    uint64_t h = UINT64_C(14695981039346656037);
    b.limit = SIZE_MAX;
    collect_save(c, &b);
    for (size_t i = 0; i < b.len; i++) h = (h ^ (uint8_t)b.data[i]) * UINT64_C(1099511628211);
    buf_free(&b);
    return h;
}
