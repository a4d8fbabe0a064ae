/* Inside of `trimtab init`: what was found behind an address, and the configuration written from it. */
#ifndef APP_INIT_H
#define APP_INIT_H

#include "app/probe.h"

#define INIT_FOUND_MAX 8
#define INIT_SERVICES_MAX 32

struct init_found {                  /* one preset that knows what stands at one address */
    struct arena arena;
    struct preset_info info;
    struct policy *policy;           /* with all its signals, to ask for them */
    struct probe_signal signals[POLICY_SIGNALS_MAX];
    char url[600];                   /* of the page; "": a Prometheus server has it */
    char job[200];                   /* of the Prometheus server */
    bool exporter;                   /* tells nothing of requests: it stands beside a server */
};

struct init_service {
    char name[64];
    struct init_found *found[INIT_FOUND_MAX]; uint32_t n;
    char range[16];                  /* of rates, by the scrape interval of a Prometheus server; "": the presets' own */
};

struct init_plan {
    struct init_found *found[INIT_SERVICES_MAX * 2];
    uint32_t found_n;
    struct init_service services[INIT_SERVICES_MAX];
    uint32_t service_n;
    const char *objective;           /* as given; NULL: from what is measured now */
    const char *prometheus;          /* address of the server; NULL: the targets are scraped */
    char range[16];                  /* of the job at hand */
};

/* How a signal is asked for, in the order in which latency is looked for. NULL behind the last. */
extern const char *const init_latencies[];

struct init_found *init_found_new(struct init_plan *p, const struct preset_info *info);   /* NULL: no room */
void init_plan_free(struct init_plan *p);
/* Whether this service has the signal, and from which preset: the first that gives it. NULL: it has not. */
const struct probe_signal *init_signal(const struct init_service *s, const char *name, enum unit *ret_unit);

/* Reads each page, finds its presets and tries their signals. false: said on stderr. */
bool init_from_targets(struct init_plan *p, const char *const *urls, unsigned n, const char *name);
bool init_from_prometheus(struct init_plan *p, const char *name);
/* The file, commented. */
void init_write(struct buf *out, const struct init_plan *p);
/* Which of the four layers are empty, and what cannot be seen without them; each line after `margin`. */
void init_layers(struct buf *out, const struct init_service *s, const char *margin);

#endif
