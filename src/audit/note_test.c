#include "audit/note.h"

#include "audit/proof.h"
#include "support/test.h"

#define NAME "tuner.example/audit"
#define PUBLIC                                                                                                         \
    "\x03\xa1\x07\xbf\xf3\xce\x10\xbe\x1d\x70\xdd\x18\xe7\x4b\xc0\x99\x67\xe4\xd6\x30\x9b\xa5\x0d\x5f\x1d\xdc\x86\x64" \
    "\x12\x55\x31\xb8"
#define VERIFIER NAME "+eb7cbd4d+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
#define SIGNATURE "63y9TdNx9sFNoPoA9mSTFCHuQCUrCevmxnZs3FJnVjW3quJlJ998OJFsnR0Z7I/jxhrZwqg13iLq1jrdw2oUQIqMsAE="
#define BODY NAME "\n23\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgD8s=\n"
#define NOTE BODY "\n\xe2\x80\x94 " NAME " " SIGNATURE "\n"

static struct audit_signer golden_signer(void)
{
    uint8_t seed[AUDIT_SEED_BYTES];
    struct audit_signer s;
    for (unsigned i = 0; i < sizeof seed; i++) seed[i] = (uint8_t)i;
    assert_int_equal(audit_signer_make(&s, NAME, seed, NULL), STATUS_OK);
    return s;
}

static struct audit_signer other_signer(const char *name, uint8_t fill)
{
    uint8_t seed[AUDIT_SEED_BYTES];
    struct audit_signer s;
    memset(seed, fill, sizeof seed);
    assert_int_equal(audit_signer_make(&s, name, seed, NULL), STATUS_OK);
    return s;
}

/* {"seq":0} ... {"seq":22} */
struct golden { struct audit_tree tree; struct audit_hash slot[64], leaf[23], root; };

static bool read_slot(void *arg, uint64_t slot, struct audit_hash *ret)
{
    if (slot >= 42) return false;
    *ret = ((struct golden *)arg)->slot[slot];
    return true;
}

static void golden_log(struct golden *g)
{
    memset(g, 0, sizeof *g);
    for (unsigned i = 0; i < 23; i++) {
        char text[32];
        struct audit_added added;
        audit_leaf_hash(text, (size_t)snprintf(text, sizeof text, "{\"seq\":%u}", i), &g->leaf[i]);
        audit_tree_append(&g->tree, &g->leaf[i], &added);
        memcpy(&g->slot[added.first_slot], added.hash, added.n * sizeof added.hash[0]);
    }
    audit_tree_root(&g->tree, &g->root);
}

static void test_golden_key(void **state)
{
    (void)state;
    struct audit_signer s = golden_signer(), again;
    struct audit_verifier v;
    struct buf text = BUF_INIT;
    assert_memory_equal(s.verifier.public, PUBLIC, 32);
    assert_memory_equal(s.verifier.id, "\xeb\x7c\xbd\x4d", 4);
    audit_verifier_print(&s.verifier, &text);
    assert_string_equal(buf_text(&text), VERIFIER);
    assert_int_equal(audit_verifier_parse(&v, text.data, text.len, NULL), STATUS_OK);
    assert_memory_equal(&v, &s.verifier, sizeof v);
    buf_clear(&text);
    audit_signer_print(&s, &text);
    assert_string_equal(buf_text(&text), "PRIVATE+KEY+" NAME "+eb7cbd4d+AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f");
    assert_int_equal(audit_signer_parse(&again, text.data, text.len, NULL), STATUS_OK);
    assert_memory_equal(&again, &s, sizeof s);
    buf_free(&text);
}

static void test_golden_checkpoint(void **state)
{
    (void)state;
    struct audit_signer s = golden_signer();
    struct golden g;
    struct buf note = BUF_INIT;
    struct audit_checkpoint c;
    golden_log(&g);
    assert_int_equal(audit_checkpoint_sign(&note, g.tree.size, &g.root, &s, NULL), STATUS_OK);
    assert_string_equal(buf_text(&note), NOTE);
    assert_int_equal(audit_checkpoint_open(&c, note.data, note.len, &s.verifier, NULL), STATUS_OK);
    assert_string_equal(c.origin, NAME);
    assert_int_equal(c.size, 23);
    assert_true(audit_hash_equal(&c.root, &g.root));
    buf_free(&note);
}

/* No single changed, lost or added byte of a signed checkpoint passes. */
static void test_every_byte_counts(void **state)
{
    (void)state;
    struct audit_signer s = golden_signer();
    struct audit_checkpoint c;
    char bad[sizeof NOTE + 1];
    size_t len = sizeof NOTE - 1;
    for (size_t at = 0; at < len; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(bad, NOTE, len);
            bad[at] = (char)(bad[at] ^ 1 << bit);
            assert_int_not_equal(audit_checkpoint_open(&c, bad, len, &s.verifier, NULL), STATUS_OK);
        }
        memcpy(bad, NOTE, at);
        memcpy(bad + at, &NOTE[at + 1], len - at - 1);
        assert_int_not_equal(audit_checkpoint_open(&c, bad, len - 1, &s.verifier, NULL), STATUS_OK);
        assert_int_not_equal(audit_checkpoint_open(&c, NOTE, at, &s.verifier, NULL), STATUS_OK);
        memcpy(bad, NOTE, at);
        bad[at] = 'x';
        memcpy(bad + at + 1, &NOTE[at], len - at);
        assert_int_not_equal(audit_checkpoint_open(&c, bad, len + 1, &s.verifier, NULL), STATUS_OK);
    }
}

static void test_other_signatures(void **state)
{
    (void)state;
    struct audit_signer s = golden_signer(), other = other_signer("witness.example/w1", 7),
                        twin = other_signer(NAME, 9);
    struct audit_checkpoint c;
    struct buf note = BUF_INIT, theirs = BUF_INIT;
    struct err e;
    assert_int_equal(audit_note_sign(&theirs, BODY, sizeof BODY - 1, &other, NULL), STATUS_OK);
    assert_int_equal(audit_checkpoint_open(&c, theirs.data, theirs.len, &s.verifier, &e), STATUS_DENIED);
    assert_non_null(strstr(e.text, "not signed by " NAME));
    /* Ours, then theirs: theirs is passed over. */
    buf_puts(&note, NOTE);
    buf_puts(&note, theirs.data + sizeof BODY);
    assert_int_equal(audit_checkpoint_open(&c, note.data, note.len, &s.verifier, NULL), STATUS_OK);
    assert_int_equal(audit_checkpoint_open(&c, note.data, note.len, &twin.verifier, &e), STATUS_DENIED);
    /* 100 lines are read, the 101st is too many. */
    for (unsigned lines = 2; lines < AUDIT_SIGNATURES_MAX; lines++) buf_puts(&note, theirs.data + sizeof BODY);
    assert_int_equal(audit_checkpoint_open(&c, note.data, note.len, &s.verifier, NULL), STATUS_OK);
    buf_puts(&note, theirs.data + sizeof BODY);
    assert_int_equal(audit_checkpoint_open(&c, note.data, note.len, &s.verifier, &e), STATUS_INVALID);
    assert_string_equal(e.text, "signature line 101 of the note is malformed");
    /* A wrong signature of the known key refuses the note even beside a right one. */
    buf_clear(&note);
    buf_puts(&note,
             NOTE "\xe2\x80\x94 " NAME
                  " 63y9TdNx8sFNoPoA9mSTFCHuQCUrCevmxnZs3FJnVjW3quJlJ998OJFsnR0Z7I/jxhrZwqg13iLq1jrdw2oUQIqMsAE=\n");
    assert_int_equal(audit_checkpoint_open(&c, note.data, note.len, &s.verifier, &e), STATUS_DENIED);
    assert_non_null(strstr(e.text, "the text was changed"));
    buf_free(&note);
    buf_free(&theirs);
}

/* Signed by the right key, and still not a checkpoint of this log. */
static void test_strict_checkpoints(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        NAME "\n023\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgD8s=\n",
        NAME "\n+23\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgD8s=\n",
        NAME "\n\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgD8s=\n",
        NAME "\n18446744073709551616\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgD8s=\n",
        NAME "\n23\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgD8t=\n",   /* bits behind the last byte */
        NAME "\n23\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgD8s\n",
        NAME "\n23\nH7_73_49cZ0Lz5oaPjdh8Rb-LhCEsv46hD-GkzsgD8s=\n",
        NAME "\n23\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgDw==\n",
        BODY "extension\n", BODY "\n", NAME "\n23\n", NAME "\n", "\n23\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgD8s=\n",
        "another.example/log\n23\nH7/73/49cZ0Lz5oaPjdh8Rb+LhCEsv46hD+GkzsgD8s=\n",
    };
    struct audit_signer s = golden_signer();
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct audit_checkpoint c;
        struct buf note = BUF_INIT;
        assert_int_equal(audit_note_sign(&note, bodies[i], strlen(bodies[i]), &s, NULL), STATUS_OK);
        assert_int_not_equal(audit_checkpoint_open(&c, note.data, note.len, &s.verifier, NULL), STATUS_OK);
        buf_free(&note);
    }
}

static void test_what_cannot_be_signed(void **state)
{
    (void)state;
    struct audit_signer s = golden_signer();
    struct buf note = BUF_INIT;
    assert_int_equal(audit_note_sign(&note, "no line feed", 12, &s, NULL), STATUS_INVALID);
    assert_int_equal(audit_note_sign(&note, "tab\there\n", 9, &s, NULL), STATUS_INVALID);
    assert_int_equal(audit_note_sign(&note, "\xff\n", 2, &s, NULL), STATUS_INVALID);
    assert_int_equal(audit_note_sign(&note, "", 0, &s, NULL), STATUS_INVALID);
    assert_int_equal(note.len, 0);
    buf_free(&note);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "a b",
                                      "a+b",
                                      "a\tb",
                                      "a\nb",
                                      ("a\xc2\xa0" "b"),
                                      "a\xe3\x80\x80",
                                      "\xff",
                                      "a\x7f"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(audit_name_valid(bad[i]));
    char longest[AUDIT_NAME_MAX + 2];
    memset(longest, 'n', sizeof longest);
    longest[AUDIT_NAME_MAX + 1] = '\0';
    assert_false(audit_name_valid(longest));
    longest[AUDIT_NAME_MAX] = '\0';
    assert_true(audit_name_valid(longest));
    assert_true(audit_name_valid("\xe8\xaf\x81.example/\xe6\x97\xa5\xe5\xbf\x97"));
}

static void test_base64_is_strict(void **state)
{
    (void)state;
    uint8_t out[64];
    size_t n = 0;
    assert_true(audit_base64_decode("AAECAw==", 8, out, sizeof out, &n));
    assert_int_equal(n, 4);
    assert_memory_equal(out, "\0\1\2\3", 4);
    assert_true(audit_base64_decode("", 0, out, sizeof out, &n));
    assert_int_equal(n, 0);
    /* Every other byte at every place of a canonical text, and cut ones, are refused or mean something else. */
    for (int at = 0; at < 8; at++)
        for (int c = 0; c < 256; c++) {
            char text[9] = "AAECAw==";
            struct buf again = BUF_INIT;
            text[at] = (char)c;
            if (audit_base64_decode(text, 8, out, sizeof out, &n)) {
                audit_base64(&again, out, n);
                assert_int_equal(again.len, 8);
                assert_memory_equal(again.data, text, 8);
            }
            buf_free(&again);
        }
    static const char *const bad[] = {
        "AAECAw", "AAECAw=", "AAECAx==", "AAEC Aw==", "AAECAw==AAEC", "_-ECAw==", "Gkz\xf3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(audit_base64_decode(bad[i], strlen(bad[i]), out, sizeof out, &n));
    assert_false(audit_base64_decode("AAECAw==", 8, out, 3, &n));
}

static void test_key_text_is_strict(void **state)
{
    (void)state;
    struct audit_verifier v;
    struct audit_signer s;
    size_t len = sizeof VERIFIER - 1;
    for (size_t at = 0; at < len; at++) {
        char bad[sizeof VERIFIER];
        memcpy(bad, VERIFIER, sizeof bad);
        bad[at] = (char)(bad[at] ^ 1);
        assert_int_equal(audit_verifier_parse(&v, bad, len, NULL), STATUS_INVALID);
        assert_int_equal(audit_verifier_parse(&v, VERIFIER, at, NULL), STATUS_INVALID);
    }
    assert_int_equal(audit_signer_parse(&s, VERIFIER, len, NULL), STATUS_INVALID);
    static const char damaged[] = "PRIVATE+KEY+" NAME "+eb7cbd4d+AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4g";
    assert_int_equal(audit_signer_parse(&s, damaged, sizeof damaged - 1, NULL), STATUS_INVALID);
}

static void test_proof_file(void **state)
{
    (void)state;
    struct golden g;
    struct audit_signer s = golden_signer();
    struct audit_source source = {read_slot, &g};
    golden_log(&g);
    for (unsigned i = 0; i < 23; i++) {
        struct audit_proof p;
        struct buf file = BUF_INIT;
        struct arena a = ARENA_INIT;
        struct audit_proof_file f;
        struct audit_checkpoint c;
        char record[32];
        size_t n = (size_t)snprintf(record, sizeof record, "{\"seq\":%u}", i);
        assert_true(audit_prove_inclusion(i, 23, &source, &p));
        audit_proof_write(&file, i, &p, record, n, NOTE, sizeof NOTE - 1);
        assert_int_equal(audit_proof_verify(&a, file.data, file.len, NULL, 0, &s.verifier, &f, &c, NULL), STATUS_OK);
        assert_int_equal(f.index, i);
        assert_int_equal(f.extra_len, n);
        assert_memory_equal(f.extra, record, n);
        assert_int_equal(audit_proof_verify(&a, file.data, file.len, "{\"seq\":99}", 10, &s.verifier, &f, &c, NULL),
                         STATUS_DENIED);
        arena_free(&a);
        buf_free(&file);
    }
}

static void test_proof_file_bytes(void **state)
{
    (void)state;
    struct audit_signer s = golden_signer();
    struct golden g;
    struct audit_source source = {read_slot, &g};
    struct audit_proof p;
    struct audit_proof_file f;
    struct audit_checkpoint c;
    struct buf file = BUF_INIT;
    struct arena a = ARENA_INIT;
    golden_log(&g);
    assert_true(audit_prove_inclusion(22, 23, &source, &p));
    audit_proof_write(&file, 22, &p, NULL, 0, NOTE, sizeof NOTE - 1);
    static const char head[] = "c2sp.org/tlog-proof@v1\nindex 22\n";
    assert_memory_equal(file.data, head, sizeof head - 1);
    assert_string_equal(file.data + file.len - sizeof NOTE - 1, "\n\n" NOTE);
    assert_int_equal(audit_proof_verify(&a, file.data, file.len, NULL, 0, &s.verifier, &f, &c, NULL), STATUS_INVALID);
    for (size_t at = 0; at < file.len; at++) {
        assert_int_not_equal(audit_proof_verify(&a, file.data, at, "{\"seq\":22}", 10, &s.verifier, &f, &c, NULL),
                             STATUS_OK);
        file.data[at] = (char)(file.data[at] ^ 1);
        assert_int_not_equal(audit_proof_verify(&a, file.data, file.len, "{\"seq\":22}", 10, &s.verifier, &f, &c, NULL),
                             STATUS_OK);
        file.data[at] = (char)(file.data[at] ^ 1);
    }
    assert_int_equal(audit_proof_verify(&a, file.data, file.len, "{\"seq\":22}", 10, &s.verifier, &f, &c, NULL),
                     STATUS_OK);
    arena_free(&a);
    buf_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_key),
        cmocka_unit_test(test_golden_checkpoint),
        cmocka_unit_test(test_every_byte_counts),
        cmocka_unit_test(test_other_signatures),
        cmocka_unit_test(test_strict_checkpoints),
        cmocka_unit_test(test_what_cannot_be_signed),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_base64_is_strict),
        cmocka_unit_test(test_key_text_is_strict),
        cmocka_unit_test(test_proof_file),
        cmocka_unit_test(test_proof_file_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
