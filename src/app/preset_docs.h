/* The generated part of docs/presets.md: what each preset holds, from the data files themselves. */
#ifndef APP_PRESET_DOCS_H
#define APP_PRESET_DOCS_H

#include "base/buf.h"

#define PRESET_DOCS_BEGIN "<!-- Below this line: written from presets/*.yaml. Change those, not this. -->\n"

/* false: a preset cannot be read; `out` says which. */
bool preset_print_docs(struct buf *out);

#endif
