/* Saved baseline state from outside, under a checksum that is always right: whatever is taken must run on and be saved
 * again as what it is. The input is the body behind the header. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/check.h"
#include "detect/detect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct signal_def signals[] = {
    {.name = "a", .layer = LAYER_REQUEST, .unit = UNIT_MS, .bad = BAD_UP, .rel_floor = 0.02, .interval = SPAN_S(30)},
    {.name = "b", .layer = LAYER_DATA, .unit = UNIT_RATIO, .bad = BAD_BOTH, .interval = SPAN_S(60), .is_quantile = true},
};
static const struct service_def service = {.name = "s", .signals = signals, .signal_count = 2};
static struct need items[] = {{FN_SLOPE, 0, SPAN_HOUR(1)}, {FN_MEAN, 0, SPAN_HOUR(3)}, {FN_STDDEV, 1, SPAN_DAY(30)},
                              {FN_SCORE, 0, {0}}};
static const struct needs needs = {.items = items, .n = 4, .cap = 4};

static void live_on(struct detect *d, int64_t from)
{
    static const struct detect_context quiet;
    struct datum data[4];
    struct evidence ev = {.needs = &needs, .items = data};
    double x[64];
    struct blocks b;
    uint32_t known, all;
    for (int64_t i = 0; i < 40; i++) {
        struct instant now = {from + i * 30 * US_PER_S};
        detect_feed(d, 0, (struct point){.at = now, .value = 40, .why = WHY_KNOWN});
        detect_feed(d, 1, (struct point){.at = now, .value = 0.5, .n = 10, .why = WHY_KNOWN});
        detect_tick(d, now, (struct wall){now.us}, &quiet, &ev);
        if (i == 20) detect_freeze(d, now);
        if (i == 30) detect_rebase(d, now, (struct instant){from}, now, ANCHOR_BOTH);
    }
    detect_blocks(d, 0, (struct instant){0}, INSTANT_NEVER, x, 64, &b);
    detect_count(d, 0, (struct instant){from}, (struct instant){from + 20 * US_PER_MIN}, &known, &all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf b = BUF_INIT, again = BUF_INIT;
    uint64_t h = UINT64_C(1469598103934665603);
    for (size_t i = 0; i < size; i++) h = (h ^ data[i]) * UINT64_C(1099511628211);
    buf_le32(&b, 0x53544454u);
    buf_le32(&b, 1);
    buf_le64(&b, h);
    buf_le_bytes(&b, data, size);
    struct detect *d = detect_new(&service, 0.2, SPAN_S(30)), *e = detect_new(&service, 0.2, SPAN_S(30));
    CHECK(d && e);
    struct instant now = {INT64_C(1) << 40};
    if (detect_load(d, b.data, b.len, now)) {
        detect_save(d, &again);
        CHECK(detect_load(e, again.data, again.len, now));
        CHECK(detect_digest(d) == detect_digest(e));
        live_on(d, now.us);
    }
    buf_free(&b);
    buf_free(&again);
    detect_free(d);
    detect_free(e);
    return 0;
}
