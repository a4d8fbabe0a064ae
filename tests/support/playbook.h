/* Reads a playbook file for tests, without the configuration's parser: one key a line, flow lists for `try`. */
#ifndef SUPPORT_PLAYBOOK_H
#define SUPPORT_PLAYBOOK_H

#include "model/enums.h"
#include "model/policy.h"
#include "support/test.h"

#define PLAYBOOK_LINE 512

struct playbook_try { bool advice; char knob[64]; enum direction direction; };
struct playbook_row {
    char id[64], cause[64], symptom[64], group[64], share[64], when[PLAYBOOK_LINE], source[PLAYBOOK_LINE];
    struct playbook_try tries[POLICY_TRY_MAX], nevers[POLICY_TRY_MAX];   /* of `never` only its moves */
    unsigned try_count, never_count;
};
struct playbook_symptom { char name[64], when[PLAYBOOK_LINE]; };
struct playbook {
    struct playbook_symptom symptoms[POLICY_SYMPTOMS_MAX];
    struct playbook_row rows[POLICY_CAUSES_MAX];
    unsigned symptom_count, row_count;
};

/* "batch_max up", "advise: TEXT": what stands between commas and brackets, quotes taken off. */
static inline void playbook_move(struct playbook_try *t, const char *text, size_t len)
{
    char word[PLAYBOOK_LINE] = "", way[8] = "";
    memcpy(word, text, len);
    t->advice = strncmp(word, "advise: ", 8) == 0 && len > 16;
    if (t->advice) return;
    assert_int_equal(sscanf(word, "%63[a-z_0-9] %7[a-z]", t->knob, way), 2);
    assert_true(direction_parse(way, &t->direction));
}

static inline void playbook_add_move(struct playbook_row *row, const char *text, size_t len, bool never, bool quoted)
{
    if (never && quoted) return;
    unsigned *n = never ? &row->never_count : &row->try_count;
    assert_true(*n < POLICY_TRY_MAX);
    playbook_move(never ? &row->nevers[*n] : &row->tries[*n], text, len);
    (*n)++;
}

static inline void playbook_moves(struct playbook_row *row, const char *list, bool never)
{
    assert_true(list[0] == '[' && list[strlen(list) - 1] == ']');
    for (const char *at = list + 1; *at && *at != ']';) {
        bool quoted = *at == '"';
        at += quoted;
        size_t len = strcspn(at, quoted ? "\"" : ",]");
        playbook_add_move(row, at, len, never, quoted);
        at += len + quoted;
        at += strspn(at, ", ");
    }
}

static inline void playbook_key(struct playbook *b, const char *key, const char *value)
{
    if (strcmp(key, "id") == 0) assert_true(b->row_count++ < POLICY_CAUSES_MAX);
    assert_true(b->row_count > 0);
    struct playbook_row *row = &b->rows[b->row_count - 1];
    const struct { const char *key; char *to; size_t size; } fields[] = {
        {"id", row->id, 64}, {"cause", row->cause, 64}, {"symptom", row->symptom, 64}, {"group", row->group, 64},
        {"share", row->share, 64}, {"when", row->when, PLAYBOOK_LINE}, {"source", row->source, PLAYBOOK_LINE},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(key, fields[i].key) != 0) continue;
        assert_true(strlen(value) < fields[i].size);
        strcpy(fields[i].to, value);
        return;
    }
    if (strcmp(key, "try") == 0) playbook_moves(row, value, false);
    else if (strcmp(key, "never") == 0) playbook_moves(row, value, true);
    else if (strcmp(key, "note") != 0) fail_msg("unknown key %s", key);
}

static inline struct playbook *playbook_read(const char *path)
{
    struct playbook *b = calloc(1, sizeof *b);
    FILE *f = fopen(path, "r");
    assert_non_null(b);
    assert_non_null(f);
    char line[PLAYBOOK_LINE], *text, *colon;
    bool rows = false;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        text = line + strspn(line, " -");
        if (!*text || *text == '#') continue;
        rows = rows || strcmp(line, "playbook:") == 0;
        if (text == line) continue;
        colon = strchr(text, ':');
        assert_non_null(colon);
        *colon = '\0';
        if (rows) {
            playbook_key(b, text, colon + 2);
            continue;
        }
        struct playbook_symptom *s = &b->symptoms[b->symptom_count++];
        assert_true(b->symptom_count <= POLICY_SYMPTOMS_MAX && strlen(text) < sizeof s->name);
        strcpy(s->name, text);
        strcpy(s->when, colon + 2);
    }
    fclose(f);
    return b;
}

static inline void playbook_free(struct playbook *b)
{
    free(b);
}

#endif
