/* Inside of the control step: shared by its files only. */
#ifndef LOOP_CONTROL_STEP_H
#define LOOP_CONTROL_STEP_H

#include "loop/control.h"

#define IN(s) (1u << STATE_##s)
#define ON(e) (1u << CE_##e)
#define IN_ANY ((1u << STATE_COUNT) - 1)
#define IN_IDLE (IN(WATCHING) | IN(SUSPECT) | IN(OPEN) | IN(PERSON) | IN(AWAITING))
#define IN_FLIGHT                                                                                        \
    (IN(INTENT) | IN(WRITING) | IN(READBACK) | IN(SETTLING) | IN(OBSERVING) | IN(UNDO_INTENT) |          \
     IN(UNDO_WRITING) | IN(UNDO_READBACK))
#define IN_UNDO (IN(UNDO_INTENT) | IN(UNDO_WRITING) | IN(UNDO_READBACK))
#define ON_TIME (ON(TICK) | ON(POLL))

/* One call of control_step. */
struct step {
    const struct control_policy *p;
    struct control *c;
    const struct control_event *e;
    struct control_output *o;
};

typedef bool control_guard(const struct step *s);
typedef void control_act(struct step *s);

/* control_read.c */
bool read_is_uniform(const struct control_read *r);
uint16_t read_value(const struct control_read *r);              /* the one value, 0 when mixed or unreadable */
bool read_has(const struct control_read *r, uint16_t value);
enum read_class class_of(const struct step *s, unsigned knob);  /* NONE also when the event carries no read */
bool has_read(const struct step *s, unsigned knob);             /* this event carries a read of it, readable or not */
bool reads_none(const struct step *s, unsigned knob);           /* it was read now, and it cannot be read */
bool differs(const struct step *s, unsigned knob);              /* read is not what we believe: somebody else wrote */
int other_knob_changed(const struct step *s);                   /* index, -1: none */
bool late_hit(const struct step *s, unsigned knob);
int any_late_hit(const struct step *s);
void close_late_watches(struct step *s);
/* RECOVERING: a watch that a restart has reopened after its time may have been over, so that a hit may be a person's write. */
void doubt_reopened_watches(struct step *s);
void adopt_first_reads(struct step *s);

/* control_emit.c */
struct control_slot *slot_of(struct step *s);                   /* of the active knob */
struct control_record *emit(struct step *s, enum record_kind kind, unsigned knob);
void emit_done(struct step *s);                                 /* after the fields are set: folds the newest record */
void go(struct step *s, enum state next);
void go_idle_or(struct step *s, enum state next);               /* HALTED when halted, else next */
void send_write(struct step *s, bool is_undo);
void refuse(struct step *s, enum reason why, const char *sentence);
void done(struct step *s);
void emit_plain(struct step *s, enum record_kind kind, unsigned knob);
void halt_service(struct step *s);          /* HALT by the loop itself: H(service) */
void yield(struct step *s, unsigned knob);
void hold(struct step *s, bool release);                        /* VERDICT inconclusive + HELD in one record */
void external(struct step *s, unsigned knob);
void verdict(struct step *s, enum verdict v, bool undo, bool fail);

#define ROW(num, text, states, events, guard, act, ...) control_guard guard_##num; control_act act_##num;
#include "loop/control_table.def"
#undef ROW

#endif
