/* trimtab simulate --scenario FILE|NAME [--seed N] [--json]; --family NAME; --list; --families; --swarm */
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/input.h"
#include "app/swarm.h"
#include "base/num.h"
#include "base/text.h"
#include "sim/family.h"
#include "sim/run.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)

static int list(void)
{
    for (const char *const *name = scenario_names(); *name; name++) printf("%s\n", *name);
    return EXIT_GOOD;
}

static int list_families(void)
{
    for (const char *const *name = family_names(); *name; name++) {
        enum family_intent intent = INTENT_TUNABLE;
        (void)family_intent(*name, &intent);
        printf("%-18s %-12s %s\n", *name, family_intent_word(intent), family_about(*name));
    }
    return EXIT_GOOD;
}

static void say_diagnostics(struct config_diagnostics *d)
{
    struct buf b = BUF_INIT;
    config_diagnostics_sort(d);
    config_print_diagnostics(&b, d, false);
    if (b.len) fwrite(b.data, 1, b.len, stderr);
    buf_free(&b);
}

/* A name without a slash or dot is a shipped one; anything else, or a file that is there, is read. */
static enum status find(const char *what, struct buf *text, char *folder, size_t cap, bool *ret_shipped, struct err *e)
{
    size_t len;
    const char *bytes = scenario_shipped(what, &len);
    *ret_shipped = bytes != NULL;
    if (bytes) {
        buf_add(text, bytes, len);
        return buf_ok(text) ? STATUS_OK : err_set(e, STATUS_MEMORY, "no memory");
    }
    if (!strpbrk(what, "/.")) {
        size_t n = 0;
        const char *const *names = scenario_names();
        while (names[n]) n++;
        const char *near = text_nearest(what, names, n);
        if (near) return err_set(e, STATUS_NOT_FOUND, "no scenario '%s'; did you mean '%s'?", what, near);
        return err_set(e, STATUS_NOT_FOUND, "no scenario '%s'; 'trimtab simulate --list' names the shipped ones", what);
    }
    const char *slash = strrchr(what, '/');
    snprintf(folder, cap, "%.*s", slash ? (int)(slash - what) : 1, slash ? what : ".");
    return input_read(what, FILE_BYTES_MAX, text, e);
}

/* Runs the scenario file in `text`; `what` names it in messages. */
static enum status run_text(const char *what, const struct buf *text, const struct run_options *o, struct err *e)
{
    struct buf out = BUF_INIT;
    struct arena arena = ARENA_INIT;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    const struct scenario *sc = scenario_parse(&arena, buf_text(text), text->len, what, &d);
    enum status s = sc ? run_scenario(sc, o, &out, &d, e) : STATUS_INVALID;
    if (!sc) (void)err_set(e, s, "%s is not a scenario that can be run", what);
    say_diagnostics(&d);
    if (s == STATUS_OK) fwrite(buf_text(&out), 1, out.len, stdout);
    config_diagnostics_free(&d);
    arena_free(&arena);
    buf_free(&out);
    return s;
}

static int ended(enum status s, const struct err *e)
{
    if (s != STATUS_OK && e->text[0]) fprintf(stderr, "trimtab simulate: %s\n", e->text);
    return s == STATUS_OK && fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAIL;
}

static int run(const char *what, struct run_options *o)
{
    struct buf text = BUF_INIT;
    char folder[1024];
    bool shipped;
    struct err e = {0};
    enum status s = find(what, &text, folder, sizeof folder, &shipped, &e);
    if (s == STATUS_OK && !shipped) o->folder = folder;
    if (s == STATUS_OK) s = run_text(what, &text, o, &e);
    buf_free(&text);
    return ended(s, &e);
}

/* A world of a family: runs it, or with --print writes its scenario file. */
static int run_family(const char *family, const struct args *a, struct run_options *o)
{
    struct buf text = BUF_INIT;
    struct err e = {0};
    enum world_kind kind = args_has(a, "requests") ? WORLD_PLANT : WORLD_FLUID;
    enum status s = family_write(family, o->has_seed ? o->seed : 1, kind, &text, &e);
    if (s == STATUS_OK && args_has(a, "print")) fwrite(buf_text(&text), 1, text.len, stdout);
    else if (s == STATUS_OK) s = run_text(family, &text, o, &e);
    buf_free(&text);
    return ended(s, &e);
}

int command_simulate(const struct args *a)
{
    struct run_options o = {.json = args_has(a, "json")};
    const char *what = args_text(a, "scenario"), *seed = args_text(a, "seed"), *family = args_text(a, "family");
    if (args_has(a, "list")) return list();
    if (args_has(a, "families")) return list_families();
    if (args_has(a, "swarm")) return swarm_command(a);
    if (seed && !num_parse_u64(seed, strlen(seed), &o.seed)) {
        fprintf(stderr, "trimtab simulate: --seed is a whole number from 0, not '%s'\n", seed);
        return EXIT_USAGE;
    }
    o.has_seed = seed != NULL;
    if (family) return run_family(family, a, &o);
    if (!what && a->word_n == 1) what = a->words[0];
    if (!what || a->word_n > 1) {
        fprintf(stderr, "trimtab simulate: say which one with --scenario FILE|NAME; --list names the shipped ones\n");
        return EXIT_USAGE;
    }
    return run(what, &o);
}
