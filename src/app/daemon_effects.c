/* Effects into I/O, strictly in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/daemon.h"
#include "base/check.h"
#include "base/text.h"

#define REPLY_PATIENCE_US (2 * US_PER_S)   /* then a person is told what is known */

static void keep_points(struct daemon *d, const struct effect *e)
{
    const struct service_def *s = &d->policy->services[e->service];
    struct store_point points[64];
    uint32_t n = 0;
    struct err err;
    struct instant now;
    struct wall wall;
    clock_now(&d->clock, &now, &wall);
    for (uint32_t i = 0; i < e->u.points.n; i++) {
        const struct signal_def *def = &s->signals[e->u.points.signals[i]];
        const struct point *p = &e->u.points.points[i];
        points[n++] = (struct store_point){.service = s->name, .signal = def->name, .layer = def->layer,
                                           .at = p->at.us + (wall.us - now.us), .value = p->value, .n = p->n, .why = p->why};
        if (n < ARRAY_LEN(points) && i + 1 < e->u.points.n) continue;
        (void)store_points_put(d->store, points, n, &err);   /* what is dropped is counted by the store */
        n = 0;
    }
}

static void keep_state(struct daemon *d, const struct effect *e)
{
    struct err err;
    struct instant now;
    struct wall wall;
    clock_now(&d->clock, &now, &wall);
    if (store_state_put(d->store, d->policy->services[e->service].name, wall.us, e->u.save_state.bytes, e->u.save_state.len,
                        &err) != STATUS_OK)
        log_line(LEVEL_WARN, "store", "baselines could not be saved", "service", d->policy->services[e->service].name, "error",
                 err.text, NULL);
}

static void answer(struct daemon *d, struct pending_command **at, enum status s, const char *text, const char *detail)
{
    struct pending_command *c = *at;
    (void)d;
    *at = c->next;
    if (c->done) c->done(c->done_ctx, s, text, detail);
    free(c);
}

/* The record is what has been done by now; what it leads to comes after it. */
static const char *done_text(enum command_verb verb)
{
    switch (verb) {
    case COMMAND_APPROVE: return "recorded; the change is measured once more and made next";
    case COMMAND_ROLLBACK:
    case COMMAND_CANCEL: return "recorded; the old value is written back next";
    case COMMAND_HALT_UNDO: return "recorded; an unverified change is taken back first";
    default: return "done";
    }
}

static void reply(struct daemon *d, const struct effect *e)
{
    for (struct pending_command **at = &d->commands; *at; at = &(*at)->next) {
        struct pending_command *c = *at;
        if (c->id != e->u.reply.id) continue;
        bool queued = d->unqueued == 0 || d->unqueued != d->next_token;
        if (e->u.reply.status != STATUS_OK || (d->pending_n == 0 && queued)) {
            const char *text = e->u.reply.status == STATUS_OK && c->service != ALL_SERVICES ? done_text(c->verb) : e->u.reply.text;
            answer(d, at, e->u.reply.status, text, e->u.reply.detail);
        } else {
            c->after = d->next_token;      /* its records were queued just before this */
            c->since = clock_monotonic_us();
            (void)text_copy(c->detail, sizeof c->detail, e->u.reply.detail);
        }
        return;
    }
}

/* A halt is in force whatever the disk does, and its file keeps it; all else counts only on record. */
static void answer_unrecorded(struct daemon *d, struct pending_command **at, const char *why)
{
    char text[200];
    bool halt = (*at)->verb == COMMAND_HALT || (*at)->verb == COMMAND_HALT_UNDO;
    snprintf(text, sizeof text, "%s, but %s", halt ? "halted and kept as a file" : "taken up", why);
    answer(d, at, halt ? STATUS_OK : STATUS_IO, text, "");
}

void daemon_replies(struct daemon *d, uint64_t token, bool recorded)
{
    int64_t now = clock_monotonic_us();
    for (struct pending_command **at = &d->commands; *at;) {
        struct pending_command *c = *at;
        if (c->after && token && token <= c->after && !recorded) c->unrecorded = true;
        if (c->after && token >= c->after && !c->unrecorded)
            answer(d, at, STATUS_OK, c->text ? c->text : done_text(c->verb), c->detail);
        else if (c->after && token >= c->after) answer_unrecorded(d, at, "the audit could not be written");
        else if (c->after && now - c->since > REPLY_PATIENCE_US) answer_unrecorded(d, at, "the disk has not confirmed it yet");
        else at = &c->next;
    }
}

static void append(struct daemon *d, const struct effect *e)
{
    const char *service = e->service < d->policy->service_count ? d->policy->services[e->service].name : "";
    for (uint32_t i = 0; i < e->u.append.n; i++) {
        const struct record *r = &e->u.append.records[i];
        log_line(LEVEL_INFO, "audit", record_kind_name(r->kind), "service", service, "action", record_get_text(r, RF_ACTION),
                 "knob", record_get_text(r, RF_KNOB), "from", record_get_text(r, RF_FROM), "to", record_get_text(r, RF_TO),
                 "verdict", record_get_text(r, RF_VERDICT), "reason", record_get_text(r, RF_REASON), "by",
                 record_get_text(r, RF_BY), NULL);
        daemon_remote_mark(d, service, r);
    }
    daemon_log_append(d, service, e->u.append.records, e->u.append.n, e->u.append.token);
}

static void carry_out(struct daemon *d, const struct effect *e)
{
    const struct policy *p = d->policy;
    switch (e->kind) {
    case EFFECT_POLL: {
        struct source_port port = e->u.poll.target == POLL_SERVER ? prometheus_port(d->prometheus) : scrape_port(d->scrape);
        port.poll(port.ctx, p, e->service, e->u.poll.target);
        break;
    }
    case EFFECT_READ: {
        struct writer_port port = writer_port(d->writer);
        port.read(port.ctx, p, e->service, e->u.read.knob);
        break;
    }
    case EFFECT_WRITE: {
        struct writer_port port = writer_port(d->writer);
        log_line(LEVEL_INFO, "execute", e->u.write.dry ? "dry run: a write is left out" : "write", "service",
                 p->services[e->service].name, "knob", p->services[e->service].knobs[e->u.write.knob].name, NULL);
        port.write(port.ctx, p, e->service, e, daemon_may_send, d);
        break;
    }
    case EFFECT_APPEND: append(d, e); break;
    case EFFECT_NOTIFY: {
        struct notify_port port = notify_port(d->notify);
        port.notify(port.ctx, p, e);
        break;
    }
    case EFFECT_FOLD: daemon_log_fold_later(d, p->services[e->service].name); break;
    case EFFECT_SAVE_STATE: keep_state(d, e); break;
    case EFFECT_POINTS:
        keep_points(d, e);
        daemon_chart_points(d, e);
        break;
    case EFFECT_REPLY: reply(d, e); break;
    }
    if (e->kind != EFFECT_POLL && e->kind != EFFECT_READ) stream_service(d->api.stream, e->service);
}

void daemon_notice(struct daemon *d, enum notice level, const char *subject, const char *text)
{
    struct effect e = {.kind = EFFECT_NOTIFY, .service = ALL_SERVICES};
    struct notify_port port = notify_port(d->notify);
    e.u.notify.level = level;
    e.u.notify.subject = subject;
    e.u.notify.text = text;
    port.notify(port.ctx, d->policy, &e);
}

void daemon_effects(struct daemon *d, const struct update *u)
{
    for (uint32_t i = 0; i < u->n && !(d->ending && d->exit_code != EXIT_GOOD); i++) carry_out(d, &u->effects[i]);
}

void daemon_reply_when_durable(struct daemon *d, void (*done)(void *ctx, enum status s, const char *text, const char *detail),
                               void *ctx)
{
    struct pending_command *p = calloc(1, sizeof *p);
    CHECK_MEMORY(p);
    *p = (struct pending_command){.next = d->commands, .id = ++d->next_command, .verb = COMMAND_NORMAL_NOW,
                                  .text = "recorded", .service = ALL_SERVICES, .done = done, .done_ctx = ctx,
                                  .after = d->next_token, .since = clock_monotonic_us()};
    d->commands = p;
}

void daemon_command(struct daemon *d, uint16_t service, struct command *c,
                    void (*done)(void *ctx, enum status s, const char *text, const char *detail), void *ctx)
{
    struct event e = {.kind = EVENT_COMMAND, .service = service};
    c->id = 0;
    if (done) {
        struct pending_command *p = calloc(1, sizeof *p);
        CHECK_MEMORY(p);
        *p = (struct pending_command){.next = d->commands, .id = ++d->next_command, .verb = c->verb, .service = service,
                                      .done = done, .done_ctx = ctx};
        d->commands = p;
        c->id = p->id;
    }
    e.u.command = *c;
    daemon_step(d, &e);
    /* Only now, since this may have to wait for the disk: the halt is already in force. */
    if (d->store_frozen && (c->verb == COMMAND_HALT || c->verb == COMMAND_HALT_UNDO)) {
        for (uint16_t i = 0; i < d->policy->service_count; i++) {
            if (service == i || service == ALL_SERVICES) daemon_halt_keep(d, d->policy->services[i].name, "the audit store fails");
        }
    }
}
