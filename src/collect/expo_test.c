/* The page reader alone: grammar, limits, foreign samples and the public OpenMetrics suite. */
#include "collect/expo.h"

#include <dirent.h>

#include "support/test.h"

static struct expo x;

static void open_text(const char *text) { expo_open(&x, text, strlen(text), EXPO_TEXT, expo_limits_default()); }
static void open_om(const char *text) { expo_open(&x, text, strlen(text), EXPO_OPENMETRICS, expo_limits_default()); }

static void assert_bytes(const char *at, uint32_t len, const char *want)
{
    assert_int_equal(len, strlen(want));
    assert_memory_equal(at, want, len);
}

static void reads_a_line(void **state)
{
    (void)state;
    open_text("# HELP a help\n# TYPE a gauge\n\na{b=\"c\",d=\"e\\n\\\"\"} 12.5 1395066363000\n");
    assert_int_equal(expo_next(&x), EXPO_SAMPLE);
    assert_bytes(x.sample.name, x.sample.name_len, "a");
    assert_int_equal(x.sample.label_count, 2);
    assert_bytes(x.labels[0].value, x.labels[0].value_len, "c");
    assert_false(x.labels[0].value_escaped);
    assert_true(x.labels[1].value_escaped);
    assert_near(x.sample.value, 12.5, 0);
    assert_true(x.sample.has_time);
    assert_true(x.sample.time_ms == 1395066363000);
    assert_int_equal(x.line, 4);
    struct buf b = BUF_INIT;
    expo_unescape(&b, x.labels[1].value, x.labels[1].value_len);
    assert_string_equal(buf_text(&b), "e\n\"");
    buf_free(&b);
    assert_int_equal(expo_next(&x), EXPO_END);
}

static void reads_numbers(void **state)
{
    (void)state;
    static const struct { const char *text; double v; } cases[] = {
        {"a 0\n", 0}, {"a -17\n", -17}, {"a 1e3\n", 1000}, {"a 1.5E-3\n", .0015}, {"a 9007199254740993\n", 9007199254740992.0},
        {"a 0.1\n", 0.1}, {"a 123456789012345678901234567890\n", 123456789012345678901234567890.0}, {"a +Inf\n", INFINITY},
        {"a -Inf\n", -INFINITY}, {"a .5\n", .5}, {"a 5.\n", 5}, {"a +3\n", 3}, {"a 0.30000000000000004\n", 0.30000000000000004},
        {"a 4.35\n", 4.35}, {"a 9223372036854775794\n", 9223372036854775794.0}, {"a 5", 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_text(cases[i].text);
        assert_int_equal(expo_next(&x), EXPO_SAMPLE);
        assert_true(x.sample.value == cases[i].v);
    }
    open_text("a Nan\nb nan\n");
    assert_int_equal(expo_next(&x), EXPO_SAMPLE);
    assert_true(isnan(x.sample.value));
    assert_int_equal(expo_next(&x), EXPO_SAMPLE);
}

static void reads_what_servers_really_print(void **state)
{
    (void)state;
    open_text("ts{a=\"b\",} 1\ndcgm{gpu=\"0\", UUID=\"x\"} 2\n  spaced \t { a = \"b\" } \t 3 \nend{} 4\r\n");
    for (int i = 1; i <= 4; i++) {
        assert_int_equal(expo_next(&x), EXPO_SAMPLE);
        assert_near(x.sample.value, i, 0);
    }
    assert_int_equal(expo_next(&x), EXPO_END);
}

static void reads_quoted_names(void **state)
{
    (void)state;
    open_text("{\"my.metric\"} 1\n{\"a.b\",\"c.d\"=\"e\",f=\"g\"} 2\n{a=\"b\"} 3\n{\"x\",\"y\"} 4\n");
    assert_int_equal(expo_next(&x), EXPO_SAMPLE);
    assert_bytes(x.sample.name, x.sample.name_len, "my.metric");
    assert_int_equal(expo_next(&x), EXPO_SAMPLE);
    assert_bytes(x.labels[0].name, x.labels[0].name_len, "c.d");
    assert_int_equal(x.sample.label_count, 2);
    assert_int_equal(expo_next(&x), EXPO_BROKEN);
    assert_string_equal(x.fault.reason, "the metric has no name");
    assert_int_equal(expo_next(&x), EXPO_BROKEN);
    assert_string_equal(x.fault.reason, "the metric has two names");
}

static void reads_openmetrics_times_and_exemplars(void **state)
{
    (void)state;
    open_om("a_bucket{le=\"1\"} 3 1520879607.789 # {id=\"x\"} 0.5 1520879607\nb_total 7 # {} 1\n# EOF\n");
    assert_int_equal(expo_next(&x), EXPO_SAMPLE);
    assert_true(x.sample.time_ms == 1520879607789);
    assert_true(x.sample.has_exemplar);
    assert_int_equal(x.sample.exemplar_chars, 3);
    assert_bytes(x.labels[0].name, x.labels[0].name_len, "le");
    assert_int_equal(expo_next(&x), EXPO_SAMPLE);
    assert_int_equal(expo_next(&x), EXPO_END);
    assert_true(x.eof_seen);
}

static void names_broken_lines_and_goes_on(void **state)
{
    (void)state;
    static const struct { const char *line, *reason; uint32_t col; } cases[] = {
        {"...", "a metric's name expected", 1},
        {"a", "a space and a value expected after the series", 2},
        {"a ", "the value is missing", 3},
        {"a x", "not a number", 3},
        {"a 1 2.5", "the time must be whole milliseconds", 5},
        {"a 1 2 3", "something stands behind the sample", 7},
        {"a{b} 1", "'=' expected after the label's name", 4},
        {"a{b=c} 1", "a label's value must stand in double quotes", 5},
        {"a{b=\"c} 1", "the quote that opened this text is not closed on its line", 10},
        {"a{b=\"c\"d=\"e\"} 1", "',' or '}' expected after a label", 8},
        {"a{b=\"c\",b=\"d\"} 1", "a label stands twice in one series", 3},
        {"a{1=\"c\"} 1", "a label's name expected", 3},
        {"a{b=\"\xff\"} 1", "a label's value is not UTF-8", 5},
        {"a{b=\"c\"", "',' or '}' expected after a label", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char page[200];
        snprintf(page, sizeof page, "first 1\n%s\nlast 2\n", cases[i].line);
        open_text(page);
        assert_int_equal(expo_next(&x), EXPO_SAMPLE);
        assert_int_equal(expo_next(&x), EXPO_BROKEN);
        assert_string_equal(x.fault.reason, cases[i].reason);
        assert_int_equal(x.fault.line, 2);
        assert_int_equal(x.fault.col, cases[i].col);
        assert_int_equal(expo_next(&x), EXPO_SAMPLE);
        assert_near(x.sample.value, 2, 0);
        assert_int_equal(expo_next(&x), EXPO_END);
    }
}

static void survives_nul_and_cut_pages(void **state)
{
    (void)state;
    static const char page[] = "a{b=\"c\0d\",e=\"f\"} 12 5\n\0\nb 1\n";
    expo_open(&x, page, sizeof page - 1, EXPO_TEXT, expo_limits_default());
    assert_int_equal(expo_next(&x), EXPO_SAMPLE);
    assert_false(x.sample.clean);
    assert_int_equal(expo_next(&x), EXPO_BROKEN);
    assert_int_equal(expo_next(&x), EXPO_SAMPLE);
    for (size_t n = 0; n < sizeof page; n++) {
        char *cut = malloc(n ? n : 1);             /* exactly as long, so that a sanitizer sees a byte too far */
        memcpy(cut, page, n);
        expo_open(&x, cut, n, EXPO_TEXT, expo_limits_default());
        unsigned events = 0;
        while (expo_next(&x) != EXPO_END) assert_true(++events < 100);
        struct expo_fault f;
        expo_check(cut, n, EXPO_OPENMETRICS, &f);
        free(cut);
    }
}

static void limits_end_the_page(void **state)
{
    (void)state;
    struct expo_limits l = {.labels = 2, .name_bytes = 8, .value_bytes = 4, .line_bytes = 40};
    static const struct { const char *line, *reason; } cases[] = {
        {"a{b=\"1\",c=\"2\",d=\"3\"} 1\n", "a sample has more labels than the limit"},
        {"abcdefghi 1\n", "a metric's name is over the limit"},
        {"a{abcdefghi=\"1\"} 1\n", "a label's name is over the limit"},
        {"a{b=\"12345\"} 1\n", "a label's value is over the limit"},
        {"a 1                                         \n", "a line is over the limit"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expo_open(&x, cases[i].line, strlen(cases[i].line), EXPO_TEXT, l);
        assert_int_equal(expo_next(&x), EXPO_OVER_LIMIT);
        assert_string_equal(x.fault.reason, cases[i].reason);
    }
    assert_int_equal(expo_count_lines("# x\na 1\n\nb 2\nc 3", 16), 3);
}

static void expected_series_are_recognised(void **state)
{
    (void)state;
    open_text("# TYPE a gauge\na{b=\"c\"} 1\na{b=\"c\"} x\na 2\na {b=\"c\"} 3\nab 4\n");
    assert_true(expo_to_sample(&x));
    assert_int_equal(expo_expect(&x, "a{b=\"d\"}", 8), EXPO_END);
    assert_int_equal(expo_expect(&x, "a{b=\"c\"}", 8), EXPO_SAMPLE);
    assert_near(x.sample.value, 1, 0);
    assert_true(expo_to_sample(&x));
    assert_int_equal(expo_expect(&x, "a{b=\"c\"}", 8), EXPO_BROKEN);
    assert_int_equal(x.fault.line, 3);
    assert_true(expo_to_sample(&x));
    assert_int_equal(expo_expect(&x, "a", 1), EXPO_SAMPLE);
    assert_true(expo_to_sample(&x));
    assert_int_equal(expo_expect(&x, "a", 1), EXPO_END);       /* "a {...}" is another series */
    assert_int_equal(expo_sample(&x), EXPO_SAMPLE);
    assert_true(expo_to_sample(&x));
    assert_int_equal(expo_expect(&x, "a", 1), EXPO_END);
}

/* ---- foreign pages ---- */

static char *load(const char *folder, const char *name, size_t *len)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *bytes = malloc(4u << 20);
    *len = fread(bytes, 1, 4u << 20, f);
    fclose(f);
    return bytes;
}

static void samples_are_read_in_lenient_mode(void **state)
{
    (void)state;
    SKIP_WITHOUT_SHARED(shared)
    char folder[1100];
    snprintf(folder, sizeof folder, "%s/samples", shared);
    DIR *d = opendir(folder);
    unsigned pages = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t len, n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 4, ".txt") != 0) continue;
        bool om = strstr(e->d_name, ".om.txt") != NULL;
        char *page = load(folder, e->d_name, &len);
        expo_open(&x, page, len, om ? EXPO_OPENMETRICS : EXPO_TEXT, expo_limits_default());
        unsigned good = 0, broken = 0;
        for (enum expo_event ev; (ev = expo_next(&x)) != EXPO_END;) {
            assert_int_not_equal(ev, EXPO_OVER_LIMIT);
            good += ev == EXPO_SAMPLE;
            broken += ev == EXPO_BROKEN;
        }
        bool known_bad = strncmp(e->d_name, "dcgm_exporter", 13) == 0 || strncmp(e->d_name, "prometheus_docs", 15) == 0;
        if (!known_bad && broken) print_error("%s: %u broken, line %u: %s\n", e->d_name, broken, x.fault.line, x.fault.reason);
        assert_true(known_bad ? broken > 0 : broken == 0);
        if (strcmp(e->d_name, "node_exporter_e2e.txt") == 0) assert_int_equal(good, 3027);
        if (strcmp(e->d_name, "ovms.txt") == 0) assert_int_equal(good, 880);
        if (strcmp(e->d_name, "sglang.txt") == 0) assert_int_equal(good, 91);
        pages++;
        free(page);
    }
    closedir(d);
    assert_true(pages >= 30);
}

static void openmetrics_suite(void **state)
{
    (void)state;
    SKIP_WITHOUT_SHARED(shared)
    char folder[1100], sub[1200];
    snprintf(folder, sizeof folder, "%s/suites/openmetrics", shared);
    DIR *d = opendir(folder);
    unsigned cases = 0, wrong = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t len, json_len;
        if (e->d_name[0] == '.') continue;
        snprintf(sub, sizeof sub, "%s/%.90s", folder, e->d_name);
        char *page = load(sub, "metrics", &len), *json = load(sub, "test.json", &json_len);
        if (page && json) {
            json[json_len] = '\0';
            bool want = strstr(json, "\"shouldParse\": true") != NULL;
            struct expo_fault f;
            bool got = expo_check(page, len, EXPO_OPENMETRICS, &f);
            if (got != want) { print_error("%s: %s\n", e->d_name, got ? "accepted" : f.reason); wrong++; }
            cases++;
        }
        free(page);
        free(json);
    }
    closedir(d);
    assert_true(cases > 100);
    assert_int_equal(wrong, 0);
}

static void strict_text_pages(void **state)
{
    (void)state;
    struct expo_fault f;
    static const struct { const char *page; uint32_t line; } bad[] = {
        {"# TYPE a gauge\na 1\na 2\n", 3}, {"# TYPE a gauge\n# TYPE a gauge\n", 2}, {"# TYPE a meh\n", 1},
        {"a 1\n# TYPE a gauge\n", 2}, {"a{b=\"\\q\"} 1\n", 1}, {"# TYPE a counter\na 1\nb 1\na{c=\"d\"} 1\n", 4}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bool ok = expo_check(bad[i].page, strlen(bad[i].page), EXPO_TEXT, &f);
        if (ok) print_error("accepted: %s\n", bad[i].page);
        assert_false(ok);
        assert_int_equal(f.line, bad[i].line);
    }
    static const char good[] = "# a comment\n# HELP a text \\n more\n# TYPE a histogram\na_bucket{le=\"1\"} 1\n"
                               "a_bucket{le=\"+Inf\"} 2\na_sum 3\na_count 2\n\n# TYPE b untyped\nb 1 5\nb{c=\"d\",} 1\n"
                               "# TYPE c counter\nc 1\n";
    bool ok = expo_check(good, sizeof good - 1, EXPO_TEXT, &f);
    if (!ok) print_error("line %u:%u: %s\n", f.line, f.col, f.reason);
    assert_true(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_line),
        cmocka_unit_test(reads_numbers),
        cmocka_unit_test(reads_what_servers_really_print),
        cmocka_unit_test(reads_quoted_names),
        cmocka_unit_test(reads_openmetrics_times_and_exemplars),
        cmocka_unit_test(names_broken_lines_and_goes_on),
        cmocka_unit_test(survives_nul_and_cut_pages),
        cmocka_unit_test(limits_end_the_page),
        cmocka_unit_test(expected_series_are_recognised),
        cmocka_unit_test(samples_are_read_in_lenient_mode),
        cmocka_unit_test(openmetrics_suite),
        cmocka_unit_test(strict_text_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
