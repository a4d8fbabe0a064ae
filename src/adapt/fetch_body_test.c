#include "adapt/fetch_body.h"

#include "support/test.h"

static size_t zip(const void *data, size_t len, unsigned char *out, size_t cap)
{
    z_stream z = {0};
    assert_int_equal(Z_OK, deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY));
    z.next_in = (unsigned char *)(uintptr_t)data;
    z.avail_in = (unsigned)len;
    z.next_out = out;
    z.avail_out = (unsigned)cap;
    assert_int_equal(Z_STREAM_END, deflate(&z, Z_FINISH));
    size_t n = cap - z.avail_out;
    deflateEnd(&z);
    return n;
}

static void header(struct fetch_body *b, const char *line) { assert_true(fetch_body_header(b, line, strlen(line))); }

static void plain_and_zipped_read_the_same(void **state)
{
    (void)state;
    const char *text = "up 1\nup 2\n";
    unsigned char zipped[200];
    size_t n = zip(text, strlen(text), zipped, sizeof zipped);
    struct fetch_body b;
    fetch_body_begin(&b, 1000, 1000, "ETag");
    header(&b, "HTTP/1.1 200 OK\r\n");
    header(&b, "content-encoding: GZIP\r\n");
    header(&b, "etag:  \"7\" \r\n");
    header(&b, "Content-Type: text/plain\r\n");
    for (size_t i = 0; i < n; i++) assert_true(fetch_body_data(&b, zipped + i, 1));   /* any cut of the stream */
    assert_true(fetch_body_end(&b));
    assert_string_equal(text, buf_text(&b.bytes));
    assert_string_equal("\"7\"", b.wanted);
    assert_string_equal("text/plain", b.content_type);
    fetch_body_free(&b);
}

static void an_unfinished_or_broken_stream_is_garbage(void **state)
{
    (void)state;
    unsigned char zipped[200];
    size_t n = zip("0123456789", 10, zipped, sizeof zipped);
    struct fetch_body b;
    fetch_body_begin(&b, 1000, 1000, NULL);
    header(&b, "Content-Encoding: gzip\r\n");
    assert_true(fetch_body_data(&b, zipped, n - 3));
    assert_false(fetch_body_end(&b));
    assert_int_equal(FETCH_GARBAGE, b.failed);
    fetch_body_free(&b);
    fetch_body_begin(&b, 1000, 1000, NULL);
    header(&b, "Content-Encoding: gzip\r\n");
    assert_false(fetch_body_data(&b, "not gzip at all", 15));
    assert_int_equal(FETCH_GARBAGE, b.failed);
    fetch_body_free(&b);
    fetch_body_begin(&b, 1000, 1000, NULL);
    header(&b, "Content-Encoding: br\r\n");
    assert_false(fetch_body_data(&b, "x", 1));
    assert_non_null(strstr(b.error, "'br'"));
    fetch_body_free(&b);
}

static void caps_hold(void **state)
{
    (void)state;
    static unsigned char zeros[8 << 20], zipped[64 << 10];
    struct fetch_body b;
    fetch_body_begin(&b, 100, 1000, NULL);
    assert_true(fetch_body_data(&b, zeros, 100));
    assert_false(fetch_body_data(&b, zeros, 1));
    assert_int_equal(FETCH_TOO_LARGE, b.failed);
    assert_non_null(strstr(b.error, "on the wire"));
    fetch_body_free(&b);
    size_t n = zip(zeros, sizeof zeros, zipped, sizeof zipped);
    assert_true(n < sizeof zeros / FETCH_RATIO_MAX);
    fetch_body_begin(&b, FETCH_WIRE_MAX, FETCH_BODY_MAX, NULL);
    header(&b, "Content-Encoding: gzip\r\n");
    assert_false(fetch_body_data(&b, zipped, n));
    assert_non_null(strstr(b.error, "more than 100 times"));
    assert_true(b.bytes.len <= FETCH_RATIO_FROM + 65536 + n * FETCH_RATIO_MAX);
    fetch_body_free(&b);
    fetch_body_begin(&b, FETCH_WIRE_MAX, 4 << 20, NULL);
    b.wire = 1 << 20;                   /* as if the ratio were fine */
    b.zipped = false;
    assert_true(fetch_body_data(&b, zeros, 3 << 20));
    assert_false(fetch_body_data(&b, zeros, 2 << 20));
    assert_int_equal(FETCH_TOO_LARGE, b.failed);
    fetch_body_free(&b);
}

static void headers_are_capped(void **state)
{
    (void)state;
    char line[1100];
    struct fetch_body b;
    bool ok = true;
    unsigned lines = 0;
    memset(line, 'x', sizeof line);
    fetch_body_begin(&b, 1000, 1000, NULL);
    while (ok && lines < 100) ok = fetch_body_header(&b, line, sizeof line), lines++;
    assert_int_equal(FETCH_HEADER_MAX / sizeof line + 1, lines);
    fetch_body_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_zipped_read_the_same),
        cmocka_unit_test(an_unfinished_or_broken_stream_is_garbage),
        cmocka_unit_test(caps_hold),
        cmocka_unit_test(headers_are_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
