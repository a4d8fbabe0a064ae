/* Results that outlive their run: one record a world, appended as soon as it is there. Several processes may append to one file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/evaluate.h"

/* Plain bytes of this program: another build has another size, or other worlds, and its file is refused. */
struct kept { uint64_t size; struct evaluate_task task; uint32_t who; uint64_t clean_us; struct evaluate_result result; };

static bool same(const struct kept *k, const struct evaluate_task *t, const struct evaluate_plan *p)
{
    return strcmp(k->task.path, t->path) == 0 && k->task.drawn == t->drawn && k->task.run == t->run &&
           k->task.guards == t->guards && k->who == p->who && k->clean_us == (uint64_t)p->clean.us;
}

static bool fits(const struct kept *k) { return k->size == sizeof *k && memchr(k->task.path, '\0', sizeof k->task.path); }

bool evaluate_keep_read(const char *path, const struct evaluate_tasks *t, const struct evaluate_plan *p,
                        struct evaluate_result *all, bool *done)
{
    static struct kept k;
    FILE *f = fopen(path, "rb");
    bool good = true;
    size_t got = 0;
    if (!f) return errno == ENOENT;
    while (good && (got = fread(&k, 1, sizeof k, f)) == sizeof k) {
        good = fits(&k);
        for (size_t i = 0; good && i < t->n; i++) {
            if (done[i] || !same(&k, &t->items[i], p)) continue;
            all[i] = k.result;
            done[i] = true;
            break;
        }
    }
    good = good && !ferror(f) && got == 0;
    (void)fclose(f);
    return good;
}

bool evaluate_keep_add(int fd, const struct evaluate_task *t, const struct evaluate_plan *p, const struct evaluate_result *r)
{
    static struct kept k;
    memset(&k, 0, sizeof k);
    k.size = sizeof k;
    k.task = *t;
    k.who = p->who;
    k.clean_us = (uint64_t)p->clean.us;
    k.result = *r;
    return write(fd, &k, sizeof k) == (ssize_t)sizeof k;     /* in one piece: others append as well */
}
