/* Bodies and signatures byte by byte; what each answer means; what is hidden. Vectors of signatures: measured with the
 * vendors' own examples. */
#include "adapt/notify_format.h"

#include "adapt/notify_alerts.h"
#include "support/test.h"

static struct told *incident(bool chinese)
{
    struct record r;
    record_init(&r, RECORD_HANDOVER);
    record_i64(&r, RF_AT, INT64_C(1778580150) * US_PER_S);
    record_text(&r, RF_SERVICE, "embed");
    record_text(&r, RF_SYMPTOM, "slow");
    record_u64(&r, RF_INCIDENT, 3);
    record_text(&r, RF_REASON, "no-candidate");
    record_text(&r, RF_RULE, "p99 46.8 ms > 1.15 * 38.1 ms <at id=all></at> [x](http://evil)");
    record_text(&r, RF_BY_HAND, "set `batch_max` to '32'");
    return told_of_record(17, &r, NULL, chinese, true);
}

static void make(struct notify_draft *d, enum receiver_type type, bool chinese, const char *url, const char *secret,
                 const char *external, int64_t real_us)
{
    struct receiver_def to = {.name = "r", .type = type, .chinese = chinese};
    struct letter l = {.newest = incident(chinese), .level = NOTICE_PAGE, .numbers = {17}, .number_n = 1};
    struct notify_context c = {.url = url, .secret = secret, .external_url = external, .log = "log", .real_us = real_us};
    if (type == RECEIVER_GRAFANA) notify_annotation(&l.newest->body, l.newest);
    if (type == RECEIVER_WEBHOOK) buf_puts(&l.newest->body, "{}");
    notify_format(d, &to, &l, &c);
    told_free(l.newest);
}

static void expect(enum receiver_type type, bool chinese, const char *secret, int64_t real_us, const char *url, const char *body)
{
    struct notify_draft d;
    make(&d, type, chinese, "https://h/x?k=1", secret, "https://tt", real_us);
    assert_string_equal(url, buf_text(&d.url));
    assert_string_equal(body, buf_text(&d.body));
    notify_draft_free(&d);
}

#define EN_RULE "p99 46.8 ms > 1.15 × 38.1 ms ＜at id=all>＜/at> ［x］(http://evil)"

static void robots(void **state)
{
    (void)state;
    expect(RECEIVER_DINGTALK, true, "SEC0123456789abcdef", INT64_C(1700000000000) * US_PER_MS,
           "https://h/x?k=1&timestamp=1700000000000&sign=TSZbRFUuvaSQaRKUpF970OPCb2%2FLcQAP3wOvwZIzBZk%3D",
           "{\"msgtype\":\"actionCard\",\"actionCard\":{\"title\":\"embed：slow 转人工处理\",\"text\":\"#### embed：slow 转人工处理\\n\\n"
           "**依据**：" EN_RULE "\\n\\n**原因**：no-candidate（没有可尝试的候选动作）\\n\\n**手动回滚**：set 'batch_max' to '32'\\n\\n"
           "2026-05-12 10:02:30 UTC，记录 17\",\"singleTitle\":\"在控制台查看\",\"singleURL\":\"https://tt/incidents/embed/3\"}}");
    expect(RECEIVER_FEISHU, false, "orbit-test-secret", INT64_C(1756800000) * US_PER_S, "https://h/x?k=1",
           "{\"timestamp\":\"1756800000\",\"sign\":\"sN+9ZKa5w6BQmKyxCaxNA1DWEgtEnZaOcfEOCqZ26fg=\",\"msg_type\":\"interactive\","
           "\"card\":{\"schema\":\"2.0\",\"header\":{\"title\":{\"tag\":\"plain_text\",\"content\":\"embed: slow "
           "is handed to a person\"},"
           "\"template\":\"red\"},\"body\":{\"elements\":[{\"tag\":\"markdown\",\"content\":\"**Rule**: " EN_RULE "\\n"
           "**Reason**: no-candidate (no candidate is left that may be tried)\\n**Undo by hand**: set 'batch_max' to '32'\\n"
           "2026-05-12 10:02:30 UTC, record 17\"},{\"tag\":\"button\",\"text\":{\"tag\":\"plain_text\",\"content\":"
           "\"Open in the console\"},\"type\":\"default\",\"behaviors\":[{\"type\":\"open_url\",\"default_url\":"
           "\"https://tt/incidents/embed/3\"}]}]}}}");
    expect(RECEIVER_WECOM, true, "", 0, "https://h/x?k=1",
           "{\"msgtype\":\"markdown\",\"markdown\":{\"content\":\"### embed：slow 转人工处理\\n<font color=\\\"warning\\\">需要处理</font>\\n"
           "**依据**：" EN_RULE "\\n**原因**：no-candidate（没有可尝试的候选动作）\\n**手动回滚**：set 'batch_max' to '32'\\n"
           "2026-05-12 10:02:30 UTC，记录 17\\n[在控制台查看](https://tt/incidents/embed/3)\"}}");
    expect(RECEIVER_SLACK, false, "", 0, "https://h/x?k=1",
           "{\"text\":\"embed: slow is handed to a person\",\"blocks\":[{\"type\":\"header\",\"text\":{\"type\":"
           "\"plain_text\",\"text\":"
           "\"embed: slow is handed to a person\"}},{\"type\":\"section\",\"text\":{\"type\":\"mrkdwn\",\"text\":"
           "\"*Rule*: p99 46.8 ms &gt; "
           "1.15 × 38.1 ms &lt;at id=all&gt;&lt;/at&gt; [x](http://evil)\\n*Reason*: no-candidate (no candidate is "
           "left that may be "
           "tried)\\n*Undo by hand*: set 'batch_max' to '32'\\n2026-05-12 10:02:30 UTC, record 17\"}},{\"type\":\"actions\","
           "\"elements\":[{\"type\":\"button\",\"text\":{\"type\":\"plain_text\",\"text\":\"Open in the console\"},\"url\":"
           "\"https://tt/incidents/embed/3\"}]}]}");
}

static void programs(void **state)
{
    struct notify_draft d;
    (void)state;
    make(&d, RECEIVER_GRAFANA, false, "https://g:3000/", "", "https://tt", 0);
    assert_string_equal("https://g:3000/api/annotations", buf_text(&d.url));
    assert_string_equal("{\"time\":1778580150000,\"tags\":[\"trimtab\",\"embed\",\"HANDOVER\"],\"text\":\"embed: "
        "slow is handed to a person\\n"
                        "Rule: p99 46.8 ms &gt; 1.15 * 38.1 ms &lt;at id=all&gt;&lt;/at&gt; [x](http://evil)\\n"
                        "Reason: no-candidate (no candidate is left that may be tried)\\nUndo by hand: set `batch_max` to '32'\"}",
                        buf_text(&d.body));
    notify_draft_free(&d);
    make(&d, RECEIVER_WEBHOOK, false, "https://h/x", "whsec", NULL, INT64_C(1764547200) * US_PER_S);
    assert_int_equal(4, d.header_count);
    assert_memory_equal("X-Trimtab-Delivery: ", buf_text(&d.headers[2]), 20);
    /* printf '1764547200.{}' | openssl dgst -sha256 -hmac whsec */
    assert_string_equal("X-Trimtab-Signature: t=1764547200,"
        "v1=5853fd838fa8314a9537b36eee7ce90f21d92a587556c1d7f7eb332b6fc04ae8", buf_text(&d.headers[3]));
    notify_draft_free(&d);
}

static void a_robot_without_links_and_a_long_text(void **state)
{
    struct notify_draft d;
    struct receiver_def to = {.name = "r", .type = RECEIVER_WECOM};
    struct notify_context c = {.url = "https://h", .secret = "", .log = "log"};
    struct letter l = {.numbers = {1}, .number_n = 1};
    struct record r;
    static char text[4000];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    memcpy(text + 1000, "中文", 6);
    record_init(&r, RECORD_INCIDENT);
    record_text(&r, RF_SERVICE, "s");
    record_text(&r, RF_SYMPTOM, "slow");
    record_text(&r, RF_RULE, text);
    record_text(&r, RF_VALUES, text);
    record_text(&r, RF_NOTE, text);
    record_text(&r, RF_CAUSES, text);
    l.newest = told_of_record(1, &r, NULL, false, true);
    notify_format(&d, &to, &l, &c);
    assert_in_range(d.body.len, 3000, 4096);
    assert_null(strstr(buf_text(&d.body), "]("));
    notify_draft_free(&d);
    to.type = RECEIVER_SLACK;
    notify_format(&d, &to, &l, &c);
    assert_in_range(d.body.len, 2900, 3300);
    assert_null(strstr(buf_text(&d.body), "actions"));
    notify_draft_free(&d);
    told_free(l.newest);
}

static void deliveries_are_known_again(void **state)
{
    char a[NOTIFY_ID], b[NOTIFY_ID];
    uint64_t one[] = {7}, two[] = {7, 9};
    (void)state;
    notify_id(a, "log", "r", one, 1);
    notify_id(b, "log", "r", one, 1);
    assert_string_equal(a, b);
    assert_int_equal(36, strlen(a));
    assert_int_equal('8', a[14]);
    notify_id(b, "log", "r", two, 2);
    assert_string_not_equal(a, b);
    notify_id(b, "log", "other", one, 1);
    assert_string_not_equal(a, b);
}

static void judged(enum receiver_type t, long http, const char *body, const char *retry, enum delivery how,
                   int64_t pause_s, bool wrong)
{
    struct fetch_result r = {.outcome = FETCH_ANSWER, .http = http, .body = body, .len = strlen(body), .wanted = retry, .error = "",
                             .content_type = ""};
    struct notify_verdict v;
    notify_judge(&v, t, &r, INT64_C(1764547200) * US_PER_S);
    if (v.how != how || v.pause != pause_s * US_PER_S || v.receiver_wrong != wrong)
        fail_msg("%s %ld %s: %d, %lld us, %d: "
            "%s", receiver_type_name(t), http, body, v.how, (long long)v.pause, v.receiver_wrong, v.why);
    assert_true((v.how == DELIVERY_TAKEN) == (v.why[0] == '\0'));
}

static void the_code_in_the_body_decides(void **state)
{
    (void)state;
    judged(RECEIVER_DINGTALK, 200, "{\"errcode\":0,\"errmsg\":\"ok\"}", "", DELIVERY_TAKEN, 0, false);
    judged(RECEIVER_DINGTALK, 200, "{\"errcode\":310000,\"errmsg\":\"sign not match\"}", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_DINGTALK, 200, "{\"errcode\":130101,\"errmsg\":\"send too fast\"}", "", DELIVERY_LATER, 600, false);
    judged(RECEIVER_DINGTALK, 200, "{\"errcode\":\"0\"}", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_DINGTALK, 200, "", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_FEISHU, 200, "{\"code\":0,\"msg\":\"success\",\"data\":{}}", "", DELIVERY_TAKEN, 0, false);
    judged(RECEIVER_FEISHU, 200, "{\"code\":19021,\"msg\":\"sign match fail\"}", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_FEISHU, 200, "{\"code\":11232,\"msg\":\"limit\"}", "", DELIVERY_LATER, 60, false);
    judged(RECEIVER_FEISHU, 200, "{\"code\":9499,\"msg\":\"bad request\"}", "", DELIVERY_REFUSED, 0, false);
    judged(RECEIVER_WECOM, 200, "{\"errcode\":93000,\"errmsg\":\"invalid webhook url\"}", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_WECOM, 200, "{\"errcode\":45009}", "", DELIVERY_LATER, 60, false);
    judged(RECEIVER_SLACK, 200, "ok", "", DELIVERY_TAKEN, 0, false);
    judged(RECEIVER_SLACK, 200, "okay", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_SLACK, 400, "invalid_payload", "", DELIVERY_REFUSED, 0, false);
    judged(RECEIVER_SLACK, 404, "no_service", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_GRAFANA, 200, "{\"message\":\"Annotation added\",\"id\":1}", "", DELIVERY_TAKEN, 0, false);
    judged(RECEIVER_GRAFANA, 200, "{\"message\":\"\"}", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_WEBHOOK, 204, "", "", DELIVERY_TAKEN, 0, false);
    judged(RECEIVER_WEBHOOK, 307, "", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_WEBHOOK, 401, "no", "", DELIVERY_LATER, 60, true);
    judged(RECEIVER_WEBHOOK, 502, "<html>", "", DELIVERY_LATER, 0, false);
    judged(RECEIVER_WEBHOOK, 429, "", "7", DELIVERY_LATER, 7, false);
    judged(RECEIVER_WEBHOOK, 429, "", "", DELIVERY_LATER, 60, false);
    judged(RECEIVER_WEBHOOK, 429, "", "Mon, 01 Dec 2025 00:01:30 GMT", DELIVERY_LATER, 90, false);
    judged(RECEIVER_WEBHOOK, 503, "", "99999999", DELIVERY_LATER, 3600, false);
    judged(RECEIVER_WEBHOOK, 429, "", "soon", DELIVERY_LATER, 60, false);
    judged(RECEIVER_ALERTMANAGER, 400, "bad", "", DELIVERY_REFUSED, 0, false);
}

static void secrets_are_hidden(void **state)
{
    char text[] = "POST https://h/services/T0/B0/tok3nQ9x8w7 failed: tok3nQ9x8w7 of h, key SECabcdefgh";
    (void)state;
    notify_hide(text, "https://h/services/T0/B0/tok3nQ9x8w7?a=1");
    notify_hide(text, "SECabcdefgh");
    notify_hide(text, "of");             /* too short to be one */
    assert_string_equal("POST https://h/********/T0/B0/*********** failed: *********** of h, key ***********", text);
}

static void alert(struct alerts *a, uint64_t seq, enum record_kind kind, int64_t at_s)
{
    struct record r;
    record_init(&r, kind);
    record_i64(&r, RF_AT, at_s * US_PER_S);
    record_text(&r, RF_SERVICE, "embed");
    record_text(&r, RF_SYMPTOM, "slow");
    record_u64(&r, RF_INCIDENT, 3);
    alerts_record(a, seq, &r, NULL, at_s * US_PER_S);
}

static void alerts_open_and_end(void **state)
{
    struct alerts *a = alerts_new();
    struct buf b = BUF_INIT;
    (void)state;
    alert(a, 1, RECORD_INCIDENT, 1000);
    alert(a, 2, RECORD_HANDOVER, 1060);
    assert_int_equal(0, alerts_print(a, &b, 0, 0, false, "log", "https://tt", 1100 * US_PER_S));
    assert_non_null(strstr(buf_text(&b), "[{\"labels\":{\"alertname\":\"TrimtabWatchdog\""));
    assert_non_null(strstr(buf_text(&b),
        "{\"labels\":{\"alertname\":\"TrimtabIncident\",\"service\":\"embed\",\"incident\":\"3\",\"severity\":"
        "\"warning\",\"log\":\"log\"},"
        "\"annotations\":{\"summary\":\"embed: slow is handed to a person\",\"description\":\"embed got worse: slow\"},"
        "\"generatorURL\":\"https://tt/incidents/embed/3\",\"startsAt\":\"1970-01-01T00:16:40.000Z\","
        "\"endsAt\":\"1970-01-01T00:22:20.000Z\"}"));
    assert_non_null(strstr(buf_text(&b), "\"alertname\":\"TrimtabPerson\",\"service\":\"embed\",\"incident\":\"3\","
        "\"severity\":\"page\""));
    uint64_t version = alerts_version(a);
    alert(a, 3, RECORD_CLOSED, 1200);
    assert_true(alerts_version(a) > version);
    buf_clear(&b);
    (void)alerts_print(a, &b, 0, 0, false, "log", NULL, 1300 * US_PER_S);
    assert_non_null(strstr(buf_text(&b), "\"startsAt\":\"1970-01-01T00:16:40.000Z\",\"endsAt\":\"1970-01-01T00:20:00.000Z\""));
    buf_clear(&b);
    (void)alerts_print(a, &b, 0, 0, false, "log", NULL, 1200 * US_PER_S + ALERTS_KEEP + 1);
    assert_null(strstr(buf_text(&b), "TrimtabIncident"));
    assert_non_null(strstr(buf_text(&b), "TrimtabWatchdog"));
    buf_free(&b);
    alerts_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots),
        cmocka_unit_test(programs),
        cmocka_unit_test(a_robot_without_links_and_a_long_text),
        cmocka_unit_test(deliveries_are_known_again),
        cmocka_unit_test(the_code_in_the_body_decides),
        cmocka_unit_test(secrets_are_hidden),
        cmocka_unit_test(alerts_open_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
