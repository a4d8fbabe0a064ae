/* How much a percentile jumps by chance alone when few requests stand behind it. */
#ifndef STATS_NOISE_H
#define STATS_NOISE_H

/* Relative sd of the p99 of n requests whose log latency has sd 1 (measured by Monte Carlo: n = 20: 59 %,
 * 100: 34 %, 1000: 11 %; between the measured points straight in log n and log sd, beyond 3000 falling as
 * 1/sqrt(n)). n < 20 counts as 20 (the p99 is then about the maximum); n not above 0, or NaN: +inf. */
double stats_p99_noise(double n);

#endif
