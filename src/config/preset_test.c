/* Presets and a user's own words: where presets come from, who wins, and what is said when the two do not fit. */
#include "config/preset.h"

#include "config/load.h"
#include "promql/promql.h"
#include "support/tempdir.h"
#include "support/test.h"

#define HEAD "services:\n  - name: a\n    targets: ['http://h:1/m']\n"

struct loaded {
    struct config_diagnostics d;
    struct policy *p;
    const struct service_def *s;
    struct buf said;
};

static void load_from(struct loaded *l, const char *text, const char *dir)
{
    struct config_options o = {.preset_dir = dir};
    *l = (struct loaded){.p = NULL};
    l->p = config_load(text, strlen(text), "t.yaml", &o, &l->d);
    config_print_diagnostics(&l->said, &l->d, true);
    l->s = l->p ? &l->p->services[0] : NULL;
}

static void load(struct loaded *l, const char *text)
{
    load_from(l, text, NULL);
    if (!l->p) print_error("%s", buf_text(&l->said));
    assert_non_null(l->p);
}

static void end(struct loaded *l)
{
    config_free(l->p);
    config_diagnostics_free(&l->d);
    buf_free(&l->said);
}

/* The text is refused, and each of these sentences says why. */
static void refused(const char *text, const char *sentence, const char *other)
{
    struct loaded l;
    load_from(&l, text, NULL);
    assert_null(l.p);
    if (!strstr(buf_text(&l.said), sentence) || !strstr(buf_text(&l.said), other)) print_error("%s\n", buf_text(&l.said));
    assert_non_null(strstr(buf_text(&l.said), sentence));
    assert_non_null(strstr(buf_text(&l.said), other));
    end(&l);
}

static const struct signal_def *signal(const struct loaded *l, const char *name)
{
    uint16_t i = service_signal(l->s, name);
    return i == NO_INDEX ? NULL : &l->s->signals[i];
}

/* No folder, no file: the binary has them. */
static void the_binary_has_them(void **state)
{
    (void)state;
    struct loaded l;
    size_t len = 0;
    assert_non_null(config_preset_bytes("triton", &len));
    assert_true(len > 1000);
    assert_null(config_preset_bytes("playbook", &len));   /* lies beside them and is none */
    load(&l, HEAD "    preset: triton\n");
    assert_non_null(signal(&l, "latency_mean"));
    assert_int_equal(UNIT_MS, signal(&l, "latency_mean")->unit);
    assert_int_equal(SPAN_S(30).us, signal(&l, "latency_mean")->range.us);
    assert_int_equal(0, l.s->knob_count);
    end(&l);
}

/* A folder comes first, file by file; what it does not hold comes from the binary. Another preset is another policy. */
static void a_folder_comes_before_the_binary(void **state)
{
    (void)state;
    struct loaded l, other;
    char dir[TEMPDIR_MAX], path[TEMPDIR_MAX + 32];
    static const char text[] = HEAD "    preset: [triton, node]\n";
    tempdir_make(dir);
    snprintf(path, sizeof path, "%s/triton.yaml", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("about: {title: T, measured: here, has: [x]}\nsignals:\n  latency_mean: {layer: request, unit: s, query: mine}\n"
          "symptoms: {late: {when: latency_mean > 1 s, slo: true}}\n", f);
    fclose(f);
    load_from(&l, text, dir);
    assert_non_null(l.p);
    assert_int_equal(UNIT_S, signal(&l, "latency_mean")->unit);
    assert_non_null(signal(&l, "tcp_retrans"));
    load(&other, text);
    assert_string_not_equal(l.p->revision, other.p->revision);
    end(&other);
    end(&l);
    tempdir_remove(dir);
}

/* Key by key: the user's resolution, the preset's query and unit; and an entry of the user's own beside them. */
static void the_user_wins_key_by_key(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, "profiles:\n  fast:\n    preset: vllm\n    signals: {latency_p99: {bad: both, relative_floor: 7%}}\n"
             "services:\n  - name: a\n    profile: fast\n    targets: ['http://h:1/m']\n    signals:\n"
             "      latency_p99: {resolution: 20 ms, relative_floor: 3%}\n"
             "      fetch_ms: {layer: data, unit: ms, query: fetch}\n");
    const struct signal_def *p99 = signal(&l, "latency_p99");
    assert_near(p99->resolution, 20, 0);               /* the service's, */
    assert_near(p99->rel_floor, 0.03, 0);              /* over its profile's, */
    assert_int_equal(BAD_BOTH, p99->bad);              /* which is over the preset's, */
    assert_int_equal(UNIT_MS, p99->unit);              /* from which the rest comes */
    assert_non_null(strstr(p99->query_text, "vllm:e2e_request_latency_seconds_bucket"));
    assert_non_null(signal(&l, "fetch_ms"));
    assert_non_null(signal(&l, "kv_usage"));
    end(&l);
}

static void optional_signals_are_taken_by_name(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD "    preset: triton\n");
    assert_null(signal(&l, "latency_p99"));
    assert_int_equal(service_signal(l.s, "latency_mean"), l.s->judge.latency);
    end(&l);
    load(&l, HEAD "    preset: triton\n    with: latency_p99\n    without: [cpu_util]\n"
                  "    signals: {latency_p50: {resolution: 2 ms}}\n");
    assert_non_null(signal(&l, "latency_p99"));
    assert_non_null(signal(&l, "latency_p50"));
    assert_null(signal(&l, "cpu_util"));
    assert_int_equal(service_signal(l.s, "latency_p99"), l.s->judge.latency);
    end(&l);
}

static void matchers_and_range_fill_the_queries(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD "    preset: [vllm, dcgm]\n    range: 2m\n    select: {vllm: 'model_name=\"x\"', dcgm: 'gpu=\"0\"'}\n"
                  "    where: 'job=\"llm\"'\n");
    assert_string_equal("sum(vllm:num_requests_waiting{model_name=\"x\",job=\"llm\",})", signal(&l, "queue_depth")->query_text);
    assert_string_equal("sum(rate(process_cpu_seconds_total{job=\"llm\",}[2m]))", signal(&l, "cpu_cores")->query_text);
    assert_string_equal("avg(DCGM_FI_DEV_SM_CLOCK{gpu=\"0\",} < 1e15)", signal(&l, "gpu_clock")->query_text);
    assert_int_equal(SPAN_MIN(2).us, signal(&l, "latency_p99")->range.us);
    end(&l);
}

/* Of two presets the first is taken whole, and a note names both places. */
static void of_two_presets_the_first_is_taken(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD "    preset: [triton, node]\n");
    assert_non_null(strstr(signal(&l, "cpu_util")->query_text, "nv_cpu_utilization"));
    assert_non_null(strstr(buf_text(&l.said), "signals.cpu_util of presets/triton.yaml:"));
    assert_non_null(strstr(buf_text(&l.said), " is taken, not that of presets/node.yaml:"));
    end(&l);
    load(&l, HEAD "    preset: [node, triton]\n");
    assert_non_null(strstr(signal(&l, "cpu_util")->query_text, "node_cpu_seconds_total"));
    end(&l);
}

/* A preset offers knobs. Only what the user's file names is ever turned, and what it says of it counts. */
static void a_knob_is_taken_when_it_is_named(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD "    preset: torchserve\n    knobs:\n      instances:\n        max: 4\n        single_writer: true\n"
                  "        read: {http: {url: 'http://h:8081/models/m', pointer: /0/minWorkers}}\n"
                  "        write: {http: {url: 'http://h:8081/models/m?min_worker={value}'}}\n");
    assert_int_equal(1, l.s->knob_count);
    assert_int_equal(CLASS_CONCURRENCY, l.s->knobs[0].class);
    assert_near(l.s->knobs[0].max, 4, 0);
    assert_near(l.s->knobs[0].min, 1, 0);
    end(&l);
    refused(HEAD "    preset: triton\n    knobs: {batch_max: {max: 64}}\n", "read", "batch_max");
}

static void conflicts_are_named_with_their_places(void **state)
{
    (void)state;
    refused(HEAD "    preset: vllm\n    signals:\n      latency_p99: {unit: s}\n",
            "t.yaml:6:27: error: 'latency_p99' is in 's' here, but its query at presets/vllm.yaml:", "gives 'ms'");
    refused(HEAD "    preset: trition\n", "t.yaml:4:13: error: no preset 'trition'", "did you mean 'triton'?");
    refused(HEAD "    preset: triton\n    with: [latency_p9]\n", "t.yaml:5:12: error: with: no preset of this service has a signal",
            "did you mean 'latency_p99'?");
    refused(HEAD "    preset: triton\n    without: [queue_depth]\n    signals:\n      queue_depth: {resolution: 1}\n",
            "t.yaml:5:15: error: without: signal 'queue_depth' is written at t.yaml:7:7 all the same", "keep one");
    refused(HEAD "    preset: triton\n    with: [gpu_util]\n    without: [gpu_util]\n", "stands under `with` too", "keep one");
    refused(HEAD "    without: [a]\n    signals: {b: {layer: data, unit: ms, query: b}}\n"
                 "    symptoms: {c: {when: b > 1 ms, slo: true}}\n",
            "t.yaml:4:14: error: `with` and `without` choose among signals of a preset", "preset: NAME");
    refused(HEAD "    preset: triton\n    select: 'model=embedding'\n", "t.yaml:5:", "select: ");
    refused(HEAD "    preset: triton\n    select: {vllm: 'a=\"b\"'}\n", "select: this service has no preset 'vllm'", "5:14");
    refused(HEAD "    preset: triton\n    where: '{job=\"x\"}'\n", "where: the matchers alone, without braces", "5:12");
    refused(HEAD "    preset: triton\n    about: {title: x, measured: y, has: [z]}\n",
            "`about` belongs into the file of a preset", "5:");
    refused(HEAD "    profile: triton\n", "no profile 'triton', but a preset", "write `preset` in place of `profile`");
}

/* Other shapes than the expected ones are errors with a place, in a preset of the user's folder too. */
static void odd_shapes_are_refused(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "    preset: [{a: b}]\n", "    preset: {a: b}\n", "    preset: ~\n    with: [x]\n", "    preset: []\n",
        "    preset: ['']\n", "    preset: [~, triton]\n", "    preset: triton\n    with: {x: y}\n",
        "    preset: triton\n    with: [[x]]\n",
        "    preset: triton\n    without: [~]\n", "    preset: triton\n    select: [a]\n", "    preset: triton\n    signals: 3\n",
        "    preset: triton\n    select: {triton: {a: b}}\n", "    preset: triton\n    range: 0s\n",
        "    preset: triton\n    signals: {latency_mean: 4}\n", "    preset: triton\n    knobs: [a]\n", "    preset: playbook\n",
        "    preset: ../triton\n", "    preset: [triton, triton, node, node, vllm, dcgm, envoy, redis, tei]\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct buf text = BUF_INIT;
        buf_printf(&text, HEAD "%s", odd[i]);
        refused(buf_text(&text), "t.yaml:", "error: ");
        buf_free(&text);
    }
}

static void a_broken_preset_of_a_folder_is_named(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "- a\n", "signals: 3\n", "signals: {a: {unit: ms}}\n", "a: [\n", "symptoms: [x]\n", "range: [1]\n",
        "signals: {a: {layer: data, unit: ms, query: 'x{$select'}}\n"};
    char dir[TEMPDIR_MAX], path[TEMPDIR_MAX + 32];
    tempdir_make(dir);
    snprintf(path, sizeof path, "%s/mine.yaml", dir);
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        struct loaded l;
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(broken[i], f);
        fclose(f);
        load_from(&l, HEAD "    preset: [mine, triton]\n    without: [latency_mean]\n    range: 3m\n", dir);
        if (l.p && (i < 4 || i == 6)) print_error("accepted: %s\n", broken[i]);
        if (i < 4 || i == 6) assert_null(l.p);
        end(&l);
    }
    tempdir_remove(dir);
}

/* One query of the user's own: whether the preset's unit still fits is worth a note. */
static void a_query_without_its_unit_is_noted(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD "    preset: vllm\n    signals: {queue_wait_ms: {query: my_wait}}\n");
    assert_non_null(strstr(buf_text(&l.said), "'queue_wait_ms' has its unit 'ms' from presets/vllm.yaml:"));
    assert_string_equal("my_wait", signal(&l, "queue_wait_ms")->query_text);
    end(&l);
}

/* What measures beside the service stands behind its instances and is none of them. */
static void exporters_are_no_instances(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, "services:\n  - name: a\n    preset: [vllm, dcgm]\n    targets:\n"
             "      - {url: 'http://g:9400/metrics', exporter: true}\n      - http://one:8000/metrics\n"
             "      - {url: 'http://n:9100/metrics', exporter: true}\n      - http://two:8000/metrics\n");
    assert_int_equal(4, l.s->target_count);
    assert_int_equal(2, service_instances(l.s));
    assert_string_equal("one:8000", l.s->targets[0].instance);
    assert_string_equal("two:8000", l.s->targets[1].instance);
    assert_string_equal("g:9400", l.s->targets[2].instance);
    assert_string_equal("n:9100", l.s->targets[3].instance);
    end(&l);
    refused("services:\n  - {name: a, preset: node, targets: [{url: 'http://n:9100/metrics', exporter: true}]}\n",
            "all targets are exporters", "leave `exporter` out");
}

/* Each shipped file says what it is, and all of it can be used. */
static void every_preset_is_sound(void **state)
{
    (void)state;
    uint32_t n = 0;
    for (; config_preset_name(n); n++) {
        struct arena a = ARENA_INIT;
        struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
        struct preset_info info;
        struct buf out = BUF_INIT;
        bool ok = config_preset_read(&a, NULL, config_preset_name(n), &info, &d);
        config_print_diagnostics(&out, &d, true);
        if (!ok) print_error("%s", buf_text(&out));
        assert_true(ok);
        assert_true(info.signal_count >= 8);
        assert_true(info.gaps.n > 0 && info.control[0] && info.page[0]);
        for (uint32_t i = 0; i < info.variants.n; i++) assert_non_null(strstr(info.variants.items[i], " = "));
        for (uint32_t i = 0; i < info.signal_count; i++)
            assert_true(!info.signals[i].optional || info.signals[i].note[0]);   /* what it needs is said */
        buf_free(&out);
        config_diagnostics_free(&d);
        arena_free(&a);
    }
    assert_int_equal(17, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_binary_has_them),
        cmocka_unit_test(a_folder_comes_before_the_binary),
        cmocka_unit_test(the_user_wins_key_by_key),
        cmocka_unit_test(optional_signals_are_taken_by_name),
        cmocka_unit_test(matchers_and_range_fill_the_queries),
        cmocka_unit_test(of_two_presets_the_first_is_taken),
        cmocka_unit_test(a_knob_is_taken_when_it_is_named),
        cmocka_unit_test(conflicts_are_named_with_their_places),
        cmocka_unit_test(odd_shapes_are_refused),
        cmocka_unit_test(a_broken_preset_of_a_folder_is_named),
        cmocka_unit_test(a_query_without_its_unit_is_noted),
        cmocka_unit_test(exporters_are_no_instances),
        cmocka_unit_test(every_preset_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
