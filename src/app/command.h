/* The one table of commands (command.def) and the arguments a command gets. */
#ifndef APP_COMMAND_H
#define APP_COMMAND_H

#include <stdbool.h>

#include "app/exit.h"

#define ARGS_MAX 32

struct command_flag { const char *command, *name, *value, *help; };

struct args {
    const struct command_row *command;
    const char *words[ARGS_MAX];       /* positional */
    unsigned word_n;
    struct { const struct command_flag *flag; const char *value; } flags[ARGS_MAX];
    unsigned flag_n;
};

struct command_row {
    const char *name, *args, *summary, *more;
    int (*run)(const struct args *a);
};

const struct command_row *command_rows(unsigned *ret_n);
const struct command_flag *command_flags(unsigned *ret_n);
bool command_flag_fits(const struct command_flag *f, const struct command_row *c);   /* is it one of this command's? */
const struct command_row *command_find(const char *name);

/* Reads argv[1..]. false: said on stderr what is wrong and what was perhaps meant; end with EXIT_USAGE. */
bool command_parse(int argc, char **argv, struct args *ret);
const char *args_text(const struct args *a, const char *flag);   /* NULL when not given; the last one wins */
bool args_has(const struct args *a, const char *flag);
/* Exactly `n` positional words, or a sentence on stderr and false. */
bool args_want(const struct args *a, unsigned least, unsigned most);

#define COMMAND(id, ...) int command_##id(const struct args *a);
#include "app/command.def"

#endif
