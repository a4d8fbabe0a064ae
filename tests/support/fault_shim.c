/* Loaded into the daemon by LD_PRELOAD: lets one call of it fail, once, that the test has chosen by its kind and either by its
 * number or by the place in our own code that makes it. Places are the four innermost return addresses inside the program.
 * The numbers live in a shared file (FAULT_SHIM), as those of kill_shim.c do; tests/system/fault.py reads the same layout. */
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#define FRAMES 4
#define SITES 8192

enum kind { OF_NOTHING, OF_MEMORY, OF_WRITE, OF_SYNC, OF_SQL, OF_CURL, OF_OTHER };

struct site { _Atomic uint64_t hash, count, at[FRAMES]; char what[32]; };

struct shared {
    _Atomic uint64_t kind;             /* enum kind that may fail; the rest is not looked at */
    _Atomic uint64_t site;             /* only calls from this place; 0: from any */
    _Atomic uint64_t number;           /* the first, second, ... of them; 0: none, they are only counted */
    _Atomic uint64_t error;            /* errno or code of the library that it fails with; 0: its own default, a short write */
    _Atomic uint64_t seen;
    _Atomic uint64_t hit;
    _Atomic uint64_t listing;          /* places are kept below */
    _Atomic uint64_t places;
    struct site sites[SITES];
    struct site victim;
};

static struct shared *shared;
static uintptr_t code_from, code_to;   /* of the program itself */
static __thread bool inside __attribute__((tls_model("initial-exec")));
static __thread int sql_code __attribute__((tls_model("initial-exec")));

static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X)) continue;
        code_from = info->dlpi_addr + h->p_vaddr;
        code_to = code_from + h->p_memsz;
        return 1;
    }
    return 1;                          /* the first object is the program */
}

__attribute__((constructor)) static void open_shared(void)
{
    const char *path = getenv("FAULT_SHIM");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *p = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    (void)dl_iterate_phdr(find_program, NULL);
    if (p != MAP_FAILED) shared = p;
}

struct walk { uint64_t at[FRAMES]; unsigned n; };

static _Unwind_Reason_Code one_frame(struct _Unwind_Context *c, void *arg)
{
    struct walk *w = arg;
    uintptr_t ip = _Unwind_GetIP(c);
    if (ip >= code_from && ip < code_to) w->at[w->n++] = ip - code_from;
    return w->n == FRAMES ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static uint64_t hash_of(const struct walk *w, const char *what)
{
    uint64_t h = 14695981039346656037u;
    for (unsigned i = 0; i < FRAMES; i++) h = (h ^ w->at[i]) * 1099511628211u;
    for (; *what; what++) h = (h ^ (unsigned char)*what) * 1099511628211u;
    return h ? h : 1;
}

static void fill(struct site *s, const struct walk *w, const char *what)
{
    for (unsigned i = 0; i < FRAMES; i++) atomic_store(&s->at[i], w->at[i]);
    snprintf(s->what, sizeof s->what, "%.31s", what);
}

static void keep(uint64_t hash, const struct walk *w, const char *what)
{
    for (uint64_t i = hash % SITES, tries = 0; tries < SITES; i = (i + 1) % SITES, tries++) {
        uint64_t is = 0;
        if (atomic_compare_exchange_strong(&shared->sites[i].hash, &is, hash)) {
            fill(&shared->sites[i], w, what);
            atomic_fetch_add(&shared->places, 1);
            is = hash;
        }
        if (is != hash) continue;
        atomic_fetch_add(&shared->sites[i].count, 1);
        return;
    }
}

/* Is this the call that fails? */
static bool fails(enum kind kind, const char *what)
{
    struct walk w = {.n = 0};
    uint64_t hash = 0;
    bool hit = false;
    if (!shared || inside || atomic_load(&shared->kind) != kind) return false;
    inside = true;
    if (atomic_load(&shared->listing) || atomic_load(&shared->site)) {
        (void)_Unwind_Backtrace(one_frame, &w);
        hash = hash_of(&w, what);
    }
    if (atomic_load(&shared->listing)) keep(hash, &w, what);
    if (!atomic_load(&shared->site) || atomic_load(&shared->site) == hash) {
        hit = atomic_fetch_add(&shared->seen, 1) + 1 == atomic_load(&shared->number);
        if (hit && w.n == 0) (void)_Unwind_Backtrace(one_frame, &w);
        if (hit) fill(&shared->victim, &w, what);
        if (hit) atomic_fetch_add(&shared->hit, 1);
    }
    inside = false;
    return hit;
}

static int error_or(int standard)
{
    return atomic_load(&shared->error) ? (int)atomic_load(&shared->error) : standard;
}

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* ---- memory ---- */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    if (!fails(OF_MEMORY, "malloc")) return __libc_malloc(n);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t n, size_t size)
{
    if (!fails(OF_MEMORY, "calloc")) return __libc_calloc(n, size);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *p, size_t n)
{
    if (!fails(OF_MEMORY, "realloc")) return __libc_realloc(p, n);
    errno = ENOMEM;
    return NULL;
}

/* ---- writes and syncs ---- */

/* "pwrite audit.db-wal"; NULL: nobody outside sees it, and it cannot fail in earnest. */
static const char *named(const char *call, int fd, char out[32])
{
    char link[64], path[512];
    if (!shared || inside) return NULL;
    if (atomic_load(&shared->kind) != OF_WRITE && atomic_load(&shared->kind) != OF_SYNC) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return NULL;
    path[n] = '\0';
    if (strstr(path, "[eventfd]") || (strstr(path, "pipe:") && fd != STDERR_FILENO)) return NULL;
    const char *slash = strrchr(path, '/');
    const char *name = fd == STDERR_FILENO ? "stderr" : strncmp(path, "socket:", 7) == 0 ? "socket" : slash ? slash + 1 : path;
    snprintf(out, 32, "%.9s %.20s", call, name);
    return out;
}

/* 0: goes through; else what the call returns. `n` is what it wanted to write. */
static ssize_t broken(const char *call, int fd, size_t n, bool socket)
{
    char name[32];
    const char *what = named(call, fd, name);
    if (!what || !fails(OF_WRITE, what)) return 0;
    if (atomic_load(&shared->error) == 0 && n > 1) return (ssize_t)(n / 2);
    errno = socket ? ECONNRESET : error_or(EIO);
    return -1;
}

ssize_t write(int fd, const void *data, size_t n)
{
    ssize_t r = broken("write", fd, n, false);
    return r < 0 ? r : NEXT(write)(fd, data, r > 0 ? (size_t)r : n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    ssize_t r = broken("pwrite", fd, n, false);
    return r < 0 ? r : NEXT(pwrite)(fd, data, r > 0 ? (size_t)r : n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    ssize_t r = broken("pwrite", fd, n, false);
    return r < 0 ? r : NEXT(pwrite64)(fd, data, r > 0 ? (size_t)r : n, at);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
    ssize_t r = broken("writev", fd, 0, true);
    return r < 0 ? r : NEXT(writev)(fd, v, n);
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
    ssize_t r = broken("send", fd, n, true);
    return r < 0 ? r : NEXT(send)(fd, data, r > 0 ? (size_t)r : n, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    ssize_t r = broken("sendmsg", fd, 0, true);
    return r < 0 ? r : NEXT(sendmsg)(fd, m, flags);
}

static bool unsynced(const char *call, int fd)
{
    char name[32];
    const char *what = named(call, fd, name);
    if (!what || !fails(OF_SYNC, what)) return false;
    errno = error_or(EIO);
    return true;
}

int fsync(int fd) { return unsynced("fsync", fd) ? -1 : NEXT(fsync)(fd); }
int fdatasync(int fd) { return unsynced("fdatasync", fd) ? -1 : NEXT(fdatasync)(fd); }

/* ---- SQLite: a call that fails, and what the library says about it until the next one of this thread ---- */

static bool sql_fails(const char *what)
{
    sql_code = 0;
    if (!fails(OF_SQL, what)) return false;
    sql_code = error_or(SQLITE_IOERR_WRITE);
    return true;
}

int sqlite3_step(sqlite3_stmt *st) { return sql_fails("sqlite3_step") ? sql_code & 0xff : NEXT(sqlite3_step)(st); }

int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int n, unsigned flags, sqlite3_stmt **ret, const char **tail)
{
    if (!sql_fails("sqlite3_prepare_v3")) return NEXT(sqlite3_prepare_v3)(db, sql, n, flags, ret, tail);
    *ret = NULL;
    return sql_code & 0xff;
}

int sqlite3_exec(sqlite3 *db, const char *sql, int (*each)(void *, int, char **, char **), void *arg, char **error)
{
    return sql_fails("sqlite3_exec") ? sql_code : NEXT(sqlite3_exec)(db, sql, each, arg, error);
}

int sqlite3_open_v2(const char *path, sqlite3 **ret, int flags, const char *vfs)
{
    if (!sql_fails("sqlite3_open_v2")) return NEXT(sqlite3_open_v2)(path, ret, flags, vfs);
    *ret = NULL;
    return SQLITE_NOMEM;
}

int sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode, int *log, int *done)
{
    return sql_fails("sqlite3_wal_checkpoint_v2") ? sql_code : NEXT(sqlite3_wal_checkpoint_v2)(db, name, mode, log, done);
}

int sqlite3_errcode(sqlite3 *db) { return sql_code ? sql_code & 0xff : NEXT(sqlite3_errcode)(db); }
int sqlite3_extended_errcode(sqlite3 *db) { return sql_code ? sql_code : NEXT(sqlite3_extended_errcode)(db); }
const char *sqlite3_errmsg(sqlite3 *db) { return sql_code ? sqlite3_errstr(sql_code) : NEXT(sqlite3_errmsg)(db); }

/* ---- curl ---- */

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

CURL *curl_easy_init(void) { return fails(OF_CURL, "curl_easy_init") ? NULL : NEXT(curl_easy_init)(); }
CURLM *curl_multi_init(void) { return fails(OF_CURL, "curl_multi_init") ? NULL : NEXT(curl_multi_init)(); }

CURLcode curl_easy_setopt(CURL *c, CURLoption option, ...)
{
    va_list args;
    va_start(args, option);
    void *value = va_arg(args, void *);   /* each kind of value travels as one word */
    va_end(args);
    if (fails(OF_CURL, "curl_easy_setopt")) return (CURLcode)error_or(CURLE_OUT_OF_MEMORY);
    return NEXT(curl_easy_setopt)(c, option, value);
}

CURLcode curl_easy_getinfo(CURL *c, CURLINFO info, ...)
{
    va_list args;
    va_start(args, info);
    void *value = va_arg(args, void *);
    va_end(args);
    if (fails(OF_CURL, "curl_easy_getinfo")) return (CURLcode)error_or(CURLE_OUT_OF_MEMORY);
    return NEXT(curl_easy_getinfo)(c, info, value);
}

CURLMcode curl_multi_setopt(CURLM *m, CURLMoption option, ...)
{
    va_list args;
    va_start(args, option);
    void *value = va_arg(args, void *);
    va_end(args);
    if (fails(OF_CURL, "curl_multi_setopt")) return CURLM_OUT_OF_MEMORY;
    return NEXT(curl_multi_setopt)(m, option, value);
}

CURLcode curl_easy_perform(CURL *c)
{
    return fails(OF_CURL, "curl_easy_perform") ? (CURLcode)error_or(CURLE_OUT_OF_MEMORY) : NEXT(curl_easy_perform)(c);
}

CURLcode curl_global_init(long flags)
{
    return fails(OF_CURL, "curl_global_init") ? CURLE_FAILED_INIT : NEXT(curl_global_init)(flags);
}

struct curl_slist *curl_slist_append(struct curl_slist *l, const char *s)
{
    return fails(OF_CURL, "curl_slist_append") ? NULL : NEXT(curl_slist_append)(l, s);
}

CURLMcode curl_multi_add_handle(CURLM *m, CURL *c)
{
    return fails(OF_CURL, "curl_multi_add_handle") ? CURLM_OUT_OF_MEMORY : NEXT(curl_multi_add_handle)(m, c);
}

CURLMcode curl_multi_assign(CURLM *m, curl_socket_t s, void *p)
{
    return fails(OF_CURL, "curl_multi_assign") ? CURLM_OUT_OF_MEMORY : NEXT(curl_multi_assign)(m, s, p);
}

CURLMcode curl_multi_socket_action(CURLM *m, curl_socket_t s, int events, int *running)
{
    return fails(OF_CURL, "curl_multi_socket_action") ? CURLM_OUT_OF_MEMORY : NEXT(curl_multi_socket_action)(m, s, events, running);
}

/* ---- the rest of what can fail outside ---- */

static bool other(const char *what)
{
    if (!fails(OF_OTHER, what)) return false;
    errno = error_or(EIO);
    return true;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return other("open") ? -1 : NEXT(open)(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode) { return other("fopen") ? NULL : NEXT(fopen)(path, mode); }
int rename(const char *from, const char *to) { return other("rename") ? -1 : NEXT(rename)(from, to); }
int unlink(const char *path) { return other("unlink") ? -1 : NEXT(unlink)(path); }
int ftruncate(int fd, off_t size) { return other("ftruncate") ? -1 : NEXT(ftruncate)(fd, size); }
int posix_fallocate(int fd, off_t at, off_t n) { return other("posix_fallocate") ? ENOSPC : NEXT(posix_fallocate)(fd, at, n); }
int eventfd(unsigned n, int flags) { return other("eventfd") ? -1 : NEXT(eventfd)(n, flags); }
int socket(int domain, int type, int protocol) { return other("socket") ? -1 : NEXT(socket)(domain, type, protocol); }

int connect(int fd, const struct sockaddr *to, socklen_t len) { return other("connect") ? -1 : NEXT(connect)(fd, to, len); }

int pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    return other("pthread_create") ? EAGAIN : NEXT(pthread_create)(ret, attr, run, arg);
}

int event_add(struct event *e, const struct timeval *t) { return other("event_add") ? -1 : NEXT(event_add)(e, t); }
