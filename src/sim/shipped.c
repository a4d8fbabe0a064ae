/* The scenarios and policies of examples/, as built into this binary, so that `simulate --scenario NAME` needs no file. */
#include <string.h>

#include "sim/scenario.h"

struct shipped { const char *name; const unsigned char *bytes; size_t len; };

#include <shipped_bytes.h>

static const struct shipped scenarios[] = {SHIPPED_SCENARIOS};
static const struct shipped policies[] = {SHIPPED_POLICIES};

static const char *find(const struct shipped *all, size_t n, const char *name, size_t *ret_len)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].name, name) != 0) continue;
        *ret_len = all[i].len;
        return (const char *)all[i].bytes;
    }
    return NULL;
}

const char *scenario_shipped(const char *name, size_t *ret_len)
{
    return find(scenarios, sizeof scenarios / sizeof scenarios[0], name, ret_len);
}

const char *scenario_shipped_policy(const char *name, size_t *ret_len)
{
    return find(policies, sizeof policies / sizeof policies[0], name, ret_len);
}

const char *const *scenario_names(void)
{
    static const char *const names[] = {SHIPPED_SCENARIOS_NAMES NULL};
    return names;
}
