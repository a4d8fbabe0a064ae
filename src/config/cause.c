/* Rows of the playbook: the service's, its profile's, then the shipped ones. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

struct row {
    struct config_cause raw;
    bool shipped;
};

static uint16_t symptom_index(const struct service_def *s, const char *name)
{
    for (uint16_t i = 0; i < s->symptom_count; i++)
        if (strcmp(s->symptoms[i].name, name) == 0) return i;
    return NO_INDEX;
}

/* The symptom may be there in the file and only be wrong; then it was reported and is not unknown. */
static bool is_written(const struct config_work *w, const char *name)
{
    return config_tree_get(w->raw.symptoms.at, name) || config_tree_get(w->raw.symptoms.inherited, name);
}

static bool find_symptom(struct config_work *w, const struct row *r, struct cause_def *c)
{
    const struct config_value *v = &r->raw.symptom;
    c->symptom = NO_INDEX;
    if (v->is_wrong) return false;
    if (!v->is_set) return true;
    c->symptom = symptom_index(w->s, v->text);
    if (c->symptom != NO_INDEX) return true;
    if (r->shipped || w->cut || is_written(w, v->text)) return false;
    const char *names[POLICY_SYMPTOMS_MAX];
    char hint[160];
    for (uint16_t i = 0; i < w->s->symptom_count; i++) names[i] = w->s->symptoms[i].name;
    config_wrong(w->d, v->at, config_nearest(hint, sizeof hint, v->text, names, w->s->symptom_count, "write it under `symptoms`"),
                 "this row can never be reached: there is no symptom '%.60s'", v->text);
    return false;
}

static bool find_group(struct config_work *w, const struct row *r, struct cause_def *c)
{
    const struct config_cause *raw = &r->raw;
    if (raw->group.is_wrong || !raw->cause.is_set) return false;
    if (raw->group.is_set) {
        c->group = (enum cause_group)raw->group.word;
        return true;
    }
    if (cause_group_parse(raw->cause.text, &c->group)) return true;
    config_wrong(w->d, raw->cause.at,
                 "outage, recent-release, data-quality, upstream-data, cache-too-small, demand, one-bad-instance, "
                 "host-or-io-bound, ceiling or compute-bound",
                 "cause '%.60s' needs a `group`, which ranks it", raw->cause.text);
    return false;
}

/* A signal that is not configured removes the row: silently if shipped, with a warning if it is one that the shipped playbook
 * speaks of, as an error if nobody knows it. */
static bool has_signals(struct config_work *w, const struct row *r)
{
    const struct config_node *when = r->raw.when.at;
    char missing[64], hint[160];
    size_t at;
    if (!r->raw.when.is_set) return false;
    if (!config_rule_lacks(w, when->text, when->len, missing, &at)) return true;
    if (r->shipped) {
        w->rows_dropped++;
        return false;
    }
    if (w->cut || !config_well_known(w->b, missing)) return true;   /* the compiler says what is wrong */
    const char *names[POLICY_SIGNALS_MAX];
    for (uint16_t i = 0; i < w->s->signal_count; i++) names[i] = w->s->signals[i].name;
    config_report(w->d, CONFIG_WARNING, when->source, config_tree_place(when, at), strlen(missing),
                  config_nearest(hint, sizeof hint, missing, names, w->s->signal_count,
                                 "write it under `signals`, or remove the row"),
                  "signal '%s' is not configured: this row drops out", missing);
    return false;
}

/* Symptom and row together may exclude each other although neither does alone. */
static bool excludes_symptom(struct config_work *w, const struct config_value *when, const struct cause_def *c)
{
    struct buf both = BUF_INIT;
    struct arena scratch = ARENA_INIT;
    struct needs needs = {0};
    struct expr_scope scope = {.service = w->s, .needs = &needs};
    struct expr_error error;
    struct expr_use use = {0};
    buf_printf(&both, "(%s) and (%s)", expr_text(w->s->symptoms[c->symptom].when), when->text);
    const struct expr *e = expr_compile(&scratch, buf_text(&both), both.len, &scope, &error);
    if (e) expr_describe(e, &use);
    bool never = e && use.constant && use.constant_value == TRI_FALSE;
    needs_free(&needs);
    arena_free(&scratch);
    buf_free(&both);
    return never;
}

static void check_reach(struct config_work *w, const struct row *r, const struct cause_def *c)
{
    struct expr_use use;
    const struct config_value *when = &r->raw.when;
    expr_describe(c->when, &use);
    if (use.constant && use.constant_value == TRI_FALSE)
        config_wrong(w->d, when->at, NULL, "this row can never be reached: its conditions exclude each other");
    else if (use.constant)
        config_warn(w->d, when->at, NULL, "this row is true whatever is measured: it names a cause without evidence");
    else if (!r->shipped && c->symptom != NO_INDEX && excludes_symptom(w, when, c))
        config_wrong(w->d, when->at, NULL, "this row can never be reached: it excludes its symptom '%s'",
                     w->s->symptoms[c->symptom].name);
}

/* The row's own id; else the cause, with a number if that is taken. */
static bool take_id(struct config_work *w, const struct row *r, struct cause_def *c)
{
    char text[80];
    struct service_def *s = w->s;
    const char *want = r->raw.id.is_set ? r->raw.id.text : r->raw.cause.text;
    if (!text_copy(text, sizeof text, want)) return false;
    for (unsigned number = 2;; number++) {
        uint16_t i = 0;
        while (i < s->cause_count && strcmp(s->causes[i].id, text) != 0) i++;
        if (i == s->cause_count) break;
        if (r->raw.id.is_set) {
            if (!r->shipped)
                config_wrong(w->d, r->raw.id.at, NULL, "duplicate id '%.60s': the row on line %u has it", want,
                             s->causes[i].pos.line);
            return false;
        }
        snprintf(text, sizeof text, "%.63s-%u", want, number);
    }
    c->id = config_copy(w, text);
    return c->id != NULL;
}

static uint16_t take_share(struct config_work *w, const struct row *r)
{
    const struct config_value *v = &r->raw.share;
    if (!v->is_set) return NO_INDEX;
    uint16_t found = r->shipped ? service_signal(w->s, v->text) : config_signal(w, v);
    if (found == NO_INDEX || r->shipped || w->signal_wrong[found]) return found;
    if (unit_dimension(w->s->signals[found].unit) != DIM_TIME)
        config_wrong(w->d, v->at, "a part of the latency, as feature_fetch_ms", "share: '%s' is no time", v->text);
    return found;
}

static uint32_t row_count(const struct config_node *list)
{
    if (!list || list->kind != CONFIG_LIST) return 0;
    return list->n <= POLICY_CAUSES_MAX ? list->n : POLICY_CAUSES_MAX + 1;
}

static void build_row(struct config_work *w, const struct config_node *node, bool shipped)
{
    struct row r = {.shipped = shipped};
    struct cause_def c = {.pos = config_pos(node), .rank = -1};
    struct service_def *s = w->s;
    if (!config_read_block(w->d, CONFIG_BLOCK_CAUSE, node, NULL, &r.raw)) return;
    bool ok = find_symptom(w, &r, &c);
    ok = find_group(w, &r, &c) && ok;
    bool measured = has_signals(w, &r);
    c.share_signal = take_share(w, &r);
    if (r.raw.rank.is_set) c.rank = r.raw.rank.word;
    if (measured && (ok || !shipped)) c.when = config_rule(w, &r.raw.when);
    if (!config_build_tries(w, &r.raw, shipped, &c) || !c.when || !ok) return;
    if (shipped && config_finer(w, c.when) != NO_INDEX) {
        w->rows_dropped++;
        return;
    }
    check_reach(w, &r, &c);
    config_check_finer(w, r.raw.when.at, c.when);
    c.name = config_copy(w, r.raw.cause.text);
    if (!c.name || !take_id(w, &r, &c)) return;
    if (s->cause_count == POLICY_CAUSES_MAX) {
        config_wrong(w->d, node, NULL, "more than %d rows in the playbook of one service", POLICY_CAUSES_MAX);
        return;
    }
    s->causes[s->cause_count++] = c;
}

static void build_rows(struct config_work *w, const struct config_node *list, bool shipped)
{
    for (uint32_t i = 0; i < row_count(list); i++)
        build_row(w, list->items[i], shipped || config_preset_of(w->b, list->items[i]->source));
}

static void note_dropped(struct config_work *w)
{
    const struct config_node *at = w->raw.include.at;
    if (!at || w->rows_dropped + w->symptoms_dropped == 0) return;
    config_report(
        w->d, CONFIG_NOTE, at->source, at->offset, at->length, NULL,
        "%u symptoms and %u rows of the shipped playbook drop out: their signals are not configured, or too coarse",
        w->symptoms_dropped, w->rows_dropped);
}

/* A symptom of the request layer that no row explains can only be handed to a person. */
static void check_explained(struct config_work *w)
{
    const struct service_def *s = w->s;
    for (uint16_t i = 0; i < s->symptom_count && s->cause_count > 0; i++) {
        bool found = !s->symptoms[i].request_layer;
        for (uint16_t k = 0; k < s->cause_count && !found; k++)
            found = s->causes[k].symptom == i || s->causes[k].symptom == NO_INDEX;
        const struct config_node *at = config_tree_key(w->raw.symptoms.at, s->symptoms[i].name);
        if (!found && at)
            config_warn(w->d, at, "leave `symptom` out of the rows that hold for all symptoms",
                        "no row of the playbook explains symptom '%s'", s->symptoms[i].name);
    }
}

void config_build_causes(struct config_work *w)
{
    const struct config_node *own = w->raw.playbook.is_set ? w->raw.playbook.at : NULL;
    const struct config_node *profile = w->raw.playbook.inherited;
    const struct config_node *shipped = config_includes_default(w) ? config_tree_get(config_shipped(w->b), "playbook") : NULL;
    uint32_t most = row_count(own) + row_count(profile) + row_count(shipped);
    if (most > POLICY_CAUSES_MAX) most = POLICY_CAUSES_MAX;
    w->s->causes = config_alloc(w, most, sizeof *w->s->causes);
    if (!w->s->causes) return;
    size_t before = w->d->errors;
    build_rows(w, own, false);
    build_rows(w, profile, false);
    build_rows(w, shipped, true);
    note_dropped(w);
    if (w->d->errors == before && !w->cut) check_explained(w);
}
