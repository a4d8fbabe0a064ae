/* What people are shown about a service, as JSON. What is not known is null, with a `why` beside it. */
#ifndef API_VIEW_JSON_H
#define API_VIEW_JSON_H

#include "api/emit.h"
#include "model/policy.h"
#include "model/record.h"
#include "model/view.h"

/* One of many. recent: newest values of the judging latency, NaN where unknown; NULL: without. */
void view_json_line(struct emit *e, const char *key, const struct service_view *v, const float *recent, uint32_t recent_n);
void view_json_service(struct emit *e, const char *key, const struct service_view *v);  /* all of one */
/* Why nothing happens, or what does: one sentence, then the gates, shut ones first. */
void view_json_explain(struct emit *e, const char *key, const struct service_view *v);
void view_json_symptoms(struct emit *e, const char *key, const struct service_view *v);
void view_json_record(struct emit *e, const char *key, uint64_t seq, const struct record *r);
void view_json_knob_rules(struct emit *e, const struct knob_def *k);   /* its keys only: inside an object of the caller */
void view_json_knob_now(struct emit *e, const char *key, const struct service_view *v, uint16_t i);
/* The configuration in force, secrets left out: of headers the names only, of addresses no query and no user. */
void view_json_config(struct emit *e, const char *key, const struct policy *p);

#endif
