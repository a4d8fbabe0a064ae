/* `trimtab init --prometheus`: which servers a Prometheus-compatible server watches, and what it has of them. */
#include <curl/curl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/init.h"
#include "app/page_fetch.h"
#include "app/paths.h"
#include "base/num.h"
#include "base/text.h"
#include "promql/promql.h"

#define ANSWER_MAX ((size_t)32 << 20)

/* GET URL/api/v1/PATH?KEY=TEXT; its `data`, NULL: said on stderr. */
static json_t *ask(const char *server, const char *path, const char *key, const char *text)
{
    struct buf url = BUF_INIT, answer = BUF_INIT;
    struct err e;
    json_t *data = NULL;
    size_t n = strlen(server);
    while (n && server[n - 1] == '/') n--;
    buf_printf(&url, "%.*s/api/v1/%s", (int)n, server, path);
    char *escaped = text ? curl_easy_escape(NULL, text, 0) : NULL;
    if (escaped) buf_printf(&url, "?%s=%s", key, escaped);
    curl_free(escaped);
    if (page_get(buf_text(&url), ANSWER_MAX, &answer, &e) == STATUS_OK) {
        json_t *root = json_loadb(buf_text(&answer), answer.len, 0, NULL);
        data = json_incref(json_object_get(root, "data"));
        if (!data) fprintf(stderr, "trimtab init: %s does not answer as Prometheus does\n", buf_text(&url));
        json_decref(root);
    } else {
        fprintf(stderr, "trimtab init: %s\n", e.text);
    }
    buf_free(&url);
    buf_free(&answer);
    return data;
}

/* The value of the query's only series; NAN: none, several, or no number. *ret_n: how many there are. */
static double one_value(const char *server, const char *query, size_t *ret_n)
{
    json_t *data = ask(server, "query", "query", query), *result = json_object_get(data, "result");
    double v = NAN;
    *ret_n = 0;
    if (text_eq(json_string_value(json_object_get(data, "resultType")), "scalar")) {
        const char *text = json_string_value(json_array_get(result, 1));
        *ret_n = text && num_parse_all(text, strlen(text), &v);
    } else if (json_is_array(result)) {
        *ret_n = json_array_size(result);
        const char *text = json_string_value(json_array_get(json_object_get(json_array_get(result, 0), "value"), 1));
        if (*ret_n == 1 && text && !num_parse_all(text, strlen(text), &v)) v = NAN;
    }
    json_decref(data);
    return v;
}

/* The metric names of one job as a page of ones, which presets can recognise. */
static bool job_page(const char *server, const char *job, struct buf *page)
{
    struct buf query = BUF_INIT;
    buf_printf(&query, "count by (__name__) ({job=\"%s\"})", job);
    json_t *data = ask(server, "query", "query", buf_text(&query)), *row;
    size_t i;
    json_array_foreach(json_object_get(data, "result"), i, row) {
        const char *name = json_string_value(json_object_get(json_object_get(row, "metric"), "__name__"));
        if (name) buf_printf(page, "%s 1\n", name);
    }
    bool ok = data != NULL;
    json_decref(data);
    buf_free(&query);
    return ok;
}

/* A pattern with a label is not told by names: it is asked for, and stands on the page when it is there. */
static void add_labelled(const char *server, const char *job, const struct preset_info *info, struct buf *page)
{
    for (uint32_t i = 0; i < info->has.n; i++)
        for (const char *t = info->has.items[i]; *t;) {
            size_t n = strcspn(t, "|"), found = 0;
            if (n > 1 && memchr(t, '{', n) && t[n - 1] == '}') {
                struct buf query = BUF_INIT;
                buf_printf(&query, "count(%.*s,job=\"%s\"})", (int)(n - 1), t, job);
                one_value(server, buf_text(&query), &found);
                buf_free(&query);
            }
            if (found) buf_printf(page, "%.*s 1\n", (int)n, t);
            t += n + (t[n] == '|');
        }
}

/* Each signal is asked as the daemon would. */
static void try_signals(struct init_found *f, const char *server, const struct buf *page)
{
    const struct service_def *s = &f->policy->services[0];
    for (uint16_t i = 0; i < s->signal_count; i++) {
        struct probe_signal *out = &f->signals[i];
        const char *names[16];
        size_t n;
        double v = one_value(server, s->signals[i].query_text, &n);
        bool there = false;
        uint32_t count = s->signals[i].query ? pq_metric_names(s->signals[i].query, names, ARRAY_LEN(names)) : 0;
        for (uint32_t k = 0; k < count && k < ARRAY_LEN(names) && !there; k++)
            there = names[k] && probe_has(names[k], buf_text(page), page->len, EXPO_TEXT);
        *out = (struct probe_signal){.name = s->signals[i].name, .value = isfinite(v) ? v : 0, .why = WHY_MISSING};
        out->state = n > 0 ? PROBE_KNOWN : there ? PROBE_QUIET : PROBE_ABSENT;   /* not a number: no request came */
    }
}

/* Scrapes of a job in two minutes tell their interval; four of them make a range. */
static void take_range(struct init_plan *p, const char *job)
{
    char query[300];
    size_t n;
    snprintf(query, sizeof query, "max(count_over_time(up{job=\"%.200s\"}[2m]))", job);
    double count = one_value(p->prometheus, query, &n);
    unsigned seconds = isfinite(count) && count >= 1 ? (unsigned)ceil(4 * 120 / count / 30) * 30 : 120;
    if (seconds < 60) seconds = 60;
    snprintf(p->range, sizeof p->range, "%us", seconds);
}

/* The job's name as far as a service may be called so. */
static void name_service(struct init_service *s, const char *job, const char *otherwise)
{
    size_t len = 0;
    for (const char *c = job; *c && len < sizeof s->name - 1; c++) {
        bool fits = (*c >= 'a' && *c <= 'z') || (len && ((*c >= '0' && *c <= '9') || *c == '-' || *c == '_'));
        if (fits) s->name[len++] = *c;
        else if (len) s->name[len++] = '-';
    }
    if (!len) text_copy(s->name, sizeof s->name, otherwise);
}

static bool add_preset(struct init_plan *p, struct init_service *s, const char *name, const char *job, const struct buf *page)
{
    char dir[1024];
    const char *presets = paths_presets(dir, sizeof dir);
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct init_found *f = init_found_new(p, &(struct preset_info){.name = name});
    bool ok = f && config_preset_read(&f->arena, presets, name, &f->info, &d);
    for (uint32_t i = 0; ok && i < f->info.signal_count; i++)
        if (f->info.signals[i].layer == LAYER_REQUEST) f->exporter = false;
    struct buf more = BUF_INIT;
    buf_printf(&more, "where: 'job=\"%s\"', range: %s", job, p->range);
    if (ok) f->policy = probe_policy(&f->info, presets, buf_text(&more), &d);
    buf_free(&more);
    ok = ok && f->policy && text_copy(f->job, sizeof f->job, job);
    config_diagnostics_free(&d);
    if (!ok) return false;
    if (s->n == 0) name_service(s, job, name);
    try_signals(f, p->prometheus, page);
    s->found[s->n++] = f;
    return true;
}

static bool add_job(struct init_plan *p, const char *job)
{
    struct buf page = BUF_INIT;
    struct init_service *s = &p->services[p->service_n];
    char dir[1024];
    const char *presets = paths_presets(dir, sizeof dir);
    bool ok = job_page(p->prometheus, job, &page);
    take_range(p, job);
    for (uint32_t i = 0; ok && config_preset_name(i) && s->n < INIT_FOUND_MAX; i++) {
        struct arena a = ARENA_INIT;
        struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
        struct preset_info info;
        ok = config_preset_read(&a, presets, config_preset_name(i), &info, &d);
        if (ok) add_labelled(p->prometheus, job, &info, &page);
        if (ok && probe_matches(&info, buf_text(&page), page.len, EXPO_TEXT))
            ok = add_preset(p, s, config_preset_name(i), job, &page);
        config_diagnostics_free(&d);
        arena_free(&a);
    }
    if (ok && s->n) {
        text_copy(s->range, sizeof s->range, p->range);
        p->service_n++;
    }
    buf_free(&page);
    return ok;
}

/* Services of the same name would be refused: the later one takes its number. */
static void number_names(struct init_plan *p, const char *name)
{
    if (name && p->service_n == 1) text_copy(p->services[0].name, sizeof p->services[0].name, name);
    for (uint32_t i = 1; i < p->service_n; i++)
        for (uint32_t k = 0; k < i; k++) {
            struct buf numbered = BUF_INIT;
            if (!text_eq(p->services[i].name, p->services[k].name)) continue;
            buf_printf(&numbered, "%.50s-%u", p->services[i].name, i + 1);
            text_copy(p->services[i].name, sizeof p->services[i].name, buf_text(&numbered));
            buf_free(&numbered);
        }
}

bool init_from_prometheus(struct init_plan *p, const char *name)
{
    json_t *jobs = ask(p->prometheus, "label/job/values", NULL, NULL), *job;
    bool ok = json_is_array(jobs);
    size_t i;
    json_array_foreach(jobs, i, job) {
        const char *text = json_string_value(job);
        if (!ok || !text) continue;
        bool fits = !strpbrk(text, "\"\\'\n") && p->service_n < INIT_SERVICES_MAX;
        if (fits) ok = add_job(p, text);
        else fprintf(stderr, "trimtab init: job %s is left out: %s\n", text,
                     p->service_n < INIT_SERVICES_MAX ? "quotes in its name" : "too many of them");
    }
    json_decref(jobs);
    if (ok && p->service_n == 0) {
        fprintf(stderr, "trimtab init: no job of %s has metrics that a preset knows; 'trimtab preset list' names the servers\n",
                p->prometheus);
        ok = false;
    }
    number_names(p, name);
    return ok;
}
