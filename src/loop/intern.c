#include "loop/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define INTERN_MAX 4096
#define INTERN_SWEEP_AT 3072

void intern_free(struct intern *in)
{
    free(in->entries);
    *in = (struct intern){0};
}

static uint16_t find_bytes(const struct intern *in, const char *bytes, uint16_t len, bool is_version)
{
    for (uint16_t i = 0; i < in->n; i++) {
        const struct intern_entry *e = &in->entries[i];
        if (e->len == len && e->is_version == is_version && memcmp(e->bytes, bytes, len) == 0) return (uint16_t)(i + 1);
    }
    return 0;
}

static uint16_t find_number(const struct intern *in, const char *bytes, uint16_t len)
{
    double a, b;
    if (!num_parse_all(bytes, len, &b)) return 0;
    for (uint16_t i = 0; i < in->n; i++) {
        const struct intern_entry *e = &in->entries[i];
        if (e->len && !e->is_version && num_parse_all(e->bytes, e->len, &a) && a == b) return (uint16_t)(i + 1);
    }
    return 0;
}

static uint16_t new_entry(struct intern *in)
{
    for (uint16_t i = 0; i < in->n; i++) {
        if (in->entries[i].len == 0) return (uint16_t)(i + 1);
    }
    if (in->n >= INTERN_MAX) return 0;
    if (in->n == in->cap) {
        uint16_t cap = in->cap ? (uint16_t)(in->cap * 2) : 8;
        struct intern_entry *grown = realloc(in->entries, cap * sizeof *grown);
        if (!grown) return 0;
        memset(grown + in->cap, 0, (size_t)(cap - in->cap) * sizeof *grown);
        in->entries = grown;
        in->cap = cap;
    }
    return ++in->n;
}

uint16_t intern_text(struct intern *in, const char *bytes, uint16_t len, bool is_version)
{
    if (len == 0 || len > KNOB_BYTES_MAX) return 0;
    /* No two entries are equal numbers, so the order of the two searches decides nothing; reading numbers is the slow one. */
    uint16_t id = find_bytes(in, bytes, len, is_version);
    if (!id && !is_version) id = find_number(in, bytes, len);
    if (id) return id;
    id = new_entry(in);
    if (!id) return 0;
    struct intern_entry *e = &in->entries[id - 1];
    *e = (struct intern_entry){.len = len, .is_version = is_version};
    memcpy(e->bytes, bytes, len);
    return id;
}

uint16_t intern_value(struct intern *in, const struct knob_value *v) { return intern_text(in, v->bytes, v->len, false); }

bool intern_get(const struct intern *in, uint16_t id, struct knob_value *ret)
{
    if (id == 0 || id > in->n || in->entries[id - 1].len == 0) return false;
    return knob_value_set(ret, in->entries[id - 1].bytes, in->entries[id - 1].len);
}

void intern_get_version(const struct intern *in, uint16_t id, struct knob_value *ret)
{
    ret->version_len = 0;
    if (id == 0 || id > in->n) return;
    (void)knob_value_set_version(ret, in->entries[id - 1].bytes, in->entries[id - 1].len);
}

void intern_mark(struct intern *in, uint16_t id)
{
    if (id > 0 && id <= in->n) in->entries[id - 1].marked = true;
}

void intern_sweep(struct intern *in)
{
    for (uint16_t i = 0; i < in->n; i++) {
        if (!in->entries[i].marked) in->entries[i].len = 0;
        in->entries[i].marked = false;
    }
}

bool intern_full(const struct intern *in)
{
    uint16_t used = 0;
    for (uint16_t i = 0; i < in->n; i++) used = (uint16_t)(used + (in->entries[i].len > 0));
    return used >= INTERN_SWEEP_AT;
}
