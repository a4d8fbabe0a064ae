#include "app/preset_docs.h"

#include <stdio.h>
#include <string.h>

#include "config/load.h"
#include "config/preset.h"

static void cell(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') buf_putc(out, '\\');
        buf_putc(out, *text);
    }
}

static void summary_row(struct buf *out, const struct preset_info *p)
{
    unsigned layers[LAYER_COUNT] = {0}, optional = 0;
    for (uint32_t i = 0; i < p->signal_count; i++) {
        layers[p->signals[i].layer]++;
        optional += p->signals[i].optional;
    }
    buf_printf(out, "| [%s](#%s) | %s |", p->name, p->name, p->title);
    for (int l = 0; l < LAYER_COUNT; l++) {
        if (layers[l]) buf_printf(out, " %u |", layers[l]);
        else buf_puts(out, " **none** |");
    }
    buf_printf(out, " %u | %u | %s |\n", optional, p->knob_count, p->measured);
}

static void facts(struct buf *out, const struct preset_info *p)
{
    buf_printf(out, "\n## %s\n\n%s. Page: %s. Measured on: %s. Can be turned while it runs: %s.\n\n", p->name, p->title, p->page,
               p->measured, p->control);
    for (uint32_t i = 0; i < p->variants.n; i++) {
        const char *eq = strstr(p->variants.items[i], " = ");
        if (eq) buf_printf(out, "- told apart: %.*s, by `%s`\n", (int)(eq - p->variants.items[i]), p->variants.items[i], eq + 3);
    }
    for (uint32_t i = 0; i < p->gaps.n; i++) buf_printf(out, "- missing: %s\n", p->gaps.items[i]);
}

static void signals(struct buf *out, const struct preset_info *p)
{
    buf_puts(out, "\n| signal | layer | unit | taken | note |\n|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < p->signal_count; i++) {
        const struct preset_signal *s = &p->signals[i];
        buf_printf(out, "| `%s` | %s | %s | %s | ", s->name, layer_name(s->layer), unit_name(s->unit),
                   s->optional ? "by name" : "always");
        cell(out, s->note);
        buf_puts(out, " |\n");
    }
}

static void knobs(struct buf *out, const struct preset_info *p)
{
    if (p->knob_count == 0) return;
    buf_puts(out, "\n| knob | class | applies | note |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < p->knob_count; i++) {
        buf_printf(out, "| `%s` | %s | %s | ", p->knobs[i].name, p->knobs[i].class, p->knobs[i].apply);
        cell(out, p->knobs[i].note);
        buf_puts(out, " |\n");
    }
}

static bool each(struct buf *out, bool (*show)(struct buf *out, const struct preset_info *p))
{
    for (uint32_t i = 0; config_preset_name(i); i++) {
        struct arena a = ARENA_INIT;
        struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
        struct preset_info info;
        bool ok = config_preset_read(&a, NULL, config_preset_name(i), &info, &d) && show(out, &info);
        config_diagnostics_free(&d);
        arena_free(&a);
        if (!ok) {
            buf_printf(out, "the preset %s cannot be used\n", config_preset_name(i));
            return false;
        }
    }
    return true;
}

static bool show_summary(struct buf *out, const struct preset_info *p)
{
    summary_row(out, p);
    return true;
}

static bool show_section(struct buf *out, const struct preset_info *p)
{
    facts(out, p);
    signals(out, p);
    knobs(out, p);
    return true;
}

bool preset_print_docs(struct buf *out)
{
    buf_puts(out, PRESET_DOCS_BEGIN "\n## All of them\n\nSignals in each layer, how many of all are optional, knobs on offer.\n\n"
                                    "| preset | server | request | processing | system | data | optional | knobs | measured on |\n"
                                    "|---|---|---|---|---|---|---|---|---|\n");
    return each(out, show_summary) && each(out, show_section);
}
