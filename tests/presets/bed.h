/* A preset and a page on a table. Include support/test.h first. */
#ifndef PRESETS_BED_H
#define PRESETS_BED_H

#include "app/probe.h"

struct bed {
    struct arena arena;
    struct config_diagnostics d;
    struct preset_info info;
    struct policy *policy;
    const struct service_def *s;
    struct probe_signal found[POLICY_SIGNALS_MAX];
};

void bed_open(struct bed *b, const char *preset);    /* with all its signals; fails the test with what is wrong */
void bed_close(struct bed *b);
/* Values after the page has been fed, each counter growing by its own value and `plus` each 10 s. */
void bed_feed(struct bed *b, const struct buf *page, double plus);
const struct probe_signal *bed_signal(const struct bed *b, const char *name);   /* NULL: none of this name */
/* "synthetic/NAME" lies beside the tests, others among the shared samples. false: there are none here. */
bool bed_page(struct buf *out, const char *name);

#endif
