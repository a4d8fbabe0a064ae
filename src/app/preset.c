/* trimtab preset list | show NAME | detect URL|FILE */
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/input.h"
#include "app/page_fetch.h"
#include "app/paths.h"
#include "app/probe.h"
#include "app/table.h"
#include "base/text.h"

static const char *preset_dir(void)
{
    static char path[1024];
    return paths_presets(path, sizeof path);
}

static bool read_preset(struct arena *a, const char *name, struct preset_info *ret)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct buf out = BUF_INIT;
    bool ok = config_preset_read(a, preset_dir(), name, ret, &d);
    config_print_diagnostics(&out, &d, false);
    if (!ok && out.len) fwrite(out.data, 1, out.len, stderr);
    config_diagnostics_free(&d);
    buf_free(&out);
    return ok;
}

static unsigned in_layer(const struct preset_info *p, enum layer layer)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < p->signal_count; i++) n += p->signals[i].layer == layer;
    return n;
}

static int list(void)
{
    struct table t;
    int code = EXIT_GOOD;
    table_open(&t, "NAME|SERVER|REQUEST|PROCESSING|SYSTEM|DATA|KNOBS|MEASURED ON");
    for (uint32_t i = 0; config_preset_name(i); i++) {
        struct arena a = ARENA_INIT;
        struct preset_info p;
        if (read_preset(&a, config_preset_name(i), &p)) {
            table_cell(&t, p.name);
            table_cell(&t, p.title);
            for (int l = 0; l < LAYER_COUNT; l++) {
                char n[16];
                snprintf(n, sizeof n, "%u", in_layer(&p, (enum layer)l));
                table_cell(&t, n);
            }
            char knobs[16];
            snprintf(knobs, sizeof knobs, "%u", p.knob_count);
            table_cell(&t, knobs);
            table_cell(&t, p.measured);
        } else {
            code = EXIT_FAIL;
        }
        arena_free(&a);
    }
    table_show(&t, 0);
    return code;
}

static int unknown_preset(const char *name)
{
    const char *names[64];
    size_t n = 0;
    while (n < ARRAY_LEN(names) && config_preset_name((uint32_t)n)) {
        names[n] = config_preset_name((uint32_t)n);
        n++;
    }
    const char *near = text_nearest(name, names, n);
    fprintf(stderr, "trimtab preset: there is no preset '%s'", name);
    if (near) fprintf(stderr, "; did you mean '%s'?\n", near);
    else fprintf(stderr, "; 'trimtab preset list' names those that are known\n");
    return EXIT_FAIL;
}

/* The file itself: nothing about a preset is hidden. */
static int show(const char *name)
{
    char path[1200];
    size_t len = 0;
    const char *bytes = config_preset_bytes(name, &len);
    const char *dir = preset_dir();
    struct buf text = BUF_INIT;
    struct err e;
    if (!text_is_name(name, POLICY_NAME_MAX)) return unknown_preset(name);
    snprintf(path, sizeof path, "%s/%s.yaml", dir ? dir : ".", name);
    if (dir && strcmp(name, "playbook") != 0 && input_read(path, 1u << 20, &text, &e) == STATUS_OK) {
        fwrite(text.data, 1, text.len, stdout);
    } else if (bytes) {
        fwrite(bytes, 1, len, stdout);
    } else {
        buf_free(&text);
        return unknown_preset(name);
    }
    buf_free(&text);
    return EXIT_GOOD;
}

static void value_text(struct buf *out, double v, enum unit unit)
{
    buf_sig3(out, unit == UNIT_RATIO ? v * 100 : v);
    if (unit == UNIT_RATIO) buf_puts(out, " %");
    else buf_printf(out, "%s%s", unit_name(unit)[0] ? " " : "", unit_name(unit));
}

static const char *state_text(const struct probe_signal *s, const struct preset_signal *of)
{
    if (s->state == PROBE_KNOWN) return of->optional ? "there (name it under with:)" : "there";
    if (s->state == PROBE_QUIET) return "says nothing yet";
    return of->optional ? "not on this page (optional)" : "not on this page (name it under without:)";
}

static const struct preset_signal *signal_of(const struct preset_info *p, const char *name)
{
    for (uint32_t i = 0; i < p->signal_count; i++)
        if (text_eq(p->signals[i].name, name)) return &p->signals[i];
    return NULL;
}

/* Gauges have their value now; of what is a rate only whether it can be had is known from one look. */
static void show_signals(const struct preset_info *p, const struct service_def *s, const struct probe_signal *found)
{
    struct table t;
    table_open(&t, "SIGNAL|LAYER|NOW|ON THIS PAGE|NOTE");
    for (uint16_t i = 0; i < s->signal_count; i++) {
        const struct preset_signal *of = signal_of(p, found[i].name);
        struct buf now = BUF_INIT;
        bool rate = s->signals[i].range.us > 0;
        if (found[i].state == PROBE_KNOWN && !rate) value_text(&now, found[i].value, s->signals[i].unit);
        else buf_puts(&now, found[i].state == PROBE_KNOWN ? "a rate" : "-");
        table_cell(&t, found[i].name);
        table_cell(&t, layer_name(s->signals[i].layer));
        table_take(&t, &now);
        table_cell(&t, of ? state_text(&found[i], of) : "");
        table_cell(&t, of ? of->note : "");
    }
    table_show(&t, 2);
}

/* What the default playbook makes of the preset with all its signals; beside other presets it is more. */
static void show_rules(const struct service_def *s)
{
    printf("  symptoms:");
    for (uint16_t i = 0; i < s->symptom_count; i++) printf(" %s", s->symptoms[i].name);
    printf("\n  rows of the playbook that its signals feed, all switched on:");
    for (uint16_t i = 0; i < s->cause_count; i++) printf(" %s", s->causes[i].id);
    printf("\n");
}

static void say_why(const char *name, const char *why, const struct config_diagnostics *d)
{
    struct buf out = BUF_INIT;
    config_print_diagnostics(&out, d, false);
    fprintf(stderr, "trimtab preset: %s: %s\n%s", name, why, buf_text(&out));
    buf_free(&out);
}

static bool tell(const struct preset_info *p, const struct buf *page, enum expo_format format)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct err e;
    static struct probe_signal found[POLICY_SIGNALS_MAX];
    printf("%s: %s\n", p->name, p->title);
    for (uint32_t i = 0; i < p->variants.n; i++) {
        const char *eq = strstr(p->variants.items[i], " = ");
        if (eq && probe_has(eq + 3, buf_text(page), page->len, format))
            printf("  version: %.*s\n", (int)(eq - p->variants.items[i]), p->variants.items[i]);
    }
    struct policy *policy = probe_policy(p, preset_dir(), "", &d);
    bool ok = policy && probe_signals(&policy->services[0], buf_text(page), page->len, format, 1, found, &e);
    if (ok) show_signals(p, &policy->services[0], found);
    else say_why(p->name, policy ? e.text : "the preset cannot be used", &d);
    if (policy) show_rules(&policy->services[0]);
    for (uint32_t i = 0; i < p->gaps.n; i++) printf("  missing: %s\n", p->gaps.items[i]);
    printf("  to use it: preset: %s\n", p->name);
    config_free(policy);
    config_diagnostics_free(&d);
    return ok;
}

static bool ends_with(const struct expo_sample *s, const char *end)
{
    size_t n = strlen(end);
    return s->name_len > n && memcmp(s->name + s->name_len - n, end, n) == 0;
}

/* What a page that nobody knows can still be used for. */
static int tell_unknown(const char *from, const struct buf *page, enum expo_format format)
{
    struct expo x;
    enum expo_event event;
    unsigned samples = 0, shown = 0;
    char last[200] = "";
    printf("%s: no preset knows this page\n", from);
    expo_open(&x, buf_text(page), page->len, format, expo_limits_default());
    while ((event = expo_next(&x)) != EXPO_END && event != EXPO_OVER_LIMIT) {
        char name[200];
        if (event != EXPO_SAMPLE) continue;
        samples++;
        if (x.sample.name_len >= sizeof name || !x.sample.name_len) continue;
        memcpy(name, x.sample.name, x.sample.name_len);
        name[x.sample.name_len] = '\0';
        bool bucket = ends_with(&x.sample, "_bucket");
        if ((!bucket && !ends_with(&x.sample, "_total")) || text_eq(name, last) || shown >= 12) continue;
        text_copy(last, sizeof last, name);
        if (shown++ == 0) printf("usable on it, in a configuration of your own:\n");
        if (bucket) printf("  a quantile: histogram_quantile(0.99, sum by (le) (rate(%s[30s])))\n", name);
        else printf("  a rate:     sum(rate(%s[30s]))\n", name);
    }
    if (samples == 0) printf("there is no sample on it: is this a page of metrics?\n");
    else printf("%u samples in all; docs/getting-started.md says how to write signals, 'trimtab preset list' what is known\n",
                samples);
    return EXIT_FAIL;
}

static int detect(const char *from)
{
    struct buf page = BUF_INIT;
    struct err e;
    unsigned known = 0;
    bool ok = true;
    if (page_fetch(from, &page, &e) != STATUS_OK) {
        fprintf(stderr, "trimtab preset: %s\n", e.text);
        buf_free(&page);
        return EXIT_FAIL;
    }
    enum expo_format format = probe_format(buf_text(&page), page.len);
    for (uint32_t i = 0; config_preset_name(i); i++) {
        struct arena a = ARENA_INIT;
        struct preset_info p;
        if (!read_preset(&a, config_preset_name(i), &p)) {
            ok = false;
        } else if (probe_matches(&p, buf_text(&page), page.len, format)) {
            known++;
            ok = tell(&p, &page, format) && ok;
        }
        arena_free(&a);
    }
    int code = known ? ok ? EXIT_GOOD : EXIT_FAIL : tell_unknown(from, &page, format);
    buf_free(&page);
    return code;
}

int command_preset(const struct args *a)
{
    if (!args_want(a, 1, 2)) return EXIT_USAGE;
    const char *word = a->words[0], *what = a->word_n == 2 ? a->words[1] : NULL;
    if (text_eq(word, "list") && !what) return list();
    if (text_eq(word, "show") && what) return show(what);
    if (text_eq(word, "detect") && what) return detect(what);
    fprintf(stderr, "trimtab preset: there is: preset list, preset show NAME, preset detect URL|FILE\n");
    return EXIT_USAGE;
}
