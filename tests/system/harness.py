"""Starts the real daemon in a temporary folder and talks to it. Waits on log lines and answers, never on time."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from target import Target

BINARY = os.environ.get("TRIMTAB", os.path.join(os.path.dirname(__file__), "..", "..", "build", "trimtab"))
SEED = os.environ.get("TRIMTAB_SEED", os.path.join(os.path.dirname(BINARY), "tests", "system", "system_seed"))

CONFIG = """version: 1
data_dir: unused
origin: trimtab/test
services:
  - name: embed
    environment: test
    mode: {mode}
    targets:
      - url: http://{target}/metrics
        interval: 10s
        timeout: {timeout}
    signals:
      latency_p99: {{layer: request, unit: ms, query: "1000 * p99_seconds", resolution: 1 ms, quantile: 0}}
      queue_depth: {{layer: processing, unit: "", query: queue_depth}}
      throughput: {{layer: processing, unit: /s, bad: down, query: throughput}}
      batch_size: {{layer: processing, unit: "", bad: both, query: batch_fill}}
      gpu_util: {{layer: system, unit: ratio, bad: both, query: gpu_util, interval: 10s}}
      error_ratio: {{layer: request, unit: ratio, query: errors_ratio}}
    judge:
      objective: 80 ms
    symptoms:
      latency-degraded: latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250
      slo: {{when: latency_p99 > 80 ms, slo: true}}
    playbook:
      - cause: compute-bound
        when: gpu_util > 0.7
        try: [batch_max up]
    knobs:
      batch_max:
        class: batch
        min: 4
        max: 128
        ladder: x2
        min_step: 4
        use: batch_size
        cas: true
        read:
          http: {{url: "http://{{instance}}/config/batch_max", pointer: /value, version_header: ETag}}
        write:
          http:
            url: http://{{instance}}/config/batch_max
            headers: ["Content-Type: application/json", "If-Match: {{version}}"]
            body: '{{"value": {{value}}}}'{write_more}
{more}"""


class Daemon:
    def __init__(self, folder, config, *flags, speed=None, wait=True, env=None):
        self.data = os.path.join(folder, "data")
        self.lines, self.changed, self.ended = [], threading.Condition(), False
        argv = [BINARY, "serve", "--config", config, "--data", self.data, "--listen", "127.0.0.1:0", "--log.format", "json",
                "--log.level", "debug", *flags]
        if speed:
            argv += ["--speed", str(speed)]
        self.process = subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        env=dict(os.environ, **env) if env else None)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if wait:
            self.started = self.wait_line(msg="started")
            host, port = self.started["listen"].split(":")
            self.host, self.port = host, int(port)

    def _read(self):
        for raw in self.process.stderr:
            text = raw.decode("utf-8", "replace").rstrip("\n")
            try:
                line = json.loads(text)
            except ValueError:
                line = {"msg": "", "text": text}
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def story(self):
        return "\n".join(json.dumps(line) for line in self.lines)

    def wait_line(self, timeout=60.0, after=0, **fields):
        """The first line after index `after` with these fields."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while True:
                for i in range(after, len(self.lines)):
                    if all(self.lines[i].get(k) == v for k, v in fields.items()):
                        return dict(self.lines[i], index=i)
                left = deadline - time.monotonic()
                if left <= 0 or self.ended or not self.changed.wait(left):
                    if self.ended or left <= 0:
                        raise AssertionError("no line with %s; the log was:\n%s" % (fields, self.story()))

    def has_line(self, **fields):
        with self.changed:
            return any(all(line.get(k) == v for k, v in fields.items()) for line in self.lines)

    def token(self):
        with open(os.path.join(self.data, "token"), encoding="ascii") as f:
            return f.read().strip()

    def request(self, method, path, body=None, headers=None, token=False):
        c = http.client.HTTPConnection(self.host, self.port, timeout=30)
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = "Bearer " + self.token()
        if method in ("POST", "PUT") and body is None:
            body = b""
        c.request(method, path, body, headers)
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, text

    def metric(self, name):
        for line in self.request("GET", "/metrics")[1].split("\n"):
            if line.startswith(name) and line[len(name):len(name) + 1] in (" ", ""):
                return float(line.rsplit(" ", 1)[1])
        return None

    def wait_metric(self, name, want, timeout=60.0):
        """Asks until the metric fits; each answer of the daemon is the event waited for."""
        deadline = time.monotonic() + timeout
        value = None
        while time.monotonic() < deadline:
            value = self.metric(name)
            if value is not None and want(value):
                return value
        raise AssertionError("%s is %s" % (name, value))

    def end(self, sig=signal.SIGTERM, timeout=30):
        self.process.send_signal(sig)
        code = self.process.wait(timeout)
        self.reader.join(timeout)
        if code:
            raise AssertionError("exit status %d; the log was:\n%s" % (code, self.story()))
        return code


class SystemTest(unittest.TestCase):
    speed = 200          # fast, and still enough time for a tick when other tests run beside it

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="trimtab-system-")
        self.target = Target(self.speed)
        self.daemons = []

    def tearDown(self):
        for d in self.daemons:
            if d.process.poll() is None:
                d.process.kill()
                d.process.wait()
            d.reader.join(10)
            d.process.stderr.close()
        self.target.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def config(self, mode="auto", timeout="5s", write_more="", more="", name="config.yaml"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(CONFIG.format(mode=mode, target=self.target.address, timeout=timeout, write_more=write_more, more=more))
        return path

    def seed(self, config, *more):
        subprocess.run([SEED, config, os.path.join(self.folder, "data"), "latency_p99=38", "queue_depth=140", "throughput=1000",
                        "batch_size=31", "gpu_util=0.65", "error_ratio=0.001", *more], check=True)

    def start(self, config, *flags, speed=0, wait=True, env=None):
        d = Daemon(self.folder, config, *flags, speed=self.speed if speed == 0 else speed, wait=wait, env=env)
        self.daemons.append(d)
        return d
