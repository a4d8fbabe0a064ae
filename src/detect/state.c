/* Baseline state as bytes, clone and digest. Layout: magic, version, checksum of the rest, tick, alpha, the service's
 * part, then each signal: name, interval, scalars by one table, rings. Bytes are hostile until each field has been
 * looked at: whatever is used as an index or a count is checked, and nothing is taken before all is. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "detect/detect_private.h"

#define STATE_MAGIC 0x53544454u   /* "TDTS" */
#define STATE_VERSION 3u          /* 2: without distributions, which are then learned anew */
#define FNV_BASIS UINT64_C(1469598103934665603)
#define FNV_PRIME UINT64_C(1099511628211)

/* All scalars of a series by width, in the order of the bytes. */
#define F64_FIELDS(X)                                                                                        \
    X(value) X(x) X(acc_sum) X(acc_n_sum) X(base) X(scale) X(scale_before) X(pending) X(z) X(r_mean)         \
    X(b_median) X(b_scale) X(b_rest) X(b_half_sd) X(requests) X(slow) X(fast) X(spread) X(slow_pending)      \
    X(score) X(score_raw) X(score_limit) X(log_unit) X(season_sum) X(week_sum) X(profile) X(drift) X(week_ago)           \
    X(drift_day) X(drift_anchor) X(origin) X(anchor)
#define I64_FIELDS(X)                                                                                        \
    X(last_at) X(value_at) X(first_at) X(last_tick) X(slot_now) X(slot_first) X(anchor_at) X(prof_no)        \
    X(origin_wall) X(week_day) X(drift_from)
#define U64_FIELDS(X) X(learned) X(score_n) X(blocks) X(points) X(b_from) X(b_to)
#define U32_FIELDS(X)                                                                                        \
    X(acc_points) X(acc_known) X(acc_n_count) X(block_tick) X(b_count) X(b_known) X(slot_count) X(slot_bad)  \
    X(slot_seen) X(drift_n) X(profile_n) X(season_n) X(week_n) X(backwards) X(why_point) X(why_x) X(why_z) X(state)    \
    X(lead) X(quiet) X(n_unknown)
#define U8_FIELDS(X)                                                                                         \
    X(history) X(has_n) X(b_frozen) X(has_profile) X(anchor_frozen) X(anchor_down) X(imported) X(idle)

/* Arrays go out in pieces: a call for each number would cost more than the numbers. */
static void put_u32s(struct buf *b, const uint32_t *x, uint32_t n)
{
    uint8_t bytes[256];
    for (uint32_t i = 0, k = 0; i < n; i++) {
        for (unsigned j = 0; j < 4; j++) bytes[k++] = (uint8_t)(x[i] >> (8 * j));
        if (k == sizeof bytes || i + 1 == n) {
            buf_add(b, bytes, k);
            k = 0;
        }
    }
}

static void put_floats(struct buf *b, const float *x, uint32_t n)
{
    uint32_t bits[64];
    for (uint32_t i = 0; i < n; i += 64) {
        uint32_t piece = n - i < 64 ? n - i : 64;
        memcpy(bits, x + i, piece * sizeof *bits);
        put_u32s(b, bits, piece);
    }
}

static void put_float(struct buf *b, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    buf_le32(b, bits);
}

static void put_u16(struct buf *b, uint16_t x)
{
    buf_le8(b, (uint8_t)x);
    buf_le8(b, (uint8_t)(x >> 8));
}

static void put_u16s(struct buf *b, const uint16_t *x, uint32_t n)
{
    uint8_t bytes[256];
    for (uint32_t i = 0, k = 0; i < n; i++) {
        bytes[k++] = (uint8_t)x[i];
        bytes[k++] = (uint8_t)(x[i] >> 8);
        if (k == sizeof bytes || i + 1 == n) {
            buf_add(b, bytes, k);
            k = 0;
        }
    }
}

static void get_floats(struct reader *r, float *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t bits = read_le32(r);
        memcpy(&x[i], &bits, sizeof bits);
    }
}

static void get_u16s(struct reader *r, uint16_t *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint16_t lo = read_le8(r);
        x[i] = (uint16_t)(lo | read_le8(r) << 8);
    }
}

static void get_bytes(struct reader *r, uint8_t *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) x[i] = read_le8(r);
}

/* The last 60 days, or what there is of them. */
static int64_t slots_from(const struct series *s)
{
    if (s->slot_now == INT64_MIN) return 0;
    int64_t first = s->slot_now - SLOT_RING;
    return first < s->slot_first ? s->slot_first : first;
}

static uint32_t filled(uint64_t seen, uint32_t cap) { return seen < cap ? (uint32_t)seen : cap; }

static void save_rings(const struct series *s, const struct track *t, struct buf *b)
{
    uint32_t points = filled(s->points, SERIES_POINTS), blocks = filled(s->blocks, SERIES_BLOCKS);
    for (uint32_t i = 0; i < ACC_MAX; i++) buf_le_double(b, s->acc[i]);
    put_floats(b, s->b_sorted, s->b_known);
    for (uint32_t i = 0; i < SLOTS_DAY; i++) put_float(b, *season(t, i));
    put_floats(b, s->week, 8);
    for (uint32_t i = 0; i < SERIES_WEIGHTS; i++) buf_le32(b, *block_requests(t, i));
    for (uint32_t i = 0; i < SLOTS_DAY; i++) buf_le8(b, *season_days(t, i));
    buf_add(b, s->week_days, 8);
    put_u16s(b, s->hist.now, HIST_STEPS);
    put_u16s(b, s->hist.before, HIST_STEPS);
    buf_le32(b, s->hist.now_n);
    buf_le32(b, s->hist.before_n);
    put_u16s(b, s->slot_acc, SLOT_ACC);
    put_u16s(b, s->prof_day, SLOTS_DAY);
    for (uint32_t i = 0; i < SLOTS_WEEK; i++) put_u16(b, *week_place(t, i));
    for (uint32_t i = 0; i < points; i++) put_float(b, *point_value(t, i));
    for (uint32_t i = 0; i < points; i++) buf_le32(b, *point_ms(t, i));
    for (uint32_t i = 0; i < blocks; i++) put_float(b, *block_mean(t, i));
    for (uint32_t i = 0; i < blocks; i++) put_float(b, *block_median(t, i));
    for (uint32_t i = 0; i < blocks; i++) buf_le8(b, *block_known(t, i));
    for (int64_t no = slots_from(s); s->slot_now != INT64_MIN && no < s->slot_now; no++) {
        uint32_t at = slot_ring_at(no);
        uint16_t code = *slot_place(t, at);
        uint8_t bytes[3] = {(uint8_t)code, (uint8_t)(code >> 8), *slot_marks(t, at / 8) >> (at % 8) & 1};
        buf_add(b, bytes, sizeof bytes);
    }
}

static void save_series(const struct series *s, const struct track *t, struct buf *b)
{
#define X(f) buf_le_double(b, s->f);
    F64_FIELDS(X)
#undef X
#define X(f) buf_le64(b, (uint64_t)s->f);
    I64_FIELDS(X)
    U64_FIELDS(X)
#undef X
#define X(f) buf_le32(b, s->f);
    U32_FIELDS(X)
#undef X
#define X(f) buf_le8(b, s->f);
    U8_FIELDS(X)
#undef X
    save_rings(s, t, b);
}

static void load_rings(struct series *s, const struct track *t, struct reader *r)
{
    uint32_t points = filled(s->points, SERIES_POINTS), blocks = filled(s->blocks, SERIES_BLOCKS);
    for (uint32_t i = 0; i < ACC_MAX; i++) s->acc[i] = read_le_double(r);
    get_floats(r, s->b_sorted, s->b_known);
    for (uint32_t i = 0; i < SLOTS_DAY; i++) get_floats(r, season(t, i), 1);
    get_floats(r, s->week, 8);
    for (uint32_t i = 0; i < SERIES_WEIGHTS; i++) *block_requests(t, i) = read_le32(r);
    for (uint32_t i = 0; i < SLOTS_DAY; i++) *season_days(t, i) = read_le8(r);
    get_bytes(r, s->week_days, 8);
    get_u16s(r, s->hist.now, HIST_STEPS);
    get_u16s(r, s->hist.before, HIST_STEPS);
    s->hist.now_n = read_le32(r);
    s->hist.before_n = read_le32(r);
    hist_find_top(&s->hist);
    get_u16s(r, s->slot_acc, SLOT_ACC);
    get_u16s(r, s->prof_day, SLOTS_DAY);
    for (uint32_t i = 0; i < SLOTS_WEEK; i++) get_u16s(r, week_place(t, i), 1);
    for (uint32_t i = 0; i < points; i++) get_floats(r, point_value(t, i), 1);
    for (uint32_t i = 0; i < points; i++) *point_ms(t, i) = read_le32(r);
    for (uint32_t i = 0; i < blocks; i++) get_floats(r, block_mean(t, i), 1);
    for (uint32_t i = 0; i < blocks; i++) get_floats(r, block_median(t, i), 1);
    for (uint32_t i = 0; i < blocks; i++) *block_known(t, i) = read_le8(r);
    for (int64_t no = slots_from(s); s->slot_now != INT64_MIN && no < s->slot_now && !r->failed; no++) {
        uint32_t at = slot_ring_at(no);
        get_u16s(r, slot_place(t, at), 1);
        if (read_le8(r)) *slot_marks(t, at / 8) |= (uint8_t)(1u << (at % 8));
    }
}

#define TIME_MAX (INT64_C(1) << 60)      /* 36,000 years of microseconds: sums of two stay in range */

#define SLOT_MAX (INT64_C(1) << 31)

static bool time_sane(int64_t v) { return v == INT64_MIN || (v > -TIME_MAX && v < TIME_MAX); }

static bool slots_sane(const struct series *s)
{
    if (s->slot_now == INT64_MIN)
        return s->slot_first == INT64_MIN && s->anchor_at == INT64_MIN && s->prof_no == INT64_MIN;
    return s->slot_first > -SLOT_MAX && s->slot_now < SLOT_MAX && s->slot_first <= s->slot_now &&
           s->anchor_at >= s->slot_first && s->anchor_at <= s->slot_now + 1 &&
           (s->prof_no == INT64_MIN || (s->prof_no >= s->slot_first && s->prof_no <= s->slot_now));
}

/* All that is later an index, a count, a loop bound, a time or an enumeration. */
static bool series_sane(const struct series *s, const struct track *t)
{
    bool times = time_sane(s->last_at) && time_sane(s->value_at) && time_sane(s->first_at) && time_sane(s->last_tick) &&
                 time_sane(s->origin_wall) && (s->points == 0 || s->last_at != INT64_MIN) &&
                 (s->blocks == 0 || s->last_tick != INT64_MIN);
    bool counts = s->blocks < TIME_MAX && s->points < TIME_MAX && s->learned < TIME_MAX && s->score_n < TIME_MAX &&
                  s->b_from <= s->b_to && s->b_to <= s->blocks && s->b_known <= s->b_count && s->b_count <= SPIKE_B &&
                  s->block_tick < t->block_ticks && s->history < 8 && (s->lead == t->r || s->lead == t->b || s->lead == 0);
    bool words = s->why_point < WHY_COUNT && s->why_x < WHY_COUNT && s->why_z < WHY_COUNT && s->state < SERIES_STATE_COUNT;
    return slots_sane(s) && times && counts && words;
}

static bool load_series(struct series *s, const struct track *t, struct reader *r)
{
#define X(f) s->f = read_le_double(r);
    F64_FIELDS(X)
#undef X
#define X(f) s->f = (int64_t)read_le64(r);
    I64_FIELDS(X)
#undef X
#define X(f) s->f = read_le64(r);
    U64_FIELDS(X)
#undef X
#define X(f) s->f = read_le32(r);
    U32_FIELDS(X)
#undef X
#define X(f) s->f = read_le8(r);
    U8_FIELDS(X)
#undef X
    if (r->failed || !series_sane(s, t)) return false;
    load_rings(s, t, r);
    for (uint32_t i = 1; i < s->b_known; i++)            /* sorted and without NaN, or the search in it goes astray */
        if (!(s->b_sorted[i - 1] <= s->b_sorted[i])) return false;
    for (uint32_t i = 0; i < SLOTS_DAY; i++)
        if (!isfinite(*season(t, i)) || !isfinite(s->week[i % 8])) return false;
    for (uint32_t i = 0; i < SERIES_BLOCKS; i++)
        if (*block_known(t, i) & BLOCK_COUNT && !(isfinite(*block_mean(t, i)) && isfinite(*block_median(t, i)))) return false;
    if (r->failed) return false;
    score_slot_opened(s, t);
    if (!s->b_frozen) spike_rebuild(s, t, s->b_to);      /* it follows from the blocks: no second truth is taken */
    return true;
}

static uint64_t checksum(const void *bytes, size_t len, uint64_t h)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < len; i++) h = (h ^ p[i]) * FNV_PRIME;
    return h;
}

static void save_body(const struct detect *d, struct buf *b)
{
    buf_le64(b, (uint64_t)d->tick.us);
    buf_le64(b, (uint64_t)d->st.last_tick);
    buf_le64(b, (uint64_t)d->st.last_wall);
    buf_le64(b, (uint64_t)d->st.onset);
    buf_le64(b, (uint64_t)d->st.release_at);
    buf_le64(b, d->st.excluded_n);
    for (unsigned i = 0; i < DETECT_EXCLUDED; i++) {
        buf_le64(b, (uint64_t)d->st.excluded[i][0]);
        buf_le64(b, (uint64_t)d->st.excluded[i][1]);
    }
    buf_le64(b, d->st.imported);
    buf_le64(b, d->st.ticks);
    buf_le32(b, d->n);
    for (uint16_t i = 0; i < d->n; i++) {
        const char *name = d->def->signals[i].name;
        struct buf one = BUF_INIT;
        save_series(&d->series[i], &d->tracks[i], &one);
        buf_le_bytes(b, name, strlen(name));
        buf_le64(b, (uint64_t)d->tracks[i].step_us);
        buf_le_bytes(b, buf_text(&one), one.len);
        if (!buf_ok(&one)) b->failed = true;
        buf_free(&one);
    }
    shapes_save(d, b);
}

void detect_save(const struct detect *d, struct buf *out)
{
    OBJ_VALID(d, DETECT_MAGIC);
    struct buf body = BUF_INIT;
    save_body(d, &body);
    buf_le32(out, STATE_MAGIC);
    buf_le32(out, STATE_VERSION);
    buf_le64(out, checksum(buf_text(&body), body.len, FNV_BASIS));
    buf_le_bytes(out, buf_text(&body), body.len);
    if (!buf_ok(&body)) out->failed = true;
    buf_free(&body);
}

static bool load_state(struct detect_state *st, const struct detect *d, struct reader *r)
{
    if ((int64_t)read_le64(r) != d->tick.us) return false;    /* another tick: every count would mean another time */
    st->last_tick = (int64_t)read_le64(r);
    st->last_wall = (int64_t)read_le64(r);
    st->onset = (int64_t)read_le64(r);
    st->release_at = (int64_t)read_le64(r);
    st->excluded_n = read_le64(r);
    bool sane = time_sane(st->last_tick) && time_sane(st->last_wall) && time_sane(st->onset) && time_sane(st->release_at) &&
                st->excluded_n <= DETECT_EXCLUDED;
    for (unsigned i = 0; i < DETECT_EXCLUDED; i++) {
        for (unsigned k = 0; k < 2; k++) {
            st->excluded[i][k] = (int64_t)read_le64(r);
            sane = sane && time_sane(st->excluded[i][k]);
        }
    }
    st->imported = read_le64(r) != 0;
    st->ticks = read_le64(r);
    return sane && !r->failed;
}

/* The clock began anew, so nothing that is counted in its instants means anything: points, blocks and the spike view go;
 * baseline, scale, score, slots and anchor stay. */
static void forget_instants(struct series *s, const struct track *t)
{
    s->last_at = s->value_at = s->first_at = s->last_tick = INT64_MIN;
    s->value = s->x = s->z = s->r_mean = s->b_median = s->b_scale = s->b_rest = s->b_half_sd = NAN;
    s->blocks = s->points = s->b_from = s->b_to = 0;
    s->b_known = s->b_count = s->acc_points = s->acc_known = s->acc_n_count = s->block_tick = s->quiet = s->n_unknown = 0;
    s->acc_sum = s->acc_n_sum = s->pending = s->slow_pending = 0;
    s->b_frozen = s->history = 0;
    s->why_point = s->why_x = WHY_MISSING;
    s->why_z = WHY_WARMING;
    for (uint32_t i = 0; i < SERIES_WEIGHTS; i++) *block_requests(t, i) = 0;
    for (uint32_t i = 0; i < SERIES_BLOCKS; i++) {
        *block_mean(t, i) = *block_median(t, i) = 0;
        *block_known(t, i) = 0;
    }
    for (uint32_t i = 0; i < SERIES_POINTS; i++) {
        *point_value(t, i) = 0;
        *point_ms(t, i) = 0;
    }
    memset(s->b_sorted, 0, sizeof s->b_sorted);
    memset(s->acc, 0, sizeof s->acc);
}

static uint16_t find_signal(const struct service_def *def, const uint8_t *name, size_t len)
{
    for (uint16_t i = 0; name && i < def->signal_count; i++)
        if (strlen(def->signals[i].name) == len && memcmp(def->signals[i].name, name, len) == 0) return i;
    return NO_INDEX;
}

static bool load_all(struct detect *d, struct detect_state *st, uint32_t version, struct reader *r)
{
    if (!load_state(st, d, r)) return false;
    uint32_t n = read_le32(r);
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        size_t name_len, len;
        const uint8_t *name = read_le_bytes(r, &name_len);
        int64_t step = (int64_t)read_le64(r);
        const uint8_t *bytes = read_le_bytes(r, &len);
        uint16_t at = r->failed ? NO_INDEX : find_signal(d->def, name, name_len);
        if (at == NO_INDEX || step != d->tracks[at].step_us) continue;   /* gone, or it counts in other blocks now */
        struct reader one = {.p = bytes, .len = len};
        if (!load_series(&d->series[at], &d->tracks[at], &one) || one.at != one.len) return false;
    }
    if (version >= 3 && !shapes_load(d, r)) return false;
    return !r->failed && r->at == r->len;
}

bool detect_load(struct detect *d, const void *bytes, size_t len, struct instant now)
{
    OBJ_VALID(d, DETECT_MAGIC);
    struct reader r = {.p = bytes, .len = len};
    if (read_le32(&r) != STATE_MAGIC) return false;
    uint32_t version = read_le32(&r);
    if (version != 2 && version != STATE_VERSION) return false;
    uint64_t sum = read_le64(&r);
    size_t body_len;
    const uint8_t *body = read_le_bytes(&r, &body_len);
    if (r.failed || r.at != r.len || checksum(body, body_len, FNV_BASIS) != sum) return false;
    struct detect_state st = {0};
    struct detect fresh = *d;
    fresh.shapes = NULL;
    CHECK_MEMORY(detect_memory(&fresh) && shapes_new(&fresh));   /* "not loaded" would mean to learn anew */
    struct reader in = {.p = body, .len = body_len};
    detect_point_tracks(&fresh, &fresh.archive);   /* the tracks are shared: they point back below */
    bool good = load_all(&fresh, &st, version, &in);
    if (good && now.us < st.last_tick) {
        for (uint16_t i = 0; i < d->n; i++) forget_instants(&fresh.series[i], &d->tracks[i]);
        st.last_tick = st.onset = st.release_at = INT64_MIN;
        st.excluded_n = 0;
    }
    struct detect old = good ? *d : fresh;
    if (good) {
        d->series = fresh.series;
        d->archive = fresh.archive;
        d->shapes = fresh.shapes;
        d->st = st;
    }
    free(old.shapes);
    detect_forget_memory(&old);
    detect_point_tracks(d, &d->archive);
    return good;
}

size_t detect_hot_bytes(const struct detect *d) { return sizeof *d + d->n * (sizeof *d->series + sizeof *d->tracks); }

size_t detect_bytes(const struct detect *d)
{
    return detect_hot_bytes(d) + d->archive.size;
}

/* Over the memory itself, eight bytes at a time: the structs have no gaps and no leftovers (state_test holds them to it),
 * so equal states are equal bytes. Numbers differ between machines of different byte order. */
static uint64_t digest_words(const void *bytes, size_t len, uint64_t h)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i + 8 <= len; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

uint64_t detect_digest(const struct detect *d)
{
    _Static_assert(sizeof(struct series) % 8 == 0 && sizeof(struct detect_state) % 8 == 0, "digest takes whole words");
    uint64_t h = digest_words(&d->st, sizeof d->st, FNV_BASIS);
    h = digest_words(d->series, d->n * sizeof *d->series, h);
    return shapes_digest(d, digest_words(d->archive.memory, d->archive.size, h));
}

struct detect *detect_clone(const struct detect *d)
{
    OBJ_VALID(d, DETECT_MAGIC);
    struct detect *c = malloc(sizeof *c);
    if (!c) return NULL;
    *c = *d;
    size_t n = d->n ? d->n : 1u;
    c->series = NULL;
    c->archive = (struct archive){0};
    c->shapes = NULL;
    c->tracks = malloc(n * sizeof *c->tracks);
    if (!c->tracks || !detect_memory(c) || !shapes_copy(c, d)) {
        detect_free(c);
        return NULL;
    }
    memcpy(c->tracks, d->tracks, n * sizeof *c->tracks);
    memcpy(c->series, d->series, n * sizeof *c->series);
    archive_copy(&c->archive, &d->archive);
    detect_point_tracks(c, &c->archive);
    return c;
}
