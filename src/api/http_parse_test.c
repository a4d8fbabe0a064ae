#include "api/http_parse.h"

#include "support/test.h"

static int parse(const char *text, struct http_head *h, char *keep, size_t cap)
{
    const char *why;
    assert_true(strlen(text) < cap);
    memcpy(keep, text, strlen(text) + 1);
    return http_parse_head(keep, strlen(text), h, &why);
}

static void expect(int status, const char *text)
{
    char keep[16384];
    struct http_head h;
    int got = parse(text, &h, keep, sizeof keep);
    if (got != status) print_error("%s\n", text);
    assert_int_equal(status, got);
}

static void reads_a_request(void **state)
{
    (void)state;
    char keep[512];
    struct http_head h;
    assert_int_equal(0, parse("PUT /a/b%20c?x=1&y HTTP/1.1\r\nHost: localhost:7373\r\nContent-Length: 12\r\nX-Y:\t z \t\r\n\r\n",
                              &h, keep, sizeof keep));
    assert_int_equal(HTTP_PUT, h.method);
    assert_string_equal("/a/b%20c", h.path);
    assert_string_equal("x=1&y", h.query);
    assert_int_equal(12, h.content_length);
    assert_string_equal("z", http_parse_field(&h, "x-y"));
    assert_null(http_parse_field(&h, "x"));
    assert_false(h.close);
    assert_int_equal(0, parse("GET / HTTP/1.0\r\n\r\n", &h, keep, sizeof keep));
    assert_true(h.close);
    assert_string_equal("", h.query);
    assert_int_equal(0, parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", &h, keep, sizeof keep));
    assert_true(h.close);
}

static void refuses_what_two_readers_may_read_in_two_ways(void **state)
{
    (void)state;
    expect(400, "GET / HTTP/1.1\r\n\r\n");
    expect(400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n");
    expect(400, "GET / HTTP/1.1\r\nHost :a\r\n\r\n");
    expect(400, "GET / HTTP/1.1\r\nHost: \r\n\r\n");
    expect(501, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
    expect(501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n");
    expect(400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n");
    expect(400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n");
    expect(400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n");
    expect(400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n");
    expect(411, "POST / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(400, "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n");
    expect(400, "GET / HTTP/1.1\nHost: a\r\n\r\n");
    expect(400, "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n");
    expect(400, "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n");
    expect(400, "GET / HTTP/1.1\r\nHost: a\r\nX: a\x01" "b\r\n\r\n");
    expect(400, "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(400, "GET /\r\nHost: a\r\n\r\n");
    expect(400, "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n");
    expect(405, "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(405, "OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(405, "QUERY / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(501, "get / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(417, "GET / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n");
}

static void counts_fields_and_targets(void **state)
{
    (void)state;
    char text[16000] = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (unsigned i = 0; i < HTTP_FIELDS_MAX - 1; i++) strcat(text, "X: y\r\n");
    char more[16000];
    snprintf(more, sizeof more, "%.15000s\r\n", text);
    expect(0, more);
    snprintf(more, sizeof more, "%.15000sX: y\r\n\r\n", text);
    expect(431, more);
    strcpy(text, "GET /");
    memset(text + 5, 'a', HTTP_TARGET_MAX);
    strcpy(text + 5 + HTTP_TARGET_MAX, " HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(414, text);
}

static void decodes_strictly(void **state)
{
    (void)state;
    char good[] = "a%2Fb%20%c3%bc", nul[] = "a%00", cut[] = "a%2", bad[] = "%zz";
    assert_true(http_parse_decode(good));
    assert_string_equal("a/b ü", good);
    assert_false(http_parse_decode(nul));
    assert_false(http_parse_decode(cut));
    assert_false(http_parse_decode(bad));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_request),
        cmocka_unit_test(refuses_what_two_readers_may_read_in_two_ways),
        cmocka_unit_test(counts_fields_and_targets),
        cmocka_unit_test(decodes_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
