#include "sim/page.h"

#include "base/check.h"
#include "sim/plant_state.h"

#define MS(n) ((int64_t)((n) * 4) * HIST_FINE_NS)  /* bounds lie on the fine cells: a quarter of a millisecond */

static const int64_t latency_bounds[] = {
    MS(5),   MS(10),  MS(15),  MS(20),  MS(22),  MS(24),  MS(26),  MS(28),  MS(30),   MS(31),   MS(32),   MS(33),
    MS(34),  MS(35),  MS(36),  MS(37),  MS(38),  MS(39),  MS(40),  MS(41),  MS(42),   MS(43),   MS(44),   MS(45),
    MS(46),  MS(47),  MS(48),  MS(50),  MS(52),  MS(54),  MS(56),  MS(58),  MS(60),   MS(65),   MS(70),   MS(75),
    MS(80),  MS(85),  MS(90),  MS(95),  MS(100), MS(110), MS(120), MS(130), MS(140),  MS(150),  MS(175),  MS(200),
    MS(250), MS(300), MS(400), MS(500), MS(750), MS(1000), MS(2500), MS(5000), MS(10000)};
static const int64_t fetch_bounds[] = {
    MS(0.5), MS(1),  MS(2),  MS(3),  MS(4),  MS(5),  MS(6),  MS(7),  MS(8),  MS(9),   MS(10),  MS(12), MS(14),
    MS(16),  MS(18), MS(20), MS(22), MS(25), MS(30), MS(40), MS(50), MS(75), MS(100), MS(200), MS(400)};
static const int64_t kernel_bounds[] = {
    MS(2),  MS(4),  MS(6),  MS(8),  MS(9),  MS(10), MS(11), MS(12), MS(13), MS(14),  MS(15),  MS(16), MS(17),
    MS(18), MS(20), MS(22), MS(25), MS(30), MS(40), MS(50), MS(75), MS(100), MS(250), MS(500), MS(1000)};
static const int64_t wait_bounds[] = {
    MS(1),  MS(2),  MS(3),  MS(4),  MS(5),  MS(6),   MS(8),   MS(10),  MS(12),  MS(15),  MS(20),   MS(25),
    MS(30), MS(40), MS(50), MS(60), MS(75), MS(100), MS(150), MS(200), MS(300), MS(500), MS(1000), MS(2500)};

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void sample(struct buf *out, const char *name, double value)
{
    buf_printf(out, "%s ", name);
    buf_double(out, value);
    buf_putc(out, '\n');
}

static void counter(struct buf *out, const char *name, const char *help, double value)
{
    head(out, name, "counter", help);
    sample(out, name, value);
}

static void gauge(struct buf *out, const char *name, const char *help, double value)
{
    head(out, name, "gauge", help);
    sample(out, name, value);
}

struct hist_row {
    const char *name, *help;
    const int64_t *bounds;
    size_t n;
    const struct plant_hist *now, *was;
};

static void histogram(struct buf *out, const struct hist_row *r)
{
    uint64_t below = 0;
    unsigned cell = 0;
    head(out, r->name, "histogram", r->help);
    for (size_t i = 0; i < r->n; i++) {
        for (unsigned end = hist_cells_below(r->bounds[i]); cell < end; cell++)
            below += r->now->cell[cell] - r->was->cell[cell];
        buf_printf(out, "%s_bucket{le=\"", r->name);
        buf_double(out, (double)r->bounds[i] / 1e9);
        buf_puts(out, "\"} ");
        buf_u64(out, below);
        buf_putc(out, '\n');
    }
    uint64_t count = r->now->count - r->was->count;
    buf_printf(out, "%s_bucket{le=\"+Inf\"} ", r->name);
    buf_u64(out, count);
    buf_printf(out, "\n%s_sum ", r->name);
    buf_double(out, (double)(r->now->sum_ns - r->was->sum_ns) / 1e9);
    buf_printf(out, "\n%s_count ", r->name);
    buf_u64(out, count);
    buf_putc(out, '\n');
}

static void histograms(const struct plant *p, struct buf *out)
{
    const struct plant_totals *t = &p->totals, *b = &p->page_base;
    const struct hist_row rows[] = {
        {"inference_request_duration_seconds", "Time from arrival to answer.", latency_bounds, ARRAY_LEN(latency_bounds),
         &t->latency, &b->latency},
        {"inference_feature_fetch_seconds", "Time to get the features of a request.", fetch_bounds,
         ARRAY_LEN(fetch_bounds), &t->fetch, &b->fetch},
        {"inference_kernel_seconds", "Compute time of a batch on its GPU.", kernel_bounds, ARRAY_LEN(kernel_bounds),
         &t->kernel, &b->kernel},
        {"inference_queue_wait_seconds", "Time a request waited, for a fetch slot and for its batch.", wait_bounds,
         ARRAY_LEN(wait_bounds), &t->wait, &b->wait},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) histogram(out, &rows[i]);
}

static void requests(const struct plant *p, struct buf *out)
{
    const struct plant_totals *t = &p->totals, *b = &p->page_base;
    counter(out, "inference_requests_total", "Requests that arrived.", (double)(t->offered - b->offered));
    head(out, "inference_request_errors_total", "counter", "Requests answered with an error, by reason.");
    sample(out, "inference_request_errors_total{reason=\"queue_full\"}", (double)(t->refused - b->refused));
    sample(out, "inference_request_errors_total{reason=\"internal\"}", (double)(t->failed - b->failed));
    counter(out, "inference_request_timeouts_total", "Requests whose client had given up before the answer.",
            (double)(t->timeouts - b->timeouts));
    counter(out, "inference_items_total", "Items computed (the inference count).", (double)(t->items - b->items));
    counter(out, "inference_batches_total", "Batches computed (the execution count).", (double)(t->batches - b->batches));
    gauge(out, "inference_queue_depth", "Requests waiting at this moment, for a fetch slot or a batch.",
          (double)(ring_count(&p->slot_wait) + ring_count(&p->queue)));
    counter(out, "inference_queue_depth_seconds_total", "Sum of the queue depth over time; its rate is the mean depth.",
            (double)(t->queue_slices - b->queue_slices) * ((double)PLANT_SLICE_NS / 1e9));
}

static void data_side(const struct plant *p, struct buf *out)
{
    const struct plant_totals *t = &p->totals, *b = &p->page_base;
    uint64_t hits = t->hits - b->hits, lookups = t->lookups - b->lookups;
    counter(out, "inference_feature_cache_hits_total", "Feature lookups answered by the local cache.", (double)hits);
    counter(out, "inference_feature_cache_misses_total", "Feature lookups that went to the feature service.",
            (double)(lookups - hits));
    gauge(out, "inference_feature_cache_bytes", "Filled part of the local feature cache.",
          (double)(uint64_t)(p->env.cache_fill_mb * 1e6));
}

static void system_side(const struct plant *p, struct buf *out)
{
    const struct plant_totals *t = &p->totals, *b = &p->page_base;
    uint32_t serving = 0, starting = 0, pending = 0;
    for (unsigned g = 0; g < PLANT_GPUS_MAX; g++) {
        serving += p->gpu[g].phase == GPU_IDLE || p->gpu[g].phase == GPU_BUSY;
        starting += p->gpu[g].phase == GPU_STARTING;
        pending += p->gpu[g].phase == GPU_PENDING;
    }
    counter(out, "inference_gpu_busy_seconds_total", "Time GPUs spent computing, summed over replicas.",
            (double)(t->busy_ns - b->busy_ns) / 1e9);
    counter(out, "inference_gpu_available_seconds_total", "Time GPUs were in service, summed over replicas.",
            (double)(t->gpu_ns - b->gpu_ns) / 1e9);
    gauge(out, "inference_memory_used_bytes", "Memory in use on a replica.", (double)(uint64_t)(p->env.used_mb * 1e6));
    gauge(out, "inference_memory_limit_bytes", "Memory of a replica.", (double)(uint64_t)(p->env.config.mem_mb * 1e6));
    head(out, "inference_replicas", "gauge", "Replicas by state.");
    sample(out, "inference_replicas{state=\"serving\"}", serving);
    sample(out, "inference_replicas{state=\"starting\"}", starting);
    sample(out, "inference_replicas{state=\"pending\"}", pending);
}

/* One column of numbers, a row a serving replica. */
static void per_replica(const struct plant *p, struct buf *out, const char *name, const char *help, int column)
{
    head(out, name, "counter", help);
    for (unsigned g = 0; g < PLANT_GPUS_MAX; g++) {
        const struct plant_gpu *gpu = &p->gpu[g];
        if (gpu->phase != GPU_IDLE && gpu->phase != GPU_BUSY) continue;
        buf_printf(out, "%s{replica=\"%u\"} ", name, g);
        if (column == 0) buf_double(out, (double)gpu->busy_ns / 1e9);
        else buf_u64(out, column == 1 ? gpu->batches : gpu->items);
        buf_putc(out, '\n');
    }
}

static void replicas(const struct plant *p, struct buf *out)
{
    per_replica(p, out, "inference_replica_kernel_seconds_total", "Compute time, by replica.", 0);
    per_replica(p, out, "inference_replica_batches_total", "Batches computed, by replica.", 1);
    per_replica(p, out, "inference_replica_items_total", "Items computed, by replica.", 2);
}

static void settings(const struct plant *p, struct wall origin, struct buf *out)
{
    gauge(out, "inference_config_batch_max", "Batch size limit in force.", p->env.batch_max);
    gauge(out, "inference_config_concurrency", "Feature fetches at a time per replica, limit in force.", p->env.concurrency);
    gauge(out, "inference_config_feature_cache_bytes", "Feature cache limit in force.", p->env.cache_mb * 1e6);
    gauge(out, "inference_config_replicas", "Replicas wanted.", p->env.replicas);
    gauge(out, "inference_config_placebo", "A setting that is connected to nothing.", p->env.placebo);
    head(out, "inference_model_info", "gauge", "The model that answers.");
    buf_printf(out, "inference_model_info{model_version=\"%s\"} 1\n", p->env.version);
    gauge(out, "process_start_time_seconds", "Start of the process since the Unix epoch.",
          (double)(origin.us + p->process_start_us) / 1e6);
}

bool page_write(const struct plant *p, struct wall origin, struct buf *out)
{
    if (!plant_up(p)) return false;
    histograms(p, out);
    requests(p, out);
    data_side(p, out);
    system_side(p, out);
    replicas(p, out);
    settings(p, origin, out);
    return true;
}
