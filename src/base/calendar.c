/* The calendar half of base/time.h: proleptic Gregorian dates in UTC, no time zone database. */
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/time.h"

enum { DAYS_400_YEARS = 146097, DAYS_TO_1970 = 719468 /* from 0000-03-01 */ };

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Years are counted from 1 March, so that the leap day is the last of its year. */
int64_t civil_days(int year, int month, int day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = floor_div(y, 400);
    int64_t of_era = y - era * 400;
    int64_t months = (month + 9) % 12;
    int64_t of_year = (153 * months + 2) / 5 + day - 1;
    return era * DAYS_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970;
}

static void civil_date(int64_t days, struct civil *c)
{
    int64_t shifted = days + DAYS_TO_1970;
    int64_t era = floor_div(shifted, DAYS_400_YEARS);
    int64_t of_era = shifted - era * DAYS_400_YEARS;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t months = (5 * of_year + 2) / 153;
    c->day = (int)(of_year - (153 * months + 2) / 5 + 1);
    c->month = (int)(months < 10 ? months + 3 : months - 9);
    c->year = (int)(era * 400 + year + (c->month <= 2));
    c->weekday = (int)((days + 3) - floor_div(days + 3, 7) * 7);  /* 1970-01-01 was a Thursday */
    c->yday = (int)(days - civil_days(c->year, 1, 1));
}

struct civil wall_civil(struct wall t, int offset_s)
{
    int64_t seconds = floor_div(t.us, US_PER_S) + offset_s;
    int64_t days = floor_div(seconds, 86400);
    int of_day = (int)(seconds - days * 86400);
    struct civil c = {.hour = of_day / 3600, .minute = of_day / 60 % 60, .second = of_day % 60};
    civil_date(days, &c);
    return c;
}

void wall_print(struct buf *out, struct wall t)
{
    if (t.us == WALL_NONE.us) {
        buf_putc(out, '-');
        return;
    }
    struct civil c = wall_civil(t, 0);
    int ms = (int)((t.us - floor_div(t.us, US_PER_S) * US_PER_S) / US_PER_MS);
    buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", c.year, c.month, c.day, c.hour, c.minute, c.second, ms);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* `n` digits at *s into *ret, moving *s behind them. */
static bool take_digits(const char **s, int n, int *ret)
{
    int v = 0;
    for (int i = 0; i < n; i++) {
        if (!is_digit((*s)[i])) return false;
        v = v * 10 + ((*s)[i] - '0');
    }
    *s += n;
    *ret = v;
    return true;
}

static bool take_char(const char **s, char c)
{
    if (**s != c) return false;
    (*s)++;
    return true;
}

/* Optional ".digits" as microseconds, cut after the sixth. */
static bool take_fraction(const char **s, int64_t *us)
{
    *us = 0;
    if (!take_char(s, '.')) return true;
    if (!is_digit(**s)) return false;
    for (int64_t unit = 100000; is_digit(**s); (*s)++, unit /= 10) *us += (**s - '0') * unit;
    return true;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool take_date(const char **s, int64_t *days)
{
    int year, month, day;
    if (!take_digits(s, 4, &year) || !take_char(s, '-') || !take_digits(s, 2, &month) || !take_char(s, '-') ||
        !take_digits(s, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) return false;
    *days = civil_days(year, month, day);
    return true;
}

/* "Z" or "+hh:mm": seconds east of UTC. */
static bool take_offset(const char **s, int *east_s)
{
    *east_s = 0;
    if (take_char(s, 'Z') || take_char(s, 'z')) return true;
    bool west = **s == '-';
    if (!take_char(s, '-') && !take_char(s, '+')) return false;
    int hours, minutes;
    if (!take_digits(s, 2, &hours) || !take_char(s, ':') || !take_digits(s, 2, &minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    *east_s = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

static bool parse_rfc3339(const char *s, struct wall *ret)
{
    int64_t days, us = 0;
    int hour = 0, minute = 0, second = 0, east_s = 0;
    if (!take_date(&s, &days)) return false;
    if (*s) {
        if (!take_char(&s, 'T') && !take_char(&s, 't') && !take_char(&s, ' ')) return false;
        if (!take_digits(&s, 2, &hour) || !take_char(&s, ':') || !take_digits(&s, 2, &minute) ||
            !take_char(&s, ':') || !take_digits(&s, 2, &second) || !take_fraction(&s, &us) ||
            !take_offset(&s, &east_s) || *s)
            return false;
        if (hour > 23 || minute > 59 || second > 59) return false;
    }
    int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second - east_s;
    ret->us = seconds * US_PER_S + us;
    return true;
}

static bool parse_unix(const char *s, struct wall *ret)
{
    const int64_t last = INT64_C(253402300799);  /* 9999-12-31T23:59:59Z */
    bool negative = take_char(&s, '-');
    const char *start = s;
    while (is_digit(*s)) s++;
    uint64_t seconds;
    int64_t us;
    if (!num_parse_u64(start, (size_t)(s - start), &seconds) || seconds > (uint64_t)last) return false;
    if (!take_fraction(&s, &us) || *s) return false;
    us += (int64_t)seconds * US_PER_S;
    ret->us = negative ? -us : us;
    return true;
}

bool wall_parse(const char *text, struct wall *ret)
{
    struct wall t;
    if (!parse_rfc3339(text, &t) && !parse_unix(text, &t)) return false;
    *ret = t;
    return true;
}
