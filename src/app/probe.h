/* What a page of metrics is good for: which presets know it, and which of their signals it can feed. */
#ifndef APP_PROBE_H
#define APP_PROBE_H

#include "base/arena.h"
#include "base/buf.h"
#include "collect/expo.h"
#include "config/load.h"
#include "config/preset.h"

/* Page `k` of a row of pages that begins with this one: each counter, histogram and summary has grown by its own value
 * and by `plus` with every step, gauges stand still, timestamps are left out. So the rates over the row are known
 * without a second look at the target. */
void probe_page(struct buf *out, const char *bytes, size_t len, enum expo_format format, unsigned k, double plus);
#define PROBE_STEP SPAN_S(10)
#define PROBE_PAGES 31          /* five minutes: longer than any range of rates in a preset */

enum probe_state {
    PROBE_KNOWN,                /* the page feeds it */
    PROBE_QUIET,                /* its metrics are there, but say nothing yet: no such request came */
    PROBE_ABSENT,               /* its metrics are not on this page */
};
struct probe_signal { const char *name; enum probe_state state; double value; enum unknown_why why; uint32_t requests; };

/* Reads all signals of the service's first target from such a row of pages. `out` has s->signal_count entries. false: out
 * of memory, or the page is none (`e` says why). */
bool probe_signals(const struct service_def *s, const char *bytes, size_t len, enum expo_format format, double plus,
                   struct probe_signal *out, struct err *e);

/* A service with this preset and all its signals, the optional ones too; `more`: further keys of the service, "" none.
 * NULL: `d` says why. */
struct policy *probe_policy(const struct preset_info *info, const char *preset_dir, const char *more,
                            struct config_diagnostics *d);

/* Whether the preset knows the page: all of its `has`, none of its `lacks`. */
bool probe_matches(const struct preset_info *info, const char *bytes, size_t len, enum expo_format format);
/* Whether a metric written as in `has` is on the page: `name`, `begin*`, `name{label="value"}`, alternatives with |. */
bool probe_has(const char *pattern, const char *bytes, size_t len, enum expo_format format);
enum expo_format probe_format(const char *bytes, size_t len);

#endif
