#include "adapt/notify_alerts.h"

#include <stdlib.h>
#include <string.h>

#include "adapt/notify.h"
#include "base/check.h"
#include "base/text.h"

enum alert_kind { ALERT_INCIDENT, ALERT_PERSON, ALERT_HALTED, ALERT_NOTICE };
static const char *const alert_names[] = {"TrimtabIncident", "TrimtabPerson", "TrimtabHalted", "TrimtabNotice"};

struct alert {
    enum alert_kind kind;
    enum notice level;
    char service[POLICY_NAME_MAX + 1];
    char notice[128];
    uint64_t incident;
    struct wall from;
    int64_t ended;                   /* real time; INT64_MAX: open */
    struct told *first[2], *told[2]; /* how it began, and the newest words; English and Chinese */
};

struct alerts {
    struct alert **items;
    size_t n, cap;
    uint64_t version, dropped;
};

struct alerts *alerts_new(void) { return calloc(1, sizeof(struct alerts)); }

static void alert_free(struct alert *x)
{
    for (int i = 0; i < 2; i++) {
        if (x->first[i] != x->told[i]) told_free(x->first[i]);
        told_free(x->told[i]);
    }
    free(x);
}

void alerts_free(struct alerts *a)
{
    if (!a) return;
    for (size_t i = 0; i < a->n; i++) alert_free(a->items[i]);
    free(a->items);
    free(a);
}

uint64_t alerts_version(const struct alerts *a) { return a->version; }
uint64_t alerts_dropped(const struct alerts *a) { return a->dropped; }

static struct alert *find(const struct alerts *a, enum alert_kind kind, const char *service, uint64_t incident, const char *notice)
{
    for (size_t i = 0; i < a->n; i++) {
        struct alert *x = a->items[i];
        if (x->kind == kind && x->incident == incident && x->ended == INT64_MAX && text_eq(x->service, service) &&
            text_eq(x->notice, notice))
            return x;
    }
    return NULL;
}

static struct alert *open_alert(struct alerts *a, enum alert_kind kind, enum notice level, const char *service, uint64_t incident,
                                const char *notice)
{
    struct alert *x = find(a, kind, service, incident, notice);
    if (x) return x;
    if (a->n == ALERTS_MOST) {
        a->dropped++;
        return NULL;
    }
    if (a->n == a->cap) {
        a->cap = a->cap ? a->cap * 2 : 32;
        struct alert **grown = realloc(a->items, a->cap * sizeof *grown);
        CHECK_MEMORY(grown);
        a->items = grown;
    }
    x = calloc(1, sizeof *x);
    CHECK_MEMORY(x);
    x->kind = kind;
    x->level = level;
    x->incident = incident;
    x->ended = INT64_MAX;
    x->from = WALL_NONE;
    (void)text_copy(x->service, sizeof x->service, service);
    (void)text_copy(x->notice, sizeof x->notice, notice);
    a->items[a->n++] = x;
    return x;
}

static void say(struct alert *x, struct told *english, struct told *chinese, int64_t real_us)
{
    if (!x || !english || !chinese) {
        told_free(english);
        told_free(chinese);
        return;
    }
    /* A clock that runs fast for a demonstration is ahead of Alertmanager's. */
    if (x->from.us == WALL_NONE.us) x->from = english->at.us < real_us ? english->at : (struct wall){real_us};
    struct told *fresh[2] = {english, chinese};
    for (int i = 0; i < 2; i++) {
        if (!x->first[i]) x->first[i] = fresh[i];
        else if (x->told[i] != x->first[i]) told_free(x->told[i]);
        x->told[i] = fresh[i];
    }
}

static void end(struct alerts *a, enum alert_kind kind, const char *service, uint64_t incident, int64_t real_us)
{
    struct alert *x = find(a, kind, service, incident, "");
    if (x) x->ended = real_us;
}

static bool needs_person(const struct record *r)
{
    switch (r->kind) {
    case RECORD_HANDOVER:
    case RECORD_REQUEST:
    case RECORD_YIELDED:
    case RECORD_HELD: return true;
    case RECORD_INCIDENT:
    case RECORD_VERDICT: return record_severity(r) == 2;
    default: return false;
    }
}

static bool frees_person(enum record_kind k)
{
    return k == RECORD_APPROVAL || k == RECORD_REJECT || k == RECORD_VOID || k == RECORD_EXPIRED || k == RECORD_RETRY ||
           k == RECORD_ACCEPTED || k == RECORD_CLOSED;
}

/* Records of an incident name it; a few that end one name only the service, whose newest it is. */
static uint64_t incident_of(const struct alerts *a, const struct record *r)
{
    uint64_t n = record_get_u64(r, RF_INCIDENT, 0);
    for (size_t i = 0; i < a->n && n == 0; i++) {
        const struct alert *x = a->items[i];
        if (x->ended == INT64_MAX && x->incident && text_eq(x->service, record_get_text(r, RF_SERVICE))) n = x->incident;
    }
    return n;
}

void alerts_record(struct alerts *a, uint64_t seq, const struct record *r, const struct policy *p, int64_t real_us)
{
    const char *service = record_get_text(r, RF_SERVICE);
    uint64_t incident = incident_of(a, r);
    struct alert *x = incident && r->kind != RECORD_INCIDENT ? find(a, ALERT_INCIDENT, service, incident, "") : NULL;
    if (r->kind == RECORD_INCIDENT) x = open_alert(a, ALERT_INCIDENT, NOTICE_WARN, service, incident, "");
    if (x) say(x, told_of_record(seq, r, p, false, true), told_of_record(seq, r, p, true, true), real_us);
    if (needs_person(r) && incident)
        say(open_alert(a, ALERT_PERSON, NOTICE_PAGE, service, incident, ""), told_of_record(seq, r, p, false, true),
            told_of_record(seq, r, p, true, true), real_us);
    if (frees_person(r->kind)) end(a, ALERT_PERSON, service, incident, real_us);
    if (r->kind == RECORD_CLOSED || r->kind == RECORD_ACCEPTED) end(a, ALERT_INCIDENT, service, incident, real_us);
    if (r->kind == RECORD_HALT || r->kind == RECORD_UNDO_FAILED)
        say(open_alert(a, ALERT_HALTED, NOTICE_PAGE, service, 0, ""), told_of_record(seq, r, p, false, true),
            told_of_record(seq, r, p, true, true), real_us);
    if (r->kind == RECORD_RESUME) end(a, ALERT_HALTED, service, 0, real_us);
    a->version++;
}

void alerts_notice(struct alerts *a, struct wall at, enum notice level, const char *service, const char *subject, const char *text,
                   int64_t real_us)
{
    struct alert *x = open_alert(a, ALERT_NOTICE, level, service, 0, subject);
    if (!x) return;
    say(x, told_of_notice(0, at, level, service, subject, text, false), told_of_notice(0, at, level, service, subject, text, true),
        real_us);
    x->from = (struct wall){real_us};
    a->version++;
}

/* ---- the document ---- */

static void forget(struct alerts *a, int64_t real_us)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->n; i++) {
        struct alert *x = a->items[i];
        if (x->kind == ALERT_NOTICE && x->ended == INT64_MAX && real_us - x->from.us > ALERTS_NOTICE) x->ended = real_us;
        if (x->ended != INT64_MAX && real_us - x->ended > ALERTS_KEEP) alert_free(x);
        else a->items[kept++] = x;
    }
    a->n = kept;
}

static void member(struct buf *b, const char *key, const char *value, const char *last)
{
    buf_json_string(b, key, strlen(key));
    buf_putc(b, ':');
    buf_json_string(b, value, strlen(value));
    buf_puts(b, last);
}

static void time_member(struct buf *b, const char *key, int64_t us, const char *last)
{
    struct buf t = BUF_INIT;
    wall_print(&t, (struct wall){us});
    member(b, key, buf_text(&t), last);
    buf_free(&t);
}

static void watchdog(struct buf *b, const char *log, bool chinese, int64_t real_us)
{
    buf_puts(b, "{\"labels\":{\"alertname\":\"TrimtabWatchdog\",\"severity\":\"none\",");
    member(b, "log", log, "},\"annotations\":{");
    member(b, "summary", chinese ? "trimtab 正在运行。此告警消失即表示它已停止" : "trimtab is alive; when this alert ends, it is not", "},");
    time_member(b, "startsAt", real_us, ",");
    time_member(b, "endsAt", real_us + ALERTS_LAST, "}");
}

static void labels(struct buf *b, const struct alert *x, const char *log)
{
    buf_puts(b, "{\"labels\":{");
    member(b, "alertname", alert_names[x->kind], ",");
    if (x->service[0]) member(b, "service", x->service, ",");
    if (x->incident) {
        buf_puts(b, "\"incident\":\"");
        buf_u64(b, x->incident);
        buf_puts(b, "\",");
    }
    if (x->notice[0]) member(b, "notice", x->notice, ",");
    member(b, "severity", notify_level_name(x->level), ",");
    member(b, "log", log, "}");
}

static void lines(struct buf *out, const struct told *t)
{
    for (unsigned i = 0; i < t->detail_n; i++) {
        buf_printf(out, "%s%s: %s", out->len ? "\n" : "", t->details[i].label, t->details[i].value);
    }
}

static void print(struct buf *b, const struct alert *x, bool chinese, const char *log, const char *external_url, int64_t real_us)
{
    const struct told *t = x->told[chinese];
    struct buf text = BUF_INIT, link = BUF_INIT;
    lines(&text, t);
    if (x->first[chinese] != t) {
        buf_printf(&text, "%s%s", text.len ? "\n\n" : "", x->first[chinese]->title);
        lines(&text, x->first[chinese]);
    }
    labels(b, x, log);
    buf_puts(b, ",\"annotations\":{");
    member(b, "summary", t->title, ",");
    member(b, "description", buf_text(&text), "},");
    if (external_url) {
        buf_printf(&link, "%s%s", external_url, t->path);
        member(b, "generatorURL", buf_text(&link), ",");
    }
    int64_t ends = x->ended == INT64_MAX ? real_us + ALERTS_LAST : x->ended;
    time_member(b, "startsAt", x->from.us, ",");
    time_member(b, "endsAt", ends > x->from.us ? ends : x->from.us + US_PER_MS, "}");   /* must lie after its start */
    buf_free(&text);
    buf_free(&link);
}

size_t alerts_print(struct alerts *a, struct buf *out, size_t from, unsigned least, bool chinese, const char *log,
                    const char *external_url, int64_t real_us)
{
    unsigned told = 0;
    if (from == 0) forget(a, real_us);
    buf_putc(out, '[');
    if (from == 0) {
        watchdog(out, log, chinese, real_us);
        told++;
    }
    size_t i = from;
    for (; i < a->n && told < ALERTS_BATCH; i++) {
        if ((unsigned)a->items[i]->level < least || !a->items[i]->told[0]) continue;
        if (told++) buf_putc(out, ',');
        print(out, a->items[i], chinese, log, external_url, real_us);
    }
    buf_putc(out, ']');
    return i < a->n ? i : 0;
}

void alerts_print_test(struct buf *out, const char *receiver, const char *log, int64_t real_us)
{
    buf_puts(out, "[{\"labels\":{\"alertname\":\"TrimtabTest\",\"severity\":\"info\",");
    member(out, "receiver", receiver, ",");
    member(out, "log", log, "},\"annotations\":{\"summary\":\"trimtab test message\"},");
    time_member(out, "startsAt", real_us, ",");
    time_member(out, "endsAt", real_us + US_PER_MIN, "}]");
}
