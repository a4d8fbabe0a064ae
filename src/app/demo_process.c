/* The demo's processes and files. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/clock.h"
#include "app/demo.h"
#include "config/load.h"
#include "sim/fluid.h"
#include "sim/plant_world.h"
#include "sim/scenario.h"

#define WAIT_STEPS 400               /* of 25 ms: ten seconds for a process to come up */
#define ADDRESS_IN_FILE "127.0.0.1:9464"
#define HISTORY SPAN_HOUR(26)
#define HISTORY_STEP SPAN_S(30)

void demo_pause(unsigned ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static bool read_line(const char *path, char *out, size_t cap)
{
    FILE *f = fopen(path, "r");
    bool ok = f && fgets(out, (int)cap, f);
    if (f) fclose(f);
    if (ok) out[strcspn(out, "\n")] = '\0';
    return ok && out[0];
}

static bool wait_line(struct demo *d, const char *name, char *out, size_t cap)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", d->folder, name);
    for (int i = 0; i < WAIT_STEPS && demo_alive(d); i++) {
        if (read_line(path, out, cap)) return true;
        demo_pause(25);
    }
    fprintf(stderr, "trimtab demo: %s did not appear in ten seconds; the logs are in %s\n", name, d->folder);
    return false;
}

/* The same program again; its words go to a file in the folder. */
static pid_t spawn(const struct demo *d, const char *log, const char *const args[])
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", d->folder, log);
    pid_t pid = fork();
    if (pid != 0) return pid;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0) _exit(127);
    execv("/proc/self/exe", (char *const *)(uintptr_t)args);
    _exit(127);
}

static bool write_config(const struct demo *d, const char *path)
{
    size_t len;
    const char *text = scenario_shipped_policy("demo", &len);
    const char *at = text ? strstr(text, ADDRESS_IN_FILE) : NULL;
    FILE *f = at ? fopen(path, "w") : NULL;
    if (!f) {
        fprintf(stderr, "trimtab demo: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    fwrite(text, 1, (size_t)(at - text), f);
    fputs(d->target, f);
    const char *rest = at + sizeof ADDRESS_IN_FILE - 1;
    fwrite(rest, 1, len - (size_t)(rest - text), f);
    return fclose(f) == 0;
}

static bool start_target(struct demo *d)
{
    char speed[32], seed[32], port[300];
    snprintf(speed, sizeof speed, "%d", (int)d->speed);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)d->seed);
    snprintf(port, sizeof port, "%s/target.address", d->folder);
    const char *const args[] = {"trimtab", "target", "--listen", "127.0.0.1:0", "--port-file", port,
                                "--speed", speed,     "--seed",   seed,          NULL};
    d->target_pid = spawn(d, "target.log", args);
    return d->target_pid > 0 && wait_line(d, "target.address", d->target, sizeof d->target);
}

static bool start_daemon(struct demo *d)
{
    char speed[32], config[300], data[300];
    snprintf(speed, sizeof speed, "%d", (int)d->speed);
    snprintf(config, sizeof config, "%s/demo.yaml", d->folder);
    snprintf(data, sizeof data, "%s/data", d->folder);
    if (!write_config(d, config)) return false;
    const char *const args[] = {"trimtab", "serve",       "--config", config, "--data", data,
                                "--listen", "127.0.0.1:0", "--speed",  speed,  NULL};
    d->daemon_started_us = clock_real_us();
    d->daemon_pid = spawn(d, "daemon.log", args);
    return d->daemon_pid > 0 && wait_line(d, "data/listen", d->daemon, sizeof d->daemon) &&
           wait_line(d, "data/token", d->token, sizeof d->token);
}

bool demo_folder(struct demo *d)
{
    d->started_us = clock_monotonic_us();
    if (!d->folder[0]) snprintf(d->folder, sizeof d->folder, "/tmp/trimtab-demo-XXXXXX");
    bool made = strstr(d->folder, "XXXXXX") ? mkdtemp(d->folder) != NULL : mkdir(d->folder, 0700) == 0;
    if (!made) fprintf(stderr, "trimtab demo: cannot make the folder %s: %s\n", d->folder, strerror(errno));
    return made;
}

bool demo_start(struct demo *d) { return start_target(d) && start_daemon(d); }

static bool runs(pid_t pid) { return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0; }

bool demo_alive(struct demo *d)
{
    if (d->target_pid > 0 && !runs(d->target_pid)) d->target_pid = -1;
    if (d->daemon_pid > 0 && !runs(d->daemon_pid)) d->daemon_pid = -1;
    return d->target_pid >= 0 && d->daemon_pid >= 0;
}

static void end(pid_t *pid)
{
    if (*pid <= 0) return;
    kill(*pid, SIGTERM);
    for (int i = 0; i < 200; i++) {
        if (waitpid(*pid, NULL, WNOHANG) != 0) {
            *pid = 0;
            return;
        }
        demo_pause(25);
    }
    kill(*pid, SIGKILL);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

void demo_stop(struct demo *d)
{
    end(&d->daemon_pid);
    end(&d->target_pid);
}

/* ---- history: the same service in its fluid form, healthy ---- */

static void number(struct buf *b, double v)
{
    buf_putc(b, ',');
    if (isfinite(v)) buf_double(b, v);
}

static void row(struct buf *b, struct wall at, const struct plant_window *w)
{
    wall_print(b, at);
    number(b, w->p99_ms);
    number(b, w->mean_ms);
    number(b, w->offered ? (double)(w->refused + w->failed) / (double)w->offered : 0);
    number(b, w->queue);
    number(b, w->throughput);
    number(b, (double)w->offered / w->seconds);
    number(b, w->batch);
    number(b, w->kernel_ms);
    number(b, w->gpu_util);
    number(b, w->gpu_memory);
    number(b, w->fetch_ms);
    number(b, w->cache_hit);
    buf_putc(b, '\n');
}

static bool send_piece(struct demo *d, struct buf *b, bool last)
{
    char why[200], path[80];
    snprintf(path, sizeof path, "/api/v1/import?service=embedding&by=demo&last=%s", last ? "true" : "false");
    json_t *j = demo_send(d, d->daemon, "POST", path, "text/csv", b->data, b->len, why);
    if (!j) fprintf(stderr, "trimtab demo: the history was refused: %s\n", why);
    bool ok = j != NULL;
    json_decref(j);
    return ok;
}

bool demo_import(struct demo *d)
{
    static const char head[] = "timestamp,latency_p99,latency_mean,error_ratio,queue_depth,throughput,arrivals,batch_size,"
                               "kernel_ms,gpu_util,gpu_memory,feature_fetch_ms,cache_hit\n";
    const struct plant_world *clean;
    struct plant_config config;
    struct plant_window w;
    struct err e = {0};
    struct buf b = BUF_INIT;
    bool ok = plant_world_find("clean", &clean, &e) == STATUS_OK;
    plant_world_config(clean, &config);
    struct fluid *f = fluid_new(&config, d->seed + 1, &e);
    int64_t steps = HISTORY.us / HISTORY_STEP.us, first = d->daemon_started_us - HISTORY.us;
    ok = ok && f;
    if (ok) fluid_advance(f, 600 * US_PER_S);
    for (int64_t i = 0; ok && i < steps; i++) {
        if (b.len == 0) buf_puts(&b, head);
        fluid_advance(f, 600 * US_PER_S + (i + 1) * HISTORY_STEP.us);
        fluid_window_take(f, &w);
        row(&b, (struct wall){first + i * HISTORY_STEP.us}, &w);
        bool last = i + 1 == steps;
        if (b.len < 400000 && !last) continue;
        ok = send_piece(d, &b, last);
        buf_clear(&b);
    }
    buf_free(&b);
    fluid_free(f);
    if (ok) demo_say(d, "history: 26 h of a healthy service imported\n");
    return ok;
}
