/* Distributions: what is usual by hour, what has moved, and what is too little to tell. */
#include "base/prng.h"
#include "detect/detect.h"
#include "stats/drift.h"
#include "support/test.h"

#define TICK SPAN_S(30)
#define EVERY SPAN_MIN(30)

enum { PSI, KS, SIGNALS, BINS = 12 };

static struct signal_def signals[SIGNALS] = {
    {.name = "psi_input_len", .layer = LAYER_DATA, .shape = SHAPE_PSI, .range = SPAN_MIN(30), .interval = SPAN_S(60)},
    {.name = "ks_input_len", .layer = LAYER_DATA, .shape = SHAPE_KS, .range = SPAN_MIN(30), .interval = SPAN_S(60)},
};
static const struct service_def service = {.name = "svc", .signals = signals, .signal_count = SIGNALS};
static const struct detect_context quiet;

/* `size` values around bin `middle`, drawn; a third of them one bin off to each side. */
static struct histogram drawn(struct prng *p, int middle, int size)
{
    struct histogram h = {.bins = BINS};
    for (int i = 0; i < BINS; i++) h.edge[i] = i + 1 < BINS ? 1 << i : (double)INFINITY;
    for (int k = 0; k < size; k++) h.count[middle - 1 + (int)prng_below(p, 3)]++;
    return h;
}

struct world { struct detect *d; struct prng p; int64_t half_hours; struct point last[SIGNALS]; };

/* The next half hour: by day long inputs, by night short ones; `moved` bins longer than that. */
static void half_hour(struct world *w, int moved, int size)
{
    struct instant now = {++w->half_hours * EVERY.us};
    struct wall wall = {now.us};
    int hour = (int)(w->half_hours / 2 % 24), middle = hour >= 8 && hour < 20 ? 5 : 3;
    struct histogram h = drawn(&w->p, middle + moved, size);
    detect_tick(w->d, now, wall, &quiet, NULL);
    for (uint16_t i = 0; i < SIGNALS; i++) w->last[i] = detect_shape(w->d, i, &h, now, wall);
}

static struct world fresh(void)
{
    struct world w = {.d = detect_new(&service, 0.2, TICK)};
    assert_non_null(w.d);
    prng_seed(&w.p, 21);
    return w;
}

static void weeks_without_change_stay_silent(void **state)
{
    (void)state;
    struct world w = fresh();
    unsigned spoke = 0;
    for (int i = 0; i < 8 * 7 * 48; i++) {
        half_hour(&w, 0, 2000);
        bool known = w.last[PSI].why == WHY_KNOWN && w.last[KS].why == WHY_KNOWN;
        assert_int_equal(known, i >= 7 * 48);              /* a week is learned, the window that ends it included */
        if (!known) assert_int_equal(w.last[PSI].why, WHY_WARMING);
        spoke += known && (w.last[PSI].value > 0.1 || w.last[KS].value > 0.1);
    }
    assert_int_equal(spoke, 0);
    detect_free(w.d);
}

static void longer_inputs_are_seen_and_not_learned_away(void **state)
{
    (void)state;
    struct world w = fresh();
    for (int i = 0; i < 15 * 48; i++) half_hour(&w, 0, 2000);
    for (int i = 0; i < 60 * 48; i++) {
        half_hour(&w, 2, 2000);                            /* at night as usual by day, by day as never */
        int hour = (int)(w.half_hours / 2 % 24);
        bool day = hour >= 8 && hour < 20;
        assert_int_equal(w.last[PSI].value > 0.25, day);
        assert_int_equal(w.last[KS].value > 0.25, day);
    }
    detect_rebase(w.d, (struct instant){w.half_hours * EVERY.us}, (struct instant){0}, (struct instant){1}, ANCHOR_BOTH);
    half_hour(&w, 2, 2000);
    assert_int_equal(w.last[PSI].why, WHY_WARMING);        /* "normal now": learned anew */
    detect_free(w.d);
}

static void a_hair_is_no_drift_however_sure(void **state)
{
    (void)state;
    struct world w = fresh();
    for (int i = 0; i < 15 * 48; i++) half_hour(&w, 0, 2000);
    half_hour(&w, 0, 200000);
    assert_true(w.last[PSI].value < 0.01 && w.last[KS].value < 0.03);
    detect_free(w.d);
}

static void few_values_say_nothing(void **state)
{
    (void)state;
    struct world w = fresh();
    for (int i = 0; i < 8 * 48; i++) half_hour(&w, 0, 2000);
    half_hour(&w, 2, 299);
    assert_int_equal(w.last[PSI].why, WHY_LOW_TRAFFIC);
    assert_int_equal(w.last[PSI].n, 299);
    detect_free(w.d);
}

static void other_buckets_begin_anew(void **state)
{
    (void)state;
    struct world w = fresh();
    for (int i = 0; i < 8 * 48; i++) half_hour(&w, 0, 2000);
    struct histogram h = drawn(&w.p, 5, 2000);
    h.edge[4] = 17;
    struct instant now = {(w.half_hours + 1) * EVERY.us};
    struct point p = detect_shape(w.d, PSI, &h, now, (struct wall){now.us});
    assert_int_equal(p.why, WHY_WARMING);
    detect_free(w.d);
}

static void it_survives_a_restart(void **state)
{
    (void)state;
    struct world w = fresh(), again = fresh();
    struct buf b = BUF_INIT;
    for (int i = 0; i < 9 * 48; i++) half_hour(&w, 0, 2000);
    detect_save(w.d, &b);
    struct instant now = {w.half_hours * EVERY.us};
    assert_true(detect_load(again.d, b.data, b.len, now));
    assert_true(detect_digest(again.d) == detect_digest(w.d));
    struct detect *copy = detect_clone(w.d);
    struct histogram h = drawn(&w.p, 8, 2000);
    struct instant later = {now.us + EVERY.us};
    struct point one = detect_shape(w.d, PSI, &h, later, (struct wall){later.us});
    struct point two = detect_shape(again.d, PSI, &h, later, (struct wall){later.us});
    struct point three = detect_shape(copy, PSI, &h, later, (struct wall){later.us});
    assert_true(one.value > 1 && one.value == two.value && one.value == three.value);
    for (size_t cut = 0; cut < b.len; cut += 37) assert_false(detect_load(again.d, b.data, cut, now));
    buf_free(&b);
    detect_free(w.d), detect_free(again.d), detect_free(copy);
}

static void the_gap_of_two_histograms(void **state)
{
    (void)state;
    const double a[4] = {50, 50, 0, 0}, b[4] = {0, 50, 50, 0};
    struct stats_ks k = stats_ks_counts(a, b, 4);
    assert_near(k.d, 0.5, 1e-15);
    assert_true(k.p < 1e-9);
    k = stats_ks_counts(a, a, 4);
    assert_true(k.d == 0 && k.p > 0.99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weeks_without_change_stay_silent),
        cmocka_unit_test(longer_inputs_are_seen_and_not_learned_away),
        cmocka_unit_test(a_hair_is_no_drift_however_sure),
        cmocka_unit_test(few_values_say_nothing),
        cmocka_unit_test(other_buckets_begin_anew),
        cmocka_unit_test(it_survives_a_restart),
        cmocka_unit_test(the_gap_of_two_histograms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
