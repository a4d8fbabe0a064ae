/* Modes change in the file only, and every change of one is a record: who, from, to, under which revision. The loop tells the
 * changes of a reload; here are those that it cannot see: at the start, and services that a reload brings. */
#include <stdio.h>
#include <string.h>

#include "app/daemon.h"
#include "base/text.h"
#include "config/load.h"

struct change { const char *service, *class, *from, *to, *by, *when; };

static void append(struct daemon *d, const struct change *c)
{
    struct record r;
    struct instant now;
    struct wall wall;
    char note[200];
    clock_now(&d->clock, &now, &wall);
    snprintf(note, sizeof note, "mode%s%s changed from %s to %s %s", c->class ? " of class " : "", c->class ? c->class : "",
             c->from, c->to, c->when);
    record_init(&r, RECORD_MODE);
    record_i64(&r, RF_AT, wall.us);
    record_text(&r, RF_SERVICE, c->service);
    record_text(&r, RF_CLASS, c->class);
    record_text(&r, RF_MODE, c->to);
    record_text(&r, RF_FROM, c->from);
    record_text(&r, RF_TO, c->to);
    record_text(&r, RF_BY, c->by);
    record_text(&r, RF_POLICY, d->policy->revision);
    record_text(&r, RF_NOTE, note);
    log_line(LEVEL_INFO, "audit", "MODE", "service", c->service, "note", note, "by", c->by, NULL);
    daemon_log_append(d, c->service, &r, 1, 0);
}

/* A service that was not there before counts as one in mode alert, which is what it would be without a word. */
static void tell(struct daemon *d, const struct service_def *was, const struct service_def *now, const char *by, const char *when)
{
    enum mode old = was ? was->mode : MODE_ALERT;
    struct change c = {.service = now->name, .from = was ? mode_name(old) : "new", .to = mode_name(now->mode), .by = by,
                       .when = when};
    if (now->mode != old) append(d, &c);
    for (int k = 0; k < CLASS_COUNT; k++) {
        enum mode old_class = was ? was->class_mode[k] : MODE_ALERT;
        bool follows = old_class == old && now->class_mode[k] == now->mode;
        if (follows || old_class == now->class_mode[k]) continue;
        c.class = class_name((enum action_class)k);
        c.from = was ? mode_name(old_class) : "new";
        c.to = mode_name(now->class_mode[k]);
        append(d, &c);
    }
}

void daemon_modes_of_new(struct daemon *d, const struct policy *was, const char *by)
{
    for (uint16_t i = 0; i < d->policy->service_count; i++) {
        const struct service_def *now = &d->policy->services[i];
        if (policy_service(was, now->name) == NO_INDEX) tell(d, NULL, now, by, "by a reload");
    }
}

/* The configuration that was in force when the daemon last ran, from its kept text. NULL: there is none that can be read. */
static struct policy *last_policy(struct daemon *d, struct buf *text)
{
    struct config_diagnostics diags = CONFIG_DIAGNOSTICS_INIT;
    struct err e;
    struct policy *p = NULL;
    enum status s = store_policy_get(d->store, d->last_revision, text, &e);
    if (s == STATUS_OK) p = config_load(buf_text(text), text->len, "the configuration before", NULL, &diags);
    if (!p) {
        log_line(LEVEL_WARN, "config", "the configuration before cannot be read, so a change of mode since then is not recorded",
                 "revision", d->last_revision, NULL);
    }
    config_diagnostics_free(&diags);
    return p;
}

void daemon_modes_at_start(struct daemon *d)
{
    struct buf text = BUF_INIT;
    struct policy *was = NULL;
    bool first = d->last_revision[0] == '\0';
    if (text_eq(d->last_revision, d->policy->revision)) return;
    if (!first) was = last_policy(d, &text);
    for (uint16_t i = 0; i < d->policy->service_count && (first || was); i++) {
        const struct service_def *now = &d->policy->services[i];
        uint16_t before = was ? policy_service(was, now->name) : NO_INDEX;
        tell(d, before == NO_INDEX ? NULL : &was->services[before], now, "file (start)", "at the start");
    }
    config_free(was);
    buf_free(&text);
}
