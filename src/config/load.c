#include "config/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "config/build.h"

static bool is_failed(const struct config_build *b)
{
    return b->no_memory || b->d->errors > 0;
}

/* The hash of the file; with presets, of the file and then of each of them: another preset is another policy. */
static void set_revision(struct config_build *b, const char *bytes, size_t len)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)bytes, len);
    for (const struct config_preset *p = b->presets; p; p = p->next)
        crypto_hash_sha256_update(&state, (const unsigned char *)p->source->bytes, p->source->len);
    crypto_hash_sha256_final(&state, digest);
    sodium_bin2hex(b->p->revision, sizeof b->p->revision, digest, sizeof digest);
}

static const char *keep(struct config_build *b, const char *text)
{
    char *copy = text ? arena_strdup(&b->p->arena, text) : NULL;
    b->no_memory = b->no_memory || (text && !copy);
    return copy;
}

static void build_fleet(struct config_build *b, const struct config_value *v)
{
    struct config_fleet raw;
    struct config_node none = {.kind = CONFIG_MAP};
    config_read_block(b->d, CONFIG_BLOCK_FLEET, v->is_set ? v->at : &none, NULL, &raw);
    b->p->fleet_fraction = raw.in_flight.number;
    b->p->fleet_per_hour = raw.per_hour.word;
}

static int by_name(const void *left, const void *right)
{
    const struct service_def *const *a = left, *const *b = right;
    int c = strcmp((*a)->name, (*b)->name);
    return c != 0 ? c : (*a)->index - (*b)->index;
}

static bool has_service(struct service_def *const *sorted, uint16_t n, const char *name)
{
    uint16_t low = 0, high = n;
    while (low < high) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        int c = strcmp(sorted[middle]->name, name);
        if (c == 0) return true;
        if (c < 0) low = (uint16_t)(middle + 1);
        else high = middle;
    }
    return false;
}

static void check_depends(struct config_build *b, const struct config_node *service, struct service_def *const *sorted)
{
    const struct config_node *names = config_tree_get(service, "depends_on");
    for (uint32_t i = 0; names && (names->kind == CONFIG_LIST || names->kind == CONFIG_SCALAR) && i < config_items(names); i++) {
        const struct config_node *name = config_item(names, i);
        if (name->kind == CONFIG_SCALAR && !name->source->cut && !has_service(sorted, b->p->service_count, name->text))
            config_warn(b->d, name, "only services of this file make a group",
                        "depends_on: there is no service '%.60s'", name->text);
    }
}

/* Names of services: each once; and what they depend on is there. */
static void check_names(struct config_build *b, const struct config_node *list)
{
    uint16_t n = b->p->service_count;
    struct service_def **sorted = malloc((n ? n : 1u) * sizeof *sorted);
    if (!sorted) {
        b->no_memory = true;
        return;
    }
    for (uint16_t i = 0; i < n; i++) sorted[i] = &b->p->services[i];
    qsort(sorted, n, sizeof *sorted, by_name);
    for (uint16_t i = 1; i < n; i++) {
        const struct service_def *a = sorted[i - 1], *c = sorted[i];
        if (!c->name[0] || strcmp(a->name, c->name) != 0) continue;
        const struct config_node *at = config_tree_get(list->items[c->index], "name");
        config_wrong(b->d, at ? at : list->items[c->index], NULL, "service '%s' stands on line %u already", c->name, a->pos.line);
    }
    for (uint16_t i = 0; i < n; i++) check_depends(b, list->items[i], sorted);
    free(sorted);
}

static void build_services(struct config_build *b, const struct config_value *v)
{
    if (!v->is_set) return;
    struct policy *p = b->p;
    p->services = ARENA_NEW_N(&p->arena, v->at->n, struct service_def);
    if (!p->services) {
        b->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < v->at->n && !b->no_memory; i++) {
        struct service_def *s = &p->services[p->service_count];
        s->index = p->service_count++;
        config_build_service(b, v->at->items[i], s);
    }
    check_names(b, v->at);
}

static bool is_used(const struct config_value *services, const char *profile)
{
    for (uint32_t i = 0; services->is_set && i < services->at->n; i++) {
        const struct config_node *name = config_tree_get(services->at->items[i], "profile");
        if (name && name->kind == CONFIG_SCALAR && strcmp(name->text, profile) == 0) return true;
    }
    return false;
}

static void check_profiles(struct config_build *b, const struct config_root *root)
{
    if (!root->profiles.is_set) return;
    b->profiles = root->profiles.at;
    for (uint32_t i = 0; i < b->profiles->n; i++) {
        const struct config_pair *pair = &b->profiles->pairs[i];
        struct config_service raw;
        if (!text_is_name(pair->key->text, POLICY_NAME_MAX))
            config_wrong(b->d, pair->key, NULL, "'%.60s' cannot be the name of a profile", pair->key->text);
        if (!config_read_block(b->d, CONFIG_BLOCK_SERVICE, pair->value, NULL, &raw)) continue;
        if (raw.name.at) config_wrong(b->d, raw.name.at, NULL, "a profile has no `name`: the services that use it have");
        if (raw.profile.at) config_wrong(b->d, raw.profile.at, NULL, "a profile cannot take from another profile");
        if (!is_used(&root->services, pair->key->text))
            config_warn(b->d, pair->key, "remove it, or write `profile: NAME` in a service",
                        "no service uses profile '%.60s': its rules are not checked", pair->key->text);
    }
}

static void build_root(struct config_build *b, const struct config_node *root)
{
    struct config_root raw;
    if (!config_read_block(b->d, CONFIG_BLOCK_ROOT, root, NULL, &raw)) return;
    struct policy *p = b->p;
    p->tick = raw.tick.span;
    p->ewma_alpha = raw.alpha.number;
    p->listen = keep(b, raw.listen.text);
    p->data_dir = keep(b, raw.data_dir.text);
    p->metrics_bytes = (uint64_t)raw.metrics_mb.number << 20;
    p->origin = keep(b, raw.origin.text);
    build_fleet(b, &raw.fleet);
    config_build_receivers(b, &raw.notify);
    config_build_remote_write(b, &raw.remote_write);
    b->prometheus = raw.prometheus;
    config_build_web(b, &raw);
    check_profiles(b, &raw);
    build_services(b, &raw.services);
    config_build_freezes(b, &raw.freeze, &raw.maintenance);
}

struct policy *config_load(const char *bytes, size_t len, const char *path, const struct config_options *options,
                           struct config_diagnostics *d)
{
    struct config_source *source = config_source_add(d, path, bytes, len > CONFIG_BYTES_MAX ? CONFIG_BYTES_MAX + 1 : len);
    struct config_build b = {.d = d, .trees = ARENA_INIT};
    if (options) b.o = *options;
    b.p = calloc(1, sizeof *b.p);
    if (!source || !b.p) {
        d->errors++;
        free(b.p);
        return NULL;
    }
    b.p->references = 1;
    b.p->path = keep(&b, path);
    const struct config_node *root = config_tree_parse(&b.trees, source, d);
    if (root) build_root(&b, root);
    else if (d->errors == 0) config_report(d, CONFIG_ERROR, source, 0, 1, "begin with `services:`", "the file is empty");
    if (b.no_memory) config_report(d, CONFIG_ERROR, source, 0, 1, NULL, "out of memory");
    set_revision(&b, bytes, len);
    config_diagnostics_sort(d);
    arena_free(&b.trees);
    if (!is_failed(&b)) return b.p;
    config_free(b.p);
    return NULL;
}

static struct policy *unreadable(const char *path, const char *what, struct config_diagnostics *d)
{
    struct config_source *source = config_source_add(d, path, "", 0);
    if (source) config_report(d, CONFIG_ERROR, source, 0, 1, "look at the path and its permissions", "%s", what);
    else d->errors++;
    return NULL;
}

struct policy *config_load_file(const char *path, const struct config_options *options, struct config_diagnostics *d)
{
    FILE *f = fopen(path, "rb");
    if (!f) return unreadable(path, "the file cannot be opened", d);
    char *bytes = malloc(CONFIG_BYTES_MAX + 1);
    size_t n = bytes ? fread(bytes, 1, CONFIG_BYTES_MAX + 1, f) : 0;
    bool failed = !bytes || ferror(f);
    fclose(f);
    struct policy *p = failed ? unreadable(path, "the file cannot be read", d) : config_load(bytes, n, path, options, d);
    free(bytes);
    return p;
}

struct policy *config_hold(struct policy *p)
{
    p->references++;
    return p;
}

bool config_only(struct policy *p, const char *service)
{
    uint16_t keep = policy_service(p, service);
    if (keep == NO_INDEX) return false;
    for (uint16_t i = 0; i < p->service_count; i++) {
        if (i != keep) needs_free(&p->services[i].needs);
    }
    p->services[0] = p->services[keep];
    p->services[0].index = 0;
    p->service_count = 1;
    return true;
}

void config_free(struct policy *p)
{
    if (!p || --p->references > 0) return;
    for (uint16_t i = 0; i < p->service_count; i++) needs_free(&p->services[i].needs);
    struct arena all = p->arena;
    free(p);
    arena_free(&all);
}
