#!/usr/bin/env python3
"""What each signal of each preset must be on its page, worked out without PromQL: sums, ratios, quantiles by hand.

usage: tests/presets/expected.py SAMPLES > tests/presets/expected.txt
       tests/presets/expected.py --check SAMPLES     write nothing; fail when the file is not what the pages give

The test lets every counter of the page grow by its own value each 10 s, so the rate of a counter is a tenth of what
stands on the page. A line: page, preset, signal, value, or - where the page cannot feed it.
"""

import math
import os
import re
import sys

LINE = re.compile(r'^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$')
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')
HERE = os.path.dirname(os.path.abspath(__file__))


class Page:
    def __init__(self, path):
        self.rows, self.types = [], {}
        for line in open(path, encoding="utf-8"):
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split()
                self.types[name] = kind
            found = LINE.match(line.strip())
            if found and not line.startswith("#"):
                self.rows.append((found[1], dict(LABEL.findall(found[2] or "")), float(found[3])))

    def all(self, name, **want):
        """Values of the series of this name; a wanted label is a regular expression, ! in front of it: none such."""
        out = []
        for n, labels, value in self.rows:
            if n == name and all(self.fits(labels.get(k, ""), w) for k, w in want.items()):
                out.append((labels, value))
        return out

    @staticmethod
    def fits(have, want):
        if want.startswith("!"):
            return re.fullmatch(want[1:], have) is None
        return re.fullmatch(want, have) is not None

    def values(self, name, **want):
        return [v for _, v in self.all(name, **want) if not math.isnan(v)]

    def sum(self, name, **want):
        found = self.values(name, **want)
        return sum(found) if found else None

    def rate(self, name, **want):
        total = self.sum(name, **want)
        return None if total is None else total / 10

    def max(self, name, **want):
        return max(self.values(name, **want), default=None)

    def avg(self, name, **want):
        found = self.values(name, **want)
        return sum(found) / len(found) if found else None

    def mean(self, name, **want):
        return div(self.sum(name + "_sum", **want), self.sum(name + "_count", **want))

    def quantile(self, q, name, **want):
        """Linear inside of the bucket that holds the q-th observation; the lowest one begins at 0."""
        buckets = {}
        for labels, value in self.all(name + "_bucket", **want):
            buckets[float(labels["le"])] = buckets.get(float(labels["le"]), 0) + value
        bounds = sorted(buckets)
        if not bounds or math.isfinite(bounds[-1]) or buckets[bounds[-1]] == 0:
            return None
        rank, low, below = q * buckets[bounds[-1]], 0.0, 0.0
        for bound in bounds:
            if buckets[bound] >= rank:
                if math.isinf(bound):
                    return low
                return low + (bound - low) * (rank - below) / (buckets[bound] - below)
            low, below = bound, buckets[bound]
        return None


def div(a, b):
    return None if a is None or b is None or b == 0 else a / b


def mul(factor, a):
    return None if a is None else factor * a


def add(*parts):
    return None if any(p is None for p in parts) else sum(parts)


def zero(a, total):
    """A series that is not there before the first of its kind: 0, once anything is counted at all."""
    return 0.0 if a is None and total is not None else a


def triton(p):
    done, failed = p.sum("nv_inference_request_success"), p.sum("nv_inference_request_failure")
    us = lambda part: p.sum(f"nv_inference_{part}_duration_us")
    total = add(done, failed)
    parts = [us(x) for x in ("queue", "compute_input", "compute_infer", "compute_output")]
    summary = lambda part, q: mul(1e-3, p.max(f"nv_inference_{part}_summary_us", quantile=re.escape(q)))
    memory = [a / b for a, b in zip(p.values("nv_cpu_memory_used_bytes"), p.values("nv_cpu_memory_total_bytes"))]
    return {
        "latency_mean": mul(1e-3, div(us("request"), done)),
        "latency_p99": summary("request", "0.99"), "latency_p50": summary("request", "0.5"), "ttft_p99": None,
        "error_ratio": div(failed, total),
        "timeout_ratio": div(p.sum("nv_inference_request_failure", reason="REJECTED"), total),
        "request_rate": mul(.1, total), "throughput": p.rate("nv_inference_count"),
        "queue_depth": p.sum("nv_inference_pending_request_count"),
        "queue_wait_ms": mul(1e-3, div(us("queue"), done)),
        "batch_size": div(p.sum("nv_inference_count"), p.sum("nv_inference_exec_count")),
        "kernel_ms": mul(1e-3, div(us("compute_infer"), done)), "pre_ms": mul(1e-3, div(us("compute_input"), done)),
        "kernel_p50_ms": summary("compute_infer", "0.5"), "kernel_p99_ms": summary("compute_infer", "0.99"),
        "rest_ms": mul(1e-3, div(add(us("request"), *[-x for x in parts]), done)) if done else None,
        "cpu_util": p.avg("nv_cpu_utilization"), "mem_ratio": max(memory, default=None),
        "gpu_util": None, "gpu_mem_ratio": None, "gpu_power_w": None, "cache_hit": None,
    }


def vllm(p):
    ended, s = p.sum("vllm:request_success_total"), 1000
    hist = lambda q, name: mul(s, p.quantile(q, "vllm:" + name))
    mean = lambda name, by=1: mul(by, p.mean("vllm:" + name))
    rejected = p.sum("vllm:admission_rejections_total")
    return {
        "latency_p99": hist(.99, "e2e_request_latency_seconds"), "latency_p50": hist(.5, "e2e_request_latency_seconds"),
        "latency_mean": mean("e2e_request_latency_seconds", s), "ttft_p99": hist(.99, "time_to_first_token_seconds"),
        "itl_p99": hist(.99, "inter_token_latency_seconds"),
        "error_ratio": div(zero(p.sum("vllm:request_success_total", finished_reason="error"), ended), ended),
        "timeout_ratio": div(p.sum("vllm:request_success_total", finished_reason="abort"), ended),
        "reject_ratio": div(rejected, add(rejected, ended)), "throughput": mul(.1, ended),
        "token_rate": p.rate("vllm:generation_tokens_total"), "queue_depth": p.sum("vllm:num_requests_waiting"),
        "running": p.sum("vllm:num_requests_running"), "queue_wait_ms": mean("request_queue_time_seconds", s),
        "prefill_ms": mean("request_prefill_time_seconds", s), "decode_ms": mean("request_decode_time_seconds", s),
        "step_tokens": p.quantile(.99, "vllm:iteration_tokens_total"),
        "kv_usage": p.max("vllm:kv_cache_usage_perc" if p.values("vllm:kv_cache_usage_perc") else "vllm:gpu_cache_usage_perc"),
        "preempt_rate": p.rate("vllm:num_preemptions_total"),
        "prefix_hit": div(p.sum("vllm:prefix_cache_hits_total"), p.sum("vllm:prefix_cache_queries_total")),
        "spec_accept": None, "grammar_queue": p.sum("vllm:num_requests_waiting_by_reason", reason="deferred"),
        "gc_full_rate": p.rate("python_gc_collections_total", generation="2"),
        "cpu_cores": p.rate("process_cpu_seconds_total"), "mem_rss_mb": mul(1e-6, p.max("process_resident_memory_bytes")),
        "input_len_mean": mean("request_prompt_tokens"), "output_len_mean": mean("request_generation_tokens"),
    }


def node(p):
    cpus = sorted({labels["cpu"] for labels, _ in p.all("node_cpu_seconds_total")})
    core = lambda cpu, mode: p.rate("node_cpu_seconds_total", cpu=cpu, mode=mode)
    idle = [core(c, "idle") for c in cpus]
    wait, run = p.rate("node_schedstat_waiting_seconds_total"), p.rate("node_schedstat_running_seconds_total")
    real = "!lo|veth.*|cali.*"
    miss, hit = p.rate("node_memory_numa_numa_miss_total"), p.rate("node_memory_numa_numa_hit_total")
    free, memory = p.sum("node_memory_MemAvailable_bytes"), p.sum("node_memory_MemTotal_bytes")
    drops = [p.rate(f"node_network_{way}_drop_total", device=real) for way in ("receive", "transmit")]
    return {
        "cpu_util": 1 - sum(idle) / len(idle), "cpu_core_max": 1 - min(core(c, "idle|iowait") for c in cpus),
        "softirq": max(core(c, "softirq") for c in cpus), "load_per_core": p.sum("node_load1") / len(cpus),
        "mem_ratio": None if free is None else 1 - free / memory,
        "cpu_pressure": p.rate("node_pressure_cpu_waiting_seconds_total"),
        "mem_pressure": p.rate("node_pressure_memory_stalled_seconds_total"),
        "io_pressure": p.rate("node_pressure_io_waiting_seconds_total"),
        "cpu_run_wait": div(wait, add(wait, run)), "oom_kills": p.sum("node_vmstat_oom_kill") and None or 0.0,
        "disk_io": max(v for _, v in p.all("node_disk_io_time_seconds_total", device="!dm-.*|md.*|loop.*|sr.*")) / 10,
        "nic_drops": add(*drops),
        "net_rx_mb": mul(1e-6, p.rate("node_network_receive_bytes_total", device=real)),
        "tcp_retrans": p.rate("node_netstat_Tcp_RetransSegs"),
        "conntrack_insert_fail": p.rate("node_nf_conntrack_stat_insert_failed"), "numa_miss": div(miss, add(miss, hit)),
    }


def sglang(p):
    ask = p.sum("sglang:num_requests_total")
    itl = "inter_token_latency_seconds" if p.values("sglang:inter_token_latency_seconds_count") else "time_per_output_token_seconds"
    hist = lambda q, name: mul(1000, p.quantile(q, "sglang:" + name))
    warm = p.sum("sglang:prefill_effective_tokens_total", mode="device_hit")
    hit = div(warm, p.sum("sglang:prefill_effective_tokens_total", mode="input|device_hit"))
    return {
        "latency_p99": hist(.99, "e2e_request_latency_seconds"), "latency_p50": hist(.5, "e2e_request_latency_seconds"),
        "latency_mean": mul(1000, p.mean("sglang:e2e_request_latency_seconds")),
        "ttft_p99": hist(.99, "time_to_first_token_seconds"), "itl_p99": hist(.99, itl),
        "timeout_ratio": div(p.sum("sglang:num_aborted_requests_total"), ask), "request_rate": mul(.1, ask),
        "throughput": p.rate("sglang:e2e_request_latency_seconds_count"),
        "token_rate": p.rate("sglang:generation_tokens_total"),
        "queue_depth": p.sum("sglang:num_queue_reqs"), "running": p.sum("sglang:num_running_reqs"),
        "queue_wait_ms": mul(1000, p.mean("sglang:queue_time_seconds")), "kv_usage": p.max("sglang:token_usage"),
        "preempt_rate": p.rate("sglang:num_retracted_requests_total"),
        "prefix_hit": hit if hit is not None else p.avg("sglang:cache_hit_rate"),
        "grammar_queue": p.sum("sglang:num_grammar_queue_reqs"), "mem_rss_mb": None,
        "input_len_mean": p.mean("sglang:prompt_tokens_histogram"), "output_len_mean": p.mean("sglang:generation_tokens_histogram"),
    }


def tei(p):
    ask = p.sum("te_request_count")
    return {
        "latency_p99": mul(1000, p.quantile(.99, "te_request_duration")),
        "latency_p50": mul(1000, p.quantile(.5, "te_request_duration")),
        "latency_mean": mul(1000, p.mean("te_request_duration")),
        "error_ratio": div(p.sum("te_request_failure"), ask),
        "reject_ratio": div(p.sum("te_request_failure", err="overloaded"), ask), "request_rate": mul(.1, ask),
        "throughput": p.rate("te_request_success"), "queue_depth": p.sum("te_queue_size"),
        "queue_wait_ms": mul(1000, p.mean("te_request_queue_duration")), "batch_size": p.mean("te_batch_next_size"),
        "step_tokens": p.quantile(.99, "te_batch_next_tokens"), "kernel_ms": mul(1000, p.mean("te_request_inference_duration")),
        "kernel_p50_ms": mul(1000, p.quantile(.5, "te_request_inference_duration")),
        "kernel_p99_ms": mul(1000, p.quantile(.99, "te_request_inference_duration")),
        "pre_ms": mul(1000, p.mean("te_request_tokenization_duration")), "input_len_mean": p.mean("te_request_input_length"),
    }


def tgi(p):
    ask = p.sum("tgi_request_count")
    return {
        "latency_p99": mul(1000, p.quantile(.99, "tgi_request_duration")),
        "latency_p50": mul(1000, p.quantile(.5, "tgi_request_duration")),
        "latency_mean": mul(1000, p.mean("tgi_request_duration")),
        "itl_p99": mul(1000, p.quantile(.99, "tgi_request_mean_time_per_token_duration")),
        "error_ratio": div(p.sum("tgi_request_failure"), ask),
        "reject_ratio": div(p.sum("tgi_request_failure", err="overloaded"), ask), "request_rate": mul(.1, ask),
        "throughput": p.rate("tgi_request_success"), "token_rate": p.rate("tgi_request_generated_tokens_sum"),
        "queue_depth": p.sum("tgi_queue_size"), "running": p.sum("tgi_batch_current_size"),
        "queue_wait_ms": mul(1000, p.mean("tgi_request_queue_duration")), "batch_size": p.mean("tgi_batch_next_size"),
        "kernel_ms": mul(1000, p.mean("tgi_batch_forward_duration")), "input_len_mean": p.mean("tgi_request_input_length"),
        "output_len_mean": p.mean("tgi_request_generated_tokens"),
    }


def ray(p):
    n = "ray_serve_"
    ask = p.sum(n + "num_http_requests_total")
    errors = lambda code: div(zero(p.sum(n + "num_http_error_requests_total", error_code=code), ask), ask)
    used = p.max("ray_node_mem_used")
    hist = lambda q, name: p.quantile(q, n + name)
    return {
        "latency_p99": p.quantile(.99, n + "http_request_latency_ms", status_code="!503"),
        "latency_p50": p.quantile(.5, n + "http_request_latency_ms", status_code="!503"),
        "error_ratio": errors("5(?!03)..?"), "timeout_ratio": errors("408|499"), "reject_ratio": errors("503"),
        "request_rate": mul(.1, ask), "throughput": p.rate(n + "num_http_requests_total", status_code="2.."),
        "queue_depth": add(p.sum(n + "deployment_queued_queries"), p.sum(n + "batch_queue_length")),
        "running": p.sum(n + "replica_processing_queries"), "queue_wait_ms": hist(.5, "request_router_fulfillment_time_ms"),
        "batch_size": hist(.5, "actual_batch_size"), "batch_wait_ms": hist(.5, "batch_wait_time_ms"),
        "kernel_p50_ms": hist(.5, "batch_execution_time_ms"), "kernel_p99_ms": hist(.99, "batch_execution_time_ms"),
        "loop_lag_ms": hist(.99, "event_loop_scheduling_latency_ms"), "replicas_ready": p.sum(n + "deployment_replica_healthy"),
        "cpu_util": mul(.01, p.max("ray_node_cpu_utilization")), "mem_ratio": div(used, p.max("ray_node_mem_total")),
        "mem_rss_mb": p.max("ray_component_rss_mb", Component="ray::ServeReplica.*"), "gpu_util": None, "gpu_mem_ratio": None,
    }


def mlserver(p):
    path, n, h = ".*/infer", "rest_server_requests_total", "rest_server_request_duration_seconds"
    ask = p.sum(n, path=path)
    code = lambda c: div(zero(p.sum(n, path=path, status_code=c), ask), ask)
    good = p.mean(h, path=path, status_code="200")
    model = mul(1000, p.mean("model_infer_request_duration"))
    return {
        "latency_p99": mul(1000, p.quantile(.99, h, path=path)), "latency_p50": mul(1000, p.quantile(.5, h, path=path)),
        "latency_mean": mul(1000, p.mean(h, path=path)), "error_ratio": code("5.."), "refused_ratio": code("4.."),
        "request_rate": mul(.1, ask), "throughput": p.rate("model_infer_request_success_total"),
        "running": p.sum("rest_server_requests_in_progress", method="POST"), "queue_depth": p.mean("batch_request_queue"),
        "parallel_queue": p.mean("parallel_request_queue"), "kernel_ms": model, "rest_ms": add(mul(1000, good), mul(-1, model)),
        "cpu_cores": p.rate("process_cpu_seconds_total"), "mem_rss_mb": mul(1e-6, p.max("process_resident_memory_bytes")),
    }


def torchserve(p):
    ask = p.sum("ts_inference_requests_total")
    good = p.sum("Requests2XX")
    part = lambda name: zero(p.sum(name), good)
    return {
        "latency_mean": mul(1e-3, div(p.sum("ts_inference_latency_microseconds"), ask)),
        "error_ratio": div(part("Requests5XX"), add(good, part("Requests4XX"), part("Requests5XX"))),
        "throughput": mul(.1, ask), "queue_wait_ms": mul(1e-3, div(p.sum("ts_queue_latency_microseconds"), ask)),
        "kernel_ms": p.avg("PredictionTime"), "handler_ms": p.avg("HandlerTime"), "cpu_util": mul(.01, p.avg("CPUUtilization")),
        "mem_ratio": mul(.01, p.max("MemoryUtilization")), "gpu_util": None, "gpu_mem_ratio": None,
    }


def ovms(p):
    method = "Predict|ModelInfer|ModelStreamInfer|Unary|Stream"
    good, bad = p.sum("ovms_requests_success", method=method), p.sum("ovms_requests_fail", method=method)
    hist = lambda q, name: mul(1e-3, p.quantile(q, name))
    now, busy = p.sum("ovms_current_requests"), p.sum("ovms_infer_req_active")
    return {
        "latency_p99": hist(.99, "ovms_request_time_us"), "latency_p50": hist(.5, "ovms_request_time_us"),
        "latency_mean": mul(1e-3, p.mean("ovms_request_time_us")), "error_ratio": div(bad, add(good, bad)),
        "request_rate": mul(.1, add(good, bad)), "throughput": mul(.1, good), "running": now,
        "queue_wait_ms": mul(1e-3, p.mean("ovms_wait_for_infer_req_time_us")), "queue_depth": max(now - busy, 0),
        "slots_used": div(busy, p.sum("ovms_infer_req_queue_size")), "kernel_ms": mul(1e-3, p.mean("ovms_inference_time_us")),
        "kernel_p50_ms": hist(.5, "ovms_inference_time_us"), "kernel_p99_ms": hist(.99, "ovms_inference_time_us"),
    }


def llamacpp(p):
    n = "llamacpp:"
    made, read = p.sum(n + "tokens_predicted_total"), p.sum(n + "prompt_tokens_total")
    return {
        "itl_mean": mul(1000, div(p.sum(n + "tokens_predicted_seconds_total"), made)),
        "prefill_token_ms": mul(1000, div(p.sum(n + "prompt_seconds_total"), read)), "token_rate": mul(.1, made),
        "prompt_token_rate": mul(.1, read), "queue_depth": p.sum(n + "requests_deferred"),
        "running": p.sum(n + "requests_processing"), "batch_size": p.avg(n + "n_busy_slots_per_decode"),
        "decode_rate": p.rate(n + "n_decode_total"), "kv_usage": None,
    }


def envoy(p):
    n = "envoy_cluster_upstream_"
    ask = p.sum(n + "rq_total")
    code = lambda c: p.sum(n + "rq_xx", envoy_response_code_class=c)
    mean, p99 = p.mean(n + "rq_time"), p.quantile(.99, n + "rq_time")
    return {
        "latency_p99": p99, "latency_p50": p.quantile(.5, n + "rq_time"), "latency_mean": mean, "error_ratio": div(code("5"), ask),
        "timeout_ratio": div(p.sum(n + "rq_timeout"), ask), "request_rate": mul(.1, ask), "throughput": mul(.1, code("2")),
        "running": p.sum(n + "rq_active"), "queue_depth": p.sum(n + "rq_pending_active"),
        "retry_ratio": div(p.sum(n + "rq_retry"), ask), "pending_overflow": p.rate(n + "rq_pending_overflow"),
        "connect_fail": p.rate(n + "cx_connect_fail"), "feature_fetch_ms": mean, "fetch_p99_ms": p99,
        "upstream_error_ratio": div(code("5"), ask), "upstream_pending": p.sum(n + "rq_pending_active"),
    }


def redis(p):
    hits, misses = p.sum("redis_keyspace_hits_total"), p.sum("redis_keyspace_misses_total")
    return {
        "cache_hit": div(hits, add(hits, misses)), "cache_evict": p.rate("redis_evicted_keys_total"),
        "store_cmd_ms": mul(1000, div(p.sum("redis_commands_duration_seconds_total"), p.sum("redis_commands_total"))),
        "store_cmd_rate": p.rate("redis_commands_total"),
        "store_mem_ratio": div(p.sum("redis_memory_used_bytes"), p.sum("redis_memory_max_bytes")),
        "store_fragmentation": p.max("redis_mem_fragmentation_ratio"), "store_clients": p.sum("redis_connected_clients"),
        "store_blocked": p.sum("redis_blocked_clients"), "redis_fork_ms": mul(1e-3, p.max("redis_latest_fork_usec")),
        "store_scrape_error": p.max("redis_exporter_last_scrape_error"),
    }


def cadvisor(p):
    n = "container_"
    quota, limit = div(p.sum(n + "spec_cpu_quota"), p.sum(n + "spec_cpu_period")), p.sum(n + "spec_memory_limit_bytes")
    wait, run = p.rate(n + "cpu_schedstat_runqueue_seconds_total"), p.rate(n + "cpu_schedstat_run_seconds_total")
    drops = [p.rate(n + f"network_{way}_packets_dropped_total") for way in ("receive", "transmit")]
    return {
        "cpu_util": div(p.rate(n + "cpu_usage_seconds_total"), quota), "cpu_cores": p.rate(n + "cpu_usage_seconds_total"),
        "cpu_throttled": div(p.sum(n + "cpu_cfs_throttled_periods_total"), p.sum(n + "cpu_cfs_periods_total")),
        "mem_ratio": div(p.max(n + "memory_rss"), limit), "mem_rss_mb": mul(1e-6, p.max(n + "memory_rss")),
        "working_set_mb": mul(1e-6, p.max(n + "memory_working_set_bytes")), "oom_kills": 0.0, "nic_drops": add(*drops),
        "net_rx_mb": mul(1e-6, p.rate(n + "network_receive_bytes_total")),
        "cpu_pressure": p.rate(n + "pressure_cpu_waiting_seconds_total"),
        "mem_pressure": p.rate(n + "pressure_memory_stalled_seconds_total"),
        "io_pressure": p.rate(n + "pressure_io_waiting_seconds_total"), "cpu_run_wait": div(wait, add(wait, run)),
    }


def dcgm(p):
    said = lambda name: [v for v in p.values("DCGM_FI_" + name) if v < 1e15]
    avg = lambda name: sum(said(name)) / len(said(name)) if said(name) else None
    used, free, kept = (sum(said("DEV_FB_" + x)) if said("DEV_FB_" + x) else None for x in ("USED", "FREE", "RESERVED"))
    replays = said("DEV_PCIE_REPLAY_COUNTER")
    return {
        "gpu_util": avg("PROF_GR_ENGINE_ACTIVE"), "gpu_mem_ratio": div(used, add(used, free, kept)),
        "gpu_mem_mb": mul(1.048576, max(said("DEV_FB_USED"), default=None)), "gpu_clock": avg("DEV_SM_CLOCK"),
        "gpu_power_w": avg("DEV_POWER_USAGE"), "gpu_mem_temp": max(said("DEV_MEMORY_TEMP"), default=None),
        "gpu_temp": max(said("DEV_GPU_TEMP"), default=None), "gpu_xid": 0.0 if said("DEV_XID_ERRORS") else None,
        "gpu_remap_fail": max(said("DEV_ROW_REMAP_FAILURE"), default=None),
        "pcie_replay": sum(replays) / 10 if replays else None, "gpu_throttle": None,
    }


def bentoml(p):
    n, work = "bentoml_service_request", "!/(readyz|livez|healthz|metrics|docs.json)"
    ask = p.sum(n + "_total", endpoint=work)
    code = lambda c: p.sum(n + "_total", endpoint=work, http_response_code=c)
    took = dict(endpoint=work, http_response_code="!429|503")
    return {
        "latency_p99": mul(1000, p.quantile(.99, n + "_duration_seconds", **took)),
        "latency_p50": mul(1000, p.quantile(.5, n + "_duration_seconds", **took)),
        "latency_mean": mul(1000, p.mean(n + "_duration_seconds", **took)), "error_ratio": div(code("500|502|504"), ask),
        "reject_ratio": div(code("429|503"), ask), "request_rate": mul(.1, ask), "throughput": mul(.1, code("2..")),
        "running": p.sum(n + "_in_progress", endpoint=work), "batch_size": p.mean("bentoml_service_adaptive_batch_size"),
    }


def infinity(p):
    work = "/(v1/)?(embeddings|rerank|classify)"
    ask = p.sum("http_requests_total", handler=work)
    code = lambda c: div(zero(p.sum("http_requests_total", handler=work, status=c), ask), ask)
    fine = "http_request_duration_highr_seconds"
    return {
        "latency_p99": mul(1000, p.quantile(.99, fine)), "latency_p50": mul(1000, p.quantile(.5, fine)),
        "latency_mean": mul(1000, p.mean("http_request_duration_seconds", handler=work)), "error_ratio": code("5xx"),
        "refused_ratio": code("4xx"), "request_rate": mul(.1, ask),
        "throughput": p.rate("http_requests_total", handler=work, status="2xx"),
        "gc_full_rate": p.rate("python_gc_collections_total", generation="2"),
        "cpu_cores": p.rate("process_cpu_seconds_total"), "mem_rss_mb": mul(1e-6, p.max("process_resident_memory_bytes")),
    }


PAGES = [
    ("triton_2.51_loaded.txt", "triton", triton), ("triton_2.51_idle_nan.txt", "triton", triton),
    ("vllm_cpu_0.32_loaded.txt", "vllm", vllm), ("vllm_cpu_0.32_idle.txt", "vllm", vllm),
    ("vllm_v0_aibrix_runtime_excerpt.txt", "vllm", vllm),
    ("node_exporter_e2e.txt", "node", node), ("sglang.txt", "sglang", sglang), ("ray_serve_2.60.txt", "ray-serve", ray),
    ("mlserver_1.7.1_workers0.txt", "mlserver", mlserver), ("mlserver_1.7.1_workers1.txt", "mlserver", mlserver),
    ("torchserve.txt", "torchserve", torchserve), ("ovms.txt", "ovms", ovms),
    ("cadvisor_prometheus_metrics.txt", "cadvisor", cadvisor), ("dcgm_exporter_readme_bare.txt", "dcgm", dcgm),
    ("bentoml_1.4.40.txt", "bentoml", bentoml), ("infinity_0.0.78.txt", "infinity", infinity),
    ("synthetic/tei.txt", "tei", tei), ("synthetic/tgi.txt", "tgi", tgi), ("synthetic/llamacpp.txt", "llamacpp", llamacpp),
    ("synthetic/envoy.txt", "envoy", envoy), ("synthetic/redis.txt", "redis", redis), ("synthetic/dcgm.txt", "dcgm", dcgm),
    ("synthetic/sglang.txt", "sglang", sglang),
]


def lines(samples):
    for name, preset, rules in PAGES:
        path = os.path.join(HERE, "pages", name[10:]) if name.startswith("synthetic/") else os.path.join(samples, name)
        for signal, value in rules(Page(path)).items():
            yield f"{name} {preset} {signal} {'-' if value is None else repr(float(value))}\n"


def main():
    check = sys.argv[1] == "--check"
    samples = sys.argv[-1]
    if check and not os.path.isdir(samples):
        print("skipped: no samples beside the checkout")
        sys.exit(77)
    text = "".join(lines(samples))
    if not check:
        sys.stdout.write(text)
        return
    with open(os.path.join(HERE, "expected.txt"), encoding="utf-8") as f:
        if f.read() != text:
            sys.exit("tests/presets/expected.txt is not what the pages give: write it again with expected.py")


main()
