/* trimtab metrics lint [--strict] FILE */
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/input.h"
#include "base/text.h"
#include "collect/expo.h"

#define SHOWN 20

static enum expo_format guess(const char *bytes, size_t len)
{
    while (len && bytes[len - 1] == '\n') len--;
    return len >= 5 && memcmp(bytes + len - 5, "# EOF", 5) == 0 ? EXPO_OPENMETRICS : EXPO_TEXT;
}

static void say(const char *path, const struct expo_fault *f)
{
    printf("%s:%u:%u: %s", path, f->line, f->col, f->reason);
    if (f->name_len) printf(" (%.*s)", (int)(f->name_len < 80 ? f->name_len : 80), f->name);
    printf("\n");
}

/* As the daemon reads: a broken line makes its own series unknown, a page over a limit is unknown as a whole. */
static int lenient(const char *path, const struct buf *text, enum expo_format format)
{
    struct expo x;
    enum expo_event event;
    size_t samples = 0, broken = 0;
    expo_open(&x, buf_text(text), text->len, format, expo_limits_default());
    while ((event = expo_next(&x)) != EXPO_END) {
        if (event == EXPO_SAMPLE) samples++;
        if (event != EXPO_BROKEN && event != EXPO_OVER_LIMIT) continue;
        if (++broken <= SHOWN) say(path, &x.fault);
        if (event == EXPO_OVER_LIMIT) {
            printf("%s: FAILED, over a limit: the whole page counts as unknown\n", path);
            return EXIT_FAIL;
        }
    }
    if (broken > SHOWN) printf("%zu more\n", broken - SHOWN);
    if (samples == 0) printf("%s: FAILED, no sample on this page\n", path);
    else if (broken) printf("%s: FAILED, %zu samples, %zu broken lines: those series are unknown\n", path, samples, broken);
    else printf("%s: SUCCESS, %zu samples\n", path, samples);
    return broken || samples == 0 ? EXIT_FAIL : EXIT_GOOD;
}

static int strict(const char *path, const struct buf *text, enum expo_format format)
{
    struct expo_fault fault = {0};
    if (expo_check(buf_text(text), text->len, format, &fault)) {
        printf("%s: SUCCESS, %s as the standard says\n", path, format == EXPO_OPENMETRICS ? "OpenMetrics" : "Prometheus text");
        return EXIT_GOOD;
    }
    say(path, &fault);
    printf("%s: FAILED\n", path);
    return EXIT_FAIL;
}

int command_metrics(const struct args *a)
{
    struct buf text = BUF_INIT;
    struct err e;
    const char *word = args_text(a, "format");
    if (!args_want(a, 2, 2)) return EXIT_USAGE;
    if (strcmp(a->words[0], "lint") != 0) {
        fprintf(stderr, "trimtab metrics: unknown word '%s'; there is: trimtab metrics lint FILE\n", a->words[0]);
        return EXIT_USAGE;
    }
    if (word && !text_eq(word, "text") && !text_eq(word, "openmetrics")) {
        fprintf(stderr, "trimtab metrics: --format is text or openmetrics, not '%s'\n", word);
        return EXIT_USAGE;
    }
    int code = EXIT_FAIL;
    if (input_read(a->words[1], (size_t)64 << 20, &text, &e) == STATUS_OK) {
        enum expo_format format = text_eq(word, "openmetrics") ? EXPO_OPENMETRICS : EXPO_TEXT;
        if (!word) format = guess(buf_text(&text), text.len);
        code = (args_has(a, "strict") ? strict : lenient)(a->words[1], &text, format);
    } else {
        fprintf(stderr, "trimtab metrics: %s\n", e.text);
    }
    buf_free(&text);
    return code;
}
