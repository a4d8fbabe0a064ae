#include "locate/locate.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "locate/row.h"

/* age(deploy) is that of the onset and sticks: a release incident stays one however long it lasts, and a version deployed in
 * the middle of another incident, say the one that mends it, does not make it one. */
static double sticky_age(double age_s, bool release_incident)
{
    double limit = span_seconds(LOCATE_RELEASE_AGE);
    if (!release_incident) return age_s < limit ? limit : age_s;
    if (isnan(age_s)) return 0;
    return age_s < limit ? age_s : limit - 1;
}

static void hold_deploy_age(struct evidence *e, bool release_incident)
{
    int at = needs_find(e->needs, (struct need){.fn = FN_AGE, .subject = AGE_DEPLOY});
    if (at < 0) return;
    struct datum *d = &e->items[at];
    d->value = sticky_age(d->why == WHY_KNOWN ? d->value : NAN, release_incident);
    if (!isnan(d->value)) d->why = WHY_KNOWN;
}

/* Measured causes of 10 to 30 % give way to true ones over 30 % further down; unmeasured ones keep their upstream place. */
static void let_promoted_pass(struct locate_row *rows, unsigned n)
{
    int furthest = -1;
    for (unsigned i = 0; i < n; i++)
        if (rows[i].promoted && rows[i].group > furthest) furthest = rows[i].group;
    for (unsigned i = 0; i < n; i++)
        if (rows[i].measured && !rows[i].promoted && rows[i].group < furthest) rows[i].group = furthest;
}

/* Larger shares first; those that cannot be told last. */
static int compare_share(double a, double b)
{
    double x = isnan(a) ? -1 : a, y = isnan(b) ? -1 : b;
    return x > y ? -1 : x < y;
}

/* Under 0 when a ranks before b. The contract stands in locate.h. */
static int compare(const struct locate_row *a, const struct locate_row *b)
{
    if (a->live != b->live) return a->live ? -1 : 1;
    if (a->first != b->first) return a->first ? -1 : 1;
    if (a->live && a->demoted != b->demoted) return a->demoted ? 1 : -1;
    if (a->group != b->group) return a->group - b->group;
    int share = compare_share(a->result.share, b->result.share);
    if (share) return share;
    if (a->result.known_signals != b->result.known_signals) return b->result.known_signals - a->result.known_signals;
    if (a->blast != b->blast) return a->blast - b->blast;
    return a->result.cause - b->result.cause;
}

static void sort(struct locate_row *rows, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        struct locate_row row = rows[i];
        unsigned to = i;
        for (; to > 0 && compare(&row, &rows[to - 1]) < 0; to--) rows[to] = rows[to - 1];
        rows[to] = row;
    }
}

/* The row with the smallest `rank:` that has not been placed; n when there is none. */
static unsigned next_ranked(const struct locate_row *rows, unsigned from, unsigned n, const bool placed[CAUSES_MAX])
{
    unsigned best = n;
    for (unsigned i = from; i < n; i++)
        if (rows[i].def->rank >= 0 && !placed[i] && (best == n || rows[i].def->rank < rows[best].def->rank)) best = i;
    return best;
}

/* `rank: N` in the playbook: the N-th place, from 0, among the causes that are true or unknown; the release stays in front.
 * The others fill the places between in their order. */
static void place_ranked(struct locate_row *rows, unsigned n)
{
    struct locate_row sorted[CAUSES_MAX];
    bool placed[CAUSES_MAX] = {false};
    unsigned first = 0, live = 0;
    while (live < n && rows[live].live) live++;
    while (first < live && rows[first].first) first++;
    unsigned other = first, ranked = next_ranked(rows, first, live, placed);
    for (unsigned place = first; place < live; place++) {
        while (other < live && rows[other].def->rank >= 0) other++;
        bool due = ranked < live && (other == live || rows[ranked].def->rank <= (int)(place - first));
        unsigned take = due ? ranked : other++;
        placed[take] = true;
        sorted[place] = rows[take];
        if (due) ranked = next_ranked(rows, first, live, placed);
    }
    memcpy(rows + first, sorted + first, (live - first) * sizeof *rows);
}

static enum cause_verdict verdict_of(const struct locate_row *row, bool *chosen)
{
    if (row->result.when == TRI_FALSE) return CAUSE_FALSE;
    if (row->result.when == TRI_UNKNOWN) return CAUSE_UNKNOWN;
    if (row->result.all_tried) return CAUSE_EXCLUDED;
    if (!*chosen) {
        *chosen = true;
        return CAUSE_CHOSEN;
    }
    return row->demoted ? CAUSE_DEMOTED : CAUSE_MATCHED;
}

static unsigned collect(const struct service_def *s, const struct evidence *e, const struct locate_context *ctx,
                        struct locate_row rows[CAUSES_MAX])
{
    unsigned n = 0;
    for (uint16_t i = 0; i < s->cause_count && n < CAUSES_MAX; i++) {
        uint16_t symptom = s->causes[i].symptom;
        if (symptom != NO_INDEX && symptom != ctx->symptom) continue;
        locate_judge(s, e, ctx, i, &rows[n++]);
    }
    return n;
}

void locate_rank(const struct service_def *s, const struct evidence *e, const struct locate_context *ctx,
                 struct cause_list *out)
{
    struct datum items[NEEDS_MAX];
    struct locate_row rows[CAUSES_MAX];
    struct evidence then = *e;
    CHECK(e->needs->n <= NEEDS_MAX);
    if (e->needs->n) memcpy(items, e->items, e->needs->n * sizeof items[0]);
    then.items = items;
    hold_deploy_age(&then, ctx->release_incident);
    unsigned n = collect(s, &then, ctx, rows);
    let_promoted_pass(rows, n);
    sort(rows, n);
    place_ranked(rows, n);
    bool chosen = false;
    out->n = (uint16_t)n;
    for (unsigned i = 0; i < n; i++) {
        out->items[i] = rows[i].result;
        out->items[i].verdict = verdict_of(&rows[i], &chosen);
    }
}
