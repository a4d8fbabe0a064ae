#include "stats/drift.h"

#include <math.h>

#include "stats/elem.h"
#include "stats/order.h"

double stats_psi(const double *a, const double *b, size_t bins)
{
    double n = stats_sum(a, bins), m = stats_sum(b, bins);
    if (!(n > 0 && m > 0) || bins < 2) return NAN;
    double psi = 0, half = 0.5 * (double)bins;
    for (size_t i = 0; i < bins; i++) {
        double p = (a[i] + 0.5) / (n + half), q = (b[i] + 0.5) / (m + half);
        psi += (p - q) * stats_log(p / q);
    }
    return psi;
}

double stats_psi_null_p95(size_t bins, double n, double m)
{
    if (bins < 2 || !(n > 0 && m > 0)) return NAN;
    /* Wilson and Hilferty: the cube root of chi-square over its degrees is nearly normal. */
    double degrees = (double)(bins - 1), v = 2 / (9 * degrees);
    double root = 1 - v + 1.6448536269514722 * sqrt(v);
    return degrees * root * root * root * (1 / n + 1 / m);
}

void stats_histogram(const double *edges, size_t edge_count, const double *x, size_t n, double *ret_counts)
{
    for (size_t i = 0; i <= edge_count; i++) ret_counts[i] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t lo = 0, hi = edge_count;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if (x[i] <= edges[mid]) hi = mid;
            else lo = mid + 1;
        }
        ret_counts[lo] += 1;
    }
}

/* P(K > x) of Kolmogorov's limit; of its two series the one that converges at x. */
static double kolmogorov_tail(double x)
{
    if (x < 0.2) return 1;
    double sum = 0;
    if (x < 1.18) {
        double y = stats_exp(-1.2337005501361697 / (x * x));  /* pi^2 / 8 */
        double y8 = y * y * y * y * y * y * y * y;
        sum = y * (1 + y8 * (1 + y8 * y8 * (1 + y8 * y8 * y8)));
        return 1 - 2.5066282746310002 / x * sum;
    }
    double y = stats_exp(-2 * x * x), y3 = y * y * y;
    sum = y * (1 - y3 * (1 - y3 * y * y * (1 - y3 * y3 * y)));
    return 2 * sum;
}

static struct stats_ks ks_of(double d, double n, double m)
{
    double root = sqrt(n * m / (n + m));
    double p = kolmogorov_tail((root + 0.12 + 0.11 / root) * d);
    return (struct stats_ks){d, p < 0 ? 0 : p};
}

struct stats_ks stats_ks_counts(const double *a, const double *b, size_t bins)
{
    double n = stats_sum(a, bins), m = stats_sum(b, bins), below_a = 0, below_b = 0, d = 0;
    if (!(n > 0 && m > 0)) return (struct stats_ks){NAN, NAN};
    for (size_t i = 0; i < bins; i++) {
        below_a += a[i];
        below_b += b[i];
        double gap = fabs(below_a / n - below_b / m);
        if (gap > d) d = gap;
    }
    return ks_of(d, n, m);
}

struct stats_ks stats_ks(double *a, size_t n, double *b, size_t m)
{
    if (n == 0 || m == 0) return (struct stats_ks){NAN, NAN};
    stats_sort(a, n);
    stats_sort(b, m);
    if (a[n - 1] != a[n - 1] || b[m - 1] != b[m - 1]) return (struct stats_ks){NAN, NAN};
    double d = 0;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        double at = a[i] < b[j] ? a[i] : b[j];
        while (i < n && a[i] == at) i++;
        while (j < m && b[j] == at) j++;
        double gap = fabs((double)i / (double)n - (double)j / (double)m);
        if (gap > d) d = gap;
    }
    return ks_of(d, (double)n, (double)m);
}
