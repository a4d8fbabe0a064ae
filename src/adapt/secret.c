#include "adapt/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status read_line(int fd, const char *path, char out[SECRET_MAX], struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return err_set(e, STATUS_IO, "secret %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return err_set(e, STATUS_INVALID, "secret %s: not a plain file", path);
    if (st.st_mode & 077) {
        return err_set(e, STATUS_DENIED, "secret %s: others can read it (mode %03o); run: chmod 600 %s", path,
                       (unsigned)(st.st_mode & 0777), path);
    }
    ssize_t n = read(fd, out, SECRET_MAX);
    if (n < 0) return err_set(e, STATUS_IO, "secret %s: %s", path, strerror(errno));
    if (n == SECRET_MAX) return err_set(e, STATUS_INVALID, "secret %s: longer than %d bytes", path, SECRET_MAX - 1);
    while (n > 0 && (out[n - 1] == '\n' || out[n - 1] == '\r')) n--;
    out[n] = '\0';
    if (n == 0) return err_set(e, STATUS_INVALID, "secret %s: the file is empty", path);
    for (ssize_t i = 0; i < n; i++) {
        if ((unsigned char)out[i] < ' ' || (unsigned char)out[i] > '~')
            return err_set(e, STATUS_INVALID, "secret %s: not one line of printable ASCII", path);
    }
    return STATUS_OK;
}

enum status secret_read(const char *path, char out[SECRET_MAX], struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        enum status s = errno == ENOENT ? STATUS_NOT_FOUND : errno == EACCES ? STATUS_DENIED : STATUS_IO;
        return err_set(e, s, "secret %s: %s", path, strerror(errno));
    }
    enum status s = read_line(fd, path, out, e);
    (void)close(fd);
    if (s != STATUS_OK) explicit_bzero(out, SECRET_MAX);
    return s;
}
