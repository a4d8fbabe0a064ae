#include "model/freeze.h"

#include <string.h>

#include "base/check.h"

#define DAY_MIN 1440
#define DAYS_AHEAD 400

#define X(id, word) word,
static const char *const kind_words[] = {FREEZE_KIND_TABLE(X)};
#undef X

const char *freeze_kind_name(enum freeze_kind k)
{
    CHECK((unsigned)k < FREEZE_KIND_COUNT);
    return kind_words[k];
}

bool freeze_kind_parse(const char *word, enum freeze_kind *ret)
{
    for (unsigned i = 0; i < FREEZE_KIND_COUNT; i++) {
        if (!text_eq(kind_words[i], word)) continue;
        *ret = (enum freeze_kind)i;
        return true;
    }
    return false;
}

bool freeze_covers(const struct freeze_def *f, const char *service)
{
    for (uint16_t i = 0; i < f->service_n; i++) {
        if (text_eq(f->services[i], service)) return true;
    }
    return f->service_n == 0;
}

static int days_in_month(int year, int month)
{
    int64_t next = month == 12 ? civil_days(year + 1, 1, 1) : civil_days(year, month + 1, 1);
    return (int)(next - civil_days(year, month, 1));
}

static bool in_times(const struct time_interval *v, int minute)
{
    for (uint16_t i = 0; i < v->time_n; i++) {
        if (minute >= v->times[i].from && minute < v->times[i].to) return true;
    }
    return v->time_n == 0;
}

/* A range that begins after a short month's end is not in that month; one that ends after it ends with it. */
static bool in_days(const struct time_interval *v, const struct civil *c)
{
    int last = days_in_month(c->year, c->month);
    for (uint16_t i = 0; i < v->day_n; i++) {
        int from = v->days[i].from < 0 ? last + v->days[i].from + 1 : v->days[i].from;
        int to = v->days[i].to < 0 ? last + v->days[i].to + 1 : v->days[i].to;
        if (from <= last && c->day >= from && c->day <= to) return true;
    }
    return v->day_n == 0;
}

static bool in_years(const struct time_interval *v, int year)
{
    for (uint16_t i = 0; i < v->year_n; i++) {
        if (year >= v->years[i].from && year <= v->years[i].to) return true;
    }
    return v->year_n == 0;
}

/* The clock on the wall of that place decides. So an hour that is left out never comes, and one that comes twice counts twice. */
static bool matches(const struct time_interval *v, struct wall t)
{
    struct civil c = zone_civil(v->zone, t);
    bool weekday = v->weekdays == 0 || (v->weekdays >> c.weekday & 1);
    bool month = v->months == 0 || (v->months >> (c.month - 1) & 1);
    return weekday && month && in_years(v, c.year) && in_days(v, &c) && in_times(v, c.hour * 60 + c.minute);
}

bool freeze_in_force(const struct freeze_def *f, struct wall t)
{
    if (f->until.us != WALL_NONE.us && t.us >= f->until.us) return false;
    for (uint16_t i = 0; i < f->interval_n; i++) {
        if (matches(&f->intervals[i], t)) return true;
    }
    return f->interval_n == 0;
}

/* Looks for the earliest instant at which the answer is another one. */
struct search { const struct freeze_def *f; struct wall after, found; bool now; };

static void look(struct search *s, struct wall at)
{
    bool sooner = at.us > s->after.us && (s->found.us == WALL_NONE.us || at.us < s->found.us);
    if (sooner && freeze_in_force(s->f, at) != s->now) s->found = at;
}

/* All edges of one local day: midnight, the ends of the times, and a change of the offset that falls into it. */
static void look_at_day(struct search *s, const struct time_interval *v, int64_t day)
{
    struct wall midnight = zone_local(v->zone, day, 0);
    look(s, midnight);
    for (uint16_t i = 0; i < v->time_n; i++) {
        look(s, zone_local(v->zone, day, v->times[i].from * 60));
        look(s, zone_local(v->zone, day, v->times[i].to * 60));
    }
    struct wall jump = zone_next_change(v->zone, midnight);
    if (jump.us == WALL_NONE.us || jump.us >= midnight.us + US_PER_DAY) return;
    look(s, jump);
    for (uint16_t i = 0; i < v->time_n; i++) {     /* an hour that comes twice: its first time, too */
        int64_t back = (zone_offset(v->zone, (struct wall){jump.us - 1}) - zone_offset(v->zone, jump)) * US_PER_S;
        look(s, (struct wall){zone_local(v->zone, day, v->times[i].from * 60).us - back});
        look(s, (struct wall){zone_local(v->zone, day, v->times[i].to * 60).us - back});
    }
}

struct wall freeze_change(const struct freeze_def *f, struct wall t)
{
    struct search s = {f, t, WALL_NONE, freeze_in_force(f, t)};
    bool ended = f->until.us != WALL_NONE.us && t.us >= f->until.us;
    if (ended) return WALL_NONE;
    if (f->until.us != WALL_NONE.us) look(&s, f->until);
    for (int ahead = -1; ahead <= DAYS_AHEAD; ahead++) {
        for (uint16_t i = 0; i < f->interval_n; i++) {
            struct civil c = zone_civil(f->intervals[i].zone, t);
            look_at_day(&s, &f->intervals[i], civil_days(c.year, c.month, c.day) + ahead);
        }
        bool near = s.found.us != WALL_NONE.us && s.found.us < t.us + (ahead - 1) * US_PER_DAY;
        if (f->interval_n == 0 || near) break;
    }
    return s.found;
}
