/* The same figures for people: contender by figure, then families, then the goals. */
#include <math.h>
#include <string.h>

#include "sim/score.h"

#define FAMILIES_MAX 256

/* Left-aligned words, right-aligned figures. */
static void pad(struct buf *out, const struct buf *cell, int width)
{
    int gap = (width < 0 ? -width : width) - (int)cell->len;
    if (width < 0) buf_add(out, buf_text(cell), cell->len);
    for (int i = 0; i < gap; i++) buf_putc(out, ' ');
    if (width >= 0) buf_add(out, buf_text(cell), cell->len);
}

static void word(struct buf *out, const char *text, int width)
{
    struct buf b = BUF_INIT;
    buf_puts(&b, text);
    pad(out, &b, width);
    buf_free(&b);
}

static void share(struct buf *out, struct score_rate r, int width)
{
    struct buf b = BUF_INIT;
    if (r.of) buf_printf(&b, "%u/%u", r.n, r.of);
    else buf_putc(&b, '-');
    pad(out, &b, width);
    buf_free(&b);
}

static void figure(struct buf *out, double v, int digits, int width)
{
    struct buf b = BUF_INIT;
    if (isfinite(v)) buf_fixed(&b, v, digits);
    else buf_putc(&b, '-');
    pad(out, &b, width);
    buf_free(&b);
}

static void head(struct buf *out, const char *first)
{
    static const struct { const char *text; int width; } columns[] = {
        {"runs", 6}, {"recovered", 11}, {"low", 7}, {"1st inc", 9}, {"2nd inc", 9}, {"placebo", 9}, {"self-heal", 10}, {"quiet", 8},
        {"flips", 7}, {"slo min", 9}, {"detect s", 9}, {"recover s", 10}, {"harm min", 9}, {"regret", 8}, {"repl h", 8},
    };
    word(out, first, -26);
    for (unsigned i = 0; i < sizeof columns / sizeof columns[0]; i++) word(out, columns[i].text, columns[i].width);
    buf_putc(out, '\n');
}

static void line(struct buf *out, const char *name, const struct score *s)
{
    word(out, name, -26);
    figure(out, s->runs, 0, 6);
    share(out, s->recovered, 11);
    figure(out, s->recovered_low, 3, 7);
    share(out, s->first_acts_incurable, 9);
    share(out, s->second_acts_incurable, 9);
    share(out, s->placebo_kept, 9);
    share(out, s->self_healing_kept, 10);
    share(out, s->quiet_acts, 8);
    figure(out, s->flips, 0, 7);
    figure(out, s->slo_minutes, 1, 9);
    figure(out, s->detect_delay_s, 0, 9);
    figure(out, s->recover_s, 0, 10);
    figure(out, s->harm_minutes, 1, 9);
    figure(out, s->regret, 1, 8);
    figure(out, s->replica_hours, 1, 8);
    buf_putc(out, '\n');
}

static void clean(struct buf *out, const char *name, const struct score *s)
{
    if (!(s->clean_years > 0)) return;
    buf_printf(out, "  %s: ", name);
    buf_fixed(out, s->clean_years, 2);
    buf_printf(out, " service-years, %u acts, %u incidents; wrong a 1,000 service-years ", s->clean_acts, s->clean_incidents);
    buf_fixed(out, s->wrong, 2);
    buf_puts(out, ", at most ");
    buf_fixed(out, s->wrong_high, 2);
    buf_puts(out, " (95 %)\n");
}

/* ---- goals ---- */

static void goal(struct buf *out, const char *what, double got, double wanted, bool at_least, const char *more)
{
    bool known = isfinite(got), met = known && (at_least ? got >= wanted : got <= wanted);
    buf_printf(out, "  %s  ", !known ? "not measured" : met ? "met         " : "MISSED      ");
    word(out, what, -52);
    figure(out, got, 3, 9);
    buf_printf(out, "  wanted %s ", at_least ? ">=" : "<=");
    buf_fixed(out, wanted, 3);
    if (known && !met) {
        buf_puts(out, ", off by ");
        buf_fixed(out, fabs(got - wanted), 3);
    }
    buf_printf(out, "%s\n", more);
}

static double part(struct score_rate r) { return r.of ? (double)r.n / r.of : NAN; }

static void goals(struct buf *out, const struct score *s, const struct score *hpa)
{
    buf_puts(out, "\ngoals for trimtab\n");
    const char *few_runs = s->recovered.of < 400 ? "  (fewer than 400 runs)" : "";
    const char *few_years = s->clean_years < 3000 ? "  (fewer than 3,000 years)" : "";
    goal(out, "recovered on tunable, Wilson lower bound", s->recovered_low, 0.95, true, few_runs);
    goal(out, "first acts on incurable", part(s->first_acts_incurable), 0.01, false, "");
    goal(out, "second acts on incurable", part(s->second_acts_incurable), 0, false, "");
    goal(out, "placebo kept, block sd up to 8 %", part(s->placebo_kept), 0.05, false, "");
    goal(out, "self-healing kept", part(s->self_healing_kept), 0.20, false, "");
    goal(out, "wrong acts a 1,000 clean service-years, upper bound", s->wrong_high, 1, false, few_years);
    goal(out, "flips", s->flips, 0, false, "");
    goal(out, "SLO minutes over HPA's where scaling cannot cure", s->slo_incurable / hpa->slo_incurable, 0.20, false, "");
    goal(out, "SLO minutes over HPA's where scaling cures", s->slo_curable / hpa->slo_curable, 1, false, "");
}

/* ---- parts of the table ---- */

static void by_contender(struct buf *out, const struct score_list *l, const struct contender *all, unsigned n, unsigned trimtab)
{
    struct score s;
    head(out, "contender");
    for (unsigned i = 0; i < n; i++) {
        score_of(l->all, l->n, i, i, NULL, &s);
        if (s.runs) line(out, all[i].name, &s);
        if (s.runs == 0 || i <= trimtab) continue;
        score_of(l->all, l->n, trimtab, i, NULL, &s);
        line(out, "  (trimtab, same worlds)", &s);
    }
    buf_puts(out, "\nclean worlds\n");
    for (unsigned i = 0; i < n; i++) {
        score_of(l->all, l->n, i, i, NULL, &s);
        clean(out, all[i].name, &s);
    }
}

static void by_family(struct buf *out, const struct score_list *l, unsigned trimtab)
{
    const char *families[FAMILIES_MAX], *worst = NULL;
    unsigned nf = score_families(l, families, FAMILIES_MAX);
    double least = 2;
    struct score s;
    buf_puts(out, "\n");
    head(out, "trimtab, by family");
    for (unsigned f = 0; f < nf; f++) {
        score_of(l->all, l->n, trimtab, trimtab, families[f], &s);
        if (s.runs == 0) continue;
        line(out, families[f], &s);
        double got = part(s.recovered);
        if (s.recovered.of == 0 || !(got < least)) continue;
        least = got;
        worst = families[f];
    }
    if (!worst) return;
    buf_printf(out, "worst on tunable worlds: %s, ", worst);
    buf_fixed(out, 100 * least, 1);
    buf_puts(out, " % recovered\n");
}

static void by_label(struct buf *out, const struct score_list *l)
{
    unsigned count[LABEL_COUNT] = {0}, broken = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->all[i].broken) broken++;
        else count[l->all[i].label]++;
    }
    buf_printf(out, "%zu worlds:", l->n);
    for (unsigned i = 0; i < LABEL_COUNT; i++) buf_printf(out, " %u %s,", count[i], oracle_label_name((enum label)i));
    buf_printf(out, " %u with errors\n\n", broken);
}

void score_table(const struct score_list *l, struct buf *out)
{
    unsigned n;
    const struct contender *all = contender_list(&n);
    unsigned trimtab = (unsigned)(contender_find("trimtab") - all), hpa = (unsigned)(contender_find("hpa") - all);
    struct score s, h;
    by_label(out, l);
    by_contender(out, l, all, n, trimtab);
    by_family(out, l, trimtab);
    score_of(l->all, l->n, trimtab, hpa, NULL, &s);
    score_of(l->all, l->n, hpa, trimtab, NULL, &h);
    if (s.runs == 0) score_of(l->all, l->n, trimtab, trimtab, NULL, &s);
    goals(out, &s, &h);
}
