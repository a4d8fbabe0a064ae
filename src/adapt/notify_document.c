/* What programs are sent: the webhook's document and Grafana's annotation. Made once, so that each try sends the same bytes. */
#include <sodium.h>
#include <string.h>

#include "adapt/notify.h"
#include "adapt/notify_format.h"

static void member(struct buf *b, const char *key, const char *value, const char *end)
{
    buf_json_string(b, key, strlen(key));
    buf_putc(b, ':');
    buf_json_string(b, value, strlen(value));
    buf_puts(b, end);
}

static void labels(struct buf *b, const struct told *t, const char *subject)
{
    buf_putc(b, '{');
    member(b, "alertname", subject, ",");
    member(b, "service", t->service, ",");
    member(b, "severity", notify_level_name(t->level), "}");
}

static void field(struct buf *b, const struct record *r, enum record_field f)
{
    char hex[65];
    buf_json_string(b, record_field_key(f), strlen(record_field_key(f)));
    buf_putc(b, ':');
    switch (record_field_type(f)) {
    case RT_NAME: {
        const char *name = record_kind_name(r->kind);
        buf_json_string(b, name, strlen(name));
        break;
    }
    case RT_TEXT: buf_json_string(b, r->v[f].text, strlen(r->v[f].text)); break;
    case RT_HEX32: buf_printf(b, "\"%s\"", sodium_bin2hex(hex, sizeof hex, r->v[f].hex32, 32)); break;
    case RT_U64:
        buf_putc(b, '"');
        buf_u64(b, r->v[f].u64);
        buf_putc(b, '"');
        break;
    case RT_I64:
        buf_putc(b, '"');
        buf_i64(b, r->v[f].i64);
        buf_putc(b, '"');
        break;
    }
}

/* The record as it stands in the log. */
static void record_json(struct buf *b, const struct record *r)
{
    bool first = true;
    buf_putc(b, '{');
    for (int f = 0; f < RF_COUNT; f++) {
        if (!record_has(r, (enum record_field)f)) continue;
        if (!first) buf_putc(b, ',');
        first = false;
        field(b, r, (enum record_field)f);
    }
    buf_putc(b, '}');
}

static void own_part(struct buf *b, uint64_t seq, const struct record *r, const struct told *t, const char *delivery,
                     const char *receiver, const char *external_url)
{
    struct buf link = BUF_INIT;
    buf_puts(b, "\"trimtab\":{\"format\":1,");
    member(b, "delivery", delivery, ",");
    member(b, "receiver", receiver, ",");
    member(b, "title", t->title, ",");
    if (external_url) {
        buf_printf(&link, "%s%s", external_url, t->path);
        member(b, "link", buf_text(&link), ",");
    }
    if (r) {
        buf_puts(b, "\"seq\":");
        buf_u64(b, seq);
        buf_puts(b, ",\"record\":");
        record_json(b, r);
    } else {
        buf_puts(b, "\"seq\":null,\"record\":null");
    }
    buf_putc(b, '}');
    buf_free(&link);
}

void notify_document(struct buf *out, uint64_t seq, const struct record *r, const struct told *english, const char *delivery,
                     const char *receiver, const char *external_url)
{
    struct buf when = BUF_INIT, group = BUF_INIT, subject = BUF_INIT, text = BUF_INIT;
    const struct told *t = english;
    const char *status = t->over ? "resolved" : "firing";
    if (r) record_say(&subject, &text, r);
    else buf_puts(&subject, strchr(t->key, '!') ? strchr(t->key, '!') + 1 : t->title);
    if (!r && t->detail_n) buf_puts(&text, t->details[0].value);
    wall_print(&when, t->at);
    buf_printf(&group, "trimtab/%s/%s", t->service, buf_text(&subject));
    buf_printf(out, "{\"version\":\"4\",\"status\":\"%s\",\"receiver\":\"trimtab\",", status);
    member(out, "groupKey", buf_text(&group), ",\"groupLabels\":{");
    member(out, "service", t->service, "},\"commonLabels\":");
    labels(out, t, buf_text(&subject));
    buf_puts(out, ",\"commonAnnotations\":{},");
    member(out, "externalURL", external_url ? external_url : "", ",\"truncatedAlerts\":0,\"alerts\":[{");
    buf_printf(out, "\"status\":\"%s\",\"labels\":", status);
    labels(out, t, buf_text(&subject));
    buf_puts(out, ",\"annotations\":{");
    member(out, "summary", buf_text(&subject), ",");
    member(out, "description", buf_text(&text), "},");
    member(out, "startsAt", buf_text(&when), ",");
    member(out, "endsAt", t->over ? buf_text(&when) : "0001-01-01T00:00:00Z", ",\"generatorURL\":\"\"}],");
    own_part(out, seq, r, t, delivery, receiver, external_url);
    buf_putc(out, '}');
    buf_free(&when);
    buf_free(&group);
    buf_free(&subject);
    buf_free(&text);
}

static void html(struct buf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '<') buf_puts(out, "&lt;");
        else if (*c == '>') buf_puts(out, "&gt;");
        else if (*c == '&') buf_puts(out, "&amp;");
        else buf_putc(out, *c);
    }
}

void notify_annotation(struct buf *out, const struct told *t)
{
    struct buf text = BUF_INIT;
    html(&text, t->title);
    for (unsigned i = 0; i < t->detail_n; i++) {
        buf_printf(&text, "\n%s: ", t->details[i].label);
        html(&text, t->details[i].value);
    }
    buf_puts(out, "{\"time\":");
    buf_i64(out, t->at.us / US_PER_MS);
    buf_puts(out, ",\"tags\":[\"trimtab\"");
    if (t->service[0]) {
        buf_putc(out, ',');
        buf_json_string(out, t->service, strlen(t->service));
    }
    if (t->kind >= 0) {
        const char *kind = record_kind_name((enum record_kind)t->kind);
        buf_putc(out, ',');
        buf_json_string(out, kind, strlen(kind));
    }
    buf_puts(out, "],");
    member(out, "text", buf_text(&text), "}");
    buf_free(&text);
}
