#include "app/paths.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *paths_program(char *out, size_t cap)
{
    char exe[1024];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return NULL;
    exe[n] = '\0';
    return (size_t)snprintf(out, cap, "%s", dirname(exe)) < cap ? out : NULL;
}

static const char *folder(char *out, size_t cap, const char *base, const char *rest)
{
    struct stat st;
    if ((size_t)snprintf(out, cap, "%s%s", base, rest) >= cap) return NULL;
    return stat(out, &st) == 0 && S_ISDIR(st.st_mode) ? out : NULL;
}

const char *paths_presets(char *out, size_t cap)
{
    const char *env = getenv("TRIMTAB_PRESETS");
    char program[1024];
    if (env && *env) return folder(out, cap, env, "");
    if (!paths_program(program, sizeof program)) return NULL;
    const char *found = folder(out, cap, program, "/../share/trimtab/presets");
    return found ? found : folder(out, cap, program, "/../presets");
}
