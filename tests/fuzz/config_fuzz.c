/* Configuration files: any bytes end as a policy without errors, or as errors without a policy, each at a place inside of
 * the file; and what is printed about them moves no cursor. */
#include <stdlib.h>

#include "config/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct buf out = BUF_INIT;
    struct policy *p = config_load((const char *)data, size, "f.yaml", NULL, &d);
    if ((p == NULL) != (d.errors > 0)) abort();
    for (size_t i = 0; i < d.n; i++) {
        const struct config_diagnostic *item = &d.items[i];
        if (item->offset > item->source->len || item->pos.line == 0 || item->pos.col == 0) abort();
    }
    config_print_diagnostics(&out, &d, true);
    for (size_t i = 0; i < out.len; i++)
        if ((unsigned char)out.data[i] < 0x20 && out.data[i] != '\n') abort();
    buf_free(&out);
    config_free(p);
    config_diagnostics_free(&d);
    return 0;
}
