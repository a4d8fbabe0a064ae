/* What a row of the playbook may try. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

#define ADVISE "advise:"

struct trial {
    struct config_work *w;
    const struct config_node *at;
    bool shipped;
    struct cause_def *c;
    char lacking[200];               /* of a shipped row: candidates whose knob is not in the whitelist */
};

static void add(struct trial *t, struct candidate_def candidate)
{
    if (t->c->try_count < POLICY_TRY_MAX) t->c->tries[t->c->try_count++] = candidate;
}

static void add_advice(struct trial *t, const char *text)
{
    while (*text == ' ') text++;
    const char *copy = config_copy(t->w, text);
    if (!*text) config_wrong(t->w->d, t->at, NULL, "try: the advice is empty");
    else if (copy) add(t, (struct candidate_def){.knob = NO_INDEX, .advice = copy});
}

static void unknown_knob(struct trial *t, const char *name)
{
    const char *names[POLICY_KNOBS_MAX];
    char hint[160];
    const struct service_def *s = t->w->s;
    for (uint16_t i = 0; i < s->knob_count; i++) names[i] = s->knobs[i].name;
    config_wrong_in(t->w->d, t->at, 0, strlen(name),
                    config_nearest(hint, sizeof hint, name, names, s->knob_count,
                                   "write it under `knobs`: only what is listed there is ever touched"),
                    "try: unknown knob '%.60s'", name);
}

/* Why the whitelist forbids this move; NULL: it does not. */
static const char *forbidden(const struct knob_def *k, enum direction dir)
{
    if (k->tier == 3) return "it is tier 3: advice only";
    if (k->class == CLASS_REPLICAS && dir == DIR_DOWN) return "scale-in is advised, never automatic";
    if (!(dir == DIR_UP ? k->allow_up : k->allow_down)) return "its `directions` do not allow it";
    return NULL;
}

static bool is_repeated(const struct cause_def *c, uint16_t knob, enum direction dir)
{
    for (uint16_t i = 0; i < c->try_count; i++)
        if (c->tries[i].knob == knob && c->tries[i].direction == dir) return true;
    return false;
}

static void add_move(struct trial *t, const char *name, enum direction dir)
{
    const struct service_def *s = t->w->s;
    uint16_t knob = service_knob(s, name);
    const char *why = knob == NO_INDEX ? "not listed" : t->w->knob_wrong[knob] ? NULL : forbidden(&s->knobs[knob], dir);
    if (knob != NO_INDEX && !why) {
        if (is_repeated(t->c, knob, dir)) config_wrong(t->w->d, t->at, NULL, "try: '%.60s' stands here twice", t->at->text);
        else add(t, (struct candidate_def){.knob = knob, .direction = dir});
    } else if (t->shipped) {
        size_t used = strlen(t->lacking);
        snprintf(t->lacking + used, sizeof t->lacking - used, "%s%s %s", used ? ", " : "", name, direction_name(dir));
    } else if (knob == NO_INDEX) {
        if (!t->w->cut) unknown_knob(t, name);
    } else {
        config_wrong(t->w->d, t->at, s->knobs[knob].tier == 3 ? "\"advise: what a person should do\"" : NULL,
                     "try: '%.60s' is not possible: %s", t->at->text, why);
    }
}

static void add_try(struct trial *t)
{
    char name[64];
    const char *text = t->at->text;
    size_t n = strcspn(text, " ");
    enum direction dir;
    if (text_starts(text, ADVISE)) {
        add_advice(t, text + strlen(ADVISE));
    } else if (n < sizeof name && text[n] == ' ' && direction_parse(text + n + 1, &dir)) {
        memcpy(name, text, n);
        name[n] = '\0';
        add_move(t, name, dir);
    } else {
        config_wrong(t->w->d, t->at, "batch_max up", "try: '%.60s' is neither `KNOB up`, `KNOB down` nor `advise: TEXT`", text);
    }
}

bool config_build_tries(struct config_work *w, const struct config_cause *raw, bool shipped, struct cause_def *c)
{
    struct trial t = {.w = w, .shipped = shipped, .c = c};
    if (!raw->try.is_set) return false;
    size_t before = w->d->errors;
    for (uint32_t i = 0; i < config_items(raw->try.at); i++) {
        t.at = config_item(raw->try.at, i);
        add_try(&t);
    }
    if (t.lacking[0]) {   /* shown, never written */
        char text[300];
        snprintf(text, sizeof text, "not in the whitelist, or not allowed by it: %s", t.lacking);
        add_advice(&t, text);
    }
    return w->d->errors == before && c->try_count > 0;
}
