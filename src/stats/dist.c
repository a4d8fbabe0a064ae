/* Values: normal cdf and quantile, log factorial. */
#include "stats/dist.h"

#include <math.h>

#include "base/check.h"
#include "stats/elem.h"

#define INV_SQRT_2PI 0.3989422804014327
#define HALF_LN_2PI 0.9189385332046728

static double density(double x)
{
    /* x^2 with its rounding error: far out, exp would blow a single rounding up. */
    double high = floor(x * 1024) / 1024, low = x - high;
    return INV_SQRT_2PI * stats_exp(-0.5 * high * high) * stats_exp(-low * (high + 0.5 * low));
}

/* P(0 <= Z <= x) for small x: density * (x + x^3/3 + x^5/15 + ...), no term negative. */
static double central(double x)
{
    double term = x, sum = x;
    for (int n = 3; fabs(term) > 1e-18 * fabs(sum); n += 2) {
        term *= x * x / n;
        sum += term;
    }
    return density(x) * sum;
}

/* P(Z > x) for x >= 1.5: density / (x + 1/(x + 2/(x + 3/...))). */
static double tail(double x)
{
    double f = x;
    for (int n = 120; n >= 1; n--) f = x + n / f;
    return density(x) / f;
}

double stats_normal_cdf(double x)
{
    if (x != x) return x;
    if (x < -39) return 0;
    if (x > 9) return 1;
    if (x <= -1.5) return tail(-x);
    if (x >= 1.5) return 1 - tail(x);
    return 0.5 + central(x);
}

/* Quantile for 0 < q <= 0.5: Newton with Halley's correction on ln cdf, from the first term of the tail. */
static double lower_quantile(double q)
{
    if (q == 0.5) return 0;
    double goal = stats_log(q);
    double x = q > 0.02 ? (q - 0.5) * 2.5 : -sqrt(-2 * goal - stats_log(-2 * goal * 6.28));
    for (int i = 0; i < 8; i++) {
        double cdf = stats_normal_cdf(x), hazard = density(x) / cdf;
        /* Near the middle the plain difference keeps the digits that a difference of logarithms loses. */
        double error = q > 0.1 ? (cdf - q) / cdf * (1 + 0.5 * (cdf - q) / cdf) : stats_log(cdf) - goal;
        double step = error / hazard;
        x -= step / (1 + 0.5 * step * (hazard + x));
        if (fabs(step) < 1e-9 * fabs(x)) break;
    }
    return x;
}

double stats_normal_quantile(double q)
{
    if (!(q >= 0 && q <= 1)) return NAN;
    if (q == 0) return -INFINITY;
    if (q == 1) return INFINITY;
    return q <= 0.5 ? lower_quantile(q) : -lower_quantile(1 - q);
}

double stats_log_factorial(uint64_t k)
{
    static const double small[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600,
                                   6227020800, 87178291200, 1307674368000};
    if (k < ARRAY_LEN(small)) return stats_log(small[k]);
    double x = (double)k, inv = 1 / x, inv2 = inv * inv;  /* Stirling's series */
    double rest = inv * (1.0 / 12 - inv2 * (1.0 / 360 - inv2 * (1.0 / 1260 - inv2 / 1680)));
    return (x + 0.5) * stats_log(x) - x + HALF_LN_2PI + rest;
}
