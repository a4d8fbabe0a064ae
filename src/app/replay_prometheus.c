/* History from a server with Prometheus's API: each signal's own expression, as often as the signal is due. */
#include <stdio.h>
#include <string.h>

#include "adapt/prom_range.h"
#include "app/clock.h"
#include "app/replay.h"

#define ANSWER_TIME SPAN_S(60)
#define DEFAULT_SINCE SPAN_DAY(1)

struct feed { struct replay_input *in; uint16_t service, signal; enum status status; struct err *e; };

static bool add(void *arg, struct wall at, double value)
{
    struct feed *f = arg;
    f->status = replay_point(f->in->replay, f->service, f->signal, at, value, f->e);
    return f->status == STATUS_OK;
}

/* A server knows nothing of our start: without --since the last day is meant, before now. */
static void times(struct replay_input *in)
{
    if (!in->has_until) in->until = (struct wall){clock_real_us() / US_PER_S * US_PER_S};
    in->has_until = true;
    if (!in->has_since && in->since_back.us == 0) in->since_back = DEFAULT_SINCE;
    if (!in->has_since) in->since = (struct wall){in->until.us - in->since_back.us};
    in->has_since = true;
    in->since_back = (struct span){0};
}

static enum status read_signal(struct replay_input *in, struct prom_range *p, uint16_t service, uint16_t signal, struct err *e)
{
    const struct service_def *d = in->replay->services[service].def;
    const struct signal_def *def = &d->signals[signal];
    struct feed f = {in, service, signal, STATUS_OK, e};
    uint64_t ambiguous = 0;
    if (!def->query_text || !def->query_text[0]) {
        replay_note(in, "%s has no query and is left out", def->name);
        return STATUS_OK;
    }
    struct prom_range_query q = {.text = def->query_text, .from = {in->since.us - in->history.us}, .to = in->until,
                                 .step = def->interval, .timeout = ANSWER_TIME};
    enum status s = prom_range_ask(p, &q, &(struct prom_range_sink){&f, add}, &ambiguous, e);
    if (s == STATUS_OK) s = f.status;
    if (s != STATUS_OK) return err_prefix(e, "signal %s of %s", def->name, d->name);
    if (ambiguous) {
        replay_note(in, "%s of %s gave several series at %llu steps, which are unknown: sum, max or select in its query", def->name,
                    d->name, (unsigned long long)ambiguous);
    }
    return STATUS_OK;
}

enum status replay_read_prometheus(struct replay_input *in, struct err *e)
{
    struct replay *r = in->replay;
    times(in);
    struct prom_range *p = prom_range_new(in->from, in->bearer_file, e);
    enum status s = p ? STATUS_OK : e->code;
    for (uint16_t i = 0; i < r->policy->service_count && s == STATUS_OK; i++) {
        for (uint16_t k = 0; k < r->services[i].def->signal_count && s == STATUS_OK; k++) s = read_signal(in, p, i, k, e);
    }
    prom_range_free(p);
    return s;
}
