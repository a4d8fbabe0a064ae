#include "stats/shift.h"

#include <math.h>

#include "base/check.h"
#include "stats/order.h"

enum { EXACT_UP_TO = 50 };  /* C(50, 25) = 1.3e14 orders are counted exactly in a double */

/* ways[u] = orders of n and m points with Mann-Whitney statistic u, for u < size: the coefficients of the
 * Gaussian binomial, product over i = 1..m of (1 - q^(n + i)) / (1 - q^i). */
static void count_orders(double *ways, size_t size, size_t n, size_t m)
{
    for (size_t u = 0; u < size; u++) ways[u] = u == 0;
    for (size_t i = 1; i <= m; i++) {
        for (size_t u = size; u-- > n + i;) ways[u] -= ways[u - n - i];
        for (size_t u = i; u < size; u++) ways[u] += ways[u - i];
    }
}

static size_t exact_rank(size_t n, size_t m, double *ways)
{
    size_t size = n * m / 2 + 1;
    count_orders(ways, size < n * m ? size : n * m, n, m);
    double all = 1;
    for (size_t i = 1; i <= m; i++) all = all * (double)(n + i) / (double)i;
    double below = 0;
    size_t c = 0;
    while (c < n * m / 2 && below + ways[c] < 0.025 * all) below += ways[c++];
    return c;
}

size_t stats_shift_rank(size_t n, size_t m, double *work)
{
    if (n == 0 || m == 0) return 0;
    if (n + m <= EXACT_UP_TO) return exact_rank(n, m, work);
    double pairs = (double)n * (double)m;
    double c = floor(pairs / 2 - 1.9599639845400545 * sqrt(pairs * (double)(n + m + 1) / 12));
    return c > 0 ? (size_t)c : 0;
}

struct stats_shift stats_shift(const double *before, size_t n, const double *after, size_t m, double *scratch)
{
    CHECK(n <= STATS_SHIFT_MAX && m <= STATS_SHIFT_MAX);
    if (n == 0 || m == 0) return (struct stats_shift){NAN, NAN, NAN};
    size_t rank = stats_shift_rank(n, m, scratch), pairs = n * m;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) scratch[i * m + j] = after[j] - before[i];
    struct stats_shift s = {stats_median(scratch, pairs), -INFINITY, INFINITY};
    if (s.d != s.d) return (struct stats_shift){NAN, NAN, NAN};
    if (rank) {
        s.lo = stats_nth(scratch, pairs, rank - 1);
        s.hi = stats_nth(scratch, pairs, pairs - rank);
    }
    return s;
}

struct products { double lagged, squares; };

static struct products products_of(const double *x, size_t n)
{
    struct products p = {0, 0};
    double mean = stats_mean(x, n), last = 0;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean;
        p.lagged += last * d;  /* the first has no predecessor: 0 */
        p.squares += d * d;
        last = d;
    }
    return p;
}

double stats_lag1_two(const double *a, size_t n, const double *b, size_t m)
{
    if (n + m < 6) return 0.9;
    struct products p = products_of(a, n), q = products_of(b, m);
    double squares = p.squares + q.squares;
    if (!(squares > 0)) return squares == 0 ? 0 : (double)NAN;
    double r = (p.lagged + q.lagged) / squares;
    /* Each stretch has a mean of its own: bias -(1 + 4r) g, g = stretches / points. */
    double g = (double)((n > 0) + (m > 0)) / (double)(n + m);
    if (4 * g >= 1) return 0.9;
    r = (r + g) / (1 - 4 * g);
    return r < 0 ? 0 : r > 0.9 ? 0.9 : r;
}

/* The same around the line that fits x best: a climb is no scatter. */
static struct products products_about_line(const double *x, size_t n)
{
    struct products p = {0, 0};
    double mean = stats_mean(x, n), middle = ((double)n - 1) / 2, along = 0, length = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        along += ((double)i - middle) * (x[i] - mean);
        length += ((double)i - middle) * ((double)i - middle);
    }
    double slope = length > 0 ? along / length : 0;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean - slope * ((double)i - middle);
        p.lagged += last * d;
        p.squares += d * d;
        last = d;
    }
    return p;
}

double stats_lag1_climb(const double *a, size_t n, const double *b, size_t m)
{
    if (n + m < 12) return 0.9;
    struct products p = products_about_line(a, n), q = products_of(b, m);
    double squares = p.squares + q.squares, points = (double)(n + m);
    if (!(squares > 0)) return squares == 0 ? 0 : (double)NAN;
    double r = ((p.lagged + q.lagged) / squares + 3 / points) / (1 - 8 / points);   /* a line costs twice what a mean does */
    return r < 0 ? 0 : r > 0.9 ? 0.9 : r;
}

double stats_lag1(const double *x, size_t n) { return stats_lag1_two(x, n, NULL, 0); }

double stats_widening(double r) { return sqrt((1 + r) / (1 - r)); }

struct stats_shift stats_shift_blocks(const double *before, size_t n, const double *after, size_t m,
                                      double *scratch, double *ret_r)
{
    struct stats_shift s = stats_shift(before, n, after, m, scratch);
    double r = stats_lag1_climb(before, n, after, m), wide = stats_widening(r);
    if (ret_r) *ret_r = r;
    s.lo = s.d - (s.d - s.lo) * wide;
    s.hi = s.d + (s.hi - s.d) * wide;
    return s;
}
