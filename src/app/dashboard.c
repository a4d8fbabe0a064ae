/* trimtab dashboard grafana: a dashboard as JSON, or with --out a folder of it with Grafana's provisioning files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app/command.h"
#include "app/share.h"
#include "base/text.h"

static bool make_folder(const char *path) { return mkdir(path, 0755) == 0 || errno == EEXIST; }

static bool write_file(const char *folder, const char *name, const char *share, const struct share_word *words, unsigned n)
{
    char path[1200];
    struct buf b = BUF_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    share_text(share, words, n, &b);
    FILE *f = fopen(path, "we");
    bool ok = f && fputs(buf_text(&b), f) >= 0;
    if (f && fclose(f) != 0) ok = false;
    if (ok) printf("%s\n", path);
    else fprintf(stderr, "trimtab dashboard: %s: %s\n", path, strerror(errno));
    buf_free(&b);
    return ok;
}

static int write_folder(const char *out, const struct share_word *words, unsigned n)
{
    char dashboards[1100];
    if (strlen(out) > 1000 || strpbrk(out, "'\n")) {
        fprintf(stderr, "trimtab dashboard: --out is a path without quotes\n");
        return EXIT_USAGE;
    }
    snprintf(dashboards, sizeof dashboards, "%s/dashboards", out);
    if (!make_folder(out) || !make_folder(dashboards)) {
        fprintf(stderr, "trimtab dashboard: cannot make %s: %s\n", dashboards, strerror(errno));
        return EXIT_FAIL;
    }
    bool ok = write_file(out, "dashboards/trimtab.json", "grafana", words, n) &&
              write_file(out, "trimtab-dashboards.yaml", "provider", words, n) &&
              write_file(out, "trimtab-datasource.yaml", "datasource", words, n);
    return ok ? EXIT_GOOD : EXIT_FAIL;
}

int command_dashboard(const struct args *a)
{
    const char *out = args_text(a, "out"), *prometheus = args_text(a, "prometheus"), *job = args_text(a, "job");
    struct buf b = BUF_INIT;
    if (!args_want(a, 1, 1)) return EXIT_USAGE;
    if (!text_eq(a->words[0], "grafana") || (job && strpbrk(job, "'\"\\\n")) || (prometheus && strpbrk(prometheus, "'\n"))) {
        fprintf(stderr, "trimtab dashboard: expected 'grafana'; --job and --prometheus take no quotes\n");
        return EXIT_USAGE;
    }
    const struct share_word words[] = {
        {"@JOB@", job ? job : "trimtab"}, {"@FOLDER@", out ? out : ""},
        {"@PROMETHEUS@", prometheus ? prometheus : "http://127.0.0.1:9090"},
    };
    if (out) return write_folder(out, words, 3);
    share_text("grafana", words, 3, &b);
    fputs(buf_text(&b), stdout);
    buf_free(&b);
    return EXIT_GOOD;
}
