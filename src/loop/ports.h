/* The shell's side: small structs of functions that turn effects into I/O. Filled by adapt; the simulator and the
 * tests take the effects themselves. None of them decides anything. */
#ifndef LOOP_PORTS_H
#define LOOP_PORTS_H

#include "loop/event.h"
#include "model/view.h"

/* Answers come as events through `deliver`, in the shell's one loop thread. The event's memory is the port's and
 * dies when deliver returns. */
struct port_sink {
    void *ctx;
    void (*deliver)(void *ctx, struct event *e);   /* the port fills kind, service, u; the shell fills now, wall */
};

struct source_port { void *ctx; void (*poll)(void *ctx, const struct policy *p, uint16_t service, uint16_t target); };

struct writer_port {
    void *ctx;
    void (*read)(void *ctx, const struct policy *p, uint16_t service, uint16_t knob);
    /* `may_send` is asked right before the bytes go out, with the effect's epoch; false: ANSWER_NOT_SENT. */
    void (*write)(void *ctx, const struct policy *p, uint16_t service, const struct effect *write,
                  bool (*may_send)(void *halt_ctx, uint16_t service, uint32_t epoch, bool is_undo), void *halt_ctx);
};

struct notify_port { void *ctx; void (*notify)(void *ctx, const struct policy *p, const struct effect *notice); };

/* What the API may ask and do. */
struct control_port {
    void *ctx;
    const struct policy *(*policy)(void *ctx);
    void (*view)(void *ctx, uint16_t service, struct arena *a, struct service_view *ret);
    void (*windows)(void *ctx, struct arena *a, struct window_view **ret, uint32_t *ret_n);
    /* Reply arrives later through `done`, in the loop thread. */
    void (*command)(void *ctx, uint16_t service, const struct command *c,
                    void (*done)(void *done_ctx, enum status s, const char *text, const char *detail), void *done_ctx);
};

#endif
