/* Stable reason codes: why a tick ended as it did. The table is model/reason.def. */
#ifndef MODEL_REASON_H
#define MODEL_REASON_H

#include <stdbool.h>

enum reason_kind { REASON_KIND_SERVICE, REASON_KIND_CANDIDATE, REASON_KIND_PERSON, REASON_KIND_LAST, REASON_KIND_STATE,
                   REASON_KIND_PLAN, REASON_KIND_VOID };

enum reason {
    REASON_NONE,
#define REASON(id, ...) REASON_##id,
#include "model/reason.def"
    REASON_COUNT
};

const char *reason_code(enum reason r);       /* "evidence-before"; "" for NONE */
const char *reason_sentence(enum reason r);
const char *reason_advice(enum reason r);
const char *reason_keys(enum reason r);       /* keys of the configuration that rule it, ", " between; "" none */
enum reason_kind reason_kind(enum reason r);  /* STATE for NONE */
const char *reason_kind_name(enum reason_kind k);
bool reason_parse(const char *code, enum reason *ret);

#endif
