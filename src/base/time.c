#include "base/time.h"

#include <string.h>

#include "base/buf.h"
#include "base/num.h"

static int64_t add_saturating(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

/* An instant that is reached by arithmetic stays an instant: NEVER and NONE are said, never computed. */
static int64_t within_instants(int64_t us)
{
    if (us == INT64_MAX) return INT64_MAX - 1;
    if (us == INT64_MIN) return INT64_MIN + 1;
    return us;
}

struct instant instant_add(struct instant t, struct span d)
{
    if (!instant_is_set(t)) return t;
    return (struct instant){within_instants(add_saturating(t.us, d.us))};
}

struct instant instant_sub(struct instant t, struct span d)
{
    if (!instant_is_set(t)) return t;
    int64_t us;
    if (__builtin_sub_overflow(t.us, d.us, &us)) us = d.us < 0 ? INT64_MAX : INT64_MIN;
    return (struct instant){within_instants(us)};
}

struct span instant_since(struct instant later, struct instant earlier)
{
    if (later.us == earlier.us) return (struct span){0};
    if (later.us == INT64_MAX || earlier.us == INT64_MIN) return (struct span){INT64_MAX};
    if (later.us == INT64_MIN || earlier.us == INT64_MAX) return (struct span){INT64_MIN};
    int64_t us;
    if (__builtin_sub_overflow(later.us, earlier.us, &us)) us = later.us > earlier.us ? INT64_MAX : INT64_MIN;
    return (struct span){us};
}

static void print_magnitude(struct buf *out, uint64_t us)
{
    uint64_t seconds = us / (uint64_t)US_PER_S;
    if (us == 0) {
        buf_puts(out, "0 s");
    } else if (us < (uint64_t)US_PER_S) {
        buf_sig3(out, (double)us / 1e3);
        buf_puts(out, " ms");
    } else if (seconds < 60) {
        buf_sig3(out, (double)us / 1e6);
        buf_puts(out, " s");
    } else if (seconds < 3600) {
        buf_printf(out, "%d:%02d", (int)(seconds / 60), (int)(seconds % 60));
    } else if (seconds < 86400) {
        buf_printf(out, "%d h", (int)(seconds / 3600));
        if (seconds / 60 % 60) buf_printf(out, " %d min", (int)(seconds / 60 % 60));
    } else {
        buf_u64(out, seconds / 86400);
        buf_puts(out, " d");
        if (seconds / 3600 % 24) buf_printf(out, " %d h", (int)(seconds / 3600 % 24));
    }
}

void span_print(struct buf *out, struct span d)
{
    if (d.us < 0) buf_putc(out, '-');
    print_magnitude(out, d.us < 0 ? 0 - (uint64_t)d.us : (uint64_t)d.us);
}

struct duration_unit { const char *name; int64_t us; };
static const struct duration_unit units[] = {
    {"y", 365 * US_PER_DAY}, {"w", 7 * US_PER_DAY}, {"d", US_PER_DAY}, {"h", US_PER_HOUR},
    {"m", US_PER_MIN}, {"s", US_PER_S}, {"ms", US_PER_MS},
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Index of the unit at the start of text, ARRAY_LEN(units) when there is none. */
static size_t find_unit(const char *text, unsigned len)
{
    if (len >= 2 && text[0] == 'm' && text[1] == 's') return ARRAY_LEN(units) - 1;
    size_t i = 0;
    while (i < ARRAY_LEN(units) - 1 && (len == 0 || text[0] != units[i].name[0])) i++;
    return i < ARRAY_LEN(units) - 1 ? i : ARRAY_LEN(units);
}

unsigned span_parse(const char *text, unsigned len, struct span *ret)
{
    unsigned at = 0;
    size_t next_unit = 0;
    int64_t total = 0;
    while (at < len && is_digit(text[at])) {
        unsigned end = at;
        while (end < len && is_digit(text[end])) end++;
        size_t unit = find_unit(text + end, len - end);
        if (unit == ARRAY_LEN(units) || unit < next_unit) break;
        uint64_t count;
        int64_t us;
        if (!num_parse_u64(text + at, end - at, &count) || count > INT64_MAX) return 0;
        if (__builtin_mul_overflow((int64_t)count, units[unit].us, &us)) return 0;
        if (__builtin_add_overflow(total, us, &total)) return 0;
        next_unit = unit + 1;
        at = end + (unsigned)strlen(units[unit].name);
    }
    if (at == 0) {
        bool bare_zero = len && text[0] == '0' && (len == 1 || !is_digit(text[1]));
        if (!bare_zero) return 0;
        at = 1;
    }
    ret->us = total;
    return at;
}

void span_print_config(struct buf *out, struct span d)
{
    uint64_t us = d.us < 0 ? 0 - (uint64_t)d.us : (uint64_t)d.us;
    us -= us % (uint64_t)US_PER_MS;
    if (us == 0) {
        buf_puts(out, "0s");
        return;
    }
    if (d.us < 0) buf_putc(out, '-');
    for (size_t i = 0; i < ARRAY_LEN(units) && us; i++) {
        uint64_t unit = (uint64_t)units[i].us;
        if (us < unit || (i < 2 && us % unit)) continue;  /* years and weeks only when they come out even */
        buf_u64(out, us / unit);
        buf_puts(out, units[i].name);
        us %= unit;
    }
}
