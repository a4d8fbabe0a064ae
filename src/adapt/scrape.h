/* Pages of targets: source_port of the daemon. EFFECT_POLL in, EVENT_PAGE out. A target that is asked again while its
 * answer is still under way is not asked twice; the one answer counts. */
#ifndef ADAPT_SCRAPE_H
#define ADAPT_SCRAPE_H

#include "adapt/adapt.h"
#include "adapt/fetch.h"

struct scrape;

struct scrape_counters {
    uint64_t pages[PAGE_REDIRECT + 1];   /* by outcome */
    uint64_t bytes;                           /* unzipped, of good pages */
    double seconds;                           /* wall time of all of them */
};

struct scrape *scrape_new(const struct adapt *a);   /* NULL: out of memory */
void scrape_free(struct scrape *s);                 /* takes NULL; after fetch_free */
struct source_port scrape_port(struct scrape *s);
void scrape_counters(const struct scrape *s, struct scrape_counters *ret);

#endif
