/* Inside of the room: one cause while it is being ranked. */
#ifndef LOCATE_ROW_H
#define LOCATE_ROW_H

#include "locate/locate.h"

struct locate_row {
    struct cause_result result;
    const struct cause_def *def;
    bool live;                   /* true or unknown */
    bool first;                  /* a true release cause of a release incident */
    bool demoted, promoted, measured;
    int group;                   /* of the ranking: its own, or that of the promoted one it stands behind */
    int blast;                   /* of the first candidate left */
};

/* Fills all but `group`. `e` holds age(deploy) on the side of the limit where the onset was. */
void locate_judge(const struct service_def *s, const struct evidence *e, const struct locate_context *ctx, uint16_t cause,
                  struct locate_row *ret);
/* First candidate that is not excluded; NULL: none left. Advice counts only where a cause has nothing else: beside knobs it is
 * what a person is told once they are used up. */
const struct candidate_def *locate_candidate_left(const struct cause_def *c, uint16_t cause, const struct excluded_list *l);
bool locate_is_advice(const struct cause_def *c);

#endif
