/* trimtab check FILE */
#include <stdio.h>

#include "app/clock.h"
#include "app/command.h"
#include "app/paths.h"
#include "config/load.h"

int command_check(const struct args *a)
{
    char presets[1024];
    struct buf out = BUF_INIT;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    if (!args_want(a, 1, 1)) return EXIT_USAGE;
    struct config_options o = {.preset_dir = paths_presets(presets, sizeof presets), .now = {clock_real_us()}};
    struct policy *p = config_load_file(a->words[0], &o, &d);
    config_diagnostics_sort(&d);
    config_print_diagnostics(&out, &d, args_has(a, "notes"));
    if (out.len) fwrite(out.data, 1, out.len, stderr);
    printf("%s: %s", a->words[0], d.errors ? "FAILED" : "SUCCESS");
    if (d.errors) printf(", %zu error%s", d.errors, d.errors == 1 ? "" : "s");
    if (d.warnings) printf(", %zu warning%s", d.warnings, d.warnings == 1 ? "" : "s");
    if (p) printf(", %u service%s, revision %.12s", p->service_count, p->service_count == 1 ? "" : "s", p->revision);
    printf("\n");
    int code = d.errors || !p ? EXIT_FAIL : d.warnings && args_has(a, "strict") ? EXIT_WARNINGS : EXIT_GOOD;
    config_free(p);
    config_diagnostics_free(&d);
    buf_free(&out);
    return code;
}
