/* Receivers of notices. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

static const char *keep(struct config_build *b, const struct config_value *v)
{
    char *copy = v->is_set ? arena_strdup(&b->p->arena, v->text) : NULL;
    b->no_memory = b->no_memory || (v->is_set && !copy);
    return copy;
}

static const char *keep_name(struct config_build *b, const struct config_notify *raw, enum receiver_type type, uint32_t place)
{
    char name[POLICY_NAME_MAX + 1];
    if (raw->name.is_set) return keep(b, &raw->name);
    snprintf(name, sizeof name, "%s-%u", receiver_type_name(type), place + 1);
    char *copy = arena_strdup(&b->p->arena, name);
    b->no_memory = b->no_memory || !copy;
    return copy;
}

static void refuse(struct config_build *b, const struct config_value *v, enum receiver_type type, const char *key)
{
    if (!v->is_set || !v->at) return;
    config_wrong(b->d, v->at, "remove it", "`%s` has no meaning for a receiver of type %s", key, receiver_type_name(type));
}

/* A robot's address is all that it takes to write into the group. */
static bool address_is_secret(enum receiver_type t)
{
    return t == RECEIVER_DINGTALK || t == RECEIVER_FEISHU || t == RECEIVER_WECOM || t == RECEIVER_SLACK;
}

static void check_address(struct config_build *b, const struct config_node *node, const struct config_notify *raw,
                          enum receiver_type t)
{
    if (raw->url.is_set == raw->url_file.is_set && !raw->url.is_wrong && !raw->url_file.is_wrong)
        config_wrong(b->d, node, NULL, "write either `url` or `url_file`");
    else if (raw->url.is_set && address_is_secret(t))
        config_wrong(b->d, raw->url.at, "put it into a file with mode 0600, and name that with `url_file`",
                     "the address of a receiver of type %s holds its key", receiver_type_name(t));
}

static void check_keys(struct config_build *b, const struct config_node *node, const struct config_notify *raw,
                       enum receiver_type t)
{
    bool robot = address_is_secret(t), has_secret = raw->secret_file.is_set;
    check_address(b, node, raw, t);
    config_check_auth(b->d, &(struct config_auth){&raw->url, &raw->bearer_file, &raw->basic_file, &raw->ca_file, &raw->cert_file,
                                                  &raw->key_file});
    if (has_secret && t != RECEIVER_WEBHOOK && t != RECEIVER_DINGTALK && t != RECEIVER_FEISHU)
        refuse(b, &raw->secret_file, t, "secret_file");
    if (robot) {
        refuse(b, &raw->bearer_file, t, "bearer_file");
        refuse(b, &raw->basic_file, t, "basic_file");
    }
    if (t == RECEIVER_GRAFANA && !raw->bearer_file.is_set && !raw->basic_file.is_set && !raw->bearer_file.is_wrong &&
        !raw->basic_file.is_wrong)
        config_wrong(b->d, node, "bearer_file: /etc/trimtab/grafana.token, with a token that may write annotations",
                     "a receiver of type grafana needs `bearer_file` or `basic_file`");
}

static uint16_t rate_of(const struct config_notify *raw, enum receiver_type t)
{
    if (raw->rate.is_set) return (uint16_t)raw->rate.word;
    return t == RECEIVER_WEBHOOK || t == RECEIVER_ALERTMANAGER ? 300 : t == RECEIVER_GRAFANA ? 60 : 20;
}

static bool build(struct config_build *b, const struct config_node *node, uint32_t place, struct receiver_def *r)
{
    struct config_notify raw;
    if (!config_read_block(b->d, CONFIG_BLOCK_NOTIFY, node, NULL, &raw) || raw.type.is_wrong) return false;
    enum receiver_type type = (enum receiver_type)raw.type.word;
    check_keys(b, node, &raw, type);
    *r = (struct receiver_def){
        .name = keep_name(b, &raw, type, place), .type = type, .url = keep(b, &raw.url), .url_file = keep(b, &raw.url_file),
        .secret_file = keep(b, &raw.secret_file), .bearer_file = keep(b, &raw.bearer_file), .basic_file = keep(b, &raw.basic_file),
        .ca_file = keep(b, &raw.ca_file), .cert_file = keep(b, &raw.cert_file), .key_file = keep(b, &raw.key_file),
        .timeout = raw.timeout.span, .rate = rate_of(&raw, type), .least = (uint8_t)raw.severity.word,
        .chinese = raw.language.word == 1};
    return r->name != NULL;
}

static void check_names(struct config_build *b, const struct config_value *v, const struct receiver_def *r, uint16_t n)
{
    for (uint16_t i = 1; i < n; i++) {
        for (uint16_t k = 0; k < i; k++) {
            if (strcmp(r[i].name, r[k].name) != 0) continue;
            const struct config_node *name = config_tree_get(v->at->items[i], "name");
            config_wrong(b->d, name ? name : v->at->items[i], "give each a `name` of its own", "there are two receivers '%s'",
                         r[i].name);
            break;
        }
    }
}

void config_build_receivers(struct config_build *b, const struct config_value *v)
{
    if (!v->is_set) return;
    struct receiver_def *r = ARENA_NEW_N(&b->p->arena, v->at->n, struct receiver_def);
    bool all = true;
    b->no_memory = b->no_memory || !r;
    for (uint32_t i = 0; r && i < v->at->n; i++) {
        if (build(b, v->at->items[i], i, &r[b->p->receiver_count])) b->p->receiver_count++;
        else all = false;
    }
    if (r && all) check_names(b, v, r, b->p->receiver_count);
    b->p->receivers = r;
}
