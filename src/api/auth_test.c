/* Users, sessions, tokens, guessing: with a clock of our own. */
#include "api/auth.h"

#include <sodium.h>

#include "support/test.h"

#define S US_PER_S
static const int64_t start = INT64_C(1700000000) * US_PER_S;

static struct auth *made(void)
{
    struct access_user li = {.name = "li", .role = ROLE_OPERATOR, .hash = "x"};
    assert_true(sodium_init() >= 0);
    struct auth *a = auth_new(SPAN_MIN(30), SPAN_HOUR(12));
    assert_non_null(a);
    assert_true(auth_put_user(a, &li));
    return a;
}

static void a_session_is_known_by_its_cookie_alone(void **state)
{
    struct auth *a = made();
    char cookie[AUTH_SECRET_TEXT], other[AUTH_SECRET_TEXT];
    struct access_session x, y;
    struct identity who = {0}, who2 = {0};
    (void)state;
    assert_true(auth_session_new(a, "li", start, cookie, &x));
    assert_true(auth_session_new(a, "li", start, other, &y));
    assert_true(auth_session_find(a, cookie, start, true, &who));
    assert_int_equal(IDENTITY_SESSION, who.kind);
    assert_int_equal(ROLE_OPERATOR, who.role);
    assert_string_equal("li", who.name);
    assert_true(auth_session_find(a, other, start, true, &who2));
    assert_string_not_equal(who.csrf, who2.csrf);          /* one session's proof is worth nothing in another */
    assert_null(memmem(&x, sizeof x, cookie, 32));         /* what is kept does not hold the secret */
    cookie[5] = cookie[5] == 'a' ? 'b' : 'a';
    assert_false(auth_session_find(a, cookie, start, true, &who));
    assert_string_equal("session-ended", who.why);
    assert_false(auth_session_find(a, "", start, true, &who));
    auth_free(a);
}

static void a_session_ends(void **state)
{
    struct auth *a = made();
    char cookie[AUTH_SECRET_TEXT];
    struct access_session x;
    struct identity who;
    int64_t at = start;
    (void)state;
    assert_true(auth_session_new(a, "li", at, cookie, &x));
    for (int i = 0; i < 23; i++) assert_true(auth_session_find(a, cookie, at += 1800 * S, true, &who));   /* used each half hour */
    assert_true(auth_session_alive(a, x.key, start + 43199 * S));
    assert_false(auth_session_find(a, cookie, start + 43200 * S, true, &who));     /* twelve hours, used or not */
    assert_true(auth_session_new(a, "li", start, cookie, &x));
    assert_true(auth_session_find(a, cookie, start + 1800 * S, false, &who));
    assert_false(auth_session_find(a, cookie, start + 1801 * S, true, &who));      /* not used for half an hour */
    assert_true(auth_session_new(a, "li", start, cookie, &x));
    auth_session_end(a, x.key);
    assert_false(auth_session_find(a, cookie, start, true, &who));
    assert_true(auth_session_new(a, "li", start, cookie, &x));
    auth_drop_user(a, "li");
    assert_false(auth_session_alive(a, x.key, start));
    auth_free(a);
}

static void a_role_counts_as_it_is_now(void **state)
{
    struct auth *a = made();
    char cookie[AUTH_SECRET_TEXT];
    struct access_session x;
    struct identity who;
    struct access_user li = {.name = "li", .role = ROLE_VIEWER, .hash = "x"};
    (void)state;
    assert_true(auth_session_new(a, "li", start, cookie, &x));
    assert_true(auth_put_user(a, &li));
    assert_true(auth_session_find(a, cookie, start, true, &who));
    assert_int_equal(ROLE_VIEWER, who.role);
    auth_free(a);
}

static void sessions_are_bounded(void **state)
{
    struct auth *a = made();
    char cookie[AUTH_SECRET_TEXT];
    struct access_session x;
    (void)state;
    for (int i = 0; i < AUTH_SESSIONS_MAX + 10; i++) assert_true(auth_session_new(a, "li", start, cookie, &x));
    assert_int_equal(AUTH_SESSIONS_MAX, auth_sessions_of(a, "li"));
    auth_sessions_end(a, "li", x.key);
    assert_int_equal(1, auth_sessions_of(a, "li"));
    auth_free(a);
}

static void tokens_expire(void **state)
{
    struct auth *a = made();
    char secret[AUTH_SECRET_TEXT + 3];
    struct access_token t;
    struct identity who = {0};
    (void)state;
    assert_true(auth_token_new(a, "ci", ROLE_OPERATOR, start + 10 * S, "li", start, secret, &t));
    assert_true(auth_token_find(a, secret, start + 9 * S, &who));
    assert_int_equal(IDENTITY_TOKEN, who.kind);
    assert_string_equal("", who.csrf);
    assert_false(auth_token_find(a, secret, start + 10 * S, &who));
    assert_string_equal("token-expired", who.why);
    assert_true(auth_token_drop(a, t.id));
    assert_false(auth_token_find(a, secret, start, &who));
    assert_string_equal("bad-token", who.why);
    auth_free(a);
}

/* Five tries are free for an address; then 1, 2, 4 ... seconds, at most fifteen minutes. */
static void guessing_gets_slow(void **state)
{
    struct auth *a = made();
    int64_t now = start, total = 0;
    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(0, auth_wait(a, "li", "10.0.0.1", now));
        auth_try(a, "li", "10.0.0.1", now);
    }
    assert_int_equal(1 * S, auth_wait(a, "li", "10.0.0.1", now));
    assert_int_equal(0, auth_wait(a, "li", "10.0.0.2", now));            /* the person elsewhere is not kept out */
    for (int i = 0; i < 30; i++) {
        int64_t wait = auth_wait(a, "wang", "10.0.0.1", now);
        assert_true(wait > 0 && wait <= 900 * S);
        now += wait;
        total += wait;
        auth_try(a, "wang", "10.0.0.1", now);
    }
    assert_true(total > 3 * 3600 * S);
    assert_true(auth_wait(a, "wang", "10.0.0.9", now) <= 60 * S);         /* a name never waits longer than a minute */
    auth_good(a, "li", "10.0.0.1");
    assert_int_equal(0, auth_wait(a, "li", "10.0.0.1", now));
    auth_free(a);
}

static void many_guessers_do_not_crowd_out_memory(void **state)
{
    struct auth *a = made();
    char address[32];
    (void)state;
    for (int i = 0; i < 5000; i++) {
        snprintf(address, sizeof address, "10.%d.%d.1", i / 250, i % 250);
        auth_try(a, address, address, start + i * S);
    }
    assert_int_equal(0, auth_wait(a, "nobody", "10.200.0.1", start + 5000 * S));
    auth_free(a);
}

static void the_link_works_while_there_is_nobody(void **state)
{
    char secret[AUTH_SECRET_TEXT];
    struct access_user li = {.name = "li", .role = ROLE_ADMIN};
    (void)state;
    struct auth *a = auth_new(SPAN_MIN(1), SPAN_MIN(1));
    assert_false(auth_setup_good(a, ""));
    auth_setup_new(a, secret);
    assert_true(auth_setup_good(a, secret));
    assert_false(auth_setup_good(a, "0"));
    assert_true(auth_put_user(a, &li));
    assert_false(auth_setup_good(a, secret));
    assert_int_equal(1, auth_admins(a));
    auth_free(a);
}

/* A list read from disk takes the place of what is in memory; what was seen of a session stays. */
static void a_list_from_disk_is_taken(void **state)
{
    struct auth *a = made();
    char cookie[AUTH_SECRET_TEXT];
    struct access_session x;
    struct identity who;
    struct auth_lists l = {0};
    struct access_user wang = {.name = "wang", .role = ROLE_ADMIN}, li = {.name = "li", .role = ROLE_VIEWER};
    (void)state;
    assert_true(auth_session_new(a, "li", start, cookie, &x));
    assert_true(auth_lists_user(&l, &wang) && auth_lists_user(&l, &li) && auth_lists_session(&l, &x));
    auth_take(a, &l);
    assert_non_null(auth_user(a, "wang"));
    assert_false(auth_session_find(a, cookie, start + 1801 * S, true, &who));     /* still idle since `start` */
    auth_free(a);
}

static void names_and_passwords(void **state)
{
    (void)state;
    assert_null(auth_name_fault("li.wei@example.com"));
    assert_non_null(auth_name_fault(""));
    assert_non_null(auth_name_fault("a b"));
    assert_non_null(auth_name_fault("<b>"));
    assert_non_null(auth_name_fault("auto"));             /* would look like the loop itself in the audit */
    assert_non_null(auth_name_fault("local"));
    assert_null(auth_password_fault("correct horse", "li"));
    assert_non_null(auth_password_fault("short12", "li"));
    assert_non_null(auth_password_fault("password", "li"));
    assert_non_null(auth_password_fault("wangwang", "wangwang"));
    assert_true(auth_same("abc", "abc"));
    assert_false(auth_same("abc", "abd"));
    assert_false(auth_same("", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_known_by_its_cookie_alone),
        cmocka_unit_test(a_session_ends),
        cmocka_unit_test(a_role_counts_as_it_is_now),
        cmocka_unit_test(sessions_are_bounded),
        cmocka_unit_test(tokens_expire),
        cmocka_unit_test(guessing_gets_slow),
        cmocka_unit_test(many_guessers_do_not_crowd_out_memory),
        cmocka_unit_test(the_link_works_while_there_is_nobody),
        cmocka_unit_test(a_list_from_disk_is_taken),
        cmocka_unit_test(names_and_passwords),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
