/* Names, streams of chance, and the scenario file of a drawn world. */
#include "sim/family.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "sim/family_inside.h"
#include "stats/elem.h"

enum { FAMILIES_MAX = 64, USUAL_HISTORY_S = 15 * 86400, USUAL_AFTER_S = 4 * 3600 };

static const struct family *family_at(unsigned i)
{
    if (i < family_ill_count) return &family_ills[i];
    return i - family_ill_count < family_trap_count ? &family_traps[i - family_ill_count] : NULL;
}

static const struct family *find(const char *name)
{
    const struct family *f;
    for (unsigned i = 0; (f = family_at(i)) != NULL; i++)
        if (text_eq(name, f->name)) return f;
    return NULL;
}

const char *const *family_names(void)
{
    static const char *names[FAMILIES_MAX];
    const struct family *f;
    for (unsigned i = 0; (f = family_at(i)) != NULL; i++) {
        CHECK(i + 1 < FAMILIES_MAX);
        names[i] = f->name;
    }
    return names;
}

bool family_intent(const char *family, enum family_intent *ret)
{
    const struct family *f = find(family);
    if (f && ret) *ret = f->intent;
    return f != NULL;
}

const char *family_intent_word(enum family_intent intent)
{
    static const char *const words[INTENT_COUNT] = {"tunable", "incurable", "trap", "clean", "placebo", "self-healing"};
    return intent < INTENT_COUNT ? words[intent] : "?";
}

const char *family_about(const char *family)
{
    const struct family *f = find(family);
    return f ? f->about : "";
}

double draft_uniform(const struct draft *d, const char *what, double least, double most)
{
    struct prng p;
    prng_fork(&p, &d->root, what);
    return prng_between(&p, least, most);
}

double draft_log(const struct draft *d, const char *what, double least, double most)
{
    return least * stats_exp(draft_uniform(d, what, 0, 1) * stats_log(most / least));
}

int64_t draft_minutes(const struct draft *d, const char *what, double least, double most)
{
    return (int64_t)(60.0 * draft_log(d, what, least, most));
}

bool draft_coin(const struct draft *d, const char *what, double chance) { return draft_uniform(d, what, 0, 1) < chance; }

/* To what a person reads: whole numbers above 100, else five decimals. */
static double rounded(double v) { return fabs(v) >= 100 ? rint(v) : rint(v * 1e5) / 1e5; }

void draft_param(struct draft *d, const char *name, double value)
{
    unsigned i = 0;
    while (i < d->param_count && !text_eq(d->params[i].name, name)) i++;
    CHECK(i < DRAFT_PARAMS);
    d->params[i].name = name;
    d->params[i].value = rounded(value);
    if (i == d->param_count) d->param_count++;
}

static void add_fault(struct draft *d, enum fault_kind kind, double size, int64_t at_s, int64_t ramp_s, int64_t until_s)
{
    CHECK(d->fault_count < DRAFT_FAULTS);
    unsigned i = d->fault_count++;
    d->faults[i].kind = kind;
    d->faults[i].size = rounded(size);
    d->faults[i].at_s = at_s;
    d->faults[i].ramp_s = ramp_s;
    d->faults[i].until_s = until_s;
}

void draft_fault(struct draft *d, enum fault_kind kind, double size, int64_t ramp_s)
{
    add_fault(d, kind, size, d->onset_s, ramp_s, 0);
    if (d->duration_s < d->onset_s + ramp_s + USUAL_AFTER_S) d->duration_s = d->onset_s + ramp_s + USUAL_AFTER_S;
}

void draft_fault_between(struct draft *d, enum fault_kind kind, double size, int64_t at_s, int64_t until_s)
{
    add_fault(d, kind, size, at_s, 0, until_s);
}

void draft_line(struct draft *d, const char *list, const char *fmt, ...)
{
    CHECK(d->line_count < DRAFT_LINES);
    unsigned i = d->line_count++;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(d->lines[i].text, sizeof d->lines[i].text, fmt, ap);
    va_end(ap);
    CHECK(n > 0 && (size_t)n < sizeof d->lines[i].text);
    d->lines[i].list = list;
}

static void put_params(const struct draft *d, struct buf *out)
{
    if (d->param_count == 0) return;
    buf_puts(out, "plant: {");
    for (unsigned i = 0; i < d->param_count; i++) {
        buf_printf(out, "%s%s: ", i ? ", " : "", d->params[i].name);
        buf_double(out, d->params[i].value);
    }
    buf_puts(out, "}\n");
}

static void put_faults(const struct draft *d, struct buf *out)
{
    bool more = false;
    for (unsigned i = 0; i < d->line_count; i++) more = more || strcmp(d->lines[i].list, "faults") == 0;
    if (d->fault_count || more) buf_puts(out, "faults:\n");
    for (unsigned i = 0; i < d->fault_count; i++) {
        buf_printf(out, "  - {kind: %s, at: %llds", fault_word(d->faults[i].kind), (long long)d->faults[i].at_s);
        if (d->faults[i].ramp_s) buf_printf(out, ", ramp: %llds", (long long)d->faults[i].ramp_s);
        if (d->faults[i].until_s) buf_printf(out, ", until: %llds", (long long)d->faults[i].until_s);
        buf_puts(out, ", size: ");
        buf_double(out, d->faults[i].size);
        if (d->faults[i].kind == FAULT_BAD_INSTANCE) buf_printf(out, ", instance: %u", d->faults[i].instance);
        if (d->faults[i].kind == FAULT_RELEASE) buf_puts(out, ", version: v2");
        buf_puts(out, "}\n");
    }
    for (unsigned i = 0; i < d->line_count; i++)
        if (strcmp(d->lines[i].list, "faults") == 0) buf_printf(out, "  - %s\n", d->lines[i].text);
}

/* Entries of one list stand together in the file, whatever the order in which they were drawn. */
static void put_lines(const struct draft *d, struct buf *out)
{
    for (unsigned i = 0; i < d->line_count; i++) {
        bool first = strcmp(d->lines[i].list, "faults") != 0;   /* those stand with the plant's */
        for (unsigned k = 0; k < i; k++) first = first && strcmp(d->lines[k].list, d->lines[i].list) != 0;
        if (!first) continue;
        buf_printf(out, "%s:\n", d->lines[i].list);
        for (unsigned k = i; k < d->line_count; k++)
            if (strcmp(d->lines[k].list, d->lines[i].list) == 0) buf_printf(out, "  - %s\n", d->lines[k].text);
    }
}

static void put_scenario(const struct draft *d, const struct family *f, uint64_t seed, enum world_kind kind, struct buf *out)
{
    buf_printf(out, "# Family %s, seed %llu. Written by: trimtab simulate --family %s --seed %llu --print\n", f->name,
               (unsigned long long)seed, f->name, (unsigned long long)seed);
    buf_printf(out, "scenario: %s-%llu\nabout: ", f->name, (unsigned long long)seed);
    buf_json_string(out, f->about, strlen(f->about));
    buf_printf(out, "\nseed: %llu\nworld: %s\npolicy: reference\nmode: auto\n", (unsigned long long)seed,
               kind == WORLD_PLANT ? "plant" : "fluid");
    buf_printf(out, "history: %llds\nduration: %llds\n", (long long)d->history_s, (long long)d->duration_s);
    put_params(d, out);
    put_faults(d, out);
    put_lines(d, out);
}

static enum status no_family(const char *name, struct err *e)
{
    const char *const *names = family_names();
    size_t n = 0;
    while (names[n]) n++;
    const char *near = text_nearest(name, names, n);
    if (near) return err_set(e, STATUS_NOT_FOUND, "no family '%.60s'; did you mean '%s'?", name, near);
    return err_set(e, STATUS_NOT_FOUND, "no family '%.60s'; 'trimtab simulate --families' names them", name);
}

enum status family_write(const char *family, uint64_t seed, enum world_kind kind, struct buf *ret_yaml, struct err *e)
{
    const struct family *f = find(family);
    if (!f) return no_family(family, e);
    if (kind == WORLD_SCRIPT) return err_set(e, STATUS_INVALID, "a family draws worlds of kind plant or fluid, not script");
    struct prng seeded;
    struct draft d = {.history_s = USUAL_HISTORY_S};
    prng_seed(&seeded, seed);
    prng_fork(&d.root, &seeded, f->name);
    d.onset_s = draft_minutes(&d, "onset", 20, 60);
    d.duration_s = d.onset_s + USUAL_AFTER_S;
    f->draw(&d);
    put_scenario(&d, f, seed, kind, ret_yaml);
    return buf_ok(ret_yaml) ? STATUS_OK : err_set(e, STATUS_MEMORY, "no memory for the scenario of family %s", family);
}
