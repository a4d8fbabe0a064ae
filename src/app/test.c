/* trimtab test FILE...: policy unit tests */
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/input.h"
#include "sim/run.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)

static enum status test_file(const char *path, struct run_result *ret)
{
    struct buf text = BUF_INIT, out = BUF_INIT, said = BUF_INIT;
    struct arena arena = ARENA_INIT;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    const char *slash = strrchr(path, '/');
    char folder[1024];
    struct err e = {0};
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    struct run_options o = {.folder = folder};
    enum status s = input_read(path, FILE_BYTES_MAX, &text, &e);
    if (s == STATUS_OK) {
        const struct scenario *sc = scenario_parse(&arena, buf_text(&text), text.len, path, &d);
        s = sc ? run_expectations(sc, &o, path, &out, ret, &d, &e) : err_set(&e, STATUS_INVALID, "%s cannot be run", path);
    }
    config_diagnostics_sort(&d);
    config_print_diagnostics(&said, &d, false);
    if (said.len) fwrite(said.data, 1, said.len, stderr);
    if (out.len) fwrite(out.data, 1, out.len, stdout);
    if (s != STATUS_OK) fprintf(stderr, "trimtab test: %s\n", e.text);
    else if (ret->passed + ret->failed == 0) fprintf(stderr, "trimtab test: %s expects nothing; add expect: to a part\n", path);
    config_diagnostics_free(&d);
    arena_free(&arena);
    buf_free(&text);
    buf_free(&out);
    buf_free(&said);
    return s == STATUS_OK && ret->passed + ret->failed == 0 ? STATUS_INVALID : s;
}

int command_test(const struct args *a)
{
    struct run_result all = {0, 0};
    bool bad = false;
    if (!args_want(a, 1, ARGS_MAX)) return EXIT_USAGE;
    for (unsigned i = 0; i < a->word_n; i++) {
        struct run_result one = {0, 0};
        bad = test_file(a->words[i], &one) != STATUS_OK || bad;
        all.passed += one.passed;
        all.failed += one.failed;
    }
    printf("%u passed, %u failed\n", all.passed, all.failed);
    return bad || all.failed ? EXIT_FAIL : EXIT_GOOD;
}
