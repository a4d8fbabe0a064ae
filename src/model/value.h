/* Values of knobs. The exact bytes are what is written and undone; the decimal is for ladder arithmetic only. */
#ifndef MODEL_VALUE_H
#define MODEL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/enums.h"

#define KNOB_BYTES_MAX 256      /* bytes of a scalar knob's text; whole documents go by hash in the store */
#define KNOB_VERSION_MAX 128
#define READ_INSTANCES_MAX 64

struct knob_value {
    uint16_t len;                       /* bytes; 0 = absent */
    uint16_t version_len;               /* 0 = the target has no versions */
    char bytes[KNOB_BYTES_MAX];         /* not terminated */
    char version[KNOB_VERSION_MAX];     /* ETag, resourceVersion, mod_revision... as the target gave it */
    bool is_number;
    double decimal;                     /* of the whole of bytes, when is_number */
};

/* Sets bytes and derives is_number, decimal. false: too long (value untouched). */
bool knob_value_set(struct knob_value *v, const char *bytes, unsigned len);
bool knob_value_set_version(struct knob_value *v, const char *version, unsigned len);
/* Number as the shortest decimal text ("64", "0.5"). */
void knob_value_set_number(struct knob_value *v, double number);
/* Bytes equal, or both numbers and equal: a server may answer 64.0 for 64. */
bool knob_value_same(const struct knob_value *a, const struct knob_value *b);
bool knob_version_same(const struct knob_value *a, const struct knob_value *b);

/* One read of one knob over all instances of its service. */
struct read_vector {
    uint16_t n;                         /* instances asked; 1 for a config centre */
    uint16_t failed;                    /* of them unreadable; any failed makes the class NONE */
    struct knob_value values[READ_INSTANCES_MAX];
    char why[160];                      /* of the first failure, for people */
};

#endif
