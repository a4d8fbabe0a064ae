"""The command line against a real daemon and a real target."""

import http.server
import json
import os
import subprocess
import threading
import time
import unittest
import urllib.parse

import harness
from harness import SystemTest


class History(http.server.BaseHTTPRequestHandler):
    """query_range of a server that knows four signals, each at half of the times, and refuses one query."""

    values = (("gpu", 0.65), ("queue", 140), ("quantile", 0.038), ("batch", 31))

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        begin, end, step = (float(form[k]) for k in ("start", "end", "step"))
        self.server.asked.append((form["query"], begin, end, step))
        value = next((v for word, v in self.values if word in form["query"]), None)
        answer = {"status": "error", "errorType": "bad_data", "error": "no such thing"}
        if value is not None:
            at = [begin + i * step for i in range(0, int((end - begin) / step) + 1, 2)]
            answer = {"status": "success", "data": {"resultType": "matrix", "result": [
                {"metric": {}, "values": [[t, "%.9g" % (value * (1 + 0.01 * (i * 7919 % 101) / 50))] for i, t in enumerate(at)]}]}}
        body = json.dumps(answer).encode()
        self.send_response(200 if value is not None else 400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Cli(SystemTest):
    def cli(self, *words, code=0, data=None, **env):
        argv = [harness.BINARY, *words]
        if words[0] not in ("detect", "simulate", "metrics", "reasons", "help"):
            argv += ["--data", data or os.path.join(self.folder, "data")]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, env={**os.environ, **env})
        self.assertEqual(code, done.returncode, "%s\n%s\n%s" % (words, done.stdout, done.stderr))
        return done.stdout if code == 0 else done.stdout + done.stderr

    def json(self, *words, **more):
        return json.loads(self.cli(*words, "-o", "json", **more))

    def until(self, what, want, timeout=60.0):
        """Asks until the answer fits: each answer of the daemon is the event waited for."""
        deadline = time.monotonic() + timeout
        value = what()
        while not want(value):
            if time.monotonic() > deadline:
                self.fail("still %s" % json.dumps(value, indent=1))
            value = what()
        return value

    def warm(self, mode="auto", speed=0):
        config = self.config(mode=mode)
        self.seed(config)
        d = self.start(config, speed=speed)
        self.target.wait("scrape", after=40)
        self.until(lambda: self.json("status", "embed"), lambda v: v["state"] == "watching")
        return d

    def worse(self):
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)

    def test_status_shows_each_signal(self):
        self.warm()
        one = self.until(lambda: self.json("status", "embed"), lambda v: v["signals"][0]["value"] is not None)
        p99 = one["signals"][0]
        self.assertEqual(("latency_p99", "ms", "request", "normal"), (p99["name"], p99["unit"], p99["layer"], p99["state"]))
        self.assertAlmostEqual(38, p99["value"], delta=0.5)
        self.assertAlmostEqual(38, p99["baseline"], delta=0.5)
        text = self.cli("status", "embed")
        for word in ("SIGNAL", "BASELINE", "latency_p99", "queue_depth", "batch_max", "38 ms", "/metrics"):
            self.assertIn(word, text)
        self.assertIn("embed", self.cli("status", "-o", "wide"))
        self.assertIn("services:\n  - service: \"embed\"", self.cli("status", "-o", "yaml"))
        self.assertNotIn("\033", text)
        self.assertIn("did you mean 'embed'?", self.cli("status", "embedd", code=1))

    def test_explain_names_what_is_shut(self):
        self.warm()
        self.assertIn("nothing is changed, because no symptom is true", self.cli("explain", "embed"))
        self.worse()
        found = self.until(lambda: self.json("explain", "embed"), lambda v: v["incident"] and v["decision"]["gates"])
        shut = [g for g in found["decision"]["gates"] if g["shut"]]
        if shut:
            self.assertEqual(shut, found["decision"]["gates"][:len(shut)])
            self.assertTrue(shut[0]["opens_when"])
        self.assertIn("latency_p99 46.8 ms > 1.15 * baseline", found["symptoms"][0]["explain"])

    def test_approve_is_a_persons_and_its_story_is_told(self):
        self.warm(mode="confirm", speed=100)
        self.worse()
        asked = self.until(lambda: self.json("status", "embed"), lambda v: v["request"])
        self.assertEqual(("batch_max", "32", "64"), tuple(asked["request"][k] for k in ("knob", "from", "to")))
        self.assertEqual(0, self.target.count("write"))
        self.assertIn("another one", self.cli("approve", "embed", "0123456789abcdef", code=1))
        self.cli("approve", "embed", asked["request"]["id"], "--by", "zhang")
        self.assertEqual(64, self.target.wait("write")[1])
        self.target.plant.set(p99=0.0375, queue=70.0, gpu=0.66, fill=60.0)
        story = self.until(lambda: self.json("audit", "show", "embed/1"),
                           lambda v: any(r["kind"] == "VERDICT" for r in v["records"]))
        verdict = next(r["verdict"] for r in story["records"] if r["kind"] == "VERDICT")
        told = self.cli("audit", "show", "embed/1")
        for heading in ("Noticed", "Located", "Decided", "Did", "Watched", "Verdict", "zhang", "32 -> 64", verdict):
            self.assertIn(heading, told)
        self.assertEqual("embed/1", self.json("audit", "show", "embed/1")["action"])
        listed = self.until(lambda: self.json("incidents"), lambda v: v["incidents"])
        self.assertEqual("latency-degraded", listed["incidents"][0]["symptom"])
        self.assertIn("embed/1", self.cli("incidents"))
        self.assertIn("Noticed", self.cli("incidents", "embed/1"))
        self.assertIn("no request waits", self.cli("reject", "embed", code=1))

    def test_halt_stops_writes_until_resume(self):
        d = self.warm(speed=80)
        self.worse()
        self.until(lambda: self.json("status", "embed"), lambda v: v["incident"])
        self.assertIn("halted", self.cli("halt", "--all", "--reason", "load test", "--by", "li"))
        one = self.json("status", "embed")
        self.assertEqual((True, "li", "load test"), (one["halted"], one["halted_by"], one["halted_why"]))
        self.target.wait("scrape", after=self.target.count("scrape") + 60)
        self.assertEqual(0, self.target.count("write"))
        self.assertIn("li halted it: load test", self.cli("explain", "embed"))
        self.cli("resume", "embed")
        self.target.wait("write")
        self.assertEqual(0, d.end())

    def test_cancel_takes_it_back(self):
        self.warm(speed=100)
        self.worse()
        self.assertEqual(64, self.target.wait("write")[1])
        self.until(lambda: self.json("status", "embed"),
                   lambda v: v["action"] and v["action"]["phase"] in ("settling", "observing"))
        self.cli("cancel", "embed", "--by", "wang")
        self.assertEqual(32, self.target.wait("write", after=1)[1])
        story = self.until(lambda: self.json("audit", "show", "embed/1"),
                           lambda v: any(r["kind"] == "UNDONE" for r in v["records"]))
        self.assertIn("wang", [r.get("by") for r in story["records"] if r["kind"] == "CANCEL"])
        told = self.cli("audit", "show", "embed/1")
        self.assertIn("embed/1: batch_max 32 -> 64, taken back", told)
        self.assertTrue(self.json("status", "embed")["knobs"][0]["suspended"])
        self.cli("normal-now", "embed")
        self.assertEqual("watching", self.until(lambda: self.json("status", "embed"), lambda v: v["state"] == "watching")["state"])

    def test_halt_works_without_a_daemon(self):
        d = self.warm()
        d.end()
        out = self.cli("halt", "embed", "--reason", "night")
        self.assertEqual("", out)
        path = os.path.join(self.folder, "data", "halt.embed")
        with open(path, encoding="utf-8") as f:
            self.assertIn("night", f.read())
        again = self.start(os.path.join(self.folder, "config.yaml"))
        self.until(lambda: self.json("status", "embed"), lambda v: v["halted"])
        self.assertIn("still says halt", self.cli("resume", "embed", code=1))
        os.remove(path)
        self.cli("resume", "embed")
        self.assertEqual(0, again.end())

    def test_audit_is_checked_with_and_without_a_daemon(self):
        d = self.warm()
        self.cli("halt", "embed")
        self.cli("resume", "embed")
        self.assertTrue(self.json("audit", "verify")["good"])
        d.end()
        report = self.json("audit", "verify")
        self.assertTrue(report["good"])
        self.assertEqual(report["records"], len(self.cli("audit", "export").splitlines()))
        path = os.path.join(self.folder, "data", "audit.db")
        with open(path, "r+b") as f:
            text = f.read()
            at = text.index(b'"kind":"RESUME"')
            f.seek(at + 9)
            f.write(b"X")
        self.assertIn("BAD", self.cli("audit", "verify", path, code=1))

    def test_token_is_needed_and_said(self):
        self.warm()
        wrong = os.path.join(self.folder, "wrong")
        with open(wrong, "w", encoding="ascii") as f:
            f.write("0" * 64 + "\n")
        self.assertIn("token", self.cli("retry", "embed", "--token-file", wrong, code=4))
        self.assertIn("token", self.cli("retry", "embed", "--token-file", wrong + "-absent", code=4))

    def test_wrong_words_end_with_2(self):
        self.assertIn("no daemon answers", self.cli("status", code=1, data=self.folder, TRIMTAB_ADDRESS="127.0.0.1:1"))
        self.assertIn("-o takes json", self.cli("status", "-o", "xml", code=2))
        self.assertIn("did you mean 'verify'", self.cli("audit", "verfy", code=2))
        self.assertIn("say one service, or --all", self.cli("halt", code=2))
        self.assertIn("evidence-before", self.cli("reasons"))

    def test_history_makes_warm_at_once(self):
        d = self.start(self.config(), speed=1)
        now = int(time.time())
        path = os.path.join(self.folder, "history.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write("timestamp,latency_p99,queue_depth,throughput,batch_size,gpu_util,error_ratio\n")
            for i in range(3000):
                noise = 1 + 0.01 * ((i * 7919 % 101) / 50 - 1)
                values = [v * noise for v in (38, 140, 1000, 31, 0.65, 0.001)]
                f.write("%d,%s\n" % (now - (3000 - i) * 30, ",".join("%.6g" % v for v in values)))
        self.assertFalse(self.json("status", "embed")["warm_for_auto"])
        self.assertIn("at once after: trimtab import embed", self.cli("status", "embed"))
        self.assertIn("3000 rows", self.cli("import", "embed", path))
        one = self.json("status", "embed")
        self.assertTrue(one["imported"])
        self.assertEqual({"shift": True, "auto": True, "drift": False, "week": False},
                         {v["view"]: v["awake"] for v in one["views"] if v["view"] != "spike"})
        self.assertIn("(from imported history)", self.cli("status", "embed"))
        self.assertTrue(one["warm_for_auto"])
        self.assertAlmostEqual(38, one["signals"][0]["baseline"], delta=1)
        with open(path, "w", encoding="ascii") as f:
            f.write("timestamp,latncy\n%d,1\n" % now)
        self.assertIn("no signal 'latncy'", self.cli("import", "embed", path, code=1))
        self.assertEqual(0, d.end())

    def test_history_from_a_server(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), History)
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = "http://127.0.0.1:%d/" % server.server_port
        d = self.start(self.config(), speed=1)
        # Five days at 30 s are 14,400 ticks: two pieces a signal, the second where the first ended.
        done = subprocess.run([harness.BINARY, "import", "embed", "--prometheus", url, "--since", "5d", "--data",
                               os.path.join(self.folder, "data")], capture_output=True, text=True, timeout=60)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("has no history", done.stderr)
        self.assertIn("no such thing", done.stderr)
        first = [a for a in server.asked if "queue" in a[0]]
        self.assertEqual(2, len(first))
        self.assertEqual(first[0][2] + 30, first[1][1])
        one = self.json("status", "embed")
        self.assertTrue(one["imported"])
        queue = next(s for s in one["signals"] if s["name"] == "queue_depth")
        self.assertAlmostEqual(141, queue["baseline"], delta=2)
        self.assertIn("no service nosuch", self.cli("import", "nosuch", "--prometheus", url, code=1))
        self.assertIn("does not answer", self.cli("import", "embed", "--prometheus", "http://127.0.0.1:1", code=1))
        self.assertIn("a server is asked for all", self.cli("import", "embed", "--prometheus", url, "--signal", "x", code=2))
        self.assertEqual(0, d.end())


if __name__ == "__main__":
    unittest.main()
