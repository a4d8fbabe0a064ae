/* The simulated service's /metrics page: Prometheus text 0.0.4 as a real server writes it. README.md of this room lists the
 * PromQL of each signal. */
#ifndef SIM_PAGE_H
#define SIM_PAGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/time.h"
#include "sim/plant.h"

/* Appends the page as it stands now. `origin` is the wall time of plant time 0. false, nothing appended: the service is
 * down and the connection would be refused. */
bool page_write(const struct plant *p, struct wall origin, struct buf *out);

#endif
