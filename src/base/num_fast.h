/* Conversions by one 128-bit multiplication: the usual side of num.h. Private to base. */
#ifndef BASE_NUM_FAST_H
#define BASE_NUM_FAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/num_exact.h"

/* The double nearest to w * 10^exp10. false when this much arithmetic cannot tell two neighbours apart
 * (about once in 2^60 inputs, and on ties): then num_exact_double does. */
bool num_fast_double(uint64_t w, int64_t exp10, double *ret);

/* Fewest digits that read back as the finite v > 0; of several, the nearest to v. May end in zeros. */
struct num_digits num_fast_shortest(double v);

#endif
