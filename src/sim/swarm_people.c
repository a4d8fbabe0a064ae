/* People of the swarm: commands at bad moments. */
#include <stdio.h>
#include <string.h>

#include "sim/swarm_inside.h"

static bool is_window(enum command_verb v) { return v == COMMAND_FREEZE || v == COMMAND_MAINTENANCE || v == COMMAND_WINDOW_END; }

static struct later *say(struct swarm *w, const struct faults_item *i, enum command_verb verb, struct span after)
{
    struct later *l = swarm_later(w, LATER_COMMAND, instant_add(w->now, after), false);
    bool to_all = (i->everywhere && w->n > 1 && (verb == COMMAND_HALT || verb == COMMAND_HALT_UNDO || verb == COMMAND_RESUME)) ||
                  (i->everywhere && is_window(verb));
    l->service = to_all ? ALL_SERVICES : i->service;
    l->command = (struct command){.verb = verb, .id = ++w->ids, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN};
    return l;
}

/* The newest action mostly, an older or none sometimes. */
static void name_action(struct swarm *w, struct later *l, struct faults_item *i)
{
    const struct record *newest = NULL;
    for (size_t n = w->log_n; n-- > 0 && !newest;) {
        bool its = text_eq(record_get_text(w->log[n], RF_SERVICE), w->services[i->service].def->name);
        if (its && w->log[n]->kind == RECORD_INTENT) newest = w->log[n];
    }
    if (!newest || prng_below(&i->chance, 4) == 0) return;
    const char *id = record_get_text(newest, RF_ACTION);
    if (prng_below(&i->chance, 6) == 0) (void)text_copy(l->action_text, sizeof l->action_text, record_get_text(newest, RF_KNOB));
    else (void)text_copy(l->action_text, sizeof l->action_text, id);
}

/* Until a time of the wall clock, which may be set meanwhile; not beyond the last fault by the present one. */
static void open_window(struct swarm *w, const struct faults_item *i, enum command_verb verb)
{
    struct span left = instant_since(w->active_end, w->now), len = span_min(i->len, left);
    if (len.us <= 0) return;
    say(w, i, verb, SPAN_MS(0))->command.until = (struct wall){swarm_wall(w).us + len.us};
    if (i->size < 0.3) (void)say(w, i, COMMAND_WINDOW_END, (struct span){(int64_t)((double)len.us * i->size * 3)});
}

/* Right after a write was planned: the command is there before the bytes leave. */
void swarm_halt_at_write(struct swarm *w, uint16_t service)
{
    struct faults_item *i = faults_now(&w->faults, FAULTS_HALT_AT_WRITE, service, w->now);
    if (!i) return;
    i->until = w->now;               /* once */
    i->service = (uint8_t)service;
    (void)say(w, i, COMMAND_HALT, SPAN_MS(0));
    if (i->size < 0.8) (void)say(w, i, COMMAND_RESUME, i->len);
}

void swarm_person(struct swarm *w, struct faults_item *i)
{
    switch ((enum faults_kind)i->kind) {
    case FAULTS_APPROVE: (void)say(w, i, COMMAND_APPROVE, SPAN_MS(0)); break;
    case FAULTS_APPROVE_TWICE:
        (void)say(w, i, COMMAND_APPROVE, SPAN_MS(0));
        (void)say(w, i, COMMAND_APPROVE, SPAN_MS(prng_below(&i->chance, 20)));
        break;
    case FAULTS_REJECT: (void)say(w, i, COMMAND_REJECT, SPAN_MS(0)); break;
    case FAULTS_HALT:
        (void)say(w, i, COMMAND_HALT, SPAN_MS(0));
        if (i->size < 0.8) (void)say(w, i, COMMAND_RESUME, i->len);
        break;
    case FAULTS_HALT_UNDO:
        (void)say(w, i, COMMAND_HALT_UNDO, SPAN_MS(0));
        if (i->size < 0.8) (void)say(w, i, COMMAND_RESUME, i->len);
        break;
    case FAULTS_CANCEL: name_action(w, say(w, i, COMMAND_CANCEL, SPAN_MS(0)), i); break;
    case FAULTS_ROLLBACK: name_action(w, say(w, i, COMMAND_ROLLBACK, SPAN_MS(0)), i); break;
    case FAULTS_NORMAL_NOW: (void)say(w, i, COMMAND_NORMAL_NOW, SPAN_MS(0)); break;
    case FAULTS_RETRY: say(w, i, COMMAND_RETRY, SPAN_MS(0))->command.clear = i->size < 0.5; break;
    case FAULTS_FREEZE: open_window(w, i, COMMAND_FREEZE); break;
    case FAULTS_MAINTENANCE: open_window(w, i, COMMAND_MAINTENANCE); break;
    case FAULTS_DEPLOY: swarm_later(w, LATER_RELEASE, w->now, false)->service = i->service; break;
    default: break;
    }
}
