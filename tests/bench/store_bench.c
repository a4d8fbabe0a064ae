/* What kept samples take, and how fast they are packed and read, on one core. See docs/storage.md. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "store_sets.h"

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);   /* others on the machine do not count */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void figure(const char *name, const char *set, double value, int digits, const char *unit)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "{\"name\":\"%s\",\"set\":\"%s\",\"value\":", name, set);
    buf_fixed(&b, value, digits);
    buf_printf(&b, ",\"unit\":\"%s\"}", unit);
    puts(buf_text(&b));
    fflush(stdout);
    buf_free(&b);
}

/* Reads all back, compares bits, and returns the seconds of a reading without comparing. */
static double scan(const struct set *s, const struct buf *block)
{
    struct arena a = ARENA_INIT;
    double best = 1e9;
    for (int round = 0; round < 6; round++) {
        struct store_column c;
        arena_reset(&a);
        double begin = cpu_seconds(), sum = 0;
        struct store_unpacker *u = store_unpack_open(&a, block->data, block->len);
        CHECK(u);
        for (uint32_t i = 0; store_unpack_next(u, NULL, &c); i++) {
            const struct set_series *x = &s->series[i];
            if (round) {
                for (uint32_t k = 0; k < c.rows; k++) sum += c.value[k];
                continue;
            }
            CHECK(c.rows == x->rows && memcmp(c.at, x->at, c.rows * sizeof *c.at) == 0);
            CHECK(memcmp(c.value, x->value, c.rows * sizeof *c.value) == 0);
        }
        CHECK(!store_unpack_failed(u));
        double took = cpu_seconds() - begin + (sum == 12345.6789 ? 1 : 0);
        store_unpack_close(u);
        if (round && took < best) best = took;
    }
    arena_free(&a);
    return best;
}

struct sum { uint64_t samples, bytes; double pack, scan; };

static void measure(const struct set *s, struct sum *sum)
{
    struct store_packer *p = store_packer_new();
    struct buf block = BUF_INIT;
    double pack = 1e9;
    for (int round = 0; round < 4; round++) {
        buf_clear(&block);
        double begin = cpu_seconds();
        set_pack(s, p, &block);
        double took = cpu_seconds() - begin;
        if (took < pack) pack = took;
    }
    sum->samples += s->samples;
    sum->bytes += block.len;
    sum->pack += pack;
    sum->scan += scan(s, &block);
    buf_free(&block);
    store_packer_free(p);
}

static void tell(const char *set, const struct sum *sum)
{
    figure("store_bytes_per_sample", set, (double)sum->bytes / (double)sum->samples, 3, "bytes");
    figure("store_append", set, (double)sum->samples / sum->pack * 1e-6, 1, "M samples/s");
    figure("store_scan", set, (double)sum->samples / sum->scan * 1e-6, 1, "M samples/s");
}

/* The same samples into a real VictoriaMetrics: what it needs for the samples alone, and with its index of names. */
static void compare_peer(const char *name, const char *file, const struct sum *sum)
{
    char command[1600], text[128] = "", version[64] = "";
    unsigned long long samples = 0, all = 0;
    snprintf(command, sizeof command, "python3 '%s/tests/bench/store_peer.py' '%s'", SOURCE_DIR, file);
    FILE *f = popen(command, "r");
    if (f && !fgets(text, sizeof text, f)) text[0] = '\0';
    if (f) pclose(f);
    if (sscanf(text, "%63s %llu %llu", version, &samples, &all) != 3 || !samples) return;
    fprintf(stderr, "%s: VictoriaMetrics %s needs %llu bytes, %llu with its index; ours %llu with names\n", name, version, samples,
            all, (unsigned long long)sum->bytes);
    figure("victoriametrics_bytes_per_sample", name, (double)samples / (double)sum->samples, 3, "bytes");
    figure("store_ratio_to_victoriametrics", name, (double)sum->bytes / (double)samples, 3, "times");
    figure("store_ratio_to_victoriametrics_all_files", name, (double)sum->bytes / (double)all, 3, "times");
}

static char peer_path[] = "/tmp/trimtab-bench-XXXXXX";

static FILE *peer_file(void)
{
    int fd = system("command -v victoria-metrics >/dev/null && command -v python3 >/dev/null") == 0 ? mkstemp(peer_path) : -1;
    return fd < 0 ? NULL : fdopen(fd, "w");
}

static void peer_end(FILE *f, const char *name, const struct sum *sum)
{
    if (!f) return;
    fclose(f);
    compare_peer(name, peer_path, sum);
    unlink(peer_path);
    memcpy(peer_path, "/tmp/trimtab-bench-XXXXXX", sizeof peer_path);
}

static void measure_one(struct set s)
{
    struct sum sum = {0};
    if (s.samples) {
        measure(&s, &sum);
        figure("store_samples", s.name, (double)s.samples, 0, "samples");
        tell(s.name, &sum);
        FILE *f = peer_file();
        if (f) set_write(&s, f);
        peer_end(f, s.name, &sum);
    }
    set_free(&s);
}

static uint64_t size_of_command(const char *command)
{
    char text[64] = "";
    FILE *f = popen(command, "r");
    if (!f) return 0;
    if (!fgets(text, sizeof text, f)) text[0] = '\0';
    pclose(f);
    return strtoull(text, NULL, 10);
}

static uint64_t xz_bytes(const char *path)
{
    char command[1600];
    snprintf(command, sizeof command, "xz -9 -c '%s' | wc -c", path);
    return size_of_command(command);
}

static void each_nab(const char *folder, struct sum *sum, uint64_t *xz, double *worst, FILE *peer)
{
    struct dirent **list = NULL;
    int n = scandir(folder, &list, NULL, set_by_name);
    for (int i = 0; i < n; i++) {
        char path[1400];
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        if (list[i]->d_name[0] != '.' && !strstr(path, ".csv")) each_nab(path, sum, xz, worst, peer);
        if (strstr(path, ".csv")) {
            struct sum one = {0};
            struct set s = set_nab(path, list[i]->d_name);
            uint64_t x = xz_bytes(path);
            measure(&s, &one);
            double ratio = (double)one.bytes / (double)x;
            fprintf(stderr, "%-48s %6llu samples %7llu bytes, xz -9 %7llu: %.3f\n", s.name, (unsigned long long)one.samples,
                    (unsigned long long)one.bytes, (unsigned long long)x, ratio);
            *sum = (struct sum){sum->samples + one.samples, sum->bytes + one.bytes, sum->pack + one.pack, sum->scan + one.scan};
            *xz += x;
            if (ratio > *worst) *worst = ratio;
            for (char *c = s.name; *c; c++) *c = *c == '.' || *c == '-' ? '_' : *c;
            free(s.series->name);
            s.series->name = strdup(s.name);
            if (peer) set_write(&s, peer);
            set_free(&s);
        }
        free(list[i]);
    }
    free(list);
}

static void measure_nab(const char *folder)
{
    struct sum sum = {0};
    uint64_t xz = 0;
    double worst = 0;
    FILE *peer = peer_file();
    each_nab(folder, &sum, &xz, &worst, peer);
    if (!sum.samples) return;
    tell("nab", &sum);
    figure("store_ratio_to_xz", "nab", (double)sum.bytes / (double)xz, 3, "times");
    figure("store_ratio_to_xz_worst", "nab", worst, 3, "times");
    peer_end(peer, "nab", &sum);
}

int main(void)
{
    char folder[1200];
    const char *env = getenv("TRIMTAB_SHARED"), *pages = getenv("STORE_BENCH_PAGES");
    snprintf(folder, sizeof folder, "%s/suites/nab/data", env ? env : SOURCE_DIR "/../shared");
    measure_one(set_demo("clean"));
    measure_one(set_demo("reference"));
    if (pages) measure_one(set_pages(pages, "recorded"));
    measure_nab(folder);
    return 0;
}
