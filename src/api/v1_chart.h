/* Columns of points, for v1_chart.c and v1_compare.c. */
#ifndef API_V1_CHART_H
#define API_V1_CHART_H

#include "api/v1_inside.h"

struct v1_range { struct wall from; int64_t step_us, n; };
struct v1_column { struct wall from; int64_t step_us, n; double *mean, *min, *max; };   /* NaN: not known */

/* n steps of step_us from `from` on; min and max only with `bounds`. */
enum status v1_column_read(const struct v1_port *port, const char *service, const char *signal, struct wall from, int64_t step_us,
                           int64_t n, bool bounds, struct v1_column *ret, struct err *e);
void v1_column_free(struct v1_column *c);
void v1_numbers(struct emit *e, const char *key, const double *x, int64_t n);

/* The facts of one action that its windows follow from. */
struct v1_window {
    char service[POLICY_NAME_MAX + 1], action[100], knob[POLICY_NAME_MAX + 1], from[64], to[64];
    struct wall intent, applied, end;        /* end: of what was judged; WALL_NONE while it runs */
    struct span settle, window;
};
/* false: answered. */
bool v1_window_of(struct api *api, struct http_request *r, const char *action, struct v1_window *ret);

#endif
