/* How fast pages are read and signals evaluated on one core, over the foreign samples beside the checkout.
 * Without them nothing is printed but a word on stderr: figures over invented pages would say little.
 * expo_bench [FILE...]: over these files instead. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "collect/collect.h"
#include "collect/expo.h"
#include "promql/promql.h"

#define SECONDS 0.5

struct sample_page { char *bytes; size_t len; bool openmetrics; char name[256]; };
static struct sample_page pages[128];
static size_t page_count, total_bytes;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);   /* others on the machine do not count */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_figure(const char *name, double value, int digits, const char *unit)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "{\"name\":\"%s\",\"value\":", name);
    buf_fixed(&b, value, digits);
    buf_printf(&b, ",\"unit\":\"%s\"}", unit);
    puts(buf_text(&b));
    buf_free(&b);
}

static bool ends(const char *s, const char *tail)
{
    size_t n = strlen(s), k = strlen(tail);
    return n >= k && strcmp(s + n - k, tail) == 0;
}

static void load_page(const char *path, const char *name)
{
    struct sample_page *p = &pages[page_count];
    FILE *f = fopen(path, "rb");
    if (!f) return;
    p->bytes = malloc(4u << 20);
    p->len = p->bytes ? fread(p->bytes, 1, 4u << 20, f) : 0;
    fclose(f);
    p->openmetrics = ends(name, ".om.txt");
    snprintf(p->name, sizeof p->name, "%s", name);
    if (p->len == 0) return;
    total_bytes += p->len;
    page_count++;
}

static bool load_all(void)
{
    char folder[1100], path[1400];
    const char *env = getenv("TRIMTAB_SHARED");
    snprintf(folder, sizeof folder, "%s/samples", env ? env : SOURCE_DIR "/../shared");
    DIR *d = opendir(folder);
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d)) != NULL && page_count < sizeof pages / sizeof pages[0];) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (ends(e->d_name, ".txt")) load_page(path, e->d_name);
    }
    closedir(d);
    return page_count > 0;
}

static unsigned long read_page(const struct sample_page *p)
{
    static struct expo x;
    unsigned long n = 0;
    expo_open(&x, p->bytes, p->len, p->openmetrics ? EXPO_OPENMETRICS : EXPO_TEXT, expo_limits_default());
    for (enum expo_event e; (e = expo_next(&x)) != EXPO_END && e != EXPO_OVER_LIMIT;) n += e == EXPO_SAMPLE;
    return n;
}

static void bench_lenient(void)
{
    unsigned long samples = 0, rounds = 0;
    double from = seconds_now(), took;
    do {
        for (size_t i = 0; i < page_count; i++) samples += read_page(&pages[i]);
        rounds++;
    } while ((took = seconds_now() - from) < SECONDS);
    print_figure("parse", (double)(rounds * total_bytes) / took / 1e6, 0, "MB/s");
    print_figure("parse_samples", (double)samples / took / 1e6, 2, "M samples/s");
}

/* The same pages scraped again, as by the daemon: each line is expected to be the series that stood there last time. */
struct known { uint32_t at, len; };
static struct known *known[128];
static unsigned long known_count[128];

static bool know_page(size_t which)
{
    static struct expo x;
    const struct sample_page *p = &pages[which];
    known[which] = malloc((expo_count_lines(p->bytes, p->len) + 1) * sizeof *known[which]);
    if (!known[which]) return false;
    expo_open(&x, p->bytes, p->len, p->openmetrics ? EXPO_OPENMETRICS : EXPO_TEXT, expo_limits_default());
    for (enum expo_event e; (e = expo_next(&x)) != EXPO_END && e != EXPO_OVER_LIMIT;)
        if (e == EXPO_SAMPLE)
            known[which][known_count[which]++] = (struct known){(uint32_t)(x.sample.series - p->bytes), x.sample.series_len};
    return true;
}

static unsigned long read_known_page(size_t which, const char *last_time)
{
    static struct expo x;
    const struct sample_page *p = &pages[which];
    unsigned long n = 0;
    expo_open(&x, p->bytes, p->len, p->openmetrics ? EXPO_OPENMETRICS : EXPO_TEXT, expo_limits_default());
    while (expo_to_sample(&x)) {
        const struct known *k = &known[which][n < known_count[which] ? n : 0];
        enum expo_event e = expo_expect(&x, last_time + k->at, k->len);
        if (e == EXPO_END) e = expo_sample(&x);
        n += e == EXPO_SAMPLE;
    }
    return n;
}

static void bench_repeated(void)
{
    unsigned long samples = 0, rounds = 0;
    char *last_time[128] = {0};
    for (size_t i = 0; i < page_count; i++) {
        last_time[i] = malloc(pages[i].len);
        if (!last_time[i] || !know_page(i)) return;
        memcpy(last_time[i], pages[i].bytes, pages[i].len);
    }
    double from = seconds_now(), took;
    do {
        for (size_t i = 0; i < page_count; i++) samples += read_known_page(i, last_time[i]);
        rounds++;
    } while ((took = seconds_now() - from) < SECONDS);
    print_figure("parse_repeated", (double)(rounds * total_bytes) / took / 1e6, 0, "MB/s");
    print_figure("parse_repeated_samples", (double)samples / took / 1e6, 2, "M samples/s");
}

static void bench_strict(void)
{
    unsigned long rounds = 0;
    struct expo_fault f;
    size_t bytes = 0;
    double from = seconds_now(), took;
    do {
        for (size_t i = 0; i < page_count; i++)
            if (expo_check(pages[i].bytes, pages[i].len, pages[i].openmetrics ? EXPO_OPENMETRICS : EXPO_TEXT, &f))
                bytes += pages[i].len;
        rounds++;
    } while ((took = seconds_now() - from) < SECONDS);
    print_figure("parse_strict", (double)bytes / took / 1e6, 0, "MB/s of the pages that pass");
}

static const char *const queries[] = {
    "histogram_quantile(0.99, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket[1m]))) * 1000",
    "sum(rate(vllm:e2e_request_latency_seconds_count[1m]))",
    "sum(vllm:num_requests_waiting)",
    "sum(vllm:num_requests_running)",
    "max(vllm:kv_cache_usage_perc)",
    "sum(rate(vllm:prompt_tokens_total[1m]))",
    "sum(rate(vllm:request_queue_time_seconds_sum[1m])) / sum(rate(vllm:request_queue_time_seconds_count[1m]))",
    "sum(rate(vllm:generation_tokens_total[1m]))",
};
#define QUERIES (sizeof queries / sizeof queries[0])

static const struct sample_page *page_named(const char *name)
{
    for (size_t i = 0; i < page_count; i++)
        if (strcmp(pages[i].name, name) == 0) return &pages[i];
    return NULL;
}

/* A whole page taken in again and again, as from one target every 10 s, and its signals evaluated. */
static void bench_collect(struct arena *a)
{
    const struct sample_page *page = page_named("vllm_cpu_0.32_loaded.txt");
    if (!page) return;
    struct signal_def signals[QUERIES];
    memset(signals, 0, sizeof signals);
    for (size_t i = 0; i < QUERIES; i++) {
        signals[i].name = signals[i].query_text = queries[i];
        signals[i].query = pq_compile(a, queries[i], strlen(queries[i]), NULL);
        signals[i].interval = SPAN_S(10);
        signals[i].range = pq_range(signals[i].query);
        signals[i].is_quantile = pq_quantile(signals[i].query, NULL);
    }
    struct target_def target = {.url = "http://a/metrics", .instance = "a"};
    struct service_def s = {.name = "s", .targets = &target, .target_count = 1, .signals = signals, .signal_count = QUERIES};
    struct collect *c = collect_new(&s, collect_limits_default());
    struct page_report report;
    struct point out[QUERIES];
    bool due[QUERIES];
    double pages_took = 0, ticks_took = 0;
    unsigned long rounds = 0;
    while (c && pages_took + ticks_took < SECONDS) {
        struct instant at = {(int64_t)++rounds * 10 * US_PER_S};
        struct page p = {.at = at, .wall = {at.us}, .outcome = PAGE_OK, .bytes = page->bytes, .len = page->len};
        double from = seconds_now();
        collect_page(c, &p, &report);
        double middle = seconds_now();
        collect_tick(c, at, p.wall, out, due);
        ticks_took += seconds_now() - middle;
        pages_took += middle - from;
    }
    print_figure("collect_page", (double)(rounds * page->len) / pages_took / 1e6, 0, "MB/s");
    print_figure("collect_signal", ticks_took / (double)(rounds * QUERIES) * 1e6, 2, "us");
    if (c) print_figure("collect_memory_service", (double)collect_bytes(c) / 1e3, 0, "kB");
    collect_free(c);
}

static bool load_named(int n, char **paths)
{
    for (int i = 0; i < n && page_count < sizeof pages / sizeof pages[0]; i++) {
        const char *slash = strrchr(paths[i], '/');
        load_page(paths[i], slash ? slash + 1 : paths[i]);
    }
    return page_count > 0;
}

int main(int argc, char **argv)
{
    if (!(argc > 1 ? load_named(argc - 1, argv + 1) : load_all())) {
        fputs("expo_bench: no shared folder beside the checkout (set TRIMTAB_SHARED): nothing measured\n", stderr);
        return 0;
    }
    struct arena a = ARENA_INIT;
    bench_lenient();
    bench_repeated();
    bench_strict();
    bench_collect(&a);
    arena_free(&a);
    return 0;
}
