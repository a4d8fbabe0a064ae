/* trimtab simulate --scenario FILE|NAME [--seed N] [--json]; --list; --swarm */
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/input.h"
#include "app/swarm.h"
#include "base/num.h"
#include "base/text.h"
#include "sim/run.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)

static int list(void)
{
    for (const char *const *name = scenario_names(); *name; name++) printf("%s\n", *name);
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

static int run(const char *what, struct run_options *o)
{
    struct buf text = BUF_INIT, out = BUF_INIT;
    struct arena arena = ARENA_INIT;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    char folder[1024];
    bool shipped;
    struct err e = {0};
    enum status s = find(what, &text, folder, sizeof folder, &shipped, &e);
    if (s == STATUS_OK) {
        const struct scenario *sc = scenario_parse(&arena, buf_text(&text), text.len, what, &d);
        if (!shipped) o->folder = folder;
        s = sc ? run_scenario(sc, o, &out, &d, &e) : err_set(&e, STATUS_INVALID, "%s is not a scenario that can be run", what);
    }
    say_diagnostics(&d);
    if (s == STATUS_OK) fwrite(buf_text(&out), 1, out.len, stdout);
    else if (e.text[0]) fprintf(stderr, "trimtab simulate: %s\n", e.text);
    config_diagnostics_free(&d);
    arena_free(&arena);
    buf_free(&text);
    buf_free(&out);
    return s == STATUS_OK && fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAIL;
}

int command_simulate(const struct args *a)
{
    struct run_options o = {.json = args_has(a, "json")};
    const char *what = args_text(a, "scenario"), *seed = args_text(a, "seed");
    if (args_has(a, "list")) return list();
    if (args_has(a, "swarm")) return swarm_command(a);
    if (!what && a->word_n == 1) what = a->words[0];
    if (!what || a->word_n > 1) {
        fprintf(stderr, "trimtab simulate: say which one with --scenario FILE|NAME; --list names the shipped ones\n");
        return EXIT_USAGE;
    }
    if (seed && !num_parse_u64(seed, strlen(seed), &o.seed)) {
        fprintf(stderr, "trimtab simulate: --seed is a whole number from 0, not '%s'\n", seed);
        return EXIT_USAGE;
    }
    o.has_seed = seed != NULL;
    return run(what, &o);
}
