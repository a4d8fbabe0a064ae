/* One audit record as plain data. Text fields point into memory that lives at least until the effect or
 * callback that carries the record returns; whoever keeps a record copies it (record_copy). */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum record_kind {
#define KIND(id, ...) RECORD_##id,
#include "model/record.def"
    RECORD_KIND_COUNT
};

enum record_field {
#define FIELD(id, ...) RF_##id,
#include "model/record.def"
    RF_COUNT
};

enum record_type { RT_U64, RT_I64, RT_TEXT, RT_HEX32, RT_NAME };

#define RECORD_BYTES_MAX 65535   /* tlog-tiles: an entry's length is a 16-bit number */

/* One slot a field; which member is valid follows from the field's type. */
union record_value {
    uint64_t u64;
    int64_t i64;
    const char *text;            /* never NULL when present */
    const uint8_t *hex32;        /* 32 bytes */
};

struct record {
    enum record_kind kind;
    uint64_t present;            /* bit RF_x */
    union record_value v[RF_COUNT];
};

void record_init(struct record *r, enum record_kind kind);
static inline bool record_has(const struct record *r, enum record_field f) { return r->present >> f & 1; }
/* Setters check the field's type (CHECK). A NULL text leaves the field absent. */
void record_u64(struct record *r, enum record_field f, uint64_t v);
void record_i64(struct record *r, enum record_field f, int64_t v);
void record_text(struct record *r, enum record_field f, const char *v);
void record_hex32(struct record *r, enum record_field f, const uint8_t v[32]);
const char *record_get_text(const struct record *r, enum record_field f);          /* "" when absent */
uint64_t record_get_u64(const struct record *r, enum record_field f, uint64_t absent);
int64_t record_get_i64(const struct record *r, enum record_field f, int64_t absent);
/* Deep copy into the arena. NULL when out of memory. */
struct record *record_copy(struct arena *a, const struct record *r);

const char *record_kind_name(enum record_kind k);          /* "UNDO-RETRY" */
const char *record_kind_meaning(enum record_kind k);
/* Is it about taking a change back? `from` and `to` stay those of the change: it goes from `to` to `from`. */
bool record_kind_is_undo(enum record_kind k);
bool record_kind_parse(const char *name, enum record_kind *ret);
unsigned record_severity(const struct record *r);   /* for people: 0 information, 1 warning, 2 page, as enum notice */
/* What a person sees first, perhaps on a telephone, and all that belongs to it: "key: text", a line each. */
void record_say(struct buf *subject, struct buf *text, const struct record *r);
const char *record_field_key(enum record_field f);
enum record_type record_field_type(enum record_field f);

#endif
