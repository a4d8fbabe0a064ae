/* Climbs of one minute to sixty days are each found, and the test names the view; a daily and a weekly cycle are not.
 * The rules are the default symptoms' comparisons, each on 2 of 3 ticks, evaluated here by hand. */
#include "base/prng.h"
#include "detect/detect.h"

#include "support/test.h"

#define TICK SPAN_S(30)
#define DAY 2880

static struct signal_def signals[] = {
    {.name = "latency_p99", .layer = LAYER_REQUEST, .unit = UNIT_MS, .bad = BAD_UP, .rel_floor = 0.02, .interval = SPAN_S(30)},
};
static const struct service_def service = {.name = "svc", .signals = signals, .signal_count = 1};
static struct need need_items[] = {{FN_VALUE, 0, {0}}, {FN_BASELINE, 0, {0}}, {FN_ZSCORE, 0, {0}},
                                   {FN_PROFILE, 0, {0}}, {FN_DRIFT, 0, {0}}, {FN_WEEK_AGO, 0, {0}}, {FN_SCORE, 0, {0}}};
static const struct needs needs = {.items = need_items, .n = 7, .cap = 7};

enum rule { BASELINE, ZSCORE, PROFILE, DRIFT, SCORE, RULES };
static const char *const rule_names[] = {"baseline", "zscore", "profile", "drift", "score"};

struct run {
    struct detect *d;
    int64_t tick;
    struct prng rng;
    struct datum items[7];
    struct evidence ev;
    unsigned history[RULES];
    int64_t found[RULES];        /* tick at which the rule opened; -1 never */
    int64_t ticks[RULES];        /* how long it was true */
};

static const struct detect_context quiet;

static void run_begin(struct run *r)
{
    memset(r, 0, sizeof *r);
    r->d = detect_new(&service, 0.2, TICK);
    prng_seed(&r->rng, 7);
    for (int i = 0; i < RULES; i++) r->found[i] = -1;
}

static bool is_true(const struct run *r, enum rule rule)
{
    double x = r->items[0].value;            /* unknown is NaN, and no comparison with NaN is true */
    switch (rule) {
    case BASELINE: return x > 1.15 * r->items[1].value;
    case ZSCORE: return r->items[2].value > 3;
    case PROFILE: return x > 1.15 * r->items[3].value;
    case DRIFT: return r->items[4].value > 0.15;
    case SCORE: return r->items[6].value > 1;
    default: return false;
    }
}

/* One tick at the given level with 2 % of noise. */
static void step(struct run *r, double level)
{
    r->tick++;
    struct instant now = {r->tick * TICK.us};
    double x = level * (1 + 0.02 * (prng_unit(&r->rng) + prng_unit(&r->rng) - 1));
    detect_feed(r->d, 0, (struct point){.at = now, .value = x, .why = WHY_KNOWN});
    r->ev = (struct evidence){.needs = &needs, .items = r->items};
    /* 1760313600 = Monday 2025-10-13T00:00:00Z */
    detect_tick(r->d, now, (struct wall){1760313600 * US_PER_S + now.us}, &quiet, &r->ev);
    for (enum rule i = 0; i < RULES; i++) {
        r->history[i] = (r->history[i] << 1 | is_true(r, i)) & 7;
        r->ticks[i] += is_true(r, i);
        bool open = r->history[i] == 3 || r->history[i] >= 5;
        if (open && r->found[i] < 0) r->found[i] = r->tick;
    }
}

static enum rule first_found(const struct run *r)
{
    enum rule best = RULES;
    for (enum rule i = 0; i < RULES; i++)
        if (r->found[i] >= 0 && (best == RULES || r->found[i] < r->found[best])) best = i;
    return best;
}

static void report(const struct run *r, const char *what, int64_t since)
{
    printf("%-8s", what);
    for (int i = 0; i < RULES; i++) {
        if (r->found[i] < 0) printf("  %s -", rule_names[i]);
        else printf("  %s %.1f min", rule_names[i], (double)(r->found[i] - since) / 2);
    }
    printf("\n");
}

/* 38 -> 62 in a straight line, then it stays there for two hours. After 15 quiet days. */
static void climbs_are_found_and_the_view_is_named(void **state)
{
    (void)state;
    static const struct { const char *name; int64_t ticks; enum rule view; bool also[RULES]; } climbs[] = {
        {"1 min", 2, BASELINE, {[BASELINE] = true, [ZSCORE] = true, [PROFILE] = true, [SCORE] = true}},
        {"5 min", 10, PROFILE, {[BASELINE] = true, [ZSCORE] = true, [PROFILE] = true, [SCORE] = true}},
        {"10 min", 20, PROFILE, {[ZSCORE] = true, [PROFILE] = true, [SCORE] = true}},
        {"20 min", 40, ZSCORE, {[ZSCORE] = true, [PROFILE] = true, [SCORE] = true}},
        {"60 min", 120, ZSCORE, {[PROFILE] = true, [SCORE] = true}},
        {"240 min", 480, SCORE, {[PROFILE] = true, [SCORE] = true}},
        {"3 d", 3 * DAY, PROFILE, {[PROFILE] = true, [DRIFT] = true}},
        {"60 d", 60 * DAY, PROFILE, {[PROFILE] = true, [DRIFT] = true}},
    };
    struct run warm;
    run_begin(&warm);
    for (int i = 0; i < 15 * DAY; i++) step(&warm, 38);
    for (int i = 0; i < RULES; i++) assert_int_equal(warm.found[i], -1);
    for (unsigned c = 0; c < ARRAY_LEN(climbs); c++) {
        struct run r = warm;
        r.d = detect_clone(warm.d);
        for (int64_t i = 1; i <= climbs[c].ticks; i++) step(&r, 38 + 24.0 * (double)i / (double)climbs[c].ticks);
        for (int i = 0; i < 240; i++) step(&r, 62);
        report(&r, climbs[c].name, warm.tick);
        assert_string_equal(rule_names[first_found(&r)], rule_names[climbs[c].view]);
        for (int i = 0; i < RULES; i++) {
            if (climbs[c].also[i]) assert_true(r.found[i] >= 0);
        }
        if (climbs[c].ticks >= 40) assert_int_equal(r.found[BASELINE], -1);       /* EWMA follows: why there are others */
        detect_free(r.d);
    }
    detect_free(warm.d);
}

/* On the second day there is no anchor yet: what a new user has are baseline, zscore and score. */
static void without_an_anchor_zscore_and_score_find_them(void **state)
{
    (void)state;
    static const struct { const char *name; int64_t ticks; enum rule view; } climbs[] = {
        {"1 min", 2, BASELINE}, {"5 min", 10, BASELINE}, {"10 min", 20, ZSCORE}, {"20 min", 40, ZSCORE},
        {"60 min", 120, ZSCORE}, {"240 min", 480, SCORE},
    };
    struct run warm;
    run_begin(&warm);
    for (int i = 0; i < DAY + 120; i++) step(&warm, 38);
    for (unsigned c = 0; c < ARRAY_LEN(climbs); c++) {
        struct run r = warm;
        r.d = detect_clone(warm.d);
        for (int64_t i = 1; i <= climbs[c].ticks; i++) step(&r, 38 + 24.0 * (double)i / (double)climbs[c].ticks);
        for (int i = 0; i < 240; i++) step(&r, 62);
        report(&r, climbs[c].name, warm.tick);
        assert_string_equal(rule_names[first_found(&r)], rule_names[climbs[c].view]);
        detect_free(r.d);
    }
    detect_free(warm.d);
}

/* The creep has begun before the first day, so that the anchor itself is learned from it. */
static void a_creep_from_the_first_day_is_found_by_drift(void **state)
{
    (void)state;
    struct run r;
    run_begin(&r);
    for (int64_t i = 0; i < 60 * DAY; i++) step(&r, 38 + 22.0 * (double)i / (60.0 * DAY));
    report(&r, "creep", 0);
    assert_int_equal(r.found[BASELINE], -1);
    assert_true(r.found[DRIFT] > 14 * DAY && r.found[DRIFT] < 45 * DAY);
    struct detect_status st;
    detect_status(r.d, 0, &st);
    assert_near(st.origin, 38 + 22 * 7.0 / 60, 0.5);       /* the median of the 14 days it was learned from */
    assert_true(st.drift > 0.4);
    detect_free(r.d);
}

/* A wave of two parabolas between -1 and 1, like a sine. */
static double wave(int64_t tick, int64_t period)
{
    double p = 4 * (double)(tick % period) / (double)period, q = p < 2 ? p - 1 : p - 3;
    return p < 2 ? 1 - q * q : q * q - 1;
}

static void a_daily_cycle_alone_is_not_found(void **state)
{
    (void)state;
    struct run r;
    run_begin(&r);
    for (int64_t i = 0; i < 28 * DAY; i++) step(&r, 38 * (1 + 0.2 * wave(i, DAY)));
    report(&r, "daily", 0);
    assert_int_equal(r.found[BASELINE], -1);
    assert_int_equal(r.found[PROFILE], -1);
    assert_int_equal(r.found[DRIFT], -1);
    assert_int_equal(r.found[SCORE], -1);
    detect_free(r.d);
}

/* Weekends a quarter lower, with an hour of passage: Monday is not a regression. */
static void a_weekly_cycle_alone_is_not_found(void **state)
{
    (void)state;
    struct run r;
    run_begin(&r);
    for (int64_t i = 0; i < 35 * DAY; i++) {
        if (i % (7 * DAY) == 0) {
            if (i == 14 * DAY) assert_true(r.ticks[SCORE] > 60);   /* the first Monday after a weekend */
            if (i >= 21 * DAY) assert_true(r.ticks[SCORE] <= 15);  /* then it knows what a weekend is */
            r.ticks[SCORE] = 0;
        }
        int64_t at = i % (7 * DAY);
        double weekend = at < 120 ? 1 - (double)at / 120 : at < 5 * DAY ? 0 : at < 5 * DAY + 120 ? (double)(at - 5 * DAY) / 120 : 1;
        step(&r, 38 * (1 - 0.25 * weekend) * (1 + 0.1 * wave(i, DAY)));
    }
    report(&r, "weekly", 0);
    assert_int_equal(r.found[BASELINE], -1);
    assert_int_equal(r.found[PROFILE], -1);
    assert_int_equal(r.found[DRIFT], -1);
    detect_free(r.d);
}

/* The same time last week: known from the eighth day on, and not through an incident. */
static void week_ago_reads_the_same_slot(void **state)
{
    (void)state;
    struct run r;
    run_begin(&r);
    for (int64_t i = 0; i < 8 * DAY - 1; i++) step(&r, 40 + (double)(i / DAY));
    assert_int_equal(r.items[5].why, WHY_WARMING);
    step(&r, 48);
    assert_int_equal(r.items[5].why, WHY_KNOWN);
    assert_near(r.items[5].value, 41, 0.5);                /* the second day */
    detect_free(r.d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(climbs_are_found_and_the_view_is_named),
        cmocka_unit_test(without_an_anchor_zscore_and_score_find_them),
        cmocka_unit_test(a_creep_from_the_first_day_is_found_by_drift),
        cmocka_unit_test(a_daily_cycle_alone_is_not_found),
        cmocka_unit_test(a_weekly_cycle_alone_is_not_found),
        cmocka_unit_test(week_ago_reads_the_same_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
