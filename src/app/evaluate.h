/* Worlds to evaluate, and the processes that do it. */
#ifndef APP_EVALUATE_H
#define APP_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/score.h"

#define EVALUATE_PATH_MAX 1024
#define EVALUATE_JOBS_MAX 64

struct evaluate_task {
    char path[EVALUATE_PATH_MAX];
    bool drawn;                  /* `path` is a family's name, and `run` the seed from which the world is drawn */
    uint64_t run;                /* of a file: added to its own seed */
    bool guards;                 /* trimtab without each guard runs too, where it was asked for */
};
struct evaluate_tasks { struct evaluate_task *items; size_t n, cap; };

struct evaluate_plan { uint32_t who; uint64_t jobs; struct span clean; const char *keep; };

/* Fills all[i] for each task that is not done, whatever the number of processes; each goes into the file `keep` at once (NULL:
 * none). false: a process died, or that file cannot be written; said on stderr with the world's name. */
bool evaluate_tasks_run(const struct evaluate_tasks *t, const struct evaluate_plan *p, struct evaluate_result *all,
                        const bool *done);
/* Takes what the file holds of these tasks; true as well when there is none yet. false: it is no such file of this program. */
bool evaluate_keep_read(const char *path, const struct evaluate_tasks *t, const struct evaluate_plan *p,
                        struct evaluate_result *all, bool *done);
/* Appends one result. */
bool evaluate_keep_add(int fd, const struct evaluate_task *t, const struct evaluate_plan *p, const struct evaluate_result *r);
/* Is the file a configuration (it has services and is no scenario)? */
bool evaluate_is_policy(const char *path);

#endif
