/* Which presets know which page; and files of fewer than fifteen lines that are enough for a known server. */
#include "support/test.h"

#include "base/text.h"
#include "presets/bed.h"

static void names_of(struct buf *out, const struct buf *page)
{
    enum expo_format format = probe_format(buf_text(page), page->len);
    for (uint32_t i = 0; config_preset_name(i); i++) {
        struct arena a = ARENA_INIT;
        struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
        struct preset_info info;
        assert_true(config_preset_read(&a, NULL, config_preset_name(i), &info, &d));
        if (probe_matches(&info, buf_text(page), page->len, format)) buf_printf(out, "%s%s", out->len ? " " : "", info.name);
        config_diagnostics_free(&d);
        arena_free(&a);
    }
}

static void every_page_is_known_for_what_it_is(void **state)
{
    (void)state;
    static const struct { const char *page, *presets; } want[] = {
        {"triton_2.51_loaded.txt", "triton"}, {"triton_2.51_idle_nan.txt", "triton"}, {"triton_doc_snippets.txt", "triton"},
        {"vllm_cpu_0.32_loaded.txt", "vllm"}, {"vllm_cpu_0.32_idle.txt", "vllm"}, {"vllm_docs_excerpt.txt", "vllm"},
        {"vllm_v0_aibrix_runtime_excerpt.txt", "vllm"}, {"sglang.txt", "sglang"}, {"ray_serve_2.60.txt", "ray-serve"},
        {"mlserver_1.7.1_workers0.txt", "mlserver"}, {"mlserver_1.7.1_workers1.txt", "mlserver"},
        {"torchserve.txt", "torchserve"}, {"ovms.txt", "ovms"}, {"bentoml_1.4.40.txt", "bentoml"},
        {"infinity_0.0.78.txt", "infinity"}, {"node_exporter_e2e.txt", "node"},
        {"cadvisor_prometheus_metrics.txt", "cadvisor"}, {"cadvisor_prometheus_metrics_perf_aggregated.txt", "cadvisor"},
        {"dcgm_exporter_readme_bare.txt", "dcgm"}, {"dcgm_exporter_readme_k8s.txt", "dcgm"},
        {"synthetic/tei.txt", "tei"}, {"synthetic/tgi.txt", "tgi"}, {"synthetic/llamacpp.txt", "llamacpp"},
        {"synthetic/envoy.txt", "envoy"}, {"synthetic/redis.txt", "redis"}, {"synthetic/dcgm.txt", "dcgm"},
        {"synthetic/sglang.txt", "sglang"},
        /* Pages of nobody: metrics of an application, parts of other exporters, a machine without its load. */
        {"bentoml_doc_snippet.txt", ""}, {"cadvisor_prometheus_machine_metrics.txt", ""},
        {"cadvisor_prometheus_metrics_failure.txt", ""}, {"mooncake_tent_doc_excerpt.txt", ""},
        {"node_exporter_textfile_histogram.txt", ""}, {"prometheus_common_expfmt_text.txt", ""},
        {"prometheus_docs_text_format_example.txt", ""}, {"prometheus_textparse_1histogram.om.txt", ""},
        {"prometheus_textparse_alltypes.237mfs.prom.txt", ""}, {"prometheus_textparse_alltypes.5mfs.om.txt", ""},
        {"qdrant_api_doc_example.txt", ""}, {"ray_app_metrics_doc_excerpt.txt", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct buf page = BUF_INIT, names = BUF_INIT;
        if (!bed_page(&page, want[i].page)) continue;
        names_of(&names, &page);
        if (strcmp(buf_text(&names), want[i].presets) != 0) print_error("%s:\n", want[i].page);
        assert_string_equal(buf_text(&names), want[i].presets);
        buf_free(&page);
        buf_free(&names);
    }
}

static void a_pattern_may_name_a_label(void **state)
{
    (void)state;
    static const char page[] = "a_total{handler=\"/x\"} 1\nb_sum 2\n";
    assert_true(probe_has("a_total", page, sizeof page - 1, EXPO_TEXT));
    assert_false(probe_has("a_tot", page, sizeof page - 1, EXPO_TEXT));
    assert_true(probe_has("a_tot*", page, sizeof page - 1, EXPO_TEXT));
    assert_true(probe_has("a_total{handler=\"/x\"}", page, sizeof page - 1, EXPO_TEXT));
    assert_false(probe_has("a_total{handler=\"/y\"}", page, sizeof page - 1, EXPO_TEXT));
    assert_true(probe_has("nothing|b_sum", page, sizeof page - 1, EXPO_TEXT));
    assert_false(probe_has("", page, sizeof page - 1, EXPO_TEXT));
}

/* The server's own examples: one for each preset, accepted without a warning, short. */
static void fewer_than_fifteen_lines_are_enough(void **state)
{
    (void)state;
    for (uint32_t i = 0; config_preset_name(i); i++) {
        char path[600];
        unsigned lines = 0;
        struct buf out = BUF_INIT;
        struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
        snprintf(path, sizeof path, SOURCE_DIR "/examples/presets/%s.yaml", config_preset_name(i));
        FILE *f = fopen(path, "r");
        if (!f) print_error("%s is missing\n", path);
        assert_non_null(f);
        for (int c; (c = getc(f)) != EOF;) lines += c == '\n';
        fclose(f);
        struct policy *p = config_load_file(path, NULL, &d);
        config_print_diagnostics(&out, &d, false);
        assert_string_equal("", buf_text(&out));
        assert_non_null(p);
        assert_true(lines < 15);
        assert_true(p->services[0].symptom_count > 0);
        assert_int_equal(MODE_ALERT, p->services[0].mode);
        assert_int_equal(0, p->services[0].knob_count);   /* nothing is whitelisted by a preset alone */
        config_free(p);
        config_diagnostics_free(&d);
        buf_free(&out);
    }
}

/* The program answers the same way. */
static void the_command_says_what_it_sees(void **state)
{
    (void)state;
    char text[8192] = "";
    FILE *f = popen(TRIMTAB_BINARY " preset detect " SOURCE_DIR "/tests/presets/pages/tei.txt; echo status $?", "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    pclose(f);
    assert_non_null(strstr(text, "tei: Text Embeddings Inference (TEI)\n"));
    assert_non_null(strstr(text, "queue_depth"));
    assert_non_null(strstr(text, "  symptoms: "));
    assert_non_null(strstr(text, "rows of the playbook that its signals feed, all switched on: "));
    assert_non_null(strstr(text, "to use it: preset: tei\n"));
    assert_non_null(strstr(text, "status 0\n"));
    f = popen("printf 'x_total 1\\ny_bucket{le=\"1\"} 2\\n' | " TRIMTAB_BINARY " preset detect -; echo status $?", "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    pclose(f);
    assert_non_null(strstr(text, "no preset knows this page\n"));
    assert_non_null(strstr(text, "sum(rate(x_total[30s]))"));
    assert_non_null(strstr(text, "rate(y_bucket[30s])"));
    assert_non_null(strstr(text, "status 1\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_is_known_for_what_it_is),
        cmocka_unit_test(a_pattern_may_name_a_label),
        cmocka_unit_test(fewer_than_fifteen_lines_are_enough),
        cmocka_unit_test(the_command_says_what_it_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
