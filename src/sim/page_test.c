#include "support/test.h"

#include "base/num.h"
#include "sim/page.h"

static struct plant *reference(void)
{
    struct plant_config c;
    struct err e;
    plant_config_reference(&c);
    struct plant *p = plant_new(&c, 1, &e);
    assert_non_null(p);
    return p;
}

/* Value of the sample whose line starts with `series` and a space. */
static double value_of(const struct buf *page, const char *series)
{
    size_t len = strlen(series);
    for (const char *line = buf_text(page); line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, series, len) != 0 || line[len] != ' ') continue;
        double v = NAN;
        num_parse(line + len + 1, strcspn(line + len + 1, "\n"), &v);
        return v;
    }
    print_error("no sample %s\n", series);
    fail();
    return NAN;
}

static void page_at(struct plant *p, struct buf *page)
{
    buf_clear(page);
    assert_true(page_write(p, (struct wall){INT64_C(1700000000) * US_PER_S}, page));
    assert_true(buf_ok(page));
}

static void numbers_agree_with_the_truth(void **state)
{
    (void)state;
    struct plant *p = reference();
    struct buf page = BUF_INIT;
    struct plant_window w;
    plant_advance(p, 60 * US_PER_S);
    plant_window_take(p, &w);
    page_at(p, &page);
    double count = value_of(&page, "inference_request_duration_seconds_count");
    assert_near(count, (double)w.completed, 0);
    assert_near(value_of(&page, "inference_request_duration_seconds_bucket{le=\"+Inf\"}"), count, 0);
    assert_near(value_of(&page, "inference_request_duration_seconds_sum") / count * 1e3, w.mean_ms, 1e-6);
    assert_near(value_of(&page, "inference_queue_depth_seconds_total") / 60, w.queue, 1e-6);
    assert_near(value_of(&page, "inference_gpu_busy_seconds_total") /
                value_of(&page, "inference_gpu_available_seconds_total"), w.gpu_util, 1e-9);
    assert_near(value_of(&page, "inference_gpu_available_seconds_total"), 13 * 60, 1e-9);
    double below_38 = value_of(&page, "inference_request_duration_seconds_bucket{le=\"0.038\"}");
    double below_39 = value_of(&page, "inference_request_duration_seconds_bucket{le=\"0.039\"}");
    assert_true(below_38 < 0.99 * count && below_39 > 0.985 * count);
    assert_near(value_of(&page, "process_start_time_seconds"), 1700000000, 0);
    assert_near(value_of(&page, "inference_config_batch_max"), 32, 0);
    assert_near(value_of(&page, "inference_model_info{model_version=\"v1\"}"), 1, 0);
    buf_free(&page);
    plant_free(p);
}

static void a_restart_starts_the_counters_anew(void **state)
{
    (void)state;
    struct plant *p = reference();
    struct buf page = BUF_INIT;
    plant_advance(p, 10 * US_PER_S);
    page_at(p, &page);
    double before = value_of(&page, "inference_requests_total");
    plant_restart(p);
    buf_clear(&page);
    assert_false(page_write(p, (struct wall){0}, &page));
    assert_int_equal(page.len, 0);
    plant_advance(p, 27 * US_PER_S);  /* up again at 25 s */
    page_at(p, &page);
    assert_true(value_of(&page, "inference_requests_total") < 0.5 * before);
    assert_near(value_of(&page, "process_start_time_seconds"), 1700000025, 0.11);
    buf_free(&page);
    plant_free(p);
}

static void promtool_finds_nothing_to_mend(void **state)
{
    (void)state;
    if (system("command -v promtool >/dev/null") != 0) {
        print_message("skipped: no promtool in PATH\n");
        skip();
    }
    struct plant *p = reference();
    struct buf page = BUF_INIT;
    plant_advance(p, 2 * US_PER_S);
    page_at(p, &page);
    FILE *in = popen("promtool check metrics >/dev/null 2>&1", "w");
    assert_non_null(in);
    assert_int_equal(fwrite(page.data, 1, page.len, in), page.len);
    assert_int_equal(pclose(in), 0);
    buf_free(&page);
    plant_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_agree_with_the_truth),
        cmocka_unit_test(a_restart_starts_the_counters_anew),
        cmocka_unit_test(promtool_finds_nothing_to_mend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
