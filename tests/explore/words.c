/* States for people. */
#include "explore/world.h"

#include <stdio.h>

#include "base/check.h"

const char *phase_name(uint8_t ph)
{
#define X(id) #id,
    static const char *const names[] = {PHASE_TABLE(X)};
#undef X
    CHECK(ph < PH_COUNT);
    return names[ph];
}

void world_print(const struct world *w)
{
    const struct control *c = &w->live;
    printf("%-13s", state_name((enum state)c->state));
    for (unsigned k = 0; k < KNOBS; k++) {
        const struct control_slot *a = &c->knobs[k].slot;
        printf(" %c=%u%u believed %u %s%s%s%s%s", 'A' + (int)k, w->k[k].real[0], w->k[k].real[1], c->knobs[k].believed,
               story_name((enum story)a->story), a->late_open ? "+late" : "", a->unacknowledged ? "+unack" : "",
               w->k[k].foreign ? " FOREIGN" : "", w->k[k].cancelled ? " CANCELLED" : "");
    }
    printf(" n_auto %u%s%s%s%s%s%s%s%s%s\n", c->n_auto, c->halted ? " HALTED" : "", c->store_failed ? " STORE-FAILS" : "",
           c->waiting_ack ? " no-ack" : "", w->unreadable ? " UNREADABLE" : "", w->outage ? " OUTAGE" : "",
           w->silent ? " SILENT" : "", w->release ? " RELEASE" : "", w->follower ? " FOLLOWER" : "",
           w->msg[0].present ? " write-under-way" : "");
}
