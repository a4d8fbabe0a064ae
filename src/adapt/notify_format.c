#include "adapt/notify_format.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

#define DINGTALK_MOST 16000      /* bytes of text; the vendor's limit is 20,000 for the message */
#define FEISHU_MOST 14000        /* the body at most 20 KB, and JSON grows */
#define WECOM_MOST 4000          /* 4,096 bytes of UTF-8 */
#define SLACK_SECTION 2900       /* 3,000 characters */
#define SLACK_HEADER 140         /* 150 characters */

void notify_draft_free(struct notify_draft *d)
{
    struct buf *all[NOTIFY_HEADERS + 2] = {&d->url, &d->body};
    for (unsigned i = 0; i < NOTIFY_HEADERS; i++) all[i + 2] = &d->headers[i];
    for (unsigned i = 0; i < NOTIFY_HEADERS + 2; i++) {
        if (all[i]->data) sodium_memzero(all[i]->data, all[i]->cap);
        buf_free(all[i]);
    }
}

static void header(struct notify_draft *d, const char *name, const char *value)
{
    CHECK(d->header_count < NOTIFY_HEADERS);
    buf_printf(&d->headers[d->header_count++], "%s: %s", name, value);
}

/* ---- text with marks ---- */

enum dialect { DIALECT_DINGTALK, DIALECT_FEISHU, DIALECT_WECOM, DIALECT_SLACK };

/* What would be read as a mark, a link or a person's name is replaced by a letter that looks like it: values come from outside. */
static void plain(struct buf *out, const char *text, enum dialect d)
{
    for (const char *c = text; *c; c++) {
        if (d == DIALECT_SLACK) {
            if (*c == '&') buf_puts(out, "&amp;");
            else if (*c == '<') buf_puts(out, "&lt;");
            else if (*c == '>') buf_puts(out, "&gt;");
            else if (*c == '*') buf_puts(out, "×");
            else buf_putc(out, *c == '`' ? '\'' : *c);
            continue;
        }
        switch (*c) {
        case '*': buf_puts(out, "×"); break;
        case '<': buf_puts(out, "＜"); break;
        case '[': buf_puts(out, "［"); break;
        case ']': buf_puts(out, "］"); break;
        case '`': buf_putc(out, '\''); break;
        case '\n': buf_puts(out, "; "); break;
        default: buf_putc(out, *c);
        }
    }
}

static void bold(struct buf *out, const char *text, enum dialect d)
{
    const char *mark = d == DIALECT_SLACK ? "*" : "**";
    buf_puts(out, mark);
    plain(out, text, d);
    buf_puts(out, mark);
}

static const char *line_end(enum dialect d) { return d == DIALECT_DINGTALK ? "\n\n" : "\n"; }

static void lines_of_summary(struct buf *out, const struct summary *s, bool chinese, enum dialect d)
{
    static const struct { enum record_kind kind; const char *text[2]; } counted[] = {
        {RECORD_INCIDENT, {"incidents opened", "异常事件打开"}}, {RECORD_CLOSED, {"incidents closed", "异常事件结束"}},
        {RECORD_REQUEST, {"requests for approval", "请求审批"}}, {RECORD_HANDOVER, {"handed to a person", "转人工"}},
        {RECORD_INTENT, {"changes made", "调优动作"}}, {RECORD_UNDONE, {"changes taken back", "已回滚"}}};
    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        unsigned n = s->tally[counted[i].kind];
        if (n) buf_printf(out, chinese ? "%s：%u%s" : "%s: %u%s", counted[i].text[chinese], n, line_end(d));
    }
    for (unsigned i = 0; i < s->line_n; i++) {
        buf_puts(out, "- ");
        plain(out, s->lines[i].line, d);
        buf_puts(out, line_end(d));
    }
    if (s->told_n > s->line_n)
        buf_printf(out, chinese ? "其余 %u 条见控制台%s" : "%u more: see the console%s", s->told_n - s->line_n, line_end(d));
}

static void title_text(struct buf *out, const struct letter *l, bool chinese)
{
    if (!l->summary) {
        buf_puts(out, l->newest->title);
        return;
    }
    buf_printf(out, chinese ? "trimtab 汇总：%u 个异常事件，%u 条消息" : "trimtab summary: %u matters, %u messages", l->summary->key_n,
               l->summary->told_n);
}

static void time_text(struct buf *out, const struct letter *l)
{
    if (!l->summary) {
        told_time(out, l->newest->at, l->newest->offset_s);
        return;
    }
    told_time(out, l->summary->first, 0);
    buf_puts(out, " - ");
    told_time(out, l->summary->last, 0);
}

/* What was seen, why, the evidence, how to take it back by hand, what came before, and when. */
static void body_text(struct buf *out, const struct letter *l, bool chinese, enum dialect d)
{
    if (l->summary) lines_of_summary(out, l->summary, chinese, d);
    for (unsigned i = 0; l->newest && i < l->newest->detail_n; i++) {
        bold(out, l->newest->details[i].label, d);
        buf_puts(out, chinese ? "：" : ": ");
        plain(out, l->newest->details[i].value, d);
        buf_puts(out, line_end(d));
    }
    if (l->earlier_n) {
        bold(out, chinese ? "此前" : "Before that", d);
        buf_puts(out, line_end(d));
    }
    for (unsigned i = 0; i < l->earlier_n; i++) {
        buf_puts(out, "- ");
        plain(out, l->earlier[i], d);
        buf_puts(out, line_end(d));
    }
    time_text(out, l);
    if (l->number_n && !(l->numbers[0] & TOLD_NOTICE)) {
        buf_puts(out, chinese ? "，记录 " : ", record ");
        buf_u64(out, l->numbers[0]);
    }
}

static bool link_of(struct buf *out, const struct letter *l, const struct notify_context *c)
{
    if (!c->external_url) return false;
    buf_printf(out, "%s%s", c->external_url, l->newest ? l->newest->path : "/");
    return true;
}

static const char *open_word(bool chinese) { return chinese ? "在控制台查看" : "Open in the console"; }

/* ---- members of JSON ---- */

static void text_member(struct buf *b, const char *key, const char *value, const char *end)
{
    buf_json_string(b, key, strlen(key));
    buf_putc(b, ':');
    buf_json_string(b, value, strlen(value));
    buf_puts(b, end);
}

static void limited(struct buf *out, const struct buf *text, size_t most)
{
    told_cut(out, buf_text(text), most);
}

/* ---- one for each kind ---- */

struct parts { struct buf title, text, link; bool linked; };

static void parts_make(struct parts *p, const struct letter *l, const struct receiver_def *to, const struct notify_context *c,
                       enum dialect d, size_t most)
{
    struct buf whole = BUF_INIT;
    *p = (struct parts){.title = BUF_INIT, .text = BUF_INIT, .link = BUF_INIT};
    title_text(&p->title, l, to->chinese);
    body_text(&whole, l, to->chinese, d);
    limited(&p->text, &whole, most);
    p->linked = link_of(&p->link, l, c);
    buf_free(&whole);
}

static void parts_free(struct parts *p)
{
    buf_free(&p->title);
    buf_free(&p->text);
    buf_free(&p->link);
}

static void percent(struct buf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        bool safe = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || strchr("-._~", *c);
        if (safe) buf_putc(out, *c);
        else buf_printf(out, "%%%02X", (unsigned char)*c);
    }
}

static void dingtalk_url(struct buf *url, const struct notify_context *c)
{
    struct buf message = BUF_INIT, sign = BUF_INIT;
    buf_puts(url, c->url);
    if (!c->secret[0]) return;
    buf_i64(&message, c->real_us / US_PER_MS);
    buf_printf(url, "%ctimestamp=%s&sign=", strchr(c->url, '?') ? '&' : '?', buf_text(&message));
    buf_printf(&message, "\n%s", c->secret);
    notify_sign(&sign, c->secret, strlen(c->secret), buf_text(&message), message.len);
    percent(url, buf_text(&sign));
    sodium_memzero(message.data, message.cap);
    buf_free(&message);
    buf_free(&sign);
}

static void dingtalk(struct notify_draft *d, const struct receiver_def *to, const struct letter *l, const struct notify_context *c)
{
    struct parts p;
    struct buf text = BUF_INIT;
    parts_make(&p, l, to, c, DIALECT_DINGTALK, DINGTALK_MOST);
    buf_puts(&text, "#### ");
    plain(&text, buf_text(&p.title), DIALECT_DINGTALK);
    buf_printf(&text, "\n\n%s", buf_text(&p.text));
    buf_puts(&d->body, p.linked ? "{\"msgtype\":\"actionCard\",\"actionCard\":{" : "{\"msgtype\":\"markdown\",\"markdown\":{");
    text_member(&d->body, "title", buf_text(&p.title), ",");
    text_member(&d->body, "text", buf_text(&text), p.linked ? "," : "");
    if (p.linked) {
        text_member(&d->body, "singleTitle", open_word(to->chinese), ",");
        text_member(&d->body, "singleURL", buf_text(&p.link), "");
    }
    buf_puts(&d->body, "}}");
    dingtalk_url(&d->url, c);
    buf_free(&text);
    parts_free(&p);
}

/* Key and message the other way round than DingTalk has them. */
static void feishu_sign(struct buf *body, const struct notify_context *c)
{
    struct buf stamp = BUF_INIT, key = BUF_INIT, sign = BUF_INIT;
    if (!c->secret[0]) return;
    buf_i64(&stamp, c->real_us / US_PER_S);
    buf_printf(&key, "%s\n%s", buf_text(&stamp), c->secret);
    notify_sign(&sign, buf_text(&key), key.len, "", 0);
    text_member(body, "timestamp", buf_text(&stamp), ",");
    text_member(body, "sign", buf_text(&sign), ",");
    sodium_memzero(key.data, key.cap);
    buf_free(&stamp);
    buf_free(&key);
    buf_free(&sign);
}

static const char *feishu_colour(const struct letter *l)
{
    if (l->level == NOTICE_PAGE) return "red";
    if (l->newest && l->newest->tone == TONE_GOOD) return "green";
    return l->level == NOTICE_WARN ? "orange" : "blue";
}

static void feishu(struct notify_draft *d, const struct receiver_def *to, const struct letter *l, const struct notify_context *c)
{
    struct parts p;
    struct buf *b = &d->body;
    parts_make(&p, l, to, c, DIALECT_FEISHU, FEISHU_MOST);
    buf_putc(b, '{');
    feishu_sign(b, c);
    buf_puts(b, "\"msg_type\":\"interactive\",\"card\":{\"schema\":\"2.0\",\"header\":{\"title\":{\"tag\":\"plain_text\",");
    text_member(b, "content", buf_text(&p.title), "},");
    text_member(b, "template", feishu_colour(l), "},\"body\":{\"elements\":[{\"tag\":\"markdown\",");
    text_member(b, "content", buf_text(&p.text), "}");
    if (p.linked) {
        buf_puts(b, ",{\"tag\":\"button\",\"text\":{\"tag\":\"plain_text\",");
        text_member(b, "content", open_word(to->chinese), "},\"type\":\"default\",\"behaviors\":[{\"type\":\"open_url\",");
        text_member(b, "default_url", buf_text(&p.link), "}]}");
    }
    buf_puts(b, "]}}}");
    buf_puts(&d->url, c->url);
    parts_free(&p);
}

static void wecom(struct notify_draft *d, const struct receiver_def *to, const struct letter *l, const struct notify_context *c)
{
    struct parts p;
    struct buf text = BUF_INIT, all = BUF_INIT;
    parts_make(&p, l, to, c, DIALECT_WECOM, WECOM_MOST - 700);
    buf_puts(&text, "### ");
    plain(&text, buf_text(&p.title), DIALECT_WECOM);
    if (l->level != NOTICE_INFO)
        buf_printf(&text, "\n<font color=\"warning\">%s</font>", l->level == NOTICE_PAGE ? (to->chinese ? "需要处理" : "act now")
                                                                                        : (to->chinese ? "警告" : "warning"));
    buf_printf(&text, "\n%s", buf_text(&p.text));
    limited(&all, &text, WECOM_MOST - 300);
    if (p.linked && p.link.len < 280) buf_printf(&all, "\n[%s](%s)", open_word(to->chinese), buf_text(&p.link));
    buf_puts(&d->body, "{\"msgtype\":\"markdown\",\"markdown\":{");
    text_member(&d->body, "content", buf_text(&all), "}}");
    buf_puts(&d->url, c->url);
    buf_free(&text);
    buf_free(&all);
    parts_free(&p);
}

static void slack(struct notify_draft *d, const struct receiver_def *to, const struct letter *l, const struct notify_context *c)
{
    struct parts p;
    struct buf *b = &d->body, head = BUF_INIT, fallback = BUF_INIT;
    parts_make(&p, l, to, c, DIALECT_SLACK, SLACK_SECTION);
    limited(&head, &p.title, SLACK_HEADER);
    plain(&fallback, buf_text(&p.title), DIALECT_SLACK);
    buf_putc(b, '{');
    text_member(b, "text", buf_text(&fallback), ",\"blocks\":[{\"type\":\"header\",\"text\":{\"type\":\"plain_text\",");
    text_member(b, "text", buf_text(&head), "}},{\"type\":\"section\",\"text\":{\"type\":\"mrkdwn\",");
    text_member(b, "text", buf_text(&p.text), "}}");
    if (p.linked) {
        buf_puts(b, ",{\"type\":\"actions\",\"elements\":[{\"type\":\"button\",\"text\":{\"type\":\"plain_text\",");
        text_member(b, "text", open_word(to->chinese), "},");
        text_member(b, "url", buf_text(&p.link), "}]}");
    }
    buf_puts(b, "]}");
    buf_puts(&d->url, c->url);
    buf_free(&head);
    buf_free(&fallback);
    parts_free(&p);
}

static void base_and(struct buf *url, const char *base, const char *path)
{
    size_t n = strlen(base);
    while (n > 0 && base[n - 1] == '/') n--;
    buf_add(url, base, n);
    buf_puts(url, path);
}

/* t=SECONDS,v1=hex of HMAC-SHA256 over "SECONDS.BODY". */
static void webhook_sign(struct notify_draft *d, const struct notify_context *c)
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    char hex[2 * sizeof mac + 1];
    struct buf stamp = BUF_INIT, value = BUF_INIT;
    crypto_auth_hmacsha256_state s;
    if (!c->secret[0]) return;
    buf_i64(&stamp, c->real_us / US_PER_S);
    crypto_auth_hmacsha256_init(&s, (const unsigned char *)c->secret, strlen(c->secret));
    crypto_auth_hmacsha256_update(&s, (const unsigned char *)stamp.data, stamp.len);
    crypto_auth_hmacsha256_update(&s, (const unsigned char *)".", 1);
    crypto_auth_hmacsha256_update(&s, (const unsigned char *)buf_text(&d->body), d->body.len);
    crypto_auth_hmacsha256_final(&s, mac);
    sodium_memzero(&s, sizeof s);
    buf_printf(&value, "t=%s,v1=%s", buf_text(&stamp), sodium_bin2hex(hex, sizeof hex, mac, sizeof mac));
    header(d, "X-Trimtab-Signature", buf_text(&value));
    buf_free(&stamp);
    buf_free(&value);
}

void notify_format(struct notify_draft *out, const struct receiver_def *to, const struct letter *l, const struct notify_context *c)
{
    char id[NOTIFY_ID];
    bool robot = to->type != RECEIVER_WEBHOOK && to->type != RECEIVER_GRAFANA;
    *out = (struct notify_draft){.url = BUF_INIT};
    header(out, "Content-Type", robot ? "application/json; charset=utf-8" : "application/json");
    header(out, "User-Agent", "trimtab");
    notify_id(id, c->log, to->name, l->numbers, l->number_n);
    header(out, "X-Trimtab-Delivery", id);
    switch (to->type) {
    case RECEIVER_DINGTALK: dingtalk(out, to, l, c); break;
    case RECEIVER_FEISHU: feishu(out, to, l, c); break;
    case RECEIVER_WECOM: wecom(out, to, l, c); break;
    case RECEIVER_SLACK: slack(out, to, l, c); break;
    case RECEIVER_GRAFANA:
        buf_add(&out->body, buf_text(&l->newest->body), l->newest->body.len);
        base_and(&out->url, c->url, "/api/annotations");
        break;
    default:
        buf_add(&out->body, buf_text(&l->newest->body), l->newest->body.len);
        buf_puts(&out->url, c->url);
        webhook_sign(out, c);
    }
}
