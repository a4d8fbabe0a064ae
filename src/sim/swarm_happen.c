/* What is due: answers, records, commands and faults reach the process that they are for, if it is still there. */
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "sim/swarm_inside.h"

void later_free(struct later *l)
{
    free(l->vector);
    free(l->points);
    free(l->signals);
    free(l);
}

static void answer(struct swarm *w, struct later *l)
{
    struct event e = {.kind = EVENT_ANSWER, .service = l->service,
                      .u.answer = {.knob = l->knob, .action = l->action, .kind = l->answer}};
    char version[32];
    if (l->answer == ANSWER_OK && w->cas == CAS_VERSION && l->token) {
        snprintf(version, sizeof version, "%llu", (unsigned long long)l->token);
        e.u.answer.version = version;
    }
    swarm_tell(w, "answer %d", (int)l->answer);
    swarm_step(w, &e);
}

static void read_back(struct swarm_service *s, struct later *l)
{
    struct event e = {.kind = EVENT_READ, .service = l->service, .u.read = {l->knob, l->vector}};
    if (l->knob >= s->def->knob_count) return;       /* a reload took the knob away meanwhile */
    if (swarm_leads(s->w)) invariants_read(s, l->knob, l->vector, l->sampled);
    swarm_step(s->w, &e);
}

/* The newest window that somebody has opened. */
static void name_window(const struct swarm *w, struct later *l)
{
    for (size_t n = w->log_n; n-- > 0;) {
        const struct record *r = w->log[n];
        if (r->kind != RECORD_FREEZE && r->kind != RECORD_MAINTENANCE) continue;
        (void)text_copy(l->action_text, sizeof l->action_text, record_get_text(r, RF_WINDOW_ID));
        return;
    }
}

static void command(struct swarm *w, struct later *l)
{
    if (l->command.verb == COMMAND_WINDOW_END) name_window(w, l);
    struct event e = {.kind = EVENT_COMMAND, .service = l->service};
    l->command.action = l->action_text[0] ? l->action_text : NULL;
    e.u.command = l->command;
    swarm_tell(w, "command %d %s", (int)l->command.verb, l->action_text);
    if (!w->p->loop) return;
    invariants_command(w, l->service, &l->command);
    swarm_step(w, &e);
}

static void deploy(struct swarm_service *s)
{
    struct event e = {.kind = EVENT_RELEASE, .service = s->index, .u.release = {.version = "v2", .by = "ci"}};
    if (!s->w->p->loop) return;
    swarm_tell(s->w, "release");
    invariants_release(s);
    swarm_step(s->w, &e);
}

static void late_values(struct swarm_service *s, const struct later *l)
{
    struct event e = {.kind = EVENT_VALUES, .service = s->index, .u.values = {l->signals, l->points, l->n, false}};
    swarm_see(s, l->signals, l->points, l->n);
    swarm_step(s->w, &e);
}

void swarm_leader(struct swarm *w)
{
    for (unsigned i = 0; i < SWARM_PROCESSES; i++) {
        if (w->processes[i].token == w->lease) w->p = &w->processes[i];
    }
}

/* A thing for a process that is gone, or that stands still, does not reach it now. */
static bool reaches(struct swarm *w, struct later *l)
{
    bool asked = l->kind == LATER_COMMAND || l->kind == LATER_RELEASE;   /* of whatever process leads then */
    if (l->life == 0 && !asked) return true;
    if (asked) l->life = w->p->life;
    for (unsigned i = 0; i < SWARM_PROCESSES; i++) {
        struct swarm_process *p = &w->processes[i];
        if (p->life != l->life || !p->loop) continue;
        w->p = p;
        if (instant_reached(w->now, p->paused_until)) return true;
        CHECK(heap_put(&w->heap, p->paused_until, l));
        return false;
    }
    later_free(l);
    return false;
}

void swarm_happen(struct swarm *w, struct later *l)
{
    if (!reaches(w, l)) return;
    struct swarm_service *s = &w->services[l->service < w->n ? l->service : 0];
    w->about = s;
    switch (l->kind) {
    case LATER_SEND: swarm_send(s, l); break;
    case LATER_LAND: swarm_land(s, l); break;
    case LATER_ANSWER: answer(w, l); break;
    case LATER_SAMPLE: swarm_sample(s, l); break;
    case LATER_READ: read_back(s, l); break;
    case LATER_DURABLE: swarm_durable(w); break;
    case LATER_ACK: swarm_ack(w, l); break;
    case LATER_SECOND: swarm_second(w); break;
    case LATER_COMMAND: command(w, l); break;
    case LATER_FAULT: swarm_fault(w, &w->faults.items[l->item]); break;
    case LATER_CALM: swarm_calm(w); break;
    case LATER_RESTART: (void)swarm_start(w); break;
    case LATER_VALUES: late_values(s, l); break;
    case LATER_RELEASE: deploy(s); break;
    case LATER_TAKEOVER: swarm_takeover(w); break;
    case LATER_LEASE: swarm_lease(w); break;
    }
    later_free(l);
}
