/* What the store's bench packs: an hour of the demo's pages, recorded pages, the series of NAB. */
#ifndef BENCH_STORE_SETS_H
#define BENCH_STORE_SETS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/num.h"
#include "base/time.h"
#include "collect/expo.h"
#include "sim/page.h"
#include "sim/plant_world.h"
#include "store/pack.h"

#define SET_SERIES_MAX 4096u
#define SET_ROWS_MAX 65536u
#define SET_HOUR 360u                 /* pages, one every 10 s */

/* Series of one source. Times are shared where a page gave them. */
struct set_series { char *name; int64_t *at; double *value; uint32_t rows; };
struct set { char name[256]; struct set_series *series; uint32_t n; uint64_t samples; };

static inline void *set_memory(size_t n)
{
    void *p = calloc(1, n);
    CHECK_MEMORY(p);
    return p;
}

static inline void set_free(struct set *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        free(s->series[i].name);
        free(s->series[i].at);
        free(s->series[i].value);
    }
    free(s->series);
    *s = (struct set){0};
}

static inline struct set_series *set_find(struct set *s, const char *name, uint32_t len, uint32_t hint)
{
    for (uint32_t k = 0; k < s->n; k++) {
        struct set_series *x = &s->series[(hint + k) % s->n];
        if (strlen(x->name) == len && memcmp(x->name, name, len) == 0) return x;
    }
    if (!s->series) s->series = set_memory(SET_SERIES_MAX * sizeof *s->series);
    if (s->n == SET_SERIES_MAX) return NULL;
    struct set_series *x = &s->series[s->n++];
    x->name = strndup(name, len);
    x->at = set_memory(SET_HOUR * sizeof *x->at);
    x->value = set_memory(SET_HOUR * sizeof *x->value);
    CHECK_MEMORY(x->name);
    return x;
}

static inline void set_add_page(struct set *s, int64_t at, const char *bytes, size_t len)
{
    static struct expo x;
    uint32_t place = 0;
    expo_open(&x, bytes, len, EXPO_TEXT, expo_limits_default());
    for (enum expo_event e; (e = expo_next(&x)) != EXPO_END && e != EXPO_OVER_LIMIT;) {
        if (e != EXPO_SAMPLE) continue;
        struct set_series *one = set_find(s, x.sample.series, x.sample.series_len, place++);
        if (!one || one->rows == SET_HOUR) continue;
        one->at[one->rows] = at;
        one->value[one->rows++] = x.sample.value;
        s->samples++;
    }
}

/* The demo's target (trimtab target --world WORLD) in its own time: the bytes that it would serve, page by page. */
static inline struct set set_demo(const char *world_name)
{
    struct set s = {0};
    const struct plant_world *world;
    struct plant_config config;
    struct err e;
    struct buf page = BUF_INIT;
    snprintf(s.name, sizeof s.name, "demo_%s", world_name);
    CHECK(plant_world_find(world_name, &world, &e) == STATUS_OK);
    plant_world_config(world, &config);
    struct plant *p = plant_new(&config, 1, &e);
    CHECK(p);
    for (uint32_t i = 0; i < SET_HOUR; i++) {
        int64_t at = (int64_t)(i + 1) * 10 * US_PER_S;
        plant_advance(p, at);
        buf_clear(&page);
        if (page_write(p, (struct wall){INT64_C(1778580000) * US_PER_S}, &page))
            set_add_page(&s, INT64_C(1778580000) * US_PER_S + at, page.data, page.len);
    }
    plant_free(p);
    buf_free(&page);
    return s;
}

static inline char *set_read_file(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    char *bytes = f ? set_memory((size_t)8 << 20) : NULL;
    *ret_len = f ? fread(bytes, 1, ((size_t)8 << 20) - 1, f) : 0;
    if (f) fclose(f);
    return bytes;
}

static inline int set_by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* A folder of pages, each named by its time in ms: 1796088867466.txt */
static inline struct set set_pages(const char *folder, const char *name)
{
    struct set s = {0};
    struct dirent **list = NULL;
    int n = scandir(folder, &list, NULL, set_by_name);
    snprintf(s.name, sizeof s.name, "%s", name);
    for (int i = 0; i < n; i++) {
        char path[1400];
        size_t len;
        int64_t ms = strtoll(list[i]->d_name, NULL, 10);
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        char *bytes = ms > 0 ? set_read_file(path, &len) : NULL;
        if (bytes) set_add_page(&s, ms * US_PER_MS, bytes, len);
        free(bytes);
        free(list[i]);
    }
    free(list);
    return s;
}

/* A file of NAB: timestamp,value. Times that do not ascend are left out. */
static inline struct set set_nab(const char *path, const char *name)
{
    struct set s = {.n = 1};
    size_t len;
    char *bytes = set_read_file(path, &len), *save = NULL;
    snprintf(s.name, sizeof s.name, "%s", name);
    s.series = set_memory(sizeof *s.series);
    struct set_series *x = s.series;
    x->name = strdup("value");
    x->at = set_memory(SET_ROWS_MAX * sizeof *x->at);
    x->value = set_memory(SET_ROWS_MAX * sizeof *x->value);
    for (char *line = strtok_r(bytes, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *comma = strchr(line, ',');
        char text[64];
        struct wall at;
        if (!comma) continue;
        size_t used = num_parse(comma + 1, strlen(comma + 1), &x->value[x->rows]);
        snprintf(text, sizeof text, "%.*sZ", (int)(comma - line), line);
        if (!wall_parse(text, &at) || !used || x->rows == SET_ROWS_MAX) continue;
        if (x->rows && at.us <= x->at[x->rows - 1]) continue;
        x->at[x->rows++] = at.us;
    }
    s.samples = x->rows;
    free(bytes);
    return s;
}

/* As exposition text with times, for a peer. */
static inline void set_write(const struct set *s, FILE *f)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct set_series *x = &s->series[i];
        for (uint32_t k = 0; k < x->rows; k++) {
            char text[NUM_TEXT_MAX];
            size_t len = num_print(text, x->value[k]);
            fprintf(f, "%s %.*s %lld\n", x->name, (int)len, text, (long long)(x->at[k] / US_PER_MS));
        }
    }
}

/* Names and columns as the store packs them. */
static inline void set_pack(const struct set *s, struct store_packer *p, struct buf *out)
{
    struct store_column *c = set_memory((s->n + 1) * sizeof *c);
    struct buf names = BUF_INIT;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct set_series *x = &s->series[i];
        c[i] = (struct store_column){.id = i, .rows = x->rows, .at = x->at, .value = x->value};
        buf_add(&names, x->name, strlen(x->name) + 1);
    }
    store_pack(p, out, c, s->n, names.data, names.len);
    buf_free(&names);
    free(c);
}

#endif
