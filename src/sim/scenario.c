#include "sim/scenario.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "config/tree.h"
#include "sim/faults.h"

#define DEFAULT_START INT64_C(1778457600)   /* 2026-05-11T00:00:00Z, a Monday */

struct parse {
    struct arena *a;
    struct config_diagnostics *d;
    bool failed;
};

static void wrong(struct parse *p, const struct config_node *at, const char *hint, const char *text)
{
    p->failed = true;
    config_report(p->d, CONFIG_ERROR, at->source, at->offset, at->length, hint, "%s", text);
}

static const char *text_of(struct parse *p, const struct config_node *n)
{
    if (n->kind == CONFIG_SCALAR) return arena_strndup(p->a, n->text, n->len);
    wrong(p, n, NULL, "a text is expected here");
    return "";
}

static double number_of(struct parse *p, const struct config_node *n)
{
    double v = 0;
    bool ok = n->kind == CONFIG_SCALAR && num_parse_all(n->text, n->len, &v) && isfinite(v);
    if (!ok) wrong(p, n, "for example 1.034", "a number is expected here");
    return v;
}

static struct span span_of(struct parse *p, const struct config_node *n)
{
    struct span v = {0};
    bool ok = n->kind == CONFIG_SCALAR && span_parse(n->text, (unsigned)n->len, &v) == n->len;
    if (!ok) wrong(p, n, "for example 90s, 10m, 2h", "a duration is expected here");
    return v;
}

static struct instant instant_of(struct parse *p, const struct config_node *n)
{
    return instant_add((struct instant){0}, span_of(p, n));
}

/* Every key of a map must be known: a misspelt one would silently change the world. */
static void known_keys(struct parse *p, const struct config_node *map, const char *const *keys, size_t n)
{
    if (map->kind != CONFIG_MAP) {
        if (map->kind != CONFIG_BROKEN) wrong(p, map, NULL, "a map of keys is expected here");
        p->failed = true;
        return;
    }
    for (uint32_t i = 0; i < map->n; i++) {
        const struct config_node *key = map->pairs[i].key;
        bool have = false;
        for (size_t k = 0; k < n && !have; k++) have = strcmp(keys[k], key->text) == 0;
        if (have) continue;
        const char *near = text_nearest(key->text, keys, n);
        struct buf hint = BUF_INIT;
        if (near) buf_printf(&hint, "did you mean '%s'?", near);
        wrong(p, key, buf_text(&hint), "unknown key");
        buf_free(&hint);
    }
}

static struct scenario_step *new_step(struct parse *p, struct scenario_part *part, const struct config_node *at,
                                      enum scenario_step_kind kind)
{
    static struct scenario_step spare;
    if (part->step_count == SCENARIO_STEPS_MAX) {
        wrong(p, at, NULL, "too many faults and commands in one part (64 at most)");
        spare = (struct scenario_step){0};
        return &spare;
    }
    struct scenario_step *s = &part->steps[part->step_count++];
    *s = (struct scenario_step){.kind = kind};
    return s;
}

static void unknown_fault(struct parse *p, const struct config_node *at)
{
    struct buf hint = BUF_INIT;
    for (unsigned k = 0; k < FAULT_KINDS; k++) buf_printf(&hint, "%s, ", fault_word((enum fault_kind)k));
    buf_puts(&hint, metric_fault_words());
    wrong(p, at, buf_text(&hint), "a fault needs a known kind");
    buf_free(&hint);
}

/* One between target and daemon: it needs an end, and `size` is half way by default. */
static void read_metric_fault(struct parse *p, struct scenario_step *s, const struct config_node *n)
{
    const struct config_node *v;
    struct err e;
    s->kind = STEP_METRIC_FAULT;
    s->metric.size = 0.5;
    if ((v = config_tree_get(n, "at"))) s->metric.at = instant_of(p, v);
    if ((v = config_tree_get(n, "until"))) s->metric.until = instant_of(p, v);
    if ((v = config_tree_get(n, "size"))) s->metric.size = number_of(p, v);
    if (metric_fault_check(&s->metric, &e) != STATUS_OK) wrong(p, n, NULL, e.text);
}

static void read_fault(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    static const char *const keys[] = {"kind", "at", "ramp", "until", "size", "instance", "version"};
    known_keys(p, n, keys, ARRAY_LEN(keys));
    const struct config_node *kind = config_tree_get(n, "kind"), *v;
    struct scenario_step *s = new_step(p, part, n, STEP_FAULT);
    enum fault_kind k = FAULT_LOAD;
    if (!kind || kind->kind != CONFIG_SCALAR || !fault_kind_of(kind->text, &k)) {
        if (kind && kind->kind == CONFIG_SCALAR && metric_fault_kind(kind->text, &s->metric.kind)) read_metric_fault(p, s, n);
        else unknown_fault(p, kind ? kind : n);
        return;
    }
    s->fault.kind = k;
    s->fault.size = fault_neutral(k);
    if ((v = config_tree_get(n, "at"))) s->fault.at_us = span_of(p, v).us;
    if ((v = config_tree_get(n, "ramp"))) s->fault.ramp_us = span_of(p, v).us;
    if ((v = config_tree_get(n, "until"))) s->fault.until_us = span_of(p, v).us;
    if ((v = config_tree_get(n, "size"))) s->fault.size = number_of(p, v);
    if ((v = config_tree_get(n, "instance"))) s->fault.instance = (uint32_t)number_of(p, v);
    if ((v = config_tree_get(n, "version"))) (void)text_copy(s->fault.version, sizeof s->fault.version, text_of(p, v));
    struct err e;
    if (fault_check(&s->fault, &e) != STATUS_OK) wrong(p, n, NULL, e.text);
}

static void read_command(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    static const char *const keys[] = {"at", "do", "by", "reason", "action"};
    static const struct { const char *word; enum command_verb verb; } verbs[] = {
        {"approve", COMMAND_APPROVE}, {"reject", COMMAND_REJECT}, {"halt", COMMAND_HALT}, {"halt-undo", COMMAND_HALT_UNDO},
        {"resume", COMMAND_RESUME}, {"cancel", COMMAND_CANCEL}, {"rollback", COMMAND_ROLLBACK}, {"retry", COMMAND_RETRY},
        {"normal-now", COMMAND_NORMAL_NOW},
    };
    known_keys(p, n, keys, ARRAY_LEN(keys));
    const struct config_node *verb = config_tree_get(n, "do"), *v;
    struct scenario_step *s = new_step(p, part, n, STEP_COMMAND);
    bool found = false;
    for (size_t i = 0; verb && i < ARRAY_LEN(verbs); i++) {
        if (!text_eq(verb->text, verbs[i].word)) continue;
        s->command.verb = verbs[i].verb;
        found = true;
    }
    if (!found) {
        wrong(p, verb ? verb : n, "approve, reject, halt, halt-undo, resume, cancel, rollback, retry, normal-now",
              "unknown command");
    }
    s->command.by = "scenario";
    s->command.via = "scenario";
    s->command.role = ROLE_ADMIN;
    if ((v = config_tree_get(n, "at"))) s->at = instant_of(p, v);
    if ((v = config_tree_get(n, "by"))) s->command.by = text_of(p, v);
    if ((v = config_tree_get(n, "reason"))) s->command.reason = text_of(p, v);
    if ((v = config_tree_get(n, "action"))) s->command.action = text_of(p, v);
}

static void read_release(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    static const char *const keys[] = {"at", "version"};
    known_keys(p, n, keys, ARRAY_LEN(keys));
    const struct config_node *v;
    struct scenario_step *s = new_step(p, part, n, STEP_RELEASE);
    s->version = "v2";
    if ((v = config_tree_get(n, "at"))) s->at = instant_of(p, v);
    if ((v = config_tree_get(n, "version"))) s->version = text_of(p, v);
}

static void read_by_hand(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    static const char *const keys[] = {"at", "after", "knob", "value"};
    known_keys(p, n, keys, ARRAY_LEN(keys));
    const struct config_node *v;
    struct scenario_step *s = new_step(p, part, n, STEP_BY_HAND);
    s->knob = s->value = "";
    if ((v = config_tree_get(n, "at"))) s->at = instant_of(p, v);
    if ((v = config_tree_get(n, "knob"))) s->knob = text_of(p, v);
    if ((v = config_tree_get(n, "value"))) s->value = text_of(p, v);
    if ((v = config_tree_get(n, "after"))) {
        s->waits = record_kind_parse(text_of(p, v), &s->on);
        if (!s->waits) wrong(p, v, "for example INTENT, APPLIED, VERDICT", "unknown kind of record");
    }
}

static void read_reconcile(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    static const char *const keys[] = {"at", "every", "knob", "value"};
    known_keys(p, n, keys, ARRAY_LEN(keys));
    const struct config_node *v;
    struct scenario_step *s = new_step(p, part, n, STEP_RECONCILE);
    s->knob = s->value = "";
    s->by = SPAN_MIN(3);
    if ((v = config_tree_get(n, "at"))) s->at = instant_of(p, v);
    if ((v = config_tree_get(n, "every"))) s->by = span_of(p, v);
    if ((v = config_tree_get(n, "knob"))) s->knob = text_of(p, v);
    if ((v = config_tree_get(n, "value"))) s->value = text_of(p, v);
}

static void read_clock(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    static const char *const keys[] = {"at", "by"};
    known_keys(p, n, keys, ARRAY_LEN(keys));
    const struct config_node *v;
    struct scenario_step *s = new_step(p, part, n, STEP_CLOCK);
    if ((v = config_tree_get(n, "at"))) s->at = instant_of(p, v);
    if ((v = config_tree_get(n, "by"))) {
        double seconds = number_of(p, v);
        bool fits = seconds >= -86400 && seconds <= 86400;
        if (fits) s->by = (struct span){(int64_t)(seconds * (double)US_PER_S)};
        else wrong(p, v, "by: -3600", "a step of -86400 to 86400 seconds is expected here");
    }
}

static void each(struct parse *p, struct scenario_part *part, const struct config_node *list,
                 void (*read)(struct parse *, struct scenario_part *, const struct config_node *))
{
    if (!list) return;
    if (list->kind != CONFIG_LIST) {
        wrong(p, list, NULL, "a list is expected here");
        return;
    }
    for (uint32_t i = 0; i < list->n; i++) read(p, part, list->items[i]);
}

static void read_expect(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    static const char *const keys[] = {"at", "state", "decision", "reason", "symptom", "cause", "knob", "to"};
    const struct config_node *v;
    known_keys(p, n, keys, ARRAY_LEN(keys));
    if (part->expect_count == SCENARIO_EXPECT_MAX) {
        wrong(p, n, NULL, "too many expectations in one part (64 at most)");
        return;
    }
    struct scenario_expect *x = &part->expect[part->expect_count++];
    *x = (struct scenario_expect){.to = NAN, .pos = config_source_pos(n->source, n->offset)};
    const struct { const char *key; const char **to; } texts[] = {
        {"state", &x->state}, {"decision", &x->decision}, {"reason", &x->reason},
        {"symptom", &x->symptom}, {"cause", &x->cause}, {"knob", &x->knob},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if ((v = config_tree_get(n, texts[i].key))) *texts[i].to = text_of(p, v);
    }
    if ((v = config_tree_get(n, "to"))) x->to = number_of(p, v);
    if ((v = config_tree_get(n, "at"))) x->at = instant_of(p, v);
    else wrong(p, n, "at: 24h1m", "an expectation needs a time");
}

static void read_plant(struct parse *p, struct scenario_part *part, const struct config_node *map)
{
    if (!map || map->kind != CONFIG_MAP) return;
    for (uint32_t i = 0; i < map->n; i++) {
        struct err e;
        double v = number_of(p, map->pairs[i].value);
        if (plant_config_set(&part->plant, map->pairs[i].key->text, v, &e) != STATUS_OK) wrong(p, map->pairs[i].key, NULL, e.text);
    }
}

static void read_series(struct parse *p, struct scenario_part *part, const struct config_node *map)
{
    if (!map || map->kind != CONFIG_MAP) return;
    for (uint32_t i = 0; i < map->n; i++) {
        const char *name = text_of(p, map->pairs[i].key), *text = text_of(p, map->pairs[i].value);
        uint16_t at = 0;
        while (at < part->series_count && strcmp(part->series[at].signal, name) != 0) at++;
        if (at == POLICY_SIGNALS_MAX) {
            wrong(p, map->pairs[i].key, NULL, "too many series in one part (128 at most)");
            return;
        }
        part->series[at] = (struct scenario_series){name, text};
        if (at == part->series_count) part->series_count++;
    }
}

static void read_knobs(struct parse *p, struct scenario_part *part, const struct config_node *map)
{
    if (!map || map->kind != CONFIG_MAP) return;
    for (uint32_t i = 0; i < map->n; i++) {
        const char *name = text_of(p, map->pairs[i].key);
        double v = number_of(p, map->pairs[i].value);
        uint16_t at = 0;
        while (at < part->knob_count && strcmp(part->knobs[at].name, name) != 0) at++;
        if (at == POLICY_KNOBS_MAX) {
            wrong(p, map->pairs[i].key, NULL, "too many knobs in one part (12 at most)");
            return;
        }
        part->knobs[at] = (struct scenario_knob){name, v};
        if (at == part->knob_count) part->knob_count++;
    }
}

/* "none", "batch_max up" */
static void read_first_write(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    const char *text = text_of(p, n), *blank = strchr(text, ' ');
    struct scenario_first *first = &part->first_write;
    *first = (struct scenario_first){.asked = true, .knob = "", .pos = config_source_pos(n->source, n->offset)};
    if (text_eq(text, "none")) return;
    if (blank && direction_parse(blank + 1, &first->direction)) first->knob = arena_strndup(p->a, text, (size_t)(blank - text));
    else wrong(p, n, "none, batch_max up", "the first write is `none`, or a knob and `up` or `down`");
}

static void read_world(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    const char *word = text_of(p, n);
    if (text_eq(word, "plant")) part->kind = WORLD_PLANT;
    else if (text_eq(word, "fluid")) part->kind = WORLD_FLUID;
    else if (text_eq(word, "script")) part->kind = WORLD_SCRIPT;
    else wrong(p, n, "plant, fluid or script", "unknown world");
}

static const char *const part_keys[] = {
    "scenario", "about", "seed", "parts", "name", "world", "policy", "service", "interval", "mode", "start", "history", "duration",
    "plant", "faults", "series", "expect", "knobs", "commands", "releases", "by_hand",
    "reconcile", "clock", "first_write",
};

static void read_part(struct parse *p, struct scenario_part *part, const struct config_node *n)
{
    const struct config_node *v;
    known_keys(p, n, part_keys, ARRAY_LEN(part_keys));
    if ((v = config_tree_get(n, "name"))) part->name = text_of(p, v);
    if ((v = config_tree_get(n, "world"))) read_world(p, part, v);
    if ((v = config_tree_get(n, "policy"))) part->policy = text_of(p, v);
    if ((v = config_tree_get(n, "service"))) part->service = text_of(p, v);
    if ((v = config_tree_get(n, "interval"))) {
        part->interval = span_of(p, v);
        bool fits = part->interval.us >= US_PER_S && part->interval.us <= 10 * US_PER_MIN;
        if (!fits) wrong(p, v, "the step between two values of a series, as 30s", "an interval is from 1s to 10m");
    }
    if ((v = config_tree_get(n, "mode"))) {
        part->has_mode = mode_parse(text_of(p, v), &part->mode);
        if (!part->has_mode) wrong(p, v, "alert, confirm or auto", "unknown mode");
    }
    if ((v = config_tree_get(n, "start")) && !wall_parse(text_of(p, v), &part->start)) {
        wrong(p, v, "for example 2026-05-11T00:00:00Z", "a time is expected here");
    }
    if ((v = config_tree_get(n, "history"))) part->history = span_of(p, v);
    if ((v = config_tree_get(n, "duration"))) part->duration = span_of(p, v);
    read_plant(p, part, config_tree_get(n, "plant"));
    read_series(p, part, config_tree_get(n, "series"));
    read_knobs(p, part, config_tree_get(n, "knobs"));
    if ((v = config_tree_get(n, "first_write"))) read_first_write(p, part, v);
    each(p, part, config_tree_get(n, "expect"), read_expect);
    each(p, part, config_tree_get(n, "faults"), read_fault);
    each(p, part, config_tree_get(n, "commands"), read_command);
    each(p, part, config_tree_get(n, "releases"), read_release);
    each(p, part, config_tree_get(n, "by_hand"), read_by_hand);
    each(p, part, config_tree_get(n, "reconcile"), read_reconcile);
    each(p, part, config_tree_get(n, "clock"), read_clock);
}

static void part_defaults(struct scenario_part *part, const char *name)
{
    *part = (struct scenario_part){.name = name, .policy = "reference", .start = {DEFAULT_START * US_PER_S}};
    plant_config_reference(&part->plant);
}

static void read_parts(struct parse *p, struct scenario *s, const struct config_node *root)
{
    const struct config_node *parts = config_tree_get(root, "parts");
    bool many = parts && parts->kind == CONFIG_LIST && parts->n > 0 && parts->n <= SCENARIO_PARTS_MAX;
    if (parts && !many) wrong(p, parts, NULL, "a list of 1 to 32 parts is expected here");
    s->part_count = many ? (uint16_t)parts->n : 1;
    s->parts = ARENA_NEW_N(p->a, s->part_count, struct scenario_part);
    if (!s->parts) {
        p->failed = true;
        return;
    }
    for (uint16_t i = 0; i < s->part_count; i++) {
        const struct config_node *own = many ? parts->items[i] : root;
        part_defaults(&s->parts[i], s->name);
        read_part(p, &s->parts[i], root);   /* what stands in the file itself holds for all its parts */
        if (many) read_part(p, &s->parts[i], own);
        if (s->parts[i].duration.us <= 0) wrong(p, own, "duration: 60m", "a duration is needed");
    }
}

const struct scenario *scenario_parse(struct arena *a, const char *bytes, size_t len, const char *path,
                                      struct config_diagnostics *d)
{
    struct parse p = {a, d, false};
    struct config_source *source = config_source_add(d, path, bytes, len);
    const struct config_node *root = source ? config_tree_parse(a, source, d) : NULL, *v;
    struct scenario *s = ARENA_NEW(a, struct scenario);
    if (!root || !s || d->errors > 0) return NULL;
    if (root->kind != CONFIG_MAP) {
        wrong(&p, root, NULL, "a scenario is a map of keys");
        return NULL;
    }
    s->seed = 1;
    s->name = s->about = "";
    if ((v = config_tree_get(root, "scenario"))) s->name = text_of(&p, v);
    else wrong(&p, root, "scenario: NAME", "the scenario's name is missing");
    if ((v = config_tree_get(root, "about"))) s->about = text_of(&p, v);
    if ((v = config_tree_get(root, "seed")) && !num_parse_u64(v->text, v->len, &s->seed)) {
        wrong(&p, v, NULL, "a whole number is expected here");
    }
    read_parts(&p, s, root);
    return p.failed ? NULL : s;
}
