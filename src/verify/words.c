#include "verify/words.h"

#include <math.h>

#include "base/text.h"
#include "stats/elem.h"

static void percent(struct buf *b, double ratio)
{
    buf_sig3(b, rint(fabs(ratio) * 1000) / 10);
}

/* ". Latency 46.8 -> 38.6 ms" */
static void levels(struct buf *b, const struct verify_input *in, const struct verify_result *r)
{
    buf_puts(b, ". Latency ");
    buf_sig3(b, r->median_before);
    buf_puts(b, " -> ");
    buf_sig3(b, r->median_after);
    if (in->unit && in->unit[0]) {
        buf_putc(b, ' ');
        buf_puts(b, in->unit);
    }
}

/* ", 17.5 % lower (sure: 14 to 21 % lower)"; where both sides of nothing are possible: "(sure: 3 % lower to 5 % higher)". */
static void interval(struct buf *b, const struct verify_input *in, const struct verify_result *r)
{
    double sign = in->bad == BAD_DOWN ? -1 : 1;
    double one = stats_exp(sign * r->lo) - 1, two = stats_exp(sign * r->hi) - 1;
    double low = one < two ? one : two, high = one < two ? two : one;
    buf_puts(b, ", ");
    percent(b, r->shift_ratio);
    buf_puts(b, r->shift_ratio < 0 ? " % lower" : " % higher");
    if (!isfinite(low) || !isfinite(high)) return;
    buf_puts(b, " (sure: ");
    percent(b, high < 0 ? high : low);
    if (low < 0 && high >= 0) buf_puts(b, " % lower");
    buf_puts(b, " to ");
    percent(b, high < 0 ? low : high);
    buf_puts(b, high < 0 ? " % lower)" : " % higher)");
}

/* ". Throughput 3 % lower", and nothing where it is as before: within half a percent. */
static void against_before(struct buf *b, const char *name, double ratio)
{
    if (isnan(ratio)) return;
    buf_printf(b, ". %s ", name);
    if (fabs(ratio - 1) < 0.005) {
        buf_puts(b, "as before");
        return;
    }
    percent(b, ratio - 1);
    buf_puts(b, ratio < 1 ? " % lower" : " % higher");
}

static void queue(struct buf *b, const struct verify_result *r)
{
    if (isnan(r->queue_median)) return;
    buf_puts(b, ". ");
    buf_sig3(b, r->queue_median);
    buf_puts(b, " wait in the queue");
    if (isnan(r->queue_limit)) return;
    buf_puts(b, ", at most ");
    buf_sig3(b, r->queue_limit);
    buf_puts(b, " may");
}

static void jitter(struct buf *b, const struct verify_result *r)
{
    if (!(r->jitter_after > r->jitter_limit)) return;
    buf_puts(b, ". It jumps by ");
    buf_sig3(b, r->jitter_after);
    buf_puts(b, " from one half minute to the next, at most ");
    buf_sig3(b, r->jitter_limit);
    buf_puts(b, " may");
}

/* Parts in order of weight: a sentence that is cut loses the least. */
void verify_words(const struct verify_input *in, struct verify_result *r)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s: %s", verdict_name(r->verdict), r->why);
    if (!isnan(r->median_after)) levels(&b, in, r);
    if (!isnan(r->shift_log)) interval(&b, in, r);
    jitter(&b, r);
    queue(&b, r);
    against_before(&b, "Throughput", r->throughput_ratio);
    against_before(&b, "Load", r->rho);
    if (isnan(r->rho)) buf_puts(&b, ". The load is not measured");
    (void)text_copy(r->sentence, sizeof r->sentence, buf_text(&b));
    buf_free(&b);
}
