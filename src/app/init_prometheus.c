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

/* All metric names as a page of ones, which presets can recognise. */
static bool names_page(const char *server, struct buf *page)
{
    json_t *data = ask(server, "label/__name__/values", NULL, NULL), *name;
    size_t i;
    json_array_foreach(data, i, name)
        if (json_is_string(name)) buf_printf(page, "%s 1\n", json_string_value(name));
    bool ok = json_is_array(data);
    json_decref(data);
    return ok;
}

/* The first metric of this preset that the server has: what its jobs are looked up by. */
static bool first_metric(const struct preset_info *info, const struct buf *page, char *out, size_t cap)
{
    for (const char *line = buf_text(page); *line; line += strcspn(line, "\n") + 1) {
        size_t n = strcspn(line, " \n");
        char one[400];
        if (n >= cap || n + 4 > sizeof one) continue;
        int len = snprintf(one, sizeof one, "%.*s 1\n", (int)n, line);
        for (uint32_t i = 0; i < info->has.n; i++) {
            if (!probe_has(info->has.items[i], one, (size_t)len, EXPO_TEXT)) continue;
            memcpy(out, line, n);
            out[n] = '\0';
            return true;
        }
        if (line[strcspn(line, "\n")] == '\0') break;
    }
    return false;
}

/* Each signal is asked as the daemon would. */
static void try_signals(struct init_found *f, const char *server, const struct buf *page)
{
    const struct service_def *s = &f->policy->services[0];
    for (uint16_t i = 0; i < s->signal_count; i++) {
        struct probe_signal *out = &f->signals[i];
        size_t n;
        double v = one_value(server, s->signals[i].query_text, &n);
        bool there = false;
        const char *names[16];
        uint32_t count = s->signals[i].query ? pq_metric_names(s->signals[i].query, names, ARRAY_LEN(names)) : 0;
        for (uint32_t k = 0; k < count && k < ARRAY_LEN(names) && !there; k++)
            there = names[k] && probe_has(names[k], buf_text(page), page->len, EXPO_TEXT);
        *out = (struct probe_signal){.name = s->signals[i].name, .value = isfinite(v) ? v : 0, .why = WHY_MISSING};
        out->state = n > 0 ? PROBE_KNOWN : there ? PROBE_QUIET : PROBE_ABSENT;   /* not a number: no request came */
    }
}

/* Scrapes of a job in ten minutes tell their interval; four of them make a range. */
static void take_range(struct init_plan *p, const char *job)
{
    char query[300];
    size_t n;
    snprintf(query, sizeof query, "max(count_over_time(up{job=\"%.200s\"}[10m]))", job);
    double count = one_value(p->prometheus, query, &n);
    unsigned seconds = isfinite(count) && count >= 1 ? (unsigned)ceil(4 * 600 / count / 30) * 30 : 120;
    if (seconds < 60) seconds = 60;
    if (seconds > 600) seconds = 600;          /* little history: the count says nothing yet */
    if (!p->range[0]) snprintf(p->range, sizeof p->range, "%us", seconds);
}

static bool add_service(struct init_plan *p, const struct preset_info *info, const char *job, const struct buf *page)
{
    char dir[1024];
    const char *presets = paths_presets(dir, sizeof dir);
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct init_found *f = init_found_new(p, info);
    bool ok = f && config_preset_read(&f->arena, presets, info->name, &f->info, &d);
    if (ok) f->policy = probe_policy(&f->info, presets, &d);
    ok = ok && f->policy && text_copy(f->job, sizeof f->job, job);
    config_diagnostics_free(&d);
    if (!ok) return false;
    try_signals(f, p->prometheus, page);
    take_range(p, job);
    if (p->service_n == INIT_SERVICES_MAX) return true;
    struct init_service *s = &p->services[p->service_n++];
    s->found[s->n++] = f;
    size_t len = 0;
    for (const char *c = job; *c && len < sizeof s->name - 1; c++) {
        bool fits = (*c >= 'a' && *c <= 'z') || (len && ((*c >= '0' && *c <= '9') || *c == '-' || *c == '_'));
        if (fits) s->name[len++] = *c;
        else if (len) s->name[len++] = '-';
    }
    if (!len) snprintf(s->name, sizeof s->name, "%s", info->name);
    return true;
}

static bool add_jobs(struct init_plan *p, const struct preset_info *info, const struct buf *page)
{
    char metric[200], query[300];
    bool ok = true;
    if (!first_metric(info, page, metric, sizeof metric)) return true;
    snprintf(query, sizeof query, "count by (job) ({__name__=\"%s\"})", metric);
    json_t *data = ask(p->prometheus, "query", "query", query), *row;
    size_t i;
    json_array_foreach(json_object_get(data, "result"), i, row) {
        const char *job = json_string_value(json_object_get(json_object_get(row, "metric"), "job"));
        ok = ok && add_service(p, info, job ? job : "", page);
    }
    ok = ok && data != NULL;
    json_decref(data);
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
    struct buf page = BUF_INIT;
    char dir[1024];
    const char *presets = paths_presets(dir, sizeof dir);
    bool ok = names_page(p->prometheus, &page);
    for (uint32_t i = 0; ok && config_preset_name(i); i++) {
        struct arena a = ARENA_INIT;
        struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
        struct preset_info info;
        ok = config_preset_read(&a, presets, config_preset_name(i), &info, &d);
        if (ok && probe_matches(&info, buf_text(&page), page.len, EXPO_TEXT)) ok = add_jobs(p, &info, &page);
        config_diagnostics_free(&d);
        arena_free(&a);
    }
    if (ok && p->service_n == 0) {
        fprintf(stderr, "trimtab init: %s has no metric that a preset knows; 'trimtab preset list' names the servers\n",
                p->prometheus);
        ok = false;
    }
    number_names(p, name);
    buf_free(&page);
    return ok;
}
