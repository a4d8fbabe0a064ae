#include "locate/locate.h"

#include "support/rules.h"

struct bench {
    struct rules *r;
    struct cause_def causes[16];
    struct symptom_def symptoms[2];
    struct locate_context ctx;
    struct excluded_list excluded;
    struct cause_list list;
};

static void add_cause(struct bench *b, const char *name, enum cause_group group, const char *when, const char *share,
                      uint16_t knob)
{
    struct cause_def *c = &b->causes[b->r->def.cause_count++];
    *c = (struct cause_def){.name = name, .id = name, .symptom = 0, .group = group, .rank = -1, .try_count = 1};
    c->when = rules_compile(b->r, when);
    c->share_signal = share ? service_signal(&b->r->def, share) : NO_INDEX;
    c->tries[0] = (struct candidate_def){.knob = knob, .direction = DIR_UP, .advice = knob == NO_INDEX ? "look there" : NULL};
}

enum { BATCH, REPLICAS };

/* The playbook of spec section 4 with the values of scenario R1. */
static struct bench *spec_playbook(void)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->r = rules_new();
    struct service_def *s = &b->r->def;
    rules_signal(b->r, "latency_mean", UNIT_MS, LAYER_REQUEST);
    rules_signal(b->r, "kernel_us", UNIT_US, LAYER_PROCESSING);
    b->r->knobs[BATCH] = (struct knob_def){.name = "batch_max", .tier = 1, .apply = APPLY_HOT};
    b->r->knobs[REPLICAS] = (struct knob_def){.name = "replicas", .tier = 2, .apply = APPLY_HOT};
    s->causes = b->causes;
    s->symptoms = b->symptoms;
    s->judge.latency = service_signal(s, "latency_p99");
    s->judge.latency_mean = NO_INDEX;
    b->ctx = (struct locate_context){.symptom = 0, .excluded = &b->excluded};
    add_cause(b, "compute-bound", GROUP_COMPUTE_BOUND, "gpu_util > 0.7", NULL, BATCH);
    b->causes[0].tries[1] = (struct candidate_def){.knob = REPLICAS, .direction = DIR_UP};
    b->causes[0].try_count = 2;
    add_cause(b, "host-or-io-bound", GROUP_HOST_OR_IO_BOUND, "gpu_util < 0.5", NULL, REPLICAS);
    add_cause(b, "upstream-data", GROUP_UPSTREAM_DATA, "feature_fetch_ms > 1.5 * baseline(feature_fetch_ms)",
              "feature_fetch_ms", NO_INDEX);
    add_cause(b, "recent-release", GROUP_RECENT_RELEASE, "age(deploy) < 30m", NULL, NO_INDEX);
    assert_true(locate_needs(s, &s->needs));
    rules_set(b->r, FN_VALUE, "latency_p99", 46.8);
    rules_set(b->r, FN_BASELINE, "latency_p99", 38.1);
    rules_set(b->r, FN_VALUE, "queue_depth", 320);
    rules_set(b->r, FN_VALUE, "gpu_util", 0.78);
    rules_set(b->r, FN_VALUE, "feature_fetch_ms", 6.2);
    rules_set(b->r, FN_BASELINE, "feature_fetch_ms", 6.1);
    rules_set(b->r, FN_AGE, "deploy", 30 * 86400.0);
    return b;
}

static void bench_free(struct bench *b)
{
    rules_free(b->r);
    free(b);
}

/* "compute-bound:chosen upstream-data:false ..." */
static void assert_ranked(struct bench *b, const char *expected)
{
    struct buf out = BUF_INIT;
    locate_rank(&b->r->def, &b->r->evidence, &b->ctx, &b->list);
    for (unsigned i = 0; i < b->list.n; i++)
        buf_printf(&out, "%s%s:%s", i ? " " : "", b->causes[b->list.items[i].cause].name,
                   cause_verdict_name(b->list.items[i].verdict));
    assert_string_equal(buf_text(&out), expected);
    buf_free(&out);
}

static void reference_scenario(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    assert_ranked(b, "compute-bound:chosen recent-release:false upstream-data:false host-or-io-bound:false");
    rules_set(b->r, FN_VALUE, "gpu_util", 0.60);
    assert_ranked(b, "recent-release:false upstream-data:false host-or-io-bound:false compute-bound:false");
    rules_set(b->r, FN_VALUE, "gpu_util", 0.45);
    assert_ranked(b, "host-or-io-bound:chosen recent-release:false upstream-data:false compute-bound:false");
    bench_free(b);
}

/* Story 6.2: fetch three times as slow, first unseen, then seen. */
static void stale_upstream_then_seen(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    rules_unknown(b->r, FN_VALUE, "feature_fetch_ms", WHY_STALE);
    assert_ranked(b, "upstream-data:unknown compute-bound:chosen recent-release:false host-or-io-bound:false");
    rules_set(b->r, FN_VALUE, "feature_fetch_ms", 18.3);
    excluded_add(&b->excluded, 0, BATCH, DIR_UP);
    assert_ranked(b, "upstream-data:chosen compute-bound:matched recent-release:false host-or-io-bound:false");
    bench_free(b);
}

static void exclusion_moves_on(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    excluded_add(&b->excluded, 0, BATCH, DIR_UP);
    assert_ranked(b, "compute-bound:chosen recent-release:false upstream-data:false host-or-io-bound:false");
    assert_false(b->list.items[0].all_tried);
    excluded_add(&b->excluded, 0, REPLICAS, DIR_DOWN);   /* the other direction is another candidate */
    excluded_add(&b->excluded, 1, REPLICAS, DIR_UP);     /* and another cause's */
    assert_ranked(b, "compute-bound:chosen recent-release:false upstream-data:false host-or-io-bound:false");
    excluded_add(&b->excluded, 0, REPLICAS, DIR_UP);
    b->causes[0].tries[2] = (struct candidate_def){.knob = NO_INDEX, .advice = "ask somebody"};   /* words do not keep it */
    b->causes[0].try_count = 3;
    assert_ranked(b, "compute-bound:excluded recent-release:false upstream-data:false host-or-io-bound:false");
    assert_true(b->list.items[0].all_tried);
    bench_free(b);
}

static void other_symptoms_causes_are_left_out(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    b->causes[0].symptom = 1;
    b->causes[2].symptom = NO_INDEX;   /* of any symptom */
    assert_ranked(b, "recent-release:false upstream-data:false host-or-io-bound:false");
    bench_free(b);
}

/* The age of the deploy is that of the onset, however long the incident lasts. */
static void release_sticks(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    b->ctx.release_incident = true;
    rules_set(b->r, FN_AGE, "deploy", 600);
    assert_ranked(b, "recent-release:chosen compute-bound:excluded upstream-data:false host-or-io-bound:false");
    rules_set(b->r, FN_AGE, "deploy", 3 * 3600.0);
    b->ctx.incident_age = SPAN_MIN(170);
    assert_ranked(b, "recent-release:chosen compute-bound:excluded upstream-data:false host-or-io-bound:false");
    rules_unknown(b->r, FN_AGE, "deploy", WHY_NO_HISTORY);
    assert_ranked(b, "recent-release:chosen compute-bound:excluded upstream-data:false host-or-io-bound:false");
    /* A new version in the middle of another incident, say the mending one, does not make it a release incident. */
    b->ctx.release_incident = false;
    rules_set(b->r, FN_AGE, "deploy", 60);
    assert_ranked(b, "compute-bound:chosen recent-release:false upstream-data:false host-or-io-bound:false");
    rules_unknown(b->r, FN_AGE, "deploy", WHY_NO_HISTORY);
    assert_ranked(b, "recent-release:unknown compute-bound:chosen upstream-data:false host-or-io-bound:false");
    bench_free(b);
}

/* Without a release row a release incident is advice-only all the same. */
static void release_bars_knobs(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    b->ctx.release_incident = true;
    b->causes[3].symptom = 1;
    assert_ranked(b, "compute-bound:excluded upstream-data:false host-or-io-bound:false");
    assert_true(b->list.items[0].all_tried);
    bench_free(b);
}

static void outage_bars_all_but_its_group(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    b->ctx.outage = true;
    rules_set(b->r, FN_VALUE, "feature_fetch_ms", 18.3);
    b->causes[3].group = GROUP_OUTAGE;
    b->causes[3].when = rules_compile(b->r, "queue_depth > 250");
    assert_ranked(b, "recent-release:chosen upstream-data:excluded compute-bound:excluded host-or-io-bound:false");
    bench_free(b);
}

static void time_split(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    struct service_def *s = &b->r->def;
    uint16_t fetch = service_signal(s, "feature_fetch_ms"), kernel = service_signal(s, "kernel_us");
    assert_near(locate_share(s, &b->r->evidence, fetch), (6.2 - 6.1) / (46.8 - 38.1), 1e-12);   /* of p99 */
    s->judge.latency_mean = service_signal(s, "latency_mean");
    assert_true(isnan(locate_share(s, &b->r->evidence, fetch)));         /* a mean is configured and unknown */
    rules_set(b->r, FN_VALUE, "latency_mean", 30);
    rules_set(b->r, FN_BASELINE, "latency_mean", 20);
    rules_set(b->r, FN_VALUE, "feature_fetch_ms", 9.5);
    assert_near(locate_share(s, &b->r->evidence, fetch), 0.34, 1e-12);
    rules_set(b->r, FN_VALUE, "kernel_us", 9000);
    rules_set(b->r, FN_BASELINE, "kernel_us", 5000);
    assert_near(locate_share(s, &b->r->evidence, kernel), 0.4, 1e-12);   /* 4 of 10 ms: units are brought together */
    rules_set(b->r, FN_VALUE, "kernel_us", 90000);
    assert_near(locate_share(s, &b->r->evidence, kernel), 1, 0);
    rules_set(b->r, FN_VALUE, "kernel_us", 4000);
    assert_near(locate_share(s, &b->r->evidence, kernel), 0, 0);
    assert_true(isnan(locate_share(s, &b->r->evidence, service_signal(s, "queue_depth"))));
    assert_true(isnan(locate_share(s, &b->r->evidence, NO_INDEX)));
    rules_set(b->r, FN_VALUE, "latency_mean", 20.3);                     /* grew by 1.5 %: nothing to split */
    assert_true(isnan(locate_share(s, &b->r->evidence, fetch)));
    s->judge.latency_mean = s->judge.latency = NO_INDEX;
    assert_true(isnan(locate_share(s, &b->r->evidence, fetch)));
    bench_free(b);
}

/* 6 -> 9.5 ms of fetch is x1.58 and no reason for +200 ms. */
static void small_share_demotes(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    rules_set(b->r, FN_BASELINE, "feature_fetch_ms", 6);
    rules_set(b->r, FN_VALUE, "feature_fetch_ms", 9.5);
    rules_set(b->r, FN_VALUE, "latency_p99", 238.1);
    assert_ranked(b, "compute-bound:chosen upstream-data:demoted recent-release:false host-or-io-bound:false");
    rules_set(b->r, FN_VALUE, "gpu_util", 0.6);      /* alone it is still the best there is */
    assert_ranked(b, "upstream-data:chosen recent-release:false host-or-io-bound:false compute-bound:false");
    rules_set(b->r, FN_VALUE, "gpu_util", 0.78);
    rules_set(b->r, FN_VALUE, "latency_p99", 58.1);  /* 17.5 % of 20 ms */
    assert_ranked(b, "upstream-data:chosen compute-bound:matched recent-release:false host-or-io-bound:false");
    bench_free(b);
}

static void large_share_passes_measured_ones_only(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    add_cause(b, "slow-kernel", GROUP_COMPUTE_BOUND, "kernel_us > 1.5 * baseline(kernel_us)", "kernel_us", BATCH);
    add_cause(b, "storm", GROUP_DEMAND, "queue_depth > 250", NULL, NO_INDEX);
    assert_true(locate_needs(&b->r->def, &b->r->def.needs));
    rules_set(b->r, FN_VALUE, "latency_p99", 58.1);
    rules_set(b->r, FN_BASELINE, "feature_fetch_ms", 6);
    rules_set(b->r, FN_VALUE, "feature_fetch_ms", 9.5);    /* 17.5 % */
    rules_set(b->r, FN_BASELINE, "kernel_us", 8000);
    rules_set(b->r, FN_VALUE, "kernel_us", 20000);         /* 60 % */
    /* What has no part in the split keeps its upstream place before it. */
    assert_ranked(b, "storm:chosen slow-kernel:matched upstream-data:matched compute-bound:matched recent-release:false "
                     "host-or-io-bound:false");
    rules_set(b->r, FN_VALUE, "feature_fetch_ms", 13);     /* 35 %: both promoted, upstream first */
    assert_ranked(b, "upstream-data:chosen storm:matched slow-kernel:matched compute-bound:matched recent-release:false "
                     "host-or-io-bound:false");
    bench_free(b);
}

static void ties_go_to_more_signals_then_smaller_blast(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    add_cause(b, "two-signals", GROUP_COMPUTE_BOUND, "gpu_util > 0.7 and queue_depth > 250", NULL, REPLICAS);
    add_cause(b, "words", GROUP_COMPUTE_BOUND, "gpu_util > 0.7", NULL, NO_INDEX);
    assert_ranked(b, "two-signals:chosen words:matched compute-bound:matched recent-release:false upstream-data:false "
                     "host-or-io-bound:false");
    b->r->knobs[BATCH].tier = 3;
    add_cause(b, "tier-2", GROUP_COMPUTE_BOUND, "gpu_util > 0.75", NULL, REPLICAS);
    assert_ranked(b, "two-signals:chosen words:matched tier-2:matched compute-bound:matched recent-release:false "
                     "upstream-data:false host-or-io-bound:false");
    bench_free(b);
}

static void rank_overrides(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    rules_set(b->r, FN_VALUE, "feature_fetch_ms", 18.3);
    add_cause(b, "mine", GROUP_COMPUTE_BOUND, "queue_depth > 250", NULL, BATCH);
    assert_ranked(b, "upstream-data:chosen compute-bound:matched mine:matched recent-release:false host-or-io-bound:false");
    b->causes[4].rank = 0;
    assert_ranked(b, "mine:chosen upstream-data:matched compute-bound:matched recent-release:false host-or-io-bound:false");
    b->causes[4].rank = 1;
    assert_ranked(b, "upstream-data:chosen mine:matched compute-bound:matched recent-release:false host-or-io-bound:false");
    b->causes[0].rank = 1;   /* two want one place: in their own order */
    assert_ranked(b, "upstream-data:chosen compute-bound:matched mine:matched recent-release:false host-or-io-bound:false");
    b->causes[0].rank = -1;
    b->causes[4].rank = 1000;
    b->causes[2].rank = 1;
    assert_ranked(b, "compute-bound:chosen upstream-data:matched mine:matched recent-release:false host-or-io-bound:false");
    b->causes[4].rank = 0;
    b->ctx.release_incident = true;
    rules_set(b->r, FN_AGE, "deploy", 60);
    assert_ranked(b, "recent-release:chosen mine:excluded upstream-data:matched compute-bound:excluded "
                     "host-or-io-bound:false");
    bench_free(b);
}

static void explains(void **state)
{
    (void)state;
    struct bench *b = spec_playbook();
    struct buf out = BUF_INIT;
    rules_set(b->r, FN_VALUE, "feature_fetch_ms", 9.71);
    b->ctx.release_incident = true;
    b->ctx.incident_age = SPAN_MIN(80);
    rules_set(b->r, FN_AGE, "deploy", 5400);
    locate_rank(&b->r->def, &b->r->evidence, &b->ctx, &b->list);
    for (unsigned i = 0; i < b->list.n; i++) {
        locate_explain(&out, &b->r->def, &b->r->evidence, &b->list.items[i]);
        buf_putc(&out, '\n');
    }
    assert_string_equal(buf_text(&out),
        "recent-release: chosen; age(deploy) 1 h 30 min < 30m: false now, true at the onset; candidates: advice: look there\n"
        "upstream-data: matched; feature_fetch_ms 9.71 ms > 1.5 * baseline 6.1 ms = 9.15 ms: true; "
        "explains 41.5 % of the growth; candidates: advice: look there\n"
        "compute-bound: excluded; gpu_util 0.78 > 0.7: true; nothing of it is left to try here\n"
        "host-or-io-bound: false; gpu_util 0.78 < 0.5: false\n");
    b->ctx = (struct locate_context){.symptom = 0, .excluded = &b->excluded};
    locate_rank(&b->r->def, &b->r->evidence, &b->ctx, &b->list);
    buf_clear(&out);
    locate_explain(&out, &b->r->def, &b->r->evidence, &b->list.items[1]);
    assert_string_equal(buf_text(&out),
                        "compute-bound: matched; gpu_util 0.78 > 0.7: true; candidates: batch_max up, replicas up");
    buf_free(&out);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_scenario),
        cmocka_unit_test(stale_upstream_then_seen),
        cmocka_unit_test(exclusion_moves_on),
        cmocka_unit_test(other_symptoms_causes_are_left_out),
        cmocka_unit_test(release_sticks),
        cmocka_unit_test(release_bars_knobs),
        cmocka_unit_test(outage_bars_all_but_its_group),
        cmocka_unit_test(time_split),
        cmocka_unit_test(small_share_demotes),
        cmocka_unit_test(large_share_passes_measured_ones_only),
        cmocka_unit_test(ties_go_to_more_signals_then_smaller_blast),
        cmocka_unit_test(rank_overrides),
        cmocka_unit_test(explains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
