/* A fresh folder for one test, and its removal. In memory where the system has such a place: tests write a lot. */
#ifndef SUPPORT_TEMPDIR_H
#define SUPPORT_TEMPDIR_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/test.h"

#define TEMPDIR_MAX 256

static inline void tempdir_make(char path[TEMPDIR_MAX])
{
    const char *base = getenv("TMPDIR");
    if (!base) base = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, TEMPDIR_MAX, "%s/trimtab-test-XXXXXX", base);
    if (!mkdtemp(path)) fail_msg("cannot make %s", path);
}

static inline int tempdir_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void tempdir_remove(const char *path) { nftw(path, tempdir_unlink, 16, FTW_DEPTH | FTW_PHYS); }

#endif
