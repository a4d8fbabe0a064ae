/* A record in words. */
#include "model/record.h"

#include "base/text.h"

static void change_text(struct buf *out, const struct record *r)
{
    bool back = record_kind_is_undo(r->kind);
    buf_puts(out, record_get_text(r, RF_KNOB));
    if (record_has(r, RF_FROM) && record_has(r, RF_TO)) {
        buf_printf(out, " %s -> %s", record_get_text(r, back ? RF_TO : RF_FROM), record_get_text(r, back ? RF_FROM : RF_TO));
    }
}

/* What it is about, what happened, the code of the reason. */
static void subject_text(struct buf *out, const struct record *r)
{
    if (record_has(r, RF_KNOB)) change_text(out, r);
    else buf_puts(out, record_get_text(r, RF_SYMPTOM));
    if (record_has(r, RF_KNOB) || record_has(r, RF_SYMPTOM)) buf_puts(out, ": ");
    buf_puts(out, record_has(r, RF_VERDICT) ? record_get_text(r, RF_VERDICT) : record_kind_meaning(r->kind));
    if (r->kind == RECORD_INCIDENT && record_has(r, RF_OUTCOME)) buf_puts(out, ", for a person: the service is still learning");
    if (record_has(r, RF_REASON) && r->kind != RECORD_INTENT) buf_printf(out, " (%s)", record_get_text(r, RF_REASON));
}

void record_say(struct buf *subject, struct buf *text, const struct record *r)
{
    static const enum record_field told[] = {RF_NOTE, RF_VALUES, RF_RULE, RF_CAUSES, RF_GATES, RF_BEFORE, RF_AFTER, RF_BY_HAND};
    buf_printf(subject, "%s: ", record_get_text(r, RF_SERVICE));
    subject_text(subject, r);
    for (unsigned i = 0; i < sizeof told / sizeof told[0]; i++) {
        if (!record_has(r, told[i])) continue;
        if (text->len) buf_puts(text, "\n");
        buf_printf(text, "%s: %s", record_field_key(told[i]), record_get_text(r, told[i]));
    }
}

/* An incident that nobody but a person can take up is one to wake him for. */
unsigned record_severity(const struct record *r)
{
    switch (r->kind) {
    case RECORD_HANDOVER:
    case RECORD_REQUEST:
    case RECORD_YIELDED:
    case RECORD_HELD:
    case RECORD_UNDO_FAILED:
    case RECORD_HALT: return 2;
    case RECORD_INCIDENT: return record_has(r, RF_OUTCOME) ? 2 : 1;
    case RECORD_VERDICT: return text_eq(record_get_text(r, RF_OUTCOME), "held") ? 2 : 0;
    case RECORD_EXTERNAL: return 1;
    case RECORD_FAILED: return record_has(r, RF_NOTE) ? 2 : 1;   /* noted: the second one in 24 h */
    default: return 0;
    }
}
