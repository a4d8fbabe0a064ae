#include "sim/swarm_disk.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"

#define FILES_MAX 16
#define SECTOR 512

/* A write (or a truncation: no bytes) that no sync has covered yet. */
struct pending { bool truncates; size_t at, len; char *bytes; };

struct image { char *bytes; size_t len, cap; };

struct disk_file {
    char *name;
    struct image safe;               /* what a power cut leaves for sure */
    bool exists;
    struct pending *pending;
    size_t n, cap;
};

static struct {
    struct disk_file files[FILES_MAX];
    unsigned n;
    struct disk_weather weather;
    bool dead, sync_failed;
} disk;

struct handle { sqlite3_file base; unsigned index; sqlite3_file *real; };

static sqlite3_vfs *root(void) { return sqlite3_vfs_find("unix"); }
static sqlite3_file *real_of(sqlite3_file *f) { return ((struct handle *)(void *)f)->real; }
static struct disk_file *file_of(sqlite3_file *f) { return &disk.files[((struct handle *)(void *)f)->index]; }

static unsigned index_of(const char *name)
{
    for (unsigned i = 0; i < disk.n; i++) {
        if (strcmp(disk.files[i].name, name) == 0) return i;
    }
    CHECK(disk.n < FILES_MAX);
    disk.files[disk.n] = (struct disk_file){.name = strdup(name)};
    CHECK(disk.files[disk.n].name != NULL);
    return disk.n++;
}

/* ---- what is safe ---- */

static void image_set(struct image *m, size_t at, const char *bytes, size_t len)
{
    if (at + len > m->cap) {
        size_t cap = 2 * (at + len);
        m->bytes = realloc(m->bytes, cap);
        CHECK(m->bytes != NULL);
        memset(m->bytes + m->cap, 0, cap - m->cap);
        m->cap = cap;
    }
    memcpy(m->bytes + at, bytes, len);
    if (at + len > m->len) m->len = at + len;
}

static void image_cut(struct image *m, size_t len)
{
    if (len >= m->len) return;
    memset(m->bytes + len, 0, m->len - len);
    m->len = len;
}

static void apply(struct disk_file *f, const struct pending *p)
{
    if (p->truncates) image_cut(&f->safe, p->at);
    else image_set(&f->safe, p->at, p->bytes, p->len);
}

static void forget_pending(struct disk_file *f)
{
    for (size_t i = 0; i < f->n; i++) free(f->pending[i].bytes);
    f->n = 0;
}

static void note(struct disk_file *f, bool truncates, size_t at, const void *bytes, size_t len)
{
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 64;
        f->pending = realloc(f->pending, f->cap * sizeof *f->pending);
        CHECK(f->pending != NULL);
    }
    struct pending *p = &f->pending[f->n++];
    *p = (struct pending){truncates, at, len, NULL};
    if (truncates) return;
    p->bytes = malloc(len ? len : 1);
    CHECK(p->bytes != NULL);
    memcpy(p->bytes, bytes, len);
}

static void settle(struct disk_file *f)
{
    for (size_t i = 0; i < f->n; i++) apply(f, &f->pending[i]);
    forget_pending(f);
}

/* There, lost, or only some of its sectors. */
static void gamble(struct disk_file *f, const struct pending *p, struct prng *chance)
{
    uint64_t fate = prng_below(chance, 3);
    if (fate == 0) return;
    if (fate == 1 || p->truncates) {
        apply(f, p);
        return;
    }
    for (size_t at = 0; at < p->len; at += SECTOR) {
        size_t len = p->len - at < SECTOR ? p->len - at : SECTOR;
        if (prng_below(chance, 2)) image_set(&f->safe, p->at + at, p->bytes + at, len);
    }
}

static void write_out(const struct disk_file *f)
{
    FILE *out = f->exists ? fopen(f->name, "wb") : NULL;
    if (!f->exists) {
        (void)unlink(f->name);
        return;
    }
    CHECK(out != NULL && fwrite(f->safe.bytes ? f->safe.bytes : "", 1, f->safe.len, out) == f->safe.len);
    CHECK(fclose(out) == 0);
}

/* ---- the VFS ---- */

/* One write goes through, or the process is dead from here on. */
static bool alive(void)
{
    if (disk.weather.writes_left == 0) disk.dead = true;
    if (disk.dead) return false;
    if (disk.weather.writes_left != DISK_ALWAYS) disk.weather.writes_left--;
    return true;
}

static int vfs_close(sqlite3_file *f) { return real_of(f)->pMethods->xClose(real_of(f)); }

static int vfs_read(sqlite3_file *f, void *out, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), out, n, at);
}

static int vfs_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    if (!alive()) return SQLITE_IOERR_WRITE;
    if (disk.weather.full) return SQLITE_FULL;
    int len = disk.weather.fails ? disk.weather.torn ? n / 2 : 0 : n;
    if (len > 0) note(file_of(f), false, (size_t)at, bytes, (size_t)len);
    int rc = len > 0 ? real_of(f)->pMethods->xWrite(real_of(f), bytes, len, at) : SQLITE_OK;
    return disk.weather.fails ? SQLITE_IOERR_WRITE : rc;
}

static int vfs_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    if (!alive()) return SQLITE_IOERR_TRUNCATE;
    note(file_of(f), true, (size_t)size, NULL, 0);
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

/* What is synced is only remembered: the run's power cuts are played, so no real disk has to be waited for. */
static int vfs_sync(sqlite3_file *f, int flags)
{
    (void)flags;
    if (!alive()) return SQLITE_IOERR_FSYNC;
    if (disk.weather.sync_fails) {
        disk.sync_failed = true;
        return SQLITE_IOERR_FSYNC;
    }
    settle(file_of(f));
    return SQLITE_OK;
}

static int vfs_size(sqlite3_file *f, sqlite3_int64 *n) { return real_of(f)->pMethods->xFileSize(real_of(f), n); }
static int vfs_lock(sqlite3_file *f, int l) { return real_of(f)->pMethods->xLock(real_of(f), l); }
static int vfs_unlock(sqlite3_file *f, int l) { return real_of(f)->pMethods->xUnlock(real_of(f), l); }
static int vfs_reserved(sqlite3_file *f, int *r) { return real_of(f)->pMethods->xCheckReservedLock(real_of(f), r); }
static int vfs_control(sqlite3_file *f, int op, void *arg) { return real_of(f)->pMethods->xFileControl(real_of(f), op, arg); }
static int vfs_sector(sqlite3_file *f) { return real_of(f)->pMethods->xSectorSize(real_of(f)); }
static void vfs_barrier(sqlite3_file *f) { real_of(f)->pMethods->xShmBarrier(real_of(f)); }
static int vfs_unmap(sqlite3_file *f, int del) { return real_of(f)->pMethods->xShmUnmap(real_of(f), del); }

/* Nothing is promised: neither atomic writes nor appends in order. */
static int vfs_traits(sqlite3_file *f)
{
    (void)f;
    return 0;
}

static int vfs_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, ret);
}

static int vfs_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), at, n, flags);
}

static const sqlite3_io_methods methods = {
    2, vfs_close, vfs_read, vfs_write, vfs_truncate, vfs_sync, vfs_size, vfs_lock, vfs_unlock, vfs_reserved, vfs_control,
    vfs_sector, vfs_traits, vfs_map, vfs_shm_lock, vfs_barrier, vfs_unmap, NULL, NULL,
};

/* Making and deleting a file counts as durable at once. */
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
    struct handle *h = (struct handle *)(void *)f;
    (void)vfs;
    h->base.pMethods = NULL;
    if (!name) return root()->xOpen(root(), name, f, flags, ret_flags);   /* a temporary file: no one's memory */
    h->real = (sqlite3_file *)(void *)(h + 1);
    int rc = root()->xOpen(root(), name, h->real, flags, ret_flags);
    if (rc != SQLITE_OK) return rc;
    h->base.pMethods = &methods;
    h->index = index_of(name);
    file_of(f)->exists = true;
    return rc;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    if (!alive()) return SQLITE_IOERR_DELETE;
    struct disk_file *f = &disk.files[index_of(name)];
    f->exists = false;
    forget_pending(f);
    image_cut(&f->safe, 0);
    return root()->xDelete(root(), name, sync);
}

static void register_vfs(void)
{
    static sqlite3_vfs vfs;
    if (sqlite3_vfs_find(DISK_VFS)) return;
    vfs = *root();
    vfs.zName = DISK_VFS;
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct handle) + root()->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    CHECK(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
}

/* ---- for the swarm ---- */

void disk_begin(void)
{
    register_vfs();
    disk_end();
    disk.weather.writes_left = DISK_ALWAYS;
}

void disk_end(void)
{
    for (unsigned i = 0; i < disk.n; i++) {
        forget_pending(&disk.files[i]);
        free(disk.files[i].pending);
        free(disk.files[i].safe.bytes);
        free(disk.files[i].name);
    }
    memset(&disk, 0, sizeof disk);
}

struct disk_weather *disk_weather(void) { return &disk.weather; }

bool disk_sync_failed(void)
{
    bool was = disk.sync_failed;
    disk.sync_failed = false;
    return was;
}

void disk_process_dies(void) { disk.dead = true; }

void disk_settle(void)
{
    for (unsigned i = 0; i < disk.n; i++) settle(&disk.files[i]);
}

void disk_power_cut(struct prng *chance)
{
    for (unsigned i = 0; i < disk.n; i++) {
        struct disk_file *f = &disk.files[i];
        for (size_t n = 0; n < f->n; n++) gamble(f, &f->pending[n], chance);
        forget_pending(f);
        write_out(f);
    }
}

void disk_process_lives(void)
{
    disk.dead = false;
    disk.weather = (struct disk_weather){.writes_left = DISK_ALWAYS};
}
