#include "stats/noise.h"

#include <math.h>
#include <stddef.h>

#include "base/check.h"
#include "stats/elem.h"

static const struct { double n, sd; } measured[] = {
    {20, 0.59}, {50, 0.47}, {100, 0.34}, {300, 0.21}, {1000, 0.11}, {3000, 0.07},
};

double stats_p99_noise(double n)
{
    const size_t last = ARRAY_LEN(measured) - 1;
    if (!(n > 0)) return INFINITY;
    if (n <= measured[0].n) return measured[0].sd;
    if (n >= measured[last].n) return measured[last].sd * sqrt(measured[last].n / n);
    size_t i = 1;
    while (n > measured[i].n) i++;
    double part = stats_log(n / measured[i - 1].n) / stats_log(measured[i].n / measured[i - 1].n);
    return measured[i - 1].sd * stats_exp(part * stats_log(measured[i].sd / measured[i - 1].sd));
}
