/* What each plan and each incident counts as; docs/promotion.md is the contract. */
#include "app/report_inside.h"
#include "base/text.h"

static bool went_away(const struct report_incident *i, int64_t since, int64_t until)
{
    int64_t limit = since + REPORT_SETTLED.us;
    return i->closed != INT64_MAX && i->closed <= limit && i->closed <= until;
}

/* Feedback of a person says more than what the signals did; a verdict more than how long the incident lasted. */
static enum report_came judge_plan(const struct report_plan *p, const struct report_incident *i, int64_t until)
{
    if (text_eq(i->feedback, "false")) return REPORT_FALSE_PLAN;
    bool applied = p->how == REPORT_ACTED && !text_eq(p->ended, "ABORTED") && !text_eq(p->ended, "FAILED");
    if (applied) {
        if (text_eq(p->verdict, "effective") || text_eq(p->verdict, "partial")) return REPORT_HIT;
        if (text_eq(p->verdict, "ineffective") || text_eq(p->verdict, "harmful")) return REPORT_NO_HELP;
        return p->verdict[0] || i->closed != INT64_MAX ? REPORT_UNCLEAR : REPORT_PENDING;
    }
    if (i->feedback[0]) return REPORT_HIT;
    if (i->acted) return REPORT_UNCLEAR;             /* another action was tried meanwhile: this one cannot be told */
    if (went_away(i, p->at, until)) return REPORT_FALSE_PLAN;
    return until - p->at < REPORT_SETTLED.us ? REPORT_PENDING : REPORT_HIT;
}

static enum report_fate judge_incident(const struct report_incident *i, int64_t until)
{
    if (i->planned) return REPORT_PLANNED;
    if (text_eq(i->feedback, "false")) return REPORT_FALSE_ALARM;
    if (text_eq(i->handover, "advice-only") || text_eq(i->handover, "cannot-rule-out")) return REPORT_TOLD;
    if (text_starts(i->closed_gates, "no-user-impact")) return REPORT_ONLY;
    if (i->feedback[0]) return REPORT_MISS;
    if (went_away(i, i->opened, until)) return REPORT_PASSED;
    return until - i->opened < REPORT_SETTLED.us ? REPORT_OPEN : REPORT_MISS;
}

void report_judge(struct report *r)
{
    int64_t until = r->request.until.us;
    for (size_t k = 0; k < r->plan_n; k++) r->plans[k].came = judge_plan(&r->plans[k], &r->incidents[r->plans[k].incident], until);
    for (size_t k = 0; k < r->incident_n; k++) r->incidents[k].fate = judge_incident(&r->incidents[k], until);
}
