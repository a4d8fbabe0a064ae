/* Each process takes every n-th world; results come back through pipes in the order of the worlds. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/evaluate.h"
#include "app/input.h"
#include "base/text.h"
#include "sim/family.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)

static bool write_all(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t len)
{
    char *p = bytes;
    while (len > 0) {
        ssize_t n = read(fd, p, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

/* A line `key:` at the very left. */
static bool has_key(const struct buf *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = buf_text(text); p; p = strchr(p, '\n')) {
        if (*p == '\n') p++;
        if (strncmp(p, key, n) == 0 && p[n] == ':') return true;
        if (!*p) break;
    }
    return false;
}

bool evaluate_is_policy(const char *path)
{
    struct buf text = BUF_INIT;
    bool read = input_read(path, FILE_BYTES_MAX, &text, NULL) == STATUS_OK;
    bool is = read && has_key(&text, "services") && !has_key(&text, "scenario");
    buf_free(&text);
    return is;
}

static uint32_t who_of(const struct evaluate_task *t, const struct evaluate_plan *p)
{
    unsigned n;
    const struct contender *all = contender_list(&n);
    uint32_t who = p->who;
    for (unsigned i = 0; i < n; i++) {
        if (all[i].without && !t->guards) who &= ~(1u << i);
    }
    return who;
}

static void run_file(const struct evaluate_task *t, const struct evaluate_plan *p, struct evaluate_result *ret)
{
    struct buf text = BUF_INIT;
    struct err e = {0};
    char folder[EVALUATE_PATH_MAX];
    const char *slash = strrchr(t->path, '/');
    struct evaluate_options o = {.who = who_of(t, p), .clean = p->clean, .folder = folder, .seed_add = t->run};
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - t->path) : 1, slash ? t->path : ".");
    if (input_read(t->path, FILE_BYTES_MAX, &text, &e) == STATUS_OK) {
        evaluate_world(buf_text(&text), text.len, t->path, &o, ret);
    } else {
        memset(ret, 0, sizeof *ret);
        ret->broken = true;
        (void)text_copy(ret->why, sizeof ret->why, e.text);
    }
    buf_free(&text);
}

static void run_drawn(const struct evaluate_task *t, const struct evaluate_plan *p, struct evaluate_result *ret)
{
    struct buf text = BUF_INIT;
    struct err e = {0};
    struct evaluate_options o = {.who = who_of(t, p), .clean = p->clean};
    if (family_write(t->path, t->run, WORLD_FLUID, &text, &e) == STATUS_OK) {
        evaluate_world(buf_text(&text), text.len, t->path, &o, ret);
    } else {
        memset(ret, 0, sizeof *ret);
        ret->broken = true;
        (void)text_copy(ret->why, sizeof ret->why, e.text);
    }
    buf_free(&text);
}

static int work(int fd, const struct evaluate_tasks *t, const struct evaluate_plan *p, const bool *done, uint64_t job)
{
    static struct evaluate_result r;
    for (size_t i = job; i < t->n; i += p->jobs) {
        if (done[i]) continue;
        if (t->items[i].drawn) run_drawn(&t->items[i], p, &r);
        else run_file(&t->items[i], p, &r);
        if (!write_all(fd, &r, sizeof r)) return 1;
    }
    return 0;
}

static void progress(size_t done, const struct evaluate_tasks *t, const struct evaluate_result *r)
{
    fprintf(stderr, "[%zu/%zu] %s seed %llu: %s%s%s\n", done, t->n, r->name, (unsigned long long)r->seed,
            r->broken ? "cannot be run" : oracle_label_name(r->label), r->best[0] ? ", best: " : "", r->best);
}

static bool collect(const int *fds, int keep, const struct evaluate_tasks *t, const struct evaluate_plan *p,
                    struct evaluate_result *all, const bool *done)
{
    for (size_t i = 0; i < t->n; i++) {
        if (done[i]) continue;
        if (!read_all(fds[i % p->jobs], &all[i], sizeof all[i])) {
            fprintf(stderr, "trimtab evaluate: the process that ran %s ended unexpectedly\n", t->items[i].path);
            return false;
        }
        if (keep >= 0 && !evaluate_keep_add(keep, &t->items[i], p, &all[i])) {
            fprintf(stderr, "trimtab evaluate: cannot write %s: %s\n", p->keep, strerror(errno));
            return false;
        }
        progress(i + 1, t, &all[i]);
    }
    return true;
}

static int open_keep(const struct evaluate_plan *p)
{
    int fd = p->keep ? open(p->keep, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (p->keep && fd < 0) fprintf(stderr, "trimtab evaluate: cannot write %s: %s\n", p->keep, strerror(errno));
    return fd;
}

bool evaluate_tasks_run(const struct evaluate_tasks *t, const struct evaluate_plan *p, struct evaluate_result *all,
                        const bool *done)
{
    int fds[EVALUATE_JOBS_MAX], keep = open_keep(p);
    pid_t pids[EVALUATE_JOBS_MAX];
    if (p->keep && keep < 0) return false;
    for (uint64_t j = 0; j < p->jobs; j++) {
        int pair[2];
        if (pipe(pair) != 0) return false;
        fflush(stdout);
        pids[j] = fork();
        if (pids[j] < 0) return false;
        if (pids[j] == 0) {
            (void)close(pair[0]);
            _exit(work(pair[1], t, p, done, j));
        }
        (void)close(pair[1]);
        fds[j] = pair[0];
    }
    bool ok = collect(fds, keep, t, p, all, done);
    for (uint64_t j = 0; j < p->jobs; j++) {
        (void)close(fds[j]);
        (void)waitpid(pids[j], NULL, 0);
    }
    if (keep >= 0) (void)close(keep);
    return ok;
}
