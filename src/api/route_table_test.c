/* The table of addresses: roles, and a description in which every reference leads somewhere. */
#include "api/route_table.h"

#include <jansson.h>

#include "api/openapi.h"
#include "support/test.h"

static const char *const open_to_all[] = {
    "/-/healthy", "/-/ready", "/-/healthy/{module}", "/metrics", "/metrics/{module}", "/api/v1/session", "/api/v1/login",
    "/api/v1/setup", "/api/v1/openapi.yaml", "/api/v1/openapi.json",
};

static bool is_open(const char *pattern)
{
    for (unsigned i = 0; i < sizeof open_to_all / sizeof *open_to_all; i++) {
        if (strcmp(open_to_all[i], pattern) == 0) return true;
    }
    return false;
}

/* A new address is closed unless somebody writes it down here. */
static void only_these_are_open_to_all(void **state)
{
    unsigned n, open = 0;
    const struct route *rows = route_table(&n);
    (void)state;
    for (unsigned i = 0; i < n; i++) {
        if ((rows[i].role == ROLE_NONE) != is_open(rows[i].pattern)) fail_msg("%s: who may?", rows[i].pattern);
        open += rows[i].role == ROLE_NONE;
    }
    assert_int_equal(sizeof open_to_all / sizeof *open_to_all, open);
}

static void what_changes_something_takes_more_than_a_viewer(void **state)
{
    unsigned n;
    const struct route *rows = route_table(&n);
    (void)state;
    for (unsigned i = 0; i < n; i++) {
        if (rows[i].methods == HTTP_GET || is_open(rows[i].pattern)) continue;
        bool own = strcmp(rows[i].pattern, "/api/v1/logout") == 0 || strcmp(rows[i].pattern, "/api/v1/password") == 0;
        if ((rows[i].role == ROLE_VIEWER) != own) fail_msg("%s: who may?", rows[i].pattern);
    }
}

static void each_address_is_there_once(void **state)
{
    unsigned n;
    const struct route *rows = route_table(&n);
    (void)state;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++) {
            assert_false(strcmp(rows[i].pattern, rows[k].pattern) == 0 && rows[i].methods == rows[k].methods);
        }
    }
}

static void follow(const json_t *root, const json_t *v)
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_array(v)) {
        json_array_foreach((json_t *)(uintptr_t)v, i, item) follow(root, item);
    } else if (json_is_object(v)) {
        const char *ref = json_string_value(json_object_get(v, "$ref"));
        char kind[32], name[64];
        if (ref) {
            assert_int_equal(2, sscanf(ref, "#/components/%31[^/]/%63s", kind, name));
            if (!json_object_get(json_object_get(json_object_get(root, "components"), kind), name)) fail_msg("%s leads nowhere",
                    ref);
        }
        json_object_foreach((json_t *)(uintptr_t)v, key, item) follow(root, item);
    }
}

static void the_description_is_whole(void **state)
{
    struct buf b = BUF_INIT, y = BUF_INIT;
    json_error_t fault;
    unsigned n;
    const struct route *rows = route_table(&n);
    (void)state;
    openapi_json(&b);
    json_t *root = json_loadb(buf_text(&b), b.len, JSON_REJECT_DUPLICATES, &fault);
    assert_non_null(root);
    assert_string_equal("3.1.0", json_string_value(json_object_get(root, "openapi")));
    follow(root, root);
    json_t *paths = json_object_get(root, "paths");
    for (unsigned i = 0; i < n; i++) {
        const char *method = rows[i].methods == HTTP_GET ? "get" : rows[i].methods == HTTP_POST ? "post" : "delete";
        json_t *o = json_object_get(json_object_get(paths, rows[i].pattern), method);
        assert_non_null(o);
        assert_string_equal(auth_role_name(rows[i].role), json_string_value(json_object_get(o, "x-role")));
        assert_int_equal(rows[i].role == ROLE_NONE ? 0 : 2, json_array_size(json_object_get(o, "security")));
    }
    openapi_yaml(&y);
    assert_memory_equal("openapi: \"3.1.0\"\n", buf_text(&y), 17);
    buf_free(&b);
    buf_free(&y);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_these_are_open_to_all),
        cmocka_unit_test(what_changes_something_takes_more_than_a_viewer),
        cmocka_unit_test(each_address_is_there_once),
        cmocka_unit_test(the_description_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
