/* Queries of presets hold `$select`, `$where` and `$range`, which each service fills in. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

#define SELECT "$select"
#define WHERE "$where"
#define RANGE "$range"

/* The matchers for this preset; NULL: none. */
static const struct config_node *matchers_of(const struct config_work *w, const struct config_value *v,
                                             const struct config_preset *p)
{
    if (!v->is_set) return NULL;
    if (v->at->kind == CONFIG_MAP) return config_tree_get(v->at, p->name);
    const struct config_value *presets = &w->raw.preset;
    if (!presets->is_set || config_items(presets->at) == 0) return NULL;
    return strcmp(config_item(presets->at, 0)->text, p->name) == 0 ? v->at : NULL;
}

/* Matchers end with a comma, which may stand before a closing brace, too. */
static void put(struct buf *out, const struct config_node *matchers)
{
    if (matchers && matchers->kind == CONFIG_SCALAR) buf_printf(out, "%s,", matchers->text);
}

/* The service's range, else the preset's, else 30s: as text, since that is what goes into the query. */
static const char *range_of(struct config_work *w, const struct config_preset *p)
{
    if (w->raw.range.is_set && w->raw.range.at) return w->raw.range.at->text;
    const struct config_node *own = config_tree_get(p->root, "range");
    return own && own->kind == CONFIG_SCALAR ? own->text : "30s";
}

bool config_worded(struct config_work *w, const struct config_node *query, struct buf *out)
{
    const struct config_preset *p = config_preset_of(w->b, query->source);
    if (!p) return false;
    const struct config_node *select = matchers_of(w, &w->raw.select, p), *where = matchers_of(w, &w->raw.where, p);
    for (const char *t = query->text; *t;) {
        if (text_starts(t, SELECT) || text_starts(t, WHERE)) {
            bool all = text_starts(t, SELECT);
            if (all) put(out, select);
            put(out, where);
            t += strlen(all ? SELECT : WHERE);
        } else if (text_starts(t, RANGE)) {
            buf_puts(out, range_of(w, p));
            t += strlen(RANGE);
        } else {
            buf_putc(out, *t++);
        }
    }
    return true;
}

/* The matchers must stand on their own: `a="x", b=~"y"`. A fault is told where the user wrote it. */
static void check_matchers(struct config_work *w, const char *key, const struct config_node *at)
{
    static const char around[] = "x{";
    struct buf text = BUF_INIT;
    struct pq_error error;
    struct arena scratch = ARENA_INIT;
    if (at->kind != CONFIG_SCALAR) {
        config_wrong(w->d, at, "'model=\"embedding\"'", "%s: each entry must be a text", key);
        return;
    }
    buf_printf(&text, "%s%s}", around, at->text);
    bool braces = strpbrk(at->text, "{}") != NULL;
    if (braces) {
        config_wrong(w->d, at, "'model=\"embedding\"'", "%s: the matchers alone, without braces", key);
    } else if (!pq_compile(&scratch, buf_text(&text), text.len, &error)) {
        size_t offset = error.offset >= strlen(around) ? error.offset - strlen(around) : 0;
        if (offset > at->len) offset = at->len;
        config_wrong_in(w->d, at, offset, error.length ? error.length : 1, "'model=\"embedding\"'", "%s: %s", key, error.text);
    }
    arena_free(&scratch);
    buf_free(&text);
}

static bool has_preset(const struct config_work *w, const char *name)
{
    const struct config_value *v = &w->raw.preset;
    for (uint32_t i = 0; v->is_set && i < config_items(v->at); i++)
        if (strcmp(config_item(v->at, i)->text, name) == 0) return true;
    return false;
}

static void check_pairs(struct config_work *w, const char *key, const struct config_value *v)
{
    if (!v->is_set) return;
    if (!w->raw.preset.at) {
        config_wrong(w->d, v->at, "preset: NAME", "`%s` completes the queries of presets; there is none here", key);
        return;
    }
    if (v->at->kind != CONFIG_MAP) check_matchers(w, key, v->at);
    for (uint32_t i = 0; v->at->kind == CONFIG_MAP && i < v->at->n; i++) {
        if (!has_preset(w, v->at->pairs[i].key->text))
            config_wrong(w->d, v->at->pairs[i].key, NULL, "%s: this service has no preset '%.60s'", key,
                         v->at->pairs[i].key->text);
        check_matchers(w, key, v->at->pairs[i].value);
    }
}

void config_check_wording(struct config_work *w)
{
    if (w->raw.about.at && !config_preset_of(w->b, w->raw.about.at->source))
        config_wrong(w->d, w->raw.about.at, NULL, "`about` belongs into the file of a preset");
    check_pairs(w, "select", &w->raw.select);
    check_pairs(w, "where", &w->raw.where);
}
