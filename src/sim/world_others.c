/* People and machines that change the target beside the daemon, and its clock. */
#include <string.h>

#include "sim/faults.h"
#include "sim/world_inside.h"

enum status world_by_hand_on(struct world *w, enum record_kind on, struct span delay, const char *knob, const char *value,
                             struct err *e)
{
    if (w->waiting_n == WORLD_WAITING_MAX)
        return err_set(e, STATUS_LIMIT, "more than %d changes by hand wait for a record", WORLD_WAITING_MAX);
    w->waiting[w->waiting_n++] = (struct world_waiting){on, delay, knob, value, false};
    return STATUS_OK;
}

void others_see_record(struct world *w, enum record_kind kind)
{
    for (uint16_t i = 0; i < w->waiting_n; i++) {
        struct world_waiting *x = &w->waiting[i];
        if (x->done || x->on != kind) continue;
        x->done = true;
        world_by_hand(w, instant_add(w->now, x->delay), x->knob, x->value);
    }
}

void world_reconcile(struct world *w, struct instant at, struct span every, const char *knob, const char *value)
{
    struct later *l = world_later(w, LATER_RECONCILE, at);
    l->by = span_max(every, SPAN_S(1));
    l->knob_name = knob;
    l->text = value;
}

void others_reconcile(struct world *w, const struct later *l)
{
    struct buf now = BUF_INIT;
    bool same = target_get(w, l->knob_name, &now, NULL) == STATUS_OK && strcmp(buf_text(&now), l->text) == 0;
    if (!same) (void)target_set(w, l->knob_name, l->text, strlen(l->text), NULL);
    buf_free(&now);
    world_reconcile(w, instant_add(w->now, l->by), l->by, l->knob_name, l->text);
}

void world_clock_step(struct world *w, struct instant at, struct span by) { world_later(w, LATER_CLOCK, at)->by = by; }

enum status world_metric_fault(struct world *w, const struct metric_fault *f, struct err *e)
{
    bool page = f->kind == FAULTS_METRICS_MISSING || f->kind == FAULTS_METRICS_FROZEN;
    if (w->o.kind == WORLD_SCRIPT)
        return err_set(e, STATUS_UNSUPPORTED, "a scripted world has no metric faults: write them into its series");
    if (w->o.kind == WORLD_PLANT && !page)
        return err_set(e, STATUS_UNSUPPORTED, "%s needs world: fluid; where pages are scraped there are metrics-missing and "
                       "metrics-frozen", faults_word((enum faults_kind)f->kind));
    if (w->spoiler.n == METRIC_FAULTS_MAX) return err_set(e, STATUS_LIMIT, "more than %d metric faults", METRIC_FAULTS_MAX);
    w->spoiler.items[w->spoiler.n++] = *f;
    return STATUS_OK;
}
