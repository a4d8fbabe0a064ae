/* Freeze and maintenance windows: those of the configuration, and those that people open for a while. The latter belong to the
 * whole loop, live in the log and end by themselves. loop.md row 51, overlay Z; invariant 13: in doubt closed for writes. */
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "base/text.h"
#include "loop/service.h"

#define DOUBT SPAN_HOUR(24)

/* ---- two clocks ---- */

/* The wall clock has been set: which of the two times is right is not known. Until a day later a window is over, or a change
 * window open, only if it is so by both. */
void windows_clock_step(struct loop *l, int64_t offset_before)
{
    bool doubted = instant_is_set(l->doubt_until) && instant_before(l->now, l->doubt_until);
    if (!doubted) l->doubt_offset_us = offset_before;
    l->doubt_until = instant_add(l->now, DOUBT);
}

struct wall windows_other_wall(const struct loop *l)
{
    bool doubted = instant_is_set(l->doubt_until) && instant_before(l->now, l->doubt_until);
    struct wall other = {l->now.us + l->doubt_offset_us};
    return doubted && other.us != l->wall.us ? other : WALL_NONE;
}

static bool before(const struct loop *l, struct wall until)
{
    struct wall other = windows_other_wall(l);
    return l->wall.us < until.us || (other.us != WALL_NONE.us && other.us < until.us);
}

static bool configured_in_force(const struct loop *l, const struct freeze_def *f)
{
    struct wall other = windows_other_wall(l);
    return freeze_in_force(f, l->wall) || (other.us != WALL_NONE.us && freeze_in_force(f, other));
}

/* ---- those that people open ---- */

static bool covers(const struct window *w, const struct service_loop *s)
{
    return w->service[0] == '\0' || text_eq(w->service, s->def->name);
}

static void forget(struct loop *l, unsigned i)
{
    memmove(&l->windows[i], &l->windows[i + 1], (--l->window_n - i) * sizeof l->windows[0]);
}

static void forget_what_is_over(struct loop *l)
{
    for (unsigned i = 0; i < l->window_n;) {
        if (before(l, l->windows[i].until)) i++;
        else forget(l, i);
    }
}

static uint32_t number_of(const char *id)
{
    uint64_t n;
    return id && id[0] == 'w' && num_parse_u64(id + 1, strlen(id + 1), &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static int find(const struct loop *l, uint32_t number)
{
    for (unsigned i = 0; i < l->window_n; i++) {
        if (l->windows[i].number == number) return (int)i;
    }
    return -1;
}

/* The log may be given more than once. */
static void fold(struct loop *l, const struct record *r)
{
    uint32_t number = number_of(record_get_text(r, RF_WINDOW_ID));
    int at = find(l, number);
    if (number == 0) return;
    if (number > l->window_last) l->window_last = number;
    if (r->kind == RECORD_WINDOW_END) {
        if (at >= 0) forget(l, (unsigned)at);
        return;
    }
    if (at >= 0) return;
    forget_what_is_over(l);
    if (l->window_n == WINDOWS_MAX) return;          /* a live loop never opens more */
    struct window *w = &l->windows[l->window_n++];
    *w = (struct window){.number = number, .from = {record_get_i64(r, RF_AT, 0)}, .until = {record_get_i64(r, RF_EXPIRY, 0)},
                         .kind = r->kind == RECORD_FREEZE ? FREEZE_KIND_FREEZE : FREEZE_KIND_MAINTENANCE};
    (void)text_copy(w->service, sizeof w->service, record_get_text(r, RF_SERVICE));
    (void)text_copy(w->by, sizeof w->by, record_get_text(r, RF_BY));
    (void)text_copy(w->comment, sizeof w->comment, record_get_text(r, RF_NOTE));
    forget_what_is_over(l);
}

static bool is_window(const struct record *r)
{
    return r->kind == RECORD_FREEZE || r->kind == RECORD_MAINTENANCE || r->kind == RECORD_WINDOW_END;
}

bool loop_record_of_all(const struct record *r)
{
    return is_window(r) || (r->kind == RECORD_RESUME && !record_has(r, RF_SERVICE));
}

static int64_t apart(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

/* The age of a record is told by a clock that nobody sets. Where the wall clock has moved by more than that since, it was set
 * while nobody looked; of several such records the one that is furthest off counts. */
static void see_step_while_down(struct loop *l, const struct event *e)
{
    if (!e->has_age) return;
    int64_t offset = record_get_i64(e->u.record, RF_AT, 0) - (l->now.us - e->age.us);
    int64_t moved = apart(l->wall_offset_us, offset);
    bool doubted = instant_is_set(l->doubt_until) && instant_before(l->now, l->doubt_until);
    if (moved <= CLOCK_STEP.us || (doubted && moved <= apart(l->wall_offset_us, l->doubt_offset_us))) return;
    l->doubt_offset_us = offset;
    l->doubt_until = instant_add(l->now, DOUBT);
}

void windows_fold(struct loop *l, const struct event *e)
{
    const struct record *r = e->u.record;
    if (!is_window(r)) {
        fleet_acknowledge(l);
        return;
    }
    see_step_while_down(l, e);
    fold(l, r);
}

/* How people read a window: kind, name, author, end, comment. */
static void local_time(struct buf *out, struct wall t, const struct zone *z)
{
    struct civil c = zone_civil(z, t);
    buf_printf(out, "%04d-%02d-%02d %02d:%02d %s", c.year, c.month, c.day, c.hour, c.minute, z->name);
}

static void one_window(struct buf *out, const char *kind, const char *name, const char *author, const char *comment,
                       struct wall until, const struct zone *zone)
{
    buf_printf(out, "%s%s %s", out->len ? "; " : "", kind, name);
    if (author[0]) buf_printf(out, " by %s", author);
    if (until.us != WALL_NONE.us) {
        buf_puts(out, " until ");
        local_time(out, until, zone);
    }
    if (comment[0]) buf_printf(out, ": %s", comment);
}

static char *id_of(struct loop *l, uint32_t number)
{
    struct buf b = BUF_INIT;
    buf_putc(&b, 'w');
    buf_u64(&b, number);
    return loop_text(l, &b);
}

static struct record *new_record(struct loop *l, enum record_kind kind, const struct command *c)
{
    struct record *r = ARENA_NEW(&l->arena, struct record);
    CHECK_MEMORY(r);
    record_init(r, kind);
    record_i64(r, RF_AT, l->wall.us);
    record_text(r, RF_BY, arena_strdup(&l->arena, c->by ? c->by : ""));
    record_text(r, RF_VIA, arena_strdup(&l->arena, c->via ? c->via : ""));
    record_text(r, RF_POLICY, l->policy->revision);
    if (c->reason && c->reason[0]) record_text(r, RF_NOTE, arena_strdup(&l->arena, c->reason));
    return r;
}

static void keep(struct loop *l, uint16_t service, const struct record *r)
{
    struct effect *e = loop_effect(l, EFFECT_APPEND, service);
    e->u.append.records = r;
    e->u.append.n = 1;
    fold(l, r);
    for (uint16_t i = 0; i < l->service_count; i++) {
        windows_update(l, &l->services[i]);
        fleet_wake_set(l, i);
    }
}

/* Known at once to whoever wonders why nothing happens; it also stands in the log. */
static void tell(struct loop *l, uint16_t service, const char *subject, struct buf *text)
{
    struct effect *e = loop_effect(l, EFFECT_NOTIFY, service);
    e->u.notify.level = NOTICE_INFO;
    e->u.notify.subject = subject;
    e->u.notify.text = loop_text(l, text);
}

static const char *opened_subject(enum freeze_kind k)
{
    return k == FREEZE_KIND_FREEZE ? "freeze: nothing is changed" : "maintenance: nothing is changed or learned";
}

static void open_window(struct loop *l, uint16_t service, const struct command *c)
{
    forget_what_is_over(l);
    if (c->until.us <= l->wall.us) {
        command_reply(l, c->id, STATUS_INVALID, "its end is not in the future", "");
        return;
    }
    if (l->window_n == WINDOWS_MAX) {
        command_reply(l, c->id, STATUS_FULL, "64 windows are open already; end one first, or write a lasting one into the "
                                             "configuration", "");
        return;
    }
    uint32_t number = l->window_last + 1;
    struct record *r = new_record(l, c->verb == COMMAND_FREEZE ? RECORD_FREEZE : RECORD_MAINTENANCE, c);
    record_text(r, RF_WINDOW_ID, id_of(l, number));
    if (service < l->service_count) record_text(r, RF_SERVICE, l->services[service].def->name);
    record_i64(r, RF_EXPIRY, c->until.us);
    keep(l, service, r);
    enum freeze_kind kind = c->verb == COMMAND_FREEZE ? FREEZE_KIND_FREEZE : FREEZE_KIND_MAINTENANCE;
    struct buf text = BUF_INIT;
    one_window(&text, freeze_kind_name(kind), id_of(l, number), record_get_text(r, RF_BY), record_get_text(r, RF_NOTE), c->until,
               &zone_utc);
    tell(l, service, opened_subject(kind), &text);
    command_reply(l, c->id, STATUS_OK, "open", id_of(l, number));
}

static bool is_configured(const struct loop *l, const char *name)
{
    for (uint16_t i = 0; name && i < l->policy->freeze_count; i++) {
        if (text_eq(l->policy->freezes[i].name, name)) return true;
    }
    return false;
}

static void end_window(struct loop *l, const struct command *c)
{
    uint32_t number = number_of(c->action);
    int at = find(l, number);
    if (at < 0 || number == 0) {
        bool file = is_configured(l, c->action);
        command_reply(l, c->id, file ? STATUS_STATE : STATUS_NOT_FOUND,
                      file ? "that window stands in the configuration: change the file and reload"
                           : "no window with that id is open; trimtab freeze --list shows them", "");
        return;
    }
    uint16_t service = policy_service(l->policy, l->windows[at].service);
    struct record *r = new_record(l, RECORD_WINDOW_END, c);
    record_text(r, RF_WINDOW_ID, id_of(l, number));
    if (service != NO_INDEX) record_text(r, RF_SERVICE, l->services[service].def->name);
    service = service == NO_INDEX ? ALL_SERVICES : service;
    keep(l, service, r);
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s by %s", id_of(l, number), c->by ? c->by : "");
    tell(l, service, "a window was ended", &text);
    command_reply(l, c->id, STATUS_OK, "ended", id_of(l, number));
}

/* A follower writes nothing into the log, for none of the services that the window is for. */
static bool leads(const struct loop *l, uint16_t service)
{
    for (uint16_t i = 0; i < l->service_count; i++) {
        bool meant = service == ALL_SERVICES || service == i;
        if (meant && l->services[i].control.follower) return false;
    }
    return true;
}

bool windows_command(struct loop *l, uint16_t service, const struct command *c)
{
    bool opens = c->verb == COMMAND_FREEZE || c->verb == COMMAND_MAINTENANCE;
    if (!opens && c->verb != COMMAND_WINDOW_END) return false;
    if (c->role < ROLE_OPERATOR) command_reply(l, c->id, STATUS_DENIED, "the role operator is needed", "role");
    else if (!leads(l, service)) command_reply(l, c->id, STATUS_STATE, "another replica leads; ask it there", "not-leader");
    else if (opens) open_window(l, service, c);
    else end_window(l, c);
    return true;
}

/* A breaker of the whole fleet is acknowledged for the whole fleet, and on record: a restart must not ask again. */
void windows_acknowledge_fleet(struct loop *l, const struct command *c)
{
    bool tripped = l->fleet_breaker && leads(l, ALL_SERVICES);
    fleet_acknowledge(l);
    if (!tripped) return;
    struct record *r = new_record(l, RECORD_RESUME, c);
    record_text(r, RF_OUTCOME, "all");
    struct effect *e = loop_effect(l, EFFECT_APPEND, ALL_SERVICES);
    e->u.append.records = r;
    e->u.append.n = 1;
}

/* ---- what holds now ---- */

/* 0, 1 or 2 bits: 1 << kind of each kind that is in force. */
static unsigned kinds_in_force(const struct loop *l, const struct service_loop *s)
{
    unsigned kinds = 0;
    for (uint16_t i = 0; i < s->def->freeze_count; i++) {
        if (configured_in_force(l, s->def->freezes[i])) kinds |= 1u << s->def->freezes[i]->kind;
    }
    for (unsigned i = 0; i < l->window_n; i++) {
        const struct window *w = &l->windows[i];
        if (covers(w, s) && before(l, w->until)) kinds |= 1u << w->kind;
    }
    return kinds;
}

static uint16_t first_covered(const struct loop *l, const struct freeze_def *f)
{
    uint16_t first = f->service_n ? NO_INDEX : 0;
    for (uint16_t i = 0; i < f->service_n; i++) {
        uint16_t at = policy_service(l->policy, f->services[i]);
        if (at < first) first = at;
    }
    return first;
}

static void one_configured(struct buf *out, const struct loop *l, const struct freeze_def *f)
{
    bool now = freeze_in_force(f, l->wall);
    struct wall until = now ? freeze_change(f, l->wall) : WALL_NONE;
    one_window(out, freeze_kind_name(f->kind), f->name, f->author, f->comment, until, f->zone);
    if (!now) buf_puts(out, " (in force by the clock before it was set; that counts for a day)");
}

/* One notice a window, by the first service that it covers, however large the fleet is. */
static void tell_configured(struct loop *l, struct service_loop *s)
{
    for (uint16_t i = 0; i < s->def->freeze_count; i++) {
        const struct freeze_def *f = s->def->freezes[i];
        struct buf text = BUF_INIT;
        if (!configured_in_force(l, f) || first_covered(l, f) != service_index(l, s)) continue;
        one_configured(&text, l, f);
        for (uint16_t k = 0; k < f->service_n; k++) buf_printf(&text, "%s%s", k ? ", " : "; for ", f->services[k]);
        tell(l, f->service_n ? service_index(l, s) : ALL_SERVICES, opened_subject(f->kind), &text);
    }
}

void windows_update(struct loop *l, struct service_loop *s)
{
    bool frozen = (s->control.frozen & FREEZE_WINDOW) != 0;
    unsigned kinds = s->def->freeze_count || l->window_n ? kinds_in_force(l, s) : 0;
    s->maintenance = (kinds >> FREEZE_KIND_MAINTENANCE & 1) != 0;
    if (s->maintenance) s->action.maintained = true;
    if ((kinds != 0) == frozen) return;
    if (kinds && !s->control.follower) tell_configured(l, s);
    struct control_event e = {.kind = kinds ? CE_FREEZE : CE_THAW, .now = l->now, .bits = FREEZE_WINDOW, .knob = NO_KNOB};
    drive(l, s, &e, NULL);
}

/* ---- words ---- */

void windows_words(struct buf *out, const struct loop *l, const struct service_loop *s)
{
    for (uint16_t i = 0; i < s->def->freeze_count; i++) {
        const struct freeze_def *f = s->def->freezes[i];
        if (configured_in_force(l, f)) one_configured(out, l, f);
    }
    for (unsigned i = 0; i < l->window_n; i++) {
        const struct window *w = &l->windows[i];
        struct buf id = BUF_INIT;
        if (!covers(w, s) || !before(l, w->until)) continue;
        buf_putc(&id, 'w');
        buf_u64(&id, w->number);
        one_window(out, freeze_kind_name(w->kind), buf_text(&id), w->by, w->comment, w->until, &zone_utc);
        buf_free(&id);
    }
}

/* Everything that freezes the service, for gate and sentence. */
void windows_frozen_words(struct buf *out, const struct loop *l, const struct service_loop *s)
{
    static const struct { uint8_t bit; const char *text; } others[] = {
        {FREEZE_MODULE, "a stage of trimtab is silent"},
        {FREEZE_STORE, "the audit store cannot be written"},
        {FREEZE_CLOCK, "the clock was set a moment ago"},
    };
    if (s->control.frozen & FREEZE_WINDOW) windows_words(out, l, s);
    for (unsigned i = 0; i < ARRAY_LEN(others); i++) {
        if (s->control.frozen & others[i].bit) buf_printf(out, "%s%s", out->len ? "; " : "", others[i].text);
    }
}

/* ---- the list ---- */

static char *copy(struct arena *a, const char *text)
{
    char *c = arena_strdup(a, text);
    CHECK_MEMORY(c);
    return c;
}

static void view_configured(const struct loop *l, const struct freeze_def *f, struct window_view *v)
{
    *v = (struct window_view){.id = f->name, .kind = f->kind, .by = f->author, .comment = f->comment, .zone = f->zone->name,
                              .configured = true, .in_force = configured_in_force(l, f), .from = WALL_NONE, .until = f->until,
                              .changes = freeze_change(f, l->wall), .services = f->services, .service_n = f->service_n};
}

static void view_open(struct arena *a, const struct window *w, struct window_view *v)
{
    struct buf id = BUF_INIT;
    buf_putc(&id, 'w');
    buf_u64(&id, w->number);
    *v = (struct window_view){.id = copy(a, buf_text(&id)), .kind = w->kind, .by = copy(a, w->by), .comment = copy(a, w->comment),
                              .zone = "UTC", .in_force = true, .from = w->from, .until = w->until, .changes = w->until};
    buf_free(&id);
    if (w->service[0] == '\0') return;
    v->services = ARENA_NEW(a, const char *);
    CHECK_MEMORY(v->services);
    v->services[0] = copy(a, w->service);
    v->service_n = 1;
}

void loop_windows(const struct loop *l, struct arena *a, struct window_view **ret, uint32_t *ret_n)
{
    struct window_view *all = ARENA_NEW_N(a, l->policy->freeze_count + l->window_n + 1u, struct window_view);
    uint32_t n = 0;
    CHECK_MEMORY(all);
    for (unsigned i = 0; i < l->window_n; i++) {
        if (before(l, l->windows[i].until)) view_open(a, &l->windows[i], &all[n++]);
    }
    for (uint16_t i = 0; i < l->policy->freeze_count; i++) view_configured(l, &l->policy->freezes[i], &all[n++]);
    *ret = all;
    *ret_n = n;
}
