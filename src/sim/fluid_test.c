#include "support/test.h"

#include "base/time.h"
#include "sim/fluid.h"
#include "sim/fluid_rest.h"
#include "stats/dist.h"

enum { SEEDS = 5 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, SEEDS, sizeof *v, compare_doubles);
    return v[SEEDS / 2];
}

struct family {
    const char *name;
    const char *param;
    double value;
    enum fault_kind kind;
    double size;                 /* 0: no fault */
    double near;                 /* how far medians may lie apart, as a part; a queue also by 10 requests */
};

static const struct family families[] = {
    {"healthy", "rate", 21000, FAULT_LOAD, 0, .05},
    {"half the load", "rate", 10500, FAULT_LOAD, 0, .05},
    {"a fifth of the load", "rate", 4200, FAULT_LOAD, 0, .15},
    {"larger batches", "batch_max", 64, FAULT_WORK, 1.3, .15},
    {"overload", "rate", 21000, FAULT_LOAD, 1.2, .05},
    {"close to the limit", "rate", 21000, FAULT_WORK, 1.2, .15},
    {"heavier items", "rate", 21000, FAULT_WORK, 1.6, .05},
    {"few slots", "concurrency", 20, FAULT_UPSTREAM, 2, .10},
    {"slow upstream", "rate", 21000, FAULT_UPSTREAM, 3, .10},
    {"very slow upstream", "rate", 21000, FAULT_UPSTREAM, 8, .10},
    {"large working set", "rate", 21000, FAULT_WORKING_SET, 3, .10},
    {"fragments", "rate", 21000, FAULT_FRAGMENTATION, .5, .10},
    {"a third lost", "rate", 21000, FAULT_REPLICAS_LOST, 4, .10},
    {"release", "rate", 21000, FAULT_RELEASE, 1.3, .10},
    {"bad instance", "rate", 21000, FAULT_BAD_INSTANCE, 4, .15},
    {"busy host", "rate", 21000, FAULT_HOST, 2, .10},
    {"lost packets", "rate", 21000, FAULT_LOSS, .03, .10},
    {"few lost packets", "rate", 21000, FAULT_LOSS, .005, .10},
};

static struct plant_window measure_plant(const struct plant_config *c, const struct plant_fault *f, uint64_t seed)
{
    struct err e;
    struct plant_window w;
    struct plant *p = plant_new(c, seed, &e);
    if (f->size > 0) assert_int_equal(plant_fault_add(p, f, &e), STATUS_OK);
    plant_advance(p, 30 * US_PER_S);
    plant_window_take(p, &w);
    plant_advance(p, 50 * US_PER_S);
    plant_window_take(p, &w);
    plant_free(p);
    return w;
}

static struct plant_window measure_fluid(const struct plant_config *c, const struct plant_fault *f, uint64_t seed)
{
    struct err e;
    struct plant_window w;
    struct fluid *p = fluid_new(c, seed, &e);
    if (f->size > 0) assert_int_equal(fluid_fault_add(p, f, &e), STATUS_OK);
    fluid_advance(p, 30 * US_PER_S);
    fluid_window_take(p, &w);
    fluid_advance(p, 50 * US_PER_S);
    fluid_window_take(p, &w);
    fluid_free(p);
    return w;
}

enum { P50, P99, QUEUE, UTIL, THROUGHPUT, FETCH, HIT, MEASURES };

static void pick(const struct plant_window *w, double v[MEASURES][SEEDS], int seed)
{
    const double all[MEASURES] = {w->p50_ms, w->p99_ms, w->queue, w->gpu_util, w->throughput, w->fetch_ms, w->cache_hit};
    for (int m = 0; m < MEASURES; m++) v[m][seed] = all[m];
}

static void compare(const struct family *k)
{
    static const char *const names[MEASURES] = {"p50", "p99", "queue", "util", "throughput", "fetch", "hit"};
    double a[MEASURES][SEEDS], b[MEASURES][SEEDS];
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    assert_int_equal(plant_config_set(&c, k->param, k->value, &e), STATUS_OK);
    struct plant_fault f = {.kind = k->kind, .size = k->size, .version = "v2"};
    for (int s = 0; s < SEEDS; s++) {
        struct plant_window x = measure_plant(&c, &f, (uint64_t)s + 1), y = measure_fluid(&c, &f, (uint64_t)s + 1);
        pick(&x, a, s);
        pick(&y, b, s);
    }
    for (int m = 0; m < MEASURES; m++) {
        double x = median(a[m]), y = median(b[m]);
        if (fabs(y / x - 1) <= k->near || (m == QUEUE && fabs(y - x) <= 10)) continue;
        print_error("%s, %s: %g request by request, %g as flows\n", k->name, names[m], x, y);
        fail();
    }
}

static void both_forms_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(families); i++) compare(&families[i]);
}

/* At a use of .99 the diffusion term carries a third of the queue: without it 101 instead of 145 requests. */
static void the_diffusion_term_is_needed(void **state)
{
    (void)state;
    struct plant_config c;
    plant_config_reference(&c);
    c.load_sigma = c.closed_share = 0;
    c.rate = 21500;
    struct plant_fault f = {.kind = FAULT_KERNEL, .size = 1.06};
    struct plant_window x = measure_plant(&c, &f, 1), y = measure_fluid(&c, &f, 1);
    assert_near(y.queue / x.queue, 1, 0.15);
    assert_near(y.p99_ms / x.p99_ms, 1, 0.15);
}

static void the_table_is_read_between_its_points(void **state)
{
    (void)state;
    struct rest r;
    rest_column(&r, 0.35, 13);  /* a point of the grid */
    const struct fluid_cell *cells = fluid_cells[3][3];
    assert_near(rest_queue(&r, 0.9), cells[9].queue * 1e-4, 1e-12);
    assert_near(rest_queue(&r, 0.925), (cells[9].queue + cells[10].queue) * 0.5e-4, 1e-12);
    assert_near(rest_queue(&r, 0.99), cells[10].queue * 1e-4, 1e-12);
    assert_near(rest_queue(&r, 0.025), cells[0].queue * 0.5e-4, 1e-12);
    assert_near(rest_times(&r, 0.9).p99, cells[9].p99 * 1e-3, 1e-12);
    rest_column(&r, 0.35, 18.384776310850235);  /* half way from 13 to 26 by the logarithm */
    assert_near(rest_queue(&r, 0.9), (cells[9].queue + fluid_cells[4][3][9].queue) * 0.5e-4, 1e-9);
    rest_column(&r, 2, 1000);  /* outside: the edge */
    assert_near(rest_queue(&r, 0.9), fluid_cells[5][7][9].queue * 1e-4, 1e-9);
}

/* Drift -2, variance 1.4 a second: at rest exponential with mean 1.4 / 4 = 0.35, whatever the step. */
static void a_reflected_path_is_exact_for_any_step(void **state)
{
    (void)state;
    struct prng rng;
    prng_seed(&rng, 3);
    const double steps[] = {0.02, 0.3, 5};
    for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
        double x = 0, sum = 0, squares = 0;
        enum { N = 200000 };
        for (int i = 0; i < N; i++) {
            double var = 1.4 * steps[k], end = -2 * steps[k] + stats_draw_normal(&rng, 0, sqrt(var));
            x = rest_reflect(x, end, var, 1.0 - prng_unit(&rng));
            assert_true(x >= 0);
            sum += x;
            squares += x * x;
        }
        assert_near(sum / N, 0.35, 0.02);
        assert_near(squares / N, 2 * 0.35 * 0.35, 0.03);
    }
}

static void a_month_of_flows_is_repeatable(void **state)
{
    (void)state;
    struct plant_config c;
    struct err e;
    struct plant_window w;
    plant_config_reference(&c);
    c.day_amp = 0.4;
    c.weekend = 0.7;
    c.rate = 15000;
    struct fluid *a = fluid_new(&c, 5, &e), *b = fluid_new(&c, 5, &e);
    fluid_advance(a, 3 * US_PER_DAY);
    for (int64_t t = 0; t <= 3 * US_PER_DAY; t += 7777777) fluid_advance(b, t);
    fluid_advance(b, 3 * US_PER_DAY);
    struct fluid *twin = fluid_clone(a);
    assert_int_equal(fluid_digest(a), fluid_digest(b));
    fluid_window_take(a, &w);
    double night = 0, evening = 0;
    for (int hour = 0; hour < 24; hour++) {
        fluid_advance(a, (72 + hour + 1) * US_PER_HOUR);
        fluid_window_take(a, &w);
        if (hour == 4) night = w.throughput;
        if (hour == 19) evening = w.throughput;
    }
    assert_true(evening > 1.8 * night);
    fluid_window_take(twin, &w);
    fluid_advance(twin, 4 * US_PER_DAY);
    fluid_window_take(twin, &w);
    assert_int_equal(fluid_now_us(twin), fluid_now_us(a));
    fluid_free(a);
    fluid_free(b);
    fluid_free(twin);
}

/* The users' day: 20 is the peak, at 4 there is least. The past of a world ends where its first day begins, and an hour of daylight
 * saving moves the wave. */
static void the_calendar_has_a_past(void **state)
{
    (void)state;
    struct plant_config c;
    struct err e;
    struct plant_window w;
    plant_config_reference(&c);
    c.day_amp = 0.4;
    c.weekend = 0.5;
    c.rate = 15000;
    struct fluid *f = fluid_new(&c, 1, &e);
    fluid_calendar(f, -2 * US_PER_DAY);      /* Saturday 00:00 */
    fluid_advance(f, 4 * US_PER_HOUR);
    fluid_window_take(f, &w);
    fluid_advance(f, 4 * US_PER_HOUR + 60 * US_PER_S);
    fluid_window_take(f, &w);
    assert_near(w.throughput, 15000 * (1 - 0.4 * 0.95) * 0.5, 100);
    fluid_advance(f, 52 * US_PER_HOUR);
    fluid_window_take(f, &w);
    fluid_advance(f, 52 * US_PER_HOUR + 60 * US_PER_S);
    fluid_window_take(f, &w);
    assert_near(w.throughput, 15000 * (1 - 0.4 * 0.95), 100);
    struct plant_fault shift = {.kind = FAULT_SEASON_SHIFT, .size = 2, .at_us = 53 * US_PER_HOUR};
    assert_int_equal(fluid_fault_add(f, &shift, &e), STATUS_OK);
    fluid_advance(f, 54 * US_PER_HOUR);      /* 6:00, and 8:00 for the users */
    fluid_window_take(f, &w);
    fluid_advance(f, 54 * US_PER_HOUR + 60 * US_PER_S);
    fluid_window_take(f, &w);
    assert_near(w.throughput, 15000 * (1 - 0.4 * 0.05), 100);
    fluid_free(f);
}

static void a_leak_ends_in_a_restart(void **state)
{
    (void)state;
    struct plant_config c;
    struct err e;
    struct plant_window w;
    plant_config_reference(&c);
    struct fluid *f = fluid_new(&c, 1, &e);
    struct plant_fault leak = {.kind = FAULT_LEAK, .size = 5};  /* 55 % used at start: 45 % more last 9 hours */
    assert_int_equal(fluid_fault_add(f, &leak, &e), STATUS_OK);
    fluid_advance(f, 7 * US_PER_HOUR);
    fluid_window_take(f, &w);
    assert_true(w.gpu_memory > 0.8 && w.gpu_memory < 0.95);
    assert_int_equal(fluid_process_start_us(f), 0);
    fluid_advance(f, 10 * US_PER_HOUR);
    fluid_window_take(f, &w);
    assert_true(fluid_process_start_us(f) > 8 * US_PER_HOUR);
    assert_true(w.failed > 0 && w.gpu_memory < 0.65);
    fluid_free(f);
}

/* The same healthy service in steps of a second and of 30 seconds: what the loop would see of it. */
static void coarse_steps_tell_the_same_of_a_healthy_service(void **state)
{
    (void)state;
    struct plant_config c;
    struct plant_window fine[2];
    struct err e;
    plant_config_reference(&c);
    c.day_amp = 0.1;
    for (int coarse = 0; coarse < 2; coarse++) {
        struct fluid *f = fluid_new(&c, 3, &e);
        assert_non_null(f);
        if (coarse) fluid_coarse(f, 30 * US_PER_S);
        fluid_advance(f, 12 * US_PER_HOUR);
        struct plant_window skipped;
        fluid_window_take(f, &skipped);
        fluid_advance(f, 18 * US_PER_HOUR);
        fluid_window_take(f, &fine[coarse]);
        fluid_free(f);
    }
    assert_near(fine[1].seconds, fine[0].seconds, 0);
    assert_near(fine[1].p99_ms, fine[0].p99_ms, 0.05 * fine[0].p99_ms);
    assert_near(fine[1].mean_ms, fine[0].mean_ms, 0.03 * fine[0].mean_ms);
    assert_near(fine[1].queue, fine[0].queue, 0.08 * fine[0].queue);
    assert_near(fine[1].throughput, fine[0].throughput, 0.01 * fine[0].throughput);
    assert_near(fine[1].gpu_util, fine[0].gpu_util, 0.01);
    assert_near(fine[1].fetch_ms, fine[0].fetch_ms, 0.02 * fine[0].fetch_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_agree),
        cmocka_unit_test(the_diffusion_term_is_needed),
        cmocka_unit_test(the_table_is_read_between_its_points),
        cmocka_unit_test(a_reflected_path_is_exact_for_any_step),
        cmocka_unit_test(a_month_of_flows_is_repeatable),
        cmocka_unit_test(the_calendar_has_a_past),
        cmocka_unit_test(a_leak_ends_in_a_restart),
        cmocka_unit_test(coarse_steps_tell_the_same_of_a_healthy_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
