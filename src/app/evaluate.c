/* trimtab evaluate [--families LIST | --worlds DIR|FILE] [--runs N] [--seed N] [--contenders LIST] [--jobs N] [--json FILE]
 * [--each FILE] */
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
#include "sim/family.h"

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
        CHECK_MEMORY(t->items);
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

static bool in_list(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *p = list; (p = strstr(p, name)) != NULL; p += len) {
        if ((p == list || p[-1] == ',') && (p[len] == ',' || p[len] == '\0')) return true;
    }
    return false;
}

/* Drawn worlds, run by run over all families. */
static bool add_families(struct evaluate_tasks *t, const char *list, uint64_t first, uint64_t runs)
{
    const char *const *names = family_names();
    for (uint64_t r = 0; r < runs; r++) {
        for (size_t i = 0; names[i]; i++) {
            if (list && !in_list(list, names[i])) continue;
            struct evaluate_task *task = new_task(t);
            (void)text_copy(task->path, sizeof task->path, names[i]);
            task->drawn = true;
            task->run = first + r;
        }
    }
    if (t->n > 0) return true;
    fprintf(stderr, "trimtab evaluate: no family of %s; 'trimtab simulate --families' names them\n", list);
    return false;
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

static void print_command(struct buf *out, const struct args *a)
{
    static const char *const shown[] = {"families", "worlds", "runs", "clean-years", "guard-runs", "seed", "contenders"};
    buf_puts(out, "trimtab evaluate");
    for (unsigned i = 0; i < ARRAY_LEN(shown); i++) {
        if (args_text(a, shown[i])) buf_printf(out, " --%s %s", shown[i], args_text(a, shown[i]));
    }
}

/* Those that are done, in their order. */
static size_t only_done(struct evaluate_result *all, const bool *done, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (done[i]) all[kept++] = all[i];
    }
    return kept;
}

static bool run_tasks(const struct args *a, const struct evaluate_tasks *tasks, const struct evaluate_plan *plan,
                      struct evaluate_result *all, size_t *ret_n)
{
    bool *done = calloc(tasks->n, sizeof *done), good = true;
    CHECK_MEMORY(done);
    *ret_n = tasks->n;
    if (plan->keep && !evaluate_keep_read(plan->keep, tasks, plan, all, done)) {
        fprintf(stderr, "trimtab evaluate: %s is no file of results of this program; take another one\n", plan->keep);
        good = false;
    }
    if (good && args_has(a, "kept-only")) *ret_n = only_done(all, done, tasks->n);
    else if (good) good = evaluate_tasks_run(tasks, plan, all, done);
    free(done);
    return good;
}

static int run(const struct args *a, const struct evaluate_tasks *tasks, const struct evaluate_plan *plan, uint64_t first)
{
    struct evaluate_result *all = calloc(tasks->n, sizeof *all);
    size_t n;
    int code = EXIT_FAIL;
    CHECK_MEMORY(all);
    if (run_tasks(a, tasks, plan, all, &n)) {
        struct buf command = BUF_INIT;
        print_command(&command, a);
        struct score_list l = {.all = all, .n = n, .seed = first, .command = buf_text(&command)};
        code = tell(a, &l);
        buf_free(&command);
    }
    free(all);
    return code;
}

int command_evaluate(const struct args *a)
{
    struct evaluate_tasks tasks = {0};
    struct evaluate_plan plan = {.jobs = 2, .keep = args_text(a, "keep")};
    uint64_t runs = 1, first = 1, years = 0, guard_runs = RUNS_MAX;
    const char *worlds = args_text(a, "worlds"), *families = args_text(a, "families");
    bool ok = args_want(a, 0, 0) && number(a, "clean-years", 1, RUNS_MAX, &years) && number(a, "runs", 1, RUNS_MAX, &runs) &&
              number(a, "jobs", 1, EVALUATE_JOBS_MAX, &plan.jobs) && number(a, "seed", 0, UINT64_MAX / 2, &first) &&
              choose(args_text(a, "contenders"), &plan.who);
    if (ok && worlds && families) {
        fprintf(stderr, "trimtab evaluate: either --worlds or --families\n");
        ok = false;
    }
    ok = ok && number(a, "guard-runs", 0, RUNS_MAX, &guard_runs);
    if (ok && args_has(a, "kept-only") && !plan.keep) {
        fprintf(stderr, "trimtab evaluate: --kept-only goes with --keep FILE\n");
        ok = false;
    }
    if (!ok) return EXIT_USAGE;
    if (years > 0) {                         /* one world a year */
        plan.clean = SPAN_DAY(365);
        families = families ? families : "clean-month";
        runs = years;
    }
    ok = worlds ? add_worlds(&tasks, worlds, runs) : add_families(&tasks, families, first, runs);
    for (size_t i = 0; i < tasks.n; i++) {
        tasks.items[i].guards = tasks.items[i].run - (tasks.items[i].drawn ? first : 0) < guard_runs;
    }
    int code = ok ? run(a, &tasks, &plan, first) : EXIT_FAIL;
    free(tasks.items);
    return code;
}
