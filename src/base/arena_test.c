#include "base/arena.h"

#include "support/test.h"

static void memory_is_zero_aligned_and_apart(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    unsigned char *last = NULL;
    for (size_t i = 1; i < 3000; i += 7) {
        unsigned char *p = arena_alloc(&a, i);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < i; k++) assert_int_equal(p[k], 0);
        memset(p, 0xff, i);
        if (last) assert_true(last != p);
        last = p;
    }
    assert_non_null(arena_alloc(&a, 5 << 20));
    arena_free(&a);
    arena_free(NULL);
}

static void limit_and_overflow_give_null(void **state)
{
    (void)state;
    struct arena a = {.limit = 64};
    assert_non_null(arena_alloc(&a, 48));
    assert_null(arena_alloc(&a, 17));
    assert_non_null(arena_alloc(&a, 16));
    assert_null(arena_array(&a, SIZE_MAX / 2, 4));
    assert_null(arena_alloc(&a, SIZE_MAX));
    arena_reset(&a);
    assert_int_equal(a.used, 0);
    assert_non_null(arena_alloc(&a, 64));
    arena_free(&a);
}

static void reused_memory_is_zero_again(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    memset(arena_alloc(&a, 100), 1, 100);
    arena_reset(&a);
    unsigned char *p = arena_alloc(&a, 100);
    for (int i = 0; i < 100; i++) assert_int_equal(p[i], 0);
    arena_free(&a);
}

static void strings_are_copied(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    assert_string_equal(arena_strndup(&a, "kernel", 3), "ker");
    assert_string_equal(arena_strdup(&a, ""), "");
    double *d = ARENA_NEW_N(&a, 3, double);
    assert_true(d[2] == 0);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zero_aligned_and_apart),
        cmocka_unit_test(limit_and_overflow_give_null),
        cmocka_unit_test(reused_memory_is_zero_again),
        cmocka_unit_test(strings_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
