/* Reading columns back. The bytes may be anything: lengths are checked before anything is believed. */
#include <string.h>

#include "store/number_inside.h"

uint64_t number_get_varint(struct number_in *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->head.at >= in->head.len) break;
        uint8_t byte = in->head.p[in->head.at++];
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return v;
    }
    in->failed = true;
    return 0;
}

static inline int64_t unzigzag(uint64_t v) { return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0)); }

int64_t number_get_signed(struct number_in *in) { return unzigzag(number_get_varint(in)); }

static uint64_t get_le64(struct number_in *in)
{
    uint64_t v = 0;
    if (in->head.len - in->head.at < 8) {
        in->failed = true;
        return 0;
    }
    memcpy(&v, in->head.p + in->head.at, 8);
    in->head.at += 8;
    return v;
}

struct column {
    bool same, low;
    unsigned order;
    int64_t first, base, slope;
    uint64_t step;
    const uint8_t *symbols, *bits;
    size_t bits_len;
};

/* Takes a column's part of the three streams. */
static bool open_column(struct number_in *in, uint32_t n, struct column *c)
{
    uint64_t kind = number_get_varint(in);
    *c = (struct column){.same = kind == 0, .first = number_get_signed(in)};
    if (in->failed || kind > 6) return false;
    if (c->same) return true;
    c->order = (unsigned)(kind - 1) / 2;
    c->low = (kind - 1) & 1;
    c->step = number_get_varint(in);
    c->base = number_get_signed(in);
    if (c->order == 2) c->slope = number_get_signed(in);
    uint64_t len = number_get_varint(in);
    if (in->failed || c->order > n || n - c->order > in->symbols.len - in->symbols.at || len > in->bits.len - in->bits.at)
        return false;
    c->symbols = in->symbols.p + in->symbols.at;
    c->bits = in->bits.p + in->bits.at;
    c->bits_len = (size_t)len;
    in->symbols.at += n - c->order;
    in->bits.at += (size_t)len;
    return true;
}

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* The numbers behind the symbols, base added: out[0..n). */
static bool get_rest(const struct column *c, int64_t *out, uint32_t n)
{
    size_t at = 0, end = c->bits_len * 8;
    uint64_t base = (uint64_t)c->base;
    for (uint32_t i = 0; i < n; i++) {
        unsigned s = c->symbols[i];
        uint64_t z = s;
        if (s >= 16) {
            unsigned more = (s - 16) / 4 + 2;
            if (at + more > end) return false;
            const uint8_t *p = c->bits + (at >> 3);
            unsigned shift = at & 7;
            uint64_t low = load64(p) >> shift;
            if (more + shift > 64) low |= (uint64_t)p[8] << (64 - shift);
            z = (UINT64_C(4) | ((s - 16) & 3)) << more | (low & ((UINT64_C(1) << more) - 1));
            at += more;
        }
        out[i] = (int64_t)((c->low ? z : (uint64_t)unzigzag(z)) + base);
    }
    return end - at < 8;                   /* all of it, to the byte */
}

/* out[order..n) holds what the prediction left; from here on it holds the column. */
static void rebuild(const struct column *c, int64_t *x, uint32_t n)
{
    uint64_t first = (uint64_t)c->first, step = c->step, value = 0, slope = (uint64_t)c->slope;
    if (c->order == 0) {
        for (uint32_t i = 0; i < n; i++) x[i] = (int64_t)(first + (uint64_t)x[i] * step);
        return;
    }
    x[0] = c->first;
    if (c->order == 1) {
        for (uint32_t i = 1; i < n; i++) {
            value += (uint64_t)x[i];
            x[i] = (int64_t)(first + value * step);
        }
        return;
    }
    value = slope;
    if (n > 1) x[1] = (int64_t)(first + value * step);
    for (uint32_t i = 2; i < n; i++) {
        slope += (uint64_t)x[i];
        value += slope;
        x[i] = (int64_t)(first + value * step);
    }
}

bool number_get_ints(struct number_in *in, int64_t *x, uint32_t n)
{
    struct column c;
    if (n == 0) return true;
    if (!open_column(in, n, &c)) return false;
    if (c.same) {
        for (uint32_t i = 0; i < n; i++) x[i] = c.first;
        return true;
    }
    if (!get_rest(&c, x + c.order, n - c.order)) return false;
    rebuild(&c, x, n);
    return true;
}

bool number_skip_ints(struct number_in *in, uint32_t n)
{
    struct column c;
    return n == 0 || open_column(in, n, &c);
}

static inline double double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The values that are no decimals: their places and bits. x NULL: passed over. */
static bool get_odd(struct number_in *in, struct number_in *odd, double *x, uint32_t n)
{
    *odd = *in;                            /* read again when the column is there */
    uint64_t count = number_get_varint(in), at = 0;
    for (uint64_t i = 0; i < count && !in->failed; i++) {
        at += number_get_varint(in);
        uint64_t bits = get_le64(in);
        if (in->failed || at >= n) return false;
        if (x) x[at] = double_of(bits);
    }
    return !in->failed;
}

static bool get_decimals(struct number_in *in, double *x, uint32_t n, int64_t *whole)
{
    uint64_t e = number_get_varint(in);
    struct number_in odd, again;
    if (in->failed || e >= NUMBER_POW10 || !get_odd(in, &odd, NULL, n) || !number_get_ints(in, whole, n)) return false;
    double scale = number_pow10[e];
    if (e == 0)
        for (uint32_t i = 0; i < n; i++) x[i] = (double)whole[i];
    else
        for (uint32_t i = 0; i < n; i++) x[i] = (double)whole[i] / scale;
    return get_odd(&odd, &again, x, n);
}

static bool get_near(struct number_in *in, double *x, uint32_t n, int64_t *whole)
{
    uint64_t e = number_get_varint(in);
    if (in->failed || e >= NUMBER_POW10 || !number_get_ints(in, whole, n)) return false;
    for (uint32_t i = 0; i < n; i++) x[i] = (double)whole[i] / number_pow10[e];
    if (!number_get_ints(in, whole, n)) return false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        x[i] = double_of((uint64_t)number_ordered((uint64_t)wrap_add(whole[i], number_ordered(bits))));
    }
    return true;
}

bool number_get_doubles(struct number_in *in, double *x, uint32_t n, int64_t *scratch)
{
    if (n == 0) return true;
    uint64_t form = number_get_varint(in);
    if (form == NUMBER_SAME) {
        double v = double_of(get_le64(in));
        for (uint32_t i = 0; i < n && !in->failed; i++) x[i] = v;
        return !in->failed;
    }
    if (form == NUMBER_DECIMAL) return get_decimals(in, x, n, scratch);
    if (form == NUMBER_NEAR) return get_near(in, x, n, scratch);
    if (in->failed || form != NUMBER_BITS || !number_get_ints(in, scratch, n)) return false;
    for (uint32_t i = 0; i < n; i++) x[i] = double_of((uint64_t)number_ordered((uint64_t)scratch[i]));
    return true;
}

bool number_skip_doubles(struct number_in *in, uint32_t n)
{
    struct number_in odd;
    if (n == 0) return true;
    uint64_t form = number_get_varint(in);
    if (form == NUMBER_SAME) return (void)get_le64(in), !in->failed;
    if (form == NUMBER_DECIMAL) return (void)number_get_varint(in), get_odd(in, &odd, NULL, n) && number_skip_ints(in, n);
    if (form == NUMBER_NEAR) return (void)number_get_varint(in), number_skip_ints(in, n) && number_skip_ints(in, n);
    return !in->failed && form == NUMBER_BITS && number_skip_ints(in, n);
}
