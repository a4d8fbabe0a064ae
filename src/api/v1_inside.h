/* Between the files v1*.c. */
#ifndef API_V1_INSIDE_H
#define API_V1_INSIDE_H

#include "api/emit.h"
#include "api/route_table.h"
#include "api/v1.h"

static inline const struct v1_port *v1_port_of(void *ctx) { return ((struct api *)ctx)->v1; }

/* An answer in the making: begin writes the head of the envelope, end sends it and ends the request. */
struct v1_answer { struct buf b; struct emit e; };
void v1_begin(struct v1_answer *a);
void v1_end(struct v1_answer *a, struct http_request *r);
void v1_drop(struct v1_answer *a);
/* The envelope of an error; `reason` is a stable word, "" none. */
void v1_refuse(struct http_request *r, enum status s, const char *text, const char *reason);
/* The same with a status and type of its own. */
void v1_error(struct http_request *r, int http, const char *type, const char *text, const char *reason);
void v1_done(struct http_request *r, const char *sentence);
/* Index of the service that the address or the text names; false: answered with 404. */
bool v1_service(struct api *api, struct http_request *r, const char *name, uint16_t *ret);
/* A whole number from the query; absent: `absent`. false: answered with 400. */
bool v1_number(struct http_request *r, const char *name, uint64_t absent, uint64_t most, uint64_t *ret);

/* "verified": the last check of the whole log, or null. */
void v1_audit_state_json(struct api *api, struct emit *e);

/* What status and health have in common: version, start, ready and why not. Fills run for the rest. */
void v1_runtime_json(struct api *api, struct emit *e, struct api_runtime *run);

void v1_modules_json(struct api *api, struct emit *e);

/* A request body: one JSON object whose keys are all known, each a text or a bool. */
#define V1_FIELDS_MAX 8
struct v1_field { const char *key; bool is_bool; size_t most; char text[257]; bool set, on; };
/* false: answered with 400. An empty body is an object without keys. */
bool v1_body(struct http_request *r, struct v1_field *fields, unsigned n);

/* The audit names the person who was recognised. Only the token of this machine's data folder speaks for others: its
 * holder says who, as the command line does. false: answered with 400. */
struct v1_caller { const char *by, *via; };
bool v1_caller(struct http_request *r, const struct v1_field *by, const struct v1_field *via, struct v1_caller *ret);
/* What somebody else has done or refused, as the answer: {done, detail}, or the error. ctx is the request. */
void v1_outcome(void *ctx, enum status s, const char *text, const char *detail);

#endif
