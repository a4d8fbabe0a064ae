#include "adapt/notify_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/enums.h"
#include "model/reason.h"

#define TITLE_MOST 300
#define DETAIL_MOST 1200

enum audience { NOBODY, PROGRAMS, PEOPLE };

#define PLAIN TONE_PLAIN
#define GOOD TONE_GOOD
#define BAD TONE_BAD
struct headline { enum audience who; enum tone tone; const char *text[2]; };
static const struct headline headlines[RECORD_KIND_COUNT] = {
#define TOLD(kind, who, tone, en, zh) [RECORD_##kind] = {who, tone, {en, zh}},
#include "adapt/notify_words.def"
};
#undef PLAIN
#undef GOOD
#undef BAD

static const struct { enum record_field field; const char *text[2]; } labels[] = {
#define LABEL(field, en, zh) {RF_##field, {en, zh}},
#include "adapt/notify_words.def"
};

static const struct { const char *subject, *text[2]; } notices[] = {
#define NOTICE(subject, en, zh) {subject, {en, zh}},
#include "adapt/notify_words.def"
};

static const struct { const char *code, *zh; } reasons_zh[] = {
#define REASON_ZH(code, zh) {code, zh},
#include "adapt/notify_words.def"
};

void told_cut(struct buf *out, const char *text, size_t most)
{
    size_t len = strlen(text), end = utf8_cut(text, len, most);
    for (size_t i = 0; i < end;) {
        uint32_t code;
        unsigned n = utf8_next(text + i, len - i, &code);
        if (n == 0) buf_puts(out, "\xEF\xBF\xBD");
        else if (code < ' ' && code != '\n') buf_putc(out, ' ');
        else buf_add(out, text + i, n);
        i += n ? n : 1;
    }
    if (end < len) buf_puts(out, "…");
}

void told_time(struct buf *out, struct wall at, int offset_s)
{
    struct civil c = wall_civil(at, offset_s);
    int minutes = (offset_s < 0 ? -offset_s : offset_s) / 60;
    buf_printf(out, "%04d-%02d-%02d %02d:%02d:%02d ", c.year, c.month, c.day, c.hour, c.minute, c.second);
    if (offset_s == 0) buf_puts(out, "UTC");
    else buf_printf(out, "%c%02d:%02d", offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

static char *taken(struct buf *b)
{
    char *text = buf_take(b, NULL);
    if (!text) text = strdup("");
    CHECK_MEMORY(text);
    return text;
}

static char *one_line(const char *text, size_t most)
{
    struct buf b = BUF_INIT;
    told_cut(&b, text, most);
    char *line = taken(&b);
    for (char *c = line; *c; c++) {
        if (*c == '\n') *c = ' ';
    }
    return line;
}

/* ---- the headline ---- */

static const char *verdict_word(const char *verdict, bool chinese)
{
    static const char *const zh[VERDICT_COUNT] = {[VERDICT_NONE] = "无", [VERDICT_EFFECTIVE] = "有效", [VERDICT_PARTIAL] = "部分有效",
                                                  [VERDICT_INEFFECTIVE] = "无效", [VERDICT_HARMFUL] = "有害",
                                                  [VERDICT_INCONCLUSIVE] = "无法判定"};
    for (int i = 0; chinese && i < VERDICT_COUNT; i++) {
        if (text_eq(verdict, verdict_name((enum verdict)i))) return zh[i];
    }
    return verdict;
}

static const char *outcome_word(const char *outcome, bool chinese)
{
    if (text_eq(outcome, "keep")) return chinese ? "保留" : "kept";
    if (text_eq(outcome, "undo")) return chinese ? "回滚" : "it is taken back";
    if (text_eq(outcome, "held")) return chinese ? "保持现状，转人工" : "a person must look";
    return outcome;
}

static const char *word_of(const struct record *r, const char *name, size_t len, bool chinese)
{
    static const struct { const char *name; enum record_field field; } words[] = {
        {"service", RF_SERVICE}, {"symptom", RF_SYMPTOM}, {"knob", RF_KNOB}, {"from", RF_FROM}, {"to", RF_TO}, {"cause", RF_CAUSE},
        {"by", RF_BY}, {"verdict", RF_VERDICT}, {"outcome", RF_OUTCOME}, {"version", RF_MODEL_VERSION}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strlen(words[i].name) != len || memcmp(words[i].name, name, len) != 0) continue;
        const char *value = record_get_text(r, words[i].field);
        if (words[i].field == RF_VERDICT) return verdict_word(value, chinese);
        if (words[i].field == RF_OUTCOME) return outcome_word(value, chinese);
        if (words[i].field == RF_SERVICE && !value[0]) return chinese ? "全部服务" : "all services";
        return value[0] || words[i].field == RF_MODEL_VERSION ? value : "?";
    }
    return "?";
}

static void fill(struct buf *out, const char *text, const struct record *r, bool chinese)
{
    for (const char *c = text; *c;) {
        const char *end = *c == '{' ? strchr(c, '}') : NULL;
        if (!end) {
            buf_putc(out, *c++);
            continue;
        }
        told_cut(out, word_of(r, c + 1, (size_t)(end - c - 1), chinese), 80);
        c = end + 1;
    }
    while (out->len && out->data[out->len - 1] == ' ') out->data[--out->len] = '\0';
}

static char *title_of(const char *text, const struct record *r, bool chinese)
{
    struct buf b = BUF_INIT;
    fill(&b, text, r, chinese);
    char *title = one_line(buf_text(&b), TITLE_MOST);
    buf_free(&b);
    return title;
}

/* ---- what belongs to it ---- */

static void detail(struct told *t, const char *label, const char *value)
{
    struct buf b = BUF_INIT;
    if (!value[0] || t->detail_n == TOLD_DETAILS) return;
    told_cut(&b, value, DETAIL_MOST);
    t->details[t->detail_n].label = label;
    t->details[t->detail_n++].value = taken(&b);
}

static void reason_detail(struct told *t, const char *label, const char *code, bool chinese)
{
    struct buf b = BUF_INIT;
    enum reason reason;
    const char *sentence = "";
    if (!code[0]) return;
    if (!chinese && reason_parse(code, &reason)) sentence = reason_sentence(reason);
    for (size_t i = 0; chinese && i < ARRAY_LEN(reasons_zh); i++) {
        if (text_eq(reasons_zh[i].code, code)) sentence = reasons_zh[i].zh;
    }
    buf_puts(&b, code);
    if (sentence[0]) buf_printf(&b, chinese ? "（%s）" : " (%s)", sentence);
    detail(t, label, buf_text(&b));
    buf_free(&b);
}

/* Gates are of interest where one was shut: nothing else says why nobody acted. */
static bool tells_gates(enum record_kind k) { return k == RECORD_HANDOVER || k == RECORD_REQUEST || k == RECORD_WOULD; }

static void details(struct told *t, const struct record *r, bool chinese)
{
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        enum record_field f = labels[i].field;
        const char *label = labels[i].text[chinese];
        if (f == RF_GATES && !tells_gates(r->kind)) continue;
        if (f == RF_CAUSES && r->kind == RECORD_CLOSED) continue;
        if (f == RF_REASON) reason_detail(t, label, record_get_text(r, f), chinese);
        else detail(t, label, record_get_text(r, f));
    }
}

/* The same matter: an incident and all that is done in it, or the same kind of thing about the same service. */
static void place(struct told *t, const struct record *r)
{
    struct buf key = BUF_INIT, path = BUF_INIT;
    uint64_t incident = record_get_u64(r, RF_INCIDENT, 0);
    if (incident) {
        buf_printf(&key, "%s/", t->service);
        buf_u64(&key, incident);
        buf_printf(&path, "/incidents/%s", buf_text(&key));
    } else if (t->service[0]) {
        buf_printf(&key, "%s:%s", t->service, record_kind_name(r->kind));
        buf_printf(&path, "/services/%s", t->service);
    } else {
        buf_printf(&key, ":%s", record_kind_name(r->kind));
        buf_puts(&path, "/");
    }
    t->key = taken(&key);
    t->path = taken(&path);
}

static enum tone tone_of(const struct record *r)
{
    if (r->kind != RECORD_VERDICT) return headlines[r->kind].tone;
    const char *outcome = record_get_text(r, RF_OUTCOME);
    return text_eq(outcome, "keep") ? TONE_GOOD : text_eq(outcome, "held") ? TONE_BAD : TONE_PLAIN;
}

static int offset_of(const struct policy *p, const char *service)
{
    uint16_t i = p ? policy_service(p, service) : NO_INDEX;
    return i == NO_INDEX ? 0 : p->services[i].utc_offset_s;
}

struct told *told_of_record(uint64_t seq, const struct record *r, const struct policy *p, bool chinese, bool people_only)
{
    const struct headline *h = &headlines[r->kind];
    if (h->who == NOBODY || (people_only && h->who != PEOPLE)) return NULL;
    struct told *t = calloc(1, sizeof *t);
    CHECK_MEMORY(t);
    t->number = seq;
    t->at = (struct wall){record_get_i64(r, RF_AT, 0)};
    t->level = (enum notice)record_severity(r);
    t->kind = (int)r->kind;
    t->tone = tone_of(r);
    t->urgent = r->kind == RECORD_HALT || r->kind == RECORD_UNDO_FAILED;
    t->over = r->kind == RECORD_CLOSED;
    t->service = one_line(record_get_text(r, RF_SERVICE), POLICY_NAME_MAX);
    t->offset_s = offset_of(p, t->service);
    t->title = title_of(h->text[chinese], r, chinese);
    place(t, r);
    details(t, r, chinese);
    return t;
}

struct told *told_of_notice(uint64_t number, struct wall at, enum notice level, const char *service, const char *subject,
                            const char *text, bool chinese)
{
    struct told *t = calloc(1, sizeof *t);
    struct record r;
    const char *headline = subject;
    struct buf key = BUF_INIT, path = BUF_INIT;
    CHECK_MEMORY(t);
    record_init(&r, RECORD_START);
    record_text(&r, RF_SERVICE, service);
    for (size_t i = 0; i < ARRAY_LEN(notices); i++) {
        if (text_eq(notices[i].subject, subject)) headline = notices[i].text[chinese];
    }
    buf_printf(&key, "%s!%s", service, subject);
    buf_puts(&path, service[0] ? "/services/" : "/");
    buf_puts(&path, service);
    *t = (struct told){.number = number | TOLD_NOTICE, .at = at, .level = level, .kind = -1,
                       .urgent = level == NOTICE_PAGE && (!service[0] || text_eq(subject, "common cause")),
                       .tone = level == NOTICE_INFO ? TONE_PLAIN : TONE_BAD, .service = one_line(service, POLICY_NAME_MAX),
                       .key = taken(&key), .path = taken(&path), .title = title_of(headline, &r, chinese)};
    detail(t, chinese ? "说明" : "In words", text);
    return t;
}

struct told *told_of_test(const char *receiver, struct wall at, bool chinese)
{
    struct told *t = calloc(1, sizeof *t);
    struct buf title = BUF_INIT;
    CHECK_MEMORY(t);
    buf_printf(&title, chinese ? "trimtab 测试消息：%s 可以收到通知" : "trimtab test message: %s hears of it", receiver);
    *t = (struct told){.at = at, .kind = -1, .tone = TONE_GOOD, .service = one_line("", 1), .key = one_line("!test", 9),
                       .path = one_line("/", 1), .title = taken(&title)};
    return t;
}

void told_free(struct told *t)
{
    if (!t) return;
    for (unsigned i = 0; i < t->detail_n; i++) free(t->details[i].value);
    free(t->service);
    free(t->key);
    free(t->title);
    free(t->path);
    buf_free(&t->body);
    free(t);
}
