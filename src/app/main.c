/* trimtab: one binary, one table of commands. */
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "adapt/log.h"
#include "app/command.h"
#include "base/text.h"

static bool set_up_log(const struct args *a)
{
    enum log_level level = LEVEL_INFO;
    const char *word = args_text(a, "log.level"), *format = args_text(a, "log.format");
    if (word && !log_level_parse(word, &level)) {
        fprintf(stderr, "trimtab: --log.level is debug, info, warn or error, not '%s'\n", word);
        return false;
    }
    if (format && strcmp(format, "json") != 0 && strcmp(format, "logfmt") != 0) {
        fprintf(stderr, "trimtab: --log.format is logfmt or json, not '%s'\n", format);
        return false;
    }
    log_setup(level, text_eq(format, "json"));
    return true;
}

int main(int argc, char **argv)
{
    struct args a;
    (void)setlocale(LC_CTYPE, "");
    /* Tables that fill over weeks are zero pages until then, but only in blocks of their own. Left alone the allocator
     * moves this bound up as soon as one large block is freed, and hands out memory that it has to clear. */
    (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
    if (!command_parse(argc, argv, &a) || !set_up_log(&a)) return EXIT_USAGE;
    if (args_has(&a, "help")) {
        a.words[0] = a.command->name;
        a.word_n = 1;
        return command_help(&a);
    }
    return a.command->run(&a);
}
