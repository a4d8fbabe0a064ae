/* trimtab init --target URL... | --prometheus URL */
#include "app/init.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/command.h"
#include "app/page_fetch.h"
#include "app/paths.h"
#include "base/text.h"

const char *const init_latencies[] = {"latency_p99", "ttft_p99", "latency_mean", "itl_mean", NULL};

struct init_found *init_found_new(struct init_plan *p, const struct preset_info *info)
{
    struct init_found *f = p->found_n < ARRAY_LEN(p->found) ? calloc(1, sizeof *f) : NULL;
    if (!f) return NULL;
    f->info = *info;
    f->exporter = true;
    for (uint32_t i = 0; i < info->signal_count; i++)
        if (info->signals[i].layer == LAYER_REQUEST) f->exporter = false;
    p->found[p->found_n++] = f;
    return f;
}

void init_plan_free(struct init_plan *p)
{
    for (uint32_t i = 0; i < p->found_n; i++) {
        config_free(p->found[i]->policy);
        arena_free(&p->found[i]->arena);
        free(p->found[i]);
    }
}

const struct probe_signal *init_signal(const struct init_service *s, const char *name, enum unit *ret_unit)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct service_def *d = &s->found[i]->policy->services[0];
        uint16_t k = service_signal(d, name);
        if (k == NO_INDEX || s->found[i]->signals[k].state == PROBE_ABSENT) continue;
        if (ret_unit) *ret_unit = d->signals[k].unit;
        return &s->found[i]->signals[k];
    }
    return NULL;
}

/* ---- pages ---- */

static bool say(const char *url, const char *what)
{
    fprintf(stderr, "trimtab init: %s: %s\n", url, what);
    return false;
}

/* Two looks at the one page: does it feed the signal at all, and what was its value since the process began? */
static bool try_signals(struct init_found *f, const struct buf *page, enum expo_format format, struct err *e)
{
    const struct service_def *s = &f->policy->services[0];
    static struct probe_signal real[POLICY_SIGNALS_MAX];
    if (!probe_signals(s, buf_text(page), page->len, format, 1, f->signals, e)) return false;
    if (!probe_signals(s, buf_text(page), page->len, format, 0, real, e)) return false;
    for (uint16_t i = 0; i < s->signal_count; i++) {
        bool known = f->signals[i].state == PROBE_KNOWN;
        f->signals[i].value = known && real[i].state == PROBE_KNOWN ? real[i].value : 0;
    }
    return true;
}

static bool take_preset(struct init_plan *p, const char *preset, const char *url, const struct buf *page)
{
    struct arena a = ARENA_INIT;
    struct preset_info info;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct err e = {0};
    char dir[1024];
    const char *presets = paths_presets(dir, sizeof dir);
    enum expo_format format = probe_format(buf_text(page), page->len);
    struct init_found *f = NULL;
    bool ok = config_preset_read(&a, presets, preset, &info, &d);
    if (ok && probe_matches(&info, buf_text(page), page->len, format)) {
        f = init_found_new(p, &info);
        ok = f != NULL;
    }
    if (f) {
        f->arena = a;
        a = ARENA_INIT;
        f->policy = probe_policy(&f->info, presets, "", &d);
        ok = f->policy && text_copy(f->url, sizeof f->url, url) && try_signals(f, page, format, &e);
    }
    config_diagnostics_free(&d);
    arena_free(&a);
    return ok || say(url, e.text[0] ? e.text : "its preset cannot be used; look at it with 'trimtab preset show'");
}

static bool look_at(struct init_plan *p, const char *url)
{
    struct buf page = BUF_INIT;
    struct err e;
    uint32_t before = p->found_n;
    bool ok = page_fetch(url, &page, &e) == STATUS_OK;
    if (!ok) fprintf(stderr, "trimtab init: %s\n", e.text);
    for (uint32_t i = 0; ok && config_preset_name(i); i++) ok = take_preset(p, config_preset_name(i), url, &page);
    if (ok && p->found_n == before)
        ok = say(url, "no preset knows this page; 'trimtab preset detect' says what is usable on it");
    buf_free(&page);
    return ok;
}

/* A page that several presets know stands under the first of them; exporters come last. */
bool init_from_targets(struct init_plan *p, const char *const *urls, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (!look_at(p, urls[i])) return false;
    struct init_service *s = &p->services[p->service_n++];
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < p->found_n && s->n < INIT_FOUND_MAX; i++)
            if (p->found[i]->exporter == (pass == 1)) s->found[s->n++] = p->found[i];
    snprintf(s->name, sizeof s->name, "%s", name ? name : s->found[0]->info.name);
    return true;
}

/* ---- the command ---- */

/* What was written is held against the same check as everything else. */
static bool is_accepted(const struct buf *text)
{
    char dir[1024];
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct config_options o = {.preset_dir = paths_presets(dir, sizeof dir)};
    struct buf out = BUF_INIT;
    struct policy *policy = config_load(buf_text(text), text->len, "trimtab.yaml", &o, &d);
    config_print_diagnostics(&out, &d, false);
    if (!policy) fprintf(stderr, "trimtab init: what was found makes no configuration:\n%s", buf_text(&out));
    bool ok = policy != NULL;
    config_free(policy);
    config_diagnostics_free(&d);
    buf_free(&out);
    return ok;
}

static bool write_out(const struct buf *text, const char *path)
{
    if (!path) return fwrite(text->data, 1, text->len, stdout) == text->len;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    bool ok = fd >= 0 && write(fd, text->data, text->len) == (ssize_t)text->len;
    if (fd >= 0 && close(fd) != 0) ok = false;
    if (!ok) fprintf(stderr, "trimtab init: %s cannot be written; a file that is there is left as it is\n", path);
    return ok;
}

static void tell(const struct init_plan *p, const char *path)
{
    for (uint32_t i = 0; i < p->service_n; i++) {
        const struct init_service *s = &p->services[i];
        struct buf out = BUF_INIT;
        fprintf(stderr, "%s:", s->name);
        for (uint32_t k = 0; k < s->n; k++) fprintf(stderr, " %s", s->found[k]->info.title);
        init_layers(&out, s, "  ");
        fprintf(stderr, "\n%s", buf_text(&out));
        buf_free(&out);
    }
    if (path) fprintf(stderr, "written: %s. Next: trimtab check %s, trimtab serve --config %s\n", path, path, path);
}

static unsigned targets_of(const struct args *a, const char **out)
{
    unsigned n = 0;
    for (unsigned i = 0; i < a->flag_n; i++)
        if (text_eq(a->flags[i].flag->name, "target") && n < INIT_FOUND_MAX) out[n++] = a->flags[i].value;
    return n;
}

int command_init(const struct args *a)
{
    const char *urls[INIT_FOUND_MAX], *name = args_text(a, "name"), *path = args_text(a, "out");
    static struct init_plan plan;
    struct buf text = BUF_INIT;
    if (!args_want(a, 0, 0)) return EXIT_USAGE;
    unsigned n = targets_of(a, urls);
    plan.prometheus = args_text(a, "prometheus");
    plan.objective = args_text(a, "objective");
    if ((n > 0) == (plan.prometheus != NULL)) {
        fprintf(stderr, "trimtab init: give --target URL, several times where exporters stand beside the server, or"
                        " --prometheus URL\n");
        return EXIT_USAGE;
    }
    if (name && !text_is_name(name, POLICY_NAME_MAX)) {
        fprintf(stderr, "trimtab init: --name: a to z, digits, - and _, beginning with a letter\n");
        return EXIT_USAGE;
    }
    bool ok = n ? init_from_targets(&plan, urls, n, name) : init_from_prometheus(&plan, name);
    if (ok) {
        init_write(&text, &plan);
        ok = is_accepted(&text) && write_out(&text, path);
    }
    if (ok) tell(&plan, path);
    init_plan_free(&plan);
    buf_free(&text);
    return ok ? EXIT_GOOD : EXIT_FAIL;
}
