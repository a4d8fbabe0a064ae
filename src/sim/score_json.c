/* build/evaluation.json: one object, deterministic: no time, no machine, no commit. */
#include <math.h>
#include <string.h>

#include "sim/score.h"

#define FAMILIES_MAX 256

static void key(struct buf *out, const char *name, bool first) { buf_printf(out, "%s\"%s\":", first ? "" : ",", name); }

static void number(struct buf *out, const char *name, double v)
{
    key(out, name, false);
    if (isfinite(v)) buf_double(out, v);
    else buf_puts(out, "null");
}

static void rate(struct buf *out, const char *name, struct score_rate r)
{
    key(out, name, false);
    buf_printf(out, "{\"n\":%u,\"of\":%u", r.n, r.of);
    number(out, "rate", r.of ? (double)r.n / r.of : NAN);
    buf_putc(out, '}');
}

static void figures(struct buf *out, const struct score *s)
{
    buf_printf(out, "{\"runs\":%u,\"recovered\":{\"n\":%u,\"of\":%u", s->runs, s->recovered.n, s->recovered.of);
    number(out, "rate", s->recovered.of ? (double)s->recovered.n / s->recovered.of : NAN);
    number(out, "low", s->recovered_low);
    buf_putc(out, '}');
    rate(out, "recovered_to_normal", s->normal);
    rate(out, "first_acts_incurable", s->first_acts_incurable);
    rate(out, "second_acts_incurable", s->second_acts_incurable);
    rate(out, "placebo_acts", s->placebo_acts);
    rate(out, "placebo_kept", s->placebo_kept);
    rate(out, "placebo_kept_noisy", s->placebo_kept_noisy);
    rate(out, "self_healing_kept", s->self_healing_kept);
    rate(out, "self_healing_acts", s->self_healing_acts);
    rate(out, "quiet_acts", s->quiet_acts);
    rate(out, "detected", s->detected);
    number(out, "wrong_per_1000_service_years", s->wrong);
    number(out, "wrong_per_1000_service_years_high", s->wrong_high);
    number(out, "clean_service_years", s->clean_years);
    buf_printf(out, ",\"clean_acts\":%u,\"clean_incidents\":%u", s->clean_acts, s->clean_incidents);
    number(out, "false_incidents_per_service_week", s->false_incidents_week);
    number(out, "false_acts_per_service_week", s->false_acts_week);
    buf_printf(out, ",\"flips\":%u", s->flips);
    number(out, "flips_per_day", s->flips_day);
    number(out, "slo_minutes", s->slo_minutes);
    number(out, "slo_minutes_scaling_cures", s->slo_curable);
    number(out, "slo_minutes_scaling_cannot", s->slo_incurable);
    number(out, "detect_delay_s", s->detect_delay_s);
    number(out, "recover_s", s->recover_s);
    number(out, "undone_s", s->undone_s);
    number(out, "harm_minutes", s->harm_minutes);
    number(out, "regret", s->regret);
    number(out, "replica_hours", s->replica_hours);
}

struct families { const char *name[FAMILIES_MAX]; unsigned n; };

static void contender(struct buf *out, const struct score_list *l, unsigned who, unsigned trimtab, const struct families *families)
{
    struct score s;
    score_of(l->all, l->n, who, who, NULL, &s);
    figures(out, &s);
    if (who > trimtab) {                 /* a part of trimtab was taken out: the whole one in the same worlds */
        score_of(l->all, l->n, trimtab, who, NULL, &s);
        key(out, "trimtab_in_the_same_worlds", false);
        figures(out, &s);
        buf_putc(out, '}');
    }
    buf_puts(out, ",\"families\":{");
    bool first = true;
    for (unsigned f = 0; f < families->n; f++) {
        const char *name = families->name[f];
        score_of(l->all, l->n, who, who, name, &s);
        if (s.runs == 0) continue;
        if (!first) buf_putc(out, ',');
        first = false;
        buf_json_string(out, name, strlen(name));
        buf_putc(out, ':');
        figures(out, &s);
        buf_putc(out, '}');
    }
    buf_puts(out, "}}\n");
}

static void labels(struct buf *out, const struct score_list *l, const char *family)
{
    unsigned count[LABEL_COUNT] = {0}, harmful = 0, curable = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct evaluate_result *r = &l->all[i];
        if (r->broken || (family && strcmp(family, r->family) != 0)) continue;
        count[r->label]++;
        harmful += r->harmful_knob;
        curable += r->scaling_cures;
    }
    for (unsigned i = 0; i < LABEL_COUNT; i++) {
        buf_printf(out, "%s\"%s\":%u", i ? "," : "{", oracle_label_name((enum label)i), count[i]);
    }
    buf_printf(out, ",\"harmful-knob\":%u,\"scaling-cures\":%u}", harmful, curable);
}

static void errors(struct buf *out, const struct score_list *l)
{
    bool first = true;
    buf_puts(out, ",\"errors\":[");
    for (size_t i = 0; i < l->n; i++) {
        if (!l->all[i].broken) continue;
        if (!first) buf_putc(out, ',');
        first = false;
        buf_json_string(out, l->all[i].why, strlen(l->all[i].why));
    }
    buf_puts(out, "]");
}

static const char *policy_of(const struct score_list *l)
{
    const char *one = "";
    for (size_t i = 0; i < l->n; i++) {
        if (l->all[i].broken) continue;
        if (one[0] && strcmp(one, l->all[i].policy) != 0) return "several";
        one = l->all[i].policy;
    }
    return one;
}

void score_json(const struct score_list *l, struct buf *out)
{
    struct families families;
    unsigned n;
    families.n = score_families(l, families.name, FAMILIES_MAX);
    const struct contender *all = contender_list(&n);
    unsigned trimtab = (unsigned)(contender_find("trimtab") - all);
    buf_puts(out, "{\"command\":");
    buf_json_string(out, l->command, strlen(l->command));
    buf_printf(out, ",\"policy\":\"%s\",\"first_seed\":%llu,\"worlds\":%zu", policy_of(l), (unsigned long long)l->seed, l->n);
    errors(out, l);
    buf_puts(out, ",\"labels\":{\"all\":");
    labels(out, l, NULL);
    for (unsigned f = 0; f < families.n; f++) {
        buf_putc(out, ',');
        buf_json_string(out, families.name[f], strlen(families.name[f]));
        buf_putc(out, ':');
        labels(out, l, families.name[f]);
    }
    buf_puts(out, "}");
    for (unsigned i = 0; i < n; i++) {
        struct score s;
        score_of(l->all, l->n, i, i, NULL, &s);
        if (s.runs == 0 && i > trimtab) continue;
        buf_printf(out, ",\n\"%s\":", all[i].name);
        contender(out, l, i, trimtab, &families);
    }
    buf_puts(out, "}\n");
}
