/* Elementary functions as PromQL has them, from the stats room and arithmetic alone. */
#ifndef PROMQL_MATH_H
#define PROMQL_MATH_H

#include <stdbool.h>
#include <stdint.h>

double pq_pow_of(double a, double b);      /* C's pow, special cases included */
double pq_atan_of(double x);
double pq_atan2_of(double y, double x);
double pq_sin_of(double x);                /* good to 1e-12 for |x| < 1e6 */
double pq_cos_of(double x);
double pq_tan_of(double x);
double pq_asin_of(double x);
double pq_acos_of(double x);
double pq_sinh_of(double x);
double pq_cosh_of(double x);
double pq_tanh_of(double x);
double pq_asinh_of(double x);
double pq_acosh_of(double x);
double pq_atanh_of(double x);

#endif
