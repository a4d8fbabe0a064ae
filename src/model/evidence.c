#include "model/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

const char *fn_name(enum fn fn)
{
#define X(id, word, ...) word,
    static const char *const words[] = {FN_TABLE(X)};
#undef X
    CHECK((unsigned)fn < FN_COUNT);
    return words[fn];
}

const char *age_subject_name(enum age_subject a)
{
    static const char *const words[] = {"deploy", "config", "replica"};
    CHECK((unsigned)a < AGE_COUNT);
    return words[a];
}

int needs_find(const struct needs *needs, struct need need)
{
    for (unsigned i = 0; i < needs->n; i++) {
        const struct need *have = &needs->items[i];
        if (have->fn == need.fn && have->subject == need.subject && have->window.us == need.window.us) return (int)i;
    }
    return -1;
}

int needs_add(struct needs *needs, struct need need)
{
    int found = needs_find(needs, need);
    if (found >= 0) return found;
    if (needs->n >= NEEDS_MAX) return -1;
    if (needs->n == needs->cap) {
        uint16_t cap = needs->cap ? (uint16_t)(needs->cap * 2) : 16;
        struct need *grown = realloc(needs->items, cap * sizeof *grown);
        if (!grown) return -1;
        needs->items = grown;
        needs->cap = cap;
    }
    needs->items[needs->n] = need;
    return needs->n++;
}

void needs_free(struct needs *needs)
{
    if (!needs) return;
    free(needs->items);
    memset(needs, 0, sizeof *needs);
}

uint64_t evidence_digest(const struct evidence *e)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (unsigned i = 0; i < e->needs->n; i++) {
        uint64_t bits = 0;
        if (e->items[i].why == WHY_KNOWN) memcpy(&bits, &e->items[i].value, sizeof bits);
        bits ^= (uint64_t)e->items[i].why << 56;
        for (unsigned b = 0; b < 8; b++) {
            h ^= bits >> (8 * b) & 0xff;
            h *= UINT64_C(0x100000001b3);
        }
    }
    return h;
}
