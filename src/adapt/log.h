/* Lines on stderr: logfmt or JSON, keys in the order ts, level, component, msg, then the rest. One write per line. */
#ifndef ADAPT_LOG_H
#define ADAPT_LOG_H

#include <stdbool.h>

enum log_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARN, LEVEL_ERROR };

void log_setup(enum log_level least, bool json);
bool log_level_parse(const char *word, enum log_level *ret);   /* debug info warn error */
bool log_wanted(enum log_level level);
/* `...`: pairs of (const char *key, const char *value), ended by NULL. A NULL or empty value leaves the pair out. */
void log_line(enum log_level level, const char *component, const char *msg, ...) __attribute__((sentinel));

#endif
