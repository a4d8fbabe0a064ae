/* Data quality through the whole loop, from scraped buckets on: weeks without change are silent, longer inputs open an incident
 * whose cause is the data, it is reported, and no knob is ever written. */
#include "config/load.h"
#include "loop/control.h"
#include "loop/loop.h"
#include "support/test.h"

#define EVERY SPAN_S(60)
#define WALL INT64_C(1778544000000000)

static const char policy_text[] =
    "version: 1\norigin: trimtab/test\ntick: 30s\nservices:\n  - name: embed\n    mode: auto\n"
    "    targets: [{url: \"http://10.0.0.1:9464/metrics\", interval: 60s}]\n"
    "    signals:\n"
    "      latency_p99: {layer: request, unit: ms, query: p99, interval: 60s}\n"
    "      queue_depth: {layer: processing, unit: \"\", query: queue, interval: 60s}\n"
    "      gpu_util: {layer: system, unit: ratio, bad: both, query: util, interval: 60s}\n"
    "      psi_input_len: {layer: data, unit: \"\", shape: psi, query: \"sum by (le) (increase(input_tokens_bucket[30m]))\"}\n"
    "      ks_input_len: {layer: data, unit: \"\", shape: ks, query: \"sum by (le) (increase(input_tokens_bucket[30m]))\"}\n"
    "    symptoms:\n"
    "      inputs-shifted: psi_input_len > 0.1 and ks_input_len > 0.1\n"
    "    playbook:\n"
    "      - {cause: input-shift, group: data-quality, when: psi_input_len > 0.1,\n"
    "         try: [\"advise: ask the callers what they send\"]}\n"
    "      - {cause: compute-bound, when: gpu_util > 0.5, try: [batch_max up]}\n"
    "    knobs:\n"
    "      batch_max:\n"
    "        {class: batch, tier: 1, min: 4, max: 128, ladder: x2, min_step: 4, use: none, cas: true,\n"
    "         read: {http: {url: \"http://{instance}/config/batch_max\", pointer: /value, version_header: ETag}},\n"
    "         write: {http: {url: \"http://{instance}/config/batch_max\", headers: [\"If-Match: {version}\"],\n"
    "                 body: '{\"value\": {value}}'}}}\n";

enum { BUCKETS = 8 };
static const char *const edges[BUCKETS] = {"64", "128", "256", "512", "1024", "2048", "4096", "+Inf"};
/* Requests a minute in each: at night, by day, and from new callers. */
static const int night[BUCKETS] = {30, 40, 20, 10, 4, 2, 0, 0}, day[BUCKETS] = {10, 30, 60, 80, 40, 10, 3, 1};
static const int longer[BUCKETS] = {0, 2, 8, 20, 60, 90, 60, 20};

struct life {
    struct policy *policy;
    struct loop *loop;
    struct instant now;
    double counts[BUCKETS];
    unsigned incidents, writes, noise;
};

static void send(struct life *f, struct event *e);

static bool chosen_is(const struct life *f, const char *id)
{
    struct arena a = ARENA_INIT;
    struct service_view v;
    loop_view(f->loop, 0, &a, &v);
    bool is = v.cause_count > 0 && strcmp(f->policy->services[0].causes[v.causes[0].result.cause].id, id) == 0;
    arena_free(&a);
    return is;
}

static void carry_out(struct life *f, const struct effect *all, uint32_t n)
{
    static struct read_vector v;
    struct effect kept[32];
    assert_true(n <= 32);
    memcpy(kept, all, n * sizeof *all);
    for (uint32_t i = 0; i < n; i++) {
        f->writes += kept[i].kind == EFFECT_WRITE;
        if (kept[i].kind != EFFECT_APPEND) continue;
        for (uint32_t k = 0; k < kept[i].u.append.n; k++) f->incidents += kept[i].u.append.records[k].kind == RECORD_INCIDENT;
    }
    v.n = 1;
    knob_value_set_number(&v.values[0], 32);
    (void)knob_value_set_version(&v.values[0], "1", 1);
    for (uint32_t i = 0; i < n; i++) {       /* answered only now: an answer calls the loop, which uses its records' memory again */
        struct event e = {.kind = EVENT_ACK};
        if (kept[i].kind == EFFECT_APPEND) {
            e.u.ack.token = kept[i].u.append.token;
        } else if (kept[i].kind == EFFECT_READ) {
            e.kind = EVENT_READ;
            e.u.read.knob = kept[i].u.read.knob;
            e.u.read.vector = &v;
        } else {
            continue;
        }
        send(f, &e);
    }
}

static void send(struct life *f, struct event *e)
{
    struct update u;
    e->now = f->now;
    e->wall = (struct wall){WALL + f->now.us};
    loop_step(f->loop, e, &u);
    carry_out(f, u.effects, u.n);
}

static void page(struct life *f, const int mix[BUCKETS])
{
    struct buf b = BUF_INIT;
    double sum = 0;
    buf_puts(&b, "p99 38\nqueue 120\nutil 0.6\n# TYPE input_tokens histogram\n");
    for (int i = 0; i < BUCKETS; i++) {
        f->counts[i] += mix[i] + (int)(f->noise = f->noise * 1103515245u + 12345u) / (1 << 30);   /* one more or less */
        sum += f->counts[i];
        buf_printf(&b, "input_tokens_bucket{le=\"%s\"} ", edges[i]);
        buf_double(&b, sum);
        buf_putc(&b, '\n');
    }
    struct event e = {.kind = EVENT_PAGE};
    e.u.page.outcome = PAGE_OK;
    e.u.page.bytes = b.data;
    e.u.page.len = b.len;
    e.u.page.began = f->now;
    e.u.page.began_wall = (struct wall){WALL + f->now.us};
    send(f, &e);
    buf_free(&b);
}

/* Minute by minute; `mix` NULL: as usual at this hour. */
static void live(struct life *f, int minutes, const int *mix)
{
    for (int i = 0; i < minutes; i++) {
        struct event e = {.kind = EVENT_TIME, .service = ALL_SERVICES};
        int hour = (int)((WALL + f->now.us) / US_PER_HOUR % 24);
        f->now.us += EVERY.us / 2;
        send(f, &e);
        f->now.us += EVERY.us / 2;
        send(f, &e);
        page(f, mix ? mix : hour >= 8 && hour < 20 ? day : night);
    }
}

static struct life *begin(void)
{
    struct config_options o = {0};
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct life *f = calloc(1, sizeof *f);
    struct buf said = BUF_INIT;
    assert_non_null(f);
    f->policy = config_load(policy_text, sizeof policy_text - 1, "test", &o, &d);
    config_print_diagnostics(&said, &d, true);
    if (!f->policy) fail_msg("%s", buf_text(&said));
    buf_free(&said);
    config_diagnostics_free(&d);
    f->loop = loop_new(f->policy, f->now, (struct wall){WALL}, (struct loop_options){.alone = true});
    assert_non_null(f->loop);
    struct event e = {.kind = EVENT_FOLDED, .service = ALL_SERVICES};
    send(f, &e);
    return f;
}

static void end(struct life *f)
{
    loop_free(f->loop);
    config_free(f->policy);
    free(f);
}

static void weeks_without_change_are_silent(void **state)
{
    (void)state;
    struct life *f = begin();
    live(f, 16 * 1440, NULL);
    assert_int_equal(loop_control(f->loop, 0)->state, STATE_WATCHING);
    assert_int_equal(f->incidents, 0);
    assert_int_equal(f->writes, 0);
    end(f);
}

static void longer_inputs_are_told_and_never_tuned_away(void **state)
{
    (void)state;
    struct life *f = begin();
    live(f, 9 * 1440, NULL);
    assert_int_equal(f->incidents, 0);
    live(f, 120, longer);
    assert_int_equal(f->incidents, 1);
    assert_true(chosen_is(f, "input-shift"));
    assert_int_equal(loop_decision(f->loop, 0)->reason, REASON_NO_USER_IMPACT);    /* reported, and nothing else */
    live(f, 2 * 1440, longer);
    assert_int_equal(f->incidents, 1);
    assert_true(loop_control(f->loop, 0)->incident_open);      /* not learned away */
    live(f, 120, NULL);
    assert_int_equal(loop_control(f->loop, 0)->state, STATE_WATCHING);   /* they came back: closed by itself */
    assert_int_equal(f->writes, 0);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weeks_without_change_are_silent),
        cmocka_unit_test(longer_inputs_are_told_and_never_tuned_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
