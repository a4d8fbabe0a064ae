/* The log read into incidents, plans and changes of modes. */
#include <stdlib.h>
#include <string.h>

#include "app/report_inside.h"
#include "base/check.h"
#include "base/text.h"

static void *grow(void *array, size_t *n, size_t *cap, size_t size)
{
    if (*n == *cap) {
        *cap = *cap ? 2 * *cap : 32;
        array = realloc(array, *cap * size);
        CHECK_MEMORY(array);
    }
    memset((char *)array + *n * size, 0, size);
    (*n)++;
    return array;
}
#define PUSH(array, n, cap) ((array) = grow((array), &(n), &(cap), sizeof *(array)), &(array)[(n) - 1])

static const char *keep(struct report *r, const char *text)
{
    char *copy = text[0] ? arena_strdup(&r->arena, text) : NULL;
    return copy ? copy : "";
}

static const char *field(struct report *r, const struct record *x, enum record_field f) { return keep(r, record_get_text(x, f)); }

static struct report_service *service_of(struct report *r, const char *name, int64_t at)
{
    for (size_t i = 0; i < r->service_n; i++) {
        if (text_eq(r->services[i].name, name)) return &r->services[i];
    }
    struct report_service *s = PUSH(r->services, r->service_n, r->service_cap);
    *s = (struct report_service){.name = keep(r, name), .mode = "", .mode_since = INT64_MIN, .first = at};
    return s;
}

static struct report_incident *incident_of(struct report *r, const struct record *x)
{
    uint64_t number = record_get_u64(x, RF_INCIDENT, 0);
    const char *service = record_get_text(x, RF_SERVICE);
    for (size_t i = r->incident_n; i-- > 0;) {
        if (r->incidents[i].number == number && text_eq(r->incidents[i].service, service)) return &r->incidents[i];
    }
    return NULL;
}

static void take_incident(struct report *r, const struct record *x, int64_t at)
{
    if (at > r->request.until.us || incident_of(r, x)) return;
    struct report_incident *i = PUSH(r->incidents, r->incident_n, r->incident_cap);
    *i = (struct report_incident){.service = field(r, x, RF_SERVICE), .symptom = field(r, x, RF_SYMPTOM),
                                  .number = record_get_u64(x, RF_INCIDENT, 0), .opened = at, .closed = INT64_MAX,
                                  .handover = "", .advice = "", .closed_gates = "", .feedback = "", .feedback_by = "",
                                  .comment = ""};
}

/* A request that is approved becomes an action by the same plan. */
static struct report_plan *plan_of(struct report *r, const struct record *x)
{
    if (!record_has(x, RF_PLAN)) return NULL;
    for (size_t i = r->plan_n; i-- > 0;) {
        struct report_plan *p = &r->plans[i];
        const struct report_incident *of = &r->incidents[p->incident];
        bool same = memcmp(p->hash, x->v[RF_PLAN].hex32, 32) == 0 && text_eq(of->service, record_get_text(x, RF_SERVICE));
        if (same && (p->how != REPORT_ACTED || x->kind != RECORD_INTENT)) return p;
    }
    return NULL;
}

static void take_plan(struct report *r, const struct record *x, int64_t at, enum report_how how)
{
    struct report_incident *of = incident_of(r, x);
    struct report_plan *p = plan_of(r, x);
    if (!of || at > r->request.until.us) return;
    if (!p) {
        p = PUSH(r->plans, r->plan_n, r->plan_cap);
        *p = (struct report_plan){.incident = (uint32_t)(of - r->incidents), .at = at, .action = "", .ended = "", .verdict = "",
                                  .outcome = ""};
        if (record_has(x, RF_PLAN)) memcpy(p->hash, x->v[RF_PLAN].hex32, 32);
        p->knob = field(r, x, RF_KNOB);
        p->from = field(r, x, RF_FROM);
        p->to = field(r, x, RF_TO);
        p->cause = field(r, x, RF_CAUSE);
        p->gates = field(r, x, RF_GATES);
        p->values = field(r, x, RF_VALUES);
        p->mode = field(r, x, RF_MODE);
        p->by = field(r, x, RF_BY);
    }
    if (how > p->how) p->how = how;
    if (how == REPORT_ACTED) p->action = field(r, x, RF_ACTION);
    if (how == REPORT_ACTED) p->by = field(r, x, RF_BY);
    of->planned = true;
    of->acted = of->acted || how == REPORT_ACTED;
}

/* What became of a request or an action. */
static void take_end(struct report *r, const struct record *x)
{
    const char *action = record_get_text(x, RF_ACTION);
    struct report_plan *p = NULL;
    for (size_t i = r->plan_n; action[0] && i-- > 0 && !p;) {
        if (text_eq(r->plans[i].action, action)) p = &r->plans[i];
    }
    if (!p && !action[0]) p = plan_of(r, x);
    if (!p) return;
    p->ended = record_kind_name(x->kind);
    if (x->kind == RECORD_APPROVAL || x->kind == RECORD_REJECT) p->by = field(r, x, RF_BY);
    if (x->kind != RECORD_VERDICT) return;
    p->verdict = field(r, x, RF_VERDICT);
    p->outcome = field(r, x, RF_OUTCOME);
}

static void take_mode(struct report *r, const struct record *x, int64_t at)
{
    struct report_service *s = service_of(r, record_get_text(x, RF_SERVICE), at);
    struct report_mode *m = PUSH(r->modes, r->mode_n, r->mode_cap);
    *m = (struct report_mode){.service = s->name, .class = field(r, x, RF_CLASS), .from = field(r, x, RF_FROM),
                              .to = field(r, x, RF_TO), .by = field(r, x, RF_BY), .revision = field(r, x, RF_POLICY), .at = at};
    if (m->class[0]) return;
    s->mode = m->to;
    s->mode_since = at;
}

static void take_word(struct report *r, const struct record *x)
{
    struct report_incident *i = incident_of(r, x);
    if (!i) return;
    switch (x->kind) {
    case RECORD_CLOSED:
    case RECORD_ACCEPTED:
        i->closed = record_get_i64(x, RF_AT, 0);
        i->closed_gates = field(r, x, RF_GATES);
        break;
    case RECORD_HANDOVER:
        i->handover = field(r, x, RF_REASON);
        i->advice = field(r, x, RF_NOTE);
        break;
    case RECORD_FEEDBACK:
        i->feedback = field(r, x, RF_OUTCOME);
        i->feedback_by = field(r, x, RF_BY);
        i->comment = field(r, x, RF_NOTE);
        break;
    default: break;
    }
}

static void take(struct report *r, const struct record *x)
{
    int64_t at = record_get_i64(x, RF_AT, 0);
    const char *name = record_get_text(x, RF_SERVICE);
    if (!name[0] || (r->request.service && !text_eq(name, r->request.service))) return;
    struct report_service *s = service_of(r, name, at);
    if (!s->mode[0] || s->mode_since == INT64_MIN) {
        const char *mode = record_get_text(x, RF_MODE);
        if (mode[0] && x->kind != RECORD_MODE && !text_eq(mode, s->mode)) s->mode = keep(r, mode);
    }
    switch (x->kind) {
    case RECORD_INCIDENT: take_incident(r, x, at); break;
    case RECORD_WOULD: take_plan(r, x, at, REPORT_WOULD); break;
    case RECORD_REQUEST: take_plan(r, x, at, REPORT_ASKED); break;
    case RECORD_INTENT: take_plan(r, x, at, REPORT_ACTED); break;
    case RECORD_MODE: take_mode(r, x, at); break;
    case RECORD_CLOSED:
    case RECORD_ACCEPTED:
    case RECORD_HANDOVER:
    case RECORD_FEEDBACK: take_word(r, x); break;
    default: take_end(r, x); break;
    }
}

/* ---- the part of the log ---- */

struct reading { struct report *r; uint64_t from, n; int64_t at; bool found; };

static bool see(void *arg, const struct store_entry *x)
{
    struct reading *s = arg;
    s->at = record_get_i64(x->record, RF_AT, INT64_MIN);
    s->found = true;
    return false;
}

static enum status time_of(const struct report_source *source, uint64_t seq, int64_t *ret, struct err *e)
{
    struct reading s = {0};
    enum status st = source->records(source->ctx, seq, &(struct store_sink){see, &s}, e);
    *ret = s.found ? s.at : INT64_MAX;
    return st;
}

/* Times in the log grow, but for steps of the clock, which a day before --since makes up for. */
static enum status first_record(const struct report_source *source, int64_t since, uint64_t *ret, struct err *e)
{
    uint64_t low = 0, high = source->size;
    enum status s = STATUS_OK;
    while (low < high && s == STATUS_OK) {
        uint64_t mid = low + (high - low) / 2;
        int64_t at;
        s = time_of(source, mid, &at, e);
        if (at < since) low = mid + 1;
        else high = mid;
    }
    *ret = low;
    return s;
}

static bool take_entry(void *arg, const struct store_entry *x)
{
    struct reading *s = arg;
    int64_t at = record_get_i64(x->record, RF_AT, INT64_MIN);
    if (at < s->r->log_begins) s->r->log_begins = at;
    /* A mode that was set before counts still. */
    if (at >= s->r->request.since.us || x->record->kind == RECORD_MODE) take(s->r, x->record);
    return true;
}

enum status report_gather(struct report *r, const struct report_source *source, struct err *e)
{
    struct reading s = {.r = r};
    uint64_t from = 0;
    r->log_begins = INT64_MAX;
    enum status st = STATUS_OK;
    if (source->size > 0) st = time_of(source, 0, &r->log_begins, e);
    bool long_log = r->request.records_max && source->size > r->request.records_max;
    if (st == STATUS_OK && long_log) st = first_record(source, r->request.since.us - US_PER_DAY, &from, e);
    if (st == STATUS_OK && r->request.records_max && source->size - from > r->request.records_max) {
        st = err_set(e, STATUS_LIMIT, "%llu records are too many for an answer; ask for a shorter time, or on its machine: "
                     "trimtab report --offline --data FOLDER", (unsigned long long)(source->size - from));
    }
    if (st == STATUS_OK) st = source->records(source->ctx, from, &(struct store_sink){take_entry, &s}, e);
    return st;
}

void report_free(struct report *r)
{
    free(r->incidents);
    free(r->plans);
    free(r->modes);
    free(r->services);
    arena_free(&r->arena);
}
