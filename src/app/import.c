/* trimtab import SERVICE FILE.csv: history for the baselines, in pieces that the API takes. */
#include <stdio.h>
#include <string.h>

#include "app/import.h"
#include "app/input.h"
#include "app/output.h"
#include "app/verb.h"
#include "base/text.h"

#define PIECE_BYTES ((size_t)900 << 10)

struct file { const char *p, *end, *head; size_t head_len; };

static const char *line_end(const char *p, const char *end)
{
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    return stop ? stop + 1 : end;
}

/* The next piece with the line of names in front; false at the end. */
static bool next_piece(struct file *f, struct buf *piece)
{
    buf_clear(piece);
    if (f->p >= f->end) return false;
    buf_add(piece, f->head, f->head_len);
    while (f->p < f->end && piece->len < PIECE_BYTES) {
        const char *stop = line_end(f->p, f->end);
        buf_add(piece, f->p, (size_t)(stop - f->p));
        f->p = stop;
    }
    return true;
}

static int send_all(const struct args *a, const struct client *c, struct file *f, enum output o)
{
    struct buf piece = BUF_INIT;
    int code = EXIT_GOOD;
    unsigned pieces = 0;
    while (code == EXIT_GOOD && next_piece(f, &piece)) {
        struct answer answer;
        struct buf path = BUF_INIT;
        bool last = f->p >= f->end;
        pieces++;
        buf_puts(&path, "/api/v1/import?service=");
        client_segment(&path, a->words[0]);
        buf_printf(&path, "&last=%s&by=", last ? "true" : "false");
        client_segment(&path, verb_user(a));
        code = client_post(c, buf_text(&path), "text/csv", buf_text(&piece), piece.len, &answer);
        if (code == EXIT_GOOD && last && !output_value(o, answer.data)) {
            const char *done = text_of(answer.data, "done");
            if (pieces > 1) printf("%s: in %u pieces, the last: %s\n", a->words[0], pieces, done);
            else printf("%s: %s\n", a->words[0], done);
            printf("See what is warm now: trimtab status %s\n", a->words[0]);
        }
        answer_free(&answer);
        buf_free(&path);
    }
    buf_free(&piece);
    return code;
}

static bool since_of(const struct args *a, struct span *ret)
{
    const char *text = args_text(a, "since");
    *ret = SPAN_DAY(14);
    if (!text) return true;
    unsigned len = (unsigned)strlen(text);
    if (len && span_parse(text, len, ret) == len) return true;
    fprintf(stderr, "trimtab import: --since: a span, as 7d\n");
    return false;
}

/* The rows to send, from the file or the server. */
static int gather(const struct args *a, const struct client *c, const char *url, struct buf *text)
{
    struct import_from from = {.service = a->words[0], .url = url, .bearer_file = args_text(a, "bearer-file")};
    struct err e = {0};
    struct answer answer;
    if (!url) {
        enum status s = input_read(a->words[1], (size_t)1 << 30, text, &e);
        if (s == STATUS_OK && text->len) return EXIT_GOOD;
        fprintf(stderr, "trimtab import: %s\n", s != STATUS_OK ? e.text : "the file is empty");
        return EXIT_FAIL;
    }
    if (!since_of(a, &from.back)) return EXIT_USAGE;
    if (args_has(a, "signal")) {
        fprintf(stderr, "trimtab import: --signal names the column of a file; a server is asked for all signals\n");
        return EXIT_USAGE;
    }
    int code = client_get(c, "/api/v1/config", &answer);
    if (code == EXIT_GOOD && import_from_prometheus(answer.data, &from, text, &e) != STATUS_OK) {
        fprintf(stderr, "trimtab import: %s\n", e.text);
        code = EXIT_FAIL;
    }
    answer_free(&answer);
    return code;
}

int command_import(const struct args *a)
{
    struct client c;
    struct buf text = BUF_INIT, head = BUF_INIT;
    enum output o;
    const char *signal = args_text(a, "signal"), *url = args_text(a, "prometheus");
    if (!args_want(a, url ? 1 : 2, url ? 1 : 2) || !output_of(a, &o) || !client_open(&c, a)) return EXIT_USAGE;
    int code = gather(a, &c, url, &text);
    if (code != EXIT_GOOD) {
        buf_free(&text);
        return code;
    }
    struct file f = {.end = text.data + text.len, .head = text.data};
    f.p = line_end(text.data, f.end);
    f.head_len = (size_t)(f.p - text.data);
    if (signal) {
        buf_printf(&head, "timestamp,%s\n", signal);
        f.head = buf_text(&head);
        f.head_len = head.len;
    }
    code = EXIT_FAIL;
    if (f.p < f.end) code = send_all(a, &c, &f, o);
    else fprintf(stderr, "trimtab import: %s has a line of names and no row\n", url ? url : a->words[1]);
    buf_free(&head);
    buf_free(&text);
    return code;
}
