/* Where presets are found, and what one says of itself. */
#include "config/preset.h"

#include <stdio.h>
#include <string.h>

#include "config/build.h"

#include <preset_bytes.h>

struct file { const char *name; const unsigned char *bytes; size_t len; };
static const struct file files[] = {PRESETS};

static bool is_playbook(const struct file *f)
{
    return strcmp(f->name, "playbook") == 0;   /* lies in the same folder and is none */
}

const char *config_preset_name(uint32_t i)
{
    for (size_t k = 0; k < ARRAY_LEN(files); k++)
        if (!is_playbook(&files[k]) && i-- == 0) return files[k].name;
    return NULL;
}

const char *config_preset_bytes(const char *name, size_t *ret_len)
{
    for (size_t k = 0; k < ARRAY_LEN(files); k++) {
        if (is_playbook(&files[k]) || strcmp(files[k].name, name) != 0) continue;
        *ret_len = files[k].len;
        return (const char *)files[k].bytes;
    }
    return NULL;
}

/* The file in the folder, if there is one: what somebody has put there is meant. */
static struct config_source *from_folder(struct config_diagnostics *d, const char *dir, const char *name)
{
    char path[1200];
    static char none[1];
    if ((size_t)snprintf(path, sizeof path, "%s/%s.yaml", dir, name) >= sizeof path) return NULL;
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    struct buf text = BUF_INIT;
    for (int c; text.len <= CONFIG_BYTES_MAX && (c = getc(f)) != EOF;) buf_putc(&text, (char)c);
    fclose(f);
    struct config_source *source = config_source_add(d, path, text.data ? text.data : none, text.len);
    buf_free(&text);
    return source;
}

static struct config_source *find_source(struct config_diagnostics *d, const char *dir, const char *name)
{
    char path[POLICY_NAME_MAX + 16];
    size_t len;
    if (!text_is_name(name, POLICY_NAME_MAX) || strcmp(name, "playbook") == 0) return NULL;   /* no path leads out of the folder */
    struct config_source *source = dir ? from_folder(d, dir, name) : NULL;
    const char *bytes = source ? NULL : config_preset_bytes(name, &len);
    if (!bytes) return source;
    snprintf(path, sizeof path, "presets/%s.yaml", name);
    return config_source_add(d, path, bytes, len);
}

const struct config_preset *config_preset(struct config_build *b, const char *name)
{
    struct config_preset *p = b->presets;
    for (; p; p = p->next)
        if (strcmp(p->name, name) == 0) return p->root ? p : NULL;
    struct config_source *source = find_source(b->d, b->o.preset_dir, name);
    if (!source) return NULL;
    p = ARENA_NEW(&b->trees, struct config_preset);
    char *copy = arena_strdup(&b->trees, name);
    if (!p || !copy) {
        b->no_memory = true;
        return NULL;
    }
    *p = (struct config_preset){.name = copy, .source = source, .root = config_tree_parse(&b->trees, source, b->d)};
    p->next = b->presets;
    b->presets = p;
    return p->root ? p : NULL;
}

const struct config_preset *config_preset_of(const struct config_build *b, const struct config_source *source)
{
    const struct config_preset *p = b->presets;
    while (p && p->source != source) p = p->next;
    return p;
}

static struct preset_texts texts(struct arena *a, const struct config_value *v)
{
    uint32_t n = v->is_set ? config_items(v->at) : 0;
    const char **items = ARENA_NEW_N(a, n + 1, const char *);
    for (uint32_t i = 0; items && i < n; i++) items[i] = config_item(v->at, i)->text;
    return (struct preset_texts){items, items ? n : 0};
}

static bool read_about(struct arena *a, const struct config_value *about, struct config_diagnostics *d,
                       const struct config_node *root, struct preset_info *ret)
{
    struct config_about raw;
    if (!about->is_set) {
        config_wrong(d, root, "about: {title: ..., measured: ..., has: [...]}", "a preset needs `about`");
        return false;
    }
    if (!config_read_block(d, CONFIG_BLOCK_ABOUT, about->at, NULL, &raw)) return false;
    ret->title = raw.title.is_set ? raw.title.text : "";
    ret->measured = raw.measured.is_set ? raw.measured.text : "";
    ret->page = raw.page.is_set ? raw.page.text : "";
    ret->control = raw.control.is_set ? raw.control.text : "";
    ret->has = texts(a, &raw.has);
    ret->lacks = texts(a, &raw.lacks);
    ret->variants = texts(a, &raw.variants);
    ret->gaps = texts(a, &raw.gaps);
    return true;
}

static const char *text_of(const struct config_value *v)
{
    return v->is_set ? v->text : "";
}

static void read_signals(struct arena *a, const struct config_value *v, struct config_diagnostics *d, struct preset_info *ret)
{
    struct preset_signal *out = ARENA_NEW_N(a, v->is_set ? v->at->n + 1 : 1, struct preset_signal);
    ret->signals = out;
    for (uint32_t i = 0; out && v->is_set && i < v->at->n; i++) {
        struct config_signal raw;
        if (!config_read_block(d, CONFIG_BLOCK_SIGNAL, v->at->pairs[i].value, NULL, &raw)) continue;
        out[ret->signal_count++] = (struct preset_signal){
            .name = v->at->pairs[i].key->text, .note = text_of(&raw.note), .query = text_of(&raw.query),
            .layer = (enum layer)raw.layer.word, .unit = (enum unit)raw.unit.word, .optional = raw.optional.flag};
    }
}

/* A knob of a preset is an offer: how it is read and written may be missing. */
static void read_knobs(struct arena *a, const struct config_value *v, struct config_diagnostics *d, struct preset_info *ret)
{
    struct preset_knob *out = ARENA_NEW_N(a, v->is_set ? v->at->n + 1 : 1, struct preset_knob);
    ret->knobs = out;
    for (uint32_t i = 0; out && v->is_set && i < v->at->n; i++) {
        struct config_knob raw;
        if (!config_read_block(d, CONFIG_BLOCK_KNOB, v->at->pairs[i].value, NULL, &raw)) continue;
        out[ret->knob_count++] = (struct preset_knob){
            .name = v->at->pairs[i].key->text, .class = class_name((enum action_class)raw.class.word),
            .apply = apply_name((enum apply)raw.apply.word), .note = text_of(&raw.note)};
    }
}

bool config_preset_read(struct arena *a, const char *dir, const char *name, struct preset_info *ret,
                        struct config_diagnostics *d)
{
    struct config_service raw;
    struct config_source *source = find_source(d, dir, name);
    size_t before = d->errors;
    const struct config_node *root = source ? config_tree_parse(a, source, d) : NULL;
    *ret = (struct preset_info){.name = arena_strdup(a, name), .path = source ? source->path : ""};
    if (!root || !config_read_block(d, CONFIG_BLOCK_SERVICE, root, NULL, &raw)) return false;
    if (!read_about(a, &raw.about, d, root, ret)) return false;
    read_signals(a, &raw.signals, d, ret);
    read_knobs(a, &raw.knobs, d, ret);
    return d->errors == before && ret->name && ret->signals && ret->knobs;
}
