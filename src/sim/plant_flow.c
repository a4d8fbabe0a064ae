/* The hot path of the plant: arrivals, fetches, batches, one slice of 50 us at a time. */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "sim/plant_state.h"

static uint32_t node_take(struct plant *p)
{
    uint32_t i = p->free_node;
    if (i != PLANT_NONE) p->free_node = p->node[i].next;
    return i;
}

static void node_give(struct plant *p, uint32_t i)
{
    p->node[i].next = (uint16_t)p->free_node;
    p->free_node = i;
}

static uint32_t waiting(const struct plant *p) { return ring_count(&p->slot_wait) + ring_count(&p->queue); }

/* An open-loop request that got no (timely) answer comes again after a pause, sometimes. */
static void maybe_repeat(struct plant *p, unsigned attempt)
{
    if (attempt + 1 > (unsigned)p->env.config.retry_max) return;
    if (prng_unit(&p->request_rng) < p->env.config.retry_share) p->repeats_waiting[attempt + 1]++;
}

static void fetch_start(struct plant *p, uint32_t i, int64_t at_ns, unsigned noise)
{
    struct plant_node *n = &p->node[i];
    double took = p->env.fetch_ms * 1e6 * (double)p->tables.fetch[noise];
    if (p->env.loss > 0 && prng_unit(&p->request_rng) < p->env.loss) took += p->env.config.loss_ms * 1e6;
    int64_t ns = took < (double)PLANT_FETCH_MAX_NS ? (int64_t)took : PLANT_FETCH_MAX_NS;
    n->fetch_ns = (int32_t)ns;
    n->ready_ns = at_ns + ns;
    uint16_t *slot = &p->wheel[(uint64_t)n->ready_ns / (uint64_t)PLANT_SLICE_NS % PLANT_WHEEL];
    n->next = *slot;
    *slot = (uint16_t)i;
    p->fetching++;
}

static void fetch_start_waiting(struct plant *p, int64_t at_ns)
{
    while (p->fetching < p->slots && ring_count(&p->slot_wait) > 0)
        fetch_start(p, ring_pop(&p->slot_wait), at_ns, (unsigned)prng_u64(&p->request_rng) % LOAD_NOISE_CELLS);
}

enum { SOURCE_OPEN, SOURCE_CLOSED, SOURCE_REPEAT };

/* Intensities of the three kinds of arrivals per ns, for one slice. */
struct intensity { double open, closed, all; };

static struct intensity intensity_now(const struct plant *p)
{
    const struct plant_env *v = &p->env;
    struct intensity r = {.open = v->open_per_s * 1e-9};
    double thinking = v->closed_users - (double)p->closed_inside;
    r.closed = thinking > 0 ? thinking / v->config.think_s * 1e-9 : 0;
    double repeats = 0;
    for (unsigned a = 1; a < PLANT_ATTEMPTS; a++) repeats += (double)p->repeats_waiting[a];
    r.all = r.open + r.closed + repeats / v->config.backoff_ms * 1e-6;
    return r;
}

static unsigned take_repeat(struct plant *p)
{
    for (unsigned a = 1; a < PLANT_ATTEMPTS; a++) {
        if (p->repeats_waiting[a] == 0) continue;
        p->repeats_waiting[a]--;
        p->totals.repeats++;
        return a;
    }
    return 0;
}

static void arrive(struct plant *p, int64_t at_ns, const struct intensity *in)
{
    uint64_t bits = prng_u64(&p->request_rng);
    double kind = (double)(bits >> 40) * 0x1p-24 * in->all;
    bool closed = kind >= in->open && kind < in->open + in->closed;
    unsigned attempt = kind >= in->open + in->closed ? take_repeat(p) : 0;
    p->totals.offered++;
    uint32_t i = PLANT_NONE;
    if (p->down_until_ns == 0 && (double)waiting(p) < p->env.config.queue_cap) i = node_take(p);
    if (i == PLANT_NONE) {
        p->totals.refused++;
        if (!closed) maybe_repeat(p, attempt);
        return;
    }
    struct plant_node *n = &p->node[i];
    n->arrived_ns = at_ns;
    n->work = p->tables.work[bits % LOAD_WORK_CELLS];
    n->attempt = (uint8_t)attempt;
    n->closed = closed;
    p->closed_inside += closed;
    if (p->fetching < p->slots && ring_count(&p->slot_wait) == 0)
        fetch_start(p, i, at_ns, (unsigned)(bits >> 16) % LOAD_NOISE_CELLS);
    else
        ring_push(&p->slot_wait, i);
}

static void arrivals(struct plant *p)
{
    struct intensity in = intensity_now(p);
    double budget = in.all * (double)PLANT_SLICE_NS;
    if (p->until_arrival >= budget) {
        p->until_arrival -= budget;
        return;
    }
    double ns_per_unit = 1.0 / in.all;
    while (p->until_arrival < budget) {
        arrive(p, p->now_ns + (int64_t)(p->until_arrival * ns_per_unit), &in);
        p->until_arrival += load_exp(&p->tables, &p->arrival_rng);
    }
    p->until_arrival -= budget;
}

static void fetches_end(struct plant *p)
{
    uint16_t *slot = &p->wheel[(uint64_t)p->now_ns / (uint64_t)PLANT_SLICE_NS % PLANT_WHEEL];
    while (*slot != PLANT_NONE) {
        uint32_t i = *slot;
        struct plant_node *n = &p->node[i];
        *slot = n->next;
        p->fetching--;
        hist_record(&p->totals.fetch, n->fetch_ns);
        ring_push(&p->queue, i);
        if (ring_count(&p->slot_wait) > 0) fetch_start_waiting(p, n->ready_ns);
    }
}

void plant_flow_find_done(struct plant *p)
{
    p->next_done_ns = PLANT_NEVER;
    for (uint32_t g = 0; g < PLANT_GPUS_MAX; g++) {
        if (p->gpu[g].phase != GPU_BUSY || p->gpu[g].free_ns >= p->next_done_ns) continue;
        p->next_done_ns = p->gpu[g].free_ns;
        p->next_done = g;
    }
}

static void answer(struct plant *p, uint32_t i, const struct plant_gpu *g)
{
    struct plant_node *n = &p->node[i];
    int64_t latency = g->free_ns - n->arrived_ns;
    hist_record(&p->totals.latency, latency);
    hist_record(&p->totals.wait, g->begin_ns - n->arrived_ns - n->fetch_ns);
    p->closed_inside -= n->closed;
    if ((double)latency > p->env.config.timeout_ms * 1e6) {
        p->totals.timeouts++;
        if (!n->closed) maybe_repeat(p, n->attempt);
    }
    node_give(p, i);
}

static void batch_end(struct plant *p, struct plant_gpu *g)
{
    for (uint32_t k = 0; k < g->n; k++) answer(p, g->batch[k], g);
    hist_record(&p->totals.kernel, g->kernel_ns);
    p->totals.completed += g->n;
    p->totals.items += g->n;
    p->totals.batches++;
    p->totals.busy_ns += (uint64_t)g->kernel_ns;
    g->busy_ns += (uint64_t)g->kernel_ns;
    g->batches++;
    g->items += g->n;
    g->n = 0;
    g->phase = g->retire ? GPU_ABSENT : GPU_IDLE;
    if (!g->retire) p->idle++;
    g->retire = 0;
    plant_flow_find_done(p);
}

/* Takes from the queue what is ready at `start_ns`; returns the work taken. */
static double batch_fill(struct plant *p, struct plant_gpu *g, int64_t start_ns)
{
    uint32_t limit = (uint32_t)p->env.batch_max;
    if (p->env.batch_limit < limit) limit = p->env.batch_limit;
    double work = 0;
    while (g->n < limit && ring_count(&p->queue) > 0) {
        const struct plant_node *n = &p->node[ring_first(&p->queue)];
        if (n->ready_ns > start_ns) break;
        work += (double)n->work;
        g->batch[g->n++] = (uint16_t)ring_pop(&p->queue);
    }
    return work;
}

static double kernel_time(struct plant *p, uint32_t index, double items, double work)
{
    const struct plant_env *v = &p->env;
    double over = items > v->config.kernel_knee ? items - v->config.kernel_knee : 0;
    double ms = v->kernel_base_ms + v->kernel_item_ms * work + v->kernel_knee_ms * over * over;
    ms *= v->kernel_factor * (double)p->tables.kernel[prng_u64(&p->kernel_rng) % LOAD_NOISE_CELLS];
    return index == v->bad_instance ? ms * v->bad_factor : ms;
}

static void batch_start(struct plant *p, uint32_t index)
{
    struct plant_gpu *g = &p->gpu[index];
    int64_t ready = p->node[ring_first(&p->queue)].ready_ns;
    g->begin_ns = ready > g->free_ns ? ready : g->free_ns;
    double work = batch_fill(p, g, g->begin_ns), gap_ms = p->env.host_ms, moved_ms;
    double kernel_ms = kernel_time(p, index, g->n, work);
    moved_ms = fmax(fmin(p->env.swing * (kernel_ms + gap_ms), 0.9 * gap_ms), -0.9 * kernel_ms);
    g->kernel_ns = (int64_t)((kernel_ms + moved_ms) * 1e6);
    g->free_ns = g->begin_ns + g->kernel_ns + (int64_t)((gap_ms - moved_ms) * 1e6);
    g->phase = GPU_BUSY;
    p->idle--;
    if (g->n > p->peak_batch) p->peak_batch = g->n;
    if (g->free_ns < p->next_done_ns) {
        p->next_done_ns = g->free_ns;
        p->next_done = index;
    }
}

static uint32_t idle_gpu(const struct plant *p)
{
    uint32_t best = PLANT_GPUS_MAX;
    for (uint32_t g = 0; g < PLANT_GPUS_MAX; g++) {
        if (p->gpu[g].phase != GPU_IDLE) continue;
        if (best == PLANT_GPUS_MAX || p->gpu[g].free_ns < p->gpu[best].free_ns) best = g;
    }
    return best;
}

static void serve(struct plant *p, int64_t end_ns)
{
    for (;;) {
        if (p->idle > 0 && ring_count(&p->queue) > 0) batch_start(p, idle_gpu(p));
        else if (p->next_done_ns < end_ns) batch_end(p, &p->gpu[p->next_done]);
        else return;
    }
}

void plant_flow_slice(struct plant *p)
{
    arrivals(p);
    fetches_end(p);
    serve(p, p->now_ns + PLANT_SLICE_NS);
    p->totals.queue_slices += waiting(p);
    p->totals.slices++;
}

void plant_flow_drop(struct plant *p)
{
    for (uint32_t g = 0; g < PLANT_GPUS_MAX; g++) {
        p->totals.failed += p->gpu[g].n;
        p->gpu[g].n = 0;
    }
    p->totals.failed += waiting(p) + p->fetching;
    p->fetching = 0;
    p->closed_inside = 0;
    memset(&p->slot_wait, 0, sizeof p->slot_wait);
    memset(&p->queue, 0, sizeof p->queue);
    for (uint32_t i = 0; i < PLANT_WHEEL; i++) p->wheel[i] = PLANT_NONE;
    for (uint32_t i = 0; i < PLANT_NODES; i++) p->node[i].next = (uint16_t)(i + 1 < PLANT_NODES ? i + 1 : PLANT_NONE);
    p->free_node = 0;
}
