/* A VFS under SQLite that fails on command, and one that remembers every write so that a power cut can be played
 * at any point. One at a time, one thread. The functions are here, in a header, because each test is one source file.
 */
#ifndef SUPPORT_FAULTVFS_H
#define SUPPORT_FAULTVFS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/prng.h"
#include "support/test.h"

#define FAULTVFS "fault"

enum fault_op {
    FAULT_OPEN = 1,
    FAULT_READ = 2,
    FAULT_WRITE = 4,
    FAULT_TRUNCATE = 8,
    FAULT_SYNC = 16,
    FAULT_DELETE = 32
};

/* What happened, in order, for playing a power cut. Creating and deleting count as durable at once. */
enum power_op { POWER_CREATE, POWER_WRITE, POWER_TRUNCATE, POWER_SYNC, POWER_DELETE };
struct power_event { enum power_op op; unsigned file; int64_t at; size_t len; char *bytes; };

#define POWER_FILES_MAX 16
#define POWER_PENDING_MAX 32768
struct fault_state {
    unsigned ops;              /* set of enum fault_op that may fail; 0: none */
    uint64_t fail_at;          /* which of them, from 1 */
    bool forever;              /* and all after it */
    bool torn;                 /* a write that fails has written its first half */
    const char *full_while;    /* writes find a full disk as long as this file exists */
    bool full;                 /* ... or always */
    uint64_t seen;             /* of the ops in the set */
    uint64_t failed;
    bool recording;
    char *names[POWER_FILES_MAX];
    unsigned files;
    struct power_event *events;
    size_t n, cap;
};
static struct fault_state fault;

struct fault_file { sqlite3_file base; unsigned index; sqlite3_file *real; };

static sqlite3_vfs *fault_root(void)
{
    return sqlite3_vfs_find("unix");
}

static inline bool fault_hits(enum fault_op op)
{
    if (!(fault.ops & op)) return false;
    fault.seen++;
    bool hit = fault.fail_at != 0 && (fault.seen == fault.fail_at || (fault.forever && fault.seen > fault.fail_at));
    if (hit) fault.failed++;
    return hit;
}

static inline void power_note(enum power_op op, unsigned file, int64_t at, const void *bytes, size_t len)
{
    if (!fault.recording || file == POWER_FILES_MAX) return;
    if (fault.n == fault.cap) {
        fault.cap = fault.cap ? 2 * fault.cap : 256;
        fault.events = realloc(fault.events, fault.cap * sizeof fault.events[0]);
        assert_non_null(fault.events);
    }
    struct power_event *e = &fault.events[fault.n++];
    *e = (struct power_event){op, file, at, len, NULL};
    if (bytes) {
        e->bytes = malloc(len ? len : 1);
        assert_non_null(e->bytes);
        memcpy(e->bytes, bytes, len);
    }
}

static inline unsigned power_file(const char *name)
{
    for (unsigned i = 0; i < fault.files; i++)
        if (strcmp(fault.names[i], name) == 0) return i;
    assert_true(fault.files < POWER_FILES_MAX);
    fault.names[fault.files] = strdup(name);
    return fault.files++;
}

static inline sqlite3_file *fault_real(sqlite3_file *f) { return ((struct fault_file *)(void *)f)->real; }
static inline unsigned fault_index(sqlite3_file *f) { return ((struct fault_file *)(void *)f)->index; }

static int fault_close(sqlite3_file *f) { return fault_real(f)->pMethods->xClose(fault_real(f)); }

static int fault_read(sqlite3_file *f, void *out, int n, sqlite3_int64 at)
{
    if (fault_hits(FAULT_READ)) return SQLITE_IOERR_READ;
    return fault_real(f)->pMethods->xRead(fault_real(f), out, n, at);
}

static bool fault_disk_full(void)
{
    return fault.full || (fault.full_while && access(fault.full_while, F_OK) == 0);
}

static int fault_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    sqlite3_file *real = fault_real(f);
    if (fault_disk_full()) {
        fault.failed++;
        return SQLITE_FULL;
    }
    if (fault_hits(FAULT_WRITE)) {
        if (fault.torn) real->pMethods->xWrite(real, bytes, n / 2, at);
        return SQLITE_IOERR_WRITE;
    }
    power_note(POWER_WRITE, fault_index(f), at, bytes, (size_t)n);
    return real->pMethods->xWrite(real, bytes, n, at);
}

static int fault_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    if (fault_hits(FAULT_TRUNCATE)) return SQLITE_IOERR_TRUNCATE;
    power_note(POWER_TRUNCATE, fault_index(f), size, NULL, 0);
    return fault_real(f)->pMethods->xTruncate(fault_real(f), size);
}

static int fault_sync(sqlite3_file *f, int flags)
{
    if (fault_hits(FAULT_SYNC)) return SQLITE_IOERR_FSYNC;
    power_note(POWER_SYNC, fault_index(f), 0, NULL, 0);
    return fault_real(f)->pMethods->xSync(fault_real(f), flags);
}

static int fault_size(sqlite3_file *f, sqlite3_int64 *n)
{
    return fault_real(f)->pMethods->xFileSize(fault_real(f), n);
}
static int fault_lock(sqlite3_file *f, int l) { return fault_real(f)->pMethods->xLock(fault_real(f), l); }
static int fault_unlock(sqlite3_file *f, int l) { return fault_real(f)->pMethods->xUnlock(fault_real(f), l); }
static int fault_reserved(sqlite3_file *f, int *r)
{
    return fault_real(f)->pMethods->xCheckReservedLock(fault_real(f), r);
}
static int fault_sector(sqlite3_file *f) { return fault_real(f)->pMethods->xSectorSize(fault_real(f)); }
static int fault_shm_unmap(sqlite3_file *f, int del) { return fault_real(f)->pMethods->xShmUnmap(fault_real(f), del); }
static void fault_shm_barrier(sqlite3_file *f) { fault_real(f)->pMethods->xShmBarrier(fault_real(f)); }

static int fault_control(sqlite3_file *f, int op, void *arg)
{
    return fault_real(f)->pMethods->xFileControl(fault_real(f), op, arg);
}

/* Promise nothing: neither atomic writes nor appends in order. */
static int fault_traits(sqlite3_file *f)
{
    (void)f;
    return 0;
}

static int fault_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
    return fault_real(f)->pMethods->xShmMap(fault_real(f), page, size, extend, ret);
}

static int fault_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return fault_real(f)->pMethods->xShmLock(fault_real(f), at, n, flags);
}

static const sqlite3_io_methods fault_methods = {
    2, fault_close, fault_read, fault_write, fault_truncate, fault_sync, fault_size, fault_lock, fault_unlock,
    fault_reserved, fault_control, fault_sector, fault_traits, fault_shm_map, fault_shm_lock, fault_shm_barrier,
    fault_shm_unmap, NULL, NULL,
};

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
    struct fault_file *file = (struct fault_file *)(void *)f;
    (void)vfs;
    file->base.pMethods = NULL;
    if (fault_hits(FAULT_OPEN)) return SQLITE_CANTOPEN;
    bool fresh = name && access(name, F_OK) != 0;
    file->real = (sqlite3_file *)(void *)(file + 1);
    int rc = fault_root()->xOpen(fault_root(), name, file->real, flags, ret_flags);
    if (rc != SQLITE_OK) return rc;
    file->base.pMethods = &fault_methods;
    file->index = fault.recording && name ? power_file(name) : POWER_FILES_MAX;
    if (fresh) power_note(POWER_CREATE, file->index, 0, NULL, 0);
    return rc;
}

static int fault_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    if (fault_hits(FAULT_DELETE)) return SQLITE_IOERR_DELETE;
    if (fault.recording) power_note(POWER_DELETE, power_file(name), 0, NULL, 0);
    return fault_root()->xDelete(fault_root(), name, sync);
}

/* Registers the VFS under FAULTVFS; every other function of it is the system's. */
static inline void faultvfs_register(void)
{
    static sqlite3_vfs vfs;
    vfs = *fault_root();
    vfs.zName = FAULTVFS;
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct fault_file) + fault_root()->szOsFile;
    vfs.xOpen = fault_open;
    vfs.xDelete = fault_delete;
    assert_int_equal(sqlite3_vfs_register(&vfs, 0), SQLITE_OK);
}

/* Forgets plan and recording. */
static inline void faultvfs_reset(void)
{
    for (size_t i = 0; i < fault.n; i++) free(fault.events[i].bytes);
    for (unsigned i = 0; i < fault.files; i++) free(fault.names[i]);
    free(fault.events);
    fault = (struct fault_state){0};
}

/* One file while a power cut is played: what is safe, and the events since its last sync. */
struct power_image { char *bytes; size_t len, cap; bool exists; size_t pending[POWER_PENDING_MAX]; unsigned n; };

static inline void power_apply(struct power_image *image, const char *bytes, size_t at, size_t len)
{
    if (at + len > image->cap) {
        size_t cap = 2 * (at + len);
        image->bytes = realloc(image->bytes, cap);
        assert_non_null(image->bytes);
        memset(image->bytes + image->cap, 0, cap - image->cap);
        image->cap = cap;
    }
    memcpy(image->bytes + at, bytes, len);
    if (at + len > image->len) image->len = at + len;
}

static inline void power_settle(struct power_image *image, const struct power_event *e)
{
    if (e->op == POWER_WRITE) {
        power_apply(image, e->bytes, (size_t)e->at, e->len);
    } else if ((size_t)e->at < image->len) {
        memset(image->bytes + e->at, 0, image->len - (size_t)e->at);
        image->len = (size_t)e->at;
    }
}

/* What was not synced may be there, may not, or only some of its 512-byte sectors. */
static inline void power_gamble(struct power_image *image, const struct power_event *e, struct prng *chance)
{
    switch (prng_below(chance, 3)) {
    case 0: return;
    case 1: power_settle(image, e); return;
    default: break;
    }
    for (size_t at = 0; e->op == POWER_WRITE && at < e->len; at += 512)
        if (prng_below(chance, 2))
            power_apply(image, e->bytes + at, (size_t)e->at + at, e->len - at < 512 ? e->len - at : 512);
}

static inline void power_step(struct power_image *image, const struct power_event *e, size_t index)
{
    switch (e->op) {
    case POWER_CREATE:
    case POWER_DELETE:
        image->exists = e->op == POWER_CREATE;
        image->len = 0;
        image->n = 0;
        if (image->cap) memset(image->bytes, 0, image->cap);
        break;
    case POWER_SYNC:
        for (unsigned i = 0; i < image->n; i++) power_settle(image, &fault.events[image->pending[i]]);
        image->n = 0;
        break;
    case POWER_WRITE:
    case POWER_TRUNCATE:
        assert_true(image->n < POWER_PENDING_MAX);
        image->pending[image->n++] = index;
        break;
    }
}

/* Plays the recorded run up to `events`, cuts the power, and writes what is left of each file into `dir`. */
static inline void faultvfs_cut(size_t events, struct prng *chance, const char *dir)
{
    for (unsigned file = 0; file < fault.files; file++) {
        struct power_image *image = calloc(1, sizeof *image);
        char path[512];
        assert_non_null(image);
        for (size_t i = 0; i < events; i++)
            if (fault.events[i].file == file) power_step(image, &fault.events[i], i);
        for (unsigned i = 0; i < image->n; i++) power_gamble(image, &fault.events[image->pending[i]], chance);
        if (image->exists) {
            snprintf(path, sizeof path, "%s/%s", dir, strrchr(fault.names[file], '/') + 1);
            FILE *f = fopen(path, "wb");
            assert_non_null(f);
            assert_int_equal(fwrite(image->bytes ? image->bytes : "", 1, image->len, f), image->len);
            fclose(f);
        }
        free(image->bytes);
        free(image);
    }
}

#endif
