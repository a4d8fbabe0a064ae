/* Columns of integers. */
#include "store/number.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/number_inside.h"

void number_free(struct number_bytes *b)
{
    free(b->p);
    *b = (struct number_bytes){0};
}

uint8_t *number_room(struct number_bytes *b, size_t n)
{
    if (b->cap - b->len < n) {
        b->cap = 2 * b->cap + n + 256;
        b->p = realloc(b->p, b->cap);
        CHECK_MEMORY(b->p);
    }
    return b->p + b->len;
}

void number_varint(struct number_bytes *b, uint64_t v)
{
    uint8_t *p = number_room(b, 10);
    for (; v >= 0x80; v >>= 7) *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    b->len = (size_t)(p - b->p);
}

static inline uint64_t zigzag(int64_t v) { return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0); }

void number_signed(struct number_bytes *b, int64_t v) { number_varint(b, zigzag(v)); }

void number_out_free(struct number_out *o)
{
    number_free(&o->head);
    number_free(&o->symbols);
    number_free(&o->bits);
    free(o->whole);
    free(o->rest);
    free(o->left);
    *o = (struct number_out){0};
}

void number_scratch(struct number_out *o, uint32_t n)
{
    if (n <= o->cap) return;
    o->cap = n;
    o->whole = realloc(o->whole, n * sizeof *o->whole);
    o->rest = realloc(o->rest, n * sizeof *o->rest);
    o->left = realloc(o->left, n * sizeof *o->left);
    CHECK_MEMORY(o->whole && o->rest && o->left);
}

/* ---- symbols ---- */

/* Below 16 the number itself; else its length in bits and the two bits after the first: 16 + 60 * 4 = 256 symbols. */
static inline unsigned symbol_of(uint64_t z, unsigned *ret_bits)
{
    if (z < 16) {
        *ret_bits = 0;
        return (unsigned)z;
    }
    unsigned length = 64 - (unsigned)__builtin_clzll(z);
    *ret_bits = length - 3;
    return 16 + (length - 5) * 4 + (unsigned)(z >> (length - 3) & 3);
}

static void put_symbols(struct number_out *o, const uint64_t *z, uint32_t n)
{
    uint8_t *s = number_room(&o->symbols, n), *b = number_room(&o->bits, (size_t)n * 8 + 16);
    uint64_t held = 0;
    unsigned filled = 0;
    for (uint32_t i = 0; i < n; i++) {
        unsigned bits;
        s[i] = (uint8_t)symbol_of(z[i], &bits);
        if (bits == 0) continue;
        uint64_t low = z[i] & ((UINT64_C(1) << bits) - 1);
        held |= low << filled;
        memcpy(b, &held, 8);          /* little-endian, see number_inside.h */
        unsigned all = filled + bits;
        if (all >= 64) {
            b += 8;
            all -= 64;
            held = all ? low >> (bits - all) : 0;
            filled = all;
            memcpy(b, &held, 8);
        } else {
            filled = all;
        }
    }
    o->symbols.len += n;
    o->bits.len = (size_t)(b - o->bits.p) + (filled + 7) / 8;
}

/* ---- choosing ---- */

/* log2(v) in 1/16 bits, exact enough to choose by and the same everywhere. */
static uint32_t log2_16(uint32_t v)
{
    static const uint8_t part[16] = {0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15};
    uint32_t whole = 31 - (uint32_t)__builtin_clz(v);
    uint32_t next = whole >= 4 ? v >> (whole - 4) & 15 : v << (4 - whole) & 15;
    return 16 * whole + part[next];
}

/* About what the symbols and bits of a column will take, in 1/16 bits. */
static uint64_t price(const uint64_t *z, uint32_t n)
{
    uint32_t count[256] = {0};
    uint64_t bits = 0, sum = 0;
    uint32_t all = log2_16(n);
    for (uint32_t i = 0; i < n; i++) {
        unsigned more;
        count[symbol_of(z[i], &more)]++;
        bits += more;
    }
    for (unsigned s = 0; s < 256; s++)
        if (count[s]) sum += (uint64_t)count[s] * (all - log2_16(count[s])) + 24;
    return 16 * bits + sum;
}

/* What `order` leaves of q[0..n): the differences from the value before, or from the line through the two before. The first
 * `order` values are not among them. Wraps there and back. */
static uint32_t differences(const int64_t *q, uint32_t n, unsigned order, int64_t *out)
{
    if (order == 0) {
        memcpy(out, q, n * sizeof *out);
    } else if (order == 1) {
        for (uint32_t i = 1; i < n; i++) out[i - 1] = wrap_sub(q[i], q[i - 1]);
    } else {
        for (uint32_t i = 2; i < n; i++) out[i - 2] = wrap_sub(wrap_sub(q[i], q[i - 1]), wrap_sub(q[i - 1], q[i - 2]));
    }
    return n - order;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The middle of up to 31 of them, spread over all. */
static int64_t centre_of(const int64_t *r, uint32_t n)
{
    int64_t some[31];
    uint32_t m = n < 31 ? n : 31;
    for (uint32_t i = 0; i < m; i++) some[i] = r[(uint64_t)i * n / m];
    qsort(some, m, sizeof *some, ascending);
    return some[m / 2];
}

/* Numbers of both signs around `base`, or, `low`, above it. */
static void around(const int64_t *r, uint32_t n, int64_t base, bool low, uint64_t *z)
{
    if (low) {
        for (uint32_t i = 0; i < n; i++) z[i] = (uint64_t)r[i] - (uint64_t)base;
    } else {
        for (uint32_t i = 0; i < n; i++) z[i] = zigzag(wrap_sub(r[i], base));
    }
}

static int64_t least(const int64_t *r, uint32_t n)
{
    int64_t min = r[0];
    for (uint32_t i = 1; i < n; i++) min = r[i] < min ? r[i] : min;
    return min;
}

static uint64_t common(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* q = (x - x[0]) / step; returns the step. */
static uint64_t divide(const int64_t *x, uint32_t n, int64_t *q)
{
    uint64_t step = 0;
    int64_t min = x[0], max = x[0];
    for (uint32_t i = 1; i < n; i++) {
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
    }
    bool far = (uint64_t)max - (uint64_t)min > INT64_MAX;     /* differences wrap: dividing them means nothing */
    for (uint32_t i = 1; i < n && step != 1 && !far; i++) {
        uint64_t d = x[i] >= x[0] ? (uint64_t)x[i] - (uint64_t)x[0] : (uint64_t)x[0] - (uint64_t)x[i];
        if (d) step = common(step, d);
    }
    if (far) step = 1;
    for (uint32_t i = 0; i < n; i++) q[i] = wrap_sub(x[i], x[0]);
    if (step > 1)
        for (uint32_t i = 0; i < n; i++) q[i] /= (int64_t)step;
    return step;
}

static struct number_plan choose(struct number_out *o, const int64_t *q, uint32_t n)
{
    struct number_plan best = {.price = UINT64_MAX};
    for (unsigned order = 0; order <= 2 && order < n; order++) {
        uint32_t m = differences(q, n, order, o->rest);
        int64_t bases[2] = {centre_of(o->rest, m), least(o->rest, m)};
        for (unsigned low = 0; low < 2; low++) {
            around(o->rest, m, bases[low], low, o->left);
            uint64_t p = price(o->left, m);
            if (p < best.price) best = (struct number_plan){.order = order, .low = low, .base = bases[low], .price = p};
            if (p > best.price + UINT64_C(17) * m) break;   /* without signs it takes a bit a number less, not more */
        }
    }
    return best;
}

static int64_t *quotients(uint32_t n)
{
    int64_t *q = malloc(n * sizeof *q);    /* the caller's integers may stand in the scratch */
    CHECK_MEMORY(q);
    return q;
}

struct number_plan number_plan_of(struct number_out *o, const int64_t *x, uint32_t n)
{
    struct number_plan plan = {.same = true};
    number_scratch(o, n);
    for (uint32_t i = 1; plan.same && i < n; i++) plan.same = x[i] == x[0];
    if (plan.same) return plan;
    int64_t *q = quotients(n);
    (void)divide(x, n, q);
    plan = choose(o, q, n);
    free(q);
    return plan;
}

void number_put_planned(struct number_out *o, const int64_t *x, uint32_t n, const struct number_plan *plan)
{
    if (plan->same) {
        number_varint(&o->head, 0);
        number_signed(&o->head, x[0]);
        return;
    }
    int64_t *q = quotients(n);
    uint64_t step = divide(x, n, q);
    number_varint(&o->head, 1u + plan->order * 2 + plan->low);
    number_signed(&o->head, x[0]);
    number_varint(&o->head, step);
    number_signed(&o->head, plan->base);
    if (plan->order == 2) number_signed(&o->head, wrap_sub(q[1], q[0]));
    size_t before = o->bits.len;
    uint32_t m = differences(q, n, plan->order, o->rest);
    around(o->rest, m, plan->base, plan->low, o->left);
    put_symbols(o, o->left, m);
    number_varint(&o->head, o->bits.len - before);
    free(q);
}

void number_put_whole(struct number_out *o, const int64_t *x, uint32_t n)
{
    struct number_plan plan = number_plan_of(o, x, n);
    number_put_planned(o, x, n, &plan);
}

void number_put_ints(struct number_out *o, const int64_t *x, uint32_t n)
{
    if (n) number_put_whole(o, x, n);
}
