#include "stats/elem.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "stats/elem_table.h"

/* A value as an unevaluated sum hi + lo, |lo| at most half an ulp of hi. */
struct pair { double hi, lo; };

static struct pair fast_two_sum(double a, double b)  /* |a| >= |b| or a == 0 */
{
    double s = a + b;
    return (struct pair){s, b - (s - a)};
}

static struct pair two_sum(double a, double b)
{
    double s = a + b, bb = s - a;
    return (struct pair){s, (a - (s - bb)) + (b - bb)};
}

/* a in two halves of at most 26 bits each, so that their products are exact. */
static struct pair halves(double a)
{
    double t = a * 134217729.0;  /* 2^27 + 1 */
    double hi = t - (t - a);
    return (struct pair){hi, a - hi};
}

static struct pair two_product(double a, double b)
{
    struct pair x = halves(a), y = halves(b);
    double p = a * b;
    return (struct pair){p, ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}

static double power_of_two(int k)  /* -1022..1023 */
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* x = 2^k * m, m in [0.75, 1.5); x positive and finite. */
static double split_exponent(double x, int *ret_k)
{
    int k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bool upper = bits >> 51 & 1;
    k += (int)(bits >> 52) - 1023 + upper;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(1023 - upper) << 52;
    memcpy(&x, &bits, sizeof x);
    *ret_k = k;
    return x;
}

/* ln(m) for m in [0.75, 1.5), plus base (a multiple of 2^-42 below 1024) plus extra (tiny). */
static inline struct pair log_parts(double m, double base, double extra)
{
    unsigned j = (unsigned)(m * 128) - 96;
    double c = log_table[j].c;
    /* m * c - 1 = r + r_low exactly: c has ten bits, so each half of m times c is exact. */
    double m_high = (double)(int64_t)(m * 0x1p32) * 0x1p-32;
    struct pair r = two_sum(m_high * c - 1, (m - m_high) * c);
    double p = r.hi * r.hi * r.hi *
               (1.0 / 3 + r.hi * (-1.0 / 4 + r.hi * (1.0 / 5 + r.hi * (-1.0 / 6 + r.hi * (1.0 / 7 - r.hi / 8)))));
    struct pair sum = two_sum(base + log_table[j].hi, r.hi);
    double low = p + (r.lo - r.hi * r.lo) + log_table[j].lo + extra;
    struct pair square = two_sum(sum.hi, -0.5 * r.hi * r.hi);
    return fast_two_sum(square.hi, square.lo + sum.lo + low);
}

/* The answer for an argument of a logarithm that has no ordinary one. */
static double log_special(double x)
{
    if (x == 0) return -INFINITY;
    return x < 0 ? (double)NAN : x;
}

static bool is_ordinary(double x) { return x > 0 && x < INFINITY; }

static inline double natural_log(double x)
{
    if (!is_ordinary(x)) return log_special(x);
    int k;
    double m = split_exponent(x, &k);
    struct pair l = log_parts(m, k * ln2_hi, k * ln2_lo);
    return l.hi + l.lo;
}

double stats_log(double x) { return natural_log(x); }

void stats_log_each(double *x, unsigned n)
{
    for (unsigned i = 0; i < n; i++) x[i] = natural_log(x[i]);
}

double stats_log2(double x)
{
    if (!is_ordinary(x)) return log_special(x);
    int k;
    struct pair l = log_parts(split_exponent(x, &k), 0, 0);
    struct pair p = two_product(l.hi, inv_ln2_hi);
    struct pair sum = two_sum(k, p.hi);
    return sum.hi + (sum.lo + (p.lo + l.hi * inv_ln2_lo + l.lo * inv_ln2_hi));
}

double stats_log10(double x)
{
    if (!is_ordinary(x)) return log_special(x);
    int k;
    double m = split_exponent(x, &k);
    struct pair l = log_parts(m, k * ln2_hi, k * ln2_lo);
    struct pair p = two_product(l.hi, inv_ln10_hi);
    return p.hi + (p.lo + l.hi * inv_ln10_lo + l.lo * inv_ln10_hi);
}

double stats_log1p(double x)
{
    if (fabs(x) < 0x1p-54) return x;
    if (!(x > -1 && x < INFINITY)) return x == -1 ? -INFINITY : x < -1 ? (double)NAN : x;
    struct pair u = two_sum(1, x);
    int k;
    double m = split_exponent(u.hi, &k);
    /* ln(u + d) = ln(u) + d / u; the next term is below 2^-106. */
    struct pair l = log_parts(m, k * ln2_hi, k * ln2_lo + u.lo / u.hi);
    return l.hi + l.lo;
}

/* 2^(k / 128) * e^r for |r| < 0.003, without its power 2^floor(k / 128). */
static struct pair exp_parts(int k, struct pair r)
{
    unsigned j = (unsigned)(k & 127);
    double x = r.hi;
    double p = x + (r.lo + x * x * (0.5 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x / 720)))));
    return fast_two_sum(exp2_table[j].hi, exp2_table[j].lo + exp2_table[j].hi * p);
}

static int floor_128th(int k) { return k >= 0 ? k / 128 : -((127 - k) / 128); }

/* (e.hi + e.lo) * 2^(k / 128 rounded down); in two steps where one power of two does not reach. */
static double scale(struct pair e, int k)
{
    double v = e.hi + e.lo;
    int power = floor_128th(k);
    if (power >= 1024) return v * 0x1p1023 * power_of_two(power - 1023);
    if (power < -1022) return v * power_of_two(power + 1000) * 0x1p-1000;
    return v * power_of_two(power);
}

/* floor(x + 0.5) for |x| < 2^30: floor itself is a call on processors without an instruction for it. */
static int nearest(double x)
{
    double t = x + 0.5;
    int k = (int)t;
    return k - (k > t);
}

double stats_exp(double x)
{
    if (x != x) return x;
    if (x > 709.8) return INFINITY;
    if (x < -746) return 0;
    int k = nearest(x * times_128_by_ln2);
    return scale(exp_parts(k, two_sum(x - k * ln2_128th_hi, -k * ln2_128th_lo)), k);
}

double stats_exp2(double x)
{
    if (x != x) return x;
    if (x >= 1024) return INFINITY;
    if (x < -1076) return 0;
    int k = nearest(x * 128);
    return scale(exp_parts(k, (struct pair){(x - k / 128.0) * ln2_full, 0}), k);
}

double stats_exp10(double x)
{
    if (x != x) return x;
    if (x > 308.3) return INFINITY;
    if (x < -324) return 0;
    int k = nearest(x * times_128_by_log10_2);
    double r = (x - k * log10_2_128th_hi) - k * log10_2_128th_lo;
    return scale(exp_parts(k, (struct pair){r * ln10_full, 0}), k);
}

/* e^x - 1 by its series for |x| < 0.35: fifteen terms leave less than 1e-19 of x. */
static double expm1_series(double x)
{
    double p = 1;
    for (int n = 16; n >= 3; n--) p = 1 + x / n * p;
    return x + 0.5 * x * x * p;
}

double stats_expm1(double x)
{
    if (x != x || x == 0) return x;
    if (fabs(x) < 0.35) return expm1_series(x);
    if (x > 40) return stats_exp(x);
    if (x < -40) return -1;
    int k = nearest(x * times_128_by_ln2);
    struct pair e = exp_parts(k, two_sum(x - k * ln2_128th_hi, -k * ln2_128th_lo));
    double power = power_of_two(floor_128th(k));
    struct pair sum = two_sum(e.hi * power, -1);
    return sum.hi + (sum.lo + e.lo * power);
}
