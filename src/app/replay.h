/* trimtab replay: where recorded history comes from, and how a replay is told. */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include "app/command.h"
#include "sim/replay.h"

#define REPLAY_NOTES 32

/* Filled by the reader of the source. */
struct replay_input {
    struct replay *replay;
    uint16_t only;                       /* NO_INDEX: all services of the policy */
    const char *from;                    /* --from */
    const char *bearer_file;             /* for a server; NULL: none */
    char kind[16];                       /* csv, folder, data, prometheus */
    bool has_since, has_until;
    struct wall since, until;            /* what was asked for; where only a span was, see since_back */
    struct span since_back;              /* --since 7d: so long before the end; 0: a time, or nothing */
    struct span history;                 /* this much before the start is read, to begin warm */
    char notes[REPLAY_NOTES][200];       /* what was left out, for people */
    unsigned note_n;
};

void replay_note(struct replay_input *in, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Which service a file or series of this name is for; NO_INDEX: of none that is replayed. */
uint16_t replay_service_of(const struct replay_input *in, const char *name);
/* First and last instant to be read, as far as they are asked for: INT64_MIN, INT64_MAX where not. */
void replay_wanted(const struct replay_input *in, int64_t *ret_from, int64_t *ret_to);

/* One CSV file of one service: signals, knobs, and `release` or `model_version`. */
enum status replay_read_csv(struct replay_input *in, const char *path, uint16_t service, struct err *e);
/* A folder of CSV files, each with the name of its service; or a data folder of the daemon. */
enum status replay_read_folder(struct replay_input *in, struct err *e);
/* A server that understands the HTTP API of Prometheus. */
enum status replay_read_prometheus(struct replay_input *in, struct err *e);

void replay_say(struct buf *out, const struct replay_input *in);
void replay_json(struct buf *out, const struct replay_input *in);

#endif
