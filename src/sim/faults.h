/* Which faults a swarm run has, when and how: drawn from its seed, swarm style (each run has only some kinds, and those
 * often). Most of them wait for a record in the log, so that they fall into the seconds that matter. Every item has its own
 * stream of chance: leaving one out moves no other, and so a failing run can be made shorter. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/prng.h"
#include "base/time.h"
#include "model/record.h"

enum faults_group { FAULTS_METRICS, FAULTS_WRITE, FAULTS_READ, FAULTS_HAND, FAULTS_STORE, FAULTS_DISK, FAULTS_PROCESS, FAULTS_CLOCK,
                    FAULTS_PEOPLE, FAULTS_CONFIG, FAULTS_PLANT };

enum faults_kind {
#define F(name, ...) FAULTS_##name,
#include "sim/faults.def"
#undef F
    FAULTS_KINDS
};
/* FAULTS_METRICS .. are groups, FAULTS_METRICS_MISSING .. kinds. */

#define FAULTS_MAX 160

struct faults_item {
    uint16_t kind;
    bool left_out;               /* by --only or the shrinker */
    bool on_record;              /* waits for the nth durable record of that kind after `at` */
    enum record_kind record;
    uint8_t nth;
    struct instant at;           /* true time */
    struct span delay, len;
    uint8_t service;             /* of a fleet; everywhere: all of them, or what they share */
    bool everywhere;
    double size;                 /* 0..1, meaning by kind */
    struct prng chance;
    /* while running */
    uint8_t seen;
    uint32_t bites;              /* how often it made a difference */
    bool armed;                  /* `from` is known */
    struct instant from, until;
};

struct faults { struct faults_item items[FAULTS_MAX]; unsigned n; };

const char *faults_word(enum faults_kind k);
const char *faults_meaning(enum faults_kind k);
enum faults_group faults_group(enum faults_kind k);
bool faults_lasts(enum faults_kind k);

/* All within [0, active). */
void faults_draw(struct faults *f, uint64_t seed, struct span active, unsigned services);
/* The first item of the kind that is in force now for this service; NULL: none. Asked when it matters: it is a bite. */
struct faults_item *faults_now(struct faults *f, enum faults_kind k, uint16_t service, struct instant now);
bool faults_meets(const struct faults_item *i, uint16_t service);
/* "3 kill after 2nd INTENT + 5 ms": one line of a listing. */
void faults_print(const struct faults_item *i, unsigned index, struct buf *out);

#endif
