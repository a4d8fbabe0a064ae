/* The four acts. Each begins a fault at the target, waits for what the audit log says, and is judged by the target's own value. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/clock.h"
#include "app/demo.h"
#include "base/text.h"

#define POLL_MS 200

static struct demo_act *begin(struct demo *d, const char *name, const char *expected, const char *knob)
{
    struct demo_act *a = &d->acts[d->act_n++];
    *a = (struct demo_act){.name = name, .expected = expected, .before = demo_knob(d, knob), .after = NAN};
    (void)text_copy(a->knob, sizeof a->knob, knob);
    (void)text_copy(a->verdict, sizeof a->verdict, "none");
    demo_say(d, "\nAct %u of %d: %s\n  expected: %s\n", d->act_n, DEMO_ACTS, name, expected);
    return a;
}

static bool world(struct demo *d, const char *name)
{
    char path[80], why[200];
    snprintf(path, sizeof path, "/world/%s", name);
    json_t *j = demo_send(d, d->target, "POST", path, NULL, "", 0, why);
    if (!j) fprintf(stderr, "trimtab demo: the target refused the fault %s: %s\n", name, why);
    bool ok = j != NULL;
    json_decref(j);
    return ok;
}

/* Nominal minutes. */
static bool wait_for(struct demo *d, uint64_t from, const char *kind, const char *field, const char *value, double minutes,
                     json_t **ret)
{
    int64_t end = clock_monotonic_us() + (int64_t)(minutes * 60e6 / d->speed);
    while (clock_monotonic_us() < end && demo_alive(d)) {
        demo_tell_new(d);
        if (demo_seen(d, from, kind, field, value, ret)) return true;
        demo_pause(POLL_MS);
    }
    demo_tell_new(d);
    return demo_seen(d, from, kind, field, value, ret);
}

static void wait_minutes(struct demo *d, double minutes)
{
    int64_t end = clock_monotonic_us() + (int64_t)(minutes * 60e6 / d->speed);
    while (clock_monotonic_us() < end && demo_alive(d)) {
        demo_tell_new(d);
        demo_pause(POLL_MS);
    }
}

static void finish(struct demo *d, struct demo_act *a, bool ok)
{
    a->after = demo_knob(d, a->knob);
    a->ok = ok;
    struct buf now = BUF_INIT, before = BUF_INIT;
    buf_double(&now, a->after);
    buf_double(&before, a->before);
    demo_say(d, "  observed: %s. The server itself says %s = %s (before %s). %s\n", a->observed, a->knob, buf_text(&now),
             buf_text(&before), ok ? "As told." : "NOT as told.");
    buf_free(&now);
    buf_free(&before);
}

static void take_verdict(struct demo_act *a, json_t *r)
{
    const char *v = json_string_value(json_object_get(r, "verdict"));
    if (v) (void)text_copy(a->verdict, sizeof a->verdict, v);
    json_decref(r);
}

static bool act_compute_bound(struct demo *d)
{
    struct demo_act *a = begin(d, "more load on slower kernels", "batch_max 32 -> 64, verified, kept", "batch_max");
    uint64_t from = demo_log_size(d);
    json_t *verdict = NULL;
    if (!world(d, "reference")) return false;
    bool judged = wait_for(d, from, "VERDICT", NULL, NULL, 40, &verdict);
    if (judged) take_verdict(a, verdict);
    bool closed = judged && wait_for(d, from, "CLOSED", NULL, NULL, 8, NULL);
    double after = demo_knob(d, "batch_max");
    bool ok = judged && text_eq(a->verdict, "effective") && after == 64 && a->before == 32;
    snprintf(a->observed, sizeof a->observed, "%s, incident %s", judged ? a->verdict : "no verdict", closed ? "closed" : "open");
    finish(d, a, ok);
    return world(d, "clean");
}

static bool act_upstream(struct demo *d)
{
    struct demo_act *a = begin(d, "the feature service is three times as slow", "nothing touched, advice given", "concurrency");
    uint64_t from = demo_log_size(d);
    if (!world(d, "upstream")) return false;
    bool told = wait_for(d, from, "HANDOVER", "cause", "upstream-data", 25, NULL);
    bool wrote = demo_seen(d, from, "INTENT", NULL, NULL, NULL);
    double batch = demo_knob(d, "batch_max");
    bool ok = told && !wrote && batch == 64 && demo_knob(d, "concurrency") == a->before;
    snprintf(a->observed, sizeof a->observed, "%s, %s", told ? "a person was told: upstream-data" : "nobody was told",
             wrote ? "a knob was written" : "no write");
    finish(d, a, ok);
    if (!world(d, "clean")) return false;
    (void)wait_for(d, from, "CLOSED", NULL, NULL, 20, NULL);
    return true;
}

static bool act_no_help(struct demo *d)
{
    struct demo_act *a = begin(d, "throttled GPUs: no knob helps", "concurrency tried, taken back, excluded", "concurrency");
    uint64_t from = demo_log_size(d);
    json_t *verdict = NULL;
    if (!world(d, "throttled")) return false;
    bool judged = wait_for(d, from, "VERDICT", NULL, NULL, 45, &verdict);
    if (judged) take_verdict(a, verdict);
    bool undone = judged && wait_for(d, from, "UNDONE", NULL, NULL, 5, NULL);
    bool tried = demo_seen(d, from, "INTENT", "knob", "concurrency", NULL);
    double after = demo_knob(d, "concurrency");
    bool bad = text_eq(a->verdict, "ineffective") || text_eq(a->verdict, "harmful");
    bool ok = tried && judged && bad && undone && after == a->before;
    snprintf(a->observed, sizeof a->observed, "%s, %s", judged ? a->verdict : "no verdict",
             undone ? "taken back and excluded" : "not taken back");
    finish(d, a, ok);
    return true;
}

/* The fault of act 3 still lasts: without the halt the loop would go on looking for a cure. */
static bool act_halt(struct demo *d)
{
    struct demo_act *a = begin(d, "halt while the service suffers", "no write, whatever the rules say", "batch_max");
    uint64_t from = demo_log_size(d);
    char why[200];
    const char *body = "{\"reason\":\"the demo shows the kill switch\"}";
    json_t *j = demo_send(d, d->daemon, "POST", "/api/v1/halt", "application/json", body, strlen(body), why);
    bool halted = j != NULL;
    if (!halted) fprintf(stderr, "trimtab demo: halt was refused: %s\n", why);
    json_decref(j);
    double concurrency = demo_knob(d, "concurrency");
    if (!world(d, "reference")) return false;
    wait_minutes(d, 14);
    bool wrote = demo_seen(d, from, "INTENT", NULL, NULL, NULL) || demo_seen(d, from, "UNDO", NULL, NULL, NULL);
    bool record = demo_seen(d, from, "HALT", NULL, NULL, NULL);
    bool same = demo_knob(d, "batch_max") == a->before && demo_knob(d, "concurrency") == concurrency;
    snprintf(a->observed, sizeof a->observed, "%s, %s for 14 minutes", halted && record ? "halted" : "not halted",
             wrote || !same ? "a write" : "no write");
    finish(d, a, halted && record && !wrote && same);
    return world(d, "clean");
}

bool demo_play(struct demo *d)
{
    bool (*const acts[DEMO_ACTS])(struct demo *) = {act_compute_bound, act_upstream, act_no_help, act_halt};
    bool ok = true;
    for (unsigned i = 0; i < DEMO_ACTS; i++) {
        if (!demo_alive(d)) {
            fprintf(stderr, "trimtab demo: a process ended too early; the logs are in %s\n", d->folder);
            return false;
        }
        if (!acts[i](d)) return false;
        ok = ok && d->acts[i].ok;
    }
    return ok;
}
