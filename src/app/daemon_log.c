/* The audit log: appends and their acks, folding it into the loop, and what happens when the store is in trouble. */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/daemon.h"
#include "base/check.h"
#include "base/text.h"
#include "loop/control.h"

#define RETRY_FULL_US (30 * US_PER_S)
#define UNQUEUED_US (6 * US_PER_S)     /* row 22 waits 5 s for an ack; a thaw before that would leave the service frozen */

/* ---- appends ---- */

static struct pending_append *push(struct daemon *d, const char *service, uint64_t loop_token)
{
    CHECK(d->pending_n < PENDING_MAX);
    struct pending_append *p = &d->pending[(d->pending_head + d->pending_n++) % PENDING_MAX];
    *p = (struct pending_append){.token = ++d->next_token, .loop_token = loop_token, .since = clock_monotonic_us()};
    (void)text_copy(p->service, sizeof p->service, service);
    return p;
}

static void tell_loop(struct daemon *d, const struct pending_append *p, const struct store_ack *ack)
{
    uint16_t service = policy_service(d->policy, p->service);
    struct event e = {.kind = EVENT_ACK, .service = service};
    if (service == NO_INDEX || p->loop_token == 0) return;
    e.u.ack.token = p->loop_token;
    e.u.ack.status = ack->status;
    e.u.ack.seq = ack->seq;
    daemon_step(d, &e);
}

static void store_went_bad(struct daemon *d, const char *why)
{
    if (d->store_frozen) return;
    d->store_frozen = true;
    d->store_bad_since = clock_monotonic_us();
    daemon_notice(d, NOTICE_PAGE, "the audit cannot be written; no change is made without it", why);
}

static void take_ack(struct daemon *d, const struct pending_append *p, const struct store_ack *ack)
{
    api_histogram_add(&d->append_seconds, (double)(clock_monotonic_us() - p->since) / 1e6);
    if (p->halt && ack->status == STATUS_OK) daemon_halt_recorded(d, p->service);
    if (ack->status != STATUS_OK) {
        if (p->halt) daemon_halt_keep(d, p->service, ack->text);
        log_line(LEVEL_ERROR, "store", "an audit record could not be written", "service", p->service, "error", ack->text, NULL);
        store_went_bad(d, ack->text);
    }
    if (ack->fatal) {
        log_line(LEVEL_ERROR, "store",
                 "the disk did not confirm a write; the daemon ends, and the log decides at the next start what has happened",
                 "error", ack->text, NULL);
        daemon_end(d, EXIT_STORE);
        return;
    }
    tell_loop(d, p, ack);
    if (ack->status == STATUS_OK) {
        stream_records(d->api.stream, ack->seq, ack->n);
        notify_grew(d->notify);
    }
    daemon_replies(d, p->token, ack->status == STATUS_OK);
}

void daemon_log_poll(struct daemon *d)
{
    struct store_ack acks[32];
    uint32_t n;
    while ((n = store_poll(d->store, acks, ARRAY_LEN(acks))) > 0) {
        for (uint32_t i = 0; i < n && d->pending_n > 0; i++) {
            struct pending_append p = d->pending[d->pending_head];
            CHECK(p.token == acks[i].token);
            d->pending_head = (d->pending_head + 1) % PENDING_MAX;
            d->pending_n--;
            take_ack(d, &p, &acks[i]);
        }
    }
}

void daemon_log_append(struct daemon *d, const char *service, const struct record *records, uint32_t n, uint64_t loop_token)
{
    struct err e;
    struct pending_append *p = push(d, service, loop_token);
    struct record dated[STORE_APPEND_MAX];
    CHECK(n <= ARRAY_LEN(dated));
    for (uint32_t i = 0; i < n; i++) {
        dated[i] = records[i];            /* the store copies them */
        record_i64(&dated[i], RF_UP, daemon_up(d));
        p->halt = p->halt || records[i].kind == RECORD_HALT;
    }
    if (store_append(d->store, dated, n, p->token, &e) == STATUS_OK) return;
    /* Without an ack the loop's own time-out (loop.md row 22) freezes the service and the log's tail decides. */
    d->pending_n--;
    if (p->halt) daemon_halt_keep(d, service, e.text);
    log_line(LEVEL_ERROR, "store", "an audit record could not be queued", "service", service, "error", e.text, NULL);
    if (!d->store_frozen) d->store_bad_since = clock_monotonic_us();
    d->store_frozen = true;
    d->unqueued = p->token;
    d->unqueued_at = clock_monotonic_us();
}

void daemon_log_own(struct daemon *d, enum record_kind kind, const char *by, const char *note)
{
    struct record r;
    struct instant now;
    struct wall wall;
    struct buf boot = BUF_INIT;
    clock_now(&d->clock, &now, &wall);
    record_init(&r, kind);
    record_i64(&r, RF_AT, wall.us);
    record_text(&r, RF_BY, by);
    record_text(&r, RF_POLICY, d->policy->revision);
    record_text(&r, RF_NOTE, note);
    if (kind == RECORD_START && d->options.speed <= 1) {
        char id[CLOCK_BOOT_MAX];
        clock_boot(id);
        clock_boot_print(&boot, id, clock_monotonic_us());
        record_text(&r, RF_BOOT, buf_text(&boot));
    }
    daemon_log_append(d, "", &r, 1, 0);
    buf_free(&boot);
}

/* ---- folding ---- */

struct folding { struct daemon *d; struct wall newest; uint64_t n; bool all; };

static bool fold_entry(void *arg, const struct store_entry *entry)
{
    struct folding *f = arg;
    const char *service = record_get_text(entry->record, RF_SERVICE);
    struct event e = {.kind = EVENT_RECORD, .service = policy_service(f->d->policy, service)};
    f->n++;
    if (f->all) daemon_feedback_count(f->d, entry->record);
    if (f->all) notify_replay(f->d->notify, entry->seq, entry->record);
    if (entry->record->kind == RECORD_POLICY)
        (void)text_copy(f->d->last_revision, sizeof f->d->last_revision, record_get_text(entry->record, RF_POLICY));
    if (loop_record_of_all(entry->record)) e.service = ALL_SERVICES;   /* also where its service is gone */
    else if (!*service || e.service == NO_INDEX) return true;
    e.u.record = entry->record;
    e.has_age = record_has(entry->record, RF_UP);
    if (e.has_age) e.age.us = daemon_up(f->d) - record_get_i64(entry->record, RF_UP, 0);
    daemon_step(f->d, &e);
    return true;
}

void daemon_log_load_state(struct daemon *d, uint16_t service)
{
    struct buf bytes = BUF_INIT;
    struct err e;
    int64_t at;
    struct instant now;
    struct wall wall;
    enum status s = store_state_get(d->store, d->policy->services[service].name, &at, &bytes, &e);
    clock_now(&d->clock, &now, &wall);
    if (s == STATUS_OK) {
        struct event ev = {.kind = EVENT_STATE, .service = service};
        ev.u.state.bytes = bytes.data;
        ev.u.state.len = bytes.len;
        ev.u.state.age = (struct span){wall.us > at ? wall.us - at : 0};
        daemon_step(d, &ev);
    } else if (s == STATUS_CORRUPT || (s != STATUS_NOT_FOUND && d->ready)) {
        log_line(LEVEL_WARN, "store", "the saved baselines cannot be read; the service learns anew", "service",
                 d->policy->services[service].name, "error", e.text, NULL);
    } else if (s != STATUS_NOT_FOUND) {
        /* They are there: better another start than weeks of learning thrown away. */
        log_line(LEVEL_ERROR, "store", "cannot start: the saved baselines cannot be read", "service",
                 d->policy->services[service].name, "error", e.text, NULL);
        daemon_end(d, EXIT_FAIL);
    }
    buf_free(&bytes);
}

void daemon_log_fold_all(struct daemon *d)
{
    struct folding f = {.d = d, .all = true};
    struct err e;
    struct event end = {.kind = EVENT_FOLDED, .service = ALL_SERVICES};
    for (uint16_t i = 0; i < d->policy->service_count; i++) daemon_log_load_state(d, i);
    if (d->ending) return;
    enum status s = store_records(d->store, 0, &(struct store_sink){fold_entry, &f}, &e);
    if (s != STATUS_OK) {
        log_line(LEVEL_ERROR, "store", "the audit log cannot be read", "error", e.text, NULL);
        daemon_end(d, EXIT_FAIL);
        return;
    }
    daemon_refill(d);
    daemon_step(d, &end);
}

static bool still_pending(const struct daemon *d, const char *service)
{
    for (unsigned i = 0; i < d->pending_n; i++) {
        if (text_eq(d->pending[(d->pending_head + i) % PENDING_MAX].service, service)) return true;
    }
    return false;
}

void daemon_log_fold_later(struct daemon *d, const char *service)
{
    for (unsigned i = 0; i < d->fold_n; i++) {
        if (text_eq(d->fold_wanted[i], service)) return;
    }
    if (d->fold_n == d->fold_cap) {
        unsigned cap = d->fold_cap ? d->fold_cap * 2 : 16;
        void *grown = realloc(d->fold_wanted, cap * sizeof *d->fold_wanted);
        CHECK_MEMORY(grown);
        d->fold_wanted = grown;
        d->fold_cap = cap;
    }
    (void)text_copy(d->fold_wanted[d->fold_n++], sizeof *d->fold_wanted, service);
}

/* true: done, or the service is gone. */
static bool fold_one(struct daemon *d, const char *service)
{
    struct folding f = {.d = d};
    struct err e;
    struct event end = {.kind = EVENT_FOLDED, .service = policy_service(d->policy, service)};
    if (end.service == NO_INDEX) return true;
    if (still_pending(d, service)) return false;
    if (store_records_of(d->store, service, 0, &(struct store_sink){fold_entry, &f}, &e) != STATUS_OK) {
        log_line(LEVEL_ERROR, "store", "the log of a service cannot be read again", "service", service, "error", e.text, NULL);
        return false;
    }
    daemon_step(d, &end);
    return true;
}

static void fold_waiting(struct daemon *d)
{
    for (unsigned i = 0; i < d->fold_n;) {
        char service[POLICY_NAME_MAX + 1];
        (void)text_copy(service, sizeof service, d->fold_wanted[i]);
        if (!fold_one(d, service)) {
            i++;
            continue;
        }
        memmove(d->fold_wanted[i], d->fold_wanted[i + 1], (--d->fold_n - i) * sizeof *d->fold_wanted);
    }
}

/* ---- trouble and its end ---- */

static void watch_health(struct daemon *d)
{
    struct store_health h;
    struct event e = {.kind = EVENT_HEALTH, .service = ALL_SERVICES};
    store_health(d->store, &h);
    if (h.state == STORE_FATAL && !d->ending) {
        log_line(LEVEL_ERROR, "store", "the audit store failed for good; the daemon ends", "error", h.text, NULL);
        daemon_end(d, EXIT_STORE);
        return;
    }
    bool good = h.state == STORE_GOOD || h.state == STORE_RESERVE;
    if (!good && !d->store_frozen) {
        store_went_bad(d, h.text);
        e.u.health.set = FREEZE_STORE;
        e.u.health.why = h.text;
        daemon_step(d, &e);
        return;
    }
    /* A full disk is only found to have room again by trying. */
    if (d->unqueued_at && clock_monotonic_us() - d->unqueued_at < UNQUEUED_US) return;
    bool try_again = good || (h.state == STORE_FULL && clock_monotonic_us() - d->store_bad_since > RETRY_FULL_US);
    if (!d->store_frozen || !try_again || d->pending_n > 0) return;
    d->store_frozen = false;
    d->unqueued_at = 0;
    e.u.health.clear = FREEZE_STORE;
    log_line(LEVEL_INFO, "store", "the audit store is asked again; open actions are resolved from the log", NULL);
    daemon_step(d, &e);
}

void daemon_log_keep_halts(struct daemon *d, int64_t patience_us)
{
    for (unsigned i = 0; i < d->pending_n; i++) {
        const struct pending_append *p = &d->pending[(d->pending_head + i) % PENDING_MAX];
        if (p->halt && clock_monotonic_us() - p->since >= patience_us) daemon_halt_keep(d, p->service, "the disk does not answer");
    }
}

void daemon_evicted_text(const struct store_health *h, char *out, size_t cap)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "the disk budget of %llu MiB is full: %llu points up to ", (unsigned long long)(h->budget >> 20),
               (unsigned long long)h->evicted);
    wall_print(&b, (struct wall){h->evicted_to});
    buf_puts(&b, " have gone, the oldest first; raise metrics_mb to keep more");
    (void)text_copy(out, cap, buf_text(&b));
    buf_free(&b);
}

/* Once an hour at most: a full budget stays full. */
static void watch_budget(struct daemon *d)
{
    struct store_health h;
    char text[256];
    store_health(d->store, &h);
    int64_t now = clock_monotonic_us();
    if (h.evicted == d->evicted_said || (d->evicted_said && now - d->evicted_said_at < US_PER_HOUR)) return;
    d->evicted_said = h.evicted;
    d->evicted_said_at = now;
    daemon_evicted_text(&h, text, sizeof text);
    log_line(LEVEL_WARN, "store", text, NULL);
}

void daemon_log_second(struct daemon *d)
{
    watch_budget(d);
    daemon_log_keep_halts(d, US_PER_S);
    daemon_replies(d, 0, true);
    watch_health(d);
    fold_waiting(d);
}

/* ---- open and close ---- */

static bool see_newest(void *arg, const struct store_entry *entry)
{
    struct folding *f = arg;
    f->newest = (struct wall){record_get_i64(entry->record, RF_AT, WALL_NONE.us)};
    return true;
}

struct wall daemon_log_newest(struct daemon *d)
{
    struct folding f = {.newest = WALL_NONE};
    struct store_health h;
    store_health(d->store, &h);
    if (h.size > 0) (void)store_records(d->store, h.size - 1, &(struct store_sink){see_newest, &f}, NULL);
    for (uint16_t i = 0; i < d->policy->service_count; i++) {
        struct buf bytes = BUF_INIT;
        int64_t at;
        bool later = store_state_get(d->store, d->policy->services[i].name, &at, &bytes, NULL) == STATUS_OK && at > f.newest.us;
        if (later) f.newest = (struct wall){at};
        buf_free(&bytes);
    }
    return f.newest;
}

bool daemon_log_open(struct daemon *d)
{
    struct err e;
    struct store_options o = {.dir = d->data, .origin = d->policy->origin, .reserve_bytes = STORE_RESERVE_BYTES};
    if (store_open(&d->store, &o, &e) == STATUS_OK) return true;
    log_line(LEVEL_ERROR, "store", "cannot open the data folder", "data", d->data, "error", e.text, NULL);
    return false;
}

void daemon_log_close(struct daemon *d)
{
    store_close(d->store);
    d->store = NULL;
    free(d->fold_wanted);
}
