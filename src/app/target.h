/* The demo's target: the simulated service in real time behind real HTTP. It knows nothing of trimtab.
 *   GET  /metrics            Prometheus text
 *   GET  /config/KNOB        {"value": 32} with an ETag
 *   PUT  /config/KNOB        the same body; If-Match is honoured: 412 when somebody wrote since
 *   GET  /truth              what users truly felt since the last call
 *   POST /world/NAME         begins the named world's faults (sim/plant_world.h); "clean" ends all */
#ifndef APP_TARGET_H
#define APP_TARGET_H

#include <stdint.h>

struct target_options {
    const char *listen;      /* HOST:PORT, port 0: any */
    const char *port_file;   /* gets the address in use; NULL: none */
    double speed;            /* nominal seconds a wall second */
    uint64_t seed;
    const char *world;       /* settings to start with: a named world without its faults */
};

int target_run(const struct target_options *o);   /* until SIGTERM; the exit code */

#endif
