/* How people and programs reach the API. */
#include <string.h>

#include "config/build.h"

static const char *keep(struct config_build *b, const char *text)
{
    char *copy = text ? arena_strdup(&b->p->arena, text) : NULL;
    b->no_memory = b->no_memory || (text && !copy);
    return copy;
}

static const char *without_slash(struct config_build *b, const char *url)
{
    size_t n = strlen(url);
    while (n > 0 && url[n - 1] == '/') n--;
    char *copy = arena_strndup(&b->p->arena, url, n);
    b->no_memory = b->no_memory || !copy;
    return copy;
}

static const char **texts(struct config_build *b, const struct config_value *v, uint16_t *ret_n)
{
    *ret_n = 0;
    if (!v->is_set) return NULL;
    uint32_t n = config_items(v->at);
    const char **list = ARENA_NEW_N(&b->p->arena, n ? n : 1, const char *);
    b->no_memory = b->no_memory || !list;
    for (uint32_t i = 0; list && i < n; i++) list[(*ret_n)++] = keep(b, config_item(v->at, i)->text);
    return list;
}

void config_build_web(struct config_build *b, const struct config_root *root)
{
    const struct config_value *v = &root->web, *listen = &root->listen;
    struct config_web raw;
    struct config_node none = {.kind = CONFIG_MAP};
    struct web_def *w = &b->p->web;
    if (!config_read_block(b->d, CONFIG_BLOCK_WEB, v->is_set ? v->at : &none, NULL, &raw)) return;
    if (raw.cert_file.is_set != raw.key_file.is_set)
        config_wrong(b->d, v->at, NULL, "cert_file and key_file belong together; one is missing");
    if (raw.proxy_header.is_set && !raw.proxies.is_set)
        config_wrong(b->d, raw.proxy_header.at, NULL, "proxy_header needs `proxies`: whose word is it?");
    if (raw.session_idle.span.us > raw.session_longest.span.us)
        config_wrong(b->d, v->at, NULL, "session_idle is longer than session_longest");
    w->cert_file = raw.cert_file.is_set ? keep(b, raw.cert_file.text) : NULL;
    w->key_file = raw.key_file.is_set ? keep(b, raw.key_file.text) : NULL;
    w->proxy_header = raw.proxy_header.is_set ? keep(b, raw.proxy_header.text) : NULL;
    w->basic_file = raw.basic_auth_file.is_set ? keep(b, raw.basic_auth_file.text) : NULL;
    w->names = texts(b, &raw.names, &w->name_count);
    w->proxies = texts(b, &raw.proxies, &w->proxy_count);
    w->external_url = raw.external_url.is_set ? without_slash(b, raw.external_url.text) : NULL;
    if (raw.read_without_login.is_set) w->anonymous = raw.read_without_login.flag ? WEB_ANONYMOUS_ALWAYS : WEB_ANONYMOUS_NEVER;
    w->session_idle = raw.session_idle.span;
    w->session_longest = raw.session_longest.span;
    if (listen->is_set && listen->at && !config_is_loopback(listen->text) && !w->cert_file && !w->proxy_count)
        config_wrong(b->d, listen->at,
                     "write 127.0.0.1:7373, or give web.cert_file and web.key_file, or name the proxy in web.proxies",
                     "listen: '%.80s' is not a loopback address, and passwords would cross the network in the clear",
                     listen->text);
}
