/* The report as one object. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/report_inside.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"
#include "stats/order.h"
#include "stats/rate.h"

#define PLANS_MAX 500                  /* with what the signals did; all are counted */
#define PART_US (REPORT_SETTLED.us / REPORT_PARTS)
#define PART_POINTS 2048

static const char *const how_names[] = {"would", "asked", "acted"};
static const char *const came_names[REPORT_CAME_COUNT] = {"hit", "false-plan", "no-help", "unclear", "pending"};
static const char *const fate_names[REPORT_FATE_COUNT] = {"planned", "miss", "told", "passed", "false-alarm",
                                                            "report-only", "open"};

/* ---- what the signals did next ---- */

struct named { char name[POLICY_NAME_MAX + 1], unit[16]; };

/* "latency_p99 46.8 ms, queue_depth 320": the record names first what users feel. */
static unsigned names_of(const char *values, struct named out[REPORT_SIGNALS])
{
    unsigned n = 0;
    while (*values && n < REPORT_SIGNALS) {
        const char *end = strstr(values, ", "), *stop = end ? end : values + strlen(values);
        const char *blank = memchr(values, ' ', (size_t)(stop - values));
        const char *second = blank ? memchr(blank + 1, ' ', (size_t)(stop - blank - 1)) : NULL;
        bool number = blank && strchr("+-.0123456789", blank[1]);
        if (number && (size_t)(blank - values) < sizeof out[n].name) {
            memcpy(out[n].name, values, (size_t)(blank - values));
            out[n].name[blank - values] = '\0';
            size_t unit = second ? (size_t)(stop - second - 1) : 0;
            if (unit >= sizeof out[n].unit) unit = 0;
            if (unit) memcpy(out[n].unit, second + 1, unit);
            out[n++].unit[unit] = '\0';
        }
        values = end ? end + 2 : stop;
    }
    return n;
}

struct parts { int64_t at; double *values[REPORT_PARTS + 1]; size_t n[REPORT_PARTS + 1]; };

static bool add_point(void *arg, const struct store_step *step)
{
    struct parts *p = arg;
    int64_t part = (step->at - p->at + PART_US) / PART_US;
    if (part < 0 || part > REPORT_PARTS || step->known == 0 || p->n[part] == PART_POINTS) return true;
    p->values[part][p->n[part]++] = step->last;
    return true;
}

static void after(struct emit *e, const struct report_source *source, const char *service, const char *values, int64_t at)
{
    struct named names[REPORT_SIGNALS];
    unsigned n = source->points ? names_of(values, names) : 0;
    double *room = calloc((REPORT_PARTS + 1) * PART_POINTS, sizeof *room);
    emit_open(e, "next_30m", '[');
    for (unsigned i = 0; i < n && room; i++) {
        struct parts p = {.at = at};
        for (int k = 0; k <= REPORT_PARTS; k++) p.values[k] = room + (size_t)k * PART_POINTS;
        struct store_step_sink sink = {add_point, &p};
        struct err ignored;              /* points that are gone or damaged are not known, which null says */
        (void)source->points(source->ctx, service, names[i].name, at - PART_US, at + REPORT_SETTLED.us, &sink, &ignored);
        emit_open(e, NULL, '{');
        emit_text(e, "signal", names[i].name);
        emit_text(e, "unit", names[i].unit);
        emit_number(e, "before", p.n[0] ? stats_median(p.values[0], p.n[0]) : (double)NAN);
        emit_open(e, "after", '[');
        for (int k = 1; k <= REPORT_PARTS; k++) emit_number(e, NULL, p.n[k] ? stats_median(p.values[k], p.n[k]) : (double)NAN);
        emit_close(e, ']');
        emit_close(e, '}');
    }
    emit_close(e, ']');
    free(room);
}

/* ---- plans and incidents ---- */

/* The codes of those shut gates that speak of this plan's knob; the others stopped candidates before it. */
static void stopped_by(struct emit *e, const struct report_plan *p)
{
    char about[POLICY_NAME_MAX + 4];
    snprintf(about, sizeof about, "(%s ", p->knob);
    emit_open(e, "stopped_by", '[');
    for (const char *g = p->gates; *g;) {
        const char *end = strstr(g, "; "), *stop = end ? end : g + strlen(g);
        const char *place = strstr(g, about), *open = memchr(g, ' ', (size_t)(stop - g));
        bool ours = place && place < stop;
        if (ours && open) {
            char code[40];
            snprintf(code, sizeof code, "%.*s", (int)(open - g < 39 ? open - g : 39), g);
            emit_text(e, NULL, code);
        }
        g = end ? end + 2 : stop;
    }
    emit_close(e, ']');
}

static void plan(struct emit *e, const struct report *r, const struct report_source *source, const struct report_plan *p)
{
    const struct report_incident *i = &r->incidents[p->incident];
    emit_open(e, NULL, '{');
    emit_wall(e, "at", (struct wall){p->at});
    emit_text(e, "service", i->service);
    emit_int(e, "incident", (int64_t)i->number);
    emit_text(e, "symptom", i->symptom);
    emit_text_or_null(e, "cause", p->cause);
    emit_text(e, "knob", p->knob);
    emit_text(e, "from", p->from);
    emit_text(e, "to", p->to);
    emit_text(e, "how", how_names[p->how]);
    emit_text(e, "came", came_names[p->came]);
    emit_text_or_null(e, "mode", p->mode);
    emit_text_or_null(e, "by", p->by);
    emit_text_or_null(e, "action", p->action);
    emit_text_or_null(e, "ended", p->ended);
    emit_text_or_null(e, "verdict", p->verdict);
    emit_text_or_null(e, "outcome", p->outcome);
    stopped_by(e, p);
    emit_text_or_null(e, "gates", p->gates);
    emit_text_or_null(e, "feedback", i->feedback);
    emit_wall(e, "incident_closed", (struct wall){i->closed == INT64_MAX ? WALL_NONE.us : i->closed});
    after(e, source, i->service, p->values, p->at);
    emit_close(e, '}');
}

static void incident(struct emit *e, const struct report_incident *i)
{
    emit_open(e, NULL, '{');
    emit_text(e, "service", i->service);
    emit_int(e, "incident", (int64_t)i->number);
    emit_text(e, "symptom", i->symptom);
    emit_wall(e, "opened", (struct wall){i->opened});
    emit_wall(e, "closed", (struct wall){i->closed == INT64_MAX ? WALL_NONE.us : i->closed});
    emit_text(e, "fate", fate_names[i->fate]);
    emit_text_or_null(e, "handed_over", i->handover);
    emit_text_or_null(e, "advice", i->advice);
    emit_text_or_null(e, "feedback", i->feedback);
    emit_text_or_null(e, "feedback_by", i->feedback_by);
    emit_text_or_null(e, "comment", i->comment);
    emit_close(e, '}');
}

/* ---- one service ---- */

struct tally {
    uint64_t how[3], came[REPORT_CAME_COUNT], fate[REPORT_FATE_COUNT], verdicts[VERDICT_COUNT];
    uint64_t incidents, rejected, expired, undone, feedback[3];   /* false, true, useful */
    double days, days_in_mode;
};

static void count_plan(struct tally *t, const struct report_plan *p)
{
    enum verdict v;
    t->how[p->how]++;
    t->came[p->came]++;
    t->rejected += text_eq(p->ended, "REJECT");
    t->expired += text_eq(p->ended, "EXPIRED");
    t->undone += text_eq(p->ended, "UNDONE");
    if (p->verdict[0] && verdict_parse(p->verdict, &v)) t->verdicts[v]++;
}

static struct tally tally_of(const struct report *r, const struct report_service *s)
{
    struct tally t = {0};
    int64_t begin = r->request.since.us > r->log_begins ? r->request.since.us : r->log_begins;
    int64_t mode_from = s->mode_since > begin ? s->mode_since : begin, until = r->request.until.us;
    t.days = until > begin ? (double)(until - begin) / (double)US_PER_DAY : 0;
    t.days_in_mode = until > mode_from ? (double)(until - mode_from) / (double)US_PER_DAY : 0;
    for (size_t k = 0; k < r->plan_n; k++) {
        if (text_eq(r->incidents[r->plans[k].incident].service, s->name)) count_plan(&t, &r->plans[k]);
    }
    for (size_t k = 0; k < r->incident_n; k++) {
        const struct report_incident *i = &r->incidents[k];
        if (!text_eq(i->service, s->name)) continue;
        t.incidents++;
        t.fate[i->fate]++;
        if (i->feedback[0]) t.feedback[text_eq(i->feedback, "false") ? 0 : text_eq(i->feedback, "true") ? 1 : 2]++;
    }
    return t;
}

static void rate(struct emit *e, const char *key, uint64_t hits, uint64_t of)
{
    struct stats_bounds b = stats_wilson((double)hits, (double)of, STATS_Z95);
    emit_open(e, key, '{');
    emit_int(e, "n", (int64_t)hits);
    emit_int(e, "of", (int64_t)of);
    emit_number(e, "value", of ? (double)hits / (double)of : (double)NAN);
    emit_number(e, "low", b.lo);
    emit_number(e, "high", b.hi);
    emit_close(e, '}');
}

/* One criterion: a sentence for or against. */
struct argument { bool good; char text[160]; };
struct arguments { struct argument items[8]; unsigned n; };

static void argue(struct arguments *a, bool good, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void argue(struct arguments *a, bool good, const char *fmt, ...)
{
    struct buf b = BUF_INIT;
    va_list ap;
    CHECK(a->n < ARRAY_LEN(a->items));
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    a->items[a->n].good = good;
    (void)text_copy(a->items[a->n++].text, sizeof a->items[0].text, buf_text(&b));
    buf_free(&b);
}

static unsigned u(uint64_t n) { return n < UINT32_MAX ? (unsigned)n : UINT32_MAX; }

static void argue_days(struct arguments *a, const struct tally *t, const char *mode, int want)
{
    argue(a, t->days_in_mode >= want, "%d days in mode %s within this report; %d are wanted", (int)t->days_in_mode, mode, want);
}

static void argue_false(struct arguments *a, const struct tally *t)
{
    unsigned all = u(t->feedback[0] + t->feedback[1] + t->feedback[2]);
    if (all) argue(a, t->feedback[0] == 0, "%u of %u incidents that people judged were false alarms", u(t->feedback[0]), all);
    else argue(a, false, "nobody has judged an incident yet: trimtab feedback SERVICE/N false|true|useful");
}

static void argue_confirm(struct arguments *a, const struct tally *t)
{
    uint64_t hits = t->came[REPORT_HIT], wrong = t->came[REPORT_FALSE_PLAN];
    argue_days(a, t, "alert", 7);
    argue(a, hits + wrong >= 3, "%u plans could be judged; 3 are wanted", u(hits + wrong));
    argue(a, 5 * wrong <= hits + wrong, "%u of them were false plans; at most a fifth should be", u(wrong));
    argue_false(a, t);
}

static void argue_auto(struct arguments *a, const struct tally *t)
{
    uint64_t good = t->verdicts[VERDICT_EFFECTIVE] + t->verdicts[VERDICT_PARTIAL];
    uint64_t bad = t->verdicts[VERDICT_INEFFECTIVE] + t->verdicts[VERDICT_HARMFUL];
    argue_days(a, t, "confirm", 14);
    argue(a, good + bad >= 5, "%u changes have a verdict; 5 are wanted", u(good + bad));
    argue(a, 5 * bad <= good + bad, "%u of them did not help; at most a fifth should not", u(bad));
    argue(a, t->verdicts[VERDICT_HARMFUL] == 0, "%u harmful verdicts", u(t->verdicts[VERDICT_HARMFUL]));
    argue(a, t->rejected == 0, "%u plans were rejected by a person", u(t->rejected));
    argue_false(a, t);
}

/* Advice, never an act: a mode changes in the file alone. */
static void promotion(struct emit *e, const struct report_service *s, const struct tally *t)
{
    struct arguments a = {.n = 0};
    bool alert = text_eq(s->mode, "alert"), confirm = text_eq(s->mode, "confirm"), all = true;
    if (alert) argue_confirm(&a, t);
    else if (confirm) argue_auto(&a, t);
    for (unsigned i = 0; i < a.n; i++) all = all && a.items[i].good;
    emit_open(e, "promotion", '{');
    emit_text_or_null(e, "to", alert ? "confirm" : confirm ? "auto" : "");
    emit_text_or_null(e, "advice", a.n == 0 ? "" : all ? "ready" : "stay");
    for (int side = 0; side < 2; side++) {
        emit_open(e, side == 0 ? "for" : "against", '[');
        for (unsigned i = 0; i < a.n; i++) {
            if (a.items[i].good == (side == 0)) emit_text(e, NULL, a.items[i].text);
        }
        emit_close(e, ']');
    }
    emit_close(e, '}');
}

static void numbers(struct emit *e, const char *key, const char *const *names, const uint64_t *counts, unsigned n)
{
    emit_open(e, key, '{');
    for (unsigned i = 0; i < n; i++) emit_int(e, names[i], (int64_t)counts[i]);
    emit_close(e, '}');
}

static void modes(struct emit *e, const struct report *r, const struct report_service *s)
{
    emit_open(e, "mode_changes", '[');
    for (size_t k = 0; k < r->mode_n; k++) {
        const struct report_mode *m = &r->modes[k];
        if (!text_eq(m->service, s->name)) continue;
        emit_open(e, NULL, '{');
        emit_wall(e, "at", (struct wall){m->at});
        emit_text_or_null(e, "class", m->class);
        emit_text(e, "from", m->from);
        emit_text(e, "to", m->to);
        emit_text_or_null(e, "by", m->by);
        emit_text_or_null(e, "revision", m->revision);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void service(struct emit *e, const struct report *r, const struct report_service *s)
{
    static const char *const words[] = {"false", "true", "useful"};
    struct tally t = tally_of(r, s);
    uint64_t said = t.feedback[0] + t.feedback[1] + t.feedback[2];
    emit_open(e, NULL, '{');
    emit_text(e, "service", s->name);
    emit_text_or_null(e, "mode", s->mode);
    emit_number(e, "observed_days", rint(t.days * 100) / 100);
    emit_int(e, "incidents", (int64_t)t.incidents);
    numbers(e, "fates", fate_names, t.fate, REPORT_FATE_COUNT);
    numbers(e, "plans", how_names, t.how, 3);
    numbers(e, "came", came_names, t.came, REPORT_CAME_COUNT);
    emit_open(e, "verdicts", '{');
    for (unsigned v = VERDICT_NONE + 1; v < VERDICT_COUNT; v++) emit_int(e, verdict_name((enum verdict)v), (int64_t)t.verdicts[v]);
    emit_close(e, '}');
    emit_int(e, "rejected", (int64_t)t.rejected);
    emit_int(e, "expired", (int64_t)t.expired);
    emit_int(e, "taken_back", (int64_t)t.undone);
    numbers(e, "feedback", words, t.feedback, 3);
    rate(e, "false_alarm_rate", t.feedback[0], said);
    rate(e, "false_plan_rate", t.came[REPORT_FALSE_PLAN], t.came[REPORT_FALSE_PLAN] + t.came[REPORT_HIT]);
    modes(e, r, s);
    promotion(e, s, &t);
    emit_close(e, '}');
}

static void data(struct emit *e, const struct report *r, const struct report_source *source)
{
    uint64_t wrong = 0, said = 0;
    emit_open(e, "data", '{');
    emit_wall(e, "since", r->request.since);
    emit_wall(e, "until", r->request.until);
    emit_wall(e, "log_begins", (struct wall){r->log_begins == INT64_MAX ? WALL_NONE.us : r->log_begins});
    emit_open(e, "services", '[');
    for (size_t i = 0; i < r->service_n; i++) service(e, r, &r->services[i]);
    emit_close(e, ']');
    emit_open(e, "plans", '[');
    for (size_t i = 0; i < r->plan_n && i < PLANS_MAX; i++) plan(e, r, source, &r->plans[i]);
    emit_close(e, ']');
    emit_int(e, "plans_left_out", r->plan_n > PLANS_MAX ? (int64_t)(r->plan_n - PLANS_MAX) : 0);
    emit_open(e, "incidents", '[');
    for (size_t i = 0; i < r->incident_n; i++) {
        incident(e, &r->incidents[i]);
        said += r->incidents[i].feedback[0] != '\0';
        wrong += text_eq(r->incidents[i].feedback, "false");
    }
    emit_close(e, ']');
    rate(e, "false_alarm_rate", wrong, said);
    emit_close(e, '}');
}

enum status report_make(const struct report_source *source, const struct report_request *request, struct emit *out, struct err *e)
{
    struct report r = {.request = *request};
    enum status s = report_gather(&r, source, e);
    if (s == STATUS_OK) {
        report_judge(&r);
        data(out, &r, source);
    }
    report_free(&r);
    return s;
}
