/* What is wrong in a configuration, where, and what to do: collected, not printed, so that one run shows all of it. */
#ifndef CONFIG_DIAG_H
#define CONFIG_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"

#define CONFIG_DIAGNOSTICS_MAX 500   /* more are counted, not kept */

/* One text that positions refer to: the file, or a preset. Lives as long as the diagnostics that own it. */
struct config_source {
    const char *path;
    const char *bytes;
    size_t len;
    const size_t *lines;             /* offset of the first byte of each line */
    size_t line_count;
    bool cut;                        /* not all of it is YAML: what is missing may have stood there */
    unsigned cut_line;               /* nothing more is said about this line; 0: none */
};

enum config_severity { CONFIG_ERROR, CONFIG_WARNING, CONFIG_NOTE };

struct config_diagnostic {
    enum config_severity severity;
    const struct config_source *source;
    struct text_pos pos;             /* in source, both from 1; col counts bytes */
    size_t offset, length;           /* bytes to underline */
    const char *text;                /* "unknown key 'signls'" */
    const char *hint;                /* "did you mean 'signals'?"; "" none */
    size_t secret;                   /* the line is shown only up to this offset; 0: whole */
};

struct config_diagnostics {
    struct arena arena;              /* owns texts, hints and sources */
    struct config_diagnostic *items;
    size_t n;
    size_t errors, warnings, notes;  /* all that were reported, kept or not */
    uint32_t *seen;                  /* set of what is there: the same sentence about the same place counts once */
};

#define CONFIG_DIAGNOSTICS_INIT ((struct config_diagnostics){0})

void config_diagnostics_free(struct config_diagnostics *d);   /* takes NULL */
/* Keeps a copy of path and bytes. NULL: out of memory. */
struct config_source *config_source_add(struct config_diagnostics *d, const char *path, const char *bytes, size_t len);
struct text_pos config_source_pos(const struct config_source *s, size_t offset);

/* hint may be NULL. Reports beyond CONFIG_DIAGNOSTICS_MAX are only counted. */
void config_report(struct config_diagnostics *d, enum config_severity severity, const struct config_source *source,
                   size_t offset, size_t length, const char *hint, const char *fmt, ...) PRINTF_LIKE(7, 8);
/* An error about a secret: what stands from `secret` on in the line is not shown. */
void config_report_secret(struct config_diagnostics *d, const struct config_source *source, size_t offset, size_t length,
                          size_t secret, const char *hint, const char *text);
/* Room for more? Callers spare themselves the search for a hint when nobody will read it. */
bool config_diagnostics_full(const struct config_diagnostics *d);

/* By file, then place; of one place errors first. */
void config_diagnostics_sort(struct config_diagnostics *d);
/* Each as `file:line:col: error: message`, the line, a caret, the hint. Notes only when asked for. */
void config_print_diagnostics(struct buf *out, const struct config_diagnostics *d, bool with_notes);

#endif
