/* Beyond a fault of the grammar: the line that holds it is taken out, with what is indented below it, and the rest is read as if
 * it had never been there. Only if all of the rest is YAML then; a guess that leads to further guesses says nothing true. */
#include <stdlib.h>
#include <string.h>

#include "config/tree_inside.h"

#define MENDS_MAX 5

struct mend {
    struct config_source *source;
    char *bytes;
    struct config_fault faults[MENDS_MAX];
    unsigned n;
};

/* Blanks before the first letter of the line; a list's dash counts as one. SIZE_MAX: nothing but blanks. */
static size_t indent_of(const char *line, const char *end)
{
    const char *p = line;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    return p == end || *p == '\n' || *p == '\r' ? SIZE_MAX : (size_t)(p - line);
}

static char *blank_line(char *line, char *end)
{
    for (; line < end && *line != '\n'; line++)
        if (*line != '\r') *line = ' ';
    return line < end ? line + 1 : end;
}

/* As many blanks as there were bytes: all places stay what they are. */
static void blank_out(struct mend *m, size_t at)
{
    char *end = m->bytes + m->source->len, *line = m->bytes + at;
    while (line > m->bytes && line[-1] != '\n') line--;
    size_t indent = indent_of(line, end);
    if (indent != SIZE_MAX && memchr(line, '\t', indent)) indent = SIZE_MAX;   /* a tab: what is below it is anybody's guess */
    line = blank_line(line, end);
    while (line < end && indent != SIZE_MAX && indent_of(line, end) > indent) line = blank_line(line, end);
}

/* Takes lines out until the rest is YAML. */
static bool is_mended(struct mend *m)
{
    while (m->n <= MENDS_MAX) {
        struct config_diagnostics unused = CONFIG_DIAGNOSTICS_INIT;
        struct arena a = ARENA_INIT;
        struct config_fault fault;
        config_tree_once(&a, m->source, m->bytes, &unused, &fault);
        arena_free(&a);
        config_diagnostics_free(&unused);
        if (!fault.text[0]) return true;
        if (!fault.may_mend || m->n == MENDS_MAX) return false;
        m->faults[m->n++] = fault;
        blank_out(m, fault.at);
    }
    return false;
}

static const struct config_node *read_rest(struct arena *a, struct mend *m, struct config_diagnostics *d)
{
    struct config_fault none;
    m->source->cut_line = 0;
    for (unsigned i = 1; i < m->n; i++)   /* the first was reported by the first pass */
        config_report(d, CONFIG_ERROR, m->source, m->faults[i].at, 1, m->faults[i].hint, "%s", m->faults[i].text);
    return config_tree_once(a, m->source, m->bytes, d, &none);
}

const struct config_node *config_tree_parse(struct arena *a, struct config_source *source, struct config_diagnostics *d)
{
    if (source->len > CONFIG_BYTES_MAX) {
        config_report(d, CONFIG_ERROR, source, 0, 1, "share settings by `profiles`, or split the services over several daemons",
                      "the file is larger than 4 MiB");
        source->cut = true;
        return NULL;
    }
    struct mend m = {.source = source};
    const struct config_node *root = config_tree_once(a, source, source->bytes, d, &m.faults[0]);
    if (!m.faults[0].may_mend) return root;
    unsigned cut_line = source->cut_line;
    m.bytes = malloc(source->len + 1);
    if (m.bytes) {
        memcpy(m.bytes, source->bytes, source->len);
        m.n = 1;
        blank_out(&m, m.faults[0].at);
        if (is_mended(&m)) root = read_rest(a, &m, d);
        else source->cut_line = cut_line;
    }
    free(m.bytes);
    return root;
}
