/* Columns of doubles: most are decimals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/number_inside.h"

#define EXACT_MAX 9007199254740992.0       /* 2^53: integers up to here are doubles, and m / 10^e is rounded once */
#define NONE 99u
#define TRIED 32u                          /* values that the form of a column is guessed by */
#define NEAR_ULPS 64                       /* sums of decimals drift off by so little */

const double number_pow10[NUMBER_POW10] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline uint64_t bits_of(double v)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

/* v = m / 10^e to the bit? -0 is not: it would come back as 0. */
static inline bool is_decimal(double v, unsigned e, int64_t *ret_m)
{
    if (e == 0) {
        if (!(v > -9.2e18 && v < 9.2e18)) return false;
        *ret_m = (int64_t)v;
        return bits_of((double)*ret_m) == bits_of(v);
    }
    double t = rint(v * number_pow10[e]);
    if (!(fabs(t) <= EXACT_MAX)) return false;
    *ret_m = (int64_t)t;
    return bits_of((double)*ret_m / number_pow10[e]) == bits_of(v);
}

/* The fewest decimals from `e` on that give v exactly; NONE. */
static unsigned exact_decimals(double v, unsigned e)
{
    int64_t m;
    for (; e < NUMBER_POW10; e++) {
        if (is_decimal(v, e, &m)) return e;
        if (!(fabs(v) * number_pow10[e] <= EXACT_MAX)) break;
    }
    return NONE;
}

/* The decimal nearest to v, and how many doubles v is away from it. */
static int64_t off_decimal(double v, unsigned e, int64_t *m)
{
    double t = rint(v * number_pow10[e]);
    if (fabs(t) <= EXACT_MAX) *m = (int64_t)t;           /* else the one before stays: any will do */
    return wrap_sub(number_ordered(bits_of(v)), number_ordered(bits_of((double)*m / number_pow10[e])));
}

/* The fewest decimals that come near v and are worth it: a number of less than 40 bits. */
static unsigned near_decimals(double v)
{
    for (unsigned e = 1; e < 12 && fabs(v) * number_pow10[e] < 1e12; e++) {
        int64_t m = 0, off = off_decimal(v, e, &m);
        if (off >= -NEAR_ULPS && off <= NEAR_ULPS) return e;
    }
    return NONE;
}

struct guess { unsigned exact, near; bool mostly_exact; };

static struct guess guess_form(const double *x, uint32_t n)
{
    struct guess g = {0, 0, false};
    uint32_t m = n < TRIED ? n : TRIED, failed = 0, near_failed = 0;
    for (uint32_t i = 0; i < m; i++) {
        double v = x[(uint64_t)i * n / m];
        unsigned e = exact_decimals(v, g.exact);
        if (e == NONE) failed++;
        else g.exact = e;
        if (e == 0) continue;
        e = near_decimals(v);
        if (e == NONE) near_failed++;
        else g.near = e > g.near ? e : g.near;
    }
    g.mostly_exact = failed * 4 <= m;
    if (near_failed * 8 > m) g.near = NONE;
    return g;
}

/* o->whole = the column as decimals of *e places, raised as far as a value needs; the rest is named in `odd`. NONE: too
 * many are no decimals. */
static unsigned as_decimals(struct number_out *o, const double *x, uint32_t n, unsigned e, uint32_t *odd, uint32_t *ret_odd)
{
    uint32_t k = 0, most = n / 8 + 2;
    for (uint32_t i = 0; i < n; i++) {
        if (is_decimal(x[i], e, &o->whole[i])) continue;
        unsigned more = exact_decimals(x[i], e);
        if (more != NONE) {
            e = more;
            k = 0;
            i = UINT32_MAX;            /* begin again with more places */
            continue;
        }
        if (k == most) return NONE;
        odd[k++] = i;
        o->whole[i] = i ? o->whole[i - 1] : 0;
    }
    *ret_odd = k;
    return e;
}

static void as_near(struct number_out *o, const double *x, uint32_t n, unsigned e, int64_t *off)
{
    int64_t m = 0;
    for (uint32_t i = 0; i < n; i++) {
        off[i] = off_decimal(x[i], e, &m);
        o->whole[i] = m;
    }
}

static void as_bits(struct number_out *o, const double *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) o->whole[i] = number_ordered(bits_of(x[i]));
}

static void put_le64(struct number_bytes *b, uint64_t v)
{
    memcpy(number_room(b, 8), &v, 8);
    b->len += 8;
}

static void put_decimals(struct number_out *o, const double *x, uint32_t n, unsigned e, const uint32_t *odd, uint32_t odd_n,
                         const struct number_plan *plan)
{
    number_varint(&o->head, NUMBER_DECIMAL);
    number_varint(&o->head, e);
    number_varint(&o->head, odd_n);
    for (uint32_t i = 0; i < odd_n; i++) {
        number_varint(&o->head, odd[i] - (i ? odd[i - 1] : 0));
        put_le64(&o->head, bits_of(x[odd[i]]));
    }
    number_put_planned(o, o->whole, n, plan);
}

static void put_near_or_bits(struct number_out *o, const double *x, uint32_t n, unsigned e, int64_t *off, uint64_t near_price)
{
    as_bits(o, x, n);
    struct number_plan plan = number_plan_of(o, o->whole, n);
    if (plan.price <= near_price) {
        number_varint(&o->head, NUMBER_BITS);
        number_put_planned(o, o->whole, n, &plan);
        return;
    }
    as_near(o, x, n, e, off);
    number_varint(&o->head, NUMBER_NEAR);
    number_varint(&o->head, e);
    number_put_whole(o, o->whole, n);
    number_put_whole(o, off, n);
}

static bool all_same(const double *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (bits_of(x[i]) != bits_of(x[0])) return false;
    return true;
}

static void put_varied(struct number_out *o, const double *x, uint32_t n, uint32_t *odd, int64_t *off)
{
    uint32_t odd_n = 0;
    uint64_t exact = UINT64_MAX, near = UINT64_MAX;
    struct guess g = guess_form(x, n);
    unsigned e = g.mostly_exact ? as_decimals(o, x, n, g.exact, odd, &odd_n) : NONE;
    struct number_plan plan = {0};
    if (e != NONE) plan = number_plan_of(o, o->whole, n);
    if (e != NONE) exact = plan.price + (uint64_t)odd_n * 16 * 80;
    bool good = exact < (uint64_t)n * 16 * 36;        /* clearly less than the bits of a double would take */
    if (!good && g.near != NONE && g.near > 0 && g.near != e) {
        as_near(o, x, n, g.near, off);
        near = number_plan_of(o, o->whole, n).price + number_plan_of(o, off, n).price;
    }
    if (exact <= near && good) {
        put_decimals(o, x, n, e, odd, odd_n, &plan);
        return;
    }
    if (exact < near) {
        as_bits(o, x, n);
        if (number_plan_of(o, o->whole, n).price > exact) {
            as_decimals(o, x, n, e, odd, &odd_n);
            put_decimals(o, x, n, e, odd, odd_n, &plan);
            return;
        }
    }
    put_near_or_bits(o, x, n, g.near, off, near);
}

void number_put_doubles(struct number_out *o, const double *x, uint32_t n)
{
    if (n == 0) return;
    if (all_same(x, n)) {
        number_varint(&o->head, NUMBER_SAME);
        put_le64(&o->head, bits_of(x[0]));
        return;
    }
    number_scratch(o, n);
    uint32_t *odd = malloc((n / 8 + 2) * sizeof *odd);
    int64_t *off = malloc(n * sizeof *off);
    CHECK_MEMORY(odd && off);
    put_varied(o, x, n, odd, off);
    free(odd);
    free(off);
}
