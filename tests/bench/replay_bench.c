/* A week of 100 signals through `trimtab replay`: the program as it stands, from the bytes of the CSV file to the JSON, in CPU
 * time of one core. A third of it is reading the numbers, most of the rest the ticks of the detector. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/prng.h"

enum { SIGNALS = 100, TICKS = 20160, STEP_S = 30, START = 1778457600 };

static const char roles[] =
    "      latency_p99: {layer: request, unit: ms, resolution: 1 ms, interval: 30s}\n"
    "      queue_depth: {layer: processing, unit: \"\", interval: 30s}\n"
    "      throughput: {layer: processing, unit: /s, bad: down, interval: 30s}\n"
    "      batch_size: {layer: processing, unit: \"\", bad: both, interval: 30s}\n"
    "      gpu_util: {layer: system, unit: ratio, bad: both}\n"
    "      error_ratio: {layer: request, unit: ratio, interval: 30s}\n";
static const double levels[] = {38, 140, 1000, 31, .65, .001};
enum { ROLES = sizeof levels / sizeof levels[0] };

static const char rest[] =
    "    symptoms:\n"
    "      latency-degraded: latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250\n"
    "    playbook:\n"
    "      - {cause: compute-bound, when: gpu_util > 0.7, try: [batch_max up]}\n"
    "    knobs:\n"
    "      batch_max: {class: batch, min: 4, max: 128, ladder: x2, use: batch_size, single_writer: true,\n"
    "        read: {file: {path: /nowhere}}, write: {file: {path: /nowhere}}}\n";

static void write_file(const char *path, const struct buf *b)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(buf_text(b), 1, b->len, f) == b->len && fclose(f) == 0);
}

static void make_config(const char *path)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "version: 1\nservices:\n  - name: embed\n    mode: auto\n    signals:\n%s", roles);
    for (unsigned i = ROLES; i < SIGNALS; i++) {
        buf_printf(&b, "      s%u: {layer: processing, unit: \"\", bad: both, interval: 30s}\n", i);
    }
    buf_puts(&b, rest);
    write_file(path, &b);
    buf_free(&b);
}

/* Half an hour of trouble each day, so that the whole loop has something to do. */
static void make_history(const char *path)
{
    struct buf b = BUF_INIT;
    struct prng rng;
    prng_seed(&rng, 7);
    buf_puts(&b, "timestamp,latency_p99,queue_depth,throughput,batch_size,gpu_util,error_ratio");
    for (unsigned i = ROLES; i < SIGNALS; i++) buf_printf(&b, ",s%u", i);
    buf_putc(&b, '\n');
    for (unsigned t = 0; t < TICKS; t++) {
        bool bad = t % 2880 >= 2000 && t % 2880 < 2060;
        buf_u64(&b, START + (uint64_t)t * STEP_S);
        for (unsigned i = 0; i < SIGNALS; i++) {
            double level = i < ROLES ? levels[i] : 10 * (i + 1.0);
            double worse = !bad ? 1 : i == 0 ? 1.25 : i == 1 ? 2.5 : i == 4 ? 1.2 : 1;
            buf_putc(&b, ',');
            buf_fixed(&b, level * worse * (0.98 + 0.04 * prng_unit(&rng)), 5);
        }
        buf_putc(&b, '\n');
    }
    CHECK(buf_ok(&b));
    write_file(path, &b);
    buf_free(&b);
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static bool run(const char *config, const char *history)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(1);
        execl(TRIMTAB_BINARY, "trimtab", "replay", "--config", config, "--from", history, "--json", (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
    char folder[] = "/tmp/trimtab-replay-XXXXXX", config[64], history[64];
    struct rusage used;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(config, sizeof config, "%s/config.yaml", folder);
    snprintf(history, sizeof history, "%s/week.csv", folder);
    make_config(config);
    make_history(history);
    bool ok = run(config, history);
    (void)getrusage(RUSAGE_CHILDREN, &used);
    if (ok) {
        struct buf b = BUF_INIT;
        buf_fixed(&b, seconds_of(used.ru_utime) + seconds_of(used.ru_stime), 2);
        printf("{\"name\":\"replay_week_100_signals_s\",\"value\":%s,\"unit\":\"s of CPU\"}\n", buf_text(&b));
        printf("{\"name\":\"replay_week_100_signals_rss\",\"value\":%ld,\"unit\":\"MB\"}\n", used.ru_maxrss / 1024);
        buf_free(&b);
    }
    (void)unlink(config);
    (void)unlink(history);
    (void)rmdir(folder);
    return ok ? 0 : 1;
}
