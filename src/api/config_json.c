/* The configuration in force, without anything secret. */
#include <string.h>

#include "api/view_json.h"

/* Scheme, host and path: a query or a user in an address may hold a secret. */
static void address(struct emit *e, const char *key, const char *url)
{
    if (!url) {
        emit_null(e, key);
        return;
    }
    struct buf b = BUF_INIT;
    const char *host = strstr(url, "://");
    size_t scheme = host ? (size_t)(host + 3 - url) : 0;
    const char *rest = url + scheme;
    size_t authority = strcspn(rest, "/?#");
    const char *user = memchr(rest, '@', authority);
    buf_add(&b, url, scheme);
    if (user) {
        buf_puts(&b, "<secret>@");
        authority -= (size_t)(user + 1 - rest);
        rest = user + 1;
    }
    size_t path = strcspn(rest, "?#");
    buf_add(&b, rest, path);
    if (rest[path]) buf_puts(&b, "?<secret>");
    emit_text(e, key, buf_text(&b));
    buf_free(&b);
}

static void access_json(struct emit *e, const char *key, const struct access_def *a)
{
    if (a->kind == ACCESS_NONE) {
        emit_null(e, key);
        return;
    }
    emit_open(e, key, '{');
    if (a->kind == ACCESS_FILE) {
        emit_text(e, "file", a->path);
    } else {
        emit_text(e, "method", a->method);
        address(e, "url", a->url);
        emit_open(e, "headers", '[');
        for (uint16_t i = 0; i < a->header_count; i++) {
            struct buf b = BUF_INIT;
            buf_add(&b, a->headers[i], strcspn(a->headers[i], ":"));
            buf_puts(&b, ": <secret>");
            emit_text(e, NULL, buf_text(&b));
            buf_free(&b);
        }
        emit_close(e, ']');
        emit_text_or_null(e, "version_header", a->version_header);
        emit_bool(e, "per_instance", a->per_instance);
        emit_text_or_null(e, "secret_file", a->secret_file);
    }
    emit_text_or_null(e, "pointer", a->pointer);
    emit_seconds(e, "timeout_seconds", a->timeout);
    emit_close(e, '}');
}

void view_json_knob_rules(struct emit *e, const struct knob_def *k)
{
    emit_text(e, "name", k->name);
    emit_text(e, "class", class_name(k->class));
    emit_int(e, "tier", k->tier);
    emit_text(e, "unit", unit_name(k->unit));
    emit_number(e, "min", k->min);
    emit_number(e, "max", k->max);
    emit_number(e, "min_step", k->min_step);
    emit_bool(e, "up", k->allow_up);
    emit_bool(e, "down", k->allow_down);
    emit_seconds(e, "interval_seconds", k->interval);
    emit_seconds(e, "protect_seconds", k->protect);
    emit_seconds(e, "settle_seconds", k->settle);
    emit_text(e, "apply", apply_name(k->apply));
    emit_number(e, "dead_band", k->dead_band);
    emit_text(e, "budget", budget_name(k->budget));
    emit_bool(e, "cas", k->cas);
    emit_bool(e, "single_writer", k->single_writer);
    access_json(e, "read", &k->read);
    access_json(e, "write", &k->write);
}

static void knob_json(struct emit *e, const struct knob_def *k)
{
    emit_open(e, NULL, '{');
    view_json_knob_rules(e, k);
    emit_close(e, '}');
}

static void signals_json(struct emit *e, const struct service_def *s)
{
    emit_open(e, "signals", '[');
    for (uint16_t i = 0; i < s->signal_count; i++) {
        const struct signal_def *d = &s->signals[i];
        emit_open(e, NULL, '{');
        emit_text(e, "name", d->name);
        emit_text(e, "layer", layer_name(d->layer));
        emit_text(e, "unit", unit_name(d->unit));
        emit_text(e, "bad", bad_name(d->bad));
        emit_seconds(e, "interval_seconds", d->interval);
        emit_number(e, "resolution", d->resolution);
        emit_text_or_null(e, "query", d->query_text);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void names_json(struct emit *e, const struct service_def *s)
{
    emit_open(e, "symptoms", '[');
    for (uint16_t i = 0; i < s->symptom_count; i++) emit_text(e, NULL, s->symptoms[i].name);
    emit_close(e, ']');
    emit_open(e, "playbook", '[');
    for (uint16_t i = 0; i < s->cause_count; i++) emit_text(e, NULL, s->causes[i].id);
    emit_close(e, ']');
}

static void service_json(struct emit *e, const struct service_def *s)
{
    emit_open(e, NULL, '{');
    emit_text(e, "name", s->name);
    emit_text_or_null(e, "environment", s->environment);
    emit_text_or_null(e, "group", s->group);
    emit_text(e, "mode", mode_name(s->mode));
    emit_open(e, "class_mode", '{');
    for (unsigned c = 0; c < CLASS_COUNT; c++) emit_text(e, class_name((enum action_class)c), mode_name(s->class_mode[c]));
    emit_close(e, '}');
    emit_open(e, "targets", '[');
    for (uint16_t i = 0; i < s->target_count; i++) {
        emit_open(e, NULL, '{');
        address(e, "url", s->targets[i].url);
        emit_text(e, "instance", s->targets[i].instance);
        emit_seconds(e, "interval_seconds", s->targets[i].interval);
        emit_seconds(e, "timeout_seconds", s->targets[i].timeout);
        emit_close(e, '}');
    }
    emit_close(e, ']');
    signals_json(e, s);
    names_json(e, s);
    emit_open(e, "knobs", '[');
    for (uint16_t i = 0; i < s->knob_count; i++) knob_json(e, &s->knobs[i]);
    emit_close(e, ']');
    emit_close(e, '}');
}

void view_json_config(struct emit *e, const char *key, const struct policy *p)
{
    struct buf receiver = BUF_INIT;
    emit_open(e, key, '{');
    emit_text(e, "revision", p->revision);
    emit_text_or_null(e, "path", p->path);
    emit_text_or_null(e, "listen", p->listen);
    emit_text_or_null(e, "data_dir", p->data_dir);
    emit_int(e, "metrics_mb", (int64_t)(p->metrics_bytes >> 20));
    emit_text_or_null(e, "origin", p->origin);
    emit_seconds(e, "tick_seconds", p->tick);
    emit_number(e, "alpha", p->ewma_alpha);
    emit_number(e, "fleet_in_flight", p->fleet_fraction);
    emit_int(e, "fleet_per_hour", p->fleet_per_hour);
    emit_open(e, "notify", '[');
    for (uint16_t i = 0; i < p->receiver_count; i++) {
        buf_clear(&receiver);
        buf_printf(&receiver, "%s (%s)", p->receivers[i].name, receiver_type_name(p->receivers[i].type));
        emit_text(e, NULL, buf_text(&receiver));
    }
    buf_free(&receiver);
    emit_close(e, ']');
    emit_open(e, "services", '[');
    for (uint16_t i = 0; i < p->service_count; i++) service_json(e, &p->services[i]);
    emit_close(e, ']');
    emit_close(e, '}');
}
