/* The shipped playbook on a service that has every signal and knob it speaks of: healthy values, one case for each row, and
 * readings set by hand. For tests of locate. */
#ifndef SUPPORT_PLAYBOOK_RIG_H
#define SUPPORT_PLAYBOOK_RIG_H

#include "base/num.h"
#include "locate/locate.h"
#include "support/playbook.h"
#include "support/rules.h"

/* Healthy values of a service that has every signal the playbook knows. */
static const struct { const char *name; enum unit unit; enum layer layer; double healthy; } signals[] = {
    {"latency_p50", UNIT_MS, LAYER_REQUEST, 20}, {"latency_p99", UNIT_MS, LAYER_REQUEST, 38},
    {"latency_mean", UNIT_MS, LAYER_REQUEST, 22}, {"ttft_p99", UNIT_MS, LAYER_REQUEST, 200},
    {"itl_p99", UNIT_MS, LAYER_REQUEST, 30}, {"error_ratio", UNIT_RATIO, LAYER_REQUEST, 0.001},
    {"timeout_ratio", UNIT_RATIO, LAYER_REQUEST, 0.001}, {"reject_ratio", UNIT_RATIO, LAYER_REQUEST, 0},
    {"request_rate", UNIT_PER_S, LAYER_REQUEST, 1000}, {"throughput", UNIT_PER_S, LAYER_REQUEST, 1000},
    {"latency_spread", UNIT_ONE, LAYER_REQUEST, 1.05}, {"load_spread", UNIT_ONE, LAYER_REQUEST, 1.05},
    {"version_mix", UNIT_RATIO, LAYER_REQUEST, 0}, {"version_spread", UNIT_ONE, LAYER_REQUEST, 1},
    {"top_client_share", UNIT_RATIO, LAYER_REQUEST, 0.2}, {"client_retry_ratio", UNIT_RATIO, LAYER_REQUEST, 0.01},
    {"queue_depth", UNIT_ONE, LAYER_PROCESSING, 140}, {"queue_wait_ms", UNIT_MS, LAYER_PROCESSING, 4},
    {"running", UNIT_ONE, LAYER_PROCESSING, 40}, {"batch_size", UNIT_ONE, LAYER_PROCESSING, 20},
    {"kernel_ms", UNIT_MS, LAYER_PROCESSING, 12}, {"kernel_p50_ms", UNIT_MS, LAYER_PROCESSING, 11},
    {"kernel_p99_ms", UNIT_MS, LAYER_PROCESSING, 18}, {"pre_ms", UNIT_MS, LAYER_PROCESSING, 1},
    {"pre_queue_ms", UNIT_MS, LAYER_PROCESSING, 0.5}, {"rest_ms", UNIT_MS, LAYER_PROCESSING, 3},
    {"host_gap_ms", UNIT_MS, LAYER_PROCESSING, 5}, {"step_tokens", UNIT_ONE, LAYER_PROCESSING, 2000},
    {"kv_usage", UNIT_RATIO, LAYER_PROCESSING, 0.7}, {"preempt_rate", UNIT_PER_S, LAYER_PROCESSING, 0},
    {"prefix_hit", UNIT_RATIO, LAYER_PROCESSING, 0.6}, {"prefix_hit_spread", UNIT_ONE, LAYER_PROCESSING, 1.05},
    {"spec_accept", UNIT_RATIO, LAYER_PROCESSING, 0.7}, {"lora_active", UNIT_ONE, LAYER_PROCESSING, 2},
    {"lora_slots", UNIT_ONE, LAYER_PROCESSING, 8}, {"grammar_queue", UNIT_ONE, LAYER_PROCESSING, 0},
    {"loop_lag_ms", UNIT_MS, LAYER_PROCESSING, 1}, {"gc_full_rate", UNIT_PER_S, LAYER_PROCESSING, 0},
    {"graph_cap", UNIT_ONE, LAYER_PROCESSING, 128}, {"cores", UNIT_ONE, LAYER_SYSTEM, 16},
    {"gpu_util", UNIT_RATIO, LAYER_SYSTEM, 0.62}, {"gpu_mem_ratio", UNIT_RATIO, LAYER_SYSTEM, 0.75},
    {"gpu_mem_mb", UNIT_MB, LAYER_SYSTEM, 18000}, {"gpu_clock", UNIT_MHZ, LAYER_SYSTEM, 1400},
    {"gpu_power_w", UNIT_WATT, LAYER_SYSTEM, 250}, {"gpu_idle_w", UNIT_WATT, LAYER_SYSTEM, 60},
    {"gpu_throttle", UNIT_RATIO, LAYER_SYSTEM, 0}, {"gpu_xid", UNIT_ONE, LAYER_SYSTEM, 0},
    {"gpu_remap_fail", UNIT_ONE, LAYER_SYSTEM, 0}, {"gpu_others", UNIT_ONE, LAYER_SYSTEM, 0},
    {"numa_miss", UNIT_RATIO, LAYER_SYSTEM, 0.01},
    {"softirq", UNIT_RATIO, LAYER_SYSTEM, 0.02}, {"config_age_s", UNIT_S, LAYER_SYSTEM, 2592000},
    {"cpu_util", UNIT_RATIO, LAYER_SYSTEM, 0.65}, {"cpu_core_max", UNIT_RATIO, LAYER_SYSTEM, 0.7},
    {"cpu_throttled", UNIT_RATIO, LAYER_SYSTEM, 0}, {"proxy_throttled", UNIT_RATIO, LAYER_SYSTEM, 0},
    {"cpu_pressure", UNIT_RATIO, LAYER_SYSTEM, 0.01}, {"cpu_run_wait", UNIT_RATIO, LAYER_SYSTEM, 0.02},
    {"mem_pressure", UNIT_RATIO, LAYER_SYSTEM, 0}, {"io_pressure", UNIT_RATIO, LAYER_SYSTEM, 0.01},
    {"mem_ratio", UNIT_RATIO, LAYER_SYSTEM, 0.6}, {"mem_rss_mb", UNIT_MB, LAYER_SYSTEM, 9000},
    {"oom_kills", UNIT_ONE, LAYER_SYSTEM, 0}, {"pod_restarts", UNIT_ONE, LAYER_SYSTEM, 0},
    {"disk_io", UNIT_RATIO, LAYER_SYSTEM, 0.1}, {"tcp_retrans", UNIT_PER_S, LAYER_SYSTEM, 1},
    {"nic_drops", UNIT_PER_S, LAYER_SYSTEM, 0}, {"conntrack_insert_fail", UNIT_PER_S, LAYER_SYSTEM, 0},
    {"ready_ratio", UNIT_RATIO, LAYER_SYSTEM, 1}, {"replicas_ready", UNIT_ONE, LAYER_SYSTEM, 8},
    {"replica_changes", UNIT_ONE, LAYER_SYSTEM, 0}, {"hpa_max", UNIT_ONE, LAYER_SYSTEM, 12},
    {"feature_fetch_ms", UNIT_MS, LAYER_DATA, 6}, {"fetch_p99_ms", UNIT_MS, LAYER_DATA, 20},
    {"fetch_keys", UNIT_ONE, LAYER_DATA, 40}, {"cache_hit", UNIT_RATIO, LAYER_DATA, 0.85},
    {"cache_evict", UNIT_PER_S, LAYER_DATA, 10}, {"store_cmd_ms", UNIT_MS, LAYER_DATA, 0.4},
    {"store_cpu_spread", UNIT_ONE, LAYER_DATA, 1.1}, {"redis_fork_ms", UNIT_MS, LAYER_DATA, 10},
    {"vector_search_ms", UNIT_MS, LAYER_DATA, 8}, {"vector_core_ms", UNIT_MS, LAYER_DATA, 5},
    {"store_unindexed", UNIT_ONE, LAYER_DATA, 100}, {"store_disk_io", UNIT_RATIO, LAYER_DATA, 0.2},
    {"upstream_error_ratio", UNIT_RATIO, LAYER_DATA, 0.001}, {"upstream_pending", UNIT_ONE, LAYER_DATA, 4},
    {"pending_overflow", UNIT_PER_S, LAYER_DATA, 0}, {"psi_input_len", UNIT_ONE, LAYER_DATA, 0.02},
    {"ks_input_len", UNIT_ONE, LAYER_DATA, 0}, {"psi_output_len", UNIT_ONE, LAYER_DATA, 0},
    {"ks_output_len", UNIT_ONE, LAYER_DATA, 0},
    {"psi_feature", UNIT_ONE, LAYER_DATA, 0}, {"ks_feature", UNIT_ONE, LAYER_DATA, 0},
    {"input_len_mean", UNIT_ONE, LAYER_DATA, 300}, {"input_len_p99", UNIT_ONE, LAYER_DATA, 1500},
    {"output_len_mean", UNIT_ONE, LAYER_DATA, 200}, {"feature_age_s", UNIT_S, LAYER_DATA, 60},
    {"feature_null_ratio", UNIT_RATIO, LAYER_DATA, 0.002},
};

static const struct { const char *name; enum unit unit; double value; } knobs[] = {
    {"batch_max", UNIT_ONE, 32}, {"batch_delay_ms", UNIT_MS, 5}, {"max_ongoing", UNIT_ONE, 64}, {"max_num_seqs", UNIT_ONE, 64},
    {"instances", UNIT_ONE, 2}, {"threads", UNIT_ONE, 4}, {"replicas", UNIT_ONE, 8}, {"feature_cache_mb", UNIT_MB, 512},
    {"upstream_pool", UNIT_ONE, 32}, {"queue_max", UNIT_ONE, 1000}, {"retry_max", UNIT_ONE, 2}, {"queue_timeout", UNIT_MS, 500},
};

/* What is not healthy: NAME=VALUE or FN(NAME)=VALUE; a window of FN is that of the rule. */
static const struct { const char *id, *values; } cases[] = {
#include "locate/playbook_cases.inc"
};

struct rig {
    struct rules *r;
    struct playbook *book;
    struct symptom_def symptoms[POLICY_SYMPTOMS_MAX];
    struct cause_def causes[POLICY_CAUSES_MAX];
    unsigned dropped;
};

static inline void add_cause(struct rig *g, const struct playbook_row *row)
{
    const struct expr *when = rules_try(g->r, row->when);
    if (!when) {
        if (!g->r->error.missing) print_error("%s: %s\n", row->id, g->r->error.text);
        assert_true(g->r->error.missing);
        g->dropped++;
        return;
    }
    struct cause_def *c = &g->causes[g->r->def.cause_count++];
    *c = (struct cause_def){.name = row->cause, .id = row->id, .symptom = NO_INDEX, .rank = -1, .when = when};
    assert_true(cause_group_parse(row->group, &c->group));
    for (unsigned i = 0; row->symptom[0] && i < g->book->symptom_count; i++)
        if (strcmp(g->book->symptoms[i].name, row->symptom) == 0) c->symptom = (uint16_t)i;
    assert_true(!row->symptom[0] || c->symptom != NO_INDEX);
    c->share_signal = row->share[0] ? service_signal(&g->r->def, row->share) : NO_INDEX;
    for (unsigned i = 0; i < row->try_count; i++) {
        struct candidate_def *t = &c->tries[c->try_count++];
        t->knob = row->tries[i].advice ? NO_INDEX : service_knob(&g->r->def, row->tries[i].knob);
        t->direction = row->tries[i].direction;
    }
}

/* A service with all signals, or only those of `only`. */
static inline struct rig *rig_new(const char *const *only)
{
    struct rig *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->r = rules_new();
    g->book = playbook_read(SOURCE_DIR "/presets/playbook.yaml");
    g->r->def.signal_count = g->r->def.knob_count = 0;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        bool wanted = !only;
        for (const char *const *name = only; name && *name; name++) wanted = wanted || strcmp(*name, signals[i].name) == 0;
        if (wanted) rules_signal(g->r, signals[i].name, signals[i].unit, signals[i].layer);
    }
    for (size_t i = 0; i < ARRAY_LEN(knobs); i++) {
        rules_knob(g->r, knobs[i].name, knobs[i].unit);
        g->r->knobs[i].tier = 1;
    }
    g->r->def.causes = g->causes;
    g->r->def.judge.latency = service_signal(&g->r->def, "latency_p99");
    g->r->def.judge.latency_mean = service_signal(&g->r->def, "latency_mean");
    for (unsigned i = 0; i < g->book->row_count; i++) add_cause(g, &g->book->rows[i]);
    assert_true(locate_needs(&g->r->def, &g->r->def.needs));
    return g;
}

static inline void rig_free(struct rig *g)
{
    playbook_free(g->book);
    rules_free(g->r);
    free(g);
}

static inline double healthy_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (strcmp(signals[i].name, name) == 0) return signals[i].healthy;
    fail();
    return 0;
}

static inline double healthy_reading(const struct rig *g, const struct need *n)
{
    switch (n->fn) {
    case FN_VALUE:
    case FN_BASELINE:
    case FN_PROFILE:
    case FN_WEEK_AGO:
    case FN_MEAN: return healthy_of(g->r->signals[n->subject].name);
    case FN_STDDEV: return 0.03 * healthy_of(g->r->signals[n->subject].name);
    case FN_KNOB: return knobs[n->subject].value;
    case FN_AGE: return 30 * 86400.0;
    default: return 0;
    }
}

static inline void make_healthy(struct rig *g)
{
    for (unsigned i = 0; i < g->r->def.needs.n; i++)
        g->r->items[i] = (struct datum){.value = healthy_reading(g, &g->r->def.needs.items[i]), .why = WHY_KNOWN};
}

/* "cache_hit=0.7" or "slope(cache_hit)=0.05": sets every reading of that function and subject. */
static inline void set_one(struct rig *g, const char *text, size_t len)
{
    char fn[32] = "", name[64] = "";
    const char *equals = memchr(text, '=', len), *open = memchr(text, '(', len);
    double value = 0;
    unsigned hits = 0;
    assert_non_null(equals);
    const char *from = open && open < equals ? open + 1 : text, *end = from == text ? equals : equals - 1;
    memcpy(fn, text, from == text ? 0 : (size_t)(open - text));
    memcpy(name, from, (size_t)(end - from));
    assert_true(num_parse_all(equals + 1, len - (size_t)(equals + 1 - text), &value));
    for (unsigned i = 0; i < g->r->def.needs.n; i++) {
        const struct need *n = &g->r->def.needs.items[i];
        const char *subject = n->fn == FN_AGE                            ? age_subject_name((enum age_subject)n->subject)
                              : n->fn == FN_KNOB || n->fn == FN_CHANGED ? knobs[n->subject].name
                                                                        : g->r->signals[n->subject].name;
        bool short_window = n->fn != FN_STDDEV || n->window.us <= SPAN_MIN(5).us;
        if (strcmp(subject, name) != 0 || strcmp(fn_name(n->fn), fn) != 0 || !short_window) continue;
        g->r->items[i].value = value;
        hits++;
    }
    if (!hits) print_error("nothing reads %.*s\n", (int)len, text);
    assert_true(hits > 0);
}

static inline void set_all(struct rig *g, const char *values)
{
    while (*values) {
        size_t len = strcspn(values, " ");
        set_one(g, values, len);
        values += len + strspn(values + len, " ");
    }
}

/* The chosen row's id, "" when none. */
static inline const char *chosen(struct rig *g, const char *symptom, struct cause_list *list)
{
    struct locate_context ctx = {.symptom = 0};
    for (unsigned i = 0; i < g->book->symptom_count; i++)
        if (strcmp(g->book->symptoms[i].name, symptom) == 0) ctx.symptom = (uint16_t)i;
    for (unsigned i = 0; i < g->r->def.needs.n; i++) {
        const struct need *n = &g->r->def.needs.items[i];
        if (n->fn == FN_AGE && n->subject == AGE_DEPLOY) ctx.release_incident = g->r->items[i].value < 1800;
    }
    locate_rank(&g->r->def, &g->r->evidence, &ctx, list);
    for (unsigned i = 0; i < list->n; i++)
        if (list->items[i].verdict == CAUSE_CHOSEN) return g->causes[list->items[i].cause].id;
    return "";
}

#endif
