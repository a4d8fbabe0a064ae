/* People, tokens and sessions come back as they were put; another program's change is noticed. */
#include "store/access.h"

#include <sys/stat.h>

#include "support/tempdir.h"
#include "support/test.h"

struct seen { unsigned users, tokens,
             sessions; struct access_user user; struct access_token token; struct access_session session; };

static void on_user(void *arg, const struct access_user *u)
{
    struct seen *s = arg;
    s->users++;
    s->user = *u;
}

static void on_token(void *arg, const struct access_token *t)
{
    struct seen *s = arg;
    s->tokens++;
    s->token = *t;
}

static void on_session(void *arg, const struct access_session *x)
{
    struct seen *s = arg;
    s->sessions++;
    s->session = *x;
}

static struct seen look(struct store_access *s)
{
    struct seen seen = {0};
    struct err e;
    const struct store_access_sink sink = {&seen, on_user, on_token, on_session};
    assert_int_equal(STATUS_OK, store_access_each(s, &sink, &e));
    return seen;
}

static bool same_user(const struct access_user *a, const struct access_user *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->hash, b->hash) == 0 && a->role == b->role && a->created == b->created &&
           a->changed == b->changed && a->last_login == b->last_login;
}

static bool same_token(const struct access_token *a, const struct access_token *b)
{
    return strcmp(a->id, b->id) == 0 && strcmp(a->name, b->name) == 0 && strcmp(a->by, b->by) == 0 && a->role == b->role &&
           memcmp(a->hash, b->hash, 32) == 0 && a->created == b->created && a->expires == b->expires;
}

static bool same_session(const struct access_session *a, const struct access_session *b)
{
    return memcmp(a->key, b->key, 32) == 0 && strcmp(a->name, b->name) == 0 && a->created == b->created && a->expires == b->expires;
}

static void what_is_put_comes_back(void **state)
{
    char dir[TEMPDIR_MAX];
    struct store_access *s = NULL;
    struct err e;
    struct access_user u = {.name = "li", .role = 3, .hash = "$argon2id$x", .created = 5, .changed = 6, .last_login = ACCESS_NEVER};
    struct access_token t = {.id = "0123456789abcdef", .name = "ci", .role = 2, .hash = {1, 2}, .created = 7,
                             .expires = ACCESS_NEVER, .by = "li"};
    struct access_session x = {.key = {9}, .name = "li", .created = 8, .expires = 100}, y = {.key = {7}, .name = "li",
            .expires = 50};
    (void)state;
    tempdir_make(dir);
    assert_int_equal(STATUS_OK, store_access_open(&s, dir, &e));
    assert_int_equal(STATUS_OK, store_access_put_user(s, &u, &e));
    assert_int_equal(STATUS_OK, store_access_put_token(s, &t, &e));
    assert_int_equal(STATUS_OK, store_access_put_session(s, &x, &e));
    assert_int_equal(STATUS_OK, store_access_put_session(s, &y, &e));
    store_access_close(s);
    assert_int_equal(STATUS_OK, store_access_open(&s, dir, &e));
    struct seen seen = look(s);
    assert_int_equal(1, seen.users);
    assert_true(same_user(&u, &seen.user));
    assert_true(same_token(&t, &seen.token));
    assert_int_equal(2, seen.sessions);
    assert_int_equal(STATUS_OK, store_access_drop_sessions(s, "li", x.key, &e));
    seen = look(s);
    assert_int_equal(1, seen.sessions);
    assert_true(same_session(&x, &seen.session));
    assert_int_equal(STATUS_OK, store_access_drop_expired(s, 99, &e));
    assert_int_equal(1, look(s).sessions);
    assert_int_equal(STATUS_OK, store_access_drop_user(s, "li", &e));
    assert_int_equal(STATUS_OK, store_access_drop_token(s, t.id, &e));
    seen = look(s);
    assert_int_equal(0, seen.users + seen.tokens + seen.sessions);
    store_access_close(s);
    tempdir_remove(dir);
}

static void a_change_by_another_program_is_noticed(void **state)
{
    char dir[TEMPDIR_MAX], path[300];
    struct store_access *a = NULL, *b = NULL;
    struct err e;
    struct access_user u = {.name = "wang", .role = 1, .hash = "h"};
    struct stat st;
    (void)state;
    tempdir_make(dir);
    assert_int_equal(STATUS_OK, store_access_open(&a, dir, &e));
    assert_int_equal(STATUS_OK, store_access_open(&b, dir, &e));
    assert_false(store_access_changed(a));
    assert_int_equal(STATUS_OK, store_access_put_user(b, &u, &e));
    assert_true(store_access_changed(a));
    assert_false(store_access_changed(a));
    assert_false(store_access_changed(b));
    snprintf(path, sizeof path, "%s/access.db", dir);
    assert_int_equal(0, stat(path, &st));
    assert_int_equal(0, st.st_mode & 077);
    store_access_close(a);
    store_access_close(b);
    tempdir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_comes_back),
        cmocka_unit_test(a_change_by_another_program_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
