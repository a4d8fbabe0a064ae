/* Any bytes as a page: read leniently in both formats, strictly, and taken in by a collector. The first byte says how. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "collect/collect.h"
#include "collect/expo.h"
#include "promql/promql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_leniently(const char *bytes, size_t len, enum expo_format format)
{
    static struct expo x;
    size_t lines = 1, events = 0;
    for (size_t i = 0; i < len; i++) lines += bytes[i] == '\n';
    expo_open(&x, bytes, len, format, expo_limits_default());
    for (enum expo_event e; (e = expo_next(&x)) != EXPO_END;) {
        CHECK(++events <= lines);
        if (e == EXPO_SAMPLE) CHECK(x.sample.name >= bytes && x.sample.name + x.sample.name_len <= bytes + len);
        else CHECK(x.fault.reason && x.fault.line >= 1 && x.fault.line <= lines && x.fault.col >= 1);
    }
}

static void collect_twice(const char *bytes, size_t len, bool openmetrics)
{
    struct arena a = ARENA_INIT;
    static const char *const texts[] = {"sum(a)", "histogram_quantile(0.9, sum by (le) (rate(b_bucket[1m])))", "{x=\"y\"}"};
    struct signal_def signals[3];
    memset(signals, 0, sizeof signals);
    for (size_t i = 0; i < 3; i++) {
        signals[i].name = signals[i].query_text = texts[i];
        signals[i].query = pq_compile(&a, texts[i], strlen(texts[i]), NULL);
        signals[i].interval = SPAN_S(10);
    }
    struct target_def target = {.url = "u", .instance = "i"};
    struct service_def s = {.name = "s", .targets = &target, .target_count = 1, .signals = signals, .signal_count = 3};
    struct collect *c = collect_new(&s, collect_limits_default());
    struct page_report report;
    struct point out[3];
    bool due[3];
    for (int i = 1; c && i <= 2; i++) {
        struct page p = {.at = {i * 10 * US_PER_S}, .wall = {i * 10 * US_PER_S}, .outcome = PAGE_OK, .bytes = bytes,
                         .len = len, .openmetrics = openmetrics};
        collect_page(c, &p, &report);
        collect_tick(c, p.at, p.wall, out, due);
        for (int k = 0; k < 3; k++) CHECK((out[k].why == WHY_KNOWN) == (out[k].value == out[k].value));
    }
    collect_free(c);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct expo_fault f;
    if (size == 0) return 0;
    const char *bytes = (const char *)data + 1;
    size_t len = size - 1;
    enum expo_format format = data[0] & 1 ? EXPO_OPENMETRICS : EXPO_TEXT;
    read_leniently(bytes, len, format);
    if (!expo_check(bytes, len, format, &f)) CHECK(f.reason && f.line < len + 2);
    collect_twice(bytes, len, format == EXPO_OPENMETRICS);
    return 0;
}
