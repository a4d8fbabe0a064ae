#include "config/schema.h"
#include "support/test.h"

static void page_is_what_the_table_says(void **state)
{
    (void)state;
    struct buf page = BUF_INIT, have = BUF_INIT;
    config_print_docs(&page);
    FILE *f = fopen(SOURCE_DIR "/docs/configuration.md", "rb");
    assert_non_null(f);
    for (int c; (c = getc(f)) != EOF;) buf_putc(&have, (char)c);
    fclose(f);
    if (strcmp(buf_text(&page), buf_text(&have)) != 0)
        print_error("docs/configuration.md is not what schema.def says: run build/src/config/config_docs_test --write\n");
    assert_string_equal(buf_text(&page), buf_text(&have));
    buf_free(&page);
    buf_free(&have);
}

/* Whatever a table row gives as default must be readable by its own type, and within its own limits. */
static void defaults_are_legal(void **state)
{
    (void)state;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct config_node empty = {.kind = CONFIG_MAP, .source = config_source_add(&d, "none", "", 0)};
    struct config_value values[64];
    for (int i = 1; i < CONFIG_BLOCK_COUNT; i++) {
        const struct config_block *b = &config_blocks[i];
        assert_true(b->n <= ARRAY_LEN(values));
        assert_true(config_read_block(&d, (enum config_block_id)i, &empty, NULL, values));
        for (uint16_t k = 0; k < b->n; k++) {
            assert_int_equal(b->keys[k].fallback[0] != '\0', values[k].is_set);
            assert_true(b->keys[k].doc[0] != '\0');
            assert_true(!b->keys[k].required || !b->keys[k].fallback[0]);
        }
    }
    config_diagnostics_free(&d);
}

/* Each example is accepted by the key it explains. */
static void examples_are_legal(void **state)
{
    (void)state;
    for (int i = 1; i < CONFIG_BLOCK_COUNT; i++) {
        const struct config_block *b = &config_blocks[i];
        for (uint16_t k = 0; k < b->n; k++) {
            struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
            struct arena a = ARENA_INIT;
            struct buf text = BUF_INIT, out = BUF_INIT;
            struct config_value values[64];
            if (!b->keys[k].example[0]) continue;
            buf_printf(&text, "%s: %s\n", b->keys[k].name, b->keys[k].example);
            struct config_source *source = config_source_add(&d, b->name, text.data, text.len);
            const struct config_node *root = config_tree_parse(&a, source, &d);
            assert_non_null(root);
            source->cut = true;   /* the other keys are not expected */
            config_read_block(&d, (enum config_block_id)i, root, NULL, values);
            config_print_diagnostics(&out, &d, true);
            assert_string_equal("", buf_text(&out));
            assert_true(values[k].is_set);
            buf_free(&text);
            buf_free(&out);
            arena_free(&a);
            config_diagnostics_free(&d);
        }
    }
}

static void one_key_is_explained(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    assert_true(config_explain_key(&out, "services.knobs.ladder"));
    assert_non_null(strstr(buf_text(&out), "services[].knobs.<name>.ladder: <ladder>\n"));
    assert_non_null(strstr(buf_text(&out), "  required\n"));
    buf_clear(&out);
    assert_true(config_explain_key(&out, "alpha"));
    assert_string_equal(
        "alpha: <fraction>\n  Weight of the newest tick in the EWMA baseline.\n  default: 0.2\n  range: 10% to 30%\n"
        "  example: alpha: 0.2\n",
        buf_text(&out));
    assert_false(config_explain_key(&out, "alhpa"));
    buf_free(&out);
}

static int write_page(void)
{
    struct buf page = BUF_INIT;
    config_print_docs(&page);
    FILE *f = fopen(SOURCE_DIR "/docs/configuration.md", "wb");
    if (!f || fwrite(page.data, 1, page.len, f) != page.len || fclose(f) != 0) return 1;
    buf_free(&page);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_is_what_the_table_says),
        cmocka_unit_test(defaults_are_legal),
        cmocka_unit_test(examples_are_legal),
        cmocka_unit_test(one_key_is_explained),
    };
    if (argc == 2 && strcmp(argv[1], "--write") == 0) return write_page();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
