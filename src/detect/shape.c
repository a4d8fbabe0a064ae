/* Drift of distributions: lengths of inputs and outputs, features. What is usual is learned by hour of the day, and the nearest
 * counts, be it an hour or a blend of two that follow each other: what is usual at any time of a day is no drift, so neither the
 * evening nor a weekend alarms. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "detect/detect_private.h"
#include "stats/drift.h"

#define HOURS 24
#define VALUES_LEAST 300       /* in the window and in an hour; facts: under that PSI is noise */
#define BIN_SHARE 0.08         /* of the usual: thinner bins are put together, which gives about ten */
#define BINS_FEW 3
#define BLENDS 8               /* steps from one hour to the next */
#define NEAR 0.02              /* so small that nothing nearer need be looked for */
#define CHANCE 0.01            /* KS: p under it */
#define LEARN_DAYS 14
#define SPEAKS_DAYS DRIFT_DAYS   /* a week has been seen, its end too */

struct shape_state {
    double edge[HISTOGRAM_BINS_MAX];
    float usual[HOURS][HISTOGRAM_BINS_MAX];
    int64_t learned_us;        /* of windows, without overlap */
    int64_t learned_at;        /* end of the newest; INT64_MIN: none */
    uint32_t bins, spare;
};

static uint16_t count(const struct detect *d)
{
    uint16_t n = 0;
    for (uint16_t i = 0; i < d->n; i++) n = (uint16_t)(n + (d->def->signals[i].shape != SHAPE_NONE));
    return n;
}

static struct shape_state *find(const struct detect *d, uint16_t signal)
{
    struct shape_state *s = d->shapes;
    for (uint16_t i = 0; i < signal; i++) s += d->def->signals[i].shape != SHAPE_NONE;
    return s;
}

static void restart(struct shape_state *s)
{
    memset(s, 0, sizeof *s);
    s->learned_at = INT64_MIN;
}

void shapes_restart(struct detect *d)
{
    for (uint16_t i = 0, n = count(d); i < n; i++) restart(&d->shapes[i]);
}

bool shapes_new(struct detect *d)
{
    uint16_t n = count(d);
    d->shapes = n ? calloc(n, sizeof *d->shapes) : NULL;
    if (n && !d->shapes) return false;
    shapes_restart(d);
    return true;
}

bool shapes_copy(struct detect *to, const struct detect *from)
{
    if (!shapes_new(to)) return false;
    if (to->shapes) memcpy(to->shapes, from->shapes, count(from) * sizeof *to->shapes);
    return true;
}

uint64_t shapes_digest(const struct detect *d, uint64_t h)
{
    const uint8_t *p = (const uint8_t *)d->shapes;
    for (size_t i = 0, n = count(d) * sizeof *d->shapes; i < n; i++) h = (h ^ p[i]) * UINT64_C(1099511628211);
    return h;
}

static double total(const double *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

/* bin_of[i]: the wider bin that bin i goes into, by what is usual over the whole day. Returns how many there are. */
static uint32_t put_together(const struct shape_state *s, uint32_t bin_of[HISTOGRAM_BINS_MAX])
{
    double all[HISTOGRAM_BINS_MAX] = {0}, sum, part = 0;
    uint32_t n = 0;
    for (unsigned h = 0; h < HOURS; h++)
        for (uint32_t i = 0; i < s->bins; i++) all[i] += s->usual[h][i];
    sum = total(all, s->bins);
    for (uint32_t i = 0; i < s->bins; i++) {
        bin_of[i] = n;
        part += all[i];
        if (part < BIN_SHARE * sum) continue;
        part = 0;
        n++;
    }
    if (part > 0 || n == 0) n++;
    else for (uint32_t i = 0; i < s->bins; i++) bin_of[i] = bin_of[i] < n ? bin_of[i] : n - 1;
    if (n >= BINS_FEW) return n;
    for (uint32_t i = 0; i < s->bins; i++) bin_of[i] = i;     /* nearly all in one place: it must still be seen to leave */
    return s->bins;
}

static double psi_beyond_chance(const double *now, const double *usual, const uint32_t *bin_of, uint32_t from, uint32_t bins)
{
    double a[HISTOGRAM_BINS_MAX] = {0}, b[HISTOGRAM_BINS_MAX] = {0};
    for (uint32_t i = 0; i < from; i++) {
        a[bin_of[i]] += now[i];
        b[bin_of[i]] += usual[i];
    }
    double psi = stats_psi(a, b, bins);
    return psi > stats_psi_null_p95(bins, total(a, bins), total(b, bins)) ? psi : 0;
}

static double ks_beyond_chance(const double *now, const double *usual, uint32_t bins)
{
    struct stats_ks k = stats_ks_counts(now, usual, bins);
    return k.p < CHANCE ? k.d : 0;
}

/* `part` eighths of what is usual an hour later, the rest of this hour: what a window shows while one passes into the other.
 * false: too little is known of them. */
static bool blend(const struct shape_state *s, unsigned hour, unsigned part, double ret[HISTOGRAM_BINS_MAX])
{
    const float *one = s->usual[hour], *two = s->usual[(hour + 1) % HOURS];
    double n = 0, m = 0;
    for (uint32_t i = 0; i < s->bins; i++) {
        n += one[i];
        m += two[i];
    }
    if (n < VALUES_LEAST || (part > 0 && m < VALUES_LEAST)) return false;
    double share = part / (double)BLENDS, size = part > 0 && m < n ? m : n;
    for (uint32_t i = 0; i < s->bins; i++) {
        ret[i] = (1 - share) * one[i] * (size / n);
        if (part > 0) ret[i] += share * two[i] * (size / m);
    }
    return true;
}

/* To the nearest that is usual, from this hour on backwards until one is near; NaN: no hour has enough. */
static double distance(const struct shape_state *s, const struct histogram *h, enum shape kind, unsigned hour)
{
    uint32_t bin_of[HISTOGRAM_BINS_MAX], bins = put_together(s, bin_of);
    double least = NAN;
    for (unsigned i = 0; i < HOURS * BLENDS && !(least < NEAR); i++) {
        double usual[HISTOGRAM_BINS_MAX];
        if (!blend(s, (hour + HOURS - i / BLENDS) % HOURS, i % BLENDS, usual)) continue;
        double v = kind == SHAPE_PSI ? psi_beyond_chance(h->count, usual, bin_of, s->bins, bins)
                                     : ks_beyond_chance(h->count, usual, s->bins);
        if (!(v >= least)) least = v;
    }
    return least;
}

static bool same_bins(const struct shape_state *s, const struct histogram *h)
{
    return s->bins == h->bins && memcmp(s->edge, h->edge, h->bins * sizeof *h->edge) == 0;
}

/* A release with other buckets is another histogram: nothing that was learned can be compared with it. */
static void begin(struct shape_state *s, const struct histogram *h)
{
    restart(s);
    s->bins = h->bins;
    memcpy(s->edge, h->edge, h->bins * sizeof *h->edge);
}

static unsigned hour_of(const struct track *t, struct wall wall)
{
    int64_t hour = (wall.us + t->offset_us) / US_PER_HOUR % HOURS;
    return (unsigned)(hour < 0 ? hour + HOURS : hour);
}

static void learn(struct shape_state *s, const struct histogram *h, unsigned hour, struct span window, int64_t now)
{
    bool overlaps = now >= s->learned_at && s->learned_at != INT64_MIN && now - s->learned_at < window.us;
    if (overlaps || s->learned_us >= LEARN_DAYS * US_PER_DAY) return;
    for (uint32_t i = 0; i < s->bins; i++) s->usual[hour][i] = to_float(s->usual[hour][i] + h->count[i]);
    s->learned_us += window.us;
    s->learned_at = now;
}

struct point detect_shape(struct detect *d, uint16_t signal, const struct histogram *h, struct instant now, struct wall wall)
{
    OBJ_VALID(d, DETECT_MAGIC);
    CHECK(signal < d->n && d->def->signals[signal].shape != SHAPE_NONE && h->bins <= HISTOGRAM_BINS_MAX);
    struct shape_state *s = find(d, signal);
    const struct signal_def *def = &d->def->signals[signal];
    double n = total(h->count, h->bins), v = NAN;
    unsigned hour = hour_of(&d->tracks[signal], wall);
    struct point p = {.at = now, .value = NAN, .n = n < 4e9 ? (uint32_t)n : UINT32_MAX, .why = WHY_LOW_TRAFFIC};
    if (n < VALUES_LEAST) return p;
    if (!same_bins(s, h)) begin(s, h);
    if (s->learned_us >= SPEAKS_DAYS * US_PER_DAY) v = distance(s, h, def->shape, hour);
    if (d->may_learn) learn(s, h, hour, def->range, now.us);
    p.value = v;
    p.why = isnan(v) ? WHY_WARMING : WHY_KNOWN;
    return p;
}

/* ---- saved ---- */

void shapes_save(const struct detect *d, struct buf *b)
{
    buf_le32(b, count(d));
    for (uint16_t i = 0; i < d->n; i++) {
        if (d->def->signals[i].shape == SHAPE_NONE) continue;
        const struct shape_state *s = find(d, i);
        buf_le_bytes(b, d->def->signals[i].name, strlen(d->def->signals[i].name));
        buf_le32(b, s->bins);
        buf_le64(b, (uint64_t)s->learned_us);
        buf_le64(b, (uint64_t)s->learned_at);
        for (uint32_t k = 0; k < s->bins; k++) buf_le_double(b, s->edge[k]);
        for (unsigned h = 0; h < HOURS; h++)
            for (uint32_t k = 0; k < s->bins; k++) buf_le_double(b, s->usual[h][k]);
    }
}

static struct shape_state *find_by_name(const struct detect *d, const uint8_t *name, size_t len)
{
    for (uint16_t i = 0; name && i < d->n; i++) {
        const struct signal_def *def = &d->def->signals[i];
        if (def->shape != SHAPE_NONE && strlen(def->name) == len && memcmp(def->name, name, len) == 0) return find(d, i);
    }
    return NULL;
}

/* Counts are finite and not negative, edges ascend: what is compared later needs no second look. */
static bool load_one(struct shape_state *s, struct reader *r)
{
    s->bins = read_le32(r);
    s->learned_us = (int64_t)read_le64(r);
    s->learned_at = (int64_t)read_le64(r);
    if (r->failed || s->bins > HISTOGRAM_BINS_MAX || s->learned_us < 0 || s->learned_us > 2 * LEARN_DAYS * US_PER_DAY) return false;
    if (s->learned_at != INT64_MIN && (s->learned_at > INT64_MAX / 4 || s->learned_at < INT64_MIN / 4)) return false;
    for (uint32_t k = 0; k < s->bins; k++) {
        s->edge[k] = read_le_double(r);
        if (isnan(s->edge[k]) || (k > 0 && !(s->edge[k] > s->edge[k - 1]))) return false;
    }
    for (unsigned h = 0; h < HOURS; h++) {
        for (uint32_t k = 0; k < s->bins; k++) {
            double v = read_le_double(r);
            if (!(v >= 0 && v <= 1e30)) return false;
            s->usual[h][k] = (float)v;
        }
    }
    return !r->failed;
}

bool shapes_load(struct detect *d, struct reader *r)
{
    uint32_t n = read_le32(r);
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        size_t len;
        struct shape_state unknown, *s;
        const uint8_t *name = read_le_bytes(r, &len);
        restart(&unknown);
        s = r->failed ? NULL : find_by_name(d, name, len);
        if (!load_one(s ? s : &unknown, r)) return false;
    }
    return !r->failed;
}
