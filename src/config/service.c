/* One service: what it says itself, over its profile, over the table's defaults. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

void *config_alloc(struct config_work *w, size_t n, size_t size)
{
    void *p = arena_array(w->arena, n ? n : 1, size);
    if (!p) w->b->no_memory = true;
    return p;
}

const char *config_copy(struct config_work *w, const char *text)
{
    if (!text) return NULL;
    char *copy = arena_strdup(w->arena, text);
    if (!copy) w->b->no_memory = true;
    return copy;
}

struct text_pos config_pos(const struct config_node *n)
{
    return config_source_pos(n->source, n->offset);
}

static uint32_t add_entries(struct config_work *w, const struct config_node *map, const char *what, struct config_entry *out,
                            uint32_t n, uint32_t cap)
{
    uint32_t own = n;
    for (uint32_t i = 0; i < map->n; i++) {
        const struct config_pair *pair = &map->pairs[i];
        uint32_t k = 0;
        while (k < own && strcmp(out[k].name->text, pair->key->text) != 0) k++;
        if (k < own) {
            out[k].base = pair->value;
        } else if (!text_is_name(pair->key->text, POLICY_NAME_MAX)) {
            config_wrong(w->d, pair->key, "a to z, digits, - and _, beginning with a letter; at most 63 bytes",
                         "'%.60s' cannot be the name of a %s", pair->key->text, what);
        } else if (n == cap) {
            config_wrong(w->d, pair->key, NULL, "too many: one service has at most %u entries of kind %s", cap, what);
            break;
        } else {
            out[n++] = (struct config_entry){.name = pair->key, .value = pair->value};
        }
    }
    return n;
}

uint32_t config_entries(struct config_work *w, const struct config_value *map, const char *what, struct config_entry *out,
                        uint32_t cap)
{
    if (!map->is_set) return 0;
    uint32_t n = add_entries(w, map->at, what, out, 0, cap);
    if (map->inherited && map->inherited->kind == CONFIG_MAP) n = add_entries(w, map->inherited, what, out, n, cap);
    return n;
}

static const struct config_node *find_profile(struct config_build *b, const struct config_node *node)
{
    const struct config_node *at = config_tree_get(node, "profile");
    if (!at || at->kind != CONFIG_SCALAR) return NULL;
    const struct config_node *found = config_tree_get(b->profiles, at->text);
    size_t len;
    bool shipped = config_preset_bytes(at->text, &len) != NULL;   /* not whole: a service chooses from those */
    const struct config_preset *preset = found || shipped ? NULL : config_preset(b, at->text);
    if (preset) found = preset->root;
    if (found) return found;
    const char *names[64];
    size_t n = 0;
    char hint[160];
    for (uint32_t i = 0; b->profiles && i < b->profiles->n && n < ARRAY_LEN(names); i++)
        names[n++] = b->profiles->pairs[i].key->text;
    if (!at->source->cut && shipped)
        config_wrong(b->d, at, "write `preset` in place of `profile`", "no profile '%.60s', but a preset", at->text);
    else if (!at->source->cut)
        config_wrong(b->d, at, config_nearest(hint, sizeof hint, at->text, names, n, "write it under `profiles`"),
                     "no profile '%.60s'", at->text);
    return NULL;
}

static void build_modes(struct config_work *w)
{
    struct service_def *s = w->s;
    s->mode = (enum mode)w->raw.mode.word;
    for (int i = 0; i < CLASS_COUNT; i++) s->class_mode[i] = s->mode;
    const struct config_value *v = &w->raw.class_modes;
    char hint[160];
    for (uint32_t i = 0; v->is_set && i < v->at->n; i++) {
        const struct config_pair *pair = &v->at->pairs[i];
        enum action_class class;
        enum mode mode;
        const char *word = pair->value->kind == CONFIG_SCALAR ? pair->value->text : "";
        bool known = class_parse(pair->key->text, &class);
        if (!known)
            config_wrong(
                w->d, pair->key,
                config_nearest(hint, sizeof hint, pair->key->text, config_words(CONFIG_CLASS_TYPE), CLASS_COUNT, NULL),
                "'%.60s' is no class of knobs", pair->key->text);
        if (!mode_parse(word, &mode))
            config_wrong(w->d, pair->value,
                         config_nearest(hint, sizeof hint, word, config_words(CONFIG_MODE_TYPE), MODE_COUNT,
                                        "alert, confirm or auto"),
                         "'%.60s' is no mode", word);
        else if (known) s->class_mode[class] = mode;
    }
}

static void build_head(struct config_work *w)
{
    struct service_def *s = w->s;
    const struct config_service *raw = &w->raw;
    s->name = raw->name.is_set ? config_copy(w, raw->name.text) : "";
    s->environment = config_copy(w, raw->environment.is_set ? raw->environment.text : "default");
    s->group = raw->group.is_set ? config_copy(w, raw->group.text) : NULL;
    s->utc_offset_s = raw->utc_offset.word;
    s->pos = config_pos(w->node);
    if (!raw->name.is_set && !raw->name.is_wrong && !w->cut)
        config_wrong(w->d, w->node, "name: embedding", "this service has no `name`");
    build_modes(w);
    if (!raw->depends_on.is_set) return;
    uint32_t n = config_items(raw->depends_on.at);
    s->depends_on = config_alloc(w, n, sizeof *s->depends_on);
    for (uint32_t i = 0; s->depends_on && i < n; i++)
        s->depends_on[s->depends_count++] = config_copy(w, config_item(raw->depends_on.at, i)->text);
}

/* What the time split of the causes will ask the evidence for. */
static void add_share_needs(struct config_work *w)
{
    struct service_def *s = w->s;
    uint16_t latency = s->judge.latency_mean != NO_INDEX ? s->judge.latency_mean : s->judge.latency;
    bool ok = true;
    for (uint16_t i = 0; i < s->cause_count && latency != NO_INDEX; i++) {
        const uint16_t signals[] = {latency, s->causes[i].share_signal};
        if (signals[1] == NO_INDEX) continue;
        for (size_t k = 0; k < ARRAY_LEN(signals); k++) {
            ok = ok && needs_add(&s->needs, (struct need){.fn = FN_VALUE, .subject = signals[k]}) >= 0;
            ok = ok && needs_add(&s->needs, (struct need){.fn = FN_BASELINE, .subject = signals[k]}) >= 0;
        }
    }
    if (!ok) config_wrong(w->d, w->node, NULL, "the rules of this service ask for more than %d different values", NEEDS_MAX);
}

void config_build_service(struct config_build *b, const struct config_node *node, struct service_def *s)
{
    static const struct judge_def no_judge = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX, 0};
    struct config_work w = {.b = b, .d = b->d, .arena = &b->p->arena, .s = s, .node = node, .cut = node->source->cut};
    s->name = s->environment = "";
    s->judge = no_judge;
    const struct config_node *profile = find_profile(b, node);
    if (!config_read_block(b->d, CONFIG_BLOCK_SERVICE, node, config_base(&w, profile), &w.raw)) return;
    config_check_wording(&w);
    if (w.raw.profile.at && !profile) w.cut = true;   /* what is missing here may stand there */
    build_head(&w);
    config_build_source(&w);
    config_build_targets(&w);
    config_build_signals(&w);
    config_build_knobs(&w);
    config_build_judge(&w);
    config_build_timing(&w);
    config_finish_knobs(&w);
    config_build_symptoms(&w);
    config_build_causes(&w);
    config_build_windows(&w);
    add_share_needs(&w);
}
