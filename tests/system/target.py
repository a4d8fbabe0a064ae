"""A target over real HTTP: a metrics page made from a few numbers, and knobs with ETag and If-Match. Faults of both
sides are modes that a test switches on. Every request is an event that a test can wait for."""

import gzip
import http.server
import json
import re
import socket
import struct
import threading
import time

BUCKETS = [0.005, 0.01, 0.02, 0.03, 0.036, 0.038, 0.04, 0.042, 0.044, 0.046, 0.048, 0.05, 0.06, 0.08, 0.1, 0.2, 0.5, 1.0]

BOMB = gzip.compress(b"\0" * (64 << 20))

class Plant:
    """Counters of a service whose p99, queue and so on are what they are set to. It answers to batch_max when told so."""

    def __init__(self, speed):
        self.speed = speed
        self.lock = threading.Lock()
        self.values = {"p99": 0.038, "queue": 140.0, "gpu": 0.65, "fetch": 0.0062, "hit": 0.84, "rate": 1000.0, "fill": 31.0}
        self.totals = {}
        self.last = time.monotonic()

    def set(self, **values):
        with self.lock:
            self._advance()
            self.values.update(values)

    def _add(self, name, amount):
        self.totals[name] = self.totals.get(name, 0.0) + amount

    def _advance(self):
        now = time.monotonic()
        span = (now - self.last) * self.speed
        self.last = now
        v = self.values
        done = v["rate"] * span
        self._add("seconds", span)
        self._add("done", done)
        self._add("sum", done * v["p99"] / 2)
        for bound in BUCKETS:
            # 98.5 % are at a third of p99, the rest spread evenly up to a little over it: its quantile 0.99 is p99.
            share = 0.0 if bound < v["p99"] / 3 else 0.985 + 0.015 * min(1.0, max(0.0, bound / v["p99"]) / 3)
            self._add(("le", bound), done * share)
        self._add("queue", v["queue"] * span)
        self._add("gpu", v["gpu"] * span)
        self._add("fetch", done * v["fetch"])
        self._add("hits", done * v["hit"])

    def page(self):
        with self.lock:
            self._advance()
            t = self.totals
            lines = ["# TYPE latency_seconds histogram"]
            for bound in BUCKETS:
                lines.append('latency_seconds_bucket{le="%s"} %.3f' % (bound, t[("le", bound)]))
            lines.append('latency_seconds_bucket{le="+Inf"} %.3f' % t["done"])
            lines.append("latency_seconds_sum %.6f\nlatency_seconds_count %.3f" % (t["sum"], t["done"]))
            v = self.values
            for name, value in [("p99_seconds", v["p99"]), ("queue_depth", v["queue"]), ("gpu_util", v["gpu"]),
                                ("throughput", v["rate"]), ("batch_fill", v["fill"]), ("fetch_seconds", v["fetch"]),
                                ("errors_ratio", 0.001)]:
                lines.append("# TYPE %s gauge\n%s %.9g" % (name, name, value))
            return ("\n".join(lines) + "\n").encode()


class Knobs:
    def __init__(self):
        self.values = {"batch_max": 32, "concurrency": 28}
        self.versions = {"batch_max": 1, "concurrency": 1}
        self.log = []                 # (name, value, If-Match, status)
        self.began = []               # monotonic time of each write
        self.open_gate = threading.Event()
        self.open_gate.set()          # cleared: reads of a knob hang
        self.write_gate = threading.Event()
        self.write_gate.set()         # cleared: writes hang before they take effect
        self.deaf_after = 0           # reads hang from the answer to this write on; 0: never
        self.write_mode = "good"      # good, error-but-applied, ok-but-not, third, slow, refuse


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def _send(self, status, body, headers=()):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _knob(self):
        m = re.fullmatch(r"/config/(\w+)", self.path)
        return m and m[1] if m and m[1] in self.server.knobs.values else None

    def do_GET(self):
        name = self._knob()
        if name:
            k = self.server.knobs
            self.server.tell("asked", name)
            k.open_gate.wait(60)
            body = json.dumps({"value": k.values[name], "nested": {"a/b": [0, k.values[name]]}}).encode()
            self._send(200, body, [("ETag", '"%d"' % k.versions[name])])
            self.server.tell("read", name)
            return
        if self.path != "/metrics":
            self._send(404, b"no\n")
            return
        self.server.tell("scrape", self.server.mode)
        getattr(self, "_page_" + self.server.mode)()

    def do_PUT(self):
        name = self._knob()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not name:
            self._send(404, b"no\n")
            return
        k = self.server.knobs
        k.began.append(time.monotonic())
        self.server.tell("writing", name)
        k.write_gate.wait(60)
        value, match, status, mode = json.loads(body)["value"], self.headers.get("If-Match"), 200, k.write_mode
        if mode == "refuse" or (match and match != '"%d"' % k.versions[name]):
            status = 412
        elif mode == "ok-but-not":
            pass
        else:
            k.values[name] = 48 if mode == "third" else value
            k.versions[name] += 1
            status = 500 if mode == "error-but-applied" else 200
        if len(k.began) == k.deaf_after:
            k.open_gate.clear()
        k.log.append((name, value, match, status))
        self._send(status, b"{}", [("ETag", '"%d"' % k.versions[name])])
        self.server.tell("write", (name, value, match, status, self.headers.get("Authorization")))

    def do_POST(self):
        """A receiver of notices."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._send(200, b"")
        self.server.tell("notice", self.path)

    # ---- pages ----

    def _page_good(self):
        body, headers = self.server.plant.page(), [("Content-Type", "text/plain; version=0.0.4")]
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body)
            headers.append(("Content-Encoding", "gzip"))
        self._send(200, body, headers)

    def _page_silent(self):
        self.close_connection = True

    def _page_error(self):
        self._send(500, b"broken\n")

    def _page_redirect(self):
        self._send(302, b"", [("Location", "http://127.0.0.1:1/metrics")])

    def _page_dripping(self):
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        for _ in range(2000):
            try:
                self.wfile.write(b"#")
                self.wfile.flush()
            except OSError:
                return
            if self.server.stopping.wait(0.05):
                return

    def _page_closing(self):
        body = self.server.plant.page()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2])
        self.wfile.flush()
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _page_garbage(self):
        self._send(200, b"<html>this is \x00 no metrics page</html>\n" * 20)

    def _page_no_http(self):
        self.wfile.write(b"\x16\x03\x01 what is HTTP?\r\n\r\n")
        self.close_connection = True

    def _page_bomb(self):
        self._send(200, BOMB, [("Content-Encoding", "gzip")])

    def _page_broken_gzip(self):
        self._send(200, gzip.compress(self.server.plant.page())[:-20], [("Content-Encoding", "gzip")])

    def _page_huge(self):
        self.send_response(200)
        self.send_header("Content-Length", str(500 << 20))
        self.end_headers()
        line = b'queue_depth{x="%d"} 1\n' * 4000
        try:
            for _ in range((500 << 20) // len(line)):
                self.wfile.write(line)
        except OSError:
            pass
        self.close_connection = True

    def _page_long_label(self):
        self._send(200, self.server.plant.page() + b'long{x="' + b"a" * (1 << 20) + b'"} 1\n')

    def _page_million(self):
        many = b"".join(b'many{i="%d"} 1\n' % i for i in range(1000000))
        self._send(200, self.server.plant.page() + many)

    def _page_nul(self):
        self._send(200, self.server.plant.page() + b'nul{x="a\0b"} 1\n')

    def _page_invalid_utf8(self):
        self._send(200, self.server.plant.page() + b'bad{x="\xff\xfe"} 1\n')


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """The daemon may leave in the middle of an answer; that is no fault of this side."""


class Target:
    def __init__(self, speed=1.0):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.plant, self.server.knobs = Plant(speed), Knobs()
        self.server.mode, self.server.stopping = "good", threading.Event()
        self.server.tell = self._tell
        self.events, self.changed = [], threading.Condition()
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    @property
    def address(self):
        return "127.0.0.1:%d" % self.server.server_address[1]

    @property
    def plant(self):
        return self.server.plant

    @property
    def knobs(self):
        return self.server.knobs

    def mode(self, mode):
        self.server.mode = mode

    def _tell(self, kind, what):
        with self.changed:
            self.events.append((kind, what))
            self.changed.notify_all()

    def count(self, kind):
        with self.changed:
            return sum(1 for k, _ in self.events if k == kind)

    def wait(self, kind, timeout=60.0, after=0):
        """The event of this kind after the first `after` of them."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while True:
                found = [what for k, what in self.events if k == kind]
                if len(found) > after:
                    return found[after]
                left = deadline - time.monotonic()
                if left <= 0 or not self.changed.wait(left):
                    raise AssertionError("no %s within %.0f s" % (kind, timeout))

    def close(self):
        self.server.stopping.set()
        self.server.shutdown()
        self.server.server_close()
