/* Inside of the demo: a target process, the real daemon on a fast clock, four acts, each judged by the target's own read-back. */
#ifndef APP_DEMO_H
#define APP_DEMO_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/time.h"

#define DEMO_ACTS 4

struct demo_act {
    const char *name, *expected;
    char observed[240], knob[32], verdict[24];
    double before, after;            /* what the target itself holds of the knob */
    bool ok;
};

struct demo {
    bool json, keep;
    double speed;
    uint64_t seed;
    char folder[200], target[80], daemon[80], token[100];
    pid_t target_pid, daemon_pid;
    uint64_t next_record;            /* of the audit, to be told next */
    struct demo_act acts[DEMO_ACTS];
    unsigned act_n;
    int64_t started_us, daemon_started_us;   /* monotonic; wall */
    struct demo_audit { uint64_t size; char root[80], path[260]; bool verified; char why[400]; } audit;
};

/* demo_process.c */
bool demo_folder(struct demo *d);          /* a new one, or the one asked for; must not exist */
bool demo_start(struct demo *d);                     /* folder, target, configuration, daemon; says what it does */
void demo_stop(struct demo *d);                      /* ends both; keeps the folder */
bool demo_import(struct demo *d);                    /* a healthy past, so that the loop starts warm */
bool demo_alive(struct demo *d);                     /* both processes still run */
void demo_pause(unsigned ms);

/* demo_http.c: one request, waited for. The answer as JSON (caller frees), NULL with a sentence in `why` */
json_t *demo_get(const char *address, const char *path, char why[200]);
json_t *demo_send(const struct demo *d, const char *address, const char *method, const char *path, const char *type,
                  const char *body, size_t len, char why[200]);
bool demo_text(const char *address, const char *path, struct buf *out);   /* appends a text answer */
double demo_knob(const struct demo *d, const char *knob);           /* NaN when it cannot be read */

/* demo_story.c */
void demo_say(const struct demo *d, const char *fmt, ...) PRINTF_LIKE(2, 3);   /* to stdout; stderr with --json */
void demo_tell_new(struct demo *d);                  /* records that came since, one line each */
bool demo_seen(const struct demo *d, uint64_t from, const char *kind, const char *field, const char *value, json_t **ret);
uint64_t demo_log_size(const struct demo *d);
void demo_print_json(const struct demo *d);

/* demo_keep.c */
bool demo_verify_live(struct demo *d);               /* asks the daemon, since its log is open; fills d->audit */
void demo_keep_up(struct demo *d);                   /* says where the console is; returns on SIGINT, SIGTERM or a dead process */

/* demo_acts.c */
bool demo_play(struct demo *d);

#endif
