/* What right configurations become. */
#include "config/load.h"

#include "expr/expr.h"
#include "model/ladder.h"
#include "promql/promql.h"
#include "support/test.h"

#define SIGNALS                                                                              \
    "    signals:\n"                                                                         \
    "      latency_p99: {layer: request, unit: ms, query: p99, resolution: 1 ms}\n"          \
    "      queue_depth: {layer: processing, unit: '', query: 'sum(q)'}\n"
#define SYMPTOMS                                                                             \
    "    symptoms:\n"                                                                        \
    "      late: latency_p99 > 1.2 * baseline(latency_p99) and queue_depth > 10\n"
#define HEAD "services:\n  - name: a\n    targets: [http://h:1/m]\n"
#define ACCESS                                                                               \
    "        single_writer: true\n"                                                          \
    "        read: {file: {path: /x}}\n"                                                     \
    "        write: {file: {path: /x}}\n"

struct loaded {
    struct config_diagnostics d;
    struct policy *p;
    const struct service_def *s;
    struct buf said;
};

static void load_with(struct loaded *l, const char *text, const struct config_options *o)
{
    *l = (struct loaded){.p = NULL};
    l->p = config_load(text, strlen(text), "t.yaml", o, &l->d);
    config_print_diagnostics(&l->said, &l->d, true);
    if (!l->p) print_error("%s", buf_text(&l->said));
    assert_non_null(l->p);
    l->s = &l->p->services[0];
}

static void load(struct loaded *l, const char *text)
{
    load_with(l, text, NULL);
    assert_string_equal("", buf_text(&l->said));
}

static void end(struct loaded *l)
{
    config_free(l->p);
    config_diagnostics_free(&l->d);
    buf_free(&l->said);
}

static void the_smallest_file(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD SIGNALS SYMPTOMS);
    assert_int_equal(MODE_ALERT, l.s->mode);
    assert_string_equal("default", l.s->environment);
    assert_string_equal("h:1", l.s->targets[0].instance);
    assert_int_equal(SPAN_S(10).us, l.s->targets[0].interval.us);
    assert_int_equal(SPAN_S(30).us, l.p->tick.us);
    assert_int_equal(SPAN_MIN(10).us, l.s->timing.window.us);
    assert_near(l.s->signals[0].rel_floor, 0.02, 0);
    assert_int_equal(0, l.s->judge.latency);
    assert_int_equal(1, l.s->judge.queue);
    assert_int_equal(NO_INDEX, l.s->judge.errors);
    assert_int_equal(0, l.s->cause_count);
    assert_int_equal(64, strlen(l.p->revision));
    end(&l);
}

static void revision_is_the_hash_of_the_bytes(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, "services: [{name: a, targets: ['http://h'], signals: {s: {layer: request, unit: ms, query: s}, q: {layer: "
             "data, unit: ms, query: q}}, symptoms: {y: s > 1 ms and q > 1 ms}}]\n");
    assert_string_equal("e5a1c72dbc5ad89245f9a95522fc82507749ed3c340688c4ae50d70ea6d760d5", l.p->revision);
    end(&l);
}

static void a_profile_gives_what_the_service_leaves_out(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, "profiles:\n"
             "  base:\n"
             "    mode: confirm\n"
             "    timing: {settle: 3m, window: 20m}\n" SIGNALS SYMPTOMS
             "    playbook:\n"
             "      - {cause: compute-bound, when: queue_depth > 5, try: [b up]}\n"
             "    knobs:\n"
             "      b:\n"
             "        class: batch\n"
             "        min: 1\n"
             "        max: 8\n"
             "        ladder: x2\n" ACCESS
             "services:\n"
             "  - name: one\n"
             "    profile: base\n"
             "    targets: [http://h:1/m]\n"
             "    timing: {settle: 1m}\n"
             "    signals:\n"
             "      extra: {layer: data, unit: ms, query: x}\n"
             "      queue_depth: {layer: processing, unit: '', query: 'max(q)'}\n"
             "    playbook:\n"
             "      - {cause: upstream-data, when: extra > 5 ms, try: ['advise: look']}\n"
             "    knobs: {b: {max: 16}}\n"
             "  - {name: two, profile: base, mode: alert, targets: [http://h:2/m]}\n");
    const struct service_def *one = &l.p->services[0], *two = &l.p->services[1];
    assert_int_equal(MODE_CONFIRM, one->mode);
    assert_int_equal(MODE_ALERT, two->mode);
    assert_int_equal(SPAN_MIN(1).us, one->timing.settle.us);
    assert_int_equal(SPAN_MIN(20).us, one->timing.window.us);
    assert_int_equal(SPAN_MIN(3).us, two->timing.settle.us);
    assert_int_equal(3, one->signal_count);
    assert_string_equal("extra", one->signals[0].name);
    assert_string_equal("max(q)", one->signals[service_signal(one, "queue_depth")].query_text);
    assert_string_equal("sum(q)", two->signals[service_signal(two, "queue_depth")].query_text);
    assert_near(one->knobs[0].max, 16, 0);
    assert_near(two->knobs[0].max, 8, 0);
    assert_int_equal(2, one->cause_count);
    assert_string_equal("upstream-data", one->causes[0].name);
    assert_int_equal(1, two->cause_count);
    /* What a profile's query compiles to is shared. */
    assert_ptr_equal(one->signals[service_signal(one, "latency_p99")].query,
                     two->signals[service_signal(two, "latency_p99")].query);
    end(&l);
}

static void the_shipped_playbook_fits_itself(void **state)
{
    (void)state;
    struct loaded l;
    load_with(&l,
              HEAD "    include: [default]\n" SIGNALS
                   "      gpu_util: {layer: system, unit: ratio, query: g}\n"
                   "    symptoms:\n"
                   "      latency-degraded: latency_p99 > 1.3 * baseline(latency_p99) and queue_depth > 10\n"
                   "    playbook:\n"
                   "      - {cause: compute-bound, id: compute-bound, when: gpu_util > 0.9, try: [b up]}\n"
                   "    knobs:\n"
                   "      b:\n"
                   "        class: batch\n"
                   "        min: 1\n"
                   "        max: 8\n"
                   "        ladder: x2\n" ACCESS,
              NULL);
    assert_int_equal(1, l.d.notes);
    assert_int_equal(0, l.d.warnings);
    /* The service's own symptom and row stand, the shipped ones of their names do not come twice. */
    unsigned degraded = 0, compute = 0, release = 0;
    for (uint16_t i = 0; i < l.s->symptom_count; i++) degraded += strcmp(l.s->symptoms[i].name, "latency-degraded") == 0;
    for (uint16_t i = 0; i < l.s->cause_count; i++) {
        compute += strcmp(l.s->causes[i].id, "compute-bound") == 0;
        release += strcmp(l.s->causes[i].id, "recent-release") == 0;
    }
    assert_int_equal(1, degraded);
    assert_int_equal(1, compute);
    assert_int_equal(1, release);
    assert_non_null(strstr(expr_text(l.s->symptoms[0].when), "1.3"));
    assert_non_null(strstr(expr_text(l.s->causes[0].when), "0.9"));
    end(&l);
}

/* All rows stay for a service that has all signals: none is dropped for a word that is no signal, as the s of "0.1 /s". */
static void no_shipped_row_is_lost_where_all_is_measured(void **state)
{
    (void)state;
    struct config_options o = {.points_from_outside = true};
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    size_t len, rows = 0;
    const char *text = config_default_playbook(&len);
    for (size_t i = 0; i + 8 < len; i++) rows += memcmp(text + i, "\n  - id:", 8) == 0;
    struct policy *p = config_load_file(SOURCE_DIR "/examples/tests/every-signal.yaml", &o, &d);
    assert_non_null(p);
    assert_int_equal(0, d.warnings + d.notes);
    assert_int_equal(rows, p->services[0].cause_count);
    assert_true(rows >= 78);
    config_free(p);
    config_diagnostics_free(&d);
}

/* A shipped row whose knobs are not in the whitelist says so instead of trying them. */
static void shipped_moves_outside_the_whitelist_become_advice(void **state)
{
    (void)state;
    struct loaded l;
    load_with(&l, HEAD "    include: [default]\n" SIGNALS "      gpu_util: {layer: system, unit: ratio, query: g}\n", NULL);
    const struct cause_def *c = NULL;
    for (uint16_t i = 0; i < l.s->cause_count; i++)
        if (strcmp(l.s->causes[i].id, "compute-bound") == 0) c = &l.s->causes[i];
    assert_non_null(c);
    assert_int_equal(2, c->try_count);
    assert_int_equal(NO_INDEX, c->tries[0].knob);
    assert_string_equal("the GPU is busy and the queue backs up", c->tries[0].advice);
    assert_int_equal(NO_INDEX, c->tries[1].knob);
    assert_string_equal("not in the whitelist, or not allowed by it: batch_max up, replicas up", c->tries[1].advice);
    end(&l);
}

static void ladders_and_units(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD SIGNALS SYMPTOMS
         "    knobs:\n"
         "      cache:\n"
         "        class: cache\n"
         "        unit: MB\n"
         "        min: 64000 KB\n"
         "        max: 1.024 GB\n"
         "        ladder: x2\n" ACCESS
         "      n:\n"
         "        class: replicas\n"
         "        min: 1\n"
         "        max: 9\n"
         "        ladder: +25%\n" ACCESS
         "      delay:\n"
         "        class: batch\n"
         "        unit: ms\n"
         "        min: 0\n"
         "        max: 50\n"
         "        ladder: [0, 1 ms, 2, 5000 us, 50]\n" ACCESS
         "      ratio:\n"
         "        class: retry\n"
         "        unit: ratio\n"
         "        integer: false\n"
         "        min: 0\n"
         "        max: 50%\n"
         "        ladder: +0.1\n"
         "        apply: restart\n" ACCESS);
    double rungs[16];
    const struct knob_def *cache = &l.s->knobs[0], *n = &l.s->knobs[1], *delay = &l.s->knobs[2];
    assert_near(cache->min, 64, 0);
    assert_near(cache->max, 1024, 0);
    assert_int_equal(1, cache->tier);
    assert_int_equal(5, ladder_rungs(cache, rungs, 16));
    assert_int_equal(2, n->tier);
    assert_true(n->allow_up && !n->allow_down);
    assert_int_equal(7, ladder_rungs(n, rungs, 16));   /* 1, 2, 3, 4, 5, 7, 9 */
    assert_near(rungs[5], 7, 0);
    assert_int_equal(5, delay->rung_count);
    assert_near(delay->rungs[3], 5, 0);
    assert_near(l.s->knobs[3].max, 0.5, 0);
    assert_int_equal(6, ladder_rungs(&l.s->knobs[3], rungs, 16));
    assert_int_equal(2, l.s->knobs[3].tier);
    end(&l);
}

static void defaults_by_class_and_way_of_applying(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD SIGNALS "      batch_size: {layer: processing, unit: '', query: b}\n"
                          "      running: {layer: processing, unit: '', query: r}\n" SYMPTOMS
                          "    timing: {readback_reload: 4m}\n"
                          "    class_modes: {cache: confirm}\n"
                          "    knobs:\n"
                          "      b: {class: batch, min: 1, max: 8, ladder: x2, apply: reload, read: {file: {path: "
                          "/x}}, write: {file: {path: /x}}}\n"
                          "      c: {class: concurrency, min: 1, max: 8, ladder: x2, use: none, read: {file: {path: "
                          "/x}}, write: {file: {path: /x}}}\n"
                          "      d: {class: concurrency, min: 1, max: 8, ladder: x2, apply: restart, read: {file: "
                          "{path: /x}}, write: {file: {path: /x}}}\n"
                          "      e: {class: version, min: 1, max: 8, ladder: +1}\n"
                          "      f: {class: replicas, min: 1, max: 8, ladder: +1, owner: keda}\n");
    const struct knob_def *k = l.s->knobs;
    assert_int_equal(2, k[0].tier);                  /* reload, one instance */
    assert_int_equal(SPAN_MIN(4).us, k[0].readback.us);
    assert_int_equal(service_signal(l.s, "batch_size"), k[0].use_signal);
    assert_int_equal(1, k[1].tier);
    assert_int_equal(NO_INDEX, k[1].use_signal);
    assert_int_equal(2, k[2].tier);                  /* restart */
    assert_int_equal(SPAN_MIN(15).us, k[2].readback.us);
    assert_int_equal(service_signal(l.s, "running"), k[2].use_signal);
    assert_int_equal(3, k[3].tier);
    assert_int_equal(3, k[4].tier);                  /* another controller writes it */
    assert_int_equal(MODE_CONFIRM, l.s->class_mode[CLASS_CACHE]);
    assert_int_equal(MODE_ALERT, l.s->class_mode[CLASS_BATCH]);
    end(&l);
}

static void a_window_left_out_grows_with_the_range(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD
         "    signals:\n"
         "      latency_p99: {layer: request, unit: ms, query: 'sum(rate(s[2m])) / sum(rate(c[2m]))'}\n"
         "      queue_depth: {layer: processing, unit: '', query: q}\n" SYMPTOMS);
    assert_int_equal(SPAN_MIN(2).us, l.s->signals[0].range.us);
    assert_int_equal(SPAN_MIN(40).us, l.s->timing.window.us);
    end(&l);
}

static void windows_over_midnight_are_two(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, HEAD "    utc_offset: '+08:00'\n"
                  "    change_windows:\n"
                  "      - {name: night, days: [fri-sat, sun], from: '22:00', to: '06:00'}\n"
                  "      - {days: mon, utc_offset: '-05:30'}\n" SIGNALS SYMPTOMS);
    assert_int_equal(3, l.s->window_count);
    const struct window_def *w = l.s->windows;
    assert_int_equal(0x70, w[0].weekdays);           /* Friday to Sunday evening */
    assert_int_equal(22 * 60, w[0].from_min);
    assert_int_equal(1440, w[0].to_min);
    assert_int_equal(0x61, w[1].weekdays);           /* Saturday to Monday morning */
    assert_int_equal(0, w[1].from_min);
    assert_int_equal(360, w[1].to_min);
    assert_int_equal(8 * 3600, w[1].offset_s);
    assert_int_equal(1, w[2].weekdays);
    assert_int_equal(-19800, w[2].offset_s);
    end(&l);
}

/* Were it dropped, changes would be allowed at any time. */
static void a_window_that_is_over_stays_shut(void **state)
{
    (void)state;
    struct loaded l;
    struct config_options o = {.now = {INT64_C(1796083200) * 1000000}};
    load_with(&l, HEAD "    change_windows: [{name: w, until: 2026-11-30}]\n" SIGNALS SYMPTOMS, &o);
    assert_int_equal(1, l.d.warnings);
    assert_int_equal(1, l.s->window_count);
    assert_int_equal(0, l.s->windows[0].weekdays);
    end(&l);
    load(&l, HEAD "    change_windows: [{name: w, until: 2026-11-30}]\n" SIGNALS SYMPTOMS);
    assert_int_equal(127, l.s->windows[0].weekdays);
    end(&l);
}

static void scripts_need_neither_targets_nor_queries(void **state)
{
    (void)state;
    struct loaded l;
    struct config_options o = {.points_from_outside = true};
    load_with(&l,
              "services: [{name: a, signals: {s: {layer: request, unit: ms}, q: {layer: data, unit: ms}}, symptoms: "
              "{y: s > 1 ms and q > 1 ms}}]\n",
              &o);
    assert_null(l.s->signals[0].query);
    assert_int_equal(0, l.s->target_count);
    end(&l);
}

static void presets_are_profiles_from_a_folder(void **state)
{
    (void)state;
    struct loaded l;
    struct config_options o = {.preset_dir = SOURCE_DIR "/src/config/golden"};
    load_with(&l, "services: [{name: a, profile: preset, targets: [http://h:1/m]}]\n", &o);
    assert_int_equal(2, l.s->signal_count);
    assert_string_equal("late", l.s->symptoms[0].name);
    end(&l);
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    static const char outside[] = "services: [{name: a, profile: ../golden/preset, targets: [http://h:1/m]}]\n";
    assert_null(config_load(outside, sizeof outside - 1, "t.yaml", &o, &d));
    assert_string_equal("no profile '../golden/preset'", d.items[0].text);
    config_diagnostics_free(&d);
}

static void receivers(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, "web: {external_url: 'https://tt.example.com/'}\n"
             "notify: [{name: oncall, type: dingtalk, url_file: /e/u, secret_file: /e/s, language: zh, severity: warning},\n"
             "  {type: grafana, url: 'https://g:3000', bearer_file: /e/t, rate: 7, timeout: 3s}]\n" HEAD SIGNALS SYMPTOMS);
    const struct receiver_def *r = l.p->receivers;
    assert_string_equal("https://tt.example.com", l.p->web.external_url);
    assert_int_equal(RECEIVER_DINGTALK, r[0].type);
    assert_string_equal("oncall", r[0].name);
    assert_string_equal("/e/s", r[0].secret_file);
    assert_true(r[0].chinese);
    assert_int_equal(1, r[0].least);
    assert_int_equal(20, r[0].rate);
    assert_string_equal("grafana-2", r[1].name);
    assert_int_equal(7, r[1].rate);
    assert_int_equal(3000000, r[1].timeout.us);
    end(&l);
}

static void webhooks(void **state)
{
    (void)state;
    struct loaded l;
    load(&l, "notify: [{url: 'http://h/x'}, {url_file: /etc/hook}]\n" HEAD SIGNALS SYMPTOMS);
    assert_int_equal(2, l.p->receiver_count);
    assert_string_equal("http://h/x", l.p->receivers[0].url);
    assert_string_equal("webhook-1", l.p->receivers[0].name);
    assert_string_equal("/etc/hook", l.p->receivers[1].url_file);
    assert_int_equal(300, l.p->receivers[1].rate);
    end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_file),
        cmocka_unit_test(revision_is_the_hash_of_the_bytes),
        cmocka_unit_test(a_profile_gives_what_the_service_leaves_out),
        cmocka_unit_test(the_shipped_playbook_fits_itself),
        cmocka_unit_test(no_shipped_row_is_lost_where_all_is_measured),
        cmocka_unit_test(shipped_moves_outside_the_whitelist_become_advice),
        cmocka_unit_test(ladders_and_units),
        cmocka_unit_test(defaults_by_class_and_way_of_applying),
        cmocka_unit_test(a_window_left_out_grows_with_the_range),
        cmocka_unit_test(windows_over_midnight_are_two),
        cmocka_unit_test(a_window_that_is_over_stays_shut),
        cmocka_unit_test(scripts_need_neither_targets_nor_queries),
        cmocka_unit_test(presets_are_profiles_from_a_folder),
        cmocka_unit_test(webhooks),
        cmocka_unit_test(receivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
