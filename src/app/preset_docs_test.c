#include "app/preset_docs.h"

#include "support/test.h"

#define PAGE SOURCE_DIR "/docs/presets.md"

static void read_page(struct buf *out)
{
    FILE *f = fopen(PAGE, "rb");
    assert_non_null(f);
    for (int c; (c = getc(f)) != EOF;) buf_putc(out, (char)c);
    fclose(f);
}

/* What stands below the mark is what the data files say. */
static void page_is_what_the_presets_say(void **state)
{
    (void)state;
    struct buf want = BUF_INIT, have = BUF_INIT;
    assert_true(preset_print_docs(&want));
    read_page(&have);
    const char *below = strstr(buf_text(&have), PRESET_DOCS_BEGIN);
    assert_non_null(below);
    if (strcmp(below, buf_text(&want)) != 0)
        print_error("docs/presets.md is not what presets/ says: run build/src/app/app_preset_docs_test --write\n");
    assert_string_equal(below, buf_text(&want));
    buf_free(&want);
    buf_free(&have);
}

static int write_page(void)
{
    struct buf want = BUF_INIT, have = BUF_INIT;
    if (!preset_print_docs(&want)) return 1;
    read_page(&have);
    const char *below = strstr(buf_text(&have), PRESET_DOCS_BEGIN);
    size_t head = below ? (size_t)(below - buf_text(&have)) : have.len;
    FILE *f = fopen(PAGE, "wb");
    if (!f || fwrite(have.data, 1, head, f) != head || fwrite(want.data, 1, want.len, f) != want.len || fclose(f) != 0) return 1;
    buf_free(&want);
    buf_free(&have);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_is_what_the_presets_say),
    };
    if (argc == 2 && strcmp(argv[1], "--write") == 0) return write_page();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
