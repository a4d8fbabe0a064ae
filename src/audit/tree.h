/* The RFC 6962 Merkle tree over the audit log: hashes, incremental append, proofs and their checks.
 * Record n adds one leaf and completes 0 or more inner nodes; every complete node has a fixed slot in the hash file,
 * so the file needs no index and its length is a pure function of the number of records. */
#ifndef AUDIT_TREE_H
#define AUDIT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AUDIT_HASH_BYTES 32
#define AUDIT_LEVELS_MAX 63      /* a log of 2^63 - 1 records */
#define AUDIT_PROOF_MAX 64       /* hashes of the longest proof */

struct audit_hash { uint8_t b[AUDIT_HASH_BYTES]; };

void audit_leaf_hash(const void *bytes, size_t len, struct audit_hash *ret);      /* H(0x00 || bytes) */
void audit_node_hash(const struct audit_hash *left, const struct audit_hash *right,
                     struct audit_hash *ret);                                      /* H(0x01 || l || r) */
void audit_empty_root(struct audit_hash *ret);                                     /* H("") */
void audit_sha256(const void *bytes, size_t len, struct audit_hash *ret);
bool audit_hash_equal(const struct audit_hash *a, const struct audit_hash *b);

/* Slot of complete node n (from 0) of a level (0 = leaves). */
uint64_t audit_slot(unsigned level, uint64_t n);
/* Slots that `size` records fill: exactly 0 .. count - 1. */
uint64_t audit_slot_count(uint64_t size);

/* The right edge: roots of the complete subtrees that make up the tree, largest first. */
struct audit_tree {
    uint64_t size;
    unsigned edges;                               /* = number of 1 bits of size */
    struct audit_hash edge[AUDIT_LEVELS_MAX];
};

/* The hashes a new leaf adds, in slot order, the first at first_slot. */
struct audit_added {
    uint64_t first_slot;
    unsigned n;                                   /* 1 + number of trailing 1 bits of the old size */
    struct audit_hash hash[AUDIT_LEVELS_MAX + 1];
};

void audit_tree_init(struct audit_tree *t);
void audit_tree_append(struct audit_tree *t, const struct audit_hash *leaf, struct audit_added *ret);
void audit_tree_root(const struct audit_tree *t, struct audit_hash *ret);

/* Where complete nodes come from. false: the slot cannot be read; the call that asked then fails too. */
struct audit_source {
    bool (*read)(void *arg, uint64_t slot, struct audit_hash *ret);
    void *arg;
};

/* Rebuilds the right edge of a tree of `size` records. false: a slot cannot be read, *t untouched. */
bool audit_tree_load(struct audit_tree *t, uint64_t size, const struct audit_source *source);

struct audit_proof {
    unsigned n;
    struct audit_hash hash[AUDIT_PROOF_MAX];
};

/* That record `index` is in the tree of `size` records: sibling hashes from the leaf upwards. index < size. */
bool audit_prove_inclusion(uint64_t index, uint64_t size, const struct audit_source *source, struct audit_proof *ret);
/* That the tree of `size` records begins with the tree of `old` records. 0 < old <= size; empty when equal. */
bool audit_prove_consistency(uint64_t old, uint64_t size, const struct audit_source *source, struct audit_proof *ret);

/* true only when the proof has exactly the hashes it needs and leads to the root(s). Never crashes on any input. */
bool audit_check_inclusion(uint64_t index, uint64_t size, const struct audit_hash *leaf,
                           const struct audit_proof *proof, const struct audit_hash *root);
bool audit_check_consistency(uint64_t old, uint64_t size, const struct audit_hash *old_root,
                             const struct audit_proof *proof, const struct audit_hash *root);

#endif
