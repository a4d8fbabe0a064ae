#include "promql/labels.h"

#include <string.h>

#include "promql/eval.h"

/* Strings are often the very same pointer: series share theirs. */
static int compare(const char *a, const char *b) { return a == b ? 0 : strcmp(a, b); }

const char *pq_labels_get(struct pq_labels l, const char *name)
{
    for (uint32_t i = 0; i < l.n; i++)
        if (compare(l.items[i].name, name) == 0) return l.items[i].value;
    return NULL;
}

int pq_labels_compare(struct pq_labels a, struct pq_labels b)
{
    if (a.items == b.items && a.n == b.n) return 0;
    uint32_t n = a.n < b.n ? a.n : b.n;
    for (uint32_t i = 0; i < n; i++) {
        int d = compare(a.items[i].name, b.items[i].name);
        if (d == 0) d = compare(a.items[i].value, b.items[i].value);
        if (d) return d;
    }
    return a.n < b.n ? -1 : a.n > b.n;
}

static uint64_t hash_text(uint64_t h, const char *s)
{
    for (; *s; s++) h = (h ^ (uint8_t)*s) * UINT64_C(1099511628211);
    return (h ^ 0xff) * UINT64_C(1099511628211);
}

uint64_t pq_labels_hash(struct pq_labels l)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (uint32_t i = 0; i < l.n; i++) h = hash_text(hash_text(h, l.items[i].name), l.items[i].value);
    return h ^ h >> 29;
}

bool pq_names_have(const struct names *names, const char *name)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (compare(names->items[i], name) == 0) return true;
    return false;
}

static bool is_name(const struct pq_label *l) { return l->name[0] == '_' && compare(l->name, "__name__") == 0; }

/* The evaluation has failed; what is returned is only there to end it without a crash. */
static struct pq_labels no_memory(struct eval *ev)
{
    pq_eval_fail(ev, STATUS_LIMIT, "the query needs more memory than it may use: narrow its selectors or ranges");
    return (struct pq_labels){NULL, 0};
}

static struct pq_labels filter(struct eval *ev, struct pq_labels l, const struct names *names, bool keep, bool drop_name)
{
    struct pq_label *items = l.n ? ARENA_NEW_N(ev->arena, l.n, struct pq_label) : NULL;
    struct pq_labels ret = {items, 0};
    if (!items) return l.n ? no_memory(ev) : l;
    for (uint32_t i = 0; i < l.n; i++) {
        if (drop_name && is_name(&l.items[i])) continue;
        if (pq_names_have(names, l.items[i].name) != keep) continue;
        items[ret.n++] = l.items[i];
    }
    return ret;
}

struct pq_labels pq_labels_without_name(struct eval *ev, struct pq_labels l)
{
    static const struct names none = {NULL, 0};
    if (l.n && is_name(&l.items[0])) return (struct pq_labels){l.items + 1, l.n - 1};
    return pq_labels_get(l, "__name__") ? filter(ev, l, &none, false, true) : l;
}

struct pq_labels pq_labels_keep(struct eval *ev, struct pq_labels l, const struct names *names)
{
    return names->n ? filter(ev, l, names, true, false) : (struct pq_labels){NULL, 0};
}

struct pq_labels pq_labels_drop(struct eval *ev, struct pq_labels l, const struct names *names, bool drop_name)
{
    if (names->n == 0 && !drop_name) return l;
    return filter(ev, l, names, false, drop_name);
}

struct pq_labels pq_labels_set(struct eval *ev, struct pq_labels l, const char *name, const char *value)
{
    bool remove = !value || *value == '\0';
    struct pq_label *items = ARENA_NEW_N(ev->arena, (size_t)l.n + 1, struct pq_label);
    struct pq_labels ret = {items, 0};
    if (!items) return no_memory(ev);
    bool placed = remove;
    for (uint32_t i = 0; i < l.n; i++) {
        int d = compare(l.items[i].name, name);
        if (d >= 0 && !placed) {
            items[ret.n++] = (struct pq_label){name, value};
            placed = true;
        }
        if (d != 0) items[ret.n++] = l.items[i];
    }
    if (!placed) items[ret.n++] = (struct pq_label){name, value};
    return ret;
}

void pq_labels_print(struct buf *out, struct pq_labels l)
{
    buf_putc(out, '{');
    for (uint32_t i = 0; i < l.n; i++) {
        if (i) buf_puts(out, ", ");
        buf_puts(out, l.items[i].name);
        buf_putc(out, '=');
        buf_json_string(out, l.items[i].value, strlen(l.items[i].value));
    }
    buf_putc(out, '}');
}
