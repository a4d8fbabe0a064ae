#include "app/access_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

struct filling { struct auth_lists *lists; bool ok; };

static void on_user(void *arg, const struct access_user *u)
{
    struct filling *f = arg;
    f->ok = auth_lists_user(f->lists, u) && f->ok;
}

static void on_token(void *arg, const struct access_token *t)
{
    struct filling *f = arg;
    f->ok = auth_lists_token(f->lists, t) && f->ok;
}

static void on_session(void *arg, const struct access_session *x)
{
    struct filling *f = arg;
    f->ok = auth_lists_session(f->lists, x) && f->ok;
}

enum status access_file_load(struct store_access *s, struct auth_lists *ret, struct err *e)
{
    struct filling f = {ret, true};
    const struct store_access_sink sink = {&f, on_user, on_token, on_session};
    enum status rc = store_access_each(s, &sink, e);
    if (rc == STATUS_OK && !f.ok) rc = err_set(e, STATUS_LIMIT, "too many users, tokens or sessions in access.db");
    return rc;
}

static bool read_line(char *line, struct access_user *u)
{
    char *role = strchr(line, ':'), *hash = role ? strchr(role + 1, ':') : NULL;
    enum role r;
    if (!hash) return false;
    *role++ = *hash++ = '\0';
    if (auth_name_fault(line) || !auth_role_parse(role, &r) || !text_starts(hash, "$argon2id$")) return false;
    u->role = (int)r;
    return text_copy(u->name, sizeof u->name, line) && text_copy(u->hash, sizeof u->hash, hash);
}

enum status access_file_basic(const char *path, struct auth_lists *ret, struct err *e)
{
    char line[400];
    unsigned n = 0;
    enum status s = STATUS_OK;
    FILE *f = fopen(path, "re");
    if (!f) return err_set(e, STATUS_IO, "%.300s: %s", path, strerror(errno));
    while (s == STATUS_OK && fgets(line, sizeof line, f)) {
        struct access_user u = {.last_login = ACCESS_NEVER};
        n++;
        line[strcspn(line, "\r\n")] = '\0';
        if (!line[0] || line[0] == '#') continue;
        if (!read_line(line, &u)) s = err_set(e, STATUS_INVALID,
                                              "%.300s:%u: expected NAME:ROLE:HASH; 'trimtab user hash' makes HASH", path, n);
        else if (!auth_lists_user(ret, &u)) s = err_set(e, STATUS_LIMIT, "%.300s: too many users", path);
    }
    (void)fclose(f);
    return s;
}
