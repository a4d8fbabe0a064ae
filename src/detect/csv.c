/* One series, row by row, over the same views as a service's signals. */
#include "detect/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "detect/detect.h"
#include "detect/series.h"
#include "stats/order.h"

#define STEP_ROWS 1000
#define NEWS_ROWS 100
#define NEWS_FACTOR 2.0
#define PLAIN_MARGIN 2.0
#define PLAIN_QUANTILE 0.999

static const enum fn view_fn[] = {FN_SCORE, FN_BASELINE, FN_ZSCORE, FN_DRIFT, FN_PROFILE, FN_WEEK_AGO};
#define VIEWS ARRAY_LEN(view_fn)

struct detect_csv {
    struct signal_def signal;
    struct service_def service;
    struct track track;
    struct series series;
    struct archive archive;
    char *past;
    struct score_hist hist[VIEWS];
    double limit[VIEWS];
    int64_t last, first;
    uint64_t rows, told_at;
    double told;
    enum series_state state;
    uint32_t quiet;
    uint8_t history;
    struct detect_csv_row row;
};

struct span detect_csv_step(const struct wall *times, uint32_t n)
{
    double d[STEP_ROWS];
    uint32_t k = 0;
    for (uint32_t i = 1; i < n && k < STEP_ROWS; i++)
        if (times[i].us > times[i - 1].us) d[k++] = (double)(times[i].us - times[i - 1].us);
    return k ? (struct span){(int64_t)stats_nth(d, k, k / 2)} : SPAN_S(30);
}

struct detect_csv *detect_csv_new(const char *name, struct span step)
{
    struct detect_csv *c = calloc(1, sizeof *c);
    if (c) c->past = calloc(1, archive_size(1));
    if (!c || !c->past) {
        free(c);
        return NULL;
    }
    int64_t tick = step.us > 30 * US_PER_S ? step.us : 30 * US_PER_S;
    c->signal = (struct signal_def){.name = name, .unit = UNIT_ONE, .bad = BAD_BOTH, .rel_floor = 0.02,
                                    .interval = {step.us < tick ? step.us : tick}};
    c->service = (struct service_def){.name = name, .signals = &c->signal, .signal_count = 1};
    track_init(&c->track, &c->service, &c->signal, 0.2, tick);
    archive_place(&c->archive, c->past, 1);
    c->track.archive = &c->archive;
    c->track.score_warm = 2 * SERIES_WARM;
    series_init(&c->series);
    c->last = c->first = INT64_MIN;
    c->row = (struct detect_csv_row){.score = NAN, .r = NAN, .state = SERIES_WARMING, .why = WHY_WARMING};
    for (unsigned i = 0; i < VIEWS; i++) c->limit[i] = 1;
    return c;
}

void detect_csv_free(struct detect_csv *c)
{
    if (c) free(c->past);
    free(c);
}

/* A view's deviation over its own limit; that of the plain views is at least twice their own past 99.9 % quantile. */
static double over_limit(struct detect_csv *c, unsigned i, struct finding *f)
{
    double d = series_view(&c->series, &c->track, view_fn[i], f);
    if (!isfinite(d) || view_fn[i] == FN_SCORE) return d;      /* score is calibrated already */
    double r = d / c->limit[i], limit = PLAIN_MARGIN * hist_quantile(&c->hist[i], PLAIN_QUANTILE);
    hist_add(&c->hist[i], d, (uint32_t)(7 * US_PER_DAY / c->track.tick_us));
    c->limit[i] = limit > 1 ? limit : 1;
    return r;
}

/* What was told within the last 100 rows is news again only when twice as bad: one anomaly, one alarm. */
static double news(struct detect_csv *c, double r)
{
    if (c->rows - c->told_at >= NEWS_ROWS) c->told = 0;
    double fresh = c->told > 0 ? r / (NEWS_FACTOR * c->told) : r;
    if (r >= 1) {
        if (c->told == 0) c->told_at = c->rows;
        if (r > c->told) c->told = r;
    }
    return fresh;
}

/* score alone is calibrated well enough to stand by itself. The others count as far as two of them (score may be one)
 * agree: the largest but one. */
static double strongest(struct detect_csv *c, struct finding *ret)
{
    struct finding best = {0}, score = {0};
    double first = NAN, second = NAN, alone = NAN;
    for (unsigned i = 0; i < VIEWS; i++) {
        struct finding f = {0};
        double r = over_limit(c, i, &f);
        if (!isfinite(r)) continue;
        f.deviation = r;
        if (view_fn[i] == FN_SCORE) alone = r, score = f;
        if (!(r <= first)) {
            second = first;
            first = r;
            best = f;
        } else if (!(r <= second)) {
            second = r;
        }
    }
    bool agreed = !isnan(alone) && second > alone;
    *ret = agreed ? best : score;
    return agreed ? second : alone;
}

static void judge(struct detect_csv *c)
{
    struct detect_csv_row *row = &c->row;
    struct finding f;
    double r = strongest(c, &f);
    *row = (struct detect_csv_row){.score = NAN, .r = NAN, .state = SERIES_WARMING, .why = WHY_WARMING};
    if (isnan(r)) return;
    row->state = c->state = series_next_state(&c->history, &c->quiet, c->state, r >= 1, r >= 1);
    row->has_finding = r >= 1;
    row->finding = f;
    row->r = news(c, r);
    row->score = row->r / (1 + row->r);
    row->why = WHY_KNOWN;
}

static void tick(struct detect_csv *c, int64_t at)
{
    struct series_tick k = {.now = at, .wall = at, .learn = LEARN};
    series_tick(&c->series, &c->track, &k);
    if (isnan(c->series.x)) {
        c->row = (struct detect_csv_row){.score = NAN, .r = NAN, .state = SERIES_UNKNOWN,
                                         .why = (enum unknown_why)c->series.why_x};
    } else {
        judge(c);
    }
}

void detect_csv_feed(struct detect_csv *c, struct wall at, double value, struct detect_csv_row *ret)
{
    if (c->last != INT64_MIN && at.us <= c->last) {
        *ret = (struct detect_csv_row){.score = NAN, .r = NAN, .state = SERIES_UNKNOWN, .why = WHY_CLOCK};
        return;
    }
    c->last = at.us;
    c->rows++;
    bool known = isfinite(value);
    struct point p = {.at = {at.us}, .value = value, .why = known ? WHY_KNOWN : WHY_MISSING};
    series_feed(&c->series, &c->track, p);
    bool whole = c->signal.interval.us >= c->track.tick_us;
    if (whole && !known) c->series.value_at = INT64_MIN;       /* one row, one tick: what was before is not now */
    if (whole || c->first == INT64_MIN || at.us - c->first >= c->track.tick_us) {
        c->first = at.us;
        tick(c, at.us);
    }
    *ret = c->row;
}

void detect_csv_say(struct buf *out, const struct detect_csv *c, const struct detect_csv_row *row)
{
    if (row->has_finding) detect_say(out, &c->service, &row->finding);
}
