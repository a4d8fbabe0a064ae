/* Any bytes as a time zone file: refused, or every question about it has an answer. */
#include "base/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t days[] = {-100000, -1, 0, 20000, 20600, 40000, 2000000};
    struct arena a = ARENA_INIT;
    struct zone z;
    struct err e;
    if (zone_parse(&a, "Fuzz/Zone", data, size, &z, &e) == STATUS_OK) {
        for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
            struct wall t = zone_local(&z, days[i], 9000);
            (void)zone_civil(&z, t);
            (void)zone_next_change(&z, t);
        }
    }
    arena_free(&a);
    return 0;
}
