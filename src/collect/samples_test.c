/* Foreign pages through the whole stage: every series of every page is stored and found again. */
#include "support/test.h"

#include <dirent.h>

#include "collect/test_bed.h"

static char page[4u << 20];

static size_t load(const char *folder, const char *name)
{
    char path[1400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(page, 1, sizeof page, f);
    fclose(f);
    return n;
}

static bool known_broken(const char *name)
{
    return strncmp(name, "dcgm_exporter", 13) == 0 || strncmp(name, "prometheus_docs", 15) == 0;
}

/* The page twice, 10 s apart: the second time its lines are recognised. Explicit timestamps of the samples are years old:
 * the clock limit is widened. */
static void take_in(const char *name, size_t len)
{
    const char *q[] = {"count({__name__=~\".+\",__name__!=\"up\"})", "up"};
    struct bed *b = bed_new(1, 2, q);
    struct collect_limits limits = collect_limits_default();
    limits.clock_off = SPAN_DAY(30000);
    collect_free(b->c);
    b->c = collect_new(&b->s, limits);
    bool om = strstr(name, ".om.txt") != NULL;
    for (int i = 1; i <= 2; i++) {
        struct page p = {.at = at(i * 10), .wall = wall(i * 10), .outcome = PAGE_OK, .bytes = page, .len = len, .openmetrics = om};
        collect_page(b->c, &p, &b->report);
        if (b->report.outcome != PAGE_OK || (b->report.broken_lines && !known_broken(name)))
            print_error("%s: %s\n", name, b->report.error);
        assert_int_equal(b->report.outcome, PAGE_OK);
        assert_true(known_broken(name) == (b->report.broken_lines > 0));
        unsigned twice = strncmp(name, "dcgm_exporter_readme_bare", 25) == 0 ? 3 : 0;    /* the excerpt repeats itself */
        assert_int_equal(b->report.series + twice, b->report.samples);
    }
    tick(b, 20);
    assert_near(b->out[1].value, 1, 0);
    bed_free(b);
}

static void every_page_is_taken_in(void **state)
{
    (void)state;
    char folder[1100];
    unsigned pages = 0;
    SKIP_WITHOUT_SHARED(shared)
    snprintf(folder, sizeof folder, "%s/samples", shared);
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 4, ".txt") != 0) continue;
        take_in(e->d_name, load(folder, e->d_name));
        pages++;
    }
    closedir(d);
    assert_true(pages >= 30);
}

/* Idle Triton prints "Nan" quantiles, old vLLM -1 for an unused cache, DCGM a blank value: none of them is a number. */
static void real_traps_are_unknown(void **state)
{
    (void)state;
    char folder[1100];
    SKIP_WITHOUT_SHARED(shared)
    snprintf(folder, sizeof folder, "%s/samples", shared);
    const char *q[] = {"max(nv_inference_request_summary_us{model=\"sim\",quantile=\"0.99\"})",
                       "sum(nv_inference_pending_request_count)", "max(DCGM_FI_DEV_MEMORY_TEMP)", "max(DCGM_FI_DEV_SM_CLOCK)"};
    struct bed *b = bed_new(1, 4, q);
    b->signals[2].has_sentinel = true;
    b->signals[2].sentinel = 9223372036854775794.0;
    struct page p = {.at = at(10), .wall = wall(10), .outcome = PAGE_OK, .bytes = page};
    p.len = load(folder, "triton_2.51_idle_nan.txt");
    collect_page(b->c, &p, &b->report);
    assert_int_equal(tick(b, 10).why, WHY_LOW_TRAFFIC);
    assert_int_equal(b->out[1].why, WHY_KNOWN);
    p.len = load(folder, "dcgm_exporter_readme_bare.txt");
    p.at = at(20);
    collect_page(b->c, &p, &b->report);
    tick(b, 20);
    assert_int_equal(b->out[2].why, WHY_SENTINEL);
    assert_near(b->out[3].value, 139, 0);
    assert_int_equal(b->report.broken_lines, 4);
    assert_string_equal(b->report.error, "line 7: a metric's name expected");
    bed_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_is_taken_in),
        cmocka_unit_test(real_traps_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
