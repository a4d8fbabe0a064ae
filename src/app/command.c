#include "app/command.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

static const struct command_row rows[] = {
#define COMMAND(id, name, args, summary, more) {name, args, summary, more, command_##id},
#include "app/command.def"
};

static const struct command_flag flags[] = {
#define FLAG(command, name, value, help) {command, name, value, help},
#include "app/command.def"
};

const struct command_row *command_rows(unsigned *ret_n)
{
    *ret_n = ARRAY_LEN(rows);
    return rows;
}

const struct command_flag *command_flags(unsigned *ret_n)
{
    *ret_n = ARRAY_LEN(flags);
    return flags;
}

bool command_flag_fits(const struct command_flag *f, const struct command_row *c)
{
    return strcmp(f->command, "*") == 0 || (c && strcmp(f->command, c->name) == 0);
}

const struct command_row *command_find(const char *name)
{
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    }
    return NULL;
}

static bool unknown_command(const char *word)
{
    const char *names[ARRAY_LEN(rows)];
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) names[i] = rows[i].name;
    const char *near = text_nearest(word, names, ARRAY_LEN(rows));
    fprintf(stderr, "trimtab: unknown command '%s'", word);
    if (near) fprintf(stderr, "; did you mean '%s'?\n", near);
    else fprintf(stderr, "; 'trimtab help' lists them\n");
    return false;
}

static bool unknown_flag(const struct command_row *c, const char *word, size_t len)
{
    const char *names[ARRAY_LEN(flags)];
    char copy[64];
    unsigned n = 0;
    for (unsigned i = 0; i < ARRAY_LEN(flags); i++) {
        if (command_flag_fits(&flags[i], c)) names[n++] = flags[i].name;
    }
    snprintf(copy, sizeof copy, "%.*s", (int)(len < 60 ? len : 60), word);
    const char *near = text_nearest(copy, names, n);
    fprintf(stderr, "trimtab %s: unknown flag '--%s'", c->name, copy);
    if (near) fprintf(stderr, "; did you mean '--%s'?\n", near);
    else fprintf(stderr, "; 'trimtab help %s' lists them\n", c->name);
    return false;
}

static const struct command_flag *find_flag(const struct command_row *c, const char *name, size_t len)
{
    for (unsigned i = 0; i < ARRAY_LEN(flags); i++) {
        if (command_flag_fits(&flags[i], c) && strlen(flags[i].name) == len && memcmp(flags[i].name, name, len) == 0)
            return &flags[i];
    }
    return NULL;
}

static bool take_flag(struct args *a, int argc, char **argv, int *at)
{
    const char *word = argv[*at][0] == '-' && argv[*at][1] == '-' ? argv[*at] + 2 : argv[*at] + 1;
    const char *equal = strchr(word, '=');
    size_t len = equal ? (size_t)(equal - word) : strlen(word);
    if (strcmp(argv[*at], "-h") == 0) word = "help", len = 4, equal = NULL;
    if (strcmp(argv[*at], "-o") == 0) word = "output", len = 6, equal = NULL;
    const struct command_flag *f = find_flag(a->command, word, len);
    if (!f) return unknown_flag(a->command, word, len);
    const char *value = equal ? equal + 1 : NULL;
    if (f->value && !value && *at + 1 < argc) value = argv[++*at];
    if (f->value && !value) {
        fprintf(stderr, "trimtab %s: --%s needs %s\n", a->command->name, f->name, f->value);
        return false;
    }
    if (!f->value && value) {
        fprintf(stderr, "trimtab %s: --%s takes no value\n", a->command->name, f->name);
        return false;
    }
    if (a->flag_n == ARGS_MAX) return false;
    a->flags[a->flag_n].flag = f;
    a->flags[a->flag_n++].value = value;
    return true;
}

bool command_parse(int argc, char **argv, struct args *ret)
{
    bool only_words = false;
    memset(ret, 0, sizeof *ret);
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0) name = "version";
    ret->command = command_find(name);
    if (!ret->command) return unknown_command(name);
    for (int i = 2; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (!only_words && argv[i][0] == '-' && argv[i][1]) {
            if (!take_flag(ret, argc, argv, &i)) return false;
        } else if (ret->word_n == ARGS_MAX) {
            fprintf(stderr, "trimtab %s: too many arguments\n", ret->command->name);
            return false;
        } else {
            ret->words[ret->word_n++] = argv[i];
        }
    }
    return true;
}

const char *args_text(const struct args *a, const char *flag)
{
    for (unsigned i = a->flag_n; i-- > 0;) {
        if (strcmp(a->flags[i].flag->name, flag) == 0) return a->flags[i].value;
    }
    return NULL;
}

bool args_has(const struct args *a, const char *flag)
{
    for (unsigned i = 0; i < a->flag_n; i++) {
        if (strcmp(a->flags[i].flag->name, flag) == 0) return true;
    }
    return false;
}

bool args_want(const struct args *a, unsigned least, unsigned most)
{
    if (a->word_n >= least && a->word_n <= most) return true;
    fprintf(stderr, "usage: trimtab %s%s%s; see 'trimtab help %s'\n", a->command->name, a->command->args[0] ? " " : "",
            a->command->args, a->command->name);
    return false;
}
