#include "adapt/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"

struct piece { char *at; size_t size; uint64_t offset; bool lent; };

struct pages {
    struct memory memory;
    struct piece *pieces;
    uint32_t n, cap;
    int fd;
    size_t page;
    uint64_t end, lent, refused;
};

static size_t whole_pages(const struct pages *p, size_t bytes) { return (bytes + p->page - 1) / p->page * p->page; }

/* A piece of the same size that was given back: pieces are of few sizes, one for each number of signals. */
static struct piece *reuse(struct pages *p, size_t size)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (!p->pieces[i].lent && p->pieces[i].size == size) return &p->pieces[i];
    return NULL;
}

static struct piece *append(struct pages *p, size_t size)
{
    if (p->n == p->cap) {
        uint32_t cap = p->cap ? p->cap * 2 : 64;
        struct piece *grown = realloc(p->pieces, cap * sizeof *grown);
        if (!grown) return NULL;
        p->pieces = grown;
        p->cap = cap;
    }
    struct piece *x = &p->pieces[p->n];
    if (posix_fallocate(p->fd, (off_t)p->end, (off_t)size) != 0) return NULL;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, (off_t)p->end);
    if (at == MAP_FAILED) return NULL;
    (void)madvise(at, size, MADV_RANDOM);        /* a fault brings its own page, not its neighbours */
    *x = (struct piece){.at = at, .size = size, .offset = p->end};
    p->end += size;
    p->n++;
    return x;
}

static void *take(void *ctx, size_t bytes)
{
    struct pages *p = ctx;
    size_t size = whole_pages(p, bytes);
    struct piece *x = reuse(p, size);
    if (!x) x = append(p, size);
    if (!x) {
        p->refused++;
        return calloc(1, bytes);
    }
    x->lent = true;
    p->lent += size;
    return x->at;
}

/* Zeros again, with the room kept. */
static void wipe(const struct pages *p, const struct piece *x)
{
    int mode = FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE;
    if (fallocate(p->fd, mode, (off_t)x->offset, (off_t)x->size) != 0) memset(x->at, 0, x->size);
}

static void give(void *ctx, void *memory, size_t bytes)
{
    struct pages *p = ctx;
    (void)bytes;
    for (uint32_t i = 0; i < p->n; i++) {
        struct piece *x = &p->pieces[i];
        if (x->at != memory) continue;
        wipe(p, x);
        x->lent = false;
        p->lent -= x->size;
        return;
    }
    free(memory);
}

static int open_nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    struct buf name = BUF_INIT;
    buf_printf(&name, "%s/.pages-XXXXXX", folder);
    char *path = buf_ok(&name) ? strdup(buf_text(&name)) : NULL;
    buf_free(&name);
    if (!path) return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) (void)unlink(path);
    free(path);
    return fd;
}

struct pages *pages_open(const char *folder, struct err *e)
{
    struct pages *p = calloc(1, sizeof *p);
    if (!p) {
        err_set(e, STATUS_MEMORY, "out of memory for the file of rarely used pages");
        return NULL;
    }
    p->memory = (struct memory){.ctx = p, .take = take, .give = give};
    p->page = (size_t)sysconf(_SC_PAGESIZE);
    p->fd = open_nameless(folder);
    if (p->fd >= 0) return p;
    err_set(e, STATUS_IO, "%s: no file for rarely used pages: %s", folder, strerror(errno));
    free(p);
    return NULL;
}

void pages_close(struct pages *p)
{
    if (!p) return;
    for (uint32_t i = 0; i < p->n; i++) (void)munmap(p->pieces[i].at, p->pieces[i].size);
    (void)close(p->fd);
    free(p->pieces);
    free(p);
}

const struct memory *pages_memory(struct pages *p) { return &p->memory; }

void pages_rest(struct pages *p, uint32_t turn, uint32_t turns)
{
    for (uint32_t i = turn; i < p->n; i += turns)
        if (p->pieces[i].lent) (void)madvise(p->pieces[i].at, p->pieces[i].size, MADV_DONTNEED);
}

uint64_t pages_lent(const struct pages *p) { return p->lent; }
uint64_t pages_refused(const struct pages *p) { return p->refused; }
