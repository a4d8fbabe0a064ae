#include "scenario/story.h"

#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "config/load.h"
#include "loop/control.h"

/* ---- reading ---- */

const struct config_node *story_get(const struct tale *s, const char *key)
{
    for (unsigned i = s->layer_n; i-- > 0;) {
        const struct config_node *n = config_tree_get(s->layers[i], key);
        if (n) return n;
    }
    return NULL;
}

static const char *text_in(const struct config_node *map, const char *key, const char *otherwise)
{
    const struct config_node *n = config_tree_get(map, key);
    return n && n->kind == CONFIG_SCALAR ? n->text : otherwise;
}

static struct instant time_of(const struct config_node *n)
{
    struct span v = {0};
    if (!n || span_parse(n->text, (unsigned)n->len, &v) != n->len) fail_msg("%s: no time", n ? n->text : "a time is missing");
    return (struct instant){v.us};
}

static uint16_t index_of(const struct policy *p, const char *name)
{
    uint16_t i = policy_service(p, name);
    if (i == NO_INDEX) fail_msg("no service '%s' runs", name);
    return i;
}

/* Only the named services of the file run, in the order in which they are named. */
static void choose_services(struct policy *p, const struct config_node *names)
{
    struct service_def chosen[SERVICES_MAX];
    uint16_t n = 0;
    for (uint32_t i = 0; i < names->n; i++) {
        uint16_t at = index_of(p, names->items[i]->text);
        chosen[n] = p->services[at];
        chosen[n].index = n;
        p->services[at].needs = (struct needs){0};
        n++;
    }
    for (uint16_t i = 0; i < p->service_count; i++) needs_free(&p->services[i].needs);
    memcpy(p->services, chosen, n * sizeof *chosen);
    p->service_count = n;
    for (uint16_t i = 0; i < n; i++) {
        struct service_def *d = &p->services[i];
        d->target_count = 0;
        for (uint16_t k = 0; k < d->signal_count; k++) {
            d->signals[k].query = NULL;
            d->signals[k].range = (struct span){0};
            d->signals[k].interval = p->tick;
        }
    }
}

static struct policy *load(const struct tale *s, const char *name)
{
    char path[600];
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct config_options o = {.points_from_outside = true};
    struct buf said = BUF_INIT;
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    struct policy *p = config_load_file(path, &o, &d);
    config_print_diagnostics(&said, &d, false);
    if (!p) fail_msg("%s", buf_text(&said));
    config_diagnostics_free(&d);
    buf_free(&said);
    choose_services(p, story_get(s, "services"));
    const struct config_node *tier = story_get(s, "tier");
    if (tier) p->services[0].knobs[0].tier = atoi(tier->text);
    return p;
}

static void set_line(struct world *w, uint16_t service, const struct config_pair *pair)
{
    uint16_t i = service_signal(&w->policy->services[service], pair->key->text);
    struct line l;
    if (!line_parse(pair->value->text, &l)) fail_msg("%s: %s is no series", pair->key->text, pair->value->text);
    if (i != NO_INDEX) w->services[service].lines[i] = l;      /* a file's series are for all its services */
}

/* "32", or "32,16" for two instances. */
static void set_value(struct world *w, uint16_t service, const char *knob, const char *text)
{
    uint16_t k = service_knob(&w->policy->services[service], knob);
    struct target *t = &w->services[service].target;
    if (k == NO_INDEX) return;         /* a file's knobs are for all its services */
    t->n[k] = 0;
    t->version[k]++;
    while (*text) {
        size_t len = strcspn(text, ",");
        if (t->n[k] == INSTANCES_MAX || !num_parse_all(text, len, &t->value[k][t->n[k]++])) fail_msg("%s is no value", text);
        text += len + (text[len] == ',');
    }
}

static void set_part(struct world *w, uint16_t service, const struct config_node *map)
{
    const struct config_node *series = config_tree_get(map, "series"), *knobs = config_tree_get(map, "knobs");
    for (uint32_t i = 0; series && i < series->n; i++) set_line(w, service, &series->pairs[i]);
    for (uint32_t i = 0; knobs && i < knobs->n; i++)
        set_value(w, service, knobs->pairs[i].key->text, knobs->pairs[i].value->text);
}

static void set_all(struct world *w, const struct tale *s)
{
    for (unsigned l = 0; l < s->layer_n; l++) {
        const struct config_node *of = config_tree_get(s->layers[l], "of");
        for (uint16_t i = 0; i < w->policy->service_count; i++) {
            set_part(w, i, s->layers[l]);
            set_part(w, i, config_tree_get(of, w->policy->services[i].name));
        }
    }
}

/* ---- steps ---- */

struct run { struct world w; const struct tale *s; struct seen *seen; enum reason gate; uint64_t with; struct instant quiet;
             unsigned before; struct policy *policies[4]; unsigned policy_n; };

static void health(struct world *w, uint8_t set, uint8_t clear)
{
    struct event e = {.kind = EVENT_HEALTH, .service = ALL_SERVICES, .u.health = {set, clear, NULL}};
    world_send(w, &e);
}

static void lease(struct world *w, bool held)
{
    health(w, held ? 0 : FREEZE_LEASE, held ? FREEZE_LEASE : 0);
}

static void release(struct world *w, uint16_t service)
{
    struct event e = {.kind = EVENT_RELEASE, .service = service, .u.release = {"v2", "ci"}};
    world_send(w, &e);
}

static void reload(struct run *r, const struct config_node *step)
{
    struct policy *p = load(r->s, text_in(step, "policy", "policy.yaml"));
    struct event e = {.kind = EVENT_RELOAD, .u.reload = {p, "li.wei"}};
    r->policies[r->policy_n++] = p;
    r->w.policy = p;
    world_send(&r->w, &e);
}

static bool command(struct world *w, const struct config_node *step, const char *word, uint16_t service)
{
    static const struct { const char *word; enum command_verb verb; } verbs[] = {
        {"approve", COMMAND_APPROVE}, {"reject", COMMAND_REJECT}, {"halt", COMMAND_HALT}, {"resume", COMMAND_RESUME},
        {"cancel", COMMAND_CANCEL}, {"rollback", COMMAND_ROLLBACK}, {"retry", COMMAND_RETRY},
        {"normal-now", COMMAND_NORMAL_NOW}, {"freeze", COMMAND_FREEZE}, {"maintenance", COMMAND_MAINTENANCE},
        {"window-end", COMMAND_WINDOW_END},
    };
    for (unsigned i = 0; i < ARRAY_LEN(verbs); i++) {
        if (!text_eq(word, verbs[i].word)) continue;
        struct event e = {.kind = EVENT_COMMAND, .service = service};
        e.u.command = (struct command){.verb = verbs[i].verb, .id = 1, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN,
                                       .reason = text_in(step, "comment", NULL), .action = text_in(step, "id", NULL),
                                       .clear = config_tree_get(step, "clear") != NULL};
        const struct config_node *length = config_tree_get(step, "for");
        if (length) e.u.command.until.us = w->start.us + w->now.us + time_of(length).us;
        world_send(w, &e);
        return true;
    }
    return false;
}

static void trouble(struct run *r, const struct config_node *step, const char *word, uint16_t service)
{
    struct world *w = &r->w;
    struct target *t = &w->services[service == ALL_SERVICES ? 0 : service].target;
    if (text_eq(word, "module-silent")) health(w, FREEZE_MODULE, 0);
    else if (text_eq(word, "module-well")) health(w, 0, FREEZE_MODULE);
    else if (text_eq(word, "store-fails")) w->store_fails = true, health(w, FREEZE_STORE, 0);
    else if (text_eq(word, "store-well")) w->store_fails = false, health(w, 0, FREEZE_STORE);
    else if (text_eq(word, "lease-lost")) lease(w, false);
    else if (text_eq(word, "lease-held")) lease(w, true);
    else if (text_eq(word, "clock-forward")) w->start.us += time_of(config_tree_get(step, "by")).us;
    else if (text_eq(word, "clock-back")) w->start.us -= time_of(config_tree_get(step, "by")).us;
    else if (text_eq(word, "restart")) world_restart(w);
    else if (text_eq(word, "kill-at-send")) w->kill_at_send = true;
    else if (text_eq(word, "refuse")) t->refuses = true;
    else if (text_eq(word, "ignore")) t->ignores = true;
    else if (text_eq(word, "accept")) t->refuses = t->ignores = false;
    else if (text_eq(word, "unreadable")) t->unreadable = true;
    else if (text_eq(word, "readable")) t->unreadable = false;
    else if (text_eq(word, "by-hand")) set_value(w, service, text_in(step, "knob", "batch_max"), text_in(step, "value", "48"));
    else if (text_eq(word, "release")) release(w, service);
    else if (text_eq(word, "reload")) reload(r, step);
    else fail_msg("unknown step '%s'", word);
}

static void one_step(struct run *r, const struct config_node *step)
{
    const char *word = text_in(step, "do", ""), *name = text_in(step, "service", r->w.policy->services[0].name);
    uint16_t service = text_eq(name, "all") ? ALL_SERVICES : index_of(r->w.policy, name);
    if (!command(&r->w, step, word, service)) trouble(r, step, word, service);
}

/* ---- looking ---- */

/* Of the service, or of the candidate that was taken; where none was, of all candidates. */
static uint64_t shut_gates(const struct decision *d, enum reason_kind kind)
{
    uint64_t shut = 0;
    for (uint16_t i = 0; i < d->gate_count; i++) {
        const struct gate_result *g = &d->gates[i];
        bool other = kind >= REASON_KIND_PERSON && g->knob != NO_INDEX && d->has_plan && g->knob != d->plan.knob;
        if (g->shut && !other) shut |= UINT64_C(1) << g->reason;
    }
    return shut;
}

static void look(void *ctx, struct world *w)
{
    struct run *r = ctx;
    struct seen *seen = r->seen;
    if (instant_before(w->now, r->quiet)) {
        r->before = w->services[0].sends;
        return;
    }
    seen->sends = w->services[0].sends - r->before;
    if (r->gate == REASON_NONE) return;
    const struct decision *d = loop_decision(w->loop, 0);
    uint64_t shut = shut_gates(d, reason_kind(r->gate)), wanted = UINT64_C(1) << r->gate | r->with;
    if (d->gate_count == 0 && d->reason == r->gate) shut = wanted;    /* halted, recovering: told before any gate is looked at */
    if (shut == wanted) seen->only = true;
    if (shut & UINT64_C(1) << r->gate) seen->others = shut & ~wanted;
}

static bool holds(const struct run *r)
{
    const struct config_node *want = story_get(r->s, "holds");
    for (uint32_t i = 0; want && i < want->n; i++) {
        uint16_t k = service_knob(&r->w.policy->services[0], want->pairs[i].key->text);
        double v;
        if (k == NO_INDEX || !num_parse_all(want->pairs[i].value->text, want->pairs[i].value->len, &v)) return false;
        if (r->w.services[0].target.value[k][0] != v) return false;
    }
    return true;
}

static void add_records(struct run *r)
{
    for (unsigned i = 0; i < r->w.log_n; i++) {
        const struct record *x = r->w.log[i];
        enum reason why;
        if (x->kind == RECORD_EXPIRED) r->seen->reasons |= UINT64_C(1) << REASON_EXPIRED;
        if (x->kind != RECORD_VOID || !reason_parse(record_get_text(x, RF_REASON), &why)) continue;
        r->seen->reasons |= UINT64_C(1) << why;
    }
}

static void run_steps(struct run *r)
{
    const struct config_node *steps = story_get(r->s, "steps");
    for (uint32_t i = 0; steps && i < steps->n; i++) {
        world_go(&r->w, time_of(config_tree_get(steps->items[i], "at")));
        one_step(r, steps->items[i]);
    }
    world_go(&r->w, time_of(story_get(r->s, "until")));
    look(r, &r->w);
}

void story_run(const struct tale *s, enum reason gate, uint64_t with, struct seen *ret)
{
    const struct config_node *start = story_get(s, "start"), *policy = story_get(s, "policy"), *quiet = story_get(s, "quiet");
    struct wall at;
    struct run r = {.s = s, .seen = ret, .gate = gate, .with = with};
    *ret = (struct seen){.said = BUF_INIT, .replies = BUF_INIT};
    assert_true(wall_parse(start ? start->text : "2026-05-11T00:00:00Z", &at));
    assert_true(REASON_COUNT <= 64);
    r.policies[r.policy_n++] = load(s, policy->text);
    r.quiet = quiet ? time_of(quiet) : (struct instant){0};
    r.w = (struct world){.on_tick = look, .ctx = &r, .policy = r.policies[0]};
    set_all(&r.w, s);
    world_begin(&r.w, r.policies[0], at);
    run_steps(&r);
    for (unsigned i = 0; i < SERVICES_MAX; i++) ret->reasons |= r.w.services[i].reasons;
    add_records(&r);
    ret->holds = holds(&r);
    buf_puts(&ret->said, buf_text(&r.w.notices));
    buf_puts(&ret->replies, buf_text(&r.w.replies));
    world_end(&r.w);
    for (unsigned i = 0; i < r.policy_n; i++) config_free(r.policies[i]);
}
