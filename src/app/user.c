/* trimtab user: who may log in, and API tokens. Works on access.db itself, so also when no daemon runs. */
#include <pwd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "api/access.h"
#include "app/access_file.h"
#include "app/clock.h"
#include "app/input.h"
#include "app/output.h"
#include "app/table.h"
#include "base/num.h"
#include "base/text.h"

struct work_on { const struct args *a; struct store_access *s; struct auth_lists lists; const char *name; };

static int fail(const char *text)
{
    fprintf(stderr, "trimtab user: %s\n", text);
    return EXIT_FAIL;
}

static int fail_err(const struct err *e) { return fail(e->text); }

/* ---- passwords ---- */

static bool ask(const char *prompt, char out[AUTH_PASSWORD_MAX + 2])
{
    struct termios before, quiet;
    bool tty = tcgetattr(STDIN_FILENO, &before) == 0;
    if (tty) {
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
        fprintf(stderr, "%s", prompt);
    }
    bool ok = fgets(out, AUTH_PASSWORD_MAX + 2, stdin) != NULL;
    if (tty) {
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        fprintf(stderr, "\n");
    }
    if (ok) out[strcspn(out, "\r\n")] = '\0';
    return ok;
}

/* The first line, blanks and all. */
static bool from_file(const char *path, char out[AUTH_PASSWORD_MAX + 2])
{
    struct buf b = BUF_INIT;
    struct err e;
    if (text_eq(path, "-")) return ask("", out);
    bool ok = input_read(path, 4096, &b, &e) == STATUS_OK;
    if (!ok) fprintf(stderr, "trimtab user: %s\n", e.text);
    if (b.data) b.data[strcspn(b.data, "\r\n")] = '\0';
    if (ok && !text_copy(out, AUTH_PASSWORD_MAX + 2, buf_text(&b))) {
        fprintf(stderr, "trimtab user: the first line of %s is longer than a password may be\n", path);
        ok = false;
    }
    if (b.data) explicit_bzero(b.data, b.len);
    buf_free(&b);
    return ok;
}

/* On a terminal twice, since it is not seen. false: said why. */
static bool password(const struct args *a, const char *name, char out[AUTH_PASSWORD_MAX + 2])
{
    char again[AUTH_PASSWORD_MAX + 2] = "";
    const char *file = args_text(a, "password-file");
    bool ok = file ? from_file(file, out) : ask("Password: ", out);
    if (ok && !file && isatty(STDIN_FILENO)) {
        ok = ask("Again: ", again) && strcmp(out, again) == 0;
        if (!ok) fprintf(stderr, "trimtab user: the two are not the same\n");
    }
    explicit_bzero(again, sizeof again);
    const char *fault = ok ? auth_password_fault(out, name) : NULL;
    if (fault) fprintf(stderr, "trimtab user: %s\n", fault);
    return ok && !fault;
}

static bool hashed(const struct args *a, const char *name, char out[ACCESS_HASH_MAX])
{
    char text[AUTH_PASSWORD_MAX + 2];
    bool ok = password(a, name, text) && access_hash_now(text, out);
    explicit_bzero(text, sizeof text);
    return ok;
}

/* ---- users ---- */

static const struct access_user *find(const struct work_on *w)
{
    for (unsigned i = 0; i < w->lists.user_n; i++) {
        if (text_eq(w->lists.users[i].name, w->name)) return &w->lists.users[i];
    }
    return NULL;
}

static bool role_of(const struct args *a, int *ret)
{
    enum role role;
    const char *word = args_text(a, "role");
    if (word && auth_role_parse(word, &role)) {
        *ret = (int)role;
        return true;
    }
    fprintf(stderr, "trimtab user: say --role viewer, operator or admin\n");
    return false;
}

static int put(struct work_on *w, struct access_user *u, const char *said)
{
    struct err e;
    u->changed = clock_real_us();
    if (store_access_put_user(w->s, u, &e) != STATUS_OK) return fail_err(&e);
    printf("%s: %s, %s\n", u->name, auth_role_name((enum role)u->role), said);
    return EXIT_GOOD;
}

static int add(struct work_on *w)
{
    struct access_user u = {.created = clock_real_us(), .last_login = ACCESS_NEVER};
    const char *fault = auth_name_fault(w->name);
    if (fault) return fail(fault);
    if (find(w)) return fail("there is a user of this name; 'trimtab user password NAME' changes the password");
    if (!role_of(w->a, &u.role) || !hashed(w->a, w->name, u.hash)) return EXIT_FAIL;
    (void)text_copy(u.name, sizeof u.name, w->name);
    return put(w, &u, "added");
}

static int drop_sessions(struct work_on *w)
{
    struct err e;
    return store_access_drop_sessions(w->s, w->name, NULL, &e) == STATUS_OK ? EXIT_GOOD : fail_err(&e);
}

static int change_password(struct work_on *w)
{
    struct access_user u = *find(w);
    if (!hashed(w->a, w->name, u.hash) || drop_sessions(w) != EXIT_GOOD) return EXIT_FAIL;
    return put(w, &u, "password changed, sessions ended");
}

static int change_role(struct work_on *w)
{
    struct access_user u = *find(w);
    if (!role_of(w->a, &u.role) || drop_sessions(w) != EXIT_GOOD) return EXIT_FAIL;
    return put(w, &u, "role changed, sessions ended");
}

static int remove_user(struct work_on *w)
{
    struct err e;
    if (store_access_drop_user(w->s, w->name, &e) != STATUS_OK) return fail_err(&e);
    printf("%s: removed\n", w->name);
    return EXIT_GOOD;
}

static void time_cell(json_t *o, const char *key, int64_t t)
{
    struct buf b = BUF_INIT;
    if (t != ACCESS_NEVER) wall_print(&b, (struct wall){t});
    json_object_set_new(o, key, t == ACCESS_NEVER ? json_null() : json_string(buf_text(&b)));
    buf_free(&b);
}

static int show(const struct args *a, json_t *rows, const char *names, const char *const *keys, unsigned n)
{
    enum output o;
    struct table t;
    size_t i;
    json_t *row;
    if (!output_of(a, &o)) return EXIT_USAGE;
    if (!output_value(o, rows)) {
        table_open(&t, names);
        json_array_foreach(rows, i, row) {
            for (unsigned k = 0; k < n; k++) table_cell(&t, text_of(row, keys[k])[0] ? text_of(row, keys[k]) : "-");
        }
        table_show(&t, 0);
    }
    json_decref(rows);
    return EXIT_GOOD;
}

static int list_users(struct work_on *w)
{
    static const char *const keys[] = {"name", "role", "created", "last_login"};
    json_t *rows = json_array();
    for (unsigned i = 0; i < w->lists.user_n; i++) {
        const struct access_user *u = &w->lists.users[i];
        json_t *o = json_pack("{s:s,s:s}", "name", u->name, "role", auth_role_name((enum role)u->role));
        time_cell(o, "created", u->created);
        time_cell(o, "last_login", u->last_login);
        json_array_append_new(rows, o);
    }
    return show(w->a, rows, "NAME|ROLE|CREATED|LAST LOGIN", keys, ARRAY_LEN(keys));
}

/* ---- tokens ---- */

static int list_tokens(struct work_on *w)
{
    static const char *const keys[] = {"id", "name", "role", "created", "expires", "created_by"};
    json_t *rows = json_array();
    for (unsigned i = 0; i < w->lists.token_n; i++) {
        const struct access_token *t = &w->lists.tokens[i];
        json_t *o = json_pack("{s:s,s:s,s:s,s:s}", "id", t->id, "name", t->name, "role", auth_role_name((enum role)t->role),
                              "created_by", t->by);
        time_cell(o, "created", t->created);
        time_cell(o, "expires", t->expires);
        json_array_append_new(rows, o);
    }
    return show(w->a, rows, "ID|NAME|ROLE|CREATED|EXPIRES|BY", keys, ARRAY_LEN(keys));
}

static int make_token(struct work_on *w)
{
    char secret[AUTH_SECRET_TEXT + 3];
    const char *days_text = args_text(w->a, "days"), *fault = auth_name_fault(w->name);
    uint64_t days = 90;
    struct access_token t;
    struct passwd *p = getpwuid(getuid());
    struct err e;
    int role;
    if (fault) return fail(fault);
    if (days_text && (!num_parse_u64(days_text, strlen(days_text), &days) || days == 0 || days > 3650))
        return fail("--days is a whole number from 1 to 3650");
    if (!role_of(w->a, &role)) return EXIT_FAIL;
    struct auth *auth = auth_new(SPAN_MIN(1), SPAN_MIN(1));
    int64_t now = clock_real_us();
    bool ok = auth && auth_token_new(auth, w->name, (enum role)role, now + (int64_t)days * 24 * US_PER_HOUR,
                                     p ? p->pw_name : "unknown", now, secret, &t);
    auth_free(auth);
    if (!ok) return fail("out of memory");
    if (store_access_put_token(w->s, &t, &e) != STATUS_OK) return fail_err(&e);
    printf("%s\n", secret);
    explicit_bzero(secret, sizeof secret);
    fprintf(stderr, "This is shown once. Use it as Authorization: Bearer. Its id is %s.\n", t.id);
    return EXIT_GOOD;
}

static int revoke_token(struct work_on *w)
{
    struct err e;
    for (unsigned i = 0; i < w->lists.token_n; i++) {
        if (!text_eq(w->lists.tokens[i].id, w->name)) continue;
        if (store_access_drop_token(w->s, w->name, &e) != STATUS_OK) return fail_err(&e);
        printf("%s: revoked\n", w->name);
        return EXIT_GOOD;
    }
    return fail("no token of this id; 'trimtab user tokens' lists them");
}

/* ---- the command ---- */

static const struct { const char *word; bool name, known; int (*run)(struct work_on *w); } verbs[] = {
    {"add", true, false, add}, {"list", false, false, list_users}, {"remove", true, true, remove_user},
    {"password", true, true, change_password}, {"role", true, true, change_role}, {"token", true, false, make_token},
    {"tokens", false, false, list_tokens}, {"revoke", true, false, revoke_token},
};

static int run(const struct args *a, unsigned verb)
{
    struct work_on w = {.a = a, .name = a->word_n > 1 ? a->words[1] : ""};
    const char *data = args_text(a, "data");
    struct err e;
    int code = EXIT_FAIL;
    if (!data) data = getenv("TRIMTAB_DATA");
    if (!data || !data[0]) data = "./trimtab-data";
    if (store_access_open(&w.s, data, &e) != STATUS_OK) {
        fprintf(stderr, "trimtab user: %s\nSay where the daemon's data folder is with --data DIR.\n", e.text);
        return EXIT_FAIL;
    }
    if (access_file_load(w.s, &w.lists, &e) != STATUS_OK) code = fail_err(&e);
    else if (verbs[verb].known && !find(&w)) code = fail("no user of this name; 'trimtab user list' shows them");
    else code = verbs[verb].run(&w);
    auth_lists_free(&w.lists);
    store_access_close(w.s);
    return code;
}

static int print_hash(const struct args *a)
{
    char hash[ACCESS_HASH_MAX];
    if (!hashed(a, "", hash)) return EXIT_FAIL;
    printf("%s\n", hash);
    return EXIT_GOOD;
}

int command_user(const struct args *a)
{
    if (sodium_init() < 0 || !args_want(a, 1, 2)) return EXIT_USAGE;
    if (text_eq(a->words[0], "hash") && a->word_n == 1) return print_hash(a);
    for (unsigned i = 0; i < ARRAY_LEN(verbs); i++) {
        if (text_eq(a->words[0], verbs[i].word) && (a->word_n == 2) == verbs[i].name) return run(a, i);
    }
    fprintf(stderr, "trimtab user: expected add, remove, password, role, token or revoke with a NAME, or list, tokens, hash\n");
    return EXIT_USAGE;
}
