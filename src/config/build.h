/* Inside of the room: from nodes to the policy, one service at a time. */
#ifndef CONFIG_BUILD_H
#define CONFIG_BUILD_H

#include "config/load.h"
#include "config/preset.h"
#include "config/read.h"
#include "expr/expr.h"
#include "promql/promql.h"

struct config_build {
    struct config_diagnostics *d;
    struct config_options o;
    struct policy *p;
    struct arena trees;              /* nodes of the file and of presets; dies with the load */
    const struct config_node *profiles;
    struct config_value prometheus;  /* of the root */
    const struct config_node *shipped;   /* root of the default playbook, parsed on first use */
    const char **known;              /* names of signals that the default playbook speaks of */
    size_t known_count;
    struct config_preset *presets;   /* read so far */
    struct config_query *queries;    /* CONFIG_QUERIES slots: what a profile's query became, for all its services */
    const struct zone *zones[32]; unsigned zone_n;   /* read so far */
    bool no_memory;
};
#define CONFIG_QUERIES 2048
/* A preset as read. Its root holds what stands in a service, and `about`. */
struct config_preset {
    const char *name;
    const struct config_source *source;
    const struct config_node *root;
    struct config_preset *next;
};
struct config_query { const struct config_node *at; const char *text; const struct pq *query; };

/* One service while it is built. */
struct config_work {
    struct config_build *b;
    struct config_diagnostics *d;
    struct arena *arena;             /* the policy's */
    struct service_def *s;
    const struct config_node *node;
    struct config_service raw;
    bool signal_wrong[POLICY_SIGNALS_MAX];   /* reported: rules about it may stay silent */
    bool knob_wrong[POLICY_KNOBS_MAX];
    const struct config_node *knob_nodes[POLICY_KNOBS_MAX];
    struct config_knob knobs[POLICY_KNOBS_MAX];
    const struct config_node *signal_nodes[POLICY_SIGNALS_MAX];   /* names */
    const struct config_node *signal_blocks[POLICY_SIGNALS_MAX];
    bool cut;                        /* the file ends in the middle: what is missing is not known */
    unsigned rows_dropped, symptoms_dropped;
};

struct config_entry { const struct config_node *name, *value, *base; };

/* Entries of a MAP value: the service's, then those of its profile that it does not have. `cap` entries fit; more are an
 * error of the caller's word `what`. Names that are no names are reported and left out. */
uint32_t config_entries(struct config_work *w, const struct config_value *map, const char *what, struct config_entry *out,
                        uint32_t cap);
void *config_alloc(struct config_work *w, size_t n, size_t size);     /* in the policy; NULL marks the build as failed */
const char *config_copy(struct config_work *w, const char *text);     /* NULL stays NULL */
struct text_pos config_pos(const struct config_node *n);

/* service.c */
void config_build_web(struct config_build *b, const struct config_root *root);
void config_build_service(struct config_build *b, const struct config_node *node, struct service_def *s);
/* preset.c: by name, NULL: there is none (not reported) or it is no YAML; and the one that a place lies in, NULL: none. */
const struct config_preset *config_preset(struct config_build *b, const char *name);
const struct config_preset *config_preset_of(const struct config_build *b, const struct config_source *source);
/* merge.c: the profile (may be NULL) over the presets of the service, as one tree; NULL: neither. */
const struct config_node *config_base(struct config_work *w, const struct config_node *profile);
/* wording.c: a preset's query in the words of this service: its matchers and its range. false: it lies in no preset. */
bool config_worded(struct config_work *w, const struct config_node *query, struct buf *out);
void config_check_wording(struct config_work *w);
/* signal.c, judge.c */
void config_build_targets(struct config_work *w);
void config_build_signals(struct config_work *w);
void config_build_judge(struct config_work *w);
/* Index of a signal named by `v`; NO_INDEX when not given or wrong (reported). */
uint16_t config_signal(struct config_work *w, const struct config_value *v);
/* knob.c, ladder.c, access.c */
void config_build_knobs(struct config_work *w);
void config_finish_knobs(struct config_work *w);
bool config_build_ladder(struct config_work *w, const struct config_knob *raw, struct knob_def *k);
bool config_in_unit(struct config_work *w, const struct config_value *v, const char *what, enum unit unit, double *ret);
void config_check_tier(struct config_work *w, uint16_t knob);
void config_build_access(struct config_work *w, const struct config_knob *raw, const struct config_node *node,
                         struct knob_def *k);
/* Headers of requests as checked copies; at most as many as the table allows. Returns their number. */
uint16_t config_headers(struct config_work *w, const struct config_value *v, bool templates, const char **out);
/* prometheus.c: which server is asked; and, for the signals, what is asked beside each query. */
void config_build_source(struct config_work *w);
void config_build_remote_write(struct config_build *b, const struct config_value *v);
/* The keys that say how to reach a peer, of whichever block; NULL: the block has no such key. */
struct config_auth { const struct config_value *url, *bearer, *basic, *ca, *cert, *key; };
void config_check_auth(struct config_diagnostics *d, const struct config_auth *a);
/* receiver.c */
void config_build_receivers(struct config_build *b, const struct config_value *v);
void config_build_companions(struct config_work *w, struct signal_def *s);
/* timing.c */
void config_build_timing(struct config_work *w);
void config_build_windows(struct config_work *w);
/* freeze.c: after the services */
void config_build_freezes(struct config_build *b, const struct config_value *freeze, const struct config_value *maintenance);
/* rule.c */
const struct expr *config_rule(struct config_work *w, const struct config_value *v);
/* The first name in the rule that the service has not, in `name` with its place; false: it has all. */
bool config_rule_lacks(const struct config_work *w, const char *text, size_t len, char name[64], size_t *ret_at);
bool config_rule_names_wrong(const struct config_work *w, const char *text, size_t len);
/* Calls `see` for each word of the rule that may be a signal or knob; stops and returns true when it does. */
bool config_rule_words(const char *text, size_t len, bool (*see)(void *ctx, const char *word, size_t len, size_t at), void *ctx);
/* finer.c: a signal one step of whose resolution alone would make the rule true, NO_INDEX: none; and the refusal of it. */
uint16_t config_finer(struct config_work *w, const struct expr *rule);
void config_check_finer(struct config_work *w, const struct config_node *at, const struct expr *rule);
/* symptom.c, cause.c, try.c, shipped.c */
void config_build_symptoms(struct config_work *w);
void config_build_causes(struct config_work *w);
bool config_build_tries(struct config_work *w, const struct config_cause *raw, bool shipped, struct cause_def *c);
const struct config_node *config_shipped(struct config_build *b);
bool config_well_known(struct config_build *b, const char *name);    /* a signal that the default playbook speaks of */
bool config_includes_default(struct config_work *w);

#endif
