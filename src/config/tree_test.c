#include "config/tree.h"

#include "config/schema.h"
#include "support/test.h"

struct parsed {
    struct config_diagnostics d;
    struct arena a;
    struct config_source *source;
    const struct config_node *root;
};

static void parse(struct parsed *p, const char *bytes, size_t len)
{
    *p = (struct parsed){.root = NULL};
    p->source = config_source_add(&p->d, "t.yaml", bytes, len);
    assert_non_null(p->source);
    p->root = config_tree_parse(&p->a, p->source, &p->d);
}

static void parse_text(struct parsed *p, const char *text)
{
    parse(p, text, strlen(text));
}

static void end(struct parsed *p)
{
    arena_free(&p->a);
    config_diagnostics_free(&p->d);
}

/* Where the first byte of `needle`, looked for in the scalar's text, stands in the file. */
static void assert_place(const struct config_node *n, const char *needle, unsigned line, unsigned col)
{
    const char *found = strstr(n->text, needle);
    assert_non_null(found);
    struct text_pos at = config_source_pos(n->source, config_tree_place(n, (size_t)(found - n->text)));
    if (at.line != line || at.col != col) print_error("'%s' of '%s' is at %u:%u\n", needle, n->text, at.line, at.col);
    assert_int_equal(line, at.line);
    assert_int_equal(col, at.col);
}

static void keys_and_values_know_their_place(void **state)
{
    (void)state;
    struct parsed p;
    parse_text(&p, "a: 1\nb:\n  c: [x, 'y z']   # note\n");
    const struct config_node *b = config_tree_get(p.root, "b");
    assert_int_equal(CONFIG_MAP, b->kind);
    const struct config_node *c = config_tree_get(b, "c");
    assert_int_equal(2, c->n);
    assert_string_equal("y z", c->items[1]->text);
    assert_int_equal(CONFIG_SINGLE_QUOTED, c->items[1]->style);
    struct text_pos at = config_source_pos(p.source, c->items[1]->offset);
    assert_int_equal(3, at.line);
    assert_int_equal(10, at.col);
    assert_int_equal(5, c->items[1]->length);
    assert_null(config_tree_get(p.root, "d"));
    assert_null(config_tree_get(c, "d"));
    assert_null(config_tree_get(NULL, "d"));
    end(&p);
}

static void scalars_stay_text(void **state)
{
    (void)state;
    struct parsed p;
    parse_text(&p, "a: no\nb: 1e3\nc: ~\nd:\ne: 'null'\nf: 0x10\n");
    assert_string_equal("no", config_tree_get(p.root, "a")->text);
    assert_string_equal("1e3", config_tree_get(p.root, "b")->text);
    assert_int_equal(CONFIG_NULL, config_tree_get(p.root, "c")->kind);
    assert_int_equal(CONFIG_NULL, config_tree_get(p.root, "d")->kind);
    assert_int_equal(CONFIG_SCALAR, config_tree_get(p.root, "e")->kind);
    assert_string_equal("0x10", config_tree_get(p.root, "f")->text);
    end(&p);
}

static void columns_count_bytes(void **state)
{
    (void)state;
    struct parsed p;
    parse_text(&p, "名: {k: 值, b: x}\r\n字: y\r\n");
    const struct config_node *b = config_tree_get(config_tree_get(p.root, "名"), "b");
    struct text_pos at = config_source_pos(p.source, b->offset);
    assert_int_equal(1, at.line);
    assert_int_equal(18, at.col);   /* 3 bytes a character: '名' and '值' take six */
    at = config_source_pos(p.source, config_tree_get(p.root, "字")->offset);
    assert_int_equal(2, at.line);
    assert_int_equal(6, at.col);
    end(&p);
}

static void a_byte_order_mark_is_no_column(void **state)
{
    (void)state;
    struct parsed p;
    parse_text(&p, "\xef\xbb\xbf" "a: 1\nb: 2\n");
    assert_int_equal(0, p.d.errors);
    assert_string_equal("2", config_tree_get(p.root, "b")->text);
    assert_int_equal(3 + 8, config_tree_get(p.root, "b")->offset);
    end(&p);
}

static void places_inside_plain_and_quoted(void **state)
{
    (void)state;
    struct parsed p;
    parse_text(&p, "a: one two\n"
                   "b: 'it''s here'\n"
                   "c: \"x\\n\\u00e9 tail\"\n"
                   "d: first\n"
                   "   second   \n"
                   "   third\n"
                   "e: \"one\n"
                   "  two \\\n"
                   "  three\"\n");
    assert_int_equal(0, p.d.errors);
    assert_place(config_tree_get(p.root, "a"), "two", 1, 8);
    assert_place(config_tree_get(p.root, "b"), "here", 2, 11);
    assert_place(config_tree_get(p.root, "c"), "tail", 3, 15);
    assert_string_equal("first second third", config_tree_get(p.root, "d")->text);
    assert_place(config_tree_get(p.root, "d"), "second", 5, 4);
    assert_place(config_tree_get(p.root, "d"), "third", 6, 4);
    assert_string_equal("one two three", config_tree_get(p.root, "e")->text);
    assert_place(config_tree_get(p.root, "e"), "two", 8, 3);
    assert_place(config_tree_get(p.root, "e"), "three", 9, 3);
    end(&p);
}

static void places_inside_blocks(void **state)
{
    (void)state;
    struct parsed p;
    parse_text(&p, "a: |\n"
                   "\n"
                   "    x > 1\n"
                   "      and y\n"
                   "b: >-\n"
                   "  p > 1\n"
                   "  and q\n"
                   "c: |\r\n"
                   "  m\r\n"
                   "  n\r\n");
    assert_int_equal(0, p.d.errors);
    assert_string_equal("\nx > 1\n  and y\n", config_tree_get(p.root, "a")->text);
    assert_place(config_tree_get(p.root, "a"), "1", 3, 9);
    assert_place(config_tree_get(p.root, "a"), "y", 4, 11);
    assert_string_equal("p > 1 and q", config_tree_get(p.root, "b")->text);
    assert_place(config_tree_get(p.root, "b"), "and", 7, 3);
    assert_place(config_tree_get(p.root, "b"), "q", 7, 7);
    assert_place(config_tree_get(p.root, "c"), "n", 10, 3);
    end(&p);
}

static void duplicates_keep_the_first(void **state)
{
    (void)state;
    struct parsed p;
    parse_text(&p, "a: 1\nb: 2\na: 3\na: 4\n");
    assert_int_equal(2, p.d.errors);
    assert_int_equal(2, p.root->n);
    assert_string_equal("1", config_tree_get(p.root, "a")->text);
    assert_int_equal(3, p.d.items[0].pos.line);
    end(&p);
}

static void a_fault_leaves_what_stands_before(void **state)
{
    (void)state;
    struct parsed p;
    parse_text(&p, "a: 1\nb: {c: 2\nd: 3\n");
    assert_true(p.source->cut);
    assert_int_equal(1, p.d.errors);
    assert_string_equal("1", config_tree_get(p.root, "a")->text);
    end(&p);
}

static void marks_and_odd_keys_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"a: &x 1\n", "a: !!str 1\n", "? [k]\n: 1\n", "a: *x\n", "&m {a: 1}\n", "a: \"x\\0y\"\n"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct parsed p;
        parse_text(&p, texts[i]);
        if (p.d.errors != 1) print_error("%s", texts[i]);
        assert_int_equal(1, p.d.errors);
        end(&p);
    }
}

static void depth_is_limited(void **state)
{
    (void)state;
    struct parsed p;
    char text[100001];
    memset(text, '[', 100000);
    text[100000] = '\0';
    parse_text(&p, text);
    assert_int_equal(1, p.d.errors);
    assert_string_equal("nested deeper than 32 levels", p.d.items[0].text);
    assert_int_equal(33, p.d.items[0].pos.col);
    end(&p);
    memset(text + 32, ']', 32);
    text[64] = '\0';
    parse_text(&p, text);
    assert_int_equal(0, p.d.errors);
    end(&p);
}

static void size_is_limited(void **state)
{
    (void)state;
    struct parsed p;
    size_t len = CONFIG_BYTES_MAX + 1;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, '#', len);
    parse(&p, text, len);
    assert_null(p.root);
    assert_int_equal(1, p.d.errors);
    end(&p);
    parse(&p, text, len - 1);
    assert_int_equal(0, p.d.errors);
    end(&p);
    free(text);
}

static void a_hundred_thousand_keys(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    struct parsed p;
    for (unsigned i = 0; i < 100000; i++) buf_printf(&text, "k%05x: \n", i);
    parse(&p, text.data, text.len);
    assert_int_equal(0, p.d.errors);
    assert_int_equal(100000, p.root->n);
    end(&p);
    buf_clear(&text);
    buf_putc(&text, '[');
    for (unsigned i = 0; i < 400000; i++) buf_puts(&text, "0,");
    buf_putc(&text, ']');
    parse(&p, text.data, text.len);
    assert_int_equal(1, p.d.errors);
    assert_string_equal("more than 250,000 values in one file", p.d.items[0].text);
    end(&p);
    buf_free(&text);
}

static void bytes_that_are_no_text(void **state)
{
    (void)state;
    static const struct { const char *bytes; size_t len; } inputs[] = {
        {"a: \xff\n", 5}, {"a: \0\n", 5}, {"\xff\xfe" "a\0", 4}, {"a: \x1b[2J\n", 8}, {"\x80", 1}, {"a: \"\\q\"", 7}, {"%", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(inputs); i++) {
        struct parsed p;
        struct buf out = BUF_INIT;
        parse(&p, inputs[i].bytes, inputs[i].len);
        assert_int_equal(1, p.d.errors);
        config_print_diagnostics(&out, &p.d, true);
        assert_null(strchr(buf_text(&out), '\x1b'));
        buf_free(&out);
        end(&p);
    }
    struct parsed p;
    parse(&p, "", 0);
    assert_null(p.root);
    end(&p);
}

static void only_so_many_faults_are_kept(void **state)
{
    (void)state;
    struct buf text = BUF_INIT, out = BUF_INIT;
    struct parsed p;
    for (unsigned i = 0; i < 2000; i++) buf_printf(&text, "a%u: !t 1\n", i);
    parse(&p, text.data, text.len);
    assert_int_equal(2000, p.d.errors);
    assert_int_equal(CONFIG_DIAGNOSTICS_MAX, p.d.n);
    config_print_diagnostics(&out, &p.d, true);
    assert_non_null(strstr(buf_text(&out), "... and 1500 more\n"));
    buf_free(&text);
    buf_free(&out);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_values_know_their_place), cmocka_unit_test(scalars_stay_text),
        cmocka_unit_test(columns_count_bytes),              cmocka_unit_test(a_byte_order_mark_is_no_column),
        cmocka_unit_test(places_inside_plain_and_quoted),   cmocka_unit_test(places_inside_blocks),
        cmocka_unit_test(duplicates_keep_the_first),        cmocka_unit_test(a_fault_leaves_what_stands_before),
        cmocka_unit_test(marks_and_odd_keys_are_refused),   cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(size_is_limited),                  cmocka_unit_test(a_hundred_thousand_keys),
        cmocka_unit_test(bytes_that_are_no_text),           cmocka_unit_test(only_so_many_faults_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
