/* What people are shown has this form. */
#include "api/v1.h"

#include "api/emit.h"
#include "api/view_json.h"
#include "support/test.h"

static void emits_finite_json(void **state)
{
    struct buf b = BUF_INIT;
    struct emit e = {.out = &b};
    (void)state;
    emit_open(&e, NULL, '{');
    emit_number(&e, "nan", NAN);
    emit_number(&e, "inf", INFINITY);
    emit_number(&e, "v", 46.8);
    emit_text(&e, "quote", "a\"\n\xff");
    emit_text_or_null(&e, "empty", "");
    emit_open(&e, "list", '[');
    emit_open(&e, NULL, '{');
    emit_close(&e, '}');
    emit_int(&e, NULL, -3);
    emit_close(&e, ']');
    emit_wall(&e, "never", WALL_NONE);
    emit_wall(&e, "at", (struct wall){INT64_C(1700000000) * US_PER_S});
    emit_bool(&e, "yes", true);
    emit_close(&e, '}');
    assert_string_equal("{\"nan\":null,\"inf\":null,\"v\":46.8,\"quote\":\"a\\\"\\n\xef\xbf\xbd\",\"empty\":null,\"list\":[{},-3],"
                        "\"never\":null,\"at\":\"2023-11-14T22:13:20.000Z\",\"yes\":true}", buf_text(&b));
    buf_free(&b);
}

/* One signal unknown, one gate shut, one open; the shut one comes first although it was looked at last. */
static void explain_has_shut_gates_first(void **state)
{
    struct signal_def signals[] = {{.name = "latency_p99", .layer = LAYER_REQUEST, .unit = UNIT_MS}};
    struct service_def def = {.name = "embed", .signals = signals, .signal_count = 1, .judge = {.latency = 0}};
    struct service_view v = {.def = &def, .state = STATE_OPEN, .mode = MODE_AUTO, .wall = {0}, .sentence = "waiting for evidence",
                             .incident_open = true, .incident_id = 3, .incident_symptom = NO_INDEX, .incident_onset = {0},
                             .incident_opened = {US_PER_S}};
    v.decision = (struct decision){.kind = DECISION_NOOP, .reason = REASON_EVIDENCE_BEFORE, .gate_count = 2};
    v.decision.advice_cause = NO_INDEX;
    v.decision.gates[0] = (struct gate_result){.reason = REASON_WARMING, .cause = NO_INDEX, .knob = NO_INDEX, .lhs = NAN,
                                               .rhs = NAN};
    v.decision.gates[1] = (struct gate_result){.reason = REASON_EVIDENCE_BEFORE, .shut = true, .cause = NO_INDEX, .knob = NO_INDEX,
                                               .lhs = 8, .rhs = 30, .note = "8 of 30 points"};
    struct buf b = BUF_INIT;
    struct emit e = {.out = &b};
    (void)state;
    view_json_explain(&e, NULL, &v);
    assert_string_equal(
        "{\"service\":\"embed\",\"environment\":null,\"group\":null,\"state\":\"open\",\"mode\":\"auto\","
        "\"sentence\":\"waiting for evidence\","
        "\"halted\":false,\"frozen\":false,\"at\":\"1970-01-01T00:00:00.000Z\",\"incident\":{\"incident\":3,\"symptom\":null,"
        "\"onset\":\"1970-01-01T00:00:00.000Z\",\"opened\":\"1970-01-01T00:00:01.000Z\",\"aging\":false},"
        "\"decision\":{\"kind\":\"noop\","
        "\"reason\":\"evidence-before\",\"sentence\":\"too few points since the onset to judge a change against\","
        "\"opens_when\":\"wait; about five minutes of the incident are needed\",\"plan\":null,\"gates\":["
        "{\"reason\":\"evidence-before\",\"sentence\":\"too few points since the onset to judge a change against\","
        "\"opens_when\":\"wait; about five minutes of the incident are needed\",\"kind\":\"service\",\"shut\":true,\"value\":8,"
        "\"limit\":30,\"unit\":\"\",\"note\":\"8 of 30 points\"},"
        "{\"reason\":\"warming\",\"sentence\":\"there are less than 24 h of history, too little to act automatically\","
        "\"opens_when\":\"wait, or import history: trimtab import SERVICE FILE\",\"kind\":\"service\",\"shut\":false,"
        "\"note\":null}],"
        "\"gates_left_out\":0},\"symptoms\":[],\"causes\":[],\"action\":null,\"request\":null}", buf_text(&b));
    buf_free(&b);
}

static void configuration_shows_no_secret(void **state)
{
    struct target_def target = {.url = "http://user:pass@host:1/metrics?key=s3cret", .instance = "host:1"};
    struct knob_def knob = {.name = "k", .write = {.kind = ACCESS_HTTP, .url = "http://h/x", .method = "PUT",
                                                   .headers = {"Authorization: Bearer s3cret"}, .header_count = 1}};
    struct service_def def = {.name = "embed", .targets = &target, .target_count = 1, .knobs = &knob, .knob_count = 1};
    struct receiver_def hook = {.name = "oncall", .url = "https://hook.example/s3cret"};
    struct policy p = {.services = &def, .service_count = 1, .receivers = &hook, .receiver_count = 1};
    struct buf b = BUF_INIT;
    struct emit e = {.out = &b};
    (void)state;
    view_json_config(&e, NULL, &p);
    assert_null(strstr(buf_text(&b), "s3cret"));
    assert_null(strstr(buf_text(&b), "pass"));
    assert_non_null(strstr(buf_text(&b), "http://<secret>@host:1/metrics?<secret>"));
    assert_non_null(strstr(buf_text(&b), "Authorization: <secret>"));
    assert_non_null(strstr(buf_text(&b), "\"notify\":[\"oncall (webhook)\"]"));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emits_finite_json),
        cmocka_unit_test(explain_has_shut_gates_first),
        cmocka_unit_test(configuration_shows_no_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
