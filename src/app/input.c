#include "app/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static enum status refused(const char *path, struct err *e)
{
    enum status s = errno == ENOENT ? STATUS_NOT_FOUND : errno == EACCES ? STATUS_DENIED : STATUS_IO;
    return err_set(e, s, "cannot read %s: %s", path, strerror(errno));
}

enum status input_read(const char *path, size_t limit, struct buf *out, struct err *e)
{
    char block[65536];
    size_t n, total = 0;
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    if (!f) return refused(path, e);
    while ((n = fread(block, 1, sizeof block, f)) > 0 && (total += n) <= limit) buf_add(out, block, n);
    enum status s = ferror(f) ? refused(path, e) : STATUS_OK;
    if (f != stdin) fclose(f);
    if (s != STATUS_OK) return s;
    if (total > limit) return err_set(e, STATUS_LIMIT, "%s is larger than %zu bytes", path, limit);
    return buf_ok(out) ? STATUS_OK : err_set(e, STATUS_MEMORY, "no memory for %s", path);
}

enum status input_line(const char *path, char *out, size_t cap, struct err *e)
{
    struct buf b = BUF_INIT;
    enum status s = input_read(path, 4096, &b, e);
    if (s == STATUS_OK) {
        char *text = b.data ? b.data : (char[1]){""};
        text[strcspn(text, "\r\n")] = '\0';
        text += strspn(text, " ");
        text[strcspn(text, " ")] = '\0';
        if (!text[0]) s = err_set(e, STATUS_INVALID, "%s is empty", path);
        else if (!text_copy(out, cap, text)) s = err_set(e, STATUS_INVALID, "the first line of %s is too long", path);
    }
    buf_free(&b);
    return s;
}
