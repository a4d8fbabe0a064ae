#include "adapt/file_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapt/pointer.h"
#include "base/buf.h"

static bool wrong(char why[160], const char *what, const char *path)
{
    snprintf(why, 160, "%s %.90s: %s", what, path, strerror(errno));
    return false;
}

static bool slurp(const char *path, struct buf *out, struct stat *st, char why[160])
{
    char chunk[16384];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return wrong(why, "cannot open", path);
    bool ok = fstat(fd, st) == 0 || wrong(why, "cannot look at", path);
    if (ok && !S_ISREG(st->st_mode)) {
        snprintf(why, 160, "%.100s is not a plain file", path);
        ok = false;
    }
    while (ok) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n == 0) break;
        if (n < 0) ok = wrong(why, "cannot read", path);
        else buf_add(out, chunk, (size_t)n);
        if (out->len > FILE_WRITER_MAX) {
            snprintf(why, 160, "%.100s is over %zu KiB", path, FILE_WRITER_MAX >> 10);
            ok = false;
        }
    }
    (void)close(fd);
    return ok;
}

bool file_writer_read(const struct access_def *def, struct knob_value *ret, char why[160])
{
    struct buf text = BUF_INIT;
    struct stat st;
    bool ok = slurp(def->path, &text, &st, why) && pointer_get(buf_text(&text), text.len, def->pointer, ret, why);
    buf_free(&text);
    return ok;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* A temporary file beside the target with the new text, synced, with the target's mode and, where that may be, owner. */
static bool prepare(const char *path, const struct buf *text, const struct stat *st, char temp[PATH_MAX], char why[160])
{
    if (snprintf(temp, PATH_MAX, "%s.trimtab-XXXXXX", path) >= PATH_MAX) {
        snprintf(why, 160, "the path is too long");
        return false;
    }
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0) return wrong(why, "cannot make a file beside", path);
    bool ok = write_all(fd, buf_text(text), text->len) && fchmod(fd, st->st_mode & 07777) == 0;
    if (ok && (st->st_uid != geteuid() || st->st_gid != getegid())) ok = fchown(fd, st->st_uid, st->st_gid) == 0;
    ok = ok && fsync(fd) == 0;
    if (!ok) (void)wrong(why, "cannot write beside", path);
    (void)close(fd);
    if (!ok) (void)unlink(temp);
    return ok;
}

static bool sync_folder(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = fsync(fd) == 0;
    (void)close(fd);
    return ok;
}

/* A file that ended with a newline still does. */
static bool end_alike(struct buf *fresh, const struct buf *was)
{
    bool wanted = was->len > 0 && was->data[was->len - 1] == '\n';
    if (wanted && (fresh->len == 0 || fresh->data[fresh->len - 1] != '\n')) buf_putc(fresh, '\n');
    return buf_ok(fresh);
}

static enum answer_kind swap_in(const char *path, const char *temp, bool (*may_send)(void *arg), void *arg, char why[160])
{
    if (!may_send(arg)) {
        (void)unlink(temp);
        snprintf(why, 160, "stopped right before the file was replaced");
        return ANSWER_NOT_SENT;
    }
    if (rename(temp, path) != 0) {
        (void)wrong(why, "cannot replace", path);
        (void)unlink(temp);
        return ANSWER_REFUSED;
    }
    if (sync_folder(path)) return ANSWER_OK;
    (void)wrong(why, "replaced, but cannot sync the folder of", path);
    return ANSWER_ERROR;
}

enum answer_kind file_writer_write(const struct access_def *def, const char *read_pointer, const struct knob_value *value,
                                   const struct knob_value *old, bool (*may_send)(void *arg), void *arg, char why[160])
{
    struct buf text = BUF_INIT, fresh = BUF_INIT;
    struct stat st;
    struct knob_value now = {0};
    char temp[PATH_MAX], real[PATH_MAX];
    enum answer_kind kind = ANSWER_REFUSED;
    const char *pointer = def->pointer && def->pointer[0] ? def->pointer : read_pointer;
    why[0] = '\0';
    if (!realpath(def->path, real)) (void)wrong(why, "cannot find", def->path);   /* a link keeps pointing where it does */
    else if (slurp(real, &text, &st, why) && pointer_get(buf_text(&text), text.len, pointer, &now, why)) {
        if (old->len > 0 && !knob_value_same(&now, old))
            snprintf(why, 160, "the file holds another value than the one that was read");
        else if (pointer_set(buf_text(&text), text.len, pointer, value->bytes, value->len, &fresh, why) &&
                 end_alike(&fresh, &text) && prepare(real, &fresh, &st, temp, why))
            kind = swap_in(real, temp, may_send, arg, why);
    }
    buf_free(&text);
    buf_free(&fresh);
    return kind;
}
