/* The fluid form of plant.h, for days and months: the same parameters, faults and knobs; flows instead of requests, one step a
 * second. Waiting and batches at rest come from a table measured with the request-by-request plant (fluid_table.h); what piles up
 * beyond it is a random path with the noise of the flow, reflected at 0 (loop.md's diffusion term) and at the queue's cap.
 * What it does not know: order of requests, sizes of single batches, anything shorter than a second. */
#ifndef SIM_FLUID_H
#define SIM_FLUID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "sim/plant.h"

struct fluid;

/* NULL and *e on a bad configuration or lack of memory. */
struct fluid *fluid_new(const struct plant_config *c, uint64_t seed, struct err *e);
struct fluid *fluid_clone(const struct fluid *f);
void fluid_free(struct fluid *f);  /* takes NULL */
void fluid_reseed(struct fluid *f, const char *purpose);
enum status fluid_fault_add(struct fluid *f, const struct plant_fault *fault, struct err *e);
void fluid_faults_lift(struct fluid *f);
/* Plant time 0 lies `us` after a Monday 00:00 of its users; negative for a past that ends at the start of another world. */
void fluid_calendar(struct fluid *f, int64_t us);
/* Steps of `step_us` (10 s to a minute) instead of a second, for years of a healthy service; call it before the first step. The
 * load's wobble counts with its mean over a step, and what piles up and goes within one is not seen. */
void fluid_coarse(struct fluid *f, int64_t step_us);
/* Runs whole steps until `until_us`: seconds, unless coarse. */
void fluid_advance(struct fluid *f, int64_t until_us);
int64_t fluid_now_us(const struct fluid *f);
enum status fluid_knob_get(const struct fluid *f, const char *knob, struct buf *out, struct err *e);
enum status fluid_knob_set(struct fluid *f, const char *knob, const char *text, size_t len, double *ret_in_force,
                           struct err *e);
uint64_t fluid_knob_version(const struct fluid *f);
void fluid_restart(struct fluid *f);
bool fluid_up(const struct fluid *f);
const char *fluid_version(const struct fluid *f);
uint64_t fluid_restarts(const struct fluid *f);   /* since creation: by fault, memory or hand */
int64_t fluid_process_start_us(const struct fluid *f);
/* What happened since the last call, as plant_window_take; p50 and p99 carry the noise of their number of requests. */
void fluid_window_take(struct fluid *f, struct plant_window *ret);
uint64_t fluid_digest(const struct fluid *f);

#endif
