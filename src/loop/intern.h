/* Small ids for exact values and versions of knobs, so that control works on numbers. Equal bytes, equal id. */
#ifndef LOOP_INTERN_H
#define LOOP_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/value.h"

struct intern_entry {
    uint16_t len;                    /* 0: free */
    bool is_version, marked;
    char bytes[KNOB_BYTES_MAX];
};

struct intern {
    struct intern_entry *entries;    /* id = index + 1 */
    uint16_t n, cap;
};

void intern_free(struct intern *in);
/* Id of the value's bytes. Two numbers that are equal but written differently (64, 64.0) get one id: the first seen.
 * 0: the value is empty, or no id is left. */
uint16_t intern_value(struct intern *in, const struct knob_value *v);
uint16_t intern_text(struct intern *in, const char *bytes, uint16_t len, bool is_version);
/* The bytes of an id; false for 0 or an id that was freed. */
bool intern_get(const struct intern *in, uint16_t id, struct knob_value *ret);
/* Text of a version id into ret's version. */
void intern_get_version(const struct intern *in, uint16_t id, struct knob_value *ret);
/* Frees what is not marked: mark every id that is still referred to, then sweep. */
void intern_mark(struct intern *in, uint16_t id);
void intern_sweep(struct intern *in);
bool intern_full(const struct intern *in);

#endif
