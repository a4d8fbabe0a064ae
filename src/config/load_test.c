#include "config/load.h"

#include "expr/expr.h"
#include "promql/promql.h"
#include "support/test.h"

struct loaded {
    struct config_diagnostics d;
    struct policy *p;
};

static struct loaded load_file(const char *name)
{
    char path[1024];
    struct loaded l = {.p = NULL};
    snprintf(path, sizeof path, "%s/%s", SOURCE_DIR, name);
    l.p = config_load_file(path, NULL, &l.d);
    struct buf out = BUF_INIT;
    config_print_diagnostics(&out, &l.d, false);
    if (out.len) print_error("%s", buf_text(&out));
    buf_free(&out);
    return l;
}

static void end(struct loaded *l)
{
    config_free(l->p);
    config_diagnostics_free(&l->d);
}

static void reference_is_clean(void **state)
{
    (void)state;
    struct loaded l = load_file("examples/reference.yaml");
    assert_non_null(l.p);
    assert_int_equal(0, l.d.errors);
    assert_int_equal(0, l.d.warnings);
    assert_int_equal(64, strlen(l.p->revision));
    assert_int_equal(1, l.p->service_count);
    assert_int_equal(1, l.p->references);
    assert_string_equal("127.0.0.1:7373", l.p->listen);
    assert_near(l.p->ewma_alpha, 0.2, 0);
    assert_near(l.p->fleet_fraction, 0.05, 0);
    assert_int_equal(6, l.p->fleet_per_hour);
    end(&l);
}

static void reference_signals_and_judge(void **state)
{
    (void)state;
    struct loaded l = load_file("examples/reference.yaml");
    const struct service_def *s = &l.p->services[0];
    const struct signal_def *p99 = &s->signals[service_signal(s, "latency_p99")];
    assert_true(p99->is_quantile);
    assert_near(p99->quantile, 0.99, 0);
    assert_int_equal(UNIT_MS, p99->unit);
    assert_near(p99->resolution, 1, 0);
    assert_int_equal(SPAN_S(10).us, p99->interval.us);
    assert_int_equal(SPAN_S(30).us, p99->range.us);
    assert_int_equal(SPAN_S(60).us, s->signals[service_signal(s, "cache_hit")].interval.us);
    assert_int_equal(service_signal(s, "latency_p99"), s->judge.latency);
    assert_int_equal(service_signal(s, "queue_depth"), s->judge.queue);
    assert_int_equal(service_signal(s, "gpu_memory"), s->judge.gpu_memory);
    assert_near(s->judge.objective, 80, 0);
    assert_int_equal(1, s->target_count);
    assert_string_equal("127.0.0.1:9464", s->targets[0].instance);
    end(&l);
}

static void reference_knobs(void **state)
{
    (void)state;
    struct loaded l = load_file("examples/reference.yaml");
    const struct service_def *s = &l.p->services[0];
    const struct knob_def *batch = &s->knobs[service_knob(s, "batch_max")];
    assert_int_equal(1, batch->tier);
    assert_int_equal(LADDER_FACTOR, batch->ladder);
    assert_near(batch->ladder_by, 2, 0);
    assert_near(batch->min, 4, 0);
    assert_near(batch->max, 128, 0);
    assert_near(batch->min_step, 4, 0);
    assert_true(batch->allow_up && batch->allow_down && batch->integer && batch->cas);
    assert_int_equal(SPAN_HOUR(4).us, batch->interval.us);
    assert_int_equal(SPAN_HOUR(24).us, batch->protect.us);
    assert_int_equal(SPAN_S(60).us, batch->readback.us);
    assert_int_equal(service_signal(s, "batch_size"), batch->use_signal);
    assert_int_equal(service_knob(s, "concurrency"), batch->coupled[0]);
    assert_int_equal(NO_INDEX, batch->coupled[1]);
    assert_non_null(batch->precondition);
    assert_true(batch->read.per_instance && batch->write.per_instance);
    assert_string_equal("PUT", batch->write.method);
    assert_string_equal("ETag", batch->read.version_header);
    const struct knob_def *replicas = &s->knobs[service_knob(s, "replicas")];
    assert_int_equal(1, replicas->tier);
    assert_true(replicas->allow_up && !replicas->allow_down);
    assert_int_equal(UNIT_MB, s->knobs[service_knob(s, "feature_cache_mb")].unit);
    end(&l);
}

static uint16_t symptom_named(const struct service_def *s, const char *name)
{
    uint16_t i = 0;
    while (i < s->symptom_count && strcmp(s->symptoms[i].name, name) != 0) i++;
    assert_true(i < s->symptom_count);
    return i;
}

static const struct cause_def *row_named(const struct service_def *s, const char *id)
{
    uint16_t i = 0;
    while (i < s->cause_count && strcmp(s->causes[i].id, id) != 0) i++;
    assert_true(i < s->cause_count);
    return &s->causes[i];
}

static void reference_symptoms_and_causes(void **state)
{
    (void)state;
    struct loaded l = load_file("examples/reference.yaml");
    const struct service_def *s = &l.p->services[0];
    const struct symptom_def *degraded = &s->symptoms[symptom_named(s, "latency-degraded")];
    assert_int_equal(1, degraded->severity);
    assert_true(degraded->request_layer && !degraded->slo);
    assert_int_equal(s->judge.latency, degraded->judge_signal);
    const struct symptom_def *slo = &s->symptoms[symptom_named(s, "slo")];
    assert_int_equal(0, slo->severity);
    assert_true(slo->slo);
    const struct cause_def *compute = row_named(s, "compute-bound");
    assert_int_equal(GROUP_COMPUTE_BOUND, compute->group);
    assert_int_equal(2, compute->try_count);
    assert_int_equal(service_knob(s, "batch_max"), compute->tries[0].knob);
    assert_int_equal(DIR_UP, compute->tries[0].direction);
    const struct cause_def *upstream = row_named(s, "upstream-data");
    assert_int_equal(NO_INDEX, upstream->tries[0].knob);
    assert_string_equal("look at the feature service and its network path", upstream->tries[0].advice);
    assert_int_equal(service_signal(s, "feature_fetch_ms"), upstream->share_signal);
    assert_true(needs_find(&s->needs, (struct need){.fn = FN_BASELINE, .subject = s->judge.latency_mean}) >= 0);
    end(&l);
}

static void references_are_counted(void **state)
{
    (void)state;
    struct loaded l = load_file("examples/reference.yaml");
    struct policy *again = config_hold(l.p);
    config_free(l.p);
    assert_string_equal("embedding", again->services[0].name);
    end(&l);
    config_free(NULL);
}

static void missing_file_is_one_error(void **state)
{
    (void)state;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    assert_null(config_load_file("/nowhere/at/all.yaml", NULL, &d));
    assert_int_equal(1, d.errors);
    config_diagnostics_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_is_clean),        cmocka_unit_test(reference_signals_and_judge),
        cmocka_unit_test(reference_knobs),           cmocka_unit_test(reference_symptoms_and_causes),
        cmocka_unit_test(references_are_counted),    cmocka_unit_test(missing_file_is_one_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
