/* Breadth-first over all states within reach, shortest traces first.
 *   explore [none|value|version] [budget] [max states] [--tier-b N] [--packed] [--json]
 * Exit 0: nothing found; 1: a violation, with its trace; 2: usage or memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "explore/world.h"

#define FOUND_MAX 64
#define ROOT UINT32_MAX

struct level { uint8_t *bytes; uint32_t *ids; size_t n, cap; };

struct explorer {
    uint64_t (*keys)[2];
    uint32_t *parent, *table;
    uint16_t *ordinal;                /* which successor of the parent */
    uint64_t mask;
    uint32_t n, max, classes;         /* classes: distinct canonical states, counted with --packed */
    uint64_t *class_table;
    uint64_t transitions, rows[600];
    struct level now, next;
    uint32_t at;                      /* the state whose successors are made */
    uint16_t count;
    unsigned depth, found_n;
    const char *found[FOUND_MAX];
    bool full, json;
};

static void *must(void *p)
{
    if (p) return p;
    (void)fprintf(stderr, "explore: out of memory; ask for fewer states\n");
    exit(2);
}

static void level_add(struct level *l, const struct world *w, uint32_t id)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 1024;
        l->bytes = must(realloc(l->bytes, l->cap * WORLD_BYTES));
        l->ids = must(realloc(l->ids, l->cap * sizeof *l->ids));
    }
    (void)world_pack(w, l->bytes + l->n * WORLD_BYTES);
    l->ids[l->n++] = id;
}

/* With --packed: as many classes as the canonical run has states means that canon merges only what behaves alike. */
static void count_class(struct explorer *x, const struct world *w)
{
    uint64_t key[2];
    options.packed = false;
    world_key(w, key);
    options.packed = true;
    uint64_t mark = (key[0] ^ key[1] << 1) | 1, at = mark >> 3 & x->mask;
    while (x->class_table[at] && x->class_table[at] != mark) at = (at + 1) & x->mask;
    if (!x->class_table[at]) x->classes++;
    x->class_table[at] = mark;
}

static bool insert(struct explorer *x, const struct world *w, uint32_t parent, uint16_t ordinal)
{
    uint64_t key[2];
    world_key(w, key);
    uint64_t at = (key[0] ^ key[1] >> 7) & x->mask;
    for (; x->table[at]; at = (at + 1) & x->mask) {
        const uint64_t *k = x->keys[x->table[at] - 1];
        if (k[0] == key[0] && k[1] == key[1]) return false;
    }
    if (x->n == x->max) {
        x->full = true;
        return false;
    }
    memcpy(x->keys[x->n], key, sizeof key);
    x->parent[x->n] = parent;
    x->ordinal[x->n] = ordinal;
    level_add(&x->next, w, x->n);
    if (x->class_table) count_class(x, w);
    x->table[at] = ++x->n;
    return true;
}

/* The roots: n_auto 0 or 2, a failed attempt before, a kept action before, or learning. */
static bool root(unsigned i, struct world *w)
{
    bool two = i & 1, failed = i >> 1 & 1, kept = i >> 2 & 1, learning = i == 8;
    if (i > 8 || (failed && kept)) return false;
    memset(w, 0, sizeof *w);
    struct control_policy p = world_policy(w);
    control_init(&w->log, &p, T0);
    w->budget = options.budget;
    for (unsigned k = 0; k < KNOBS; k++) {
        w->k[k].real[0] = w->k[k].real[1] = 1;
        w->k[k].version = options.cas == CAS_VERSION;
    }
    if (kept) {
        struct control_record r = {.at = T0, .knob = 0, .old = 1, .new_ = 2, .read = 2, .action = 1, .symptom = NO_INDEX,
                                   .settle = SPAN_S(10), .window = SPAN_S(10), .version = w->k[0].version};
        static const enum record_kind story[] = {RECORD_INTENT, RECORD_APPLIED, RECORD_VERDICT};
        for (unsigned s = 0; s < 3; s++) {
            r.kind = story[s];
            if (r.kind == RECORD_VERDICT) r.verdict = VERDICT_EFFECTIVE;
            control_fold(&p, &w->log, &r);
        }
        w->k[0].real[0] = w->k[0].real[1] = 2;
        w->k[0].phase = PH_KEPT;
        w->k[0].confirmed = 1;
        w->log.gap_until = INSTANT_NONE;
    }
    if (failed) w->log.knobs[0].fails = 1;
    if (two) w->log.n_auto = w->autos = 2;
    world_normalise(w, T0);
    w->live = w->log;
    world_start(w, true);
    struct control_event e = event_at(CE_POLL, false);
    event_reads(&e, w, 3);
    e.warm = !learning;
    (void)act(w, &e, FATE_GOOD);
    violation = NULL;
    return true;
}

struct replay { unsigned left; struct world found; uint16_t row; char what[160]; };

static void replay_one(void *user, const struct world *next, uint16_t row, const char *what)
{
    struct replay *r = user;
    if (r->left-- != 0) return;
    r->found = *next;
    r->row = row;
    (void)snprintf(r->what, sizeof r->what, "%s", what);
}

static void print_trace(struct explorer *x, uint32_t id, struct world *ret)
{
    static uint32_t path[4096];
    unsigned n = 0;
    for (uint32_t i = id; n < 4096; i = x->parent[i]) {
        path[n++] = i;
        if (x->parent[i] == ROOT) break;
    }
    struct world w;
    (void)root(x->ordinal[path[n - 1]], &w);
    printf("  %-8s %-62s ", "", "(start)");
    world_print(&w);
    for (unsigned i = n - 1; i-- > 0;) {
        struct replay r = {.left = x->ordinal[path[i]]};
        successors(&w, replay_one, &r);
        w = r.found;
        printf("  row %-4u %-62s ", r.row, r.what);
        world_print(&w);
    }
    *ret = w;
}

static bool is_news(struct explorer *x, const char *what)
{
    for (unsigned i = 0; i < x->found_n; i++) {
        if (x->found[i] == what) return false;
    }
    if (x->found_n < FOUND_MAX) x->found[x->found_n++] = what;
    return x->found_n < FOUND_MAX;
}

static void report(struct explorer *x, const char *what, const struct world *next, uint16_t row, const char *event)
{
    struct world w;
    if (!is_news(x, what) || x->json) return;
    char text[160];
    (void)snprintf(text, sizeof text, "%s", event);
    printf("VIOLATION %s (depth %u)\n", what, x->depth);
    print_trace(x, x->at, &w);
    printf("  row %-4u %-62s ", row, text);
    if (next) world_print(next);
    else printf("\n");
    (void)fflush(stdout);
}

static void take(void *user, const struct world *next, uint16_t row, const char *what)
{
    struct explorer *x = user;
    const char *bad = violation;
    uint16_t ordinal = x->count++;
    x->transitions++;
    x->rows[row]++;
    if (bad) {
        struct world copy = *next;
        report(x, bad, &copy, row, what);
        return;
    }
    (void)insert(x, next, x->at, ordinal);
}

static void expand(struct explorer *x, const uint8_t *bytes, uint32_t id)
{
    struct world w;
    world_unpack(bytes, &w);
    x->at = id;
    x->count = 0;
    const char *why = calm_check(&w);
    if (why) report(x, why, NULL, 0, "(calm run)");
    successors(&w, take, x);
}

static void explore(struct explorer *x)
{
    struct world w;
    for (unsigned i = 0; i < 9; i++) {
        if (root(i, &w)) (void)insert(x, &w, ROOT, (uint16_t)i);
    }
    while (x->next.n > 0 && !x->full) {
        struct level done = x->now;
        x->now = x->next;
        x->next = done;
        x->next.n = 0;
        for (size_t i = 0; i < x->now.n && !x->full; i++) expand(x, x->now.bytes + i * WORLD_BYTES, x->now.ids[i]);
        x->depth++;
    }
}

static void setup(struct explorer *x, uint32_t max)
{
    uint64_t slots = 1;
    while (slots < 2 * (uint64_t)max) slots *= 2;
    x->max = max;
    x->mask = slots - 1;
    x->keys = must(malloc(max * sizeof *x->keys));
    x->parent = must(malloc(max * sizeof *x->parent));
    x->ordinal = must(malloc(max * sizeof *x->ordinal));
    x->table = must(calloc(slots, sizeof *x->table));
    if (options.packed) x->class_table = must(calloc(slots, sizeof *x->class_table));
    calm_init();
}

static void teardown(struct explorer *x)
{
    free(x->keys);
    free(x->parent);
    free(x->ordinal);
    free(x->table);
    free(x->class_table);
    free(x->now.bytes);
    free(x->now.ids);
    free(x->next.bytes);
    free(x->next.ids);
    calm_free();
}

static void print_result(const struct explorer *x, double seconds)
{
    static const char *const names[] = {"none", "value", "version"};
    unsigned fired = 0, all;
    const struct control_row *rows = control_rows(&all);
    for (unsigned i = 0; i < all; i++) fired += x->rows[rows[i].row] > 0;
    printf(x->json ? "{\"cas\":\"%s\",\"budget\":%u,\"tier_b\":%u,\"states\":%u,\"transitions\":%llu,\"depth\":%u,\"complete\":%s,"
                     "\"violations\":%u,\"rows_fired\":%u,\"rows\":%u,\"seconds\":%d}\n"
                   : "cas %s, budget %u, tier of B %u: %u states, %llu transitions, depth %u, complete %s, violations %u, "
                     "rows fired %u of %u, %d s\n",
           names[options.cas], options.budget, options.tier_b, x->n, (unsigned long long)x->transitions, x->depth,
           x->full ? "false" : "true", x->found_n, fired, all, (int)seconds);
    if (x->json) return;
    if (options.packed) printf("distinct canonical states: %u\n", x->classes);
    printf("rows:");
    for (unsigned i = 0; i < all; i++) printf(" %s:%llu", rows[i].number, (unsigned long long)x->rows[rows[i].row]);
    printf("\n");
}

static bool parse(int argc, char **argv, struct explorer *x, uint32_t *ret_max)
{
    int position = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) x->json = true;
        else if (strcmp(argv[i], "--tier-b") == 0 && i + 1 < argc) options.tier_b = (uint8_t)atoi(argv[++i]);
        else if (strcmp(argv[i], "--packed") == 0) options.packed = true;
        else if (strcmp(argv[i], "none") == 0) options.cas = CAS_NONE;
        else if (strcmp(argv[i], "value") == 0) options.cas = CAS_VALUE;
        else if (strcmp(argv[i], "version") == 0) options.cas = CAS_VERSION;
        else if (position == 0) options.budget = (uint8_t)atoi(argv[i]), position++;
        else if (position == 1) *ret_max = (uint32_t)strtoul(argv[i], NULL, 10), position++;
        else return false;
    }
    return options.budget <= 9 && *ret_max > 0;
}

int main(int argc, char **argv)
{
    static struct explorer x;
    uint32_t max = 4000000;
    if (!parse(argc, argv, &x, &max)) {
        (void)fprintf(stderr, "usage: explore [none|value|version] [budget] [max states] [--tier-b N] [--packed] [--json]\n");
        return 2;
    }
    clock_t began = clock();
    setup(&x, max);
    explore(&x);
    print_result(&x, (double)(clock() - began) / CLOCKS_PER_SEC);
    unsigned found = x.found_n;
    teardown(&x);
    return found ? 1 : 0;
}
