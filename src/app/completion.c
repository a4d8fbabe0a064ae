/* trimtab completion bash|zsh: scripts made from the table. */
#include <stdio.h>
#include <string.h>

#include "app/command.h"

static void names(const char *between)
{
    unsigned n;
    const struct command_row *rows = command_rows(&n);
    for (unsigned i = 0; i < n; i++) printf("%s%s", i ? between : "", rows[i].name);
}

static void flags_of(const struct command_row *c)
{
    unsigned n, shown = 0;
    const struct command_flag *flags = command_flags(&n);
    for (unsigned i = 0; i < n; i++) {
        if (command_flag_fits(&flags[i], c)) printf("%s--%s", shown++ ? " " : "", flags[i].name);
    }
}

static void bash(void)
{
    unsigned n;
    const struct command_row *rows = command_rows(&n);
    printf("_trimtab() {\n    local cur=${COMP_WORDS[COMP_CWORD]}\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"");
    names(" ");
    printf("\" -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (unsigned i = 0; i < n; i++) {
        printf("    %s) COMPREPLY=($(compgen -W \"", rows[i].name);
        flags_of(&rows[i]);
        if (strcmp(rows[i].name, "help") == 0) printf(" "), names(" ");
        printf("\" -- \"$cur\")) ;;\n");
    }
    printf("    esac\n    if [ ${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- \"$cur\")); fi\n}\n"
           "complete -o filenames -F _trimtab trimtab\n");
}

static void zsh_quoted(const char *s)
{
    for (; *s; s++) {
        if (*s == '\'') printf("'\\''");
        else if (*s == '[' || *s == ']' || *s == ':') printf("\\%c", *s);
        else putchar(*s);
    }
}

static void zsh(void)
{
    unsigned n, flag_n;
    const struct command_row *rows = command_rows(&n);
    const struct command_flag *flags = command_flags(&flag_n);
    printf("#compdef trimtab\n_trimtab() {\n    local -a commands\n    commands=(\n");
    for (unsigned i = 0; i < n; i++) {
        printf("        '%s:", rows[i].name);
        zsh_quoted(rows[i].summary);
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then _describe command commands; return; fi\n    case $words[2] in\n");
    for (unsigned i = 0; i < n; i++) {
        printf("    %s) _arguments", rows[i].name);
        for (unsigned k = 0; k < flag_n; k++) {
            if (!command_flag_fits(&flags[k], &rows[i])) continue;
            printf(" '--%s%s[", flags[k].name, flags[k].value ? "=" : "");
            zsh_quoted(flags[k].help);
            printf("]%s'", flags[k].value ? ":value:_files" : "");
        }
        printf(" '*:file:_files' ;;\n");
    }
    printf("    esac\n}\n_trimtab \"$@\"\n");
}

int command_completion(const struct args *a)
{
    if (!args_want(a, 1, 1)) return EXIT_USAGE;
    if (strcmp(a->words[0], "bash") == 0) bash();
    else if (strcmp(a->words[0], "zsh") == 0) zsh();
    else {
        fprintf(stderr, "trimtab completion: bash or zsh, not '%s'\n", a->words[0]);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}
