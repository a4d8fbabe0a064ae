/* 15-minute slots of local wall time over 60 days: what profile, drift and week_ago read. */
#include "detect/series.h"

#include <string.h>

#define CODE_ZERO 1u           /* a known value too small to have an exponent of its own */

uint16_t slot_code(double v)
{
    float f = to_float(v);
    uint32_t bits;
    if (isnan(f)) return 0;
    memcpy(&bits, &f, sizeof bits);
    bits += 1u << 14;                                     /* round the mantissa to 8 bits */
    int32_t e = (int32_t)(bits >> 23 & 0xff) - 127 + 64;
    if (e < 1) return CODE_ZERO;
    return (uint16_t)(bits >> 31 << 15 | (uint32_t)(e > 127 ? 127 : e) << 8 | (bits >> 15 & 0xff));
}

double slot_value(uint16_t code)
{
    if (code == 0) return NAN;
    uint32_t e = code >> 8 & 0x7f;
    if (e == 0) return 0;
    uint32_t bits = (uint32_t)(code >> 15) << 31 | (e - 64 + 127) << 23 | (uint32_t)(code & 0xff) << 15;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Codes in an order that is that of their values. */
static uint16_t to_key(uint16_t code) { return (uint16_t)(code ^ (code & 0x8000u ? 0xffffu : 0x8000u)); }
static uint16_t from_key(uint16_t key) { return (uint16_t)(key ^ (key & 0x8000u ? 0x8000u : 0xffffu)); }

/* Element k in ascending order and, for even n, the one before it: by halving the range between the least and the greatest
 * key, where a day's keys lie close together. Fixed lengths and no branch inside a pass: compilers make it a few vector
 * instructions. Places behind n hold the greatest key of all and are counted nowhere. */
static inline uint16_t count_below(const uint16_t *key, uint32_t len, uint16_t v)
{
    uint16_t n = 0;
    for (uint32_t i = 0; i < len; i++) n = (uint16_t)(n + (key[i] < v));
    return n;
}

static inline uint16_t greatest_below(const uint16_t *key, uint32_t len, uint16_t v)
{
    uint16_t best = 0;
    for (uint32_t i = 0; i < len; i++) {
        uint16_t x = key[i] < v ? key[i] : 0;
        best = x > best ? x : best;
    }
    return best;
}

struct two_keys { uint16_t low, high; };

static inline struct two_keys middle(const uint16_t *key, uint32_t len, uint32_t n, uint16_t least, uint16_t greatest)
{
    uint32_t lo = least, hi = greatest, k = n / 2;           /* element k lies in [lo, hi] */
    uint16_t below_lo = 0;
    while (lo < hi) {
        uint32_t mid = (lo + hi + 1) / 2;
        uint16_t below = count_below(key, len, (uint16_t)mid);
        if (below <= k) {
            lo = mid;
            below_lo = below;
        } else {
            hi = mid - 1;
        }
    }
    struct two_keys m = {(uint16_t)lo, (uint16_t)lo};
    if (n % 2 == 0 && below_lo == k) m.low = greatest_below(key, len, m.high);
    return m;
}

double slot_median(const uint16_t *codes, uint32_t n)
{
    uint16_t key[SLOTS_DAY], least = UINT16_MAX, greatest = 0;
    bool few = n <= SLOT_ACC;
    for (uint32_t i = 0; i < n; i++) {
        key[i] = to_key(codes[i]);
        least = key[i] < least ? key[i] : least;
        greatest = key[i] > greatest ? key[i] : greatest;
    }
    for (uint32_t i = n; i < (few ? SLOT_ACC : SLOTS_DAY); i++) key[i] = UINT16_MAX;
    struct two_keys m = few ? middle(key, SLOT_ACC, n, least, greatest) : middle(key, SLOTS_DAY, n, least, greatest);
    double high = slot_value(from_key(m.high));
    return n % 2 || m.low == m.high ? high : (slot_value(from_key(m.low)) + high) / 2;
}

int64_t slot_number(const struct track *t, int64_t wall)
{
    int64_t local = wall + t->offset_us, no = local / t->slot_us;
    return local % t->slot_us < 0 ? no - 1 : no;
}

uint32_t slot_ring_at(int64_t no)
{
    int64_t at = no % SLOT_RING;
    return (uint32_t)(at < 0 ? at + SLOT_RING : at);
}

static bool excluded_at(const struct track *t, uint32_t at) { return *slot_marks(t, at / 8) >> (at % 8) & 1; }

/* Writes only what differs: a page that was never written takes no room. */
static void slot_put(const struct track *t, int64_t no, uint16_t code, bool excluded)
{
    uint32_t at = slot_ring_at(no);
    uint16_t *slot = slot_place(t, at);
    if (*slot != code) *slot = code;
    if (excluded_at(t, at) != excluded) *slot_marks(t, at / 8) ^= (uint8_t)(1u << (at % 8));
}

/* Code of a closed slot; 0 when nothing is known about it. */
uint16_t slot_get(const struct series *s, const struct track *t, int64_t no, bool with_excluded)
{
    if (s->slot_now == INT64_MIN || no < s->slot_first || no >= s->slot_now || no < s->slot_now - SLOT_RING) return 0;
    uint32_t at = slot_ring_at(no);
    return with_excluded || !excluded_at(t, at) ? *slot_place(t, at) : 0;
}

static void slot_close(struct series *s, const struct track *t)
{
    uint16_t code = 0;
    uint32_t n = s->slot_count < SLOT_ACC ? s->slot_count : SLOT_ACC;
    bool excluded = 3 * s->slot_bad > s->slot_seen;
    if (n > 0 && 2 * s->slot_count >= t->slot_ticks) code = slot_code(slot_median(s->slot_acc, n));
    slot_put(t, s->slot_now, code, excluded);
    score_slot_closed(s, t, s->slot_now, excluded);
    s->slot_count = s->slot_bad = s->slot_seen = 0;
}

static void slot_open(struct series *s, const struct track *t, int64_t no)
{
    if (s->slot_now == INT64_MIN) {
        s->slot_first = s->anchor_at = no;
    } else {
        slot_close(s, t);
        int64_t first = s->slot_now + 1;
        if (no - first > SLOT_RING) first = no - SLOT_RING;
        for (int64_t i = first; i < no; i++) slot_put(t, i, 0, false);
        slot_put(t, no, 0, false);
    }
    s->slot_now = no;
    score_slot_opened(s, t);
    anchor_closed(s, t);
}

void slots_tick(struct series *s, const struct track *t, const struct series_tick *k)
{
    int64_t no = slot_number(t, k->wall);
    if (s->slot_now == INT64_MIN || no > s->slot_now) slot_open(s, t, no);
    if (no < s->slot_now) return;         /* the wall clock stepped back: wait until it has caught up */
    s->slot_seen++;
    if (k->excluded) s->slot_bad++;
    if (isnan(s->x)) return;
    if (s->slot_count < SLOT_ACC) s->slot_acc[s->slot_count] = slot_code(s->x);
    s->slot_count++;
}

/* Excludes closed slots that touch (from, to], given that `now` is `wall` on the clock. */
void slots_mark(struct series *s, const struct track *t, int64_t now, int64_t wall, int64_t from, int64_t to)
{
    if (s->slot_now == INT64_MIN || to <= from) return;
    int64_t first = slot_number(t, wall - (now - from)), last = slot_number(t, wall - (now - to));
    if (first < s->slot_now - SLOT_RING) first = s->slot_now - SLOT_RING;
    if (first < s->slot_first) first = s->slot_first;
    for (int64_t no = first; no <= last && no < s->slot_now; no++) {
        uint32_t at = slot_ring_at(no);
        *slot_marks(t, at / 8) |= (uint8_t)(1u << (at % 8));
    }
    if (last >= s->slot_now) s->slot_bad = s->slot_seen;
}
