/* The table of keys as a page, and one key as an answer. */
#include <string.h>

#include "config/schema.h"

static const struct { const char *id, *placeholder, *form; } types[] = {
#define X(id, placeholder, form) {#id, placeholder, form},
    CONFIG_TYPE_TABLE(X)
#undef X
};

static void words(struct buf *out, enum config_type type, const char *quote)
{
    const char *const *all = config_words(type);
    for (bool first = true; all && *all; all++) {
        if (!**all) continue;
        buf_printf(out, "%s%s%s%s", first ? "" : ", ", quote, *all, quote);
        first = false;
    }
}

static void type_text(struct buf *out, const struct config_key *k)
{
    const struct config_block *below = &config_blocks[k->below];
    switch (k->type) {
    case CONFIG_BLOCK_TYPE: buf_printf(out, "<%s>", below->name); break;
    case CONFIG_MAP_TYPE: buf_printf(out, "{<name>: <%s>}", below->name); break;
    case CONFIG_LIST_TYPE: buf_printf(out, "[<%s>, ...]", below->name); break;
    default: buf_puts(out, types[k->type].placeholder); break;
    }
}

static void limit(struct buf *out, const struct config_key *k, double v)
{
    if (k->type == CONFIG_DURATION_TYPE) {
        span_print_config(out, (struct span){(int64_t)(v * 1e6)});
    } else if (k->type == CONFIG_FRACTION_TYPE) {
        buf_double(out, v * 100);
        buf_putc(out, '%');
    } else {
        buf_double(out, v);
    }
}

static bool counts_entries(enum config_type t)
{
    return t == CONFIG_LIST_TYPE || t == CONFIG_MAP_TYPE || t == CONFIG_NAMES_TYPE || t == CONFIG_TEXTS_TYPE;
}

/* "1s to 5m", "at most 64 entries"; nothing where the limit is only there to keep numbers finite. */
static void range(struct buf *out, const struct config_key *k)
{
    if (k->most <= 0 || k->most >= 1e15 || k->type == CONFIG_DAYS_TYPE || k->type == CONFIG_DIRECTIONS_TYPE) return;
    if (counts_entries(k->type)) {
        buf_puts(out, "at most ");
        buf_double(out, k->most);
        return;
    }
    limit(out, k, k->least);
    buf_puts(out, " to ");
    limit(out, k, k->most);
}

static void cell(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') buf_putc(out, '\\');
        buf_putc(out, *text);
    }
}

static void print_key(struct buf *out, const struct config_key *k)
{
    struct buf type = BUF_INIT, limits = BUF_INIT;
    type_text(&type, k);
    range(&limits, k);
    buf_printf(out, "| `%s` | `", k->name);
    cell(out, buf_text(&type));
    buf_puts(out, "` | ");
    if (k->required) buf_puts(out, "**required**");
    else if (k->fallback[0]) buf_printf(out, "`%s`", k->fallback);
    buf_printf(out, " | %s | ", buf_text(&limits));
    cell(out, k->doc);
    if (k->example[0]) {
        buf_puts(out, " Example: `");
        cell(out, k->example);
        buf_putc(out, '`');
    }
    buf_puts(out, " |\n");
    buf_free(&type);
    buf_free(&limits);
}

static void print_types(struct buf *out)
{
    buf_puts(out, "## Types\n\n| type | how it is written |\n|---|---|\n");
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (!types[i].placeholder[0]) continue;
        buf_puts(out, "| `");
        cell(out, types[i].placeholder);
        buf_puts(out, "` | ");
        if (types[i].form[0]) buf_puts(out, types[i].form);
        else words(out, (enum config_type)i, "`");
        buf_puts(out, " |\n");
    }
}

static const char intro[] =
    "# Configuration\n\n"
    "<!-- Written from src/config/schema.def; change the table, not this page. -->\n\n"
    "One YAML file says what is watched, what counts as a symptom, what may be the cause, and what may be turned.\n"
    "`trimtab check FILE` reports everything that is wrong with it in one run, each fault with line and column.\n"
    "`examples/reference.yaml` is a complete file with comments.\n\n"
    "Limits: 4 MiB, 32 levels, 250,000 values. Anchors, aliases, tags and duplicate keys are refused; settings that services\n"
    "share go under `profiles`. Secrets never stand in the file: the keys that end in `_file` name a file that holds them.\n\n"
    "## Profiles\n\n"
    "```yaml\n"
    "profiles:\n"
    "  embedding-server:\n"
    "    signals: {...}\n"
    "    symptoms: {...}\n"
    "    knobs: {...}\n"
    "services:\n"
    "  - {name: one, profile: embedding-server, targets: [http://one:9464/metrics]}\n"
    "  - {name: two, profile: embedding-server, targets: [http://two:9464/metrics], mode: confirm}\n"
    "```\n\n"
    "A service takes from its profile what it does not say itself. Signals, symptoms and knobs are joined by name, key by\n"
    "key; rows of the playbook are added behind the service's own. With a folder of presets, `profile: NAME` also finds\n"
    "NAME.yaml there, which holds what stands under a profile.\n\n"
    "## Presets\n\n"
    "```yaml\n"
    "services:\n"
    "  - name: embedding\n"
    "    preset: [triton, dcgm]\n"
    "    targets:\n"
    "      - http://triton:8002/metrics\n"
    "      - {url: http://gpu-node:9400/metrics, exporter: true}\n"
    "    with: [latency_p99]\n"
    "```\n\n"
    "What is known of a server: its signals, symptoms and knobs ([all of them](presets.md)). The service's own words come first,\n"
    "then its profile's, then the presets in their order; knobs are taken only when the file names them.\n\n";

void config_print_docs(struct buf *out)
{
    buf_puts(out, intro);
    print_types(out);
    for (int i = 1; i < CONFIG_BLOCK_COUNT; i++) {
        const struct config_block *b = &config_blocks[i];
        if (b->path[0]) buf_printf(out, "\n## <%s>: `%s`\n\n%s\n", b->name, b->path, b->doc);
        else buf_printf(out, "\n## The file\n\n%s\n", b->doc);
        buf_puts(out, "\n| key | type | default | range | meaning |\n|---|---|---|---|---|\n");
        for (uint16_t k = 0; k < b->n; k++) print_key(out, &b->keys[k]);
    }
}

/* "services[].knobs.<name>" without what stands for names and positions: "services.knobs". */
static void plain_path(struct buf *out, const char *path)
{
    for (; *path && *path != ','; path++) {
        if (*path == '[' || *path == ']') continue;
        if (path[0] == '.' && path[1] == '<') {
            while (*path && *path != '>') path++;
            continue;
        }
        buf_putc(out, *path);
    }
}

static void explain(struct buf *out, const struct config_block *b, const struct config_key *k)
{
    struct buf limits = BUF_INIT;
    buf_printf(out, "%s%s%s: ", b->path, b->path[0] ? "." : "", k->name);
    type_text(out, k);
    buf_printf(out, "\n  %s\n", k->doc);
    range(&limits, k);
    if (k->required) buf_puts(out, "  required\n");
    if (k->fallback[0]) buf_printf(out, "  default: %s\n", k->fallback);
    if (limits.len) buf_printf(out, "  range: %s\n", buf_text(&limits));
    if (config_words(k->type)) {
        buf_puts(out, "  one of: ");
        words(out, k->type, "");
        buf_putc(out, '\n');
    }
    if (k->example[0]) buf_printf(out, "  example: %s: %s\n", k->name, k->example);
    buf_free(&limits);
}

bool config_explain_key(struct buf *out, const char *path)
{
    bool found = false;
    for (int i = 1; i < CONFIG_BLOCK_COUNT; i++) {
        const struct config_block *b = &config_blocks[i];
        for (uint16_t k = 0; k < b->n; k++) {
            struct buf whole = BUF_INIT;
            plain_path(&whole, b->path);
            if (whole.len) buf_putc(&whole, '.');
            buf_puts(&whole, b->keys[k].name);
            if (strcmp(path, b->keys[k].name) == 0 || strcmp(path, buf_text(&whole)) == 0) {
                explain(out, b, &b->keys[k]);
                found = true;
            }
            buf_free(&whole);
        }
    }
    return found;
}
