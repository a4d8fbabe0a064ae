/* Inside of the room: one pass over the bytes, and what ended it. */
#ifndef CONFIG_TREE_INSIDE_H
#define CONFIG_TREE_INSIDE_H

#include "config/tree.h"

struct config_fault {
    size_t at;                       /* where the text stops being YAML */
    bool may_mend;                   /* a fault of the grammar; false: none, or one that no missing line would mend */
    const char *hint;
    char text[200];
};

/* `bytes` are the source's, or a copy of them of the same length. */
const struct config_node *config_tree_once(struct arena *a, struct config_source *source, const char *bytes,
                                           struct config_diagnostics *d, struct config_fault *ret);

#endif
