/* Elementary functions as PromQL has them, from the stats room and arithmetic alone. */
#ifndef PROMQL_MATH_H
#define PROMQL_MATH_H

#include <stdbool.h>
#include <stdint.h>

double pow_of(double a, double b);      /* C's pow, special cases included */
double atan_of(double x);
double atan2_of(double y, double x);
double sin_of(double x);                /* good to 1e-12 for |x| < 1e6 */
double cos_of(double x);
double tan_of(double x);
double asin_of(double x);
double acos_of(double x);
double sinh_of(double x);
double cosh_of(double x);
double tanh_of(double x);
double asinh_of(double x);
double acosh_of(double x);
double atanh_of(double x);

#endif
