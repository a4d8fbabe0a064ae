/* Logarithms and powers from + - * / and tables alone: the same bits on every compiler and processor, which
 * libm does not promise (architecture.md section 5). Errors are the largest seen against 60-digit arithmetic
 * over 400,000 arguments each; they hold under round-to-nearest and without contraction to fused operations.
 * Special cases as in C: log(0) = -inf, log(x < 0) = NaN, exp overflows to +inf and underflows to 0, NaN stays. */
#ifndef STATS_ELEM_H
#define STATS_ELEM_H

double stats_log(double x);    /* error below 0.52 ulp */
/* x[i] becomes ln x[i] with the bits of stats_log. In one go, so that the processor works on several at a time. */
void stats_log_each(double *x, unsigned n);
double stats_log2(double x);   /* below 0.52 ulp; exact for powers of two */
double stats_log10(double x);  /* below 0.52 ulp; exact for powers of ten */
double stats_log1p(double x);  /* ln(1 + x), below 0.7 ulp, also for tiny x */
double stats_exp(double x);    /* below 0.52 ulp; subnormal results below 1 ulp, as for the next three */
double stats_exp2(double x);   /* below 0.52 ulp; exact for whole x */
double stats_exp10(double x);  /* 10^x, below 0.52 ulp; exact for whole x in 0..22 */
double stats_expm1(double x);  /* e^x - 1, below 0.9 ulp, also for tiny x */

#endif
