#include "support/test.h"

#include "base/arena.h"
#include "sim/family.h"
#include "sim/scenario.h"

static const struct scenario *parsed(struct arena *a, const char *family, uint64_t seed, enum world_kind kind)
{
    struct buf yaml = BUF_INIT;
    struct err e;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    assert_int_equal(family_write(family, seed, kind, &yaml, &e), STATUS_OK);
    const struct scenario *s = scenario_parse(a, buf_text(&yaml), yaml.len, family, &d);
    if (!s) {
        struct buf b = BUF_INIT;
        config_print_diagnostics(&b, &d, false);
        print_error("%s\n%s\n", buf_text(&yaml), buf_text(&b));
        fail();
    }
    config_diagnostics_free(&d);
    buf_free(&yaml);
    return s;
}

static void every_family_writes_a_file_that_is_read(void **state)
{
    (void)state;
    unsigned families = 0;
    for (const char *const *name = family_names(); *name; name++, families++) {
        for (uint64_t seed = 1; seed <= 40; seed++) {
            struct arena a = ARENA_INIT;
            enum world_kind kind = seed % 2 ? WORLD_FLUID : WORLD_PLANT;
            const struct scenario *s = parsed(&a, *name, seed, kind);
            assert_int_equal(s->part_count, 1);
            assert_int_equal(s->seed, seed);
            assert_int_equal(s->parts[0].kind, kind);
            assert_int_equal(s->parts[0].mode, MODE_AUTO);
            struct err e;
            assert_int_equal(plant_config_check(&s->parts[0].plant, &e), STATUS_OK);
            for (unsigned i = 0; i < s->parts[0].step_count; i++) {
                if (s->parts[0].steps[i].kind == STEP_FAULT)
                    assert_true(s->parts[0].steps[i].fault.at_us < s->parts[0].duration.us);
            }
            arena_free(&a);
        }
        assert_true(family_about(*name)[0] != '\0');
    }
    assert_true(families >= 27);
}

/* Before anything happens every service is well, at each hour of its day: nobody is judged by a patient who was always ill. */
static void every_service_is_healthy_before_its_illness(void **state)
{
    (void)state;
    for (const char *const *name = family_names(); *name; name++) {
        for (uint64_t seed = 1; seed <= 12; seed++) {
            struct arena a = ARENA_INIT;
            struct err e;
            struct plant_window w;
            const struct scenario *s = parsed(&a, *name, seed, WORLD_FLUID);
            const struct plant_config *c = &s->parts[0].plant;
            struct fluid *f = fluid_new(c, seed, &e);
            assert_non_null(f);
            fluid_advance(f, 120 * US_PER_S);
            fluid_window_take(f, &w);
            for (int hour = 0; hour < (c->day_amp > 0 ? 48 : 1); hour++) {
                fluid_advance(f, 120 * US_PER_S + (hour + 1) * (c->day_amp > 0 ? US_PER_HOUR : 600 * US_PER_S));
                fluid_window_take(f, &w);
                bool well = w.p99_ms > 30 && w.p99_ms < (c->batch_max > 64 ? 58 : 46) && w.queue < 250 && w.refused == 0;
                if (well) continue;
                print_error("%s, seed %d, hour %d: p99 %g, queue %g\n", *name, (int)seed, hour, w.p99_ms, w.queue);
                fail();
            }
            fluid_free(f);
            arena_free(&a);
        }
    }
}

static void a_seed_is_a_world(void **state)
{
    (void)state;
    struct buf a = BUF_INIT, b = BUF_INIT, c = BUF_INIT;
    struct err e;
    assert_int_equal(family_write("load", 7, WORLD_FLUID, &a, &e), STATUS_OK);
    assert_int_equal(family_write("load", 7, WORLD_FLUID, &b, &e), STATUS_OK);
    assert_int_equal(family_write("load", 8, WORLD_FLUID, &c, &e), STATUS_OK);
    assert_string_equal(buf_text(&a), buf_text(&b));
    assert_string_not_equal(buf_text(&a), buf_text(&c));
    buf_free(&a);
    buf_free(&b);
    buf_free(&c);
}

static void sizes_stay_within_their_ranges(void **state)
{
    (void)state;
    double least = 1e9, most = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct arena a = ARENA_INIT;
        const struct scenario *s = parsed(&a, "load", seed, WORLD_FLUID);
        const struct plant_fault *f = &s->parts[0].steps[0].fault;
        assert_int_equal(f->kind, FAULT_LOAD);
        assert_true(f->size >= 1.05 && f->size <= 1.6);
        assert_true(f->ramp_us >= 60 * US_PER_S && f->ramp_us <= 240 * US_PER_MIN);
        least = fmin(least, f->size);
        most = fmax(most, f->size);
        arena_free(&a);
    }
    assert_true(least < 1.06 && most > 1.57);
}

static void an_unknown_name_is_refused_with_the_nearest(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    struct err e;
    assert_int_equal(family_write("lod", 1, WORLD_FLUID, &b, &e), STATUS_NOT_FOUND);
    assert_non_null(strstr(e.text, "'load'"));
    assert_int_equal(family_write("load", 1, WORLD_SCRIPT, &b, &e), STATUS_INVALID);
    assert_int_equal(b.len, 0);
    assert_false(family_intent("lod", NULL));
}

static void intents_have_words(void **state)
{
    (void)state;
    enum family_intent i;
    assert_true(family_intent("upstream", &i));
    assert_string_equal(family_intent_word(i), "incurable");
    assert_true(family_intent("bursts", &i));
    assert_string_equal(family_intent_word(i), "self-healing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_writes_a_file_that_is_read),
        cmocka_unit_test(every_service_is_healthy_before_its_illness),
        cmocka_unit_test(a_seed_is_a_world),
        cmocka_unit_test(sizes_stay_within_their_ranges),
        cmocka_unit_test(an_unknown_name_is_refused_with_the_nearest),
        cmocka_unit_test(intents_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
