/* Each gate twice, through the whole shipped loop: once it alone holds the action back, once it is lifted and the action
 * happens. The tables decide what must be there: a new reason without its pair, or without a scenario, fails. */
#include "scenario/story.h"

#include "support/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define FOLDER SOURCE_DIR "/tests/scenario/gates"
#define FILES_MAX 16

struct file { char name[64]; const struct config_node *root; };

static struct config_diagnostics diagnostics;
static struct arena trees;
static struct file files[FILES_MAX];
static unsigned file_n;
static uint64_t paired, occurred;    /* bits of reasons */

static bool is_story(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".yaml") == 0 && strncmp(name, "policy", 6) != 0;
}

static void read_file(const char *name)
{
    char path[400];
    struct buf text = BUF_INIT, said = BUF_INIT;
    snprintf(path, sizeof path, FOLDER "/%s", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    for (int c; (c = getc(f)) != EOF;) buf_putc(&text, (char)c);
    fclose(f);
    struct config_source *source = config_source_add(&diagnostics, name, text.data, text.len);
    assert_non_null(source);
    assert_true(file_n < FILES_MAX);
    (void)text_copy(files[file_n].name, sizeof files[file_n].name, name);
    files[file_n++].root = config_tree_parse(&trees, source, &diagnostics);
    config_print_diagnostics(&said, &diagnostics, true);
    if (diagnostics.errors) fail_msg("%s", buf_text(&said));
    buf_free(&text);
    buf_free(&said);
}

static int by_name(const void *a, const void *b) { return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name); }

static int read_all(void **state)
{
    (void)state;
    DIR *d = opendir(FOLDER);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) {
        if (is_story(e->d_name)) read_file(e->d_name);
    }
    closedir(d);
    qsort(files, file_n, sizeof *files, by_name);
    return 0;
}

static enum reason reason_in(const struct config_node *n)
{
    enum reason r = REASON_NONE;
    if (!n || !reason_parse(n->text, &r)) fail_msg("no reason code '%s'", n ? n->text : "");
    return r;
}

static uint64_t bits_in(const struct config_node *list)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; list && i < list->n; i++) bits |= UINT64_C(1) << reason_in(list->items[i]);
    return bits;
}

static void print_bits(const char *what, uint64_t bits)
{
    print_error("  %s:", what);
    for (unsigned i = 1; i < REASON_COUNT; i++) {
        if (bits >> i & 1) print_error(" %s", reason_code((enum reason)i));
    }
    print_error("\n");
}

static bool failed;

static void complain(const struct file *f, const struct config_node *pair, const char *what, const struct seen *s)
{
    const struct config_node *name = config_tree_get(pair, "name");
    struct text_pos at = config_source_pos(pair->source, pair->offset);
    print_error("%s:%u: %s%s%s: %s\n", f->name, at.line, config_tree_get(pair, "gate")->text, name ? ", " : "",
                name ? name->text : "", what);
    print_bits("shut beside it", s->others);
    print_bits("reasons of all ticks", s->reasons);
    print_error("  writes: %u\n  told: %s\n  answers: %s\n", s->sends, buf_text(&s->said), buf_text(&s->replies));
    failed = true;
}

static void end(struct seen *s)
{
    occurred |= s->reasons;
    buf_free(&s->said);
    buf_free(&s->replies);
}

static bool said(const struct config_node *twin, const struct seen *s)
{
    const struct config_node *want = config_tree_get(twin, "told");
    return !want || strstr(buf_text(&s->said), want->text) != NULL;
}

static void run_pair(const struct file *f, const struct config_node *pair)
{
    enum reason gate = reason_in(config_tree_get(pair, "gate"));
    uint64_t with = bits_in(config_tree_get(pair, "with"));
    const struct config_node *shut = config_tree_get(pair, "shut"), *lifted = config_tree_get(pair, "lifted");
    struct seen s;
    const char *only = getenv("GATE");
    if (only && strcmp(only, reason_code(gate)) != 0) return;
    story_run(&(struct tale){{f->root, pair, shut}, 3, FOLDER}, gate, with, &s);
    if (!s.only) complain(f, pair, "shut: on no tick it alone held the action back", &s);
    if (s.sends) complain(f, pair, "shut: the action happened all the same", &s);
    if (!said(shut, &s)) complain(f, pair, "shut: people were not told so", &s);
    end(&s);
    story_run(&(struct tale){{f->root, pair, lifted}, 3, FOLDER}, gate, with, &s);
    if (!s.sends) complain(f, pair, "lifted: the action did not happen", &s);
    if (!said(lifted, &s)) complain(f, pair, "lifted: people were not told so", &s);
    end(&s);
    paired |= UINT64_C(1) << gate;
}

static void each_gate_alone_and_lifted(void **state)
{
    (void)state;
    for (unsigned i = 0; i < file_n; i++) {
        const struct config_node *pairs = config_tree_get(files[i].root, "pairs");
        for (uint32_t k = 0; pairs && k < pairs->n; k++) run_pair(&files[i], pairs->items[k]);
    }
    assert_false(failed);
}

static void states_plans_and_ends_of_requests(void **state)
{
    (void)state;
    for (unsigned i = 0; i < file_n; i++) {
        const struct config_node *list = config_tree_get(files[i].root, "states");
        for (uint32_t k = 0; list && k < list->n; k++) {
            struct seen s;
            uint64_t want = bits_in(config_tree_get(list->items[k], "reasons"));
            uint64_t never = bits_in(config_tree_get(list->items[k], "never"));
            story_run(&(struct tale){{files[i].root, list->items[k]}, 2, FOLDER}, REASON_NONE, 0, &s);
            if (want & ~s.reasons || never & s.reasons || !s.holds) {
                struct text_pos at = config_source_pos(list->items[k]->source, list->items[k]->offset);
                print_error("%s:%u:\n", files[i].name, at.line);
                print_bits("never came", want & ~s.reasons);
                print_bits("came", s.reasons);
                if (!s.holds) print_error("  the target does not hold what it should\n");
                print_error("  answers: %s\n", buf_text(&s.replies));
                failed = true;
            }
            end(&s);
        }
    }
    assert_false(failed);
}

static void every_code_has_its_scenario(void **state)
{
    (void)state;
    if (getenv("GATE")) skip();
    for (unsigned i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        enum reason_kind kind = reason_kind((enum reason)i);
        bool gate = kind <= REASON_KIND_LAST;
        uint64_t have = gate ? paired : occurred;
        if (have >> i & 1) continue;
        const char *what = gate ? "pair" : "scenario in which it occurs";
        print_error("%s: no %s in tests/scenario/gates\n", reason_code((enum reason)i), what);
        failed = true;
    }
    assert_false(failed);
}

static int free_all(void **state)
{
    (void)state;
    arena_free(&trees);
    config_diagnostics_free(&diagnostics);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gate_alone_and_lifted),
        cmocka_unit_test(states_plans_and_ends_of_requests),
        cmocka_unit_test(every_code_has_its_scenario),
    };
    return cmocka_run_group_tests(tests, read_all, free_all);
}
