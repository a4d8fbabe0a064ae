#include "model/reason.h"

#include <string.h>

#include "base/check.h"

struct reason_row {
    const char *code;
    enum reason_kind kind;
    const char *sentence, *advice;
};

static const struct reason_row rows[REASON_COUNT] = {
    [REASON_NONE] = {"", REASON_KIND_STATE, "", ""},
#define REASON(id, code, kind, sentence, advice) [REASON_##id] = {code, REASON_KIND_##kind, sentence, advice},
#include "model/reason.def"
};

static const char *const keys[REASON_COUNT] = {
#define RULED(id, keys, example) [REASON_##id] = keys,
#include "model/reason.def"
};

static const struct reason_row *row_of(enum reason r)
{
    CHECK((unsigned)r < REASON_COUNT);
    return &rows[r];
}

const char *reason_code(enum reason r) { return row_of(r)->code; }
const char *reason_sentence(enum reason r) { return row_of(r)->sentence; }
const char *reason_advice(enum reason r) { return row_of(r)->advice; }
const char *reason_keys(enum reason r) { return keys[row_of(r) - rows] ? keys[r] : ""; }
enum reason_kind reason_kind(enum reason r) { return row_of(r)->kind; }

const char *reason_kind_name(enum reason_kind k)
{
    static const char *const names[] = {"service", "candidate", "person", "last", "state", "plan", "void"};
    CHECK((unsigned)k < ARRAY_LEN(names));
    return names[k];
}

bool reason_parse(const char *code, enum reason *ret)
{
    for (unsigned i = 1; i < REASON_COUNT; i++) {
        if (strcmp(rows[i].code, code) == 0) {
            *ret = (enum reason)i;
            return true;
        }
    }
    return false;
}
