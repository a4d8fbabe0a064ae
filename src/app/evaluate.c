/* trimtab evaluate [--worlds DIR|FILE] [--families LIST] [--runs N] [--contenders LIST] [--jobs N] [--json FILE] [--each FILE] */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/command.h"
#include "app/evaluate.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"

#define RUNS_DEFAULT 1
#define RUNS_MAX 100000

static bool number(const struct args *a, const char *flag, uint64_t least, uint64_t most, uint64_t *ret)
{
    const char *text = args_text(a, flag);
    if (!text) return true;
    if (num_parse_u64(text, strlen(text), ret) && *ret >= least && *ret <= most) return true;
    fprintf(stderr, "trimtab evaluate: --%s is a whole number from %llu to %llu, not '%s'\n", flag, (unsigned long long)least,
            (unsigned long long)most, text);
    return false;
}

/* Names apart by commas, as bits; "guards" stands for all that leave one out. */
static bool choose(const char *list, uint32_t *ret)
{
    unsigned n;
    const struct contender *all = contender_list(&n);
    *ret = 0;
    if (!list) list = "nothing,hpa,aimd,naive,trimtab,guards";
    while (*list) {
        char name[64];
        size_t len = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)len, list);
        const struct contender *c = contender_find(name);
        if (c) {
            *ret |= 1u << (c - all);
        } else if (strcmp(name, "guards") == 0) {
            for (unsigned i = 0; i < n; i++) *ret |= (uint32_t)(all[i].without != NULL) << i;
        } else {
            fprintf(stderr, "trimtab evaluate: no contender '%s'; there are guards", name);
            for (unsigned i = 0; i < n; i++) fprintf(stderr, ", %s", all[i].name);
            fprintf(stderr, "\n");
            return false;
        }
        list += len + (list[len] == ',');
    }
    return true;
}

/* ---- tasks ---- */

static struct evaluate_task *new_task(struct evaluate_tasks *t)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 256;
        t->items = realloc(t->items, t->cap * sizeof *t->items);
        CHECK(t->items != NULL);
    }
    t->items[t->n] = (struct evaluate_task){0};
    return &t->items[t->n++];
}

static void add_file(struct evaluate_tasks *t, const char *path, uint64_t runs)
{
    for (uint64_t r = 0; r < runs; r++) {
        struct evaluate_task *task = new_task(t);
        (void)text_copy(task->path, sizeof task->path, path);
        task->run = r;
    }
}

static bool is_yaml(const char *name)
{
    size_t n = strlen(name);
    return name[0] != '.' && ((n > 5 && strcmp(name + n - 5, ".yaml") == 0) || (n > 4 && strcmp(name + n - 4, ".yml") == 0));
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* All scenario files of a folder in the order of their names. Policies lie beside them: they are no worlds, and are passed by. */
static bool add_folder(struct evaluate_tasks *t, const char *path, uint64_t runs)
{
    char *names[4096];
    size_t n = 0;
    DIR *d = opendir(path);
    if (!d) {
        fprintf(stderr, "trimtab evaluate: cannot open the folder %s: %s\n", path, strerror(errno));
        return false;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (is_yaml(e->d_name) && n < ARRAY_LEN(names)) names[n++] = strdup(e->d_name);
    }
    (void)closedir(d);
    qsort(names, n, sizeof names[0], by_name);
    for (size_t i = 0; i < n; i++) {
        char file[EVALUATE_PATH_MAX];
        snprintf(file, sizeof file, "%s/%s", path, names[i]);
        if (!evaluate_is_policy(file)) add_file(t, file, runs);
        free(names[i]);
    }
    if (n == 0) fprintf(stderr, "trimtab evaluate: there is no file *.yaml in %s\n", path);
    return n > 0;
}

static bool add_worlds(struct evaluate_tasks *t, const char *path, uint64_t runs)
{
    struct stat s;
    if (stat(path, &s) != 0) {
        fprintf(stderr, "trimtab evaluate: %s: %s\n", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(s.st_mode)) return add_folder(t, path, runs);
    add_file(t, path, runs);
    return true;
}

/* ---- the command ---- */

static bool write_file(const char *path, const struct buf *b)
{
    FILE *f = fopen(path, "w");
    bool ok = f && fwrite(buf_text(b), 1, b->len, f) == b->len;
    if (f && fclose(f) != 0) ok = false;
    if (!ok) fprintf(stderr, "trimtab evaluate: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

static int tell(const struct args *a, const struct score_list *l)
{
    struct buf b = BUF_INIT;
    const char *json = args_text(a, "json"), *each = args_text(a, "each");
    bool ok = true;
    size_t broken = 0;
    if (json) {
        score_json(l, &b);
        ok = write_file(json, &b);
    }
    if (each) {
        buf_clear(&b);
        for (size_t i = 0; i < l->n; i++) score_each(&l->all[i], &b);
        ok = write_file(each, &b) && ok;
    }
    buf_clear(&b);
    score_table(l, &b);
    fwrite(buf_text(&b), 1, b.len, stdout);
    buf_free(&b);
    for (size_t i = 0; i < l->n; i++) {
        if (!l->all[i].broken) continue;
        fprintf(stderr, "%s\n", l->all[i].why);
        broken++;
    }
    if (broken) fprintf(stderr, "trimtab evaluate: %zu of %zu worlds could not be run\n", broken, l->n);
    return ok && broken == 0 && fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAIL;
}

int command_evaluate(const struct args *a)
{
    struct evaluate_tasks tasks = {0};
    struct evaluate_plan plan = {.jobs = 2};
    uint64_t runs = RUNS_DEFAULT;
    const char *worlds = args_text(a, "worlds");
    bool ok = args_want(a, 0, 0) && number(a, "runs", 1, RUNS_MAX, &runs) && number(a, "jobs", 1, EVALUATE_JOBS_MAX, &plan.jobs) &&
              choose(args_text(a, "contenders"), &plan.who);
    if (ok && !worlds) {
        fprintf(stderr, "trimtab evaluate: say which worlds with --worlds DIR\n");
        ok = false;
    }
    if (!ok) return EXIT_USAGE;
    if (!add_worlds(&tasks, worlds, runs)) return EXIT_FAIL;
    struct evaluate_result *all = calloc(tasks.n, sizeof *all);
    CHECK(all != NULL);
    int code = EXIT_FAIL;
    if (evaluate_tasks_run(&tasks, &plan, all)) {
        struct buf command = BUF_INIT;
        buf_printf(&command, "trimtab evaluate --worlds %s --runs %llu", worlds, (unsigned long long)runs);
        struct score_list l = {.all = all, .n = tasks.n, .command = buf_text(&command)};
        code = tell(a, &l);
        buf_free(&command);
    }
    free(all);
    free(tasks.items);
    return code;
}
