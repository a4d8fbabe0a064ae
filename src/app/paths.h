/* Where the program finds what was installed with it. */
#ifndef APP_PATHS_H
#define APP_PATHS_H

#include <stddef.h>

/* The folder of presets: $TRIMTAB_PRESETS, else beside the program (../share/trimtab/presets, ../presets). NULL: none. */
const char *paths_presets(char *out, size_t cap);
/* The folder that holds the running program. NULL: unknown. */
const char *paths_program(char *out, size_t cap);

#endif
