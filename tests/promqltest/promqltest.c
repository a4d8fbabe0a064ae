/* Runs files of the public PromQL test suite against the promql room: promqltest [-q] [-e] FILE...
 * Ends with "N passed, M failed"; what needs native histograms is counted before that. -q: no word on failures.
 * -e: values may differ by a billionth only, not by a millionth. */
#include <stdio.h>
#include <string.h>

#include "promqltest/promqltest.h"

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-q") == 0) { promqltest_quiet(); continue; }
        if (strcmp(argv[i], "-e") == 0) { promqltest_tolerance(1e-9); continue; }
        struct promqltest_tally before = promqltest_total();
        if (!promqltest_file(argv[i])) bad = 1;
        struct promqltest_tally t = promqltest_total();
        printf("%s: %u passed, %u failed, %u need native histograms\n", argv[i], t.passed - before.passed,
               t.failed - before.failed, t.skipped - before.skipped);
    }
    struct promqltest_tally t = promqltest_total();
    printf("left out, need native histograms: %u\n", t.skipped);
    printf("%u passed, %u failed\n", t.passed, t.failed);
    return bad ? 2 : t.failed ? 1 : 0;
}
