/* OpenMetrics: what a sample of each type may look like, and what a metric needs to be whole. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "collect/expo_check.h"

static bool suffix_is(const char *suffix, const char *word) { return strcmp(suffix, word) == 0; }

static const struct expo_label *find_label(const struct checker *k, const char *name)
{
    size_t n = strlen(name);
    for (uint32_t i = 0; i < k->x.sample.label_count; i++)
        if (k->x.labels[i].name_len == n && memcmp(k->x.labels[i].name, name, n) == 0) return &k->x.labels[i];
    return NULL;
}

static bool label_number(const struct expo_label *l, double *ret) { return num_parse_all(l->value, l->value_len, ret); }

/* ---- whole metrics ---- */

bool expo_group_end(struct checker *k)
{
    struct group *g = &k->group;
    if (!g->open) return true;
    g->open = false;
    enum family_type t = k->family.type;
    const char *at = k->x.line_start;
    if (t != FAMILY_HISTOGRAM && t != FAMILY_GAUGEHISTOGRAM) return true;
    if (!g->has_bucket) return expo_no(k, at, "a histogram has no bucket");
    if (!g->has_inf) return expo_no(k, at, "a histogram has no bucket with le=\"+Inf\"");
    if (g->has_count != g->has_sum && (g->has_count || !g->negative_bucket))
        return expo_no(k, at, "a histogram has both a count and a sum, or neither");
    if (g->has_count && g->count != g->inf) return expo_no(k, at, "a histogram's count is not its +Inf bucket");
    if (g->negative_bucket && g->has_sum && t == FAMILY_HISTOGRAM)
        return expo_no(k, at, "a histogram with a negative bound has no sum");
    return true;
}

static bool group_enter(struct checker *k, uint64_t id)
{
    struct group *g = &k->group;
    if (g->open && g->id == id) return true;
    if (!expo_group_end(k) || !expo_group_is_new(k, id)) return false;
    *g = (struct group){.id = id, .open = true};
    return true;
}

/* Times inside a metric are there always or never, and do not go back. */
static bool group_time(struct checker *k, bool first)
{
    struct group *g = &k->group;
    const struct expo_sample *s = &k->x.sample;
    if (!first && g->has_time != s->has_time)
        return expo_no(k, k->x.line_start, "some samples of this metric have a time, some none");
    if (!first && s->has_time && s->time_ms < g->time_ms) return expo_no(k, k->x.line_start, "the time goes back");
    g->has_time = s->has_time;
    g->time_ms = s->time_ms;
    return true;
}

/* ---- histograms ---- */

static bool bucket_order(struct checker *k, double bound, bool later_point)
{
    struct group *g = &k->group;
    double v = k->x.sample.value;
    if (g->has_bucket && !later_point) {
        if (!(bound > g->last_bound)) return expo_no(k, k->x.line_start, "the bounds of buckets rise");
        if (v < g->last_bucket)
            return expo_no(k, k->x.line_start, "buckets are cumulative: this one holds less than the one before");
    }
    g->has_bucket = true;
    g->last_bound = bound;
    g->last_bucket = v;
    if (bound < 0) g->negative_bucket = true;
    if (isinf(bound) && bound > 0) { g->has_inf = true; g->inf = v; }
    return true;
}

static bool check_bucket(struct checker *k, bool later_point)
{
    const struct expo_label *le = find_label(k, "le");
    double bound;
    if (!le) return expo_no(k, k->x.line_start, "a bucket needs the label le");
    if (!label_number(le, &bound) || isnan(bound)) return expo_no(k, le->value, "le must be a number");
    bool infinite = isinf(bound) && bound > 0;
    if (infinite && (le->value_len != 4 || memcmp(le->value, "+Inf", 4) != 0))
        return expo_no(k, le->value, "the last bucket is spelled +Inf");
    if (!later_point && k->group.last_suffix && strcmp(k->group.last_suffix, "_bucket") != 0)
        return expo_no(k, k->x.line_start, "buckets come first");
    return bucket_order(k, bound, later_point);
}

static bool check_histogram(struct checker *k, const char *suffix, bool later_point)
{
    struct group *g = &k->group;
    double v = k->x.sample.value;
    bool gauge = k->family.type == FAMILY_GAUGEHISTOGRAM, sum = suffix_is(suffix, "_sum") || suffix_is(suffix, "_gsum");
    bool count = suffix_is(suffix, "_count") || suffix_is(suffix, "_gcount");
    const char *at = k->x.sample.value_text;
    if (isnan(v)) return expo_no(k, at, "NaN does not stand in a histogram");
    if (v < 0 && (!sum || !gauge)) return expo_no(k, at, "a histogram does not count below 0");
    if (suffix_is(suffix, "_bucket")) return check_bucket(k, later_point);
    if (count) { g->has_count = true; g->count = v; }
    if (sum) {
        g->has_sum = true;
        if (v < 0 && !g->negative_bucket) return expo_no(k, at, "a negative sum needs a bucket below 0");
    }
    return true;
}

/* ---- the other types ---- */

static bool is_zero_or_one(double v) { return v == 0 || v == 1; }

static bool check_stateset(struct checker *k)
{
    const struct expo_sample *s = &k->x.sample;
    if (!is_zero_or_one(s->value)) return expo_no(k, s->value_text, "a state is 0 or 1");
    struct expo_label *own = NULL;
    for (uint32_t i = 0; i < s->label_count; i++)
        if (k->x.labels[i].name_len == k->family.name_len &&
            memcmp(k->x.labels[i].name, k->family.name, k->family.name_len) == 0) own = &k->x.labels[i];
    return own != NULL || expo_no(k, k->x.line_start, "a state stands in the label that has the family's name");
}

static bool check_summary(struct checker *k, const char *suffix)
{
    double v = k->x.sample.value, q;
    const char *at = k->x.sample.value_text;
    const struct expo_label *l = find_label(k, "quantile");
    if (!suffix_is(suffix, "")) {
        if (isnan(v) || v < 0) return expo_no(k, at, "counts and sums of a summary are not negative and not NaN");
        return l == NULL || expo_no(k, k->x.line_start, "the label quantile belongs to the quantiles alone");
    }
    if (!l) return expo_no(k, k->x.line_start, "a quantile needs the label quantile");
    if (!label_number(l, &q) || !(q >= 0 && q <= 1)) return expo_no(k, l->value, "quantile is a number from 0 to 1");
    return !(v < 0) || expo_no(k, at, "a quantile of a summary is not negative");
}

static bool check_value(struct checker *k, const char *suffix, bool later_point)
{
    double v = k->x.sample.value;
    const char *at = k->x.sample.value_text;
    switch (k->family.type) {
    case FAMILY_COUNTER:
        if (isnan(v) || v < 0) return expo_no(k, at, "a counter is not negative and not NaN");
        return true;
    case FAMILY_INFO: return v == 1 || expo_no(k, at, "an info has the value 1");
    case FAMILY_STATESET: return check_stateset(k);
    case FAMILY_HISTOGRAM: case FAMILY_GAUGEHISTOGRAM: return check_histogram(k, suffix, later_point);
    case FAMILY_SUMMARY: return check_summary(k, suffix);
    default: return true;
    }
}

static bool check_exemplar(struct checker *k, const char *suffix)
{
    const struct expo_sample *s = &k->x.sample;
    if (!s->has_exemplar) return true;
    enum family_type t = k->family.type;
    bool may = (t == FAMILY_COUNTER && suffix_is(suffix, "_total")) ||
               ((t == FAMILY_HISTOGRAM || t == FAMILY_GAUGEHISTOGRAM) && suffix_is(suffix, "_bucket"));
    if (!may) return expo_no(k, k->x.line_start, "exemplars stand on counters' totals and on buckets only");
    return s->exemplar_chars <= 128 || expo_no(k, k->x.line_start, "an exemplar's labels have more than 128 characters");
}

/* Which samples form one metric: the same labels, but for le, quantile and the state. */
static uint64_t metric_id(const struct checker *k, const char *suffix)
{
    enum family_type t = k->family.type;
    if ((t == FAMILY_HISTOGRAM || t == FAMILY_GAUGEHISTOGRAM) && suffix_is(suffix, "_bucket")) return expo_series_hash(k, "le");
    if (t == FAMILY_SUMMARY && suffix_is(suffix, "")) return expo_series_hash(k, "quantile");
    if (t == FAMILY_STATESET && k->family.name_len < 128) {
        char own[128];
        memcpy(own, k->family.name, k->family.name_len);
        own[k->family.name_len] = '\0';
        return expo_series_hash(k, own);
    }
    return expo_series_hash(k, NULL);
}

bool expo_check_typed(struct checker *k, const char *suffix)
{
    struct group *g = &k->group;
    uint64_t id = metric_id(k, suffix);
    bool first = !g->open || g->id != id;
    if (!group_enter(k, id)) return false;
    bool later = !first && k->x.sample.has_time && g->has_time && k->x.sample.time_ms > g->time_ms;
    if (!group_time(k, first) || !check_value(k, suffix, later) || !check_exemplar(k, suffix)) return false;
    /* Without times a series has one sample. */
    uint64_t series = expo_series_hash(k, NULL) ^ (uint64_t)(uintptr_t)suffix;
    if (!k->x.sample.has_time && !expo_check_once(k)) return false;
    g->last_series = series;
    g->last_suffix = suffix;
    return true;
}
