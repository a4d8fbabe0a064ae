/* What an answer means. */
#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/notify_format.h"
#include "base/text.h"

#define PAUSE_ASKED_MOST US_PER_HOUR
#define PAUSE_THROTTLED US_PER_MIN
#define PAUSE_REFUSED US_PER_MIN          /* a key or an address that a person has to mend */
#define PAUSE_DINGTALK (10 * US_PER_MIN)  /* so long it throttles a robot that was too fast */

enum sense { SENSE_MESSAGE, SENSE_RECEIVER, SENSE_RATE, SENSE_LATER };

/* Codes in bodies. What is not here is taken to be about the message. */
static const struct { enum receiver_type type; long code; enum sense sense; } codes[] = {
    {RECEIVER_DINGTALK, 310000, SENSE_RECEIVER},   /* signature, keyword or address of the sender */
    {RECEIVER_DINGTALK, 300001, SENSE_RECEIVER},   /* token */
    {RECEIVER_DINGTALK, 40035, SENSE_RECEIVER},
    {RECEIVER_DINGTALK, 130101, SENSE_RATE},
    {RECEIVER_DINGTALK, -1, SENSE_LATER},          /* "system busy" */
    {RECEIVER_FEISHU, 19001, SENSE_RECEIVER},
    {RECEIVER_FEISHU, 19021, SENSE_RECEIVER},      /* signature or time */
    {RECEIVER_FEISHU, 19022, SENSE_RECEIVER},      /* address of the sender */
    {RECEIVER_FEISHU, 19024, SENSE_RECEIVER},      /* keyword */
    {RECEIVER_FEISHU, 11232, SENSE_RATE},
    {RECEIVER_WECOM, 93000, SENSE_RECEIVER},       /* address */
    {RECEIVER_WECOM, 45009, SENSE_RATE},
    {RECEIVER_WECOM, -1, SENSE_LATER},
};

static void decide(struct notify_verdict *v, enum sense s, enum receiver_type t)
{
    v->how = s == SENSE_MESSAGE ? DELIVERY_REFUSED : DELIVERY_LATER;
    v->receiver_wrong = s == SENSE_RECEIVER;
    if (s == SENSE_RECEIVER) v->pause = PAUSE_REFUSED;
    else if (s == SENSE_RATE) v->pause = t == RECEIVER_DINGTALK ? PAUSE_DINGTALK : PAUSE_THROTTLED;
    else v->pause = 0;
}

/* Seconds or a date, at most an hour. */
static int64_t asked_pause(const char *header, int64_t real_us)
{
    char *end;
    if (!header[0]) return PAUSE_THROTTLED;
    long seconds = strtol(header, &end, 10);
    if (*end) {
        time_t at = curl_getdate(header, NULL);
        seconds = at < 0 ? 60 : (long)(at - (time_t)(real_us / US_PER_S));
    }
    if (seconds < 1) return US_PER_S;
    return seconds > PAUSE_ASKED_MOST / US_PER_S ? PAUSE_ASKED_MOST : seconds * US_PER_S;
}

static const char *advice(long http)
{
    switch (http) {
    case 401:
    case 403: return "; look at the token or key in its file";
    case 404:
    case 410: return "; look at the address";
    default: return http >= 300 && http < 400 ? "; redirects are not followed: give the address it ends at" : "";
    }
}

static void by_status(struct notify_verdict *v, enum receiver_type t, const struct fetch_result *r, int64_t real_us)
{
    long http = r->http;
    char body[600] = "";
    bool moved = http >= 300 && http < 400;
    decide(v, http >= 500 || http == 408 ? SENSE_LATER : http == 429 ? SENSE_RATE
              : http == 401 || http == 403 || http == 404 || http == 410 || moved ? SENSE_RECEIVER : SENSE_MESSAGE, t);
    if (http == 429 || (http == 503 && r->wanted[0])) v->pause = asked_pause(r->wanted, real_us);
    for (size_t i = 0; !moved && i < r->len && i + 1 < sizeof body; i++) {
        unsigned char c = (unsigned char)r->body[i];
        body[i] = c < ' ' || c > '~' ? ' ' : (char)c;
    }
    snprintf(v->why, sizeof v->why, "HTTP %ld%s%s%s", http, body[0] ? ": " : "", body, advice(http));
}

static json_t *body_of(const struct fetch_result *r)
{
    json_t *o = json_loadb(r->body, r->len, JSON_REJECT_DUPLICATES, NULL);
    if (o && !json_is_object(o)) {
        json_decref(o);
        o = NULL;
    }
    return o;
}

static void garbage(struct notify_verdict *v)
{
    v->how = DELIVERY_LATER;
    v->receiver_wrong = true;
    v->pause = PAUSE_REFUSED;
    (void)text_copy(v->why, sizeof v->why, "it answers, but not as this kind of receiver does; look at the address and the type");
}

static void by_code(struct notify_verdict *v, enum receiver_type t, const struct fetch_result *r, const char *code_key,
                    const char *text_key)
{
    json_t *o = body_of(r), *code = json_object_get(o, code_key);
    if (!json_is_integer(code)) {
        garbage(v);
    } else if (json_integer_value(code) == 0) {
        v->how = DELIVERY_TAKEN;
    } else {
        enum sense s = SENSE_MESSAGE;
        const char *text = json_string_value(json_object_get(o, text_key));
        for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
            if (codes[i].type == t && codes[i].code == json_integer_value(code)) s = codes[i].sense;
        }
        decide(v, s, t);
        snprintf(v->why, sizeof v->why, "%s %lld: %.600s", code_key, (long long)json_integer_value(code), text ? text : "no words");
        for (char *c = v->why; *c; c++) {
            if ((unsigned char)*c < ' ') *c = ' ';
        }
    }
    json_decref(o);
}

static void by_annotation(struct notify_verdict *v, const struct fetch_result *r)
{
    json_t *o = body_of(r);
    if (json_is_integer(json_object_get(o, "id"))) v->how = DELIVERY_TAKEN;
    else garbage(v);
    json_decref(o);
}

void notify_judge(struct notify_verdict *ret, enum receiver_type t, const struct fetch_result *r, int64_t real_us)
{
    *ret = (struct notify_verdict){.how = DELIVERY_LATER};
    if (r->outcome != FETCH_ANSWER) {
        (void)text_copy(ret->why, sizeof ret->why, r->error);
    } else if (r->http < 200 || r->http > 299) {
        by_status(ret, t, r, real_us);
    } else if (t == RECEIVER_DINGTALK || t == RECEIVER_WECOM) {
        by_code(ret, t, r, "errcode", "errmsg");
    } else if (t == RECEIVER_FEISHU) {
        by_code(ret, t, r, "code", "msg");
    } else if (t == RECEIVER_SLACK) {
        if (r->len == 2 && memcmp(r->body, "ok", 2) == 0) ret->how = DELIVERY_TAKEN;
        else garbage(ret);
    } else if (t == RECEIVER_GRAFANA) {
        by_annotation(ret, r);
    } else {
        ret->how = DELIVERY_TAKEN;
    }
}
