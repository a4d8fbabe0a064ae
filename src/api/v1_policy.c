/* What may be done: symptoms, playbook, knobs and windows as they are in force; earlier revisions and what changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1_inside.h"
#include "api/view_json.h"
#include "base/check.h"
#include "base/text.h"

#define DIFF_LINES_MAX 2000

/* ---- in force ---- */

static void symptoms_json(const struct v1_port *port, struct emit *e, const struct service_def *s)
{
    emit_open(e, "symptoms", '[');
    for (uint16_t i = 0; i < s->symptom_count; i++) {
        const struct symptom_def *d = &s->symptoms[i];
        emit_open(e, NULL, '{');
        emit_text(e, "name", d->name);
        emit_text(e, "when", port->rule(d->when));
        emit_text(e, "clear", port->rule(d->clear));
        emit_bool(e, "slo", d->slo);
        emit_bool(e, "request_layer", d->request_layer);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void playbook_json(const struct v1_port *port, struct emit *e, const struct service_def *s)
{
    emit_open(e, "playbook", '[');
    for (uint16_t i = 0; i < s->cause_count; i++) {
        const struct cause_def *c = &s->causes[i];
        emit_open(e, NULL, '{');
        emit_text(e, "id", c->id);
        emit_text(e, "cause", c->name);
        emit_text(e, "group", cause_group_name(c->group));
        emit_text(e, "symptom", c->symptom < s->symptom_count ? s->symptoms[c->symptom].name : NULL);
        emit_text(e, "when", port->rule(c->when));
        emit_open(e, "try", '[');
        for (uint16_t k = 0; k < c->try_count; k++) {
            emit_open(e, NULL, '{');
            if (c->tries[k].knob == NO_INDEX) {
                emit_text(e, "advice", c->tries[k].advice);
            } else {
                emit_text(e, "knob", s->knobs[c->tries[k].knob].name);
                emit_text(e, "direction", direction_name(c->tries[k].direction));
            }
            emit_close(e, '}');
        }
        emit_close(e, ']');
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void ladder_json(struct emit *e, const struct knob_def *k)
{
    struct buf b = BUF_INIT;
    if (k->ladder == LADDER_LIST) {
        for (uint16_t i = 0; i < k->rung_count; i++) {
            if (i) buf_puts(&b, ", ");
            buf_double(&b, k->rungs[i]);
        }
    } else {
        buf_puts(&b, k->ladder == LADDER_STEP ? "+" : "x");
        buf_double(&b, k->ladder_by);
    }
    emit_text(e, "ladder", buf_text(&b));
    buf_free(&b);
}

static void knobs_json(const struct v1_port *port, struct emit *e, const struct service_view *v)
{
    const struct service_def *s = v->def;
    emit_open(e, "knobs", '[');
    for (uint16_t i = 0; i < s->knob_count; i++) {
        const struct knob_def *k = &s->knobs[i];
        emit_open(e, NULL, '{');
        view_json_knob_rules(e, k);
        ladder_json(e, k);
        emit_text(e, "precondition", port->rule(k->precondition));
        emit_text(e, "mode", mode_name(s->class_mode[k->class]));
        view_json_knob_now(e, "now", v, i);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void clock_of(struct emit *e, const char *key, uint16_t minutes)
{
    char text[16];
    snprintf(text, sizeof text, "%02u:%02u", minutes / 60u, minutes % 60u);
    emit_text(e, key, text);
}

static void windows_json(struct emit *e, const struct service_def *s)
{
    emit_open(e, "windows", '[');
    for (uint16_t i = 0; i < s->window_count; i++) {
        const struct window_def *w = &s->windows[i];
        emit_open(e, NULL, '{');
        emit_text(e, "name", w->name);
        emit_open(e, "weekdays", '[');
        for (int d = 0; d < 7; d++) {
            if (w->weekdays >> d & 1) emit_int(e, NULL, d + 1);
        }
        emit_close(e, ']');
        clock_of(e, "from", w->from_min);
        clock_of(e, "to", w->to_min);
        emit_int(e, "utc_offset_seconds", w->offset_s);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void limits_json(struct emit *e, const struct policy *p, const struct service_def *s)
{
    emit_open(e, "limits", '{');
    emit_seconds(e, "settle_seconds", s->timing.settle);
    emit_seconds(e, "window_seconds", s->timing.window);
    emit_seconds(e, "approval_seconds", s->timing.approval);
    emit_seconds(e, "release_watch_seconds", s->timing.release_watch);
    emit_seconds(e, "renotify_seconds", s->timing.renotify);
    emit_number(e, "fleet_in_flight", p->fleet_fraction);
    emit_int(e, "fleet_per_hour", p->fleet_per_hour);
    emit_int(e, "automatic_in_a_row", 3);                 /* spec: never a fourth without a person */
    emit_close(e, '}');
}

static void policy_json(struct api *api, struct emit *e, const struct policy *p, uint16_t i)
{
    const struct service_def *s = &p->services[i];
    struct arena arena = ARENA_INIT;
    struct service_view v;
    api->control.view(api->control.ctx, i, &arena, &v);
    emit_open(e, NULL, '{');
    emit_text(e, "name", s->name);
    emit_text_or_null(e, "environment", s->environment);
    emit_text_or_null(e, "group", s->group);
    emit_text(e, "mode", mode_name(s->mode));
    emit_open(e, "class_mode", '{');
    for (unsigned c = 0; c < CLASS_COUNT; c++) emit_text(e, class_name((enum action_class)c), mode_name(s->class_mode[c]));
    emit_close(e, '}');
    if (s->judge.latency < s->signal_count && s->judge.objective > 0) {
        emit_number(e, "objective", s->judge.objective);
        emit_text(e, "objective_unit", unit_name(s->signals[s->judge.latency].unit));
    } else {
        emit_null(e, "objective");
        emit_null(e, "objective_unit");
    }
    symptoms_json(api->v1, e, s);
    playbook_json(api->v1, e, s);
    knobs_json(api->v1, e, &v);
    limits_json(e, p, s);
    windows_json(e, s);
    emit_close(e, '}');
    arena_free(&arena);
}

void v1_get_policy(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    const struct policy *p = api->control.policy(api->control.ctx);
    char name[64] = "";
    struct api_runtime run = {0};
    struct v1_answer a;
    uint16_t only = NO_INDEX;
    uint64_t limit;
    if (http_request_query(r, "service", name, sizeof name) && !v1_service(api, r, name, &only)) return;
    if (!v1_number(r, "limit", 100, V1_LIMIT_MAX, &limit)) return;
    api->runtime(api->ctx, &run);
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_text(&a.e, "revision", p->revision);
    emit_text_or_null(&a.e, "path", p->path);
    emit_wall(&a.e, "loaded", (struct wall){(int64_t)(run.reload_seconds * 1e6)});
    emit_int(&a.e, "service_count", p->service_count);
    emit_open(&a.e, "services", '[');
    for (uint16_t i = 0; i < p->service_count && (only != NO_INDEX || i < limit); i++) {
        if (only == NO_INDEX || only == i) policy_json(api, &a.e, p, i);
    }
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    v1_end(&a, r);
}

/* ---- revisions ---- */

struct revisions { struct emit *e; const char *now; unsigned n; };

static bool add_revision(void *arg, const struct v1_revision *x)
{
    struct revisions *l = arg;
    emit_open(l->e, NULL, '{');
    emit_text(l->e, "revision", x->revision);
    emit_text(l->e, "path", x->path);
    emit_wall(l->e, "loaded", x->loaded);
    emit_bool(l->e, "in_force", text_eq(x->revision, l->now));
    emit_close(l->e, '}');
    return ++l->n < V1_LIMIT_MAX;
}

void v1_get_revisions(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    const struct v1_port *port = v1_port_of(ctx);
    struct v1_answer a;
    struct err e;
    v1_begin(&a);
    struct revisions l = {&a.e, api->control.policy(api->control.ctx)->revision, 0};
    emit_open(&a.e, "data", '{');
    emit_open(&a.e, "revisions", '[');
    enum status s = port->revisions(port->ctx, &(struct v1_sink){.arg = &l, .revision = add_revision}, &e);
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    if (s == STATUS_OK) {
        v1_end(&a, r);
        return;
    }
    v1_drop(&a);
    v1_refuse(r, s, e.text, "");
}

void v1_get_revision(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    const char *revision = http_request_param(r, "revision");
    struct buf text = BUF_INIT;
    struct v1_answer a;
    struct err e;
    enum status s = port->policy_text(port->ctx, revision, &text, &e);
    if (s != STATUS_OK) {
        v1_refuse(r, s, s == STATUS_NOT_FOUND ? "no such revision; GET /api/v1/policy/revisions lists them" : e.text, "");
    } else {
        v1_begin(&a);
        emit_open(&a.e, "data", '{');
        emit_text(&a.e, "revision", revision);
        emit_text(&a.e, "text", buf_text(&text));
        emit_close(&a.e, '}');
        v1_end(&a, r);
    }
    buf_free(&text);
}

/* ---- what changed: the longest common lines, after equal beginning and end are cut off ---- */

struct lines { char *text; const char **line; unsigned n; };

static bool split(struct lines *l, struct buf *b)
{
    size_t len = b->len;
    l->text = calloc(1, len + 1);
    l->line = calloc(len + 1, sizeof *l->line);
    if (!l->text || !l->line) return false;
    memcpy(l->text, buf_text(b), len);
    for (char *at = l->text, *next; *at; at = next) {
        next = at + strcspn(at, "\n");
        if (*next) *next++ = '\0';
        l->line[l->n++] = at;
    }
    return true;
}

static void lines_free(struct lines *l)
{
    free(l->text);
    free(l->line);
}

static void line_json(struct emit *e, const char *op, int64_t a, int64_t b, const char *text)
{
    emit_open(e, NULL, '{');
    emit_text(e, "op", op);
    if (a >= 0) emit_int(e, "a", a + 1);
    else emit_null(e, "a");
    if (b >= 0) emit_int(e, "b", b + 1);
    else emit_null(e, "b");
    emit_text(e, "text", text);
    emit_close(e, '}');
}

/* lengths[i * (m + 1) + k]: longest common subsequence of the rests from i and k on. */
static void fill(uint16_t *lengths, const struct lines *a, const struct lines *b, unsigned from, unsigned n, unsigned m)
{
    for (unsigned i = n; i-- > 0;) {
        for (unsigned k = m; k-- > 0;) {
            uint16_t *at = &lengths[(size_t)i * (m + 1) + k];
            uint16_t down = at[m + 1], right = at[1];
            *at = text_eq(a->line[from + i], b->line[from + k]) ? (uint16_t)(at[m + 2] + 1) : down > right ? down : right;
        }
    }
}

static bool diff_json(struct emit *e, const struct lines *a, const struct lines *b)
{
    unsigned from = 0, end = 0;
    while (from < a->n && from < b->n && text_eq(a->line[from], b->line[from])) from++;
    while (end < a->n - from && end < b->n - from && text_eq(a->line[a->n - 1 - end], b->line[b->n - 1 - end])) end++;
    unsigned n = a->n - from - end, m = b->n - from - end, i = 0, k = 0;
    if (n > DIFF_LINES_MAX || m > DIFF_LINES_MAX) return false;
    uint16_t *lengths = calloc((size_t)(n + 1) * (m + 1), sizeof *lengths);
    if (!lengths) return false;
    fill(lengths, a, b, from, n, m);
    for (unsigned x = 0; x < from; x++) line_json(e, " ", x, x, a->line[x]);
    while (i < n || k < m) {
        const uint16_t *at = &lengths[(size_t)i * (m + 1) + k];
        if (i < n && k < m && text_eq(a->line[from + i], b->line[from + k])) {
            line_json(e, " ", from + i, from + k, a->line[from + i]);
            i++, k++;
        } else if (i < n && (k == m || at[m + 1] >= at[1])) {
            line_json(e, "-", from + i, -1, a->line[from + i]);
            i++;
        } else {
            line_json(e, "+", -1, from + k, b->line[from + k]);
            k++;
        }
    }
    for (unsigned x = 0; x < end; x++) line_json(e, " ", a->n - end + x, b->n - end + x, a->line[a->n - end + x]);
    free(lengths);
    return true;
}

void v1_get_policy_diff(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    char name[2][72] = {"", ""};
    struct buf text[2] = {BUF_INIT, BUF_INIT};
    struct lines lines[2] = {{0}, {0}};
    struct v1_answer a;
    struct err e;
    (void)http_request_query(r, "from", name[0], sizeof name[0]);
    (void)http_request_query(r, "to", name[1], sizeof name[1]);
    enum status s = port->policy_text(port->ctx, name[0], &text[0], &e);
    if (s == STATUS_OK) s = port->policy_text(port->ctx, name[1], &text[1], &e);
    if (s == STATUS_NOT_FOUND) (void)err_set(&e, s, "no such revision: ?from=REVISION&to=REVISION");
    if (s == STATUS_OK && (!split(&lines[0], &text[0]) || !split(&lines[1], &text[1]))) s = err_set(&e, STATUS_MEMORY,
            "out of memory");
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_text(&a.e, "from", name[0]);
    emit_text(&a.e, "to", name[1]);
    emit_open(&a.e, "lines", '[');
    if (s == STATUS_OK && !diff_json(&a.e, &lines[0], &lines[1]))
        s = err_set(&e, STATUS_LIMIT, "more than 2,000 lines differ; read both revisions");
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    if (s == STATUS_OK) {
        v1_end(&a, r);
    } else {
        v1_drop(&a);
        v1_refuse(r, s, e.text, "");
    }
    for (int i = 0; i < 2; i++) {
        lines_free(&lines[i]);
        buf_free(&text[i]);
    }
}
