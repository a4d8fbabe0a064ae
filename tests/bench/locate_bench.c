/* What the shipped playbook costs: ranking its rows once, as each tick of a service with an incident does, on a service that has
 * every signal, and checking a configuration that includes it, for 1 and for 200 services. CPU time of one core. */
#include <string.h>

#include "bench/fleet.h"
#include "config/load.h"
#include "locate/locate.h"

enum { RANKS = 4000, CHECKS = 20, MANY = 200 };

static void spread(struct datum *items, unsigned n)
{
    for (unsigned i = 0; i < n; i++) items[i] = (struct datum){.value = 1 + i % 7, .n = 60, .why = WHY_KNOWN};
}

/* Microseconds of one ranking; < 0: failed. */
static double rank_us(const struct service_def *s)
{
    static struct datum items[NEEDS_MAX];
    struct evidence e = {.needs = &s->needs, .items = items};
    struct locate_context ctx = {.symptom = 0};
    static struct cause_list list;
    unsigned seen = 0;
    spread(items, s->needs.n);
    double from = fleet_cpu_seconds();
    for (unsigned i = 0; i < RANKS; i++) {
        items[i % s->needs.n].value += 1;
        locate_rank(s, &e, &ctx, &list);
        seen += list.n;
    }
    return seen ? (fleet_cpu_seconds() - from) / RANKS * 1e6 : -1;
}

/* Milliseconds of reading and checking the text; < 0: it was refused. */
static double check_ms(const char *text, size_t len, unsigned times)
{
    struct config_options o = {.points_from_outside = true};
    double from = fleet_cpu_seconds();
    for (unsigned i = 0; i < times; i++) {
        struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
        struct policy *p = config_load(text, len, "bench.yaml", &o, &d);
        config_diagnostics_free(&d);
        if (!p) return -1;
        config_free(p);
    }
    return (fleet_cpu_seconds() - from) / times * 1e3;
}

/* The one service of the file as a profile, and `n` services that take it over. */
static void many_of(struct buf *out, const char *text, unsigned n)
{
    const char *body = strstr(text, "    environment:");
    buf_printf(out, "version: 1\nprofiles:\n  all:\n%s\nservices:\n", body);
    for (unsigned i = 0; i < n; i++) buf_printf(out, "  - {name: s%u, profile: all}\n", i);
}

static bool read_file(struct buf *out, const char *path)
{
    char piece[4096];
    FILE *f = fopen(path, "r");
    if (!f) return false;
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;) buf_add(out, piece, n);
    fclose(f);
    return out->len > 0;
}

int main(void)
{
    struct buf text = BUF_INIT, many = BUF_INIT;
    struct config_options o = {.points_from_outside = true};
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    if (!read_file(&text, SOURCE_DIR "/examples/tests/every-signal.yaml")) return 1;
    struct policy *p = config_load(text.data, text.len, "every-signal.yaml", &o, &d);
    if (!p) return 1;
    fleet_figure("playbook_rows", p->services[0].cause_count, 0, "rows");
    fleet_figure("locate_rank", rank_us(&p->services[0]), 1, "us");
    many_of(&many, buf_text(&text), MANY);
    double one = check_ms(text.data, text.len, CHECKS), all = check_ms(many.data, many.len, 1);
    if (one < 0 || all < 0) return 1;
    fleet_figure("config_check_with_playbook", one, 1, "ms");
    fleet_figure("config_check_with_playbook_200_services", all / MANY, 2, "ms per service");
    config_free(p);
    config_diagnostics_free(&d);
    buf_free(&text);
    buf_free(&many);
    return 0;
}
