"""The daemon asks a real Prometheus and a real VictoriaMetrics for its signals: history at the first start, the whole loop,
refused queries, a server that goes away."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
from harness import SystemTest  # noqa: E402

SOURCE = "    source: prometheus\n    prometheus: {{url: {url}, timeout: 5s, history: {history}{more}}}\n    targets:\n"
NORMAL = {"p99_seconds": 0.038, "queue_depth": 140, "gpu_util": 0.65, "throughput": 1000, "batch_fill": 31, "fetch_seconds": 0.0062,
          "errors_ratio": 0.001}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def call(url, data=None):
    with urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=30) as r:
        return r.read()


class Server:
    """A process that answers on `url` once `ready` does."""

    def __init__(self, argv, url, ready):
        self.argv, self.url, self.ready = argv, url, ready
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                call(self.url + self.ready)
                return
            except (urllib.error.URLError, ConnectionError, OSError):
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                select_pause()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def value(self, query):
        body = json.loads(call(self.url + "/api/v1/query", urllib.parse.urlencode({"query": query}).encode()))
        result = body["data"]["result"]
        return float(result[0]["value"][1]) if result else None

    def wait_value(self, query, timeout=60):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            v = self.value(query)
            if v is not None:
                return v
            select_pause()
        raise AssertionError("%s never had a value" % query)


def select_pause():
    """Lets a peer that has no event to wait for do its work."""
    import threading
    threading.Event().wait(0.1)


def past(minutes, step, rnd):
    """Two days of a quiet service in OpenMetrics."""
    end = int(time.time()) // step * step - step
    lines = []
    for name, mean in NORMAL.items():
        lines.append("# TYPE %s gauge" % name)
        for t in range(end - minutes * 60, end + 1, step):
            lines.append('%s{instance="t",job="embed"} %.6g %d' % (name, mean * (1 + rnd.gauss(0, 0.01)), t))
    return "\n".join(lines) + "\n# EOF\n"


class Peer(SystemTest):
    speed = 20
    past_minutes = 2 * 24 * 60
    flush = None

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def scrape_config(self):
        return self.write("prometheus.yml", "global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: embed\n  static_configs:\n"
                          "  - targets: ['%s']\n    labels: {instance: t}\n" % self.target.address)

    def server_config(self, url, history="2d", more="", **kw):
        path = self.config(**kw)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        text = text.replace("    targets:\n", SOURCE.format(url=url, history=history, more=more))
        text = text.replace("services:\n", "remote_write: {url: \"%s/api/v1/write\", interval: 10s}\nservices:\n" % url)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def signals(self, d):
        return {s["name"]: s for s in json.loads(d.request("GET", "/api/v1/services/embed")[1])["data"]["signals"]}

    def wait_signal(self, d, name, fits, timeout=60):
        deadline = time.monotonic() + timeout
        s = None
        while time.monotonic() < deadline:
            s = self.signals(d)[name]
            if fits(s):
                return s
        raise AssertionError("%s is %s; the log was:\n%s" % (name, s, d.story()))

    def live(self, server):
        """History makes it warm, a bad value opens an incident, the knob moves and stays; a bad query costs one signal."""
        server.wait_value("p99_seconds")
        config = self.server_config(server.url)
        with open(config, encoding="utf-8") as f:
            text = f.read()
        text = text.replace("    judge:\n", "      odd: {layer: data, unit: \"\", query: \"sum(queue_depth) + on(nothing) "
                            "({instance=~'.+', __name__=~'p99_seconds|gpu_util'})\", interval: 10s}\n    judge:\n")
        with open(config, "w", encoding="utf-8") as f:
            f.write(text)
        d = self.start(config)
        line = d.wait_line(msg="history was read")
        self.assertGreater(int(line["rows"]), 0.9 * self.past_minutes * 2)
        s = self.wait_signal(d, "latency_p99", lambda s: s["value"] is not None and s["baseline"] is not None)
        self.assertAlmostEqual(38, s["value"], delta=0.5)
        self.assertAlmostEqual(38, s["baseline"], delta=1)
        odd = self.wait_signal(d, "odd", lambda s: s["why"] == "server")
        self.assertIsNone(odd["value"])
        d.wait_metric('trimtab_queries_total{outcome="refused"}', lambda v: v > 0)
        refused = d.metric('trimtab_queries_total{outcome="refused"}')
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        try:
            name, value, match, status, _ = self.target.wait("write", timeout=240)
        except AssertionError:
            print(d.story())
            raise
        self.assertEqual(("batch_max", 64, '"1"', 200), (name, value, match, status))
        self.target.plant.set(p99=0.0375, queue=70.0, gpu=0.66, fill=60.0)
        self.assertEqual("effective", d.wait_line(component="audit", msg="VERDICT", timeout=120)["verdict"], d.story())
        self.flows_back(d, server)
        self.assertLess(d.metric('trimtab_queries_total{outcome="failed"}') or 0, 5)
        self.assertGreater(d.metric('trimtab_queries_total{outcome="ok"}'), refused)
        return d

    def flows_back(self, d, server):
        """Signals, baselines and marks of actions are found in the server by its own queries."""
        d.wait_metric('trimtab_remote_writes_total{outcome="sent"}', lambda v: v > 0)
        # Sent with nominal times, which run ahead of the server's clock: asked for at the newest of them.
        def over(function, metric, **labels):
            return "%s(%s{%s}[1d] offset -1d)" % (function, metric, ",".join('%s="%s"' % x for x in labels.items()))

        if self.flush:
            call(server.url + self.flush)
        p99 = {"service": "embed", "signal": "latency_p99"}
        self.assertAlmostEqual(38, server.wait_value(over("min_over_time", "trimtab_signal_value", **p99)), delta=1)
        self.assertAlmostEqual(38, server.wait_value(over("min_over_time", "trimtab_signal_baseline", **p99)), delta=1)
        verdict = over("last_over_time", "trimtab_mark", kind="VERDICT", verdict="effective", service="embed")
        self.assertEqual(1, server.wait_value(verdict))
        intent = {"from": "32", "to": "64", "kind": "INTENT"}
        self.assertEqual(1, server.wait_value("count(%s)" % over("last_over_time", "trimtab_mark", **intent)))
        self.assertEqual(0, d.metric('trimtab_remote_writes_total{outcome="failed"}') or 0)

    def goes_away(self, d, server):
        server.stop()
        s = self.wait_signal(d, "latency_p99", lambda s: s["value"] is None)
        self.assertIn(s["why"], ("scrape-failed", "stale"))
        d.wait_line(component="prometheus", msg="signals are unknown: the server did not answer well")
        server.start()
        self.wait_signal(d, "latency_p99", lambda s: s["value"] is not None)
        self.assertEqual(0, d.end())


@unittest.skipUnless(shutil.which("prometheus") and shutil.which("promtool"), "prometheus is not installed")
class Prometheus(Peer):
    def test_a_real_prometheus(self):
        data = os.path.join(self.folder, "tsdb")
        page = self.write("past.om", past(self.past_minutes, 30, random.Random(1)))
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", page, data], check=True, stdout=subprocess.DEVNULL)
        port = free_port()
        server = Server(["prometheus", "--config.file=" + self.scrape_config(), "--storage.tsdb.path=" + data,
                         "--web.listen-address=127.0.0.1:%d" % port, "--storage.tsdb.retention.time=30d",
                         "--web.enable-remote-write-receiver"],
                        "http://127.0.0.1:%d" % port, "/-/ready")
        self.addCleanup(server.stop)
        d = self.live(server)
        self.goes_away(d, server)


    def certificate(self, name):
        """A key and a certificate signed by itself."""
        key, cert = os.path.join(self.folder, name + ".key"), os.path.join(self.folder, name + ".pem")
        argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-keyout", key, "-out", cert, "-subj", "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1"]
        subprocess.run(argv, check=True, stderr=subprocess.DEVNULL)
        return cert, key

    def test_with_passwords_and_certificates_on_both_sides(self):
        server_cert, client_cert, foreign = self.certificate("server"), self.certificate("client"), self.certificate("foreign")
        import crypt
        import warnings
        warnings.simplefilter("ignore")
        web = self.write("web.yml", "tls_server_config: {cert_file: %s, key_file: %s, client_ca_file: %s, client_auth_type: "
                         "RequireAndVerifyClientCert}\nbasic_auth_users: {trimtab: '%s'}\n" %
                         (*server_cert, client_cert[0], crypt.crypt("open sesame", crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16))))
        port = free_port()
        process = subprocess.Popen(["prometheus", "--config.file=" + self.scrape_config(), "--storage.tsdb.path=" +
                                    os.path.join(self.folder, "tsdb"), "--web.listen-address=127.0.0.1:%d" % port,
                                    "--web.config.file=" + web], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        secret = self.write("basic", "trimtab:open sesame\n")
        os.chmod(secret, 0o600)
        wrong = self.write("wrong", "trimtab:open barley\n")
        os.chmod(wrong, 0o600)
        for name, cert, basic, ca_file, want in [("good", client_cert, secret, server_cert[0], None),
                                                 ("password", client_cert, wrong, server_cert[0], "HTTP 401"),
                                                 ("client", foreign, secret, server_cert[0], ""),
                                                 ("authority", client_cert, secret, foreign[0], "")]:
            more = ", basic_file: %s, cert_file: %s, key_file: %s, ca_file: %s" % (basic, *cert, ca_file)
            config = self.server_config("https://127.0.0.1:%d" % port, history="0s", more=more, name=name + ".yaml")
            d = self.start(config, speed=1)
            if want is None:
                self.wait_signal(d, "queue_depth", lambda s: s["value"] == 140)
            else:
                line = d.wait_line(component="prometheus", msg="signals are unknown: the server did not answer well")
                self.assertIn(want, line["error"])
                self.assertNotIn("sesame", d.story())
            self.assertEqual(0, d.end())
            shutil.rmtree(d.data)


@unittest.skipUnless(shutil.which("victoria-metrics"), "victoria-metrics is not installed")
class VictoriaMetrics(Peer):
    flush = "/internal/force_flush"

    def test_a_real_victoria_metrics(self):
        port = free_port()
        server = Server(["victoria-metrics", "-storageDataPath=" + os.path.join(self.folder, "vm"), "-retentionPeriod=1",
                         "-httpListenAddr=127.0.0.1:%d" % port, "-memory.allowedBytes=128MiB", "-search.latencyOffset=0s",
                         "-search.disableCache", "-promscrape.config=" + self.scrape_config()],
                        "http://127.0.0.1:%d" % port, "/health")
        self.addCleanup(server.stop)
        lines = [x for x in past(self.past_minutes, 30, random.Random(1)).split("\n") if x and not x.startswith("#")]
        body = "\n".join(x + "000" for x in lines).encode()
        call(server.url + "/api/v1/import/prometheus", body)
        call(server.url + "/internal/force_flush")
        d = self.live(server)
        self.goes_away(d, server)


if __name__ == "__main__":
    program = unittest.main(exit=False, argv=sys.argv)
    result = program.result
    if result.wasSuccessful() and len(result.skipped) == result.testsRun:
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() else 1)
