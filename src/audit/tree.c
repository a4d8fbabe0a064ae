#include "audit/tree.h"

#include <sodium.h>
#include <string.h>

#include "base/check.h"

void audit_sha256(const void *bytes, size_t len, struct audit_hash *ret)
{
    crypto_hash_sha256(ret->b, bytes, len);
}

void audit_leaf_hash(const void *bytes, size_t len, struct audit_hash *ret)
{
    static const uint8_t prefix = 0x00;
    crypto_hash_sha256_state s;
    crypto_hash_sha256_init(&s);
    crypto_hash_sha256_update(&s, &prefix, 1);
    crypto_hash_sha256_update(&s, bytes, len);
    crypto_hash_sha256_final(&s, ret->b);
}

void audit_node_hash(const struct audit_hash *left, const struct audit_hash *right, struct audit_hash *ret)
{
    uint8_t input[1 + 2 * AUDIT_HASH_BYTES];
    input[0] = 0x01;
    memcpy(input + 1, left->b, AUDIT_HASH_BYTES);
    memcpy(input + 1 + AUDIT_HASH_BYTES, right->b, AUDIT_HASH_BYTES);
    crypto_hash_sha256(ret->b, input, sizeof input);
}

void audit_empty_root(struct audit_hash *ret)
{
    crypto_hash_sha256(ret->b, (const uint8_t *)"", 0);
}

bool audit_hash_equal(const struct audit_hash *a, const struct audit_hash *b)
{
    return memcmp(a->b, b->b, AUDIT_HASH_BYTES) == 0;
}

/* Nodes are stored in the order in which they become complete. Node (level, n) becomes complete with the leaf
 * below its right end, number (n + 1) * 2^level - 1, as the level-th hash which that leaf adds. */
uint64_t audit_slot(unsigned level, uint64_t n)
{
    CHECK(level < AUDIT_LEVELS_MAX && n < UINT64_MAX >> (level + 1));
    uint64_t leaf = ((n + 1) << level) - 1;
    return audit_slot_count(leaf) + level;
}

/* size leaves, size / 2 complete pairs, size / 4 complete fours ... */
uint64_t audit_slot_count(uint64_t size)
{
    uint64_t count = 0;
    for (; size > 0; size >>= 1) count += size;
    return count;
}

void audit_tree_init(struct audit_tree *t)
{
    *t = (struct audit_tree){0};
}

void audit_tree_append(struct audit_tree *t, const struct audit_hash *leaf, struct audit_added *ret)
{
    CHECK(t->size < INT64_MAX);
    ret->first_slot = audit_slot_count(t->size);
    ret->n = 1;
    ret->hash[0] = *leaf;
    struct audit_hash carry = *leaf;
    for (uint64_t bits = t->size; bits & 1; bits >>= 1) {
        audit_node_hash(&t->edge[--t->edges], &carry, &carry);
        ret->hash[ret->n++] = carry;
    }
    t->edge[t->edges++] = carry;
    t->size++;
}

void audit_tree_root(const struct audit_tree *t, struct audit_hash *ret)
{
    if (t->edges == 0) {
        audit_empty_root(ret);
        return;
    }
    struct audit_hash root = t->edge[t->edges - 1];
    for (unsigned i = t->edges - 1; i-- > 0;) audit_node_hash(&t->edge[i], &root, &root);
    *ret = root;
}

bool audit_tree_load(struct audit_tree *t, uint64_t size, const struct audit_source *source)
{
    struct audit_tree got = {.size = size};
    if (size > INT64_MAX) return false;
    for (unsigned level = AUDIT_LEVELS_MAX; level-- > 0;) {
        if (!(size >> level & 1)) continue;
        /* The subtree of this bit covers the leaves below the higher bits: node number (size >> level) - 1. */
        if (!source->read(source->arg, audit_slot(level, (size >> level) - 1), &got.edge[got.edges])) return false;
        got.edges++;
    }
    *t = got;
    return true;
}
