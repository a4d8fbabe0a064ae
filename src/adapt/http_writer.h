/* One read or write of one knob at one place over HTTP. */
#ifndef ADAPT_HTTP_WRITER_H
#define ADAPT_HTTP_WRITER_H

#include <stdbool.h>

#include "adapt/fetch.h"
#include "loop/event.h"
#include "model/policy.h"

struct http_writer_read {
    bool ok;
    struct knob_value value;       /* with its version where the target gives one */
    char why[160];
};
/* GET, JSON pointer, version header. `done` once, later. */
void http_writer_read(struct fetch *f, const struct access_def *def, const char *instance,
                      void (*done)(void *arg, const struct http_writer_read *r), void *arg);

struct http_writer_answer {
    enum answer_kind kind;
    char version[KNOB_VERSION_MAX];   /* of the answer; "" when absent */
    char text[200];                   /* for people: never a secret */
};
struct http_writer_order {
    const struct access_def *def, *read;       /* `read` names the version header */
    const char *instance, *version;            /* version: the one expected here; "" none */
    const struct knob_value *value, *old;
    bool (*may_send)(void *arg);               /* asked right before the bytes go out */
    void (*done)(void *arg, const struct http_writer_answer *a);
    void *arg;
};
/* Sends ONE request, never again whatever happens. A version becomes If-Match unless the templates use {version}
 * themselves. 2xx OK, 4xx REFUSED, else ERROR or TIMEOUT: in the last two the write may have happened. */
void http_writer_write(struct fetch *f, const struct http_writer_order *o);

#endif
