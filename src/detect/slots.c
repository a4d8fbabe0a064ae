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

/* Element k in ascending order, bit by bit. A fixed number of passes over a fixed length: no branch to guess wrong, and
 * compilers turn a pass into a few vector instructions. */
static inline uint16_t nth_key(const uint16_t *key, uint32_t len, uint32_t k)
{
    uint16_t v = 0;
    for (unsigned bit = 0x8000; bit; bit >>= 1) {
        uint16_t t = (uint16_t)(v | bit), n = 0;
        for (uint32_t i = 0; i < len; i++) n = (uint16_t)(n + (key[i] < t));
        if (n <= k) v = t;
    }
    return v;
}

static uint16_t nth_of_few(const uint16_t key[SLOT_ACC], uint32_t k) { return nth_key(key, SLOT_ACC, k); }
static uint16_t nth_of_day(const uint16_t key[SLOTS_DAY], uint32_t k) { return nth_key(key, SLOTS_DAY, k); }

double slot_median(const uint16_t *codes, uint32_t n)
{
    uint16_t key[SLOTS_DAY];
    bool few = n <= SLOT_ACC;
    for (uint32_t i = 0; i < n; i++) key[i] = to_key(codes[i]);
    for (uint32_t i = n; i < (few ? SLOT_ACC : SLOTS_DAY); i++) key[i] = UINT16_MAX;
    uint16_t high = few ? nth_of_few(key, n / 2) : nth_of_day(key, n / 2);
    if (n % 2) return slot_value(from_key(high));
    uint16_t low = few ? nth_of_few(key, n / 2 - 1) : nth_of_day(key, n / 2 - 1);
    return low == high ? slot_value(from_key(high)) : (slot_value(from_key(low)) + slot_value(from_key(high))) / 2;
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

static bool excluded_at(const struct track *t, uint32_t at) { return t->past->excluded[at / 8] >> (at % 8) & 1; }

/* Writes only what differs: a page that was never written takes no room. */
static void slot_put(const struct track *t, int64_t no, uint16_t code, bool excluded)
{
    uint32_t at = slot_ring_at(no);
    uint16_t *slot = &t->slots[(size_t)at * t->stride];
    if (*slot != code) *slot = code;
    if (excluded_at(t, at) != excluded) t->past->excluded[at / 8] ^= (uint8_t)(1u << (at % 8));
}

/* Code of a closed slot; 0 when nothing is known about it. */
uint16_t slot_get(const struct series *s, const struct track *t, int64_t no, bool with_excluded)
{
    if (s->slot_now == INT64_MIN || no < s->slot_first || no >= s->slot_now || no < s->slot_now - SLOT_RING) return 0;
    uint32_t at = slot_ring_at(no);
    return with_excluded || !excluded_at(t, at) ? t->slots[(size_t)at * t->stride] : 0;
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
        t->past->excluded[at / 8] |= (uint8_t)(1u << (at % 8));
    }
    if (last >= s->slot_now) s->slot_bad = s->slot_seen;
}
