/* Rules are outside input: what is too long, too deep, too many is refused with a sentence. */
#include "expr/expr.h"

#include "base/buf.h"
#include "support/rules.h"

static char *repeated(const char *first, const char *part, int times, const char *last)
{
    struct buf b = BUF_INIT;
    buf_puts(&b, first);
    for (int i = 0; i < times; i++) buf_puts(&b, part);
    buf_puts(&b, last);
    size_t len;
    return buf_take(&b, &len);
}

static void assert_refused(struct rules *r, char *text, const char *why)
{
    assert_null(rules_try(r, text));
    assert_string_equal(r->error.text, why);
    free(text);
}

static void depth(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    char *text = repeated("", "(", 32, "queue_depth > 1");
    char *deep = repeated(text, ")", 32, "");
    assert_non_null(rules_try(r, deep));
    free(deep);
    deep = repeated("(", text, 1, "");
    free(text);
    text = repeated(deep, ")", 33, "");
    free(deep);
    assert_refused(r, text, "the rule is nested more than 32 deep");
    assert_refused(r, repeated("", "not ", 33, "queue_depth > 1"), "the rule is nested more than 32 deep");
    assert_refused(r, repeated("queue_depth > ", "-", 33, "1"), "the rule is nested more than 32 deep");
    /* Closed groups do not count. */
    text = repeated("true", " and (queue_depth > 1)", 40, "");
    assert_non_null(rules_try(r, text));
    free(text);
    rules_free(r);
}

static void parts(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    char *text = repeated("queue_depth > 1", " and queue_depth > 1", 63, "");   /* 64 * 3 + 63 = 255 */
    assert_non_null(rules_try(r, text));
    assert_int_equal(expr_eval(rules_compile(r, text), &r->evidence), TRI_UNKNOWN);
    free(text);
    assert_refused(r, repeated("queue_depth > 1", " and queue_depth > 1", 64, ""), "the rule has more than 256 parts");
    rules_free(r);
}

static void bytes(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    char *text = repeated("queue_depth > 1", " ", EXPR_LIMIT_BYTES - 15, "");
    assert_non_null(rules_try(r, text));
    free(text);
    assert_refused(r, repeated("queue_depth > 1", " ", EXPR_LIMIT_BYTES - 14, ""),
                   "the rule is longer than 4096 bytes");
    struct expr_scope scope = {.service = &r->def, .needs = &r->def.needs};
    assert_null(expr_compile(&r->arena, "queue_depth > 1\0 and", 20, &scope, &r->error));
    assert_string_equal(r->error.text, "the rule holds a NUL byte");
    assert_int_equal(r->error.offset, 15);
    assert_non_null(expr_compile(&r->arena, "queue_depth > 12345", 17, &scope, &r->error));  /* no NUL needed */
    rules_free(r);
}

/* All or nothing: a rule that would overflow the table leaves it as it was. */
static void readings(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    for (int i = 0; i < NEEDS_MAX - 1; i++)
        needs_add(&r->def.needs, (struct need){.fn = FN_MEAN, .window = SPAN_MIN(i + 2)});
    assert_null(rules_try(r, "queue_depth > 1 and gpu_util > 1"));
    assert_string_equal(r->error.text, "the rules of this service need more than 512 different readings");
    assert_int_equal(r->def.needs.n, NEEDS_MAX - 1);
    assert_non_null(rules_try(r, "queue_depth > 1"));
    rules_free(r);
}

static void memory(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    r->arena.limit = 8;
    assert_null(rules_try(r, "queue_depth > 1"));
    assert_string_equal(r->error.text, "out of memory");
    r->arena.limit = 64;
    assert_null(rules_try(r, "queue_depth > 1"));
    assert_string_equal(r->error.text, "out of memory");
    rules_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth), cmocka_unit_test(parts), cmocka_unit_test(bytes), cmocka_unit_test(readings),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
