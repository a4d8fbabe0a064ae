/* What happens to a simulated service: faults, restarts, users who wait, work sizes from a trace. */
#include "support/test.h"

#include "base/num.h"
#include "base/time.h"
#include "sim/page.h"
#include "sim/plant.h"

static struct plant *with(const char *param, double value, uint64_t seed)
{
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    if (param) assert_int_equal(plant_config_set(&c, param, value, &e), STATUS_OK);
    struct plant *p = plant_new(&c, seed, &e);
    assert_non_null(p);
    return p;
}

static void add_fault(struct plant *p, struct plant_fault f)
{
    struct err e;
    f.at_us = plant_now_us(p);
    if (f.until_us) f.until_us += f.at_us;
    assert_int_equal(plant_fault_add(p, &f, &e), STATUS_OK);
}

static struct plant_window measure(struct plant *p, int settle_s, int seconds)
{
    struct plant_window w;
    plant_advance(p, plant_now_us(p) + settle_s * US_PER_S);
    plant_window_take(p, &w);
    plant_advance(p, plant_now_us(p) + seconds * US_PER_S);
    plant_window_take(p, &w);
    return w;
}

/* N users, think time Z, capacity X: an answer takes N / X - Z (the response time law).
 * 21,000 * 1.03 s = 21,630 users; cycle 1.5 * 13.4 + 5 = 25.1 ms carries 13 * 32 / 25.1 ms = 16,570/s: 305 ms. */
static void users_who_wait_slow_themselves_down(void **state)
{
    (void)state;
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    c.closed_share = 1;
    c.queue_cap = 8000;
    c.kernel_noise = c.load_sigma = 0;
    struct plant *p = plant_new(&c, 1, &e);
    add_fault(p, (struct plant_fault){.kind = FAULT_KERNEL, .size = 1.5});
    struct plant_window w = measure(p, 10, 20);
    assert_near(w.throughput, 16574, 60);
    assert_near(w.mean_ms, 305, 6);
    assert_int_equal(w.refused, 0);
    assert_true(w.timeouts > w.completed / 2);
    plant_free(p);
}

/* Open requests only, all late: each comes again with chance 1/4, twice at most: 1 + 1/4 + 1/16 = 1.3125 times the load. */
static void late_answers_bring_repeats(void **state)
{
    (void)state;
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    c.closed_share = c.load_sigma = 0;
    c.rate = 10000;
    c.timeout_ms = 1;
    struct plant *p = plant_new(&c, 2, &e);
    struct plant_window w = measure(p, 5, 20);
    assert_near((double)w.offered / w.seconds, 13125, 100);
    assert_near((double)w.timeouts, (double)w.completed, 0);
    plant_free(p);
}

static void lost_replicas_come_back_after_minutes(void **state)
{
    (void)state;
    struct plant *p = with(NULL, 0, 3);
    measure(p, 5, 5);
    add_fault(p, (struct plant_fault){.kind = FAULT_REPLICAS_LOST, .size = 4, .until_us = 60 * US_PER_S});
    struct plant_window lost = measure(p, 10, 40);
    assert_near(lost.replicas, 9, 1e-6);
    assert_near(lost.throughput, 9 * 32 / 18.42e-3, 150);  /* 13.4 ms kernel with its noise, 5 ms gap */
    struct plant_window starting = measure(p, 20, 90), back = measure(p, 400, 20);
    assert_near(starting.replicas, 9, 1e-6);
    assert_near(back.replicas, 13, 1e-6);
    assert_near(back.throughput, 21000, 200);
    plant_free(p);
}

static void no_place_for_a_replica(void **state)
{
    (void)state;
    struct plant *p = with("schedulable", 13, 3);
    struct err e;
    assert_int_equal(plant_knob_set(p, "replicas", "20", 2, NULL, &e), STATUS_OK);
    assert_near(measure(p, 430, 10).replicas, 13, 1e-6);
    plant_free(p);
}

static void memory_that_leaks_away_ends_the_process(void **state)
{
    (void)state;
    struct plant *p = with(NULL, 0, 4);
    measure(p, 5, 5);
    double before = measure(p, 0, 5).gpu_memory;
    assert_near(before, (10500 + 2048 + 32 * 120) / 32000.0, 0.01);  /* model, cache, a full batch */
    add_fault(p, (struct plant_fault){.kind = FAULT_LEAK, .size = 100 * 60});  /* all of it within a minute */
    struct plant_window w = measure(p, 20, 5);
    assert_true(w.gpu_memory > before + 0.3);
    assert_true(plant_up(p));
    plant_advance(p, plant_now_us(p) + 6 * US_PER_S);
    assert_false(plant_up(p));
    plant_free(p);
}

static double value_of(const char *page, const char *series)
{
    const char *line = strstr(page, series);
    double v = NAN;
    if (line) num_parse(line + strlen(series) + 1, 32, &v);
    return v;
}

static double kernel_of_replica(const char *page, int replica)
{
    char busy[96], batches[96];
    snprintf(busy, sizeof busy, "inference_replica_kernel_seconds_total{replica=\"%d\"}", replica);
    snprintf(batches, sizeof batches, "inference_replica_batches_total{replica=\"%d\"}", replica);
    return value_of(page, busy) / value_of(page, batches) * 1e3;
}

static void one_bad_instance_stands_out(void **state)
{
    (void)state;
    struct plant *p = with(NULL, 0, 5);
    struct buf page = BUF_INIT;
    struct plant_window well = measure(p, 5, 20);
    add_fault(p, (struct plant_fault){.kind = FAULT_BAD_INSTANCE, .size = 4, .instance = 2});
    plant_restart(p);
    struct plant_window ill = measure(p, 30, 20);
    assert_true(ill.p99_ms > 1.5 * well.p99_ms);
    assert_near(ill.p50_ms / well.p50_ms, 1, 0.1);
    assert_true(page_write(p, (struct wall){0}, &page));
    assert_near(kernel_of_replica(buf_text(&page), 2) / kernel_of_replica(buf_text(&page), 3), 4, 0.3);
    buf_free(&page);
    plant_free(p);
}

static void a_server_that_reloads_for_a_change_starts_its_counters_anew(void **state)
{
    (void)state;
    struct plant *p = with("reload_s", 2, 6);
    struct buf page = BUF_INIT;
    struct err e;
    measure(p, 5, 5);
    assert_int_equal(plant_knob_set(p, "batch_max", "32", 2, NULL, &e), STATUS_OK);
    assert_true(plant_up(p));  /* the value it had: nothing to reload */
    assert_int_equal(plant_knob_set(p, "batch_max", "64", 2, NULL, &e), STATUS_OK);
    assert_false(plant_up(p));
    plant_advance(p, plant_now_us(p) + 3 * US_PER_S);
    assert_true(page_write(p, (struct wall){0}, &page));
    assert_true(value_of(buf_text(&page), "\ninference_requests_total") < 22000);
    assert_near(value_of(buf_text(&page), "\ninference_config_batch_max"), 64, 0);
    assert_true(measure(p, 5, 5).cache_hit > 0.84);  /* a reload keeps the cache */
    buf_free(&page);
    plant_free(p);
}

static void a_restart_empties_the_cache(void **state)
{
    (void)state;
    struct plant *p = with(NULL, 0, 7);
    measure(p, 5, 5);
    add_fault(p, (struct plant_fault){.kind = FAULT_RESTART});
    struct plant_window cold = measure(p, 15, 1), warm = measure(p, 120, 5);
    assert_true(cold.cache_hit < 0.5);
    assert_true(warm.cache_hit > 0.84);
    plant_free(p);
}

static void work_sizes_come_from_a_trace(void **state)
{
    (void)state;
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    c.kernel_noise = 0;
    double even[] = {5, 5, 5}, mixed[100];
    for (int i = 0; i < 100; i++) mixed[i] = i < 90 ? 1 : 91;  /* mean 10 */
    struct plant *a = plant_new_sizes(&c, 1, even, 3, &e), *b = plant_new_sizes(&c, 1, mixed, 100, &e);
    struct plant_window x = measure(a, 5, 10), y = measure(b, 5, 10);
    assert_near(x.kernel_ms, 7 + 0.2 * x.batch, 1e-3);
    assert_near(y.kernel_ms, 7 + 0.2 * y.batch, 0.1);  /* the same mean, more spread */
    assert_true(x.queue > 1.5 * y.queue);  /* equal batches keep the GPUs in step: the queue grows and empties as one */
    plant_free(a);
    plant_free(b);
}

static void lifting_the_faults_heals(void **state)
{
    (void)state;
    struct plant *p = with(NULL, 0, 8);
    struct plant_window well = measure(p, 5, 20);
    add_fault(p, (struct plant_fault){.kind = FAULT_KERNEL, .size = 1.5});
    assert_true(measure(p, 10, 20).p99_ms > 2 * well.p99_ms);
    plant_faults_lift(p);
    assert_near(measure(p, 10, 20).p99_ms, well.p99_ms, 1);
    plant_free(p);
}

static void a_plant_holds_so_many_faults(void **state)
{
    (void)state;
    struct plant *p = with(NULL, 0, 9);
    struct plant_fault f = {.kind = FAULT_LOAD, .size = 1};
    struct err e;
    for (int i = 0; i < 32; i++) assert_int_equal(plant_fault_add(p, &f, &e), STATUS_OK);
    assert_int_equal(plant_fault_add(p, &f, &e), STATUS_LIMIT);
    plant_free(p);
}

static void bad_parameters_are_named(void **state)
{
    (void)state;
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    assert_int_equal(plant_config_set(&c, "kernel_bas_ms", 1, &e), STATUS_NOT_FOUND);
    assert_string_equal(e.text, "no plant parameter kernel_bas_ms; did you mean kernel_base_ms?");
    assert_int_equal(plant_config_set(&c, "replicas", 65, &e), STATUS_INVALID);
    assert_string_equal(e.text, "plant parameter replicas = 65 is outside 1 .. 64");
    assert_int_equal(plant_config_set(&c, "rate", NAN, &e), STATUS_INVALID);
    c.start_min_s = 500;
    assert_null(plant_new(&c, 1, &e));
    assert_string_equal(e.text, "plant parameter start_max_s is below start_min_s");
}

/* 3 % of the requests wait 200 ms longer, so p99 is far out and the median is not; the fetch takes 6 ms longer on average. */
static void lost_packets_are_seen_in_the_tail_alone(void **state)
{
    (void)state;
    struct plant *p = with(NULL, 0, 1);
    struct plant_window before = measure(p, 5, 10);
    add_fault(p, (struct plant_fault){.kind = FAULT_LOSS, .size = 0.03});
    struct plant_window w = measure(p, 5, 10);
    assert_near(w.fetch_ms - before.fetch_ms, 6, 0.3);
    assert_near(w.p50_ms, before.p50_ms, 1);
    assert_true(w.p99_ms > 210 && w.p99_ms < 250);
    plant_free(p);
}

static void dead_knobs_are_taken_and_read_back(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    struct err e;
    struct plant *p = with("knobs_dead", 1, 1), *other = with("knobs_dead", 1, 1);
    assert_int_equal(plant_knob_set(p, "batch_max", "4", 1, NULL, &e), STATUS_OK);   /* alive it would break the service */
    assert_int_equal(plant_knob_get(p, "batch_max", &text, &e), STATUS_OK);
    assert_string_equal(buf_text(&text), "4");
    assert_int_equal(plant_knob_version(p), 1);
    struct plant_window a = measure(p, 5, 10), b = measure(other, 5, 10);
    assert_near(a.p99_ms, b.p99_ms, 0);
    assert_near(a.batch, b.batch, 0);
    buf_free(&text);
    plant_free(p);
    plant_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_who_wait_slow_themselves_down),
        cmocka_unit_test(late_answers_bring_repeats),
        cmocka_unit_test(lost_replicas_come_back_after_minutes),
        cmocka_unit_test(no_place_for_a_replica),
        cmocka_unit_test(memory_that_leaks_away_ends_the_process),
        cmocka_unit_test(one_bad_instance_stands_out),
        cmocka_unit_test(a_server_that_reloads_for_a_change_starts_its_counters_anew),
        cmocka_unit_test(a_restart_empties_the_cache),
        cmocka_unit_test(work_sizes_come_from_a_trace),
        cmocka_unit_test(lifting_the_faults_heals),
        cmocka_unit_test(a_plant_holds_so_many_faults),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(lost_packets_are_seen_in_the_tail_alone),
        cmocka_unit_test(dead_knobs_are_taken_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
