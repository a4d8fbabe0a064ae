/* Inside of the room: small helpers for reading nodes, and for saying what is wrong with them. */
#ifndef CONFIG_READ_H
#define CONFIG_READ_H

#include "config/schema.h"

/* Report about a whole node. hint may be NULL. */
void config_wrong(struct config_diagnostics *d, const struct config_node *at, const char *hint, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
void config_warn(struct config_diagnostics *d, const struct config_node *at, const char *hint, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* Report about `length` bytes from byte `from` on of a scalar's text. */
void config_wrong_in(struct config_diagnostics *d, const struct config_node *at, size_t from, size_t length, const char *hint,
                     const char *fmt, ...) PRINTF_LIKE(6, 7);

/* "did you mean 'x'?" for the nearest of n words, or `otherwise` (may be NULL); in `out`. */
const char *config_nearest(char *out, size_t cap, const char *word, const char *const *words, size_t n,
                           const char *otherwise);

/* A list's items; a scalar is a list of itself. */
uint32_t config_items(const struct config_node *node);
const struct config_node *config_item(const struct config_node *node, uint32_t i);

/* A number and, behind it, a unit. Reports with `what` in front. */
bool config_quantity(struct config_diagnostics *d, const struct config_node *node, const char *what, const char *text,
                     size_t len, struct config_value *ret);

/* Does a name or a text look like it holds a secret? */
bool config_secret_word(const char *name);
bool config_secret_query(const char *url);

/* The parsers of config_read_scalar that are longer than a few lines. NULL: fine; else what is wrong (static text). */
const char *config_check_url(const char *text, size_t len);
bool config_is_loopback(const char *address);
const char *config_check_address(const char *text, size_t len);
const char *config_check_pointer(const char *text, size_t len);
const char *config_check_origin(const char *text, size_t len);
bool config_parse_offset(const char *text, size_t len, int *ret_s);
bool config_parse_clock(const char *text, size_t len, int *ret_min);
/* "mon" or "mon-fri" as bits, bit 0 Monday; 0: not a day. */
int config_parse_days(const char *text);

#endif
