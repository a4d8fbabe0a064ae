#include "support/test.h"

#include "base/time.h"
#include "sim/plant.h"

static struct plant *reference(uint64_t seed)
{
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    struct plant *p = plant_new(&c, seed, &e);
    assert_non_null(p);
    return p;
}

static void add_fault(struct plant *p, enum fault_kind kind, double size)
{
    struct plant_fault f = {.at_us = plant_now_us(p), .kind = kind, .size = size, .version = "v2"};
    struct err e;
    assert_int_equal(plant_fault_add(p, &f, &e), STATUS_OK);
}

static void set_knob(struct plant *p, const char *knob, const char *text)
{
    struct err e;
    assert_int_equal(plant_knob_set(p, knob, text, strlen(text), NULL, &e), STATUS_OK);
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

/* The bands of loop.md section 7 on ten seeds; the numbers stand in the README of this room. */
static void reference_bands_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct plant *p = reference(seed);
        struct plant_window well = measure(p, 10, 120);
        assert_true(well.p99_ms >= 36 && well.p99_ms <= 40);
        assert_true(well.queue >= 80 && well.queue <= 200);
        assert_true(well.gpu_util >= 0.55 && well.gpu_util <= 0.75);
        assert_near(well.fetch_ms, 6, 0.1);
        assert_near(well.cache_hit, 0.85, 0.01);
        add_fault(p, FAULT_LOAD, 1.034);
        add_fault(p, FAULT_KERNEL, 1.06);
        struct plant_window ill = measure(p, 60, 180);
        assert_true(ill.p99_ms > 1.15 * well.p99_ms);
        assert_true(ill.queue > 250);
        assert_true(ill.gpu_util > 0.7);
        set_knob(p, "batch_max", "64");
        struct plant_window healed = measure(p, 30, 120);
        assert_true(healed.p99_ms <= 1.15 * well.p99_ms);
        assert_true(healed.queue < 100);
        assert_true(healed.throughput >= 0.95 * ill.throughput);
        plant_free(p);
    }
}

static void a_larger_batch_costs_latency_without_a_fault(void **state)
{
    (void)state;
    struct plant *p = reference(3);
    struct plant_window before = measure(p, 10, 60);
    set_knob(p, "batch_max", "128");
    struct plant_window after = measure(p, 10, 60);
    assert_true(after.p99_ms > 1.25 * before.p99_ms);
    plant_free(p);
}

static void small_steps_and_large_steps_end_alike(void **state)
{
    (void)state;
    struct plant *a = reference(7), *b = reference(7);
    add_fault(a, FAULT_UPSTREAM, 3);
    add_fault(b, FAULT_UPSTREAM, 3);
    plant_advance(a, 3 * US_PER_S + 333);
    for (int64_t t = 0; t <= 3 * US_PER_S; t += 777) plant_advance(b, t);
    plant_advance(b, 3 * US_PER_S + 333);
    assert_int_equal(plant_digest(a), plant_digest(b));
    plant_advance(b, 3 * US_PER_S + 433);
    assert_int_not_equal(plant_digest(a), plant_digest(b));
    plant_free(a);
    plant_free(b);
}

static void a_clone_and_a_saved_state_go_on_alike(void **state)
{
    (void)state;
    struct plant *p = reference(11), *loaded;
    struct err e;
    struct buf bytes = BUF_INIT;
    plant_advance(p, 2 * US_PER_S);
    struct plant *twin = plant_clone(p);
    plant_save(p, &bytes);
    assert_int_equal(plant_load(bytes.data, bytes.len, &loaded, &e), STATUS_OK);
    struct plant *all[] = {p, twin, loaded};
    for (int i = 0; i < 3; i++) plant_advance(all[i], 4 * US_PER_S);
    assert_int_equal(plant_digest(p), plant_digest(twin));
    assert_int_equal(plant_digest(p), plant_digest(loaded));
    plant_reseed(twin, "another future");
    plant_advance(p, 5 * US_PER_S);
    plant_advance(twin, 5 * US_PER_S);
    assert_int_not_equal(plant_digest(p), plant_digest(twin));
    bytes.data[bytes.len / 2] ^= 1;
    struct plant *none = NULL;
    assert_int_equal(plant_load(bytes.data, bytes.len, &none, &e), STATUS_CORRUPT);
    assert_int_equal(plant_load(bytes.data, 100, &none, &e), STATUS_CORRUPT);
    assert_null(none);
    buf_free(&bytes);
    for (int i = 0; i < 3; i++) plant_free(all[i]);
}

static void every_request_is_accounted_for(void **state)
{
    (void)state;
    struct plant *p = reference(5);
    add_fault(p, FAULT_KERNEL, 2);
    struct plant_window w = measure(p, 0, 10);
    assert_true(w.refused > 1000);
    uint64_t ended = w.completed + w.refused + w.failed;
    assert_true(w.offered >= ended);
    assert_true(w.offered - ended < 1200 + 28 * 13 + 13 * 32 + 1);  /* waiting, fetching, in batches */
    plant_free(p);
}

static void a_saturated_service_does_what_the_arithmetic_says(void **state)
{
    (void)state;
    struct plant *p = reference(2);
    add_fault(p, FAULT_HOST, 3);  /* gap 15 ms: cycle 28.4 ms, 13 * 32 / 28.4 ms = 14,648 a second, util 13.4 / 28.4 */
    struct plant_window w = measure(p, 10, 30);
    assert_near(w.throughput, 14648, 60);
    assert_near(w.gpu_util, 0.472, 0.004);
    assert_near(w.batch, 32, 0.01);
    plant_free(p);
}

static void knobs_answer_like_a_server(void **state)
{
    (void)state;
    struct plant *p = reference(1);
    struct buf b = BUF_INIT;
    struct err e;
    double now;
    assert_int_equal(plant_knob_get(p, "batch_max", &b, &e), STATUS_OK);
    assert_string_equal(buf_text(&b), "32");
    assert_int_equal(plant_knob_set(p, "batch_max", "64", 2, &now, &e), STATUS_OK);
    assert_near(now, 64, 0);
    assert_int_equal(plant_knob_set(p, "batch_max", "9999", 4, &now, &e), STATUS_INVALID);
    assert_string_equal(e.text, "batch_max must be 1 to 256");
    assert_int_equal(plant_knob_set(p, "batch_max", "6.5", 3, &now, &e), STATUS_INVALID);
    assert_int_equal(plant_knob_set(p, "batch_max", "many", 4, &now, &e), STATUS_INVALID);
    assert_int_equal(plant_knob_set(p, "batch_max", "NaN", 3, &now, &e), STATUS_INVALID);
    assert_int_equal(plant_knob_set(p, "batch-max", "64", 2, &now, &e), STATUS_NOT_FOUND);
    assert_int_equal(plant_knob_version(p), 1);
    buf_clear(&b);
    assert_int_equal(plant_knob_get(p, "batch_max", &b, &e), STATUS_OK);
    assert_string_equal(buf_text(&b), "64");
    buf_free(&b);
    plant_free(p);
}

static void a_knob_outside_is_clamped_where_the_server_clamps(void **state)
{
    (void)state;
    struct plant_config c;
    struct err e;
    double now;
    plant_config_reference(&c);
    c.knob_clamps = 1;
    struct plant *p = plant_new(&c, 1, &e);
    assert_int_equal(plant_knob_set(p, "batch_max", "9999", 4, &now, &e), STATUS_OK);
    assert_near(now, 256, 0);
    plant_free(p);
}

static void a_placebo_changes_nothing(void **state)
{
    (void)state;
    struct plant *a = reference(9), *b = reference(9);
    struct plant_window x, y;
    set_knob(a, "placebo", "7");
    x = measure(a, 0, 5);
    y = measure(b, 0, 5);
    assert_int_equal(x.completed, y.completed);
    assert_near(x.p99_ms, y.p99_ms, 0);
    plant_free(a);
    plant_free(b);
}

static void a_restart_breaks_what_is_inside_and_ends(void **state)
{
    (void)state;
    struct plant *p = reference(4);
    plant_advance(p, 5 * US_PER_S);
    plant_restart(p);
    assert_false(plant_up(p));
    plant_advance(p, 10 * US_PER_S);
    struct plant_window w;
    plant_window_take(p, &w);
    assert_true(w.failed > 100 && w.refused > 50000);
    w = measure(p, 30, 10);
    assert_true(plant_up(p));
    assert_int_equal(w.refused, 0);
    plant_free(p);
}

static void a_new_replica_takes_minutes(void **state)
{
    (void)state;
    struct plant *p = reference(6);
    add_fault(p, FAULT_HOST, 3);
    struct plant_window before = measure(p, 5, 10);
    set_knob(p, "replicas", "26");
    struct plant_window soon = measure(p, 60, 10), later = measure(p, 400, 10);
    assert_near(soon.throughput, before.throughput, 0.02 * before.throughput);
    assert_true(later.throughput > 1.3 * before.throughput);
    plant_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_bands_hold),
        cmocka_unit_test(a_larger_batch_costs_latency_without_a_fault),
        cmocka_unit_test(small_steps_and_large_steps_end_alike),
        cmocka_unit_test(a_clone_and_a_saved_state_go_on_alike),
        cmocka_unit_test(every_request_is_accounted_for),
        cmocka_unit_test(a_saturated_service_does_what_the_arithmetic_says),
        cmocka_unit_test(knobs_answer_like_a_server),
        cmocka_unit_test(a_knob_outside_is_clamped_where_the_server_clamps),
        cmocka_unit_test(a_placebo_changes_nothing),
        cmocka_unit_test(a_restart_breaks_what_is_inside_and_ends),
        cmocka_unit_test(a_new_replica_takes_minutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
