#include "audit/tree.h"

#include "support/test.h"

/* The eight leaves and the roots of 1 to 8 of them that verifiers of RFC 6962 trees are tested with. */
static const char *const leaves[] = {"", "00", "10", "2021", "3031", "40414243", "5051525354555657",
                                     "606162636465666768696a6b6c6d6e6f"};
static const char *const roots[] = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};
static const char *const path_5_of_8[] = {
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
};
static const char *const cons_6_to_8[] = {
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
};
static const char cons_4_to_8[] = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        unsigned v = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
        out[i] = (uint8_t)v;
    }
    return n;
}

static void assert_hash(const struct audit_hash *h, const char *hex)
{
    uint8_t want[AUDIT_HASH_BYTES];
    assert_int_equal(from_hex(hex, want), sizeof want);
    assert_memory_equal(h->b, want, sizeof want);
}

/* A hash file in memory, and the root after each append. */
#define LOG_MAX 70
struct log {
    struct audit_tree tree;
    struct audit_hash slot[2 * LOG_MAX], leaf[LOG_MAX], root[LOG_MAX + 1];
    uint64_t slots;
};

static bool read_slot(void *arg, uint64_t slot, struct audit_hash *ret)
{
    struct log *log = arg;
    if (slot >= log->slots) return false;
    *ret = log->slot[slot];
    return true;
}

static struct audit_source source_of(struct log *log) { return (struct audit_source){read_slot, log}; }

static void grow(struct log *log, const void *bytes, size_t len)
{
    struct audit_added added;
    uint64_t n = log->tree.size;
    audit_leaf_hash(bytes, len, &log->leaf[n]);
    audit_tree_append(&log->tree, &log->leaf[n], &added);
    assert_int_equal(added.first_slot, log->slots);
    for (unsigned i = 0; i < added.n; i++) log->slot[log->slots++] = added.hash[i];
    assert_int_equal(log->slots, audit_slot_count(n + 1));
    audit_tree_root(&log->tree, &log->root[n + 1]);
}

static struct log *golden_log(void)
{
    struct log *log = calloc(1, sizeof *log);
    assert_non_null(log);
    audit_tree_init(&log->tree);
    audit_tree_root(&log->tree, &log->root[0]);
    for (size_t i = 0; i < 8; i++) {
        uint8_t leaf[32];
        grow(log, leaf, from_hex(leaves[i], leaf));
    }
    return log;
}

static struct log *numbered_log(unsigned n)
{
    struct log *log = calloc(1, sizeof *log);
    assert_non_null(log);
    for (unsigned i = 0; i < n; i++) {
        char text[32];
        int len = snprintf(text, sizeof text, "{\"seq\":%u}", i);
        grow(log, text, (size_t)len);
    }
    return log;
}

/* The definition, straight from RFC 6962: split at the largest power of two below n. */
static struct audit_hash root_by_definition(const struct audit_hash *leaf, unsigned n)
{
    struct audit_hash h;
    if (n == 0) {
        audit_empty_root(&h);
        return h;
    }
    if (n == 1) return leaf[0];
    unsigned k = 1;
    while (2 * k < n) k *= 2;
    struct audit_hash left = root_by_definition(leaf, k), right = root_by_definition(leaf + k, n - k);
    audit_node_hash(&left, &right, &h);
    return h;
}

static void test_prefixes(void **state)
{
    (void)state;
    struct audit_hash left = {0}, h;
    uint8_t head[8];
    audit_leaf_hash("L123456", 7, &h);
    from_hex("395aa064aa4c29f7", head);
    assert_memory_equal(h.b, head, 8);
    /* The node vector has short children, so it is built here with the plain hash. */
    audit_sha256("\x01" "N123" "N456", 9, &h);
    from_hex("aa217fe888e47007", head);
    assert_memory_equal(h.b, head, 8);
    uint8_t joined[65] = {1};
    audit_sha256(joined, sizeof joined, &h);
    audit_node_hash(&left, &left, &left);
    assert_true(audit_hash_equal(&h, &left));
}

static void test_golden_roots(void **state)
{
    (void)state;
    struct log *log = golden_log();
    for (size_t n = 0; n <= 8; n++) assert_hash(&log->root[n], roots[n]);
    free(log);
}

static void test_golden_proofs(void **state)
{
    (void)state;
    struct log *log = golden_log();
    struct audit_source source = source_of(log);
    struct audit_proof p;
    assert_true(audit_prove_inclusion(5, 8, &source, &p));
    assert_int_equal(p.n, 3);
    for (unsigned i = 0; i < 3; i++) assert_hash(&p.hash[i], path_5_of_8[i]);
    assert_true(audit_prove_consistency(6, 8, &source, &p));
    assert_int_equal(p.n, 3);
    for (unsigned i = 0; i < 3; i++) assert_hash(&p.hash[i], cons_6_to_8[i]);
    assert_true(audit_prove_consistency(4, 8, &source, &p));
    assert_int_equal(p.n, 1);
    assert_hash(&p.hash[0], cons_4_to_8);
    assert_true(audit_prove_inclusion(0, 1, &source, &p));
    assert_int_equal(p.n, 0);
    assert_true(audit_prove_consistency(8, 8, &source, &p));
    assert_int_equal(p.n, 0);
    free(log);
}

/* The layout rule in its other form: n = 2n + 1 level times, then n + n/2 + n/4 + ..., plus the level. */
static void test_slots(void **state)
{
    (void)state;
    for (unsigned level = 0; level < 8; level++)
        for (uint64_t n = 0; n < 100; n++) {
            uint64_t want = level, m = n;
            for (unsigned l = 0; l < level; l++) m = 2 * m + 1;
            for (; m > 0; m /= 2) want += m;
            assert_int_equal(audit_slot(level, n), want);
        }
    assert_int_equal(audit_slot_count(0), 0);
    assert_int_equal(audit_slot_count(1), 1);
    assert_int_equal(audit_slot_count(8), 15);
    assert_int_equal(audit_slot_count(23), 42);
}

static void test_every_size(void **state)
{
    (void)state;
    struct log *log = numbered_log(LOG_MAX);
    struct audit_source source = source_of(log);
    struct audit_proof p;
    for (unsigned size = 1; size <= LOG_MAX; size++) {
        struct audit_hash want = root_by_definition(log->leaf, size), got;
        assert_true(audit_hash_equal(&log->root[size], &want));
        struct audit_tree loaded;
        assert_true(audit_tree_load(&loaded, size, &source));
        audit_tree_root(&loaded, &got);
        assert_true(audit_hash_equal(&got, &want));
        for (unsigned i = 0; i < size; i++) {
            assert_true(audit_prove_inclusion(i, size, &source, &p));
            assert_true(audit_check_inclusion(i, size, &log->leaf[i], &p, &want));
        }
        for (unsigned old = 1; old <= size; old++) {
            assert_true(audit_prove_consistency(old, size, &source, &p));
            assert_true(audit_check_consistency(old, size, &log->root[old], &p, &want));
        }
    }
    free(log);
}

static struct audit_proof with_flip(struct audit_proof p, unsigned hash, unsigned bit)
{
    p.hash[hash].b[bit / 8] ^= (uint8_t)(1u << bit % 8);
    return p;
}

static struct audit_proof resized(struct audit_proof p, unsigned n)
{
    p.n = n;
    return p;
}

static void refuse_inclusion(unsigned i, unsigned size, const struct log *log, const struct audit_proof *p)
{
    assert_false(audit_check_inclusion(i, size, &log->leaf[i], p, &log->root[size]));
}

static void test_inclusion_mutations(void **state)
{
    (void)state;
    struct log *log = numbered_log(24);
    struct audit_source source = source_of(log);
    struct audit_proof p, bad;
    for (unsigned size = 2; size <= 23; size++)
        for (unsigned i = 0; i < size; i++) {
            assert_true(audit_prove_inclusion(i, size, &source, &p));
            for (unsigned h = 0; h < p.n; h++)
                for (unsigned bit = 0; bit < 256; bit += 37) {
                    bad = with_flip(p, h, bit);
                    refuse_inclusion(i, size, log, &bad);
                }
            bad = resized(p, p.n - 1);
            refuse_inclusion(i, size, log, &bad);
            bad = resized(p, p.n + 1);
            refuse_inclusion(i, size, log, &bad);
            bad.hash[p.n] = log->root[size];
            refuse_inclusion(i, size, log, &bad);
            bad = resized(p, AUDIT_PROOF_MAX + 1);
            refuse_inclusion(i, size, log, &bad);
            assert_false(audit_check_inclusion(i, size, &log->leaf[(i + 1) % size], &p, &log->root[size]));
            assert_false(audit_check_inclusion(i ^ 1, size, &log->leaf[i], &p, &log->root[size]));
            assert_false(audit_check_inclusion(i, size, &log->leaf[i], &p, &log->root[size + 1]));
            assert_false(audit_check_inclusion(i, size, &log->leaf[i], &p, &log->root[size - 1]));
            assert_false(audit_check_inclusion(i, i, &log->leaf[i], &p, &log->root[size]));
            assert_false(audit_check_inclusion(i, 0, &log->leaf[i], &p, &log->root[size]));
            assert_false(audit_check_inclusion(i, UINT64_MAX, &log->leaf[i], &p, &log->root[size]));
        }
    free(log);
}

static void test_consistency_mutations(void **state)
{
    (void)state;
    struct log *log = numbered_log(24);
    struct audit_source source = source_of(log);
    struct audit_proof p, bad;
    for (unsigned size = 2; size <= 23; size++)
        for (unsigned old = 1; old < size; old++) {
            const struct audit_hash *was = &log->root[old], *is = &log->root[size];
            assert_true(audit_prove_consistency(old, size, &source, &p));
            for (unsigned h = 0; h < p.n; h++) {
                bad = with_flip(p, h, 8 * (h + old) % 256);
                assert_false(audit_check_consistency(old, size, was, &bad, is));
            }
            bad = resized(p, p.n - 1);
            assert_false(audit_check_consistency(old, size, was, &bad, is));
            bad = resized(p, p.n + 1);
            assert_false(audit_check_consistency(old, size, was, &bad, is));
            bad = resized(p, 0);
            assert_false(audit_check_consistency(old, size, was, &bad, is));
            assert_false(audit_check_consistency(old, size, is, &p, was));
            assert_false(audit_check_consistency(old, size, &log->root[old - 1], &p, is));
            assert_false(audit_check_consistency(old, size, was, &p, &log->root[size + 1]));
            assert_false(audit_check_consistency(0, size, was, &p, is));
            assert_false(audit_check_consistency(size + 1, size, was, &p, is));
            assert_false(audit_check_consistency(size, size, is, &p, is));
            assert_false(audit_check_consistency(old, old, was, &p, is));
        }
    free(log);
}

static void test_unreadable_source(void **state)
{
    (void)state;
    struct log *log = numbered_log(13);
    struct audit_source source = source_of(log);
    struct audit_proof p = {.n = 99};
    struct audit_tree t = {.size = 77};
    log->slots = 3;   /* the file was cut */
    assert_false(audit_tree_load(&t, 13, &source));
    assert_int_equal(t.size, 77);
    assert_false(audit_prove_inclusion(2, 13, &source, &p));
    assert_false(audit_prove_consistency(5, 13, &source, &p));
    assert_int_equal(p.n, 99);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefixes),          cmocka_unit_test(test_golden_roots),
        cmocka_unit_test(test_golden_proofs),     cmocka_unit_test(test_slots),
        cmocka_unit_test(test_every_size),        cmocka_unit_test(test_inclusion_mutations),
        cmocka_unit_test(test_consistency_mutations), cmocka_unit_test(test_unreadable_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
