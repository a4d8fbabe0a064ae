/* What changes something: commands of people, releases told by CI, imported history. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1_changed.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"

/* The request may have lost its peer meanwhile; answering then only frees it. */
void v1_outcome(void *ctx, enum status s, const char *text, const char *detail)
{
    struct http_request *r = ctx;
    struct v1_answer a;
    if (s != STATUS_OK) {
        v1_refuse(r, s, text, detail);
        return;
    }
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_text(&a.e, "done", text && text[0] ? text : "done");
    emit_text_or_null(&a.e, "detail", detail);
    emit_close(&a.e, '}');
    v1_end(&a, r);
}

static const struct { const char *word; enum command_verb verb; } verbs[] = {
    {"approve", COMMAND_APPROVE}, {"reject", COMMAND_REJECT}, {"halt", COMMAND_HALT}, {"halt-undo", COMMAND_HALT_UNDO},
    {"resume", COMMAND_RESUME}, {"cancel", COMMAND_CANCEL}, {"rollback", COMMAND_ROLLBACK}, {"retry", COMMAND_RETRY},
    {"normal-now", COMMAND_NORMAL_NOW},
};

/* The last part of the address. */
static bool verb_of(struct http_request *r, enum command_verb *ret)
{
    const char *word = strrchr(http_request_path(r), '/');
    for (unsigned i = 0; word && i < ARRAY_LEN(verbs); i++) {
        if (!text_eq(word + 1, verbs[i].word)) continue;
        *ret = verbs[i].verb;
        return true;
    }
    v1_refuse(r, STATUS_NOT_FOUND, "no such command", "");
    return false;
}

bool v1_caller(struct http_request *r, const struct v1_field *by, const struct v1_field *via, struct v1_caller *ret)
{
    const struct identity *who = http_request_who(r);
    if (via->set && !text_eq(via->text, "cli") && !text_eq(via->text, "api") && !text_eq(via->text, "console")) {
        v1_refuse(r, STATUS_INVALID, "via is cli, api or console", "");
        return false;
    }
    if (who->kind == IDENTITY_LOCAL) {
        *ret = (struct v1_caller){by->text[0] ? by->text : "local", via->text[0] ? via->text : "api"};
        return true;
    }
    if (by->text[0] && !text_eq(by->text, who->name)) {
        v1_refuse(r, STATUS_INVALID, "leave `by` out: who asks is known from the login", "");
        return false;
    }
    *ret = (struct v1_caller){who->name, who->kind == IDENTITY_TOKEN ? "api" : "console"};
    return true;
}

/* A decision about a request, until the loop has answered. */
struct deciding { struct api *api; struct http_request *r; uint16_t service; char request[65]; };

/* A refusal says what is different now: as a list for programs, in the sentence for people. */
static void refuse_with_changes(struct deciding *d, const char *text, const char *reason)
{
    struct arena arena = ARENA_INIT;
    struct service_view v;
    struct v1_request q;
    struct v1_changes c = {0};
    struct buf b = BUF_INIT, said = BUF_INIT;
    struct emit e = {.out = &b};
    d->api->control.view(d->api->control.ctx, d->service, &arena, &v);
    if (v1_request_find(v1_port_of(d->api), v.def->name, d->request, &arena, &q)) v1_changed_since(d->api, &v, &q, &c);
    buf_puts(&said, text);
    if (c.n) buf_puts(&said, ": ");
    v1_changes_say(&said, &c);
    emit_open(&e, NULL, '{');
    emit_text(&e, "status", "error");
    emit_text(&e, "errorType", "state");
    emit_text(&e, "error", buf_text(&said));
    if (reason && reason[0]) emit_text(&e, "reason", reason);
    v1_changes_json(&e, "changes", &c);
    emit_close(&e, '}');
    buf_putc(&b, '\n');
    http_reply_buf(d->r, 409, "application/json", &b);
    buf_free(&said);
    arena_free(&arena);
}

static void decided(void *ctx, enum status s, const char *text, const char *detail)
{
    struct deciding *d = ctx;
    if (s == STATUS_STATE) refuse_with_changes(d, text, detail);
    else v1_outcome(d->r, s, text, detail);
    free(d);
}

static void pass_on(struct api *api, struct http_request *r, uint16_t service, const struct command *c)
{
    bool decision = c->verb == COMMAND_APPROVE || c->verb == COMMAND_REJECT;
    struct deciding *d = decision ? calloc(1, sizeof *d) : NULL;
    if (decision && !d) {
        v1_refuse(r, STATUS_MEMORY, "out of memory; try again", "");
        return;
    }
    if (d) {
        *d = (struct deciding){.api = api, .r = r, .service = service};
        (void)text_copy(d->request, sizeof d->request, c->request ? c->request : "");
    }
    if (d) api->control.command(api->control.ctx, service, c, decided, d);
    else api->control.command(api->control.ctx, service, c, v1_outcome, r);
}

static bool send(struct api *api, struct http_request *r, uint16_t service, enum command_verb verb)
{
    enum { BY, VIA, REASON, ACTION, REQUEST, CLEAR, FIELDS };
    struct v1_field f[FIELDS] = {
        [BY] = {.key = "by", .most = 60}, [VIA] = {.key = "via", .most = 8}, [REASON] = {.key = "reason", .most = 190},
        [ACTION] = {.key = "action", .most = 96}, [REQUEST] = {.key = "request", .most = 64},
        [CLEAR] = {.key = "clear", .is_bool = true},
    };
    struct v1_caller caller;
    if (!v1_body(r, f, FIELDS) || !v1_caller(r, &f[BY], &f[VIA], &caller)) return false;
    struct command c = {
        .verb = verb,
        .by = caller.by,
        .via = caller.via,
        .role = http_request_who(r)->role,
        .reason = f[REASON].set ? f[REASON].text : NULL,
        .action = f[ACTION].set ? f[ACTION].text : NULL,
        .request = f[REQUEST].set ? f[REQUEST].text : NULL,
        .clear = f[CLEAR].on,
    };
    pass_on(api, r, service, &c);
    return true;
}

void v1_post_command(void *ctx, struct http_request *r)
{
    uint16_t service;
    enum command_verb verb;
    if (!verb_of(r, &verb) || !v1_service(ctx, r, http_request_param(r, "service"), &service)) return;
    (void)send(ctx, r, service, verb);
}

void v1_post_halt(void *ctx, struct http_request *r) { (void)send(ctx, r, ALL_SERVICES, COMMAND_HALT); }
void v1_post_resume(void *ctx, struct http_request *r) { (void)send(ctx, r, ALL_SERVICES, COMMAND_RESUME); }

void v1_post_event(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    enum { KIND, SERVICE, VERSION, BY, FIELDS };
    struct v1_field f[FIELDS] = {
        [KIND] = {.key = "kind", .most = 16}, [SERVICE] = {.key = "service", .most = 63},
        [VERSION] = {.key = "version", .most = 63}, [BY] = {.key = "by", .most = 60},
    };
    struct err e;
    uint16_t service;
    if (!v1_body(r, f, FIELDS)) return;
    if (!text_eq(f[KIND].text, "deploy")) {
        v1_refuse(r, STATUS_INVALID, "kind is deploy: {\"kind\":\"deploy\",\"service\":NAME,\"version\":TEXT}", "");
        return;
    }
    if (!v1_service(ctx, r, f[SERVICE].text, &service)) return;
    enum status s = port->deploy(port->ctx, service, f[VERSION].text, f[BY].text[0] ? f[BY].text : "token", &e);
    v1_outcome(r, s, s == STATUS_OK ? "the release is noted" : e.text, "");
}

/* ---- import ---- */

struct table {
    uint16_t signals[V1_IMPORT_SIGNALS];
    unsigned columns;                    /* without the time */
    struct wall *times;
    double *values;                      /* by column, then row */
    uint32_t n, cap;
};

struct cursor { const char *p, *end; unsigned line; };

static const char *cell(struct cursor *c, const char *stop, size_t *ret_len)
{
    const char *begin = c->p, *comma = memchr(c->p, ',', (size_t)(stop - c->p));
    const char *end = comma ? comma : stop;
    c->p = comma ? comma + 1 : stop;
    *ret_len = (size_t)(end - begin);
    return begin;
}

static const char *line_end(const struct cursor *c)
{
    const char *stop = memchr(c->p, '\n', (size_t)(c->end - c->p));
    return stop ? stop : c->end;
}

static void next_line(struct cursor *c, const char *stop)
{
    c->p = stop < c->end ? stop + 1 : stop;
    c->line++;
}

static enum status read_head(struct cursor *c, const struct service_def *s, struct table *t, struct err *e)
{
    const char *stop = line_end(c), *end = stop > c->p && stop[-1] == '\r' ? stop - 1 : stop;
    size_t len;
    const char *word = cell(c, end, &len);
    if (len != 9 || memcmp(word, "timestamp", 9) != 0) {
        return err_set(e, STATUS_INVALID, "line 1 names the columns: timestamp, then signals of the service");
    }
    while (c->p < end || (end > word && end[-1] == ',' && c->p == end && t->columns == 0)) {
        char name[POLICY_NAME_MAX + 1];
        word = cell(c, end, &len);
        snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), word);
        uint16_t i = service_signal(s, name);
        if (i == NO_INDEX) return err_set(e, STATUS_INVALID, "line 1: service %s has no signal '%s'", s->name, name);
        for (unsigned k = 0; k < t->columns; k++) {
            if (t->signals[k] == i) return err_set(e, STATUS_INVALID, "line 1: column '%s' comes twice", name);
        }
        if (t->columns == V1_IMPORT_SIGNALS) return err_set(e, STATUS_LIMIT, "line 1: too many columns");
        t->signals[t->columns++] = i;
    }
    next_line(c, stop);
    return t->columns ? STATUS_OK : err_set(e, STATUS_INVALID, "line 1 names no signal beside timestamp");
}

static enum status read_row(struct cursor *c, struct table *t, struct err *e)
{
    const char *stop = line_end(c), *end = stop > c->p && stop[-1] == '\r' ? stop - 1 : stop;
    char time[64];
    size_t len;
    const char *word = cell(c, end, &len);
    snprintf(time, sizeof time, "%.*s", (int)(len < sizeof time ? len : sizeof time - 1), word);
    if (!wall_parse(time, &t->times[t->n])) return err_set(e, STATUS_INVALID, "line %u: '%.40s' is not a time", c->line, time);
    if (t->n && t->times[t->n].us <= t->times[t->n - 1].us) {
        return err_set(e, STATUS_INVALID, "line %u: times must grow", c->line);
    }
    for (unsigned k = 0; k < t->columns; k++) {
        double *v = &t->values[(size_t)k * t->cap + t->n];
        word = cell(c, end, &len);
        *v = NAN;
        if (len && !num_parse_all(word, len, v)) {
            return err_set(e, STATUS_INVALID, "line %u: '%.*s' is not a number; leave it empty where nothing is known", c->line,
                           (int)(len < 40 ? len : 40), word);
        }
    }
    if (c->p < end) return err_set(e, STATUS_INVALID, "line %u has more columns than line 1", c->line);
    t->n++;
    next_line(c, stop);
    return STATUS_OK;
}

static uint32_t count_lines(const char *p, size_t len)
{
    uint32_t n = 1;
    for (size_t i = 0; i < len; i++) n += p[i] == '\n';
    return n;
}

static enum status read_table(const char *text, size_t len, const struct service_def *s, struct table *t, struct err *e)
{
    struct cursor c = {text, text + len, 1};
    enum status st = read_head(&c, s, t, e);
    if (st != STATUS_OK) return st;
    t->cap = count_lines(text, len);
    t->times = calloc(t->cap, sizeof *t->times);
    t->values = calloc((size_t)t->cap * t->columns, sizeof *t->values);
    if (!t->times || !t->values) return err_set(e, STATUS_MEMORY, "no memory for the rows; send fewer at once");
    while (c.p < c.end && st == STATUS_OK) {
        if (*c.p == '\n' || *c.p == '\r') next_line(&c, line_end(&c));
        else st = read_row(&c, t, e);
    }
    return st;
}

/* An import takes the place of all that was learned: who imports a part should know. */
static void imported(char *out, size_t cap, const struct table *t, unsigned signals, bool last)
{
    int n = snprintf(out, cap, "%u rows of %u of %u signals %s", t->n, t->columns, signals, last ? "imported" : "taken");
    if (last && t->columns < signals && n > 0 && (size_t)n < cap) snprintf(out + n, cap - (size_t)n, "; the others learn anew");
}

void v1_post_import(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    struct api *api = ctx;
    char name[64] = "", last[8] = "true", by[64] = "token", said[120];
    struct table t = {0};
    struct v1_series series[V1_IMPORT_SIGNALS];
    struct err e;
    uint16_t service;
    size_t len;
    const char *text = http_request_body(r, &len);
    (void)http_request_query(r, "service", name, sizeof name);
    (void)http_request_query(r, "last", last, sizeof last);
    (void)http_request_query(r, "by", by, sizeof by);
    if (!v1_service(api, r, name, &service)) return;
    if (!text_eq(last, "true") && !text_eq(last, "false")) {
        v1_refuse(r, STATUS_INVALID, "last is true or false", "");
        return;
    }
    enum status s = read_table(text, len, &api->control.policy(api->control.ctx)->services[service], &t, &e);
    for (unsigned k = 0; k < t.columns; k++) {
        series[k] = (struct v1_series){t.signals[k], t.times, t.values ? &t.values[(size_t)k * t.cap] : NULL, t.n};
    }
    if (s == STATUS_OK) s = port->import(port->ctx, service, series, t.columns, text_eq(last, "true"), by, &e);
    imported(said, sizeof said, &t, api->control.policy(api->control.ctx)->services[service].signal_count, text_eq(last, "true"));
    free(t.times);
    free(t.values);
    v1_outcome(r, s, s == STATUS_OK ? said : e.text, "");
}
