#include "app/command.h"

#include "support/test.h"

static bool parse(struct args *a, unsigned n, const char *const *words)
{
    char *argv[16] = {(char *)(uintptr_t)"trimtab"};
    for (unsigned i = 0; i < n; i++) argv[i + 1] = (char *)(uintptr_t)words[i];
    return command_parse((int)n + 1, argv, a);
}

#define PARSE(a, ...) parse(a, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})

static void reads_flags_and_words(void **state)
{
    (void)state;
    struct args a;
    assert_true(PARSE(&a, "serve", "--config", "a.yaml", "--data=dir", "--dry-run", "--config", "b.yaml"));
    assert_string_equal("b.yaml", args_text(&a, "config"));
    assert_string_equal("dir", args_text(&a, "data"));
    assert_true(args_has(&a, "dry-run"));
    assert_null(args_text(&a, "listen"));
    assert_true(PARSE(&a, "check", "--", "--strict"));
    assert_false(args_has(&a, "strict"));
    assert_string_equal("--strict", a.words[0]);
    assert_true(PARSE(&a, "check", "-h"));
    assert_true(args_has(&a, "help"));
}

static void refuses_what_it_does_not_know(void **state)
{
    (void)state;
    struct args a;
    assert_false(PARSE(&a, "serv"));
    assert_false(PARSE(&a, "serve", "--confg", "x"));
    assert_false(PARSE(&a, "serve", "--config"));
    assert_false(PARSE(&a, "serve", "--dry-run=yes"));
    assert_false(PARSE(&a, "check", "--dry-run"));      /* another command's */
}

/* Each flag belongs to a command that exists, and no name stands twice. */
static void the_table_is_sound(void **state)
{
    (void)state;
    unsigned n, flag_n;
    const struct command_row *rows = command_rows(&n);
    const struct command_flag *flags = command_flags(&flag_n);
    for (unsigned i = 0; i < n; i++) {
        assert_ptr_equal(&rows[i], command_find(rows[i].name));
        assert_true(rows[i].summary[0] != '\0');
    }
    for (unsigned i = 0; i < flag_n; i++) {
        assert_true(strcmp(flags[i].command, "*") == 0 || command_find(flags[i].command) != NULL);
        for (unsigned k = 0; k < i; k++) {
            bool same = strcmp(flags[i].name, flags[k].name) == 0 && strcmp(flags[i].command, flags[k].command) == 0;
            assert_false(same);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_flags_and_words),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(the_table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
