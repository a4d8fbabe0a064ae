/* Presets: what is known of servers, as data (presets/NAME.yaml). They are part of the binary; a folder of presets comes
 * before it, file by file. */
#ifndef CONFIG_PRESET_H
#define CONFIG_PRESET_H

#include "config/diag.h"
#include "model/enums.h"

struct preset_signal {
    const char *name, *note, *query;     /* note: "" none */
    enum layer layer;
    enum unit unit;
    bool optional;
};
struct preset_knob { const char *name, *class, *apply, *note; };
struct preset_texts { const char *const *items; uint32_t n; };

struct preset_info {
    const char *name, *path;             /* path: where it came from */
    const char *title, *measured, *page, *control;
    struct preset_texts has, lacks, variants, gaps;
    const struct preset_signal *signals; uint32_t signal_count;
    const struct preset_knob *knobs; uint32_t knob_count;
};

/* Names of the presets in the binary, in order; NULL behind the last. */
const char *config_preset_name(uint32_t i);
/* Its bytes, NULL: there is none of this name. */
const char *config_preset_bytes(const char *name, size_t *ret_len);
/* Reads DIR/NAME.yaml (dir may be NULL), else the one in the binary, into `a`. false: there is none, or it is wrong; then
 * `d` says why. */
bool config_preset_read(struct arena *a, const char *dir, const char *name, struct preset_info *ret,
                        struct config_diagnostics *d);

#endif
