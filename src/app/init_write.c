/* The configuration that `trimtab init` writes, with the reasons beside it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/init.h"
#include "base/text.h"

static const char *const missing[LAYER_COUNT] = {
    [LAYER_REQUEST] = "what users feel is not seen: nothing can be judged, so nothing will ever be changed, only reported",
    [LAYER_PROCESSING] = "where work piles up is not seen: queue, batch and kernel cannot be told apart as causes",
    [LAYER_SYSTEM] = "whether there is room left is not seen: a busy GPU, a throttled CPU or a leak looks like any other cause",
    [LAYER_DATA] = "whether an upstream is late is not seen: slow features or caches will look like the server's own fault",
};
static const char *const remedy[LAYER_COUNT] = {
    [LAYER_REQUEST] = "take latency and errors from the gateway (preset envoy)",
    [LAYER_PROCESSING] = "use the server's own page",
    [LAYER_SYSTEM] = "add exporters with their presets: dcgm, cadvisor, node",
    [LAYER_DATA] = "add preset redis, or a histogram of your application as signal feature_fetch_ms",
};

static const struct preset_signal *said_of(const struct init_found *f, const char *name)
{
    for (uint32_t i = 0; i < f->info.signal_count; i++)
        if (strcmp(f->info.signals[i].name, name) == 0) return &f->info.signals[i];
    return NULL;
}

/* Of two presets the first gives it. An optional signal must speak; a usual one may be silent before the first request. */
static bool is_taken(const struct init_service *s, uint32_t found, uint16_t signal)
{
    const struct init_found *f = s->found[found];
    const char *name = f->policy->services[0].signals[signal].name;
    const struct preset_signal *of = said_of(f, name);
    for (uint32_t i = 0; i < found; i++)
        if (service_signal(&s->found[i]->policy->services[0], name) != NO_INDEX) return false;
    enum probe_state state = f->signals[signal].state;
    return state == PROBE_KNOWN || (state == PROBE_QUIET && of && !of->optional);
}

/* `lengths`: only those of inputs and answers, which say nothing about an upstream. */
static unsigned count_layer(const struct init_service *s, enum layer layer, bool lengths)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct service_def *d = &s->found[i]->policy->services[0];
        for (uint16_t k = 0; k < d->signal_count; k++)
            n += d->signals[k].layer == layer && is_taken(s, i, k) && (strstr(d->signals[k].name, "_len_") != NULL) == lengths;
    }
    return n;
}

void init_layers(struct buf *out, const struct init_service *s, const char *margin)
{
    for (int l = 0; l < LAYER_COUNT; l++) {
        unsigned n = count_layer(s, (enum layer)l, false), lengths = count_layer(s, (enum layer)l, true);
        buf_printf(out, "%slayer %s: ", margin, layer_name((enum layer)l));
        if (n) buf_printf(out, "%u signal%s\n", n + lengths, n + lengths == 1 ? "" : "s");
        else buf_printf(out, "MISSING%s; %s\n%s  %s\n", lengths ? " but for lengths" : "", missing[l], margin, remedy[l]);
    }
}

static void write_names(struct buf *out, const char *key, const char *const *names, unsigned n, const char *comment)
{
    if (n == 0) return;
    buf_printf(out, "    %s:", key);
    if (comment[0]) buf_printf(out, "   # %s", comment);
    buf_putc(out, '\n');
    for (unsigned i = 0; i < n; i++) buf_printf(out, "      - %s\n", names[i]);
}

/* Optional signals that are there, and usual ones that no preset of the service can give. */
static void write_choice(struct buf *out, const struct init_service *s)
{
    const char *with[POLICY_SIGNALS_MAX], *without[POLICY_SIGNALS_MAX];
    unsigned with_n = 0, without_n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct service_def *d = &s->found[i]->policy->services[0];
        for (uint16_t k = 0; k < d->signal_count; k++) {
            const struct preset_signal *of = said_of(s->found[i], d->signals[k].name);
            bool there = is_taken(s, i, k);
            if (there && of && of->optional && with_n < ARRAY_LEN(with)) with[with_n++] = of->name;
            if (!there && of && !of->optional && !init_signal(s, of->name, NULL) && without_n < ARRAY_LEN(without))
                without[without_n++] = of->name;
        }
    }
    write_names(out, "with", with, with_n, "optional signals that are there");
    write_names(out, "without", without, without_n, "not there: a signal that is never known only holds decisions up");
}

/* A first objective: half as much again as what is measured now, to two digits. */
static double first_objective(double now)
{
    double step = 1;
    double v = 1.5 * now;
    while (v / step >= 100) step *= 10;
    while (v / step < 10) step /= 10;
    return ceil(v / step) * step;
}

static void write_objective(struct buf *out, const struct init_plan *p, const struct init_service *s)
{
    enum unit unit = UNIT_MS;
    const struct probe_signal *latency = NULL;
    const char *const *name = init_latencies;
    for (; *name && !latency; name++) latency = init_signal(s, *name, &unit);
    if (!latency) {
        buf_puts(out, "    # No latency is measured, so there is no objective to write here.\n");
        return;
    }
    struct buf value = BUF_INIT;
    bool measured = latency->state == PROBE_KNOWN && latency->value > 0;
    if (p->objective) {
        buf_puts(&value, p->objective);
    } else {
        buf_double(&value, measured ? first_objective(latency->value) : 1000);
        buf_printf(&value, " %s", unit_name(unit));
    }
    if (p->objective)
        buf_puts(out, "    # The promise to users. It is watched from the first minute, before any baseline is warm.\n");
    else if (measured)
        buf_puts(out, "    # A guess: half as much again as was measured while this was written. Put your promise to users here;\n"
                      "    # it is watched from the first minute, before any baseline is warm.\n");
    else buf_puts(out, "    # A guess: there was no traffic to measure. Put your promise to users here.\n");
    buf_printf(out, "    symptoms:\n      slo: {when: %s > %s, slo: true}\n", latency->name, buf_text(&value));
    buf_free(&value);
}

/* Another instance of a server that was written already. */
static bool is_again(const struct init_service *s, uint32_t found)
{
    for (uint32_t i = 0; i < found; i++)
        if (strcmp(s->found[i]->info.name, s->found[found]->info.name) == 0) return true;
    return false;
}

static void write_presets(struct buf *out, const struct init_service *s)
{
    buf_puts(out, "    preset: [");
    for (uint32_t i = 0; i < s->n; i++) {
        if (!is_again(s, i)) buf_printf(out, "%s%s", i ? ", " : "", s->found[i]->info.name);
    }
    buf_puts(out, "]   # trimtab preset show NAME; docs/presets.md\n");
}

static bool same_host(const char *a, const char *b)
{
    const char *x = strstr(a, "://"), *y = strstr(b, "://");
    if (!x || !y) return false;
    size_t n = strcspn(x + 3, "/?#");
    return n == strcspn(y + 3, "/?#") && strncmp(x, y, n + 3) == 0;
}

static void write_source(struct buf *out, const struct init_plan *p, const struct init_service *s)
{
    if (p->prometheus) {
        buf_puts(out, "    source: prometheus\n");
        buf_puts(out, "    where: {");
        for (uint32_t i = 0; i < s->n; i++)
            buf_printf(out, "%s%s: 'job=\"%s\"'", i ? ", " : "", s->found[i]->info.name, s->found[i]->job);
        buf_puts(out, "}\n");
        if (s->range[0]) buf_printf(out, "    range: %s        # at least three scrapes of the server\n", s->range);
        return;
    }
    buf_puts(out, "    targets:           # all instances of the service; those with `exporter` measure beside it\n");
    for (uint32_t i = 0; i < s->n; i++) {
        const struct init_found *f = s->found[i];
        bool again = false;
        for (uint32_t k = 0; k < i; k++) again = again || strcmp(s->found[k]->url, f->url) == 0;
        if (again) continue;
        bool beside = f->exporter && !s->found[0]->exporter, clash = false;
        for (uint32_t k = 0; k < i; k++) clash = clash || same_host(s->found[k]->url, f->url);
        buf_printf(out, "      - {url: '%s'", f->url);
        if (clash) buf_printf(out, ", instance: '%s-%u'", f->info.name, i + 1);   /* else both have the name of their host */
        buf_printf(out, "%s}\n", beside ? ", exporter: true" : "");
    }
}

static void write_service(struct buf *out, const struct init_plan *p, const struct init_service *s)
{
    buf_putc(out, '\n');
    for (uint32_t i = 0; i < s->n; i++) {
        const struct preset_info *info = &s->found[i]->info;
        if (is_again(s, i)) continue;
        buf_printf(out, "  # %s. Can be turned: %s.\n", info->title, info->control);
        for (uint32_t k = 0; k < info->gaps.n; k++) buf_printf(out, "  #   not on its page: %s\n", info->gaps.items[k]);
    }
    init_layers(out, s, "  # ");
    buf_printf(out, "  - name: %s\n    mode: alert        # only says what it would do\n", s->name);
    write_presets(out, s);
    write_source(out, p, s);
    write_choice(out, s);
    if (!s->found[0]->exporter) write_objective(out, p, s);
}

void init_write(struct buf *out, const struct init_plan *p)
{
    buf_puts(out, "# Written by `trimtab init`. Check it: trimtab check FILE. Run it: trimtab serve --config FILE\n"
                  "# Nothing is changed in mode alert. docs/getting-started.md leads on from here.\n"
                  "data_dir: trimtab-data   # where the stores and the audit log go\n");
    if (p->prometheus)
        buf_printf(out, "prometheus:\n  url: '%s'\n  history: 14d           # a new service learns from this much past at once\n",
                   p->prometheus);
    buf_puts(out, "services:\n");
    for (uint32_t i = 0; i < p->service_n; i++) write_service(out, p, &p->services[i]);
}
