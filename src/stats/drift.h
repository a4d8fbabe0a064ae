/* Has a distribution (input lengths, a feature) changed? Two answers, each with what chance alone would give
 * (facts in section 4 of the detector notes: PSI has no fixed threshold; KS rejects everything at large n). */
#ifndef STATS_DRIFT_H
#define STATS_DRIFT_H

#include <stddef.h>

/* Population stability index of two histograms over the same `bins` bins (>= 2): the sum of (p - q) ln(p / q), each
 * share from (count + 0.5) / (total + bins / 2), so that an empty bin stays finite. Counts may be fractions, none
 * negative. NaN when a side is empty or bins < 2. */
double stats_psi(const double *a, const double *b, size_t bins);
/* What PSI stays below in 95 % of pairs of samples of n and m with NO change: (1/n + 1/m) times the 95 % point of
 * chi-square with bins - 1 degrees. Good from about 10 values a bin on (n, m >= 300 for 10 bins);
 * values must be independent. NaN for n or m <= 0. */
double stats_psi_null_p95(size_t bins, double n, double m);
/* Counts x into edge_count + 1 bins at ascending edges; a value on an edge belongs below it, as with `le`. */
void stats_histogram(const double *edges, size_t edge_count, const double *x, size_t n, double *ret_counts);

/* Kolmogorov-Smirnov: the largest gap between the two distributions (ties included), and the chance of one as large
 * without change (asymptotic, Stephens's correction for finite n). Sorts both. Empty side: both NaN.
 * Demand a floor on d besides p. */
struct stats_ks { double d, p; };
struct stats_ks stats_ks(double *a, size_t n, double *b, size_t m);

/* The same of two histograms over the same bins: the gap is seen at their edges only. */
struct stats_ks stats_ks_counts(const double *a, const double *b, size_t bins);

#endif
