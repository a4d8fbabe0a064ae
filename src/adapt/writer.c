#include "adapt/writer.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/fetch.h"
#include "adapt/file_writer.h"
#include "adapt/http_writer.h"
#include "base/check.h"
#include "base/text.h"

struct job;

/* One instance of a job. */
struct part { struct job *job; uint16_t index; };

struct job {
    struct writer *owner;
    struct job *next;
    bool is_write;
    struct adapt_place place;
    uint16_t n, left;
    struct part parts[READ_INSTANCES_MAX];
    struct read_vector vector;         /* read */
    /* write */
    uint32_t action, epoch;
    bool is_undo;
    bool (*may_send)(void *halt_ctx, uint16_t service, uint32_t epoch, bool is_undo);
    void *halt_ctx;
    uint16_t kinds[ANSWER_NOT_SENT + 1];
    char versions[KNOB_VERSION_MAX * 4], text[200];
};

struct writer {
    const struct adapt *a;
    struct job *out;                   /* under way */
    struct job *ready;                 /* ended in the call itself; delivered by `later` */
    struct event *later;
    struct writer_counters counters;
};

static void unlink_job(struct job **list, struct job *j)
{
    for (; *list; list = &(*list)->next) {
        if (*list == j) {
            *list = j->next;
            return;
        }
    }
}

/* The kinds of all instances as one: refused only when all refused, sent unless none was. */
static enum answer_kind kind_of(const struct job *j)
{
    const uint16_t *k = j->kinds;
    if (k[ANSWER_OK] == j->n) return ANSWER_OK;
    if (k[ANSWER_NOT_SENT] == j->n) return ANSWER_NOT_SENT;
    if (k[ANSWER_REFUSED] == j->n) return ANSWER_REFUSED;
    return k[ANSWER_TIMEOUT] ? ANSWER_TIMEOUT : ANSWER_ERROR;
}

static void deliver(struct job *j)
{
    struct writer *w = j->owner;
    struct event e = {.kind = j->is_write ? EVENT_ANSWER : EVENT_READ};
    if (j->is_write) {
        e.u.answer.kind = kind_of(j);
        e.u.answer.action = j->action;
        e.u.answer.version = j->versions[0] ? j->versions : NULL;
        e.u.answer.text = j->text;
        w->counters.answers[e.u.answer.kind]++;
    } else {
        e.u.read.vector = &j->vector;
        w->counters.reads++;
        if (j->vector.failed) w->counters.failed_reads++;
    }
    if (adapt_find_knob(w->a, &j->place)) {
        e.service = j->place.service_index;
        if (j->is_write) e.u.answer.knob = j->place.item_index;
        else e.u.read.knob = j->place.item_index;
        w->a->sink.deliver(w->a->sink.ctx, &e);
    }
    free(j);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    struct writer *w = arg;
    (void)fd;
    (void)what;
    while (w->ready) {
        struct job *j = w->ready;
        w->ready = j->next;
        deliver(j);
    }
}

static void end_later(struct job *j)
{
    struct writer *w = j->owner;
    struct timeval now = {0, 0};
    struct job **end = &w->ready;
    unlink_job(&w->out, j);
    while (*end) end = &(*end)->next;
    j->next = NULL;
    *end = j;
    CHECK_MEMORY(evtimer_add(w->later, &now) == 0);
}

static void part_ended(struct job *j)
{
    if (--j->left > 0) return;
    unlink_job(&j->owner->out, j);
    deliver(j);
}

static struct job *job_new(struct writer *w, const struct policy *p, uint16_t service, uint16_t knob, bool per_instance)
{
    struct job *j = calloc(1, sizeof *j);
    CHECK_MEMORY(j);
    j->owner = w;
    j->place = adapt_place_knob(p, service, knob);
    j->n = per_instance ? service_instances(&p->services[service]) : 1;
    if (j->n > READ_INSTANCES_MAX) j->n = READ_INSTANCES_MAX;
    j->left = j->n;
    for (uint16_t i = 0; i < j->n; i++) j->parts[i] = (struct part){j, i};
    j->next = w->out;
    w->out = j;
    return j;
}

static const char *instance_of(const struct service_def *s, const struct access_def *def, uint16_t i)
{
    uint16_t all = service_instances(s);
    return i < all && (def->per_instance || all == 1) ? s->targets[i].instance : NULL;
}

/* ---- read ---- */

static void store_read(struct job *j, uint16_t i, bool ok, const struct knob_value *value, const char *why)
{
    if (ok) {
        j->vector.values[i] = *value;
        return;
    }
    if (j->vector.failed++ == 0) (void)text_copy(j->vector.why, sizeof j->vector.why, why);
}

static void on_read(void *arg, const struct http_writer_read *r)
{
    struct part *p = arg;
    store_read(p->job, p->index, r->ok, &r->value, r->why);
    part_ended(p->job);
}

static void read_knob(void *ctx, const struct policy *p, uint16_t service, uint16_t knob)
{
    struct writer *w = ctx;
    const struct service_def *s = &p->services[service];
    const struct access_def *def = &s->knobs[knob].read;
    struct job *j = job_new(w, p, service, knob, def->per_instance);
    j->vector.n = j->n;
    if (def->kind == ACCESS_HTTP && j->n > 0) {
        for (uint16_t i = 0; i < j->n; i++) {
            http_writer_read(w->a->fetch, def, instance_of(s, def, i), on_read, &j->parts[i]);
        }
        return;
    }
    struct knob_value value = {0};
    j->vector.n = 1;
    char why[160] = "the knob has no way to be read, or its service no target";
    bool ok = def->kind == ACCESS_FILE && file_writer_read(def, &value, why);
    store_read(j, 0, ok, &value, why);
    end_later(j);
}

/* ---- write ---- */

static bool may_send(void *arg)
{
    struct part *p = arg;
    struct job *j = p->job;
    return adapt_find_knob(j->owner->a, &j->place) &&
           j->may_send(j->halt_ctx, j->place.service_index, j->epoch, j->is_undo);
}

static void add_version(struct job *j, uint16_t i, const char *version)
{
    (void)i;
    size_t used = strlen(j->versions), n = strlen(version);
    if (n == 0 || used + n + 2 > sizeof j->versions) return;
    memcpy(j->versions + used, version, n + 1);
    if (j->n > 1) memcpy(j->versions + used + n, "\n", 2);
}

static void on_answer(void *arg, const struct http_writer_answer *a)
{
    struct part *p = arg;
    struct job *j = p->job;
    j->kinds[a->kind]++;
    add_version(j, p->index, a->version);
    if (a->kind != ANSWER_OK || !j->text[0]) (void)text_copy(j->text, sizeof j->text, a->text);
    part_ended(j);
}

/* With several instances the expected version is theirs one after the other, each with a line end. */
static void version_of(const struct knob_value *expect, uint16_t n, uint16_t i, char out[KNOB_VERSION_MAX + 1])
{
    const char *at = expect->version, *end = at + expect->version_len;
    for (; n > 1 && i > 0 && at < end; i--) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        at = line ? line + 1 : end;
    }
    const char *stop = n > 1 ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    size_t len = (size_t)((stop ? stop : end) - at);
    memcpy(out, at, len);
    out[len] = '\0';
}

static void write_http(struct job *j, const struct service_def *s, const struct knob_def *k, const struct effect *write)
{
    for (uint16_t i = 0; i < j->n; i++) {
        char version[KNOB_VERSION_MAX + 1];
        version_of(write->u.write.expect, j->n, i, version);
        http_writer_write(j->owner->a->fetch, &(struct http_writer_order){
            .def = &k->write, .read = &k->read, .instance = instance_of(s, &k->write, i), .version = version,
            .value = write->u.write.value, .old = write->u.write.expect, .may_send = may_send, .done = on_answer,
            .arg = &j->parts[i]});
    }
}

static void write_knob(void *ctx, const struct policy *p, uint16_t service, const struct effect *write,
                       bool (*may)(void *halt_ctx, uint16_t service, uint32_t epoch, bool is_undo), void *halt_ctx)
{
    struct writer *w = ctx;
    const struct service_def *s = &p->services[service];
    const struct knob_def *k = &s->knobs[write->u.write.knob];
    struct job *j = job_new(w, p, service, write->u.write.knob, k->write.per_instance);
    j->is_write = true;
    j->action = write->u.write.action;
    j->epoch = write->u.write.epoch;
    j->is_undo = write->u.write.is_undo;
    j->may_send = may;
    j->halt_ctx = halt_ctx;
    w->counters.writes++;
    if (!write->u.write.dry && k->write.kind == ACCESS_HTTP && j->n > 0) {
        write_http(j, s, k, write);
        return;
    }
    enum answer_kind kind = ANSWER_NOT_SENT;
    if (write->u.write.dry) {
        snprintf(j->text, sizeof j->text, "dry run: nothing was sent");
    } else if (k->write.kind == ACCESS_FILE) {
        char why[160];
        kind = file_writer_write(&k->write, k->read.pointer, write->u.write.value, write->u.write.expect, may_send, &j->parts[0],
                                 why);
        (void)text_copy(j->text, sizeof j->text, why);
    } else {
        snprintf(j->text, sizeof j->text, "the knob has no way to be written, or its service no target");
    }
    j->n = 1;
    j->kinds[kind]++;
    end_later(j);
}

/* ---- life ---- */

struct writer *writer_new(const struct adapt *a)
{
    struct writer *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->a = a;
    w->later = evtimer_new(a->base, on_later, w);
    if (!w->later) {
        free(w);
        return NULL;
    }
    return w;
}

static void free_jobs(struct job *j)
{
    while (j) {
        struct job *next = j->next;
        free(j);
        j = next;
    }
}

void writer_free(struct writer *w)
{
    if (!w) return;
    free_jobs(w->out);
    free_jobs(w->ready);
    event_free(w->later);
    free(w);
}

struct writer_port writer_port(struct writer *w) { return (struct writer_port){w, read_knob, write_knob}; }
void writer_counters(const struct writer *w, struct writer_counters *ret) { *ret = w->counters; }

bool writer_busy(const struct writer *w)
{
    for (const struct job *j = w->out; j; j = j->next) {
        if (j->is_write) return true;
    }
    return false;
}
