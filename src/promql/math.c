/* Powers and angles without libm, so that every machine gives the same bits. */
#include "promql/math.h"

#include <math.h>

#include "stats/elem.h"

/* Whole exponents by repeated squaring: exact where the result is. */
static double whole_power(double a, double b)
{
    double r = 1;
    bool invert = b < 0;
    for (uint64_t k = (uint64_t)fabs(b); k; k >>= 1) {
        if (k & 1) r *= a;
        a *= a;
    }
    return invert ? 1 / r : r;
}

double pq_pow_of(double a, double b)
{
    if (b == 0 || a == 1) return 1;
    if (isnan(a) || isnan(b)) return NAN;
    bool whole = b == trunc(b), odd = whole && fabs(b) < 9007199254740992.0 && fmod(fabs(b), 2) == 1;
    if (isinf(b)) {
        if (fabs(a) == 1) return 1;
        return (fabs(a) > 1) == (b > 0) ? INFINITY : 0;
    }
    if (isinf(a)) {
        double r = b > 0 ? INFINITY : 0;
        return a < 0 && odd ? -r : r;
    }
    if (a == 0) return b > 0 ? (odd ? a : 0) : (odd ? copysign(INFINITY, a) : INFINITY);
    if (whole && fabs(b) <= 1024) return whole_power(a, b);
    if (a < 0 && !whole) return NAN;
    if (b == 0.5) return sqrt(a);
    double r = stats_exp(b * stats_log(fabs(a)));
    return a < 0 && odd ? -r : r;
}

#define PI 3.141592653589793
#define HALF_PI 1.5707963267948966
#define QUARTER_PI 0.7853981633974483

/* atan by halving the angle twice, then its series. */
static double atan_small(double x)
{
    double scale = 1;
    for (int i = 0; i < 3; i++, scale *= 2) x = x / (1 + sqrt(1 + x * x));
    double x2 = x * x, term = x, sum = 0;
    for (int k = 0; k < 14; k++) {
        sum += term / (2 * k + 1);
        term *= -x2;
    }
    return scale * sum;
}

double pq_atan_of(double x)
{
    if (isnan(x)) return x;
    if (isinf(x)) return copysign(HALF_PI, x);
    double a = fabs(x), r = a > 1 ? HALF_PI - atan_small(1 / a) : atan_small(a);
    return copysign(r, x);
}

double pq_atan2_of(double y, double x)
{
    if (isnan(x) || isnan(y)) return NAN;
    if (isinf(x) && isinf(y)) return copysign(x > 0 ? QUARTER_PI : 3 * QUARTER_PI, y);
    if (x == 0) return y == 0 ? copysign(signbit(x) ? PI : 0, y) : copysign(HALF_PI, y);
    double r = pq_atan_of(y / x);
    if (x > 0) return r;
    return signbit(y) ? r - PI : r + PI;
}

/* x minus the nearest multiple of pi/2, that multiple modulo 4 in *quadrant. Three-part pi/2; good to about 1e9. */
static double reduce(double x, int *quadrant)
{
    double k = rint(x / HALF_PI);
    *quadrant = (int)fmod(fmod(k, 4) + 4, 4);
    double r = x - k * 1.5707963267341256;
    r -= k * 6.077100506303966e-11;
    return r - k * 2.0222662487959506e-21;
}

static double sin_small(double x)
{
    double x2 = x * x, term = x, sum = x;
    for (int k = 1; k < 12; k++) {
        term *= -x2 / (double)((2 * k) * (2 * k + 1));
        sum += term;
    }
    return sum;
}

static double cos_small(double x)
{
    double x2 = x * x, term = 1, sum = 1;
    for (int k = 1; k < 12; k++) {
        term *= -x2 / (double)((2 * k - 1) * (2 * k));
        sum += term;
    }
    return sum;
}

static double wave(double x, int shift)
{
    int q;
    if (isnan(x) || isinf(x)) return NAN;
    double r = reduce(x, &q);
    switch ((q + shift) & 3) {
    case 0: return sin_small(r);
    case 1: return cos_small(r);
    case 2: return -sin_small(r);
    default: return -cos_small(r);
    }
}

double pq_sin_of(double x) { return x == 0 ? x : wave(x, 0); }
double pq_cos_of(double x) { return wave(x, 1); }
double pq_tan_of(double x) { return pq_sin_of(x) / pq_cos_of(x); }
double pq_asin_of(double x) { return fabs(x) > 1 ? NAN : pq_atan2_of(x, sqrt((1 - x) * (1 + x))); }
double pq_acos_of(double x) { return fabs(x) > 1 ? NAN : HALF_PI - pq_asin_of(x); }
double pq_sinh_of(double x)
{
    if (isinf(x) || x == 0) return x;
    double e = stats_expm1(fabs(x));
    return copysign((e + e / (e + 1)) / 2, x);
}
double pq_cosh_of(double x) { return (stats_exp(fabs(x)) + stats_exp(-fabs(x))) / 2; }
double pq_tanh_of(double x)
{
    if (fabs(x) > 22) return copysign(1, x);
    double e = stats_expm1(2 * fabs(x));
    return copysign(e / (e + 2), x);
}
double pq_asinh_of(double x)
{
    double a = fabs(x);
    return isinf(x) ? x : copysign(stats_log1p(a + a * a / (1 + sqrt(1 + a * a))), x);
}
double pq_acosh_of(double x) { return x < 1 ? NAN : stats_log1p((x - 1) + sqrt((x - 1) * (x + 1))); }
double pq_atanh_of(double x) { return fabs(x) > 1 ? NAN : copysign(stats_log1p(2 * fabs(x) / (1 - fabs(x))) / 2, x); }
