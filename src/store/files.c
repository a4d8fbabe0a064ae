#include "store/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/text.h"

#define KEY_FILE_MAX 1024

enum status store_path(char out[STORE_PATH_MAX], const char *dir, const char *name, struct err *e)
{
    int n = snprintf(out, STORE_PATH_MAX, "%s/%s", dir, name);
    if (n > 0 && n < STORE_PATH_MAX) return STATUS_OK;
    return err_set(e, STATUS_LIMIT, "the path %.100s.../%s is longer than %d bytes", dir, name, STORE_PATH_MAX - 1);
}

/* The last system call's failure, for people. */
static enum status fail(const char *what, const char *path, struct err *e)
{
    int os = errno;
    enum status rc = os == ENOENT ? STATUS_NOT_FOUND
                     : os == EACCES || os == EPERM || os == EROFS ? STATUS_DENIED
                     : os == ENOSPC || os == EDQUOT ? STATUS_FULL : STATUS_IO;
    return err_set(e, rc, "%s: cannot %s: %s", path, what, strerror(os));
}

enum status store_make_dir(const char *dir, struct err *e)
{
    struct stat st;
    if (mkdir(dir, 0700) == 0) return STATUS_OK;
    if (errno != EEXIST) return fail("make this folder", dir, e);
    if (stat(dir, &st) != 0) return fail("look at this folder", dir, e);
    return S_ISDIR(st.st_mode) ? STATUS_OK : err_set(e, STATUS_INVALID, "%s: this is not a folder", dir);
}

static enum status busy(int fd, const char *dir, struct err *e)
{
    char pid[32] = "";
    ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
    size_t digits = n > 0 ? strspn(pid, "0123456789") : 0;
    if (digits == 0) text_copy(pid, sizeof pid, "unknown");
    else pid[digits] = '\0';
    return err_set(e, STATUS_BUSY,
                   "%s: in use by process %s: only one daemon may use a store; stop that one or use another folder",
                   dir, pid);
}

enum status store_lock(const char *dir, int *ret_fd, struct err *e)
{
    char path[STORE_PATH_MAX], pid[32];
    enum status rc = store_path(path, dir, "lock", e);
    if (rc != STATUS_OK) return rc;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail("open", path, e);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        rc = errno == EWOULDBLOCK ? busy(fd, dir, e) : fail("lock", path, e);
    } else {
        int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
        /* The pid is only a help for people: a full disk must not keep the daemon from starting. */
        if (ftruncate(fd, 0) == 0 && pwrite(fd, pid, (size_t)n, 0) != n) rc = STATUS_OK;
    }
    if (rc == STATUS_OK) *ret_fd = fd;
    else close(fd);
    return rc;
}

/* A small text file without its last line feed. */
static enum status read_small(const char *path, char *out, size_t cap, size_t *ret_len, mode_t *ret_mode, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (fd < 0) return fail("open", path, e);
    ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, out, cap) : -1;
    enum status rc = n < 0 ? fail("read", path, e) : STATUS_OK;
    close(fd);
    if (rc != STATUS_OK) return rc;
    if ((size_t)n == cap) return err_set(e, STATUS_LIMIT, "%s: too long for a key", path);
    while (n > 0 && out[n - 1] == '\n') n--;
    *ret_len = (size_t)n;
    *ret_mode = st.st_mode;
    return STATUS_OK;
}

static enum status sync_dir(const char *dir, struct err *e)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail("open", dir, e);
    enum status rc = fsync(fd) == 0 ? STATUS_OK : fail("sync", dir, e);
    close(fd);
    return rc;
}

enum durability { SYNCED, UNSYNCED };

static enum status write_all(int fd, const char *path, const struct buf *text, enum durability d, struct err *e)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->data + at, text->len - at);
        if (n < 0) return fail("write", path, e);
        at += (size_t)n;
    }
    return d == UNSYNCED || fsync(fd) == 0 ? STATUS_OK : fail("sync", path, e);
}

/* Whole or not at all: under another name first, then renamed. */
static enum status replace(const char *dir, const char *name, mode_t mode, enum durability d, const struct buf *text,
                           struct err *e)
{
    char path[STORE_PATH_MAX], fresh[STORE_PATH_MAX + 4];
    enum status rc = store_path(path, dir, name, e);
    if (rc != STATUS_OK) return rc;
    if (!buf_ok(text)) return err_set(e, STATUS_MEMORY, "%s: no memory to write it", path);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    unlink(fresh);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) return fail("make", fresh, e);
    rc = write_all(fd, fresh, text, d, e);
    close(fd);
    if (rc == STATUS_OK && rename(fresh, path) != 0) rc = fail("rename to", path, e);
    if (rc == STATUS_OK && d == SYNCED) rc = sync_dir(dir, e);
    if (rc != STATUS_OK) unlink(fresh);
    return rc;
}

enum status store_key_load(const char *dir, struct audit_signer *ret, struct err *e)
{
    char path[STORE_PATH_MAX], text[KEY_FILE_MAX];
    size_t len = 0;
    mode_t mode = 0;
    enum status rc = store_path(path, dir, "audit.key", e);
    if (rc == STATUS_OK) rc = read_small(path, text, sizeof text, &len, &mode, e);
    if (rc != STATUS_OK) return rc;
    if (mode & 077)
        rc = err_set(e, STATUS_DENIED, "%s: others may read this secret (mode %03o): run chmod 600 on it", path,
                     (unsigned)(mode & 0777));
    else if (audit_signer_parse(ret, text, len, e) != STATUS_OK)
        rc = err_set(e, STATUS_CORRUPT, "%s: not a signing key: restore the file from a backup", path);
    sodium_memzero(text, sizeof text);
    return rc;
}

enum status store_key_make(const char *dir, const char *origin, const uint8_t *seed, struct audit_signer *ret,
                           struct err *e)
{
    uint8_t fresh[AUDIT_SEED_BYTES];
    struct audit_signer s;
    if (sodium_init() < 0) return err_set(e, STATUS_IO, "no source of randomness to make the signing key from");
    randombytes_buf(fresh, sizeof fresh);
    enum status rc = audit_signer_make(&s, origin, seed ? seed : fresh, e);
    if (rc == STATUS_OK && dir) {
        struct buf text = BUF_INIT;
        audit_signer_print(&s, &text);
        buf_putc(&text, '\n');
        rc = replace(dir, "audit.key", 0600, SYNCED, &text, e);
        if (text.data) sodium_memzero(text.data, text.cap);
        buf_free(&text);
    }
    if (rc == STATUS_OK) *ret = s;
    sodium_memzero(fresh, sizeof fresh);
    audit_signer_wipe(&s);
    return rc;
}

enum status store_key_publish(const char *dir, const struct audit_verifier *v, struct err *e)
{
    char path[STORE_PATH_MAX], old[KEY_FILE_MAX];
    size_t len = 0;
    mode_t mode = 0;
    struct buf text = BUF_INIT;
    enum status rc = store_path(path, dir, "audit.pub", e);
    if (rc != STATUS_OK) return rc;
    audit_verifier_print(v, &text);
    bool same = read_small(path, old, sizeof old, &len, &mode, NULL) == STATUS_OK && buf_ok(&text) && len == text.len
                && memcmp(old, text.data, len) == 0;
    buf_putc(&text, '\n');
    if (!same) rc = replace(dir, "audit.pub", 0644, SYNCED, &text, e);
    buf_free(&text);
    return rc;
}

enum status store_key_read_public(const char *path, struct audit_verifier *ret, struct err *e)
{
    char text[KEY_FILE_MAX];
    size_t len = 0;
    mode_t mode = 0;
    enum status rc = read_small(path, text, sizeof text, &len, &mode, e);
    if (rc != STATUS_OK) return rc;
    struct err why;
    rc = audit_verifier_parse(ret, text, len, &why);
    return rc == STATUS_OK ? rc : err_set(e, rc, "%s: %s", path, why.text);
}

enum status store_checkpoint_publish(const char *dir, const struct buf *note, struct err *e)
{
    return replace(dir, "checkpoint", 0644, UNSYNCED, note, e);
}

enum status store_checkpoint_published(const char *dir, const struct audit_verifier *v, struct audit_checkpoint *ret,
                                       struct err *e)
{
    char path[STORE_PATH_MAX], text[KEY_FILE_MAX];
    size_t len = 0;
    mode_t mode = 0;
    enum status rc = store_path(path, dir, "checkpoint", e);
    if (rc == STATUS_OK) rc = read_small(path, text, sizeof text - 1, &len, &mode, e);
    if (rc != STATUS_OK) return rc;
    text[len++] = '\n';   /* read_small drops the last one */
    struct err why;
    rc = audit_checkpoint_open(ret, text, len, v, &why);
    return rc == STATUS_OK ? rc : err_set(e, STATUS_NOT_FOUND, "%s: %.300s", path, why.text);
}

bool store_reserve_take(const char *dir, uint64_t bytes)
{
    char path[STORE_PATH_MAX];
    if (bytes == 0) return true;
    if (store_path(path, dir, "reserve", NULL) != STATUS_OK) return false;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return false;
    bool ok = posix_fallocate(fd, 0, (off_t)bytes) == 0;
    close(fd);
    if (!ok) unlink(path);
    return ok;
}

bool store_reserve_release(const char *dir)
{
    char path[STORE_PATH_MAX];
    return store_path(path, dir, "reserve", NULL) == STATUS_OK && unlink(path) == 0;
}
