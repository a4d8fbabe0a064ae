/* Proofs: made from stored nodes, checked from nothing but the hashes given. */
#include <string.h>

#include "audit/tree.h"
#include "base/check.h"

/* A run of leaves [first, first + n) that is a subtree of the whole. */
struct range { uint64_t first, n; };

/* Largest power of two strictly below n; n > 1. */
static uint64_t split(uint64_t n)
{
    uint64_t k = 1;
    while (k < n - k) k <<= 1;
    return k;
}

static unsigned log2_exact(uint64_t n)
{
    unsigned level = 0;
    while (n >> level != 1) level++;
    return level;
}

/* Hash of a run: one stored node when complete, else its parts along the right edge. */
static bool range_hash(struct range r, const struct audit_source *source, struct audit_hash *ret)
{
    struct audit_hash part[AUDIT_LEVELS_MAX + 1];
    unsigned parts = 0;
    for (;;) {
        uint64_t k = (r.n & (r.n - 1)) == 0 ? r.n : split(r.n);
        unsigned level = log2_exact(k);
        if (!source->read(source->arg, audit_slot(level, r.first >> level), &part[parts++])) return false;
        if (k == r.n) break;
        r = (struct range){r.first + k, r.n - k};
    }
    struct audit_hash hash = part[--parts];
    while (parts > 0) audit_node_hash(&part[--parts], &hash, &hash);
    *ret = hash;
    return true;
}

static void reverse(struct audit_proof *p)
{
    for (unsigned i = 0; i < p->n / 2; i++) {
        struct audit_hash swap = p->hash[i];
        p->hash[i] = p->hash[p->n - 1 - i];
        p->hash[p->n - 1 - i] = swap;
    }
}

bool audit_prove_inclusion(uint64_t index, uint64_t size, const struct audit_source *source, struct audit_proof *ret)
{
    CHECK(index < size && size <= INT64_MAX);
    struct audit_proof p = {0};
    struct range here = {0, size};
    while (here.n > 1) {
        uint64_t k = split(here.n);
        struct range left = {here.first, k}, right = {here.first + k, here.n - k};
        bool go_left = index < right.first;
        if (!range_hash(go_left ? right : left, source, &p.hash[p.n++])) return false;
        here = go_left ? left : right;
    }
    reverse(&p);
    *ret = p;
    return true;
}

bool audit_prove_consistency(uint64_t old, uint64_t size, const struct audit_source *source, struct audit_proof *ret)
{
    CHECK(old > 0 && old <= size && size <= INT64_MAX);
    struct audit_proof p = {0};
    struct range here = {0, size};
    bool left_edge = true;   /* still at leaf 0: then the run of old leaves is the old root, which the checker has */
    while (here.first + here.n != old) {
        uint64_t k = split(here.n);
        struct range left = {here.first, k}, right = {here.first + k, here.n - k};
        bool go_left = old <= right.first;
        if (!range_hash(go_left ? right : left, source, &p.hash[p.n++])) return false;
        if (!go_left) left_edge = false;
        here = go_left ? left : right;
    }
    if (!left_edge && !range_hash(here, source, &p.hash[p.n++])) return false;
    reverse(&p);
    *ret = p;
    return true;
}

/* A node on the way up: its number on its level, and the number of the last node there. */
struct climb { uint64_t node, last; };

static bool is_right_child(struct climb c) { return c.node & 1; }

static struct climb parent(struct climb c) { return (struct climb){c.node >> 1, c.last >> 1}; }

/* A last node that is a left child has no sibling: it is carried up unchanged. */
static struct climb skip_lonely(struct climb c)
{
    while (!is_right_child(c) && c.node != 0) c = parent(c);
    return c;
}

bool audit_check_inclusion(uint64_t index, uint64_t size, const struct audit_hash *leaf,
                           const struct audit_proof *proof, const struct audit_hash *root)
{
    if (index >= size || proof->n > AUDIT_PROOF_MAX) return false;
    struct climb c = {index, size - 1};
    struct audit_hash hash = *leaf;
    for (unsigned i = 0; i < proof->n; i++) {
        if (c.last == 0) return false;
        if (is_right_child(c) || c.node == c.last) {
            audit_node_hash(&proof->hash[i], &hash, &hash);
            c = skip_lonely(c);
        } else {
            audit_node_hash(&hash, &proof->hash[i], &hash);
        }
        c = parent(c);
    }
    return c.last == 0 && audit_hash_equal(&hash, root);
}

/* Climbs from the last complete run of the old tree, building the old root and the new root side by side. */
static bool check_climb(struct climb c, const struct audit_hash *start, const struct audit_hash *path, unsigned n,
                        const struct audit_hash *old_root, const struct audit_hash *root)
{
    struct audit_hash was = *start, is = *start;
    for (unsigned i = 0; i < n; i++) {
        if (c.last == 0) return false;
        if (is_right_child(c) || c.node == c.last) {
            audit_node_hash(&path[i], &was, &was);
            audit_node_hash(&path[i], &is, &is);
            c = skip_lonely(c);
        } else {
            audit_node_hash(&is, &path[i], &is);
        }
        c = parent(c);
    }
    return c.last == 0 && audit_hash_equal(&was, old_root) && audit_hash_equal(&is, root);
}

bool audit_check_consistency(uint64_t old, uint64_t size, const struct audit_hash *old_root,
                             const struct audit_proof *proof, const struct audit_hash *root)
{
    if (old == 0 || old > size || proof->n > AUDIT_PROOF_MAX) return false;
    if (old == size) return proof->n == 0 && audit_hash_equal(old_root, root);
    struct climb c = {old - 1, size - 1};
    while (is_right_child(c)) c = parent(c);
    if ((old & (old - 1)) == 0) return check_climb(c, old_root, proof->hash, proof->n, old_root, root);
    return proof->n > 0 && check_climb(c, &proof->hash[0], proof->hash + 1, proof->n - 1, old_root, root);
}
