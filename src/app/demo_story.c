/* What the demo says: the audit log as a story while it is written, and the end as one JSON line. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/demo.h"
#include "base/num.h"
#include "base/text.h"

void demo_say(const struct demo *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(d->json ? stderr : stdout, fmt, ap);
    va_end(ap);
    fflush(d->json ? stderr : stdout);
}

static json_t *records_from(const struct demo *d, uint64_t from)
{
    char path[80], why[200];
    snprintf(path, sizeof path, "/api/v1/audit?from=%llu&limit=500", (unsigned long long)from);
    json_t *j = demo_get(d->daemon, path, why);
    json_t *list = json_object_get(json_object_get(j, "data"), "records");
    json_incref(list);
    json_decref(j);
    return list;
}

static const char *text(const json_t *r, const char *key)
{
    const char *s = json_string_value(json_object_get(r, key));
    return s ? s : "";
}

static int64_t number(const json_t *r, const char *key)
{
    const json_t *v = json_object_get(r, key);
    int64_t n = 0;
    if (json_is_integer(v)) return json_integer_value(v);
    const char *s = json_string_value(v);
    if (s) (void)num_parse_i64(s, strlen(s), &n);
    return n;
}

static void clock_text(char out[16], const json_t *r)
{
    struct wall at = {number(r, "at")};
    (void)wall_parse(text(r, "at"), &at);
    struct civil c = wall_civil(at, 0);
    snprintf(out, 16, "%02d:%02d:%02d", c.hour, c.minute, c.second);
}

/* The heading of console.md's six under which a record belongs. */
static const char *heading(const char *kind)
{
    static const struct { const char *kind, *heading; } all[] = {
        {"INCIDENT", "Noticed"}, {"HANDOVER", "Decided"}, {"INTENT", "Decided"}, {"APPLIED", "Did"}, {"VERDICT", "Verdict"},
        {"UNDO", "Did"}, {"UNDONE", "Did"}, {"CLOSED", "Closed"}, {"HALT", "Stopped"}, {"RESUME", "Resumed"}, {"WARM", "Ready"},
        {"FAILED", "Did"}, {"YIELDED", "Did"}, {"HELD", "Did"}, {"CANCEL", "Stopped"}, {"EXTENDED", "Watched"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (text_eq(kind, all[i].kind)) return all[i].heading;
    }
    return NULL;
}

static void sentence(struct buf *b, const json_t *r, const char *kind)
{
    const char *knob = text(r, "knob"), *from = text(r, "from"), *to = text(r, "to");
    if (text_eq(kind, "INCIDENT")) buf_puts(b, text(r, "rule"));
    else if (text_eq(kind, "INTENT")) buf_printf(b, "%s: %s %s -> %s, one notch; recorded first", text(r, "cause"), knob, from, to);
    else if (text_eq(kind, "APPLIED")) buf_printf(b, "written, then read back from the server: %s %s", knob, text(r, "read"));
    else if (text_eq(kind, "UNDO")) buf_printf(b, "taking it back: %s %s -> %s", knob, to, from);
    else if (text_eq(kind, "UNDONE")) buf_printf(b, "taken back and read back: %s %s; excluded in this incident", knob, from);
    else if (text_eq(kind, "HANDOVER")) buf_printf(b, "a person is told (%s). %s", text(r, "reason"), text(r, "note"));
    else if (text_eq(kind, "HALT")) buf_printf(b, "automatic writes are halted by %s: %s", text(r, "by"), text(r, "note"));
    else if (text_eq(kind, "WARM")) buf_puts(b, "history imported, baselines are warm");
    else if (text_eq(kind, "CLOSED")) buf_puts(b, "the symptom is gone");
    else buf_puts(b, text(r, "note"));
}

static void tell(const struct demo *d, const json_t *r)
{
    const char *kind = text(r, "kind"), *head = heading(kind);
    char at[16];
    struct buf b = BUF_INIT;
    if (!head) return;
    clock_text(at, r);
    sentence(&b, r, kind);
    demo_say(d, "  %-8s %s  %s\n", head, at, buf_text(&b));
    if (text_eq(kind, "INCIDENT") && text(r, "causes")[0]) demo_say(d, "  %-8s %s  %s\n", "Located", at, text(r, "causes"));
    buf_free(&b);
}

void demo_tell_new(struct demo *d)
{
    json_t *list = records_from(d, d->next_record), *r;
    size_t i;
    json_array_foreach(list, i, r)
    {
        tell(d, r);
        d->next_record = (uint64_t)number(r, "seq") + 1;
    }
    json_decref(list);
}

uint64_t demo_log_size(const struct demo *d) { return d->next_record; }

/* Is there a record of the kind from `from` on, with a field of that value? Field NULL: any. */
bool demo_seen(const struct demo *d, uint64_t from, const char *kind, const char *field, const char *value, json_t **ret)
{
    json_t *list = records_from(d, from), *r;
    size_t i;
    bool found = false;
    json_array_foreach(list, i, r)
    {
        if (found || !text_eq(text(r, "kind"), kind)) continue;
        if (field && !text_eq(text(r, field), value)) continue;
        found = true;
        if (ret) *ret = json_incref(r);
    }
    json_decref(list);
    return found;
}

static json_t *value_or_null(double v) { return isfinite(v) ? json_real(v) : json_null(); }

void demo_print_json(const struct demo *d)
{
    json_t *acts = json_array();
    bool ok = d->act_n == DEMO_ACTS && d->audit.verified;
    for (unsigned i = 0; i < d->act_n; i++) {
        const struct demo_act *a = &d->acts[i];
        ok = ok && a->ok;
        json_t *act = json_pack("{s:s,s:s,s:s,s:s,s:s,s:b}", "name", a->name, "expected", a->expected, "observed", a->observed,
                                "knob", a->knob, "verdict", a->verdict, "ok", a->ok);
        json_object_set_new(act, "before", value_or_null(a->before));
        json_object_set_new(act, "after", value_or_null(a->after));
        json_array_append_new(acts, act);
    }
    json_t *all = json_pack("{s:o,s:{s:I,s:s,s:b,s:s},s:b}", "acts", acts, "audit", "size", (json_int_t)d->audit.size, "root",
                            d->audit.root, "verified", d->audit.verified, "path", d->audit.path, "ok", ok);
    char *line = json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII);
    puts(line ? line : "{\"ok\":false}");
    fflush(stdout);
    free(line);
    json_decref(all);
}
