/* A configuration file as a policy. All that is wrong is found in one run; a policy comes out only when nothing is. */
#ifndef CONFIG_LOAD_H
#define CONFIG_LOAD_H

#include "config/diag.h"
#include "model/policy.h"

struct config_options {
    const char *preset_dir;      /* profiles that the file does not hold: DIR/NAME.yaml; NULL: none */
    struct wall now;             /* change windows that ended before are reported; us == 0: not checked */
    const char *zone_dir;        /* where the time zones are; NULL: /usr/share/zoneinfo */
    bool points_from_outside;    /* scripts and replays bring the points: a signal may have no query */
};

/* NULL: at least one error, see `d`. Warnings and notes may be there all the same. `options` may be NULL.
 * service.needs hold what rules and the time split ask for. The policy starts with one reference. */
struct policy *config_load(const char *bytes, size_t len, const char *path, const struct config_options *options,
                           struct config_diagnostics *d);
/* The same for a file on disk, at most 4 MiB of it. What cannot be read is an error in `d` too. */
struct policy *config_load_file(const char *path, const struct config_options *options, struct config_diagnostics *d);

struct policy *config_hold(struct policy *p);    /* one more reference; not for several threads */
void config_free(struct policy *p);              /* one reference less; takes NULL */

/* Leaves one service of a fresh policy, for what looks at one alone. false: it has no such service; nothing is changed. */
bool config_only(struct policy *p, const char *service);

/* The shipped playbook, as built into this binary. */
const char *config_default_playbook(size_t *ret_len);

#endif
