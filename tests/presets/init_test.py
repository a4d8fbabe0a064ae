"""trimtab init over real HTTP: each page becomes a file that the check accepts; a server with Prometheus's API too."""

import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
TRIMTAB = os.environ.get("TRIMTAB", os.path.join(HERE, "..", "..", "build", "trimtab"))
SHARED = os.environ.get("TRIMTAB_SHARED", os.path.join(HERE, "..", "..", "..", "shared"))
SAMPLES = os.path.join(SHARED, "samples")
SYNTHETIC = ["tei", "tgi", "llamacpp", "envoy", "redis", "dcgm", "sglang"]
REAL = {"triton_2.51_loaded": "triton", "vllm_cpu_0.32_loaded": "vllm", "ray_serve_2.60": "ray-serve", "torchserve": "torchserve",
        "mlserver_1.7.1_workers1": "mlserver", "ovms": "ovms", "bentoml_1.4.40": "bentoml", "infinity_0.0.78": "infinity",
        "node_exporter_e2e": "node", "cadvisor_prometheus_metrics": "cadvisor"}


def series_of(text):
    """Metric -> number of series, as much as a server with Prometheus's API must know for init."""
    found = {}
    for line in text.splitlines():
        name = re.match(r"[a-zA-Z_:][\w:]*", line)
        if name and not line.startswith("#"):
            found[name[0]] = found.get(name[0], 0) + 1
    return found


class Handler(http.server.BaseHTTPRequestHandler):
    """Pages under /pages/NAME; a small part of Prometheus's API for the page `api_page`, seen as job chat-llm."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        if url.path.startswith("/pages/"):
            return self.answer(self.server.pages.get(url.path[7:]), "text/plain; version=0.0.4")
        query = urllib.parse.parse_qs(url.query).get("query", [""])[0]
        if url.path == "/prom/api/v1/label/job/values":
            return self.answer(json.dumps({"status": "success", "data": ["chat-llm", "nobody", "a\"b"]}), "application/json")
        if url.path == "/prom/api/v1/query":
            data = {"resultType": "vector", "result": self.rows(query)}
            return self.answer(json.dumps({"status": "success", "data": data}), "application/json")
        return self.answer(None, "")

    def rows(self, query):
        if query.startswith("count by (__name__)"):
            names = sorted(self.server.series) if 'job="chat-llm"' in query else ["up", "scrape_duration_seconds"]
            return [{"metric": {"__name__": name}, "value": [0, "1"]} for name in names]
        if "count_over_time(up" in query:
            return [{"metric": {}, "value": [0, "4"]}]           # a scrape each 30 s
        names = set(re.findall(r"[a-zA-Z_:][\w:]*(?=\{)", query))
        return [{"metric": {}, "value": [0, "0.25"]}] if names and names <= set(self.server.series) else []

    def answer(self, text, kind):
        body = (text or "").encode()
        self.send_response(200 if text is not None else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class InitTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        cls.server.pages, cls.presets = {}, {}
        for name in SYNTHETIC:
            cls.add(name, os.path.join(HERE, "pages", name + ".txt"), name)
        for name, preset in REAL.items():
            path = os.path.join(SAMPLES, name + ".txt")
            if os.path.exists(path):
                cls.add(name, path, preset)
        cls.server.series = series_of(cls.server.pages["sglang"])
        cls.url = f"http://127.0.0.1:{cls.server.server_port}"
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    @classmethod
    def add(cls, name, path, preset):
        with open(path, encoding="utf-8") as f:
            cls.server.pages[name] = f.read()
        cls.presets[name] = preset

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def run_it(self, *args):
        return subprocess.run([TRIMTAB, *args], capture_output=True, text=True, timeout=60, check=False)

    def written(self, *args):
        """The file that init writes, accepted by the check without a warning; and what init said."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "my.yaml")
            done = self.run_it("init", *args, "--out", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            check = self.run_it("check", "--strict", path)
            self.assertEqual(check.returncode, 0, check.stderr)
            with open(path, encoding="utf-8") as f:
                return f.read(), done.stderr

    def test_each_page_becomes_a_file_that_is_accepted(self):
        for name, preset in self.presets.items():
            with self.subTest(page=name):
                text, said = self.written("--target", f"{self.url}/pages/{name}")
                self.assertIn(f"preset: [{preset}]", text)
                self.assertIn("mode: alert", text)
                self.assertEqual(len(re.findall(r"# layer (?:request|processing|system|data): ", text)), 4)
                self.assertEqual(len(re.findall(r"^  layer ", said, re.M)), 4)

    def test_missing_layers_are_said_with_what_cannot_be_seen(self):
        _, said = self.written("--target", f"{self.url}/pages/tei")
        self.assertIn("layer system: MISSING; whether there is room left is not seen", said)
        self.assertIn("layer data: MISSING but for lengths; whether an upstream is late is not seen", said)
        _, said = self.written("--target", f"{self.url}/pages/redis")
        self.assertIn("layer request: MISSING; what users feel is not seen", said)
        self.assertIn("layer processing: MISSING; where work piles up is not seen", said)

    def test_exporters_stand_beside_the_server(self):
        args = [a for n in ("dcgm", "tei", "redis") for a in ("--target", f"{self.url}/pages/{n}")]
        text, said = self.written(*args, "--name", "embedding", "--objective", "80 ms")
        self.assertIn("- name: embedding\n", text)
        self.assertIn("preset: [tei, dcgm, redis]", text)
        self.assertEqual(len(re.findall(r"exporter: true\}", text)), 2)
        self.assertIn("slo: {when: latency_p99 > 80 ms, slo: true}", text)
        self.assertNotIn("MISSING", said)
        self.assertRegex(text, r"without:[^\n]*\n(      - \w+\n)*      - gpu_|with:")

    def test_instances_of_one_server_are_one_service(self):
        self.server.pages["tei-2"] = self.server.pages["tei"]
        text, said = self.written("--target", f"{self.url}/pages/tei", "--target", f"{self.url}/pages/tei-2")
        self.assertIn("preset: [tei]", text)
        self.assertEqual(len(re.findall(r"- \{url: ", text)), 2)
        self.assertNotIn("exporter: true", text)
        self.assertIn("layer request: 6 signals", said)

    def test_a_server_with_prometheus_api(self):
        text, _ = self.written("--prometheus", f"{self.url}/prom")
        self.assertIn(f"url: '{self.url}/prom'", text)
        self.assertIn("- name: chat-llm\n", text)
        self.assertIn("source: prometheus", text)
        self.assertIn("where: {sglang: 'job=\"chat-llm\"'}", text)
        self.assertIn("range: 120s", text)
        self.assertIn("      - queue_wait_ms\n", text)

    def test_what_cannot_be_done_is_said(self):
        done = self.run_it("init", "--target", f"{self.url}/pages/nothing")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("status 404", done.stderr)
        self.server.pages["foreign"] = "# TYPE x counter\nx_total 1\n"
        done = self.run_it("init", "--target", f"{self.url}/pages/foreign")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no preset knows this page", done.stderr)
        done = self.run_it("init", "--prometheus", f"{self.url}/other")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.run_it("init").returncode, 2)
        with tempfile.NamedTemporaryFile() as there:
            done = self.run_it("init", "--target", f"{self.url}/pages/tei", "--out", there.name)
            self.assertEqual(done.returncode, 1)
            self.assertIn("a file that is there is left as it is", done.stderr)
            self.assertEqual(os.path.getsize(there.name), 0)


if __name__ == "__main__":
    unittest.main()
