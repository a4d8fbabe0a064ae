#include "model/record.h"

#include <string.h>

#include "base/check.h"

struct field_row { const char *key; enum record_type type; };
struct kind_row { const char *name, *meaning; };

static const struct field_row fields[RF_COUNT] = {
#define FIELD(id, key, type) [RF_##id] = {#key, RT_##type},
#include "model/record.def"
};

static const struct kind_row kinds[RECORD_KIND_COUNT] = {
#define KIND(id, name, meaning) [RECORD_##id] = {name, meaning},
#include "model/record.def"
};

_Static_assert(RF_COUNT <= 64, "present is a 64-bit set");

static union record_value *slot(struct record *r, enum record_field f, enum record_type type)
{
    CHECK((unsigned)f < RF_COUNT && fields[f].type == type);
    r->present |= UINT64_C(1) << f;
    return &r->v[f];
}

void record_init(struct record *r, enum record_kind kind)
{
    memset(r, 0, sizeof *r);
    r->kind = kind;
    slot(r, RF_KIND, RT_NAME)->text = record_kind_name(kind);
}

void record_u64(struct record *r, enum record_field f, uint64_t v) { slot(r, f, RT_U64)->u64 = v; }
void record_i64(struct record *r, enum record_field f, int64_t v) { slot(r, f, RT_I64)->i64 = v; }
void record_hex32(struct record *r, enum record_field f, const uint8_t v[32]) { slot(r, f, RT_HEX32)->hex32 = v; }

void record_text(struct record *r, enum record_field f, const char *v)
{
    if (v) slot(r, f, RT_TEXT)->text = v;
}

const char *record_get_text(const struct record *r, enum record_field f)
{
    CHECK((unsigned)f < RF_COUNT && (fields[f].type == RT_TEXT || fields[f].type == RT_NAME));
    return record_has(r, f) ? r->v[f].text : "";
}

uint64_t record_get_u64(const struct record *r, enum record_field f, uint64_t absent)
{
    CHECK((unsigned)f < RF_COUNT && fields[f].type == RT_U64);
    return record_has(r, f) ? r->v[f].u64 : absent;
}

int64_t record_get_i64(const struct record *r, enum record_field f, int64_t absent)
{
    CHECK((unsigned)f < RF_COUNT && fields[f].type == RT_I64);
    return record_has(r, f) ? r->v[f].i64 : absent;
}

static bool copy_value(struct arena *a, enum record_type type, union record_value *v)
{
    if (type == RT_TEXT || type == RT_NAME) {
        v->text = arena_strdup(a, v->text);
        return v->text != NULL;
    }
    if (type == RT_HEX32) {
        uint8_t *copy = arena_alloc(a, 32);
        if (!copy) return false;
        memcpy(copy, v->hex32, 32);
        v->hex32 = copy;
    }
    return true;
}

struct record *record_copy(struct arena *a, const struct record *r)
{
    struct record *copy = ARENA_NEW(a, struct record);
    if (!copy) return NULL;
    *copy = *r;
    for (unsigned f = 0; f < RF_COUNT; f++) {
        if (record_has(r, (enum record_field)f) && !copy_value(a, fields[f].type, &copy->v[f])) return NULL;
    }
    return copy;
}

const char *record_kind_name(enum record_kind k)
{
    CHECK((unsigned)k < RECORD_KIND_COUNT);
    return kinds[k].name;
}

const char *record_kind_meaning(enum record_kind k)
{
    CHECK((unsigned)k < RECORD_KIND_COUNT);
    return kinds[k].meaning;
}

bool record_kind_is_undo(enum record_kind k)
{
    return k == RECORD_UNDO || k == RECORD_UNDO_RETRY || k == RECORD_UNDONE || k == RECORD_UNDO_FAILED;
}

bool record_kind_parse(const char *name, enum record_kind *ret)
{
    for (unsigned i = 0; i < RECORD_KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            *ret = (enum record_kind)i;
            return true;
        }
    }
    return false;
}

const char *record_field_key(enum record_field f)
{
    CHECK((unsigned)f < RF_COUNT);
    return fields[f].key;
}

enum record_type record_field_type(enum record_field f)
{
    CHECK((unsigned)f < RF_COUNT);
    return fields[f].type;
}
