#include "stats/order.h"

#include <math.h>
#include <stdbool.h>

#include "base/check.h"

static bool has_nan(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != x[i]) return true;
    return false;
}

static void swap(double *x, size_t i, size_t j)
{
    double t = x[i];
    x[i] = x[j];
    x[j] = t;
}

/* NaN counts as larger than everything. */
static bool less(double a, double b) { return a < b || (b != b && a == a); }

static void sift_down(double *x, size_t n, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && less(x[child], x[child + 1])) child++;
        if (!less(x[at], x[child])) return;
        swap(x, at, child);
    }
}

/* Heap sort: in place, no recursion, the same n log n for every input. */
void stats_sort(double *x, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift_down(x, n, i);
    for (size_t end = n; end > 1; end--) {
        swap(x, 0, end - 1);
        sift_down(x, end - 1, 0);
    }
}

/* Orders the ends and the middle of [lo, hi] and returns the middle one. */
static double median_of_three(double *x, size_t lo, size_t hi)
{
    size_t mid = lo + (hi - lo) / 2;
    if (x[mid] < x[lo]) swap(x, mid, lo);
    if (x[hi] < x[lo]) swap(x, hi, lo);
    if (x[hi] < x[mid]) swap(x, hi, mid);
    return x[mid];
}

/* Hoare's selection over values without NaN. */
static double nth(double *x, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    unsigned rounds = 0;
    while (lo < hi) {
        if (++rounds > 64) {  /* an input made to be slow: sort what is left */
            stats_sort(x + lo, hi - lo + 1);
            break;
        }
        double pivot = median_of_three(x, lo, hi);
        size_t i = lo, j = hi;
        for (;;) {
            while (x[i] < pivot) i++;
            while (pivot < x[j]) j--;
            if (i >= j) break;
            swap(x, i++, j--);
        }
        /* x[lo..i-1] <= pivot <= x[j+1..hi]; i is j + 1, or both stand on a pivot value in its final place. */
        if (k < i) hi = i - 1;
        else if (k > j) lo = j + 1;
        else break;
    }
    return x[k];
}

double stats_nth(double *x, size_t n, size_t k)
{
    CHECK(n == 0 || k < n);
    if (n == 0 || has_nan(x, n)) return NAN;
    return nth(x, n, k);
}

double stats_quantile(double *x, size_t n, double q)
{
    if (n == 0 || !(q >= 0 && q <= 1) || has_nan(x, n)) return NAN;
    double at = (double)(n - 1) * q;
    size_t k = (size_t)at;
    double low = nth(x, n, k), part = at - (double)k;
    if (part == 0) return low;
    double high = stats_min(x + k + 1, n - k - 1);
    return low == high ? low : low + (high - low) * part;
}

double stats_median(double *x, size_t n) { return stats_quantile(x, n, 0.5); }

double stats_mad(double *x, size_t n, double *ret_median)
{
    double median = stats_median(x, n);
    if (ret_median) *ret_median = median;
    for (size_t i = 0; i < n; i++) x[i] = x[i] == median ? 0 : fabs(x[i] - median);
    return stats_median(x, n);
}

double stats_trimmed_mean(double *x, size_t n, double share)
{
    if (!(share >= 0 && share < 0.5) || has_nan(x, n)) return NAN;
    size_t cut = (size_t)floor((double)n * share);
    if (cut) {
        nth(x, n, cut);
        nth(x + cut, n - cut, n - 2 * cut - 1);
    }
    return stats_mean(x + cut, n - 2 * cut);
}

double stats_min(const double *x, size_t n)
{
    double m = n ? x[0] : (double)NAN;
    for (size_t i = 1; i < n; i++) m = x[i] < m || x[i] != x[i] ? x[i] : m;
    return m;
}

double stats_max(const double *x, size_t n)
{
    double m = n ? x[0] : (double)NAN;
    for (size_t i = 1; i < n; i++) m = x[i] > m || x[i] != x[i] ? x[i] : m;
    return m;
}

double stats_sum(const double *x, size_t n)
{
    double sum = 0, lost = 0;  /* Neumaier's compensation */
    for (size_t i = 0; i < n; i++) {
        double t = sum + x[i];
        lost += fabs(sum) >= fabs(x[i]) ? (sum - t) + x[i] : (x[i] - t) + sum;
        sum = t;
    }
    return isfinite(sum) ? sum + lost : sum;
}

double stats_mean(const double *x, size_t n)
{
    return n ? stats_sum(x, n) / (double)n : (double)NAN;
}

double stats_sd(const double *x, size_t n)
{
    if (n < 2) return NAN;
    double mean = stats_mean(x, n), squares = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean;
        squares += d * d;
        rest += d;
    }
    /* `rest` would be 0 but for the rounding of the mean. */
    double variance = (squares - rest * rest / (double)n) / (double)(n - 1);
    return variance > 0 ? sqrt(variance) : variance == variance ? 0 : (double)NAN;
}

double stats_diff_sd(const double *x, size_t n)
{
    if (n < 3) return NAN;
    size_t m = n - 1;
    double mean = (x[n - 1] - x[0]) / (double)m, squares = 0;
    for (size_t i = 0; i < m; i++) {
        double d = x[i + 1] - x[i] - mean;
        squares += d * d;
    }
    return sqrt(squares / (double)(m - 1) / 2);
}
