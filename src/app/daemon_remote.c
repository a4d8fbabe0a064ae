/* Own results to a receiver of remote write: the page of /metrics at each interval, and a mark at each turn of an action. */
#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "app/daemon.h"
#include "base/text.h"
#include "collect/expo.h"

#define BATCH_SAMPLES 2000u              /* as Prometheus sends them */

static int64_t nominal_ms(struct daemon *d)
{
    struct instant now;
    struct wall wall;
    clock_now(&d->clock, &now, &wall);
    return wall.us / US_PER_MS;
}

static uint32_t labels_of(const struct expo *x, struct remote_label *out)
{
    uint32_t n = 0;
    out[n++] = (struct remote_label){"__name__", x->sample.name, 8, x->sample.name_len};
    for (uint32_t i = 0; i < x->sample.label_count; i++) {
        const struct expo_label *l = &x->labels[i];
        out[n++] = (struct remote_label){l->name, l->value, l->name_len, l->value_len};
    }
    return n;
}

/* Our own page is the list of what is worth keeping; label values with escapes are unescaped into `text`. */
static void unescape(struct expo *x, struct remote_label *labels, uint32_t n, struct buf *text)
{
    buf_clear(text);
    for (uint32_t i = 0; i < x->sample.label_count; i++)
        if (x->labels[i].value_escaped) expo_unescape(text, x->labels[i].value, x->labels[i].value_len);
    size_t at = 0;
    struct buf one = BUF_INIT;
    for (uint32_t i = 0; i < x->sample.label_count && i + 1 < n; i++) {
        if (!x->labels[i].value_escaped) continue;
        buf_clear(&one);
        expo_unescape(&one, x->labels[i].value, x->labels[i].value_len);
        labels[i + 1].value = buf_text(text) + at;
        labels[i + 1].value_len = (uint32_t)one.len;
        at += one.len;
    }
    buf_free(&one);
}

static void send_page(struct daemon *d)
{
    struct buf page = BUF_INIT, message = BUF_INIT, text = BUF_INIT;
    struct remote_label labels[REMOTE_LABELS];
    struct expo x;
    uint32_t samples = 0;
    int64_t at = nominal_ms(d);
    metrics_page(&d->api, &page);
    expo_open(&x, buf_text(&page), page.len, EXPO_TEXT, expo_limits_default());
    for (enum expo_event e = expo_next(&x); e != EXPO_END && e != EXPO_OVER_LIMIT; e = expo_next(&x)) {
        if (e != EXPO_SAMPLE) continue;
        uint32_t n = labels_of(&x, labels);
        unescape(&x, labels, n, &text);
        remote_add(&message, labels, n, x.sample.value, at);
        if (++samples < BATCH_SAMPLES) continue;
        remote_write_put(d->remote, &message, samples);
        buf_clear(&message);
        samples = 0;
    }
    if (samples) remote_write_put(d->remote, &message, samples);
    buf_free(&page);
    buf_free(&message);
    buf_free(&text);
}

static void on_interval(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    (void)fd;
    (void)what;
    if (d->policy->remote_write) send_page(d);
    daemon_remote_arm(d);
}

void daemon_remote_arm(struct daemon *d)
{
    struct span every = d->policy->remote_write ? d->policy->remote_write->interval : SPAN_S(30);
    int64_t us = (int64_t)((double)every.us / d->options.speed);
    struct timeval tv = {us / US_PER_S, us % US_PER_S};
    (void)evtimer_add(d->remote_timer, &tv);
}

bool daemon_remote_open(struct daemon *d)
{
    d->remote = remote_write_new(&d->adapt);
    d->remote_timer = evtimer_new(d->base, on_interval, d);
    return d->remote && d->remote_timer;
}

static void label(struct remote_label *out, uint32_t *n, const char *name, const char *value)
{
    if (value) out[(*n)++] = (struct remote_label){name, value, (uint32_t)strlen(name), (uint32_t)strlen(value)};
}

void daemon_remote_mark(struct daemon *d, const char *service, const struct record *r)
{
    static const enum record_kind kinds[] = {RECORD_INTENT, RECORD_APPLIED, RECORD_VERDICT, RECORD_UNDONE, RECORD_RELEASE,
                                             RECORD_HALT, RECORD_RESUME, RECORD_INCIDENT, RECORD_CLOSED};
    static const struct { enum record_field field; const char *label; } fields[] = {
        {RF_ACTION, "action"}, {RF_KNOB, "knob"}, {RF_FROM, "from"}, {RF_TO, "to"}, {RF_VERDICT, "verdict"}, {RF_CAUSE, "cause"},
        {RF_SYMPTOM, "symptom"},
    };
    struct remote_label labels[REMOTE_LABELS];
    struct buf message = BUF_INIT;
    uint32_t n = 0;
    bool wanted = false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) wanted = wanted || r->kind == kinds[i];
    if (!wanted || !d->policy->remote_write) return;
    label(labels, &n, "__name__", "trimtab_mark");
    label(labels, &n, "service", service);
    label(labels, &n, "kind", record_kind_name(r->kind));
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) label(labels, &n, fields[i].label, record_get_text(r, fields[i].field));
    remote_add(&message, labels, n, 1, nominal_ms(d));
    remote_write_put(d->remote, &message, 1);
    buf_free(&message);
}
