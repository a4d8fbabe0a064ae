#include "decide/decide.h"

#define MIN_PER_DAY 1440
#define DAYS_AHEAD 8

static bool begins_on(const struct window_def *w, int weekday)
{
    return w->weekdays >> weekday & 1;
}

static bool inside(const struct window_def *w, struct wall wall)
{
    struct civil c = wall_civil(wall, w->offset_s);
    int minute = c.hour * 60 + c.minute, yesterday = (c.weekday + 6) % 7;
    if (w->to_min > w->from_min) return begins_on(w, c.weekday) && minute >= w->from_min && minute < w->to_min;
    return (begins_on(w, c.weekday) && minute >= w->from_min) || (begins_on(w, yesterday) && minute < w->to_min);
}

bool decide_window_open(const struct service_def *s, struct wall wall)
{
    for (uint16_t i = 0; i < s->window_count; i++)
        if (inside(&s->windows[i], wall)) return true;
    return s->window_count == 0;
}

/* Start of the day of `wall` where the window is, plus `days` and `minutes`. */
static struct wall edge(const struct window_def *w, struct wall wall, int days, int minutes)
{
    struct civil c = wall_civil(wall, w->offset_s);
    int64_t day = civil_days(c.year, c.month, c.day) + days;
    return (struct wall){day * US_PER_DAY + minutes * US_PER_MIN - w->offset_s * US_PER_S};
}

struct wall decide_window_change(const struct service_def *s, struct wall wall)
{
    bool now = decide_window_open(s, wall);
    struct wall next = WALL_NONE;
    for (uint16_t i = 0; i < s->window_count; i++) {
        const struct window_def *w = &s->windows[i];
        for (int n = 0; n < 2 * (DAYS_AHEAD + 1); n++) {
            struct wall at = edge(w, wall, n / 2, n % 2 ? w->to_min : w->from_min);
            bool sooner = at.us > wall.us && (next.us == WALL_NONE.us || at.us < next.us);
            if (sooner && decide_window_open(s, at) != now) next = at;
        }
    }
    return next;
}
