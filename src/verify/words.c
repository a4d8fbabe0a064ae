#include "verify/words.h"

#include <math.h>

#include "base/text.h"
#include "stats/elem.h"

static void signed_percent(struct buf *b, double ratio)
{
    if (ratio > 0) buf_putc(b, '+');
    buf_sig3(b, rint(ratio * 1000) / 10);
}

static void levels(struct buf *b, const struct verify_input *in, const struct verify_result *r)
{
    buf_puts(b, "; latency ");
    buf_sig3(b, r->median_before);
    buf_puts(b, " -> ");
    buf_sig3(b, r->median_after);
    if (in->unit && in->unit[0]) {
        buf_putc(b, ' ');
        buf_puts(b, in->unit);
    }
}

static void interval(struct buf *b, const struct verify_input *in, const struct verify_result *r)
{
    double sign = in->bad == BAD_DOWN ? -1 : 1;
    double one = stats_exp(sign * r->lo) - 1, two = stats_exp(sign * r->hi) - 1;
    buf_puts(b, " (");
    signed_percent(b, r->shift_ratio);
    if (isfinite(one) && isfinite(two)) {
        buf_puts(b, " %, 95 %: ");
        signed_percent(b, one < two ? one : two);
        buf_puts(b, " to ");
        signed_percent(b, one < two ? two : one);
    }
    buf_puts(b, " %)");
}

static void ratio(struct buf *b, const char *name, double v)
{
    if (isnan(v)) return;
    buf_puts(b, name);
    buf_sig3(b, v);
}

/* Parts in order of weight: a sentence that is cut loses the least. */
void verify_words(const struct verify_input *in, struct verify_result *r)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s: %s", verdict_name(r->verdict), r->why);
    if (!isnan(r->median_after)) levels(&b, in, r);
    if (!isnan(r->shift_log)) interval(&b, in, r);
    if (!isnan(r->queue_median)) {
        ratio(&b, "; queue ", r->queue_median);
        ratio(&b, ", limit ", r->queue_limit);
    }
    ratio(&b, "; throughput x", r->throughput_ratio);
    if (isnan(r->rho)) buf_puts(&b, "; load unknown");
    ratio(&b, "; load x", r->rho);
    if (r->jitter_after > r->jitter_limit) {
        ratio(&b, "; jitter ", r->jitter_after);
        ratio(&b, ", limit ", r->jitter_limit);
    }
    buf_printf(&b, "; %u and %u blocks", r->blocks_before, r->blocks_after);
    (void)text_copy(r->sentence, sizeof r->sentence, buf_text(&b));
    buf_free(&b);
}
