#include "app/story.h"

#include <string.h>

#include "app/output.h"
#include "base/check.h"
#include "base/text.h"
#include "model/reason.h"

/* One sentence a line; a kind may have several, under different headings. */
static const struct { const char *kind, *heading, *pattern; } sentences[] = {
    {"INCIDENT", "Noticed", "[{symptom}: ]{rule}[. {note}]."},
    {"INCIDENT", "Located", "[{causes}.]"},
    {"INCIDENT", "Decided", "[Handed to a person at once, because {outcome}.]"},
    {"WOULD", "Decided", "In mode alert nothing is changed; auto would have set {knob} {from} -> {to}[, because of {cause}]."},
    {"REQUEST", "Decided", "Asked a person for {knob} {from} -> {to}[, because of {cause}][, until {expiry}]."},
    {"APPROVAL", "Decided", "{by} approved[: {note}]."},
    {"REJECT", "Decided", "{by} rejected it[: {note}]."},
    {"EXPIRED", "Decided", "Nobody decided in time."},
    {"VOID", "Decided", "The request ended[: {reason}]."},
    {"INTENT", "Decided", "{knob} {from} -> {to}, one notch[, because of {cause}][ ({causes})]. Decided by {by}, mode {mode}."},
    {"INTENT", "Did", "Recorded first, together with the way back[; values then: {values}]."},
    {"INTENT", "Did", "[To take it back by hand: {by_hand}]"},
    {"ABORTED", "Did", "Nothing was sent[: {reason}][, {note}]."},
    {"APPLIED", "Did", "Written, then read back from the service: {read}."},
    {"FAILED", "Did", "The old value was still there at the deadline[: {read}][; {note}]."},
    {"PART", "Watched", "Some instances lost the new value[: {read}]."},
    {"EXTENDED", "Watched", "Not clear yet, so the window was extended once[: {note}]."},
    {"YIELDED", "Watched", "Somebody else's value stands[: {read}]; nothing is written any more."},
    {"VERDICT", "Watched", "[Before: {before}.][ After: {after}.]"},
    {"VERDICT", "Verdict", "{verdict}[: {note}][; {outcome}]."},
    {"CLOSED", "Verdict", "The incident is over[: {note}]."},
    {"HANDOVER", "Decided", "Handed to a person[: {reason}][. {note}][; causes: {causes}][; {gates}]."},
    {"HELD", "Verdict", "Left as it is; a person must look[: {note}]."},
    {"CANCEL", "By hand", "{by} cancelled it[: {note}]."},
    {"ROLLBACK", "By hand", "{by} asked to take it back[: {note}]."},
    {"HALT", "By hand", "{by} halted automatic writes[: {note}]."},
    {"RESUME", "By hand", "{by} lifted the halt[: {note}]."},
    {"FEEDBACK", "By hand", "{by} said that it was {outcome}[: {note}]."},
    {"RETRY", "By hand", "{by} handed the incident back to the loop[: {note}]."},
    {"ACCEPTED", "By hand", "{by} said that this is normal now[: {note}]."},
    {"UNDO", "Did", "Taking it back: {to} -> {from}."},
    {"UNDO-RETRY", "Did", "Taking it back once more."},
    {"UNDONE", "Did", "Taken back; read from the service: {read}."},
    {"UNDO-FAILED", "Did", "The old value could not be restored[: {read}]; the service is halted."},
};

static const char *value_of(const json_t *record, const char *key)
{
    const char *s = text_of(record, key);
    enum reason r;
    if (text_eq(key, "reason") && reason_parse(s, &r)) return reason_sentence(r);
    if (text_eq(key, "by") && text_eq(s, "auto")) return "the loop itself";
    if (text_eq(key, "outcome") && text_eq(s, "false")) return "a false alarm";
    if (text_eq(key, "outcome") && text_eq(s, "true")) return "real";
    if (text_eq(key, "outcome") && text_eq(s, "useful")) return "real, and useful";
    if (text_eq(key, "outcome") && text_eq(s, "keep")) return "kept";
    if (text_eq(key, "outcome") && text_eq(s, "undo")) return "taken back";
    if (text_eq(key, "outcome") && text_eq(s, "handed")) return "baselines are still being learned";
    if (text_eq(key, "outcome") && text_eq(s, "held")) return "left to a person";
    const char *verdict = text_of(record, "verdict");
    size_t n = strlen(verdict);
    if (text_eq(key, "note") && n && strncmp(s, verdict, n) == 0 && strncmp(s + n, ": ", 2) == 0) return s + n + 2;
    return s;
}

/* From `*at` to `stop`, which is not copied. false: a field is absent. */
static bool part(struct buf *out, const char **at, char stop, const json_t *record)
{
    bool whole = true;
    while (**at && **at != stop) {
        if (**at == '{') {
            char key[32];
            size_t n = strcspn(*at, "}");
            CHECK(n > 1 && n < sizeof key);
            memcpy(key, *at + 1, n - 1);
            key[n - 1] = '\0';
            const char *value = value_of(record, key);
            whole = whole && value[0];
            buf_puts(out, value);
            *at += n + 1;
        } else if (**at == '[') {
            struct buf inner = BUF_INIT;
            (*at)++;
            if (part(&inner, at, ']', record)) buf_puts(out, buf_text(&inner));
            buf_free(&inner);
            (*at)++;
        } else {
            buf_putc(out, *(*at)++);
        }
    }
    return whole;
}

void story_fill(struct buf *out, const char *pattern, const json_t *record) { (void)part(out, &pattern, '\0', record); }

static void line(struct buf *out, const char *heading, const char **last, const char *at, const char *day, const struct buf *text)
{
    bool again = text_eq(heading, *last);
    buf_printf(out, "%-9s ", again ? "" : heading);
    clock_text(out, at, day);
    buf_puts(out, "  ");
    buf_puts(out, buf_text(text));
    buf_putc(out, '\n');
    *last = heading;
}

static void tell(struct buf *out, const json_t *record, const char **last, const char *day)
{
    const char *kind = text_of(record, "kind");
    bool known = false;
    for (unsigned i = 0; i < ARRAY_LEN(sentences); i++) {
        struct buf b = BUF_INIT;
        if (!text_eq(kind, sentences[i].kind)) continue;
        known = true;
        story_fill(&b, sentences[i].pattern, record);
        if (b.len) line(out, sentences[i].heading, last, text_of(record, "at"), day, &b);
        buf_free(&b);
    }
    if (known) return;
    struct buf b = BUF_INIT;
    story_fill(&b, "{meaning}[: {note}].", record);
    line(out, "Then", last, text_of(record, "at"), day, &b);
    buf_free(&b);
}

static const char *ending(const json_t *records)
{
    const char *state = "nothing was changed";
    json_t *r;
    size_t i;
    json_array_foreach(records, i, r) {
        const char *kind = text_of(r, "kind"), *verdict = text_of(r, "verdict"), *outcome = text_of(r, "outcome");
        if (text_eq(kind, "INTENT")) state = "intended";
        else if (text_eq(kind, "APPLIED")) state = "in force, not judged yet";
        else if (text_eq(kind, "VERDICT")) state = text_eq(outcome, "keep") ? "kept" : verdict;
        else if (text_eq(kind, "UNDONE")) state = "taken back";
        else if (text_eq(kind, "FAILED")) state = "did not take effect";
        else if (text_eq(kind, "ABORTED")) state = "not sent";
        else if (text_eq(kind, "YIELDED") || text_eq(kind, "HELD")) state = "left to a person";
        else if (text_eq(kind, "UNDO-FAILED")) state = "could not be taken back; halted";
    }
    return state;
}

void story_tell(struct buf *out, const char *action, const json_t *records)
{
    const json_t *first = json_array_get(records, 0), *intent = NULL;
    const char *last = "", *day = text_of(first, "at");
    json_t *r;
    size_t i;
    json_array_foreach(records, i, r) {
        if (text_eq(text_of(r, "kind"), "INTENT")) intent = r;
    }
    buf_printf(out, "%s: ", action);
    if (intent) story_fill(out, "{knob} {from} -> {to}, ", intent);
    buf_printf(out, "%s. Times of %.10s UTC.\n\n", ending(records), day);
    json_array_foreach(records, i, r) tell(out, r, &last, day);
}
