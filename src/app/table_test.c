/* Tables, YAML and stories as people see them. */
#include "app/table.h"

#include <jansson.h>

#include "app/output.h"
#include "app/story.h"
#include "support/test.h"

static void wide_characters_take_two_columns(void **state)
{
    struct table t;
    struct buf b = BUF_INIT;
    (void)state;
    table_open(&t, "SERVICE|STATE|NOW");
    table_cell(&t, "推荐");
    table_cell(&t, "watching");
    table_cell(&t, "normal");
    table_cell(&t, "rank");
    table_cell(&t, "");
    table_cell(&t, "a\nb");
    table_print(&t, 1, false, &b);
    assert_string_equal(" SERVICE  STATE     NOW\n"
                        " 推荐     watching  normal\n"
                        " rank     -         a b\n", buf_text(&b));
    buf_clear(&b);
    table_print(&t, 0, true, &b);
    assert_non_null(strstr(buf_text(&b), "\033[32mwatching\033[0m"));
    table_free(&t);
    buf_free(&b);
}

static void shown(const char *json, enum output o, const char *want)
{
    struct buf b = BUF_INIT;
    json_t *v = json_loads(json, 0, NULL);
    assert_non_null(v);
    if (o == OUTPUT_YAML) output_yaml(&b, v, 0);
    else output_json(&b, v, 0);
    assert_string_equal(want, buf_text(&b));
    json_decref(v);
    buf_free(&b);
}

static void yaml_reads_back(void **state)
{
    (void)state;
    shown("{\"a\":46.8,\"list\":[{\"b\":1,\"c\":[]},\"x: y\",[1,2]],\"n\":null,\"o\":{\"p\":true}}", OUTPUT_YAML,
          "a: 46.8\n"
          "list:\n"
          "  - b: 1\n"
          "    c: []\n"
          "  - \"x: y\"\n"
          "  - - 1\n"
          "    - 2\n"
          "n: null\n"
          "o:\n"
          "  p: true\n");
    shown("{\"a\":[],\"b\":{\"c\":\"d\"}}", OUTPUT_JSON, "{\n  \"a\": [],\n  \"b\": {\n    \"c\": \"d\"\n  }\n}");
}

static void numbers_have_three_digits_and_a_unit(void **state)
{
    struct buf b = BUF_INIT;
    json_t *v = json_real(46.8213);
    (void)state;
    number_text(&b, v, "ms");
    json_decref(v);
    v = json_real(0.784);
    buf_putc(&b, '|');
    number_text(&b, v, "ratio");
    json_decref(v);
    buf_putc(&b, '|');
    number_text(&b, json_null(), "ms");
    buf_putc(&b, '|');
    clock_text(&b, "2026-05-12T10:02:30.000Z", "2026-05-12T00:00:00.000Z");
    buf_putc(&b, '|');
    clock_text(&b, "2026-05-12T10:02:30.000Z", "");
    assert_string_equal("46.8 ms|78.4 %|-|10:02:30|2026-05-12 10:02:30", buf_text(&b));
    buf_free(&b);
}

static void a_story_has_its_headings(void **state)
{
    struct buf b = BUF_INIT;
    json_t *v = json_loads(
        "[{\"kind\":\"INCIDENT\",\"at\":\"2026-05-12T10:02:30.000Z\",\"symptom\":\"late\","
        "\"rule\":\"p99 46.8 ms > 43.8 ms: true\",\"causes\":\"compute-bound chosen\"},"
        "{\"kind\":\"INTENT\",\"at\":\"2026-05-12T10:07:30.000Z\",\"knob\":\"batch_max\",\"from\":\"32\",\"to\":\"64\","
        "\"by\":\"auto\",\"mode\":\"auto\",\"cause\":\"compute-bound\"},"
        "{\"kind\":\"APPLIED\",\"at\":\"2026-05-12T10:07:31.000Z\",\"read\":\"64\"},"
        "{\"kind\":\"VERDICT\",\"at\":\"2026-05-12T10:19:31.000Z\",\"verdict\":\"ineffective\",\"note\":\"ineffective: no change\","
        "\"outcome\":\"undo\"},"
        "{\"kind\":\"UNDONE\",\"at\":\"2026-05-13T00:00:02.000Z\",\"read\":\"32\"}]", 0, NULL);
    (void)state;
    assert_non_null(v);
    story_tell(&b, "embed/1", v);
    assert_string_equal("embed/1: batch_max 32 -> 64, taken back. Times of 2026-05-12 UTC.\n\n"
                        "Noticed   10:02:30  late: p99 46.8 ms > 43.8 ms: true.\n"
                        "Located   10:02:30  compute-bound chosen.\n"
                        "Decided   10:07:30  batch_max 32 -> 64, one notch, because of compute-bound."
                        " Decided by the loop itself, mode auto.\n"
                        "Did       10:07:30  Recorded first, together with the way back.\n"
                        "          10:07:31  Written, then read back from the service: 64.\n"
                        "Verdict   10:19:31  ineffective: no change; taken back.\n"
                        "Did       2026-05-13 00:00:02  Taken back; read from the service: 32.\n", buf_text(&b));
    json_decref(v);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_characters_take_two_columns),
        cmocka_unit_test(yaml_reads_back),
        cmocka_unit_test(numbers_have_three_digits_and_a_unit),
        cmocka_unit_test(a_story_has_its_headings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
