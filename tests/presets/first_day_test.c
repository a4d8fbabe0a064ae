/* The first half hour after an installation, in virtual time: what `trimtab init` writes from one look at a page finds a
 * slow server before any baseline is warm, tells it, and changes nothing. */
#include "support/test.h"

#include "app/init.h"
#include "loop/loop.h"
#include "model/record.h"
#include "presets/bed.h"
#include "support/tempdir.h"

#define SLOW_FROM SPAN_MIN(12)
#define END SPAN_MIN(30)

/* 50 requests a second; the latency lies between 25 and 40 ms, and later between 150 and 250 ms. */
static void write_page(struct buf *out, struct instant now, struct instant slow_from)
{
    static const double bounds[] = {0.025, 0.04, 0.15, 0.25};
    int64_t seconds = now.us / US_PER_S + 600, slow = now.us > slow_from.us ? (now.us - slow_from.us) / US_PER_S : 0;
    int64_t all = 50 * seconds, late = 50 * slow;
    int64_t below[] = {0, all - late, all - late, all};
    buf_printf(out, "# TYPE te_request_count counter\nte_request_count{method=\"single\"} %lld\n", (long long)all);
    buf_printf(out, "# TYPE te_request_success counter\nte_request_success{method=\"single\"} %lld\n", (long long)all);
    buf_printf(out, "# TYPE te_queue_size gauge\nte_queue_size %d\n# TYPE te_request_duration histogram\n", slow ? 90 : 3);
    for (unsigned i = 0; i < 4; i++) {
        buf_puts(out, "te_request_duration_bucket{le=\"");
        buf_double(out, bounds[i]);
        buf_printf(out, "\"} %lld\n", (long long)below[i]);
    }
    buf_printf(out, "te_request_duration_bucket{le=\"+Inf\"} %lld\nte_request_duration_sum %lld\nte_request_duration_count %lld\n",
               (long long)all, (long long)((all - late) * 32 / 1000 + late * 200 / 1000), (long long)all);
}

struct day {
    struct loop *loop;
    struct instant now, wake, slow_from, found;
    struct buf told;
    unsigned incidents, writes;
};

static void send(struct day *d, struct event *e);

static void scrape(struct day *d, uint16_t service, uint16_t target)
{
    struct buf page = BUF_INIT;
    write_page(&page, d->now, d->slow_from);
    struct event e = {.kind = EVENT_PAGE, .service = service};
    e.u.page.target = target;
    e.u.page.outcome = PAGE_OK;
    e.u.page.bytes = buf_text(&page);
    e.u.page.len = page.len;
    e.u.page.began = d->now;
    e.u.page.began_wall = (struct wall){d->now.us + INT64_C(1790000000) * US_PER_S};
    send(d, &e);
    buf_free(&page);
}

static void keep(struct day *d, const struct effect *f)
{
    for (uint32_t i = 0; i < f->u.append.n; i++) {
        if (f->u.append.records[i].kind != RECORD_INCIDENT) continue;
        d->incidents++;
        if (!instant_is_set(d->found)) d->found = d->now;
    }
}

/* Effects die with the next step: their numbers are copied first. */
static void send(struct day *d, struct event *e)
{
    struct update u;
    struct effect f[64];
    e->now = d->now;
    e->wall = (struct wall){d->now.us + INT64_C(1790000000) * US_PER_S};
    loop_step(d->loop, e, &u);
    d->wake = u.wake_at;
    uint32_t n = u.n;
    assert_true(n <= ARRAY_LEN(f));
    for (uint32_t i = 0; i < n; i++) {
        f[i] = u.effects[i];
        if (f[i].kind == EFFECT_APPEND) keep(d, &f[i]);
        if (f[i].kind == EFFECT_NOTIFY) buf_printf(&d->told, "%s: %s\n", f[i].u.notify.subject, f[i].u.notify.text);
        d->writes += f[i].kind == EFFECT_WRITE;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct event ack = {.kind = EVENT_ACK, .service = f[i].service};
        ack.u.ack.token = f[i].kind == EFFECT_APPEND ? f[i].u.append.token : 0;
        if (f[i].kind == EFFECT_APPEND && f[i].service != ALL_SERVICES && ack.u.ack.token) send(d, &ack);
        else if (f[i].kind == EFFECT_POLL) scrape(d, f[i].service, f[i].u.poll.target);
        else if (f[i].kind == EFFECT_FOLD) send(d, &(struct event){.kind = EVENT_FOLDED, .service = f[i].service});
    }
}

static void live(struct day *d, struct policy *p, struct span until)
{
    d->found = INSTANT_NONE;
    d->loop = loop_new(p, d->now, (struct wall){INT64_C(1790000000) * US_PER_S},
                       (struct loop_options){.alone = true, .save_every = SPAN_DAY(3650)});
    assert_non_null(d->loop);
    send(d, &(struct event){.kind = EVENT_FOLDED, .service = ALL_SERVICES});
    while (d->wake.us <= until.us) {
        d->now = instant_max(d->now, d->wake);
        send(d, &(struct event){.kind = EVENT_TIME, .service = ALL_SERVICES});
    }
    loop_free(d->loop);
}

/* The configuration as the command writes it, from the page of a healthy server. */
static struct policy *installed(struct buf *text)
{
    static struct init_plan plan;
    char dir[TEMPDIR_MAX], path[TEMPDIR_MAX + 16];
    const char *urls[] = {path};
    struct buf page = BUF_INIT;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    tempdir_make(dir);
    snprintf(path, sizeof path, "%s/page", dir);
    write_page(&page, (struct instant){0}, INSTANT_NEVER);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fwrite(page.data, 1, page.len, f);
    fclose(f);
    assert_true(init_from_targets(&plan, urls, 1, "embedding"));
    snprintf(plan.found[0]->url, sizeof plan.found[0]->url, "http://tei:80/metrics");
    init_write(text, &plan);
    struct policy *p = config_load(buf_text(text), text->len, "t.yaml", NULL, &d);
    assert_non_null(p);
    init_plan_free(&plan);
    plan = (struct init_plan){.objective = NULL};
    config_diagnostics_free(&d);
    buf_free(&page);
    tempdir_remove(dir);
    return p;
}

static void a_slow_server_is_found_in_the_first_half_hour(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    struct policy *p = installed(&text);
    struct day d = {.slow_from = {SLOW_FROM.us}};
    assert_int_equal(MODE_ALERT, p->services[0].mode);
    /* p99 of the healthy page: 25 + 0.99 * 15 = 39.85 ms; half as much again, in two digits: 60 ms. */
    assert_non_null(strstr(buf_text(&text), "slo: {when: latency_p99 > 60 ms, slo: true}"));
    assert_non_null(strstr(buf_text(&text), "layer system: MISSING; whether there is room left is not seen"));
    assert_non_null(strstr(buf_text(&text), "layer data: MISSING; whether an upstream is late is not seen"));
    live(&d, p, END);
    print_message("found %lld s after it began, %lld s after the installation\n",
                  (long long)((d.found.us - SLOW_FROM.us) / US_PER_S), (long long)(d.found.us / US_PER_S));
    assert_int_equal(1, d.incidents);
    assert_true(d.found.us > SLOW_FROM.us && d.found.us <= SLOW_FROM.us + SPAN_MIN(2).us);
    assert_int_equal(0, d.writes);
    assert_non_null(strstr(buf_text(&d.told), "embedding"));
    buf_free(&d.told);
    buf_free(&text);
    config_free(p);
}

static void a_healthy_server_is_left_in_peace(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    struct policy *p = installed(&text);
    struct day d = {.slow_from = INSTANT_NEVER};
    live(&d, p, END);
    assert_int_equal(0, d.incidents);
    assert_int_equal(0, d.writes);
    buf_free(&d.told);
    buf_free(&text);
    config_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_server_is_found_in_the_first_half_hour),
        cmocka_unit_test(a_healthy_server_is_left_in_peace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
