/* Loaded into the daemon by LD_PRELOAD: counts the system calls that something outside can see, from the moment the first
 * INTENT goes to the disk, and ends the process with SIGKILL instead of the call that it was told; also makes the disk hang
 * or be full when asked. The numbers live in a shared file (KILL_SHIM), so they outlive the process and the test can read
 * and set them while it runs. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define NAME_BYTES 40
#define NAMES 16384

/* The layout of the file; tests/system/crash.py reads the same. */
struct shared {
    _Atomic uint64_t kill_at;          /* 1: the first call counted; 0: never */
    _Atomic uint64_t count;
    _Atomic uint64_t armed;            /* calls are counted; set here at the first INTENT, or by the test */
    _Atomic uint64_t no_metrics;       /* calls on metrics.db are not counted: thousands, and no action depends on them */
    _Atomic uint64_t hang;             /* calls that would change audit.db wait until this is 0 again: a disk that hangs */
    _Atomic uint64_t full;             /* files of the store cannot grow: a full disk */
    uint64_t unused[2];
    char names[NAMES][NAME_BYTES];     /* of the calls counted: "pwrite audit.db-wal" */
};

static struct shared *shared;
static const char marker[] = "\"kind\":\"INTENT\"";

__attribute__((constructor)) static void open_shared(void)
{
    const char *path = getenv("KILL_SHIM");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *p = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED) shared = p;
    close(fd);
}

static const char *name_of(int fd, char *out, size_t cap)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, cap - 1);
    if (n < 0) return "?";
    out[n] = '\0';
    const char *slash = strrchr(out, '/');
    return slash ? slash + 1 : out;
}

/* Before the call: what it would have done has not happened, and everything before it has. */
static void effect(const char *call, const char *what)
{
    if (!shared || !atomic_load(&shared->armed)) return;
    if (atomic_load(&shared->no_metrics) && strncmp(what, "metrics.db", 10) == 0) return;
    uint64_t n = atomic_fetch_add(&shared->count, 1) + 1;
    if (n <= NAMES) snprintf(shared->names[n - 1], NAME_BYTES, "%.12s %.24s", call, what);
    if (n == atomic_load(&shared->kill_at)) {
        kill(getpid(), SIGKILL);
        for (;;) pause();              /* no thread goes on from here */
    }
}

static void effect_fd(const char *call, int fd)
{
    char path[512];
    if (!shared || !atomic_load(&shared->armed) || fd == STDERR_FILENO) return;
    const char *name = name_of(fd, path, sizeof path);
    if (strstr(name, "[eventfd]") || strstr(name, "pipe:")) return;   /* nobody outside sees these */
    effect(call, strncmp(name, "socket:", 7) == 0 ? "socket" : name);
}

/* false: the disk is full. */
static bool disk(int fd)
{
    char path[512];
    if (!shared || (!atomic_load(&shared->hang) && !atomic_load(&shared->full))) return true;
    const char *name = name_of(fd, path, sizeof path);
    while (strncmp(name, "audit.db", 8) == 0 && atomic_load(&shared->hang)) (void)poll(NULL, 0, 1);   /* a disk that hangs */
    if (!atomic_load(&shared->full) || !strstr(name, ".db")) return true;
    errno = ENOSPC;
    return false;
}

static void look(const void *data, size_t len)
{
    if (shared && !atomic_load(&shared->armed) && memmem(data, len, marker, sizeof marker - 1)) atomic_store(&shared->armed, 1);
}

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t n)
{
    effect_fd("write", fd);
    return NEXT(write)(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    look(data, n);
    effect_fd("pwrite", fd);
    if (!disk(fd)) return -1;
    return NEXT(pwrite)(fd, data, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    look(data, n);
    effect_fd("pwrite", fd);
    if (!disk(fd)) return -1;
    return NEXT(pwrite64)(fd, data, n, at);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
    effect_fd("writev", fd);
    return NEXT(writev)(fd, v, n);
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
    effect_fd(n > 3 && memcmp(data, "PUT", 3) == 0 ? "send-PUT" : "send", fd);
    return NEXT(send)(fd, data, n, flags);
}

ssize_t sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to, socklen_t len)
{
    effect_fd("sendto", fd);
    return NEXT(sendto)(fd, data, n, flags, to, len);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    effect_fd("sendmsg", fd);
    return NEXT(sendmsg)(fd, m, flags);
}

int fsync(int fd)
{
    effect_fd("fsync", fd);
    return NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    effect_fd("fdatasync", fd);
    (void)disk(fd);                    /* it may hang; a full disk still syncs what it has */
    return NEXT(fdatasync)(fd);
}

int ftruncate64(int fd, off64_t size)
{
    effect_fd("ftruncate", fd);
    return NEXT(ftruncate64)(fd, size);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
    if (shared && atomic_load(&shared->full)) return ENOSPC;
    return NEXT(posix_fallocate)(fd, at, n);
}

int rename(const char *from, const char *to)
{
    const char *slash = strrchr(to, '/');
    effect("rename", slash ? slash + 1 : to);
    return NEXT(rename)(from, to);
}

int unlink(const char *path)
{
    const char *slash = strrchr(path, '/');
    effect("unlink", slash ? slash + 1 : path);
    return NEXT(unlink)(path);
}
