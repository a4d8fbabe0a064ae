/* Numbers, durations, times and UTF-8 from outside: never past the end, and what was read reads back the same. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void number(const char *s, size_t len)
{
    double v, again;
    size_t used = num_parse(s, len, &v);
    CHECK(used <= len);
    if (used == 0) return;
    char text[NUM_TEXT_MAX];
    size_t n = num_print(text, v);
    CHECK(n < sizeof text && strlen(text) == n);
    CHECK(num_parse_all(text, n, &again));
    CHECK(isnan(v) ? isnan(again) : memcmp(&v, &again, sizeof v) == 0);
}

static void duration(const char *s, size_t len)
{
    struct span d, again;
    unsigned used = span_parse(s, (unsigned)len, &d);
    CHECK(used <= len);
    if (used == 0) return;
    struct buf b = BUF_INIT;
    span_print_config(&b, d);
    CHECK(span_parse(buf_text(&b), (unsigned)b.len, &again) == b.len && again.us == d.us);
    buf_free(&b);
}

static void wall_time(const char *s)
{
    struct wall t, again;
    if (!wall_parse(s, &t)) return;
    struct buf b = BUF_INIT;
    wall_print(&b, t);
    /* Printed to the millisecond, so the second reading is the first one cut. */
    if (wall_parse(buf_text(&b), &again)) CHECK(llabs(t.us - again.us) < US_PER_MS);
    buf_free(&b);
}

static void utf8(const char *s, size_t len)
{
    size_t at = 0;
    bool valid = true;
    while (at < len) {
        uint32_t code;
        unsigned n = utf8_next(s + at, len - at, &code);
        CHECK(n <= 4 && n <= len - at);
        if (n == 0) valid = false;
        at += n ? n : 1;
    }
    CHECK(valid == utf8_valid(s, len));
    CHECK(utf8_columns(s, len) <= 2 * len);
    CHECK(utf8_cut(s, len, len / 2) <= len / 2);
}

static void json(const char *s, size_t len)
{
    struct buf b = BUF_INIT;
    buf_json_string(&b, s, len);
    CHECK(b.len >= 2 && b.data[0] == '"' && b.data[b.len - 1] == '"' && utf8_valid(b.data, b.len));
    buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4096) return 0;
    number((const char *)data, size);
    duration((const char *)data, size);
    utf8((const char *)data, size);
    json((const char *)data, size);
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    wall_time(text);
    (void)text_is_name(text, 64);
    free(text);
    return 0;
}
