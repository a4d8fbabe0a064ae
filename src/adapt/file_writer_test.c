#include "adapt/file_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "adapt/secret.h"
#include "support/tempdir.h"

static bool yes(void *arg)
{
    (*(unsigned *)arg)++;
    return true;
}

static bool no(void *arg)
{
    (*(unsigned *)arg)++;
    return false;
}

struct bed { char dir[TEMPDIR_MAX], path[TEMPDIR_MAX + 16]; struct access_def def; };

static int set_up(void **state)
{
    struct bed *b = calloc(1, sizeof *b);
    tempdir_make(b->dir);
    snprintf(b->path, sizeof b->path, "%s/limits", b->dir);
    b->def = (struct access_def){.kind = ACCESS_FILE, .path = b->path};
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *b = *state;
    tempdir_remove(b->dir);
    free(b);
    return 0;
}

static void put(const struct bed *b, const char *text, mode_t mode)
{
    FILE *f = fopen(b->path, "w");
    assert_non_null(f);
    assert_int_equal(strlen(text), fwrite(text, 1, strlen(text), f));
    assert_int_equal(0, fclose(f));
    assert_int_equal(0, chmod(b->path, mode));
}

static void expect_file(const struct bed *b, const char *want)
{
    char text[200] = "";
    FILE *f = fopen(b->path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    assert_string_equal(want, text);
}

static unsigned files_in(const char *dir)
{
    unsigned n = 0;
    DIR *d = opendir(dir);
    for (const struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static struct knob_value value(const char *text)
{
    struct knob_value v = {0};
    assert_true(knob_value_set(&v, text, (unsigned)strlen(text)));
    return v;
}

static enum answer_kind write_value(struct bed *b, const char *to, const char *old, bool (*may)(void *), unsigned *asked,
                                    char why[160])
{
    struct knob_value v = value(to), o = value(old);
    *asked = 0;
    return file_writer_write(&b->def, NULL, &v, &o, may, asked, why);
}

static void whole_text_is_replaced(void **state)
{
    struct bed *b = *state;
    struct knob_value v;
    struct stat st;
    unsigned asked;
    char why[160];
    put(b, "32\n", 0640);
    assert_int_equal(ANSWER_OK, write_value(b, "64", "32", yes, &asked, why));
    assert_int_equal(1, asked);
    expect_file(b, "64\n");
    assert_int_equal(0, stat(b->path, &st));
    assert_int_equal(0640, st.st_mode & 0777);
    assert_int_equal(1, files_in(b->dir));
    assert_true(file_writer_read(&b->def, &v, why));
    assert_memory_equal("64", v.bytes, v.len);
    put(b, "64", 0600);      /* without a newline it stays without */
    assert_int_equal(ANSWER_OK, write_value(b, "32", "64", yes, &asked, why));
    expect_file(b, "32");
}

static void a_place_in_json_is_replaced(void **state)
{
    struct bed *b = *state;
    unsigned asked;
    char why[160];
    put(b, "{\"keep\": [1, 2], \"batch\": {\"max\": 32}}\n", 0600);
    b->def.pointer = "/batch/max";
    assert_int_equal(ANSWER_OK, write_value(b, "64", "32.0", yes, &asked, why));
    struct knob_value v;
    assert_true(file_writer_read(&b->def, &v, why));
    assert_memory_equal("64", v.bytes, v.len);
    b->def.pointer = "/keep/1";
    assert_true(file_writer_read(&b->def, &v, why));
    assert_memory_equal("2", v.bytes, v.len);
}

static void nothing_is_changed_when_it_must_not_be(void **state)
{
    struct bed *b = *state;
    unsigned asked;
    char why[160];
    put(b, "48\n", 0600);
    assert_int_equal(ANSWER_REFUSED, write_value(b, "64", "32", yes, &asked, why));
    assert_int_equal(0, asked);
    assert_non_null(strstr(why, "another value"));
    assert_int_equal(ANSWER_NOT_SENT, write_value(b, "64", "48", no, &asked, why));
    assert_int_equal(1, asked);
    expect_file(b, "48\n");
    assert_int_equal(1, files_in(b->dir));
    b->def.path = "/nonexistent/limits";
    assert_int_equal(ANSWER_REFUSED, write_value(b, "64", "48", yes, &asked, why));
    assert_non_null(strstr(why, "cannot find"));
}

static void a_link_keeps_pointing_where_it_does(void **state)
{
    struct bed *b = *state;
    char link[TEMPDIR_MAX + 16], why[160];
    unsigned asked;
    struct stat st;
    put(b, "32\n", 0600);
    snprintf(link, sizeof link, "%s/link", b->dir);
    assert_int_equal(0, symlink(b->path, link));
    b->def.path = link;
    assert_int_equal(ANSWER_OK, write_value(b, "64", "32", yes, &asked, why));
    assert_int_equal(0, lstat(link, &st));
    assert_true(S_ISLNK(st.st_mode));
    expect_file(b, "64\n");
}

static void secrets_must_be_private(void **state)
{
    struct bed *b = *state;
    char secret[SECRET_MAX];
    struct err e;
    put(b, "s3cret\n", 0600);
    assert_int_equal(STATUS_OK, secret_read(b->path, secret, &e));
    assert_string_equal("s3cret", secret);
    put(b, "s3cret\n", 0640);
    assert_int_equal(STATUS_DENIED, secret_read(b->path, secret, &e));
    assert_non_null(strstr(e.text, "chmod 600"));
    assert_null(strstr(e.text, "s3cret"));
    assert_string_equal("", secret);
    put(b, "two\nlines\n", 0600);
    assert_int_equal(STATUS_INVALID, secret_read(b->path, secret, &e));
    put(b, "\n", 0600);
    assert_int_equal(STATUS_INVALID, secret_read(b->path, secret, &e));
    assert_int_equal(STATUS_NOT_FOUND, secret_read("/nonexistent/secret", secret, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_text_is_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_place_in_json_is_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_changed_when_it_must_not_be, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_keeps_pointing_where_it_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(secrets_must_be_private, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
