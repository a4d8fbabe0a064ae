#include "audit/codec.h"

#include "support/test.h"

static struct record intent(void)
{
    static uint8_t plan[32];
    struct record r;
    for (unsigned i = 0; i < sizeof plan; i++) plan[i] = (uint8_t)(i * 8);
    record_init(&r, RECORD_INTENT);
    record_u64(&r, RF_SEQ, 7);
    record_i64(&r, RF_AT, 1778580150000000);
    record_text(&r, RF_SERVICE, "embed");
    record_u64(&r, RF_INCIDENT, 3);
    record_text(&r, RF_ACTION, "embed/1");
    record_text(&r, RF_FROM, "32");
    record_text(&r, RF_TO, "64");
    record_i64(&r, RF_SINCE, -5);
    record_hex32(&r, RF_PLAN, plan);
    return r;
}

#define INTENT_BYTES                                                                                                   \
    "{\"seq\":\"7\",\"at\":\"1778580150000000\",\"kind\":\"INTENT\",\"service\":\"embed\",\"incident\":\"3\","         \
    "\"action\":\"embed/1\",\"from\":\"32\",\"to\":\"64\",\"since\":\"-5\","                                           \
    "\"plan\":\"0008101820283038404850586068707880889098a0a8b0b8c0c8d0d8e0e8f0f8\"}"

static void assert_same(const struct record *a, const struct record *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->present, b->present);
    for (unsigned i = 0; i < RF_COUNT; i++) {
        enum record_field f = (enum record_field)i;
        if (!record_has(a, f)) continue;
        switch (record_field_type(f)) {
        case RT_U64: assert_int_equal(a->v[f].u64, b->v[f].u64); break;
        case RT_I64: assert_int_equal(a->v[f].i64, b->v[f].i64); break;
        case RT_TEXT:
        case RT_NAME: assert_string_equal(a->v[f].text, b->v[f].text); break;
        case RT_HEX32: assert_memory_equal(a->v[f].hex32, b->v[f].hex32, 32); break;
        }
    }
}

static void round_trip(const struct record *r)
{
    struct arena a = ARENA_INIT;
    struct buf once = BUF_INIT, twice = BUF_INIT;
    struct record back;
    assert_int_equal(audit_encode(&once, r, NULL), STATUS_OK);
    assert_int_equal(audit_decode(&a, once.data, once.len, &back, NULL), STATUS_OK);
    assert_same(r, &back);
    assert_int_equal(audit_encode(&twice, &back, NULL), STATUS_OK);
    assert_int_equal(once.len, twice.len);
    assert_memory_equal(once.data, twice.data, once.len);
    buf_free(&once);
    buf_free(&twice);
    arena_free(&a);
}

static void test_bytes(void **state)
{
    (void)state;
    struct record r = intent();
    struct buf out = BUF_INIT;
    assert_int_equal(audit_encode(&out, &r, NULL), STATUS_OK);
    assert_string_equal(buf_text(&out), INTENT_BYTES);
    round_trip(&r);
    buf_free(&out);
}

static void test_all_fields_and_kinds(void **state)
{
    (void)state;
    uint8_t hash[32] = {0xff};
    for (unsigned k = 0; k < RECORD_KIND_COUNT; k++) {
        struct record r;
        record_init(&r, (enum record_kind)k);
        for (unsigned i = 0; i < RF_COUNT; i++) {
            enum record_field f = (enum record_field)i;
            switch (record_field_type(f)) {
            case RT_U64: record_u64(&r, f, UINT64_MAX - i); break;
            case RT_I64: record_i64(&r, f, INT64_MIN + (int64_t)i); break;
            case RT_TEXT: record_text(&r, f, i % 2 ? "" : "\xe5\x80\xbc 46.8 ms"); break;
            case RT_HEX32: record_hex32(&r, f, hash); break;
            case RT_NAME: break;
            }
        }
        round_trip(&r);
    }
}

static void test_escapes(void **state)
{
    (void)state;
    struct record r = intent();
    struct buf out = BUF_INIT;
    record_init(&r, RECORD_HALT);
    record_u64(&r, RF_SEQ, 0);
    record_i64(&r, RF_AT, 0);
    record_text(&r, RF_NOTE,
                "a\"b\\c/d\n\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(audit_encode(&out, &r, NULL), STATUS_OK);
    assert_string_equal(
        buf_text(&out),
        "{\"seq\":\"0\",\"at\":\"0\",\"kind\":\"HALT\",\"note\":\"a\\\"b\\\\c/d\\u000a\\u001b[2J\\u007f\\u009b\\u202e"
        "\\u2066\\u2028\\u061c\xc3\xa9\xf0\x9f\x98\x80\"}");
    round_trip(&r);
    buf_free(&out);
}

static void test_what_cannot_be_encoded(void **state)
{
    (void)state;
    struct record r = intent(), empty;
    struct buf out = BUF_INIT;
    struct err e;
    buf_puts(&out, "before");
    record_text(&r, RF_READ, "\xc3(");
    assert_int_equal(audit_encode(&out, &r, &e), STATUS_INVALID);
    assert_string_equal(e.text, "the field read of a record INTENT is not valid UTF-8");
    record_init(&empty, RECORD_STOP);
    assert_int_equal(audit_encode(&out, &empty, &e), STATUS_INVALID);
    assert_int_equal(out.len, 6);
    buf_free(&out);
}

static void test_size_limit(void **state)
{
    (void)state;
    struct record r = intent();
    struct buf out = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct err e;
    char *note = malloc(RECORD_BYTES_MAX + 1);
    assert_non_null(note);
    size_t room = RECORD_BYTES_MAX - (sizeof INTENT_BYTES - 1) - strlen(",\"note\":\"\"");
    memset(note, 'n', room + 1);
    note[room + 1] = '\0';
    record_text(&r, RF_NOTE, note);
    assert_int_equal(audit_encode(&out, &r, &e), STATUS_LIMIT);
    assert_int_equal(out.len, 0);
    note[room] = '\0';
    assert_int_equal(audit_encode(&out, &r, &e), STATUS_OK);
    assert_int_equal(out.len, RECORD_BYTES_MAX);
    round_trip(&r);
    buf_putc(&out, ' ');
    assert_int_equal(audit_decode(&a, out.data, out.len, &r, &e), STATUS_CORRUPT);
    assert_string_equal(e.text, "offset 65535: the record is longer than 65,535 bytes");
    arena_free(&a);
    buf_free(&out);
    free(note);
}

#define HEAD "{\"seq\":\"1\",\"at\":\"2\",\"kind\":\"STOP\""

static void test_strict(void **state)
{
    (void)state;
    static const struct { const char *bytes, *why;
    } cases[] = {
        {"", "offset 0: expected '{'"},
        {"[]", "offset 0: expected '{'"},
        {"{}", "offset 1: expected a string in double quotes"},
        {" " HEAD "}", "offset 0: expected '{'"},
        {HEAD "} ", "offset 34: bytes after the end of the record"},
        {HEAD "}\n", "offset 34: bytes after the end of the record"},
        {HEAD, "offset 33: expected ',' or '}'"},
        {HEAD ",}", "offset 34: expected a string in double quotes"},
        {HEAD ",\"nonce\":\"1\"}", "offset 34: unknown key \"nonce\""},
        {HEAD ",\"seq\":\"1\"}", "offset 34: the key \"seq\" stands twice"},
        {HEAD ",\"note\":\"a\",\"service\":\"b\"}",
         "offset 45: the key \"service\" stands after a key that it must precede"},
        {HEAD ",\"note\" :\"a\"}", "offset 40: expected ':'"},
        {HEAD ",\"note\":3}", "offset 41: expected a string in double quotes"},
        {HEAD ",\"note\":null}", "offset 41: expected a string in double quotes"},
        {HEAD ",\"note\":\"a", "offset 43: the record ends inside a string"},
        {HEAD ",\"note\":\"a\\", "offset 43: this escape is not the canonical form of any character"},
        {HEAD ",\"note\":\"\\n\"}", "offset 42: this escape is not the canonical form of any character"},
        {HEAD ",\"note\":\"\\u0041\"}", "offset 42: this escape is not the canonical form of any character"},
        {HEAD ",\"note\":\"\\u001B\"}", "offset 42: this escape is not the canonical form of any character"},
        {HEAD ",\"note\":\"\\u0000\"}", "offset 42: this escape is not the canonical form of any character"},
        {HEAD ",\"note\":\"\\u00", "offset 42: this escape is not the canonical form of any character"},
        {HEAD ",\"note\":\"\n\"}", "offset 42: a control character that is not escaped"},
        {HEAD ",\"note\":\"\xff\"}", "offset 42: not valid UTF-8"},
        {HEAD ",\"incident\":\"01\"}", "offset 45: not a canonical whole number"},
        {HEAD ",\"incident\":\"-1\"}", "offset 45: not a canonical whole number"},
        {HEAD ",\"incident\":\"+1\"}", "offset 45: not a canonical whole number"},
        {HEAD ",\"incident\":\"1.0\"}", "offset 45: not a canonical whole number"},
        {HEAD ",\"incident\":\"\"}", "offset 45: not a canonical whole number"},
        {HEAD ",\"incident\":\"18446744073709551616\"}", "offset 45: not a canonical whole number"},
        {HEAD ",\"onset\":\"-0\"}", "offset 42: not a canonical whole number"},
        {HEAD ",\"onset\":\"-01\"}", "offset 42: not a canonical whole number"},
        {HEAD ",\"onset\":\"-\"}", "offset 42: not a canonical whole number"},
        {HEAD ",\"plan\":\"00\"}", "offset 41: expected 64 lower-case hex digits"},
        {HEAD ",\"plan\":\"00000000000000000000000000000000000000000000000000000000000000AA\"}",
         "offset 41: expected 64 lower-case hex digits"},
        {"{\"seq\":\"1\",\"at\":\"2\",\"kind\":\"stop\"}", "offset 27: unknown kind \"stop\""},
        {"{\"seq\":\"1\",\"at\":\"2\"}", "offset 20: seq, at or kind is missing"},
        {"{\"seq\":\"1\",\"kind\":\"STOP\"}", "offset 25: seq, at or kind is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a = ARENA_INIT;
        struct record r = {.present = 42};
        struct err e;
        assert_int_equal(audit_decode(&a, cases[i].bytes, strlen(cases[i].bytes), &r, &e), STATUS_CORRUPT);
        assert_string_equal(e.text, cases[i].why);
        assert_int_equal(r.present, 42);
        arena_free(&a);
    }
}

/* Whatever one changed byte still decodes to is another record with other bytes: nothing has two forms. */
static void test_one_form(void **state)
{
    (void)state;
    size_t len = sizeof INTENT_BYTES - 1, accepted = 0;
    for (size_t at = 0; at < len; at++)
        for (unsigned value = 0; value < 256; value++) {
            char bytes[sizeof INTENT_BYTES];
            struct arena a = ARENA_INIT;
            struct record r;
            struct buf out = BUF_INIT;
            memcpy(bytes, INTENT_BYTES, sizeof bytes);
            bytes[at] = (char)value;
            if (audit_decode(&a, bytes, len, &r, NULL) == STATUS_OK) {
                accepted++;
                assert_int_equal(audit_encode(&out, &r, NULL), STATUS_OK);
                assert_int_equal(out.len, len);
                assert_memory_equal(out.data, bytes, len);
            }
            buf_free(&out);
            arena_free(&a);
        }
    assert_true(accepted > len);
}

static void test_nul_inside(void **state)
{
    (void)state;
    static const char bytes[] = HEAD ",\"note\":\"a\0b\"}";
    struct arena a = ARENA_INIT;
    struct record r;
    struct err e;
    assert_int_equal(audit_decode(&a, bytes, sizeof bytes - 1, &r, &e), STATUS_CORRUPT);
    assert_string_equal(e.text, "offset 43: a control character that is not escaped");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),         cmocka_unit_test(test_all_fields_and_kinds),
        cmocka_unit_test(test_escapes),       cmocka_unit_test(test_what_cannot_be_encoded),
        cmocka_unit_test(test_size_limit),    cmocka_unit_test(test_strict),
        cmocka_unit_test(test_one_form),      cmocka_unit_test(test_nul_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
