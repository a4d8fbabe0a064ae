/* trimtab help [COMMAND] [--man]: all of it from the table. */
#include <stdio.h>
#include <string.h>

#include "app/command.h"

static void print_flags(const struct command_row *c)
{
    unsigned n;
    const struct command_flag *flags = command_flags(&n);
    printf("\nFlags:\n");
    for (unsigned i = 0; i < n; i++) {
        char left[48];
        if (!command_flag_fits(&flags[i], c)) continue;
        snprintf(left, sizeof left, "--%s%s%s", flags[i].name, flags[i].value ? " " : "", flags[i].value ? flags[i].value : "");
        printf("  %-22s %s\n", left, flags[i].help);
    }
}

static void print_indented(const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n) printf("  %.*s", (int)n, text);
        printf("\n");
        text += n + (text[n] != '\0');
    }
}

static void print_one(const struct command_row *c)
{
    printf("trimtab %s%s%s: %s\n", c->name, c->args[0] ? " " : "", c->args, c->summary);
    if (c->more[0]) {
        printf("\n");
        print_indented(c->more);
    }
    print_flags(c);
}

static void print_all(void)
{
    unsigned n;
    const struct command_row *rows = command_rows(&n);
    printf("trimtab watches inference services, changes one knob by one notch when one became worse,\n"
           "verifies that it helped, and takes it back when it did not.\n\n"
           "  trimtab demo\n"
           "  trimtab check examples/reference.yaml\n"
           "  trimtab serve --config examples/reference.yaml\n\nCommands:\n");
    for (unsigned i = 0; i < n; i++) printf("  %-12s %s\n", rows[i].name, rows[i].summary);
    printf("\n'trimtab help COMMAND' explains one.\n");
}

/* ---- manual page ---- */

static void roff(const char *text)
{
    if (*text == '.' || *text == '\'') printf("\\&");
    for (; *text; text++) {
        if (*text == '\\') printf("\\e");
        else if (*text == '-') printf("\\-");
        else putchar(*text);
        if (*text == '\n' && (text[1] == '.' || text[1] == '\'')) printf("\\&");
    }
}

static void roff_flags(const struct command_row *c)
{
    unsigned n;
    const struct command_flag *flags = command_flags(&n);
    for (unsigned i = 0; i < n; i++) {
        if (c ? strcmp(flags[i].command, c->name) != 0 : strcmp(flags[i].command, "*") != 0) continue;
        printf(".TP\n\\fB\\-\\-");
        roff(flags[i].name);
        printf("\\fR%s\\fI%s\\fR\n", flags[i].value ? " " : "", flags[i].value ? flags[i].value : "");
        roff(flags[i].help);
        printf("\n");
    }
}

static void print_surroundings(void)
{
    printf(".SH EXIT STATUS\n0 done; 1 refused or failed, the message says what to do next; 2 wrong command line; 3 "
           "\\fBcheck \\-\\-strict\\fR: warnings only; 4 the token is missing or wrong; 5 \\fBserve\\fR: the audit store failed "
           "while running; 6 out of memory.\n");
    printf(".SH ENVIRONMENT\n\\fBTRIMTAB_ADDRESS\\fR, \\fBTRIMTAB_DATA\\fR, \\fBTRIMTAB_TOKEN_FILE\\fR: as "
           "\\fB\\-\\-address\\fR, \\fB\\-\\-data\\fR, \\fB\\-\\-token\\-file\\fR. \\fBTRIMTAB_PRESETS\\fR: folder "
           "of the presets. \\fBNO_COLOR\\fR: no colour.\n");
    printf(".SH FILES\nIn the data folder: \\fIaudit.db\\fR (the log), \\fIcheckpoint\\fR (keep copies elsewhere), "
           "\\fIaudit.pub\\fR, \\fIlisten\\fR (the address), \\fItoken\\fR, \\fIhalt\\fR and \\fIhalt.SERVICE\\fR (while they "
           "exist nothing is written).\n");
}

static void print_man(void)
{
    unsigned n;
    const struct command_row *rows = command_rows(&n);
    printf(".TH TRIMTAB 1 \"\" \"trimtab " TRIMTAB_VERSION
           "\" \"User Commands\"\n.SH NAME\ntrimtab \\- watch inference services and trim one "
           "knob at a time\n.SH SYNOPSIS\n.B trimtab\n.I COMMAND\n[flags]\n.SH COMMANDS\n");
    for (unsigned i = 0; i < n; i++) {
        printf(".SS ");
        roff(rows[i].name);
        printf(" %s\n", rows[i].args);
        roff(rows[i].summary);
        printf(".\n");
        if (rows[i].more[0]) {
            printf(".PP\n.nf\n");
            roff(rows[i].more);
            printf("\n.fi\n");
        }
        roff_flags(&rows[i]);
    }
    printf(".SH FLAGS OF ALL COMMANDS\n");
    roff_flags(NULL);
    print_surroundings();
}

int command_help(const struct args *a)
{
    if (args_has(a, "man")) {
        print_man();
        return EXIT_GOOD;
    }
    if (!args_want(a, 0, 1)) return EXIT_USAGE;
    if (a->word_n == 0) {
        print_all();
        return EXIT_GOOD;
    }
    const struct command_row *c = command_find(a->words[0]);
    if (!c) {
        fprintf(stderr, "trimtab help: there is no command '%s'; 'trimtab help' lists them\n", a->words[0]);
        return EXIT_USAGE;
    }
    print_one(c);
    return EXIT_GOOD;
}
