/* Each wrong configuration with everything that is said about it. golden/cases.txt holds edits of golden/base.yaml:
 *   === title
 *   - line of the base        (the lines of one edit stand together, in the base's order)
 *   + line instead
 *   @@                        (a further edit)
 *   says:
 *   the output, whole
 * `config_golden_test --write` writes the outputs anew; read the difference before you commit it. */
#include "config/load.h"
#include "support/test.h"

#define CASES SOURCE_DIR "/src/config/golden/cases.txt"
#define BASE SOURCE_DIR "/src/config/golden/base.yaml"

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    assert_true(n > 0);
    fclose(f);
    return text;
}

/* The line at *at without its end, NUL-terminated; moves *at behind it. NULL at the end of the text. */
static char *next_line(char **at)
{
    char *line = *at;
    if (!line || !*line) return NULL;
    char *end = strchr(line, '\n');
    *at = end ? end + 1 : line + strlen(line);
    if (end) *end = '\0';
    return line;
}

struct edit { struct buf old, new; };

static void apply(struct buf *text, struct edit *e)
{
    if (!e->old.len && !e->new.len) return;
    char *found = strstr(text->data, buf_text(&e->old));
    if (!found) fail_msg("not in the base: %s", buf_text(&e->old));
    struct buf out = BUF_INIT;
    buf_add(&out, text->data, (size_t)(found - text->data));
    buf_puts(&out, buf_text(&e->new));
    buf_puts(&out, found + e->old.len);
    buf_free(text);
    *text = out;
    buf_clear(&e->old);
    buf_clear(&e->new);
}

/* Reads the edits of a case up to `says:` and applies them. */
static void edit_base(char **at, struct buf *text)
{
    struct edit e = {BUF_INIT, BUF_INIT};
    for (char *line; (line = next_line(at)) && strcmp(line, "says:") != 0;) {
        struct buf *side = line[0] == '-' ? &e.old : line[0] == '+' ? &e.new : NULL;
        if (side) {
            buf_puts(side, line[1] ? line + 2 : "");
            buf_putc(side, '\n');
        } else {
            apply(text, &e);
        }
    }
    apply(text, &e);
    buf_free(&e.old);
    buf_free(&e.new);
}

static void expected_text(char **at, struct buf *out)
{
    for (char *line; *at && **at && strncmp(*at, "===", 3) != 0 && (line = next_line(at));) {
        buf_puts(out, line);
        buf_putc(out, '\n');
    }
}

static void said(const struct buf *text, struct buf *out)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct config_options o = {.now = {INT64_C(1796083200) * 1000000}};   /* 2026-12-01 */
    struct policy *p = config_load(text->data, text->len, "f.yaml", &o, &d);
    config_print_diagnostics(out, &d, true);
    buf_puts(out, p ? "accepted\n" : "refused\n");
    assert_int_equal(p == NULL, d.errors > 0);
    config_free(p);
    config_diagnostics_free(&d);
}

/* Runs all cases; what they say goes to `all` in the form of the file. Returns how many differ. */
static unsigned run_cases(struct buf *all, unsigned *ret_count)
{
    char *file = read_all(CASES), *base = read_all(BASE), *at = file;
    unsigned differ = 0;
    for (char *title; (title = next_line(&at));) {
        if (strncmp(title, "===", 3) != 0) continue;
        char *edits = at, *edits_end = strstr(at, "\nsays:\n");
        assert_non_null(edits_end);
        buf_printf(all, "%s\n%.*s\nsays:\n", title, (int)(edits_end - edits), edits);
        struct buf text = BUF_INIT, want = BUF_INIT, got = BUF_INIT;
        buf_puts(&text, base);
        edit_base(&at, &text);
        expected_text(&at, &want);
        said(&text, &got);
        buf_puts(all, buf_text(&got));
        if (strcmp(buf_text(&want), buf_text(&got)) != 0) {
            print_error("%s\n--- expected\n%s--- got\n%s", title, buf_text(&want), buf_text(&got));
            differ++;
        }
        ++*ret_count;
        buf_free(&text);
        buf_free(&want);
        buf_free(&got);
    }
    free(file);
    free(base);
    return differ;
}

static void every_case_says_what_it_said(void **state)
{
    (void)state;
    struct buf all = BUF_INIT;
    unsigned count = 0;
    assert_int_equal(0, run_cases(&all, &count));
    assert_true(count >= 40);
    buf_free(&all);
}

static void base_is_clean(void **state)
{
    (void)state;
    char *base = read_all(BASE);
    struct buf text = BUF_INIT, got = BUF_INIT;
    buf_puts(&text, base);
    said(&text, &got);
    assert_string_equal("accepted\n", buf_text(&got));
    buf_free(&text);
    buf_free(&got);
    free(base);
}

static int write_anew(void)
{
    struct buf all = BUF_INIT;
    unsigned count = 0;
    run_cases(&all, &count);
    FILE *f = fopen(CASES, "wb");
    if (!f || fwrite(all.data, 1, all.len, f) != all.len || fclose(f) != 0) return 1;
    buf_free(&all);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(base_is_clean), cmocka_unit_test(every_case_says_what_it_said)};
    if (argc == 2 && strcmp(argv[1], "--write") == 0) return write_anew();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
