#include "base/zone.h"

#include <string.h>

#define HEAD 44u
#define DAY_S 86400

const struct zone zone_utc = {.name = "UTC"};

/* ---- reading ---- */

struct file { const uint8_t *p; size_t len, at; };

static bool have(const struct file *f, uint64_t n) { return n <= f->len - f->at; }

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be64(const uint8_t *p) { return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4)); }

struct head { uint32_t isut, isstd, leap, times, types, chars; char version; };

static bool read_head(struct file *f, struct head *h)
{
    if (!have(f, HEAD) || memcmp(f->p + f->at, "TZif", 4) != 0) return false;
    const uint8_t *p = f->p + f->at;
    h->version = (char)p[4];
    h->isut = be32(p + 20);
    h->isstd = be32(p + 24);
    h->leap = be32(p + 28);
    h->times = be32(p + 32);
    h->types = be32(p + 36);
    h->chars = be32(p + 40);
    f->at += HEAD;
    return h->times <= ZONE_CHANGES_MAX && h->types > 0 && h->types <= 256 && h->chars <= 4096 && h->leap <= 1024 &&
           h->isut <= 256 && h->isstd <= 256;
}

static uint64_t body_bytes(const struct head *h, unsigned time_bytes)
{
    return (uint64_t)h->times * (time_bytes + 1) + (uint64_t)h->types * 6 + h->chars + (uint64_t)h->leap * (time_bytes + 4) +
           h->isstd + h->isut;
}

static bool read_body(struct arena *a, struct file *f, const struct head *h, unsigned time_bytes, struct zone *z)
{
    if (!have(f, body_bytes(h, time_bytes))) return false;
    const uint8_t *times = f->p + f->at, *kinds = times + (size_t)h->times * time_bytes, *types = kinds + h->times;
    int64_t *at = ARENA_NEW_N(a, h->times ? h->times : 1u, int64_t);
    int32_t *offset = ARENA_NEW_N(a, h->times ? h->times : 1u, int32_t);
    if (!at || !offset) return false;
    for (uint32_t i = 0; i < h->types; i++) {
        int32_t east = (int32_t)be32(types + (size_t)i * 6);
        if (east < -26 * 3600 || east > 26 * 3600) return false;
    }
    for (uint32_t i = 0; i < h->times; i++) {
        at[i] = time_bytes == 8 ? be64(times + (size_t)i * 8) : (int32_t)be32(times + (size_t)i * 4);
        if (kinds[i] >= h->types || (i > 0 && at[i] <= at[i - 1])) return false;
        offset[i] = (int32_t)be32(types + (size_t)kinds[i] * 6);
    }
    z->at = at;
    z->offset = offset;
    z->n = h->times;
    z->first = (int32_t)be32(types);
    f->at += (size_t)body_bytes(h, time_bytes);
    return true;
}

/* ---- the rule at the end: "CET-1CEST,M3.5.0,M10.5.0/3" ---- */

struct text { const char *p, *end; };

static bool take(struct text *t, char c)
{
    if (t->p == t->end || *t->p != c) return false;
    t->p++;
    return true;
}

static bool digit(const struct text *t) { return t->p < t->end && *t->p >= '0' && *t->p <= '9'; }

static bool take_number(struct text *t, int least, int most, int *ret)
{
    int v = 0, digits = 0;
    for (; digit(t) && digits < 4; digits++) v = v * 10 + (*t->p++ - '0');
    if (digits == 0 || v < least || v > most) return false;
    *ret = v;
    return true;
}

static bool take_name(struct text *t)
{
    const char *from = t->p;
    if (take(t, '<')) {
        while (t->p < t->end && *t->p != '>') t->p++;
        return take(t, '>');
    }
    while (t->p < t->end && ((*t->p >= 'A' && *t->p <= 'Z') || (*t->p >= 'a' && *t->p <= 'z'))) t->p++;
    return t->p - from >= 3;
}

/* "[+-]hh[:mm[:ss]]" in seconds. */
static bool take_clock(struct text *t, int most_hours, int32_t *ret)
{
    int sign = 1, h, m = 0, s = 0;
    if (take(t, '-')) sign = -1;
    else (void)take(t, '+');
    if (!take_number(t, 0, most_hours, &h)) return false;
    if (take(t, ':') && !take_number(t, 0, 59, &m)) return false;
    if (take(t, ':') && !take_number(t, 0, 59, &s)) return false;
    *ret = sign * (h * 3600 + m * 60 + s);
    return true;
}

static bool take_day(struct text *t, struct zone_day *d)
{
    *d = (struct zone_day){.at_s = 2 * 3600};
    if (!take(t, ',')) return false;
    if (take(t, 'M')) {
        d->kind = 'M';
        if (!take_number(t, 1, 12, &d->month) || !take(t, '.') || !take_number(t, 1, 5, &d->week) || !take(t, '.') ||
            !take_number(t, 0, 6, &d->weekday))
            return false;
    } else {
        d->kind = take(t, 'J') ? 'J' : 'D';
        if (!take_number(t, d->kind == 'J', 365, &d->day)) return false;
    }
    return !take(t, '/') || take_clock(t, 167, &d->at_s);
}

static bool read_rule(struct text t, struct zone *z)
{
    int32_t west;
    if (t.p == t.end) return true;                   /* no rule: the last change stays */
    if (!take_name(&t) || !take_clock(&t, 24, &west)) return false;
    z->winter = -west;
    z->summer = z->winter + 3600;
    z->has_rule = true;
    if (t.p == t.end) return true;
    if (!take_name(&t)) return false;
    if (t.p < t.end && *t.p != ',') {
        if (!take_clock(&t, 24, &west)) return false;
        z->summer = -west;
    }
    z->has_summer = true;
    return take_day(&t, &z->summer_begins) && take_day(&t, &z->summer_ends) && t.p == t.end;
}

static bool read_footer(const struct file *f, struct zone *z)
{
    struct text t = {(const char *)f->p + f->at, (const char *)f->p + f->len};
    if (!take(&t, '\n')) return false;
    const char *end = memchr(t.p, '\n', (size_t)(t.end - t.p));
    if (!end) return false;
    t.end = end;
    return read_rule(t, z);
}

enum status zone_parse(struct arena *a, const char *name, const void *bytes, size_t len, struct zone *ret, struct err *e)
{
    struct file f = {bytes, len, 0};
    struct head h;
    struct zone z = {.name = arena_strdup(a, name)};
    if (!z.name) return err_set(e, STATUS_MEMORY, "no memory for a time zone");
    if (len > ZONE_BYTES_MAX || !read_head(&f, &h)) return err_set(e, STATUS_INVALID, "this is no time zone file (TZif)");
    bool good;
    if (h.version >= '2') {                          /* the second block has the full range; the first is for old readers */
        good = have(&f, body_bytes(&h, 4));
        if (good) f.at += (size_t)body_bytes(&h, 4);
        good = good && read_head(&f, &h) && read_body(a, &f, &h, 8, &z) && read_footer(&f, &z);
    } else {
        good = read_body(a, &f, &h, 4, &z);
    }
    if (!good) return err_set(e, STATUS_INVALID, "the time zone file is damaged");
    *ret = z;
    return STATUS_OK;
}

/* ---- asking ---- */

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static bool leap_year(int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; }

/* Days since 1970 of such a day in `year`. */
static int64_t day_of(const struct zone_day *d, int year)
{
    if (d->kind == 'D') return civil_days(year, 1, 1) + d->day;
    if (d->kind == 'J') return civil_days(year, 1, 1) + d->day - 1 + (leap_year(year) && d->day >= 60);
    int64_t first = civil_days(year, d->month, 1);
    int64_t next = d->month == 12 ? civil_days(year + 1, 1, 1) : civil_days(year, d->month + 1, 1);
    int64_t weekday = (first + 4) - floor_div(first + 4, 7) * 7;      /* 1970-01-01 was a Thursday, 4 from Sunday */
    int64_t day = first + (d->weekday - weekday + 7) % 7 + (d->week - 1) * 7;
    while (day >= next) day -= 7;
    return day;
}

static int64_t summer_edge(const struct zone *z, int year, bool begins)
{
    const struct zone_day *d = begins ? &z->summer_begins : &z->summer_ends;
    return day_of(d, year) * DAY_S + d->at_s - (begins ? z->winter : z->summer);
}

static int32_t by_rule(const struct zone *z, int64_t s)
{
    if (!z->has_summer) return z->winter;
    int year = wall_civil((struct wall){s * US_PER_S}, z->winter).year;
    int64_t begin = summer_edge(z, year, true), end = summer_edge(z, year, false);
    bool summer = begin < end ? s >= begin && s < end : !(s >= end && s < begin);
    return summer ? z->summer : z->winter;
}

static uint32_t changes_up_to(const struct zone *z, int64_t s)
{
    uint32_t low = 0, high = z->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (z->at[middle] <= s) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int32_t offset_at(const struct zone *z, int64_t s)
{
    uint32_t i = changes_up_to(z, s);
    if (i == z->n && z->has_rule) return by_rule(z, s);
    return i ? z->offset[i - 1] : z->first;
}

int32_t zone_offset(const struct zone *z, struct wall t) { return offset_at(z, floor_div(t.us, US_PER_S)); }

struct civil zone_civil(const struct zone *z, struct wall t) { return wall_civil(t, zone_offset(z, t)); }

static int64_t next_by_rule(const struct zone *z, int64_t s)
{
    int64_t next = INT64_MAX;
    int year = wall_civil((struct wall){s * US_PER_S}, 0).year;
    for (int y = year - 1; z->has_summer && y <= year + 2; y++) {
        for (int k = 0; k < 2; k++) {
            int64_t at = summer_edge(z, y, k == 0);
            if (at > s && at < next) next = at;
        }
    }
    return next;
}

struct wall zone_next_change(const struct zone *z, struct wall t)
{
    int64_t s = floor_div(t.us, US_PER_S);
    uint32_t i = changes_up_to(z, s);
    int64_t next = i < z->n ? z->at[i] : next_by_rule(z, s);
    bool near = next < s + INT64_C(2) * 366 * DAY_S;   /* a file may hold any time */
    return near ? (struct wall){next * US_PER_S} : WALL_NONE;
}

struct wall zone_local(const struct zone *z, int64_t day, int64_t seconds)
{
    int64_t local = day * DAY_S + seconds;
    /* An offset changes at most once in two days: what holds before and after is all that can hold here. */
    int32_t before = offset_at(z, local - DAY_S - offset_at(z, local)), after = offset_at(z, local + DAY_S - offset_at(z, local));
    int64_t early = local - (before > after ? before : after), late = local - (before > after ? after : before);
    bool late_shows = late + offset_at(z, late) == local, early_shows = early + offset_at(z, early) == local;
    if (late_shows) return (struct wall){late * US_PER_S};
    if (early_shows) return (struct wall){early * US_PER_S};
    struct wall jump = zone_next_change(z, (struct wall){(early - 1) * US_PER_S});
    bool between = jump.us != WALL_NONE.us && jump.us <= late * US_PER_S;
    return between ? jump : (struct wall){late * US_PER_S};
}

bool zone_name_good(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > 60 || name[0] == '/' || name[n - 1] == '/') return false;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '_';
        if (!word && !(c == '/' && name[i + 1] != '/')) return false;
    }
    return true;
}
