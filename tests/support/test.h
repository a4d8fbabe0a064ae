/* cmocka with what it needs included, and the helpers shared by all tests. */
#ifndef SUPPORT_TEST_H
#define SUPPORT_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* |a - b| <= tol, and both finite. */
#define assert_near(a, b, tol)                                                                   \
    do {                                                                                         \
        double a_ = (a), b_ = (b), t_ = (tol);                                                   \
        if (!(fabs(a_ - b_) <= t_)) {                                                            \
            print_error("%s = %.17g, expected %.17g within %g\n", #a, a_, b_, t_);               \
            fail();                                                                              \
        }                                                                                        \
    } while (0)

/* The folder with foreign samples and suites beside the checkout, or NULL (then the test skips). */
static inline const char *shared_folder(void)
{
    static char path[1024];
    const char *env = getenv("TRIMTAB_SHARED");
    snprintf(path, sizeof path, "%s", env ? env : SOURCE_DIR "/../shared");
    char probe[1100];
    snprintf(probe, sizeof probe, "%s/samples/SOURCES.md", path);
    FILE *f = fopen(probe, "r");
    if (!f) return NULL;
    fclose(f);
    return path;
}

#define SKIP_WITHOUT_SHARED(var)                                                                 \
    const char *var = shared_folder();                                                           \
    if (!var) {                                                                                  \
        print_message("skipped: no shared folder beside the checkout (set TRIMTAB_SHARED)\n");   \
        skip();                                                                                  \
    }

#endif
