/* Every preset on the page of its server: each signal that the page can feed has the value that expected.py works out
 * from the same page in its own way; each other one is unknown. */
#include "support/test.h"

#include "base/num.h"
#include "collect/collect.h"
#include "presets/bed.h"

struct line { char page[100], preset[40], signal[64], value[40]; };

static bool next_line(FILE *f, struct line *l)
{
    char text[300];
    while (fgets(text, sizeof text, f))
        if (sscanf(text, "%99s %39s %63s %39s", l->page, l->preset, l->signal, l->value) == 4) return true;
    return false;
}

static bool agrees(const struct probe_signal *s, const char *want)
{
    double v;
    if (strcmp(want, "-") == 0) return s->state != PROBE_KNOWN && s->why != WHY_KNOWN;
    if (s->state != PROBE_KNOWN || !num_parse_all(want, strlen(want), &v)) return false;
    return fabs(s->value - v) <= 1e-9 * fabs(v) + 1e-12;
}

static unsigned check(const struct bed *b, const struct line *l)
{
    const struct probe_signal *s = bed_signal(b, l->signal);
    if (s && agrees(s, l->value)) return 0;
    print_error("%s on %s: %s is %.17g (%s), expected %s\n", l->preset, l->page, l->signal, s ? s->value : NAN,
                s ? unknown_name(s->why) : "no such signal", l->value);
    return 1;
}

/* All signals of the preset were asked for. */
static unsigned leave(struct bed *b, const char *page, unsigned seen)
{
    unsigned wrong = seen != b->s->signal_count;
    if (wrong) print_error("%s: %u of %u signals are expected\n", page, seen, b->s->signal_count);
    bed_close(b);
    return wrong;
}

static void signals_have_the_values_of_their_page(void **state)
{
    (void)state;
    static struct bed b;
    struct line l, last = {0};
    unsigned wrong = 0, seen = 0, skipped = 0;
    bool open = false;
    FILE *f = fopen(SOURCE_DIR "/tests/presets/expected.txt", "r");
    assert_non_null(f);
    while (next_line(f, &l)) {
        if (strcmp(l.page, last.page) != 0) {
            struct buf page = BUF_INIT;
            if (open) wrong += leave(&b, last.page, seen);
            seen = 0;
            last = l;
            open = bed_page(&page, l.page);
            if (open) bed_open(&b, l.preset);
            if (open) bed_feed(&b, &page, 0);
            skipped += !open;
            buf_free(&page);
        }
        if (open) wrong += check(&b, &l);
        seen++;
    }
    fclose(f);
    if (open) wrong += leave(&b, last.page, seen);
    if (skipped) print_message("%u pages skipped: no shared folder beside the checkout\n", skipped);
    assert_int_equal(0, wrong);
}

/* The value of one signal after two scrapes of the page as it is, the second at `wall`. */
static struct point scraped(const struct bed *b, const struct buf *page, const char *signal, int64_t wall_s)
{
    struct collect *c = collect_new(b->s, collect_limits_default());
    static struct point points[POLICY_SIGNALS_MAX];
    static bool due[POLICY_SIGNALS_MAX];
    struct page_report report;
    assert_non_null(c);
    for (int i = 0; i < 2; i++) {
        struct page p = {.at = {(1 + i) * US_PER_S}, .wall = {(wall_s - 1 + i) * US_PER_S}, .outcome = PAGE_OK,
                         .bytes = buf_text(page), .len = page->len};
        collect_page(c, &p, &report);
        assert_int_equal(PAGE_OK, report.outcome);
    }
    collect_tick(c, (struct instant){2 * US_PER_S}, (struct wall){wall_s * US_PER_S}, points, due);
    collect_free(c);
    return points[service_signal(b->s, signal)];
}

/* cAdvisor writes the time of each sample: what counts is that time, not when the page was fetched. */
static void a_page_with_its_own_times_grows_old(void **state)
{
    (void)state;
    SKIP_WITHOUT_SHARED(shared);
    static struct bed b;
    struct buf page = BUF_INIT;
    const int64_t written = 1395066363;
    (void)shared;
    assert_true(bed_page(&page, "cadvisor_prometheus_metrics.txt"));
    bed_open(&b, "cadvisor");
    assert_near(scraped(&b, &page, "working_set_mb", written + 20).value, 9e-6, 1e-18);   /* 9 bytes on the page */
    assert_int_equal(WHY_STALE, scraped(&b, &page, "working_set_mb", written + 200).why);
    assert_int_not_equal(WHY_KNOWN, scraped(&b, &page, "working_set_mb", written + 86400).why);
    bed_close(&b);
    buf_free(&page);
}

/* Two real pages of one version, 20 s apart: the server as it came up, and under load. By hand: 569 requests that took
 * 1051.45 s in all are 1847.9 ms each; all of them came in the last 30 s, the range of the rate: 18.97 a second. */
static void two_real_pages_twenty_seconds_apart(void **state)
{
    (void)state;
    SKIP_WITHOUT_SHARED(shared);
    static struct bed b;
    struct buf idle = BUF_INIT, loaded = BUF_INIT;
    (void)shared;
    assert_true(bed_page(&idle, "vllm_cpu_0.32_idle.txt") && bed_page(&loaded, "vllm_cpu_0.32_loaded.txt"));
    bed_open(&b, "vllm");
    bed_feed(&b, &idle, 0);
    assert_int_equal(PROBE_QUIET, bed_signal(&b, "latency_p99")->state);      /* no request: unknown, not 0 ms */
    assert_int_equal(WHY_LOW_TRAFFIC, bed_signal(&b, "latency_p99")->why);
    assert_int_equal(WHY_NAN, bed_signal(&b, "error_ratio")->why);
    struct collect *c = collect_new(b.s, collect_limits_default());
    static struct point points[POLICY_SIGNALS_MAX];
    static bool due[POLICY_SIGNALS_MAX];
    struct page_report report;
    assert_non_null(c);
    for (int i = 0; i < 2; i++) {
        const struct buf *page = i ? &loaded : &idle;
        struct page p = {.at = {(1 + 20 * i) * US_PER_S}, .wall = {(1790000001 + 20 * i) * US_PER_S}, .outcome = PAGE_OK,
                         .bytes = buf_text(page), .len = page->len};
        collect_page(c, &p, &report);
    }
    collect_tick(c, (struct instant){21 * US_PER_S}, (struct wall){INT64_C(1790000021) * US_PER_S}, points, due);
    const struct point *mean = &points[service_signal(b.s, "latency_mean")];
    assert_int_equal(WHY_KNOWN, mean->why);
    assert_near(mean->value, 1000 * 1051.4505927562714 / 569, 1e-6);
    assert_near(points[service_signal(b.s, "throughput")].value, 569 / 30.0, 1e-9);
    assert_near(points[service_signal(b.s, "queue_depth")].value, 24, 0);
    collect_free(c);
    bed_close(&b);
    buf_free(&idle);
    buf_free(&loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_have_the_values_of_their_page),
        cmocka_unit_test(a_page_with_its_own_times_grows_old),
        cmocka_unit_test(two_real_pages_twenty_seconds_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
