/* Running one case and judging its result. What needs native histograms is left out by rule and counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "promql/promql.h"
#include "promqltest/promqltest.h"

static struct promqltest_tally total;
static bool quiet;
static double tolerance = 1e-6;        /* that of Prometheus' own runner */

void promqltest_quiet(void) { quiet = true; }
void promqltest_tolerance(double relative) { tolerance = relative; }
struct promqltest_tally promqltest_total(void) { return total; }

/* ---- comparing ---- */

static bool same_number(double a, double b)
{
    if (isnan(a) && isnan(b)) return true;
    if (a == b) return true;
    if (isinf(a) || isinf(b)) return false;
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static bool same_labels(struct pq_labels a, struct pq_labels b)
{
    if (a.n != b.n) return false;
    for (uint32_t i = 0; i < a.n; i++)
        if (strcmp(a.items[i].name, b.items[i].name) != 0 || strcmp(a.items[i].value, b.items[i].value) != 0) return false;
    return true;
}

static bool complain(const struct eval_case *c, const char *why)
{
    if (!quiet) printf("FAIL %s:%u: %s\n     %s\n", c->file, c->line, c->expr, why);
    return false;
}

static bool check_vector(const struct eval_case *c, const struct pq_result *r)
{
    char why[512];
    if (r->n != c->expected_count) {
        snprintf(why, sizeof why, "%u series, expected %u", r->n, c->expected_count);
        return complain(c, why);
    }
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t k = 0;
        if (c->ordered) k = i;
        else
            while (k < c->expected_count && !same_labels(c->expected[k].labels, r->items[i].labels)) k++;
        if (k == c->expected_count || !same_labels(c->expected[k].labels, r->items[i].labels))
            return complain(c, "a series that is not expected, or in another place");
        double want = c->expected[k].n ? c->expected[k].samples[0].v : NAN;
        if (!same_number(r->items[i].v, want)) {
            snprintf(why, sizeof why, "%.17g, expected %.17g", r->items[i].v, want);
            return complain(c, why);
        }
    }
    return true;
}

static bool check_series(const struct eval_case *c, const struct pq_series *got, uint32_t n)
{
    char why[512];
    uint32_t want = 0;
    for (uint32_t i = 0; i < c->expected_count; i++) want += c->expected[i].n > 0;
    if (n != want) {
        snprintf(why, sizeof why, "%u series, expected %u", n, want);
        return complain(c, why);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < c->expected_count && !(c->expected[k].n && same_labels(c->expected[k].labels, got[i].labels))) k++;
        if (k == c->expected_count) return complain(c, "a series that is not expected");
        if (c->expected[k].n != got[i].n) {
            snprintf(why, sizeof why, "%u points, expected %u", got[i].n, c->expected[k].n);
            return complain(c, why);
        }
        for (uint32_t j = 0; j < got[i].n; j++) {
            struct pq_sample a = got[i].samples[j], b = c->expected[k].samples[j];
            if (a.t_ms == b.t_ms && same_number(a.v, b.v)) continue;
            snprintf(why, sizeof why, "%.17g at %lld ms, expected %.17g at %lld ms", a.v, (long long)a.t_ms, b.v,
                     (long long)b.t_ms);
            return complain(c, why);
        }
    }
    return true;
}

static bool check_notes(const struct eval_case *c, const struct pq_result *r)
{
    if (c->warn && !r->warnings) return complain(c, "a warning expected");
    if (c->info && !r->infos) return complain(c, "a note expected");
    if (c->no_warn && r->warnings) return complain(c, r->note);
    if (c->no_info && r->infos) return complain(c, r->note);
    return true;
}

static bool check_result(const struct eval_case *c, const struct pq_result *r)
{
    if (!check_notes(c, r)) return false;
    if (c->range || r->type == PQ_MATRIX) return check_series(c, r->series, r->series_n);
    if (r->type == PQ_STRING) {
        return (c->string && strcmp(c->string, r->string) == 0) || complain(c, "another text");
    }
    if (r->type == PQ_VECTOR) return check_vector(c, r);
    char why[200];
    snprintf(why, sizeof why, "%.17g, expected %.17g", r->scalar, c->scalar);
    return (c->scalar_given && same_number(r->scalar, c->scalar)) || complain(c, why);
}

/* ---- running ---- */

static void finish(bool ok)
{
    if (ok) total.passed++;
    else total.failed++;
}

/* Selects a series that holds native histograms. */
static bool touches_native(const struct pq *q, const struct storage *s)
{
    for (uint32_t i = 0; i < pq_selector_count(q); i++) {
        struct pq_selector sel;
        pq_selector(q, i, &sel);
        for (uint32_t k = 0; k < s->native_count; k++)
            if (promqltest_matches(s->native[k], sel.matchers, sel.n)) return true;
    }
    return false;
}

void promqltest_case(struct eval_case *c, struct storage *s)
{
    struct arena a = ARENA_INIT;
    struct pq_error pe;
    struct err err = {0};
    struct pq_result r;
    if (c->native_expected) { total.skipped++; return; }
    const struct pq *q = pq_compile(&a, c->expr, strlen(c->expr), &pe);
    if (!q) {
        if (promqltest_names_native(c->expr, s)) total.skipped++;
        else if (c->fail) finish(true);
        else finish(complain(c, pe.text));
    } else if (touches_native(q, s)) {
        total.skipped++;
    } else {
        struct pq_source source = {s, promqltest_select};
        enum status st = c->range ? pq_eval_range(q, &source, c->from, c->to, c->step, &a, &r, &err)
                                  : pq_eval(q, &source, c->from, &a, &r, &err);
        if (st != STATUS_OK) finish(c->fail || complain(c, err.text));
        else if (c->fail) finish(complain(c, "an error expected"));
        else finish(check_result(c, &r));
    }
    arena_free(&a);
}
