"""Scrapes many real HTTP targets with the real daemon and measures on their side how even the scrapes come. Prints one JSON line;
exits 1 when a limit is broken. `make scale` runs 10,000 targets every 10 s; `make check` a small form.

    scale.py [--targets N] [--rounds N] [--slow N] [--speed F] [--jitter MS]

With --speed F the daemon's clock runs F times as fast, so that 10 s of it are 10/F s here; jitter is wall time."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.environ.get("TRIMTAB", os.path.join(HERE, "..", "..", "build", "trimtab"))
TARGETS = os.environ.get("SCALE_TARGETS", os.path.join(HERE, "..", "..", "build", "tests", "scale", "scale_targets"))
INTERVAL = 10.0

HEAD = """version: 1
data_dir: unused
origin: trimtab/scale
profiles:
  server:
    mode: alert
    signals:
      latency_p99: {layer: request, unit: ms, query: latency_ms, resolution: 1 ms, interval: 10s}
      queue_depth: {layer: processing, unit: "", query: queue, interval: 10s}
      gpu_util: {layer: system, unit: ratio, bad: both, query: work, interval: 10s}
      throughput: {layer: processing, unit: /s, bad: down, query: "rate(requests_total[1m])", interval: 10s}
    symptoms:
      latency-degraded: latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250
services:
"""


def write_config(path, ports, n):
    with open(path, "w", encoding="ascii") as f:
        f.write(HEAD)
        for i in range(n):
            f.write("  - {name: s%05d, profile: server, targets: [{url: \"http://127.0.0.1:%d/t/%d/metrics\", interval: 10s, "
                    "timeout: 5s}]}\n" % (i, ports[i % len(ports)], i))


def usage(pid):
    """CPU seconds and resident MB of a process."""
    with open("/proc/%d/stat" % pid, encoding="ascii") as f:
        parts = f.read().rsplit(")", 1)[1].split()
    ticks = os.sysconf("SC_CLK_TCK")
    with open("/proc/%d/statm" % pid, encoding="ascii") as f:
        resident = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return (int(parts[11]) + int(parts[12])) / ticks, resident


def ask(port, path):
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, path), timeout=300) as r:
        return json.loads(r.read())


class Daemon:
    def __init__(self, config, folder, speed):
        argv = [BINARY, "serve", "--config", config, "--data", os.path.join(folder, "data"), "--listen", "127.0.0.1:0",
                "--log.format", "json", "--log.level", "info"]
        if speed != 1:
            argv += ["--speed", str(speed)]
        self.started, self.tail, self.up = threading.Event(), [], False
        self.process = subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for raw in self.process.stderr:
            line = raw.decode("utf-8", "replace")
            self.tail = (self.tail + [line])[-20:]
            if '"msg":"started"' in line.replace(" ", ""):
                self.up = True
                self.started.set()
        self.started.set()                      # ended: whoever waits shall see that

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


def run(o, folder):
    targets = subprocess.Popen([TARGETS, "--targets", str(o.targets), "--ports", str(o.ports), "--slow", str(o.slow), "--delay",
                                "8000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    daemon = None
    try:
        ports = json.loads(targets.stdout.readline())["ports"]
        config = os.path.join(folder, "scale.yaml")
        write_config(config, ports, o.targets)
        began = time.monotonic()
        daemon = Daemon(config, folder, o.speed)
        if not daemon.started.wait(600) or not daemon.up:
            raise SystemExit("scale: the daemon did not start:\n" + "".join(daemon.tail))
        start_s = time.monotonic() - began
        ask(ports[0], "/when?asked=1")          # services begin one after another over a tick of 30 s
        ask(ports[0], "/forget")
        cpu, _ = usage(daemon.process.pid)
        from_s = time.monotonic()
        ask(ports[0], "/when?asked=%d" % o.rounds)
        report = ask(ports[0], "/report?interval=%d" % round(1000 * INTERVAL / o.speed))
        end_cpu, resident = usage(daemon.process.pid)
        spent = time.monotonic() - from_s
        if daemon.process.poll() is not None:
            raise SystemExit("scale: the daemon ended:\n" + "".join(daemon.tail))
        return dict(report, seconds=round(spent, 1), interval_s=INTERVAL / o.speed, start_s=round(start_s, 1),
                    daemon_cpu_percent=round(100 * (end_cpu - cpu) / spent, 1), daemon_rss_mb=round(resident, 1))
    finally:
        if daemon:
            daemon.stop()
        targets.stdin.close()
        targets.wait(30)


def faults(o, r):
    prompt, found = r["prompt"], []
    if prompt["most"] > prompt["least"] + 1:
        found.append("one target was asked %d times, another %d" % (prompt["most"], prompt["least"]))
    if prompt["worst_ms"] < 0 or prompt["worst_ms"] >= o.jitter:
        found.append("jitter of %.0f ms, not under %.0f" % (prompt["worst_ms"], o.jitter))
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--targets", type=int, default=10000)
    p.add_argument("--ports", type=int, default=100)
    p.add_argument("--slow", type=int, default=1, help="how many of them answer after 8 s, beyond the time-out of 5 s")
    p.add_argument("--rounds", type=int, default=7, help="how often each target is asked while it is measured")
    p.add_argument("--speed", type=float, default=1)
    p.add_argument("--jitter", type=float, default=1000, help="milliseconds that must not be reached")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="trimtab-scale-") as folder:
        r = run(o, folder)
    print(json.dumps(r), flush=True)
    for text in faults(o, r):
        print("scale: " + text, file=sys.stderr)
    return 1 if faults(o, r) else 0


if __name__ == "__main__":
    sys.exit(main())
