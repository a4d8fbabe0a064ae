#include "adapt/notify.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapt/log.h"
#include "adapt/notify_inside.h"
#include "base/check.h"
#include "base/text.h"

#define PULL_MOST 500                /* records of one turn, so that a long past does not hold the loop */
#define SAVE_AFTER_US 20000
#define LOG_AGAIN_US US_PER_S        /* after the log could not be read */
#define NEXT_TURN_US 1000            /* of a long past; others come in between */

const char *notify_level_name(enum notice level)
{
    static const char *const names[] = {[NOTICE_INFO] = "info", [NOTICE_WARN] = "warning", [NOTICE_PAGE] = "page"};
    return names[level];
}

static int64_t clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

int64_t notify_now(void) { return clock_us(CLOCK_MONOTONIC); }
int64_t notify_real(void) { return clock_us(CLOCK_REALTIME); }

const struct receiver_def *notify_def(const struct notify *n, const struct receiver *r)
{
    const struct policy *p = n->a->policy(n->a->ctx);
    return r->index < p->receiver_count ? &p->receivers[r->index] : NULL;
}

static void timer(struct event *e, int64_t us)
{
    struct timeval tv = {us / US_PER_S, us % US_PER_S};
    CHECK_MEMORY(evtimer_add(e, &tv) == 0);
}

void notify_dirty(struct notify *n)
{
    if (n->dirty || !n->open) return;
    n->dirty = true;
    timer(n->save, SAVE_AFTER_US);
}

/* ---- the daemon's own notices ---- */

static void own_free(struct own_notice *o)
{
    free(o->service);
    free(o->subject);
    free(o->text);
}

struct find { uint64_t number; bool found; };

static void see(void *arg, uint64_t number)
{
    struct find *f = arg;
    f->found = f->found || number == f->number;
}

/* Those that every receiver is done with. */
void notify_forget_own(struct notify *n)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n->notice_n; i++) {
        struct find f = {n->notices[i].number | TOLD_NOTICE, false};
        for (unsigned k = 0; k < n->receiver_n && !f.found; k++) queue_notices(&n->receivers[k]->queue, see, &f);
        if (f.found) n->notices[kept++] = n->notices[i];
        else own_free(&n->notices[i]);
    }
    n->notice_n = kept;
}

static bool is_programs(enum receiver_type t) { return t == RECEIVER_WEBHOOK; }
static bool is_merging(enum receiver_type t) { return t != RECEIVER_WEBHOOK && t != RECEIVER_GRAFANA; }

static bool in_chinese(const struct receiver_def *d) { return d->chinese && !is_programs(d->type); }

static void add_body(const struct notify *n, const struct receiver_def *d, struct told *t, const struct record *r)
{
    char id[NOTIFY_ID];
    if (d->type == RECEIVER_GRAFANA) notify_annotation(&t->body, t);
    if (d->type != RECEIVER_WEBHOOK) return;
    notify_id(id, n->log.name, d->name, &t->number, 1);
    notify_document(&t->body, t->number, r, t, id, d->name, n->a->policy(n->a->ctx)->web.external_url);
}

bool notify_add_own(struct notify *n, struct receiver *r, const struct own_notice *o)
{
    const struct receiver_def *d = notify_def(n, r);
    if (!d || d->type == RECEIVER_ALERTMANAGER || (unsigned)o->level < d->least) return false;
    if (queue_waiting(&r->queue) >= 2 * QUEUE_MOST) {
        if (r->dropped++ == 0)
            log_line(LEVEL_WARN, "notify", "too much waits for a receiver; what the log does not hold is left out", "receiver",
                     r->name, NULL);
        return false;
    }
    struct told *t = told_of_notice(o->number, o->at, o->level, o->service, o->subject, o->text, in_chinese(d));
    add_body(n, d, t, NULL);
    queue_add(&r->queue, t, notify_now());
    return true;
}

static char *copy(const char *text)
{
    char *c = strdup(text);
    CHECK_MEMORY(c);
    return c;
}

static void tell_own(struct notify *n, const char *service, const struct effect *e)
{
    struct instant now;
    struct wall wall;
    n->a->now(n->a->ctx, &now, &wall);
    alerts_notice(n->alerts, wall, e->u.notify.level, service, e->u.notify.subject, e->u.notify.text, notify_real());
    struct own_notice o = {.number = ++n->notice_next, .at = wall, .level = e->u.notify.level, .service = copy(service),
                           .subject = copy(e->u.notify.subject), .text = copy(e->u.notify.text)};
    bool taken = false;
    for (unsigned i = 0; i < n->receiver_n; i++) taken = notify_add_own(n, n->receivers[i], &o) || taken;
    if (taken && n->notice_n < NOTICES_MOST) n->notices[n->notice_n++] = o;
    else own_free(&o);
    notify_state_save(n);                /* no record says it again after a crash */
    notify_pump(n);
}

static void tell(void *ctx, const struct policy *p, const struct effect *e)
{
    static const enum log_level levels[] = {[NOTICE_INFO] = LEVEL_INFO, [NOTICE_WARN] = LEVEL_WARN, [NOTICE_PAGE] = LEVEL_ERROR};
    struct notify *n = ctx;
    const char *service = e->service < p->service_count ? p->services[e->service].name : "";
    n->counters.notices[e->u.notify.level]++;
    log_line(levels[e->u.notify.level], "notice", e->u.notify.subject, "service", service, "severity",
             notify_level_name(e->u.notify.level), "text", e->u.notify.text, NULL);
    if (!e->u.notify.recorded && n->open && !n->ending) tell_own(n, service, e);
}

/* ---- from the log ---- */

/* What ends something that was told is told too, whatever its severity. */
static bool is_wanted(const struct receiver_def *d, const struct record *r)
{
    return record_severity(r) >= d->least || r->kind == RECORD_RESUME || (r->kind == RECORD_CLOSED && d->least < 2);
}

static void take(struct notify *n, struct receiver *r, uint64_t seq, const struct record *record)
{
    const struct receiver_def *d = notify_def(n, r);
    r->queue.next = seq + 1;
    if (!d || d->type == RECEIVER_ALERTMANAGER || !is_wanted(d, record) || queue_is_late(&r->queue, seq)) return;
    struct told *t = told_of_record(seq, record, n->a->policy(n->a->ctx), in_chinese(d), !is_programs(d->type));
    if (!t) return;
    add_body(n, d, t, record);
    queue_add(&r->queue, t, notify_now());
}

struct pulling { struct notify *n; unsigned left; };

static bool on_entry(void *arg, uint64_t seq, const struct record *record)
{
    struct pulling *p = arg;
    struct notify *n = p->n;
    bool wanted = false;
    if (n->alerting && n->alerts_next == seq) {
        alerts_record(n->alerts, seq, record, n->a->policy(n->a->ctx), notify_real());
        n->alerts_next = seq + 1;
        wanted = true;
    }
    for (unsigned i = 0; i < n->receiver_n; i++) {
        struct receiver *r = n->receivers[i];
        if (r->queue.next != seq || !queue_room(&r->queue)) continue;
        take(n, r, seq, record);
        wanted = true;
    }
    return wanted && --p->left > 0;
}

/* The lowest number that somebody can take; the log's size when there is none. */
static uint64_t pull_from(const struct notify *n, uint64_t size)
{
    uint64_t from = n->alerting && n->alerts_next < size ? n->alerts_next : size;
    for (unsigned i = 0; i < n->receiver_n; i++) {
        const struct queue *q = &n->receivers[i]->queue;
        if (queue_room(q) && q->next < from) from = q->next;
    }
    return from;
}

void notify_pull(struct notify *n)
{
    struct pulling p = {n, PULL_MOST};
    uint64_t size = n->open ? n->log.size(n->log.ctx) : 0, from;
    n->pull_at = QUEUE_NEVER;
    if (!n->open || n->ending) return;
    while (p.left > 0 && (from = pull_from(n, size)) < size) {
        unsigned before = p.left;
        if (!n->log.read(n->log.ctx, from, on_entry, &p) || p.left == before) {
            n->pull_at = notify_now() + LOG_AGAIN_US;
            return;
        }
    }
    if (pull_from(n, size) < size) n->pull_at = notify_now() + NEXT_TURN_US;
    n->alerts_whole = n->alerts_next >= size;
    notify_dirty(n);
}

static bool has_alertmanager(const struct policy *p)
{
    for (uint16_t i = 0; i < p->receiver_count; i++) {
        if (p->receivers[i].type == RECEIVER_ALERTMANAGER) return true;
    }
    return false;
}

void notify_replay(struct notify *n, uint64_t seq, const struct record *r)
{
    if (!has_alertmanager(n->a->policy(n->a->ctx))) return;
    alerts_record(n->alerts, seq, r, n->a->policy(n->a->ctx), notify_real());
    n->alerts_next = seq + 1;
}

void notify_grew(struct notify *n)
{
    if (!n->open || n->ending) return;
    notify_pull(n);
    notify_pump(n);
}

/* ---- pumping ---- */

void notify_pump(struct notify *n)
{
    int64_t now = notify_now(), wake = QUEUE_NEVER;
    if (!n->open || n->ending) return;
    for (unsigned i = 0; i < n->receiver_n; i++) {
        notify_send(n, n->receivers[i], now);
        int64_t at = notify_send_wake(n, n->receivers[i]);
        if (at < wake) wake = at;
    }
    if (n->pull_at < wake) wake = n->pull_at;
    if (wake == QUEUE_NEVER) (void)evtimer_del(n->wake);
    else timer(n->wake, wake > now ? wake - now : 0);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct notify *n = arg;
    (void)fd;
    (void)what;
    notify_pull(n);
    notify_pump(n);
}

static void on_save(evutil_socket_t fd, short what, void *arg)
{
    struct notify *n = arg;
    (void)fd;
    (void)what;
    n->dirty = false;
    notify_forget_own(n);
    notify_state_save(n);
}

/* ---- receivers come and go ---- */

static struct receiver *receiver_new(struct notify *n, const struct receiver_def *d, uint64_t next)
{
    struct receiver *r = calloc(1, sizeof *r);
    CHECK_MEMORY(r);
    (void)n;
    (void)text_copy(r->name, sizeof r->name, d->name);
    r->good_at = INT64_MIN;
    r->alerts.done_at = INT64_MIN;
    queue_open(&r->queue, is_merging(d->type), d->rate, next);
    return r;
}

static void receiver_free(struct receiver *r)
{
    queue_close(&r->queue);
    free(r);
}

static struct receiver *take_out(struct receiver **list, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++) {
        struct receiver *r = list[i];
        if (!r || !text_eq(r->name, name)) continue;
        list[i] = NULL;
        return r;
    }
    return NULL;
}

static void drop(struct notify *n, struct receiver *r)
{
    unsigned waiting = queue_waiting(&r->queue);
    if (waiting)
        log_line(LEVEL_WARN, "notify", "a receiver is not in the configuration any more; what waited for it is left out",
                 "receiver", r->name, NULL);
    r->index = NO_INDEX;
    r->gone = true;
    if (r->running == 0) {
        receiver_free(r);
        return;
    }
    r->next_gone = n->gone;
    n->gone = r;
}

static void sync_receivers(struct notify *n)
{
    const struct policy *p = n->a->policy(n->a->ctx);
    uint64_t size = n->log.size(n->log.ctx);
    struct receiver **old = n->receivers;
    unsigned old_n = n->receiver_n;
    n->receivers = calloc(p->receiver_count ? p->receiver_count : 1, sizeof *n->receivers);
    CHECK_MEMORY(n->receivers);
    n->receiver_n = 0;
    for (uint16_t i = 0; i < p->receiver_count; i++) {
        const struct receiver_def *d = &p->receivers[i];
        struct receiver *r = take_out(old, old_n, d->name);
        if (r && r->type != d->type) {       /* another kind of thing under the same name: what waits has other bodies */
            drop(n, r);
            r = NULL;
        }
        if (!r) r = receiver_new(n, d, size);
        r->index = i;
        r->type = d->type;
        queue_set_rate(&r->queue, is_merging(d->type), d->rate);
        r->queue.retry_at = INT64_MIN;       /* a person may have mended what was wrong */
        n->receivers[n->receiver_n++] = r;
    }
    for (unsigned i = 0; i < old_n; i++) {
        if (old[i]) drop(n, old[i]);
    }
    free(old);
    n->alerting = has_alertmanager(p);   /* one that comes by a reload has what is open read from the log */
    n->alerts_whole = n->alerts_next >= size;
}

void notify_open(struct notify *n, const struct notify_log *log)
{
    n->log = *log;
    n->log_name = copy(log->name);       /* outlives the policy that it stands in */
    n->log.name = n->log_name;
    n->open = true;
    n->pull_at = QUEUE_NEVER;
    sync_receivers(n);
    notify_state_load(n);
    notify_pull(n);
    notify_state_save(n);
    notify_pump(n);
}

void notify_reload(struct notify *n)
{
    if (!n->open || n->ending) return;
    sync_receivers(n);
    notify_pull(n);
    notify_pump(n);
}

/* ---- life ---- */

struct notify *notify_new(const struct adapt *a)
{
    struct notify *n = calloc(1, sizeof *n);
    if (!n) return NULL;
    n->a = a;
    n->alerts = alerts_new();
    n->wake = evtimer_new(a->base, on_wake, n);
    n->save = evtimer_new(a->base, on_save, n);
    if (n->alerts && n->wake && n->save) return n;
    notify_free(n);
    return NULL;
}

void notify_end(struct notify *n)
{
    if (!n) return;
    n->ending = true;
    if (!n->open) return;
    notify_forget_own(n);
    notify_state_save(n);
}

void notify_free(struct notify *n)
{
    if (!n) return;
    for (unsigned i = 0; i < n->receiver_n; i++) receiver_free(n->receivers[i]);
    while (n->gone) {
        struct receiver *r = n->gone;
        n->gone = r->next_gone;
        receiver_free(r);
    }
    free(n->receivers);
    for (unsigned i = 0; i < n->notice_n; i++) own_free(&n->notices[i]);
    alerts_free(n->alerts);
    free(n->log_name);
    buf_free(&n->saved);
    if (n->wake) event_free(n->wake);
    if (n->save) event_free(n->save);
    free(n);
}

struct notify_port notify_port(struct notify *n) { return (struct notify_port){n, tell}; }

/* ---- what is seen of it ---- */

unsigned notify_receivers(const struct notify *n) { return n->receiver_n; }

static const char *state_of(const struct receiver *r)
{
    if (r->refused) return "refused";
    if (r->troubled) return "failing";
    return queue_waiting(&r->queue) || r->running ? "waiting" : "idle";
}

void notify_view(struct notify *n, unsigned i, struct notify_view *ret)
{
    const struct receiver *r = n->receivers[i];
    *ret = (struct notify_view){
        .name = r->name, .type = receiver_type_name(r->type), .state = state_of(r), .error = r->error, .sent = r->sent,
        .failed = r->failed, .dropped = r->dropped, .retried = r->retried, .waiting = queue_waiting(&r->queue), .up = !r->troubled,
        .since = {r->good_at == INT64_MIN ? -1 : notify_now() - r->good_at}};
}

void notify_counters(const struct notify *n, struct notify_counters *ret)
{
    *ret = n->counters;
    ret->dropped += alerts_dropped(n->alerts);
    for (unsigned i = 0; i < n->receiver_n; i++) {
        ret->sent += n->receivers[i]->sent;
        ret->failed += n->receivers[i]->failed;
        ret->dropped += n->receivers[i]->dropped;
        ret->waiting += queue_waiting(&n->receivers[i]->queue);
    }
}
