"""Commands that need no daemon."""

import json
import os
import subprocess
import tempfile
import unittest

from harness import BINARY, CONFIG, SEED


def run(*words, code=0, text=""):
    done = subprocess.run([BINARY, *words], input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, "%s ended with %d\n%s%s" % (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout + (done.stderr if code else "")


class Offline(unittest.TestCase):
    def test_detect_finds_a_step(self):
        rows = ["timestamp,value"]
        for i in range(2000):
            value = 38 * (1 + 0.01 * ((i * 7919 % 101) / 50 - 1)) * (1.5 if i >= 1800 else 1)
            rows.append("%d,%s" % (1700000000 + 300 * i, "" if i == 500 else "%.4f" % value))
        out = [json.loads(line) for line in run("detect", "--json", "--csv", "-", text="\n".join(rows)).splitlines()]
        self.assertEqual(2000, len(out))
        self.assertEqual({"timestamp", "value", "score", "state", "finding"}, set(out[1700]))
        self.assertLess(max(r["score"] for r in out[1000:1800]), 0.5)
        self.assertGreaterEqual(max(r["score"] for r in out[1800:1810]), 0.5)
        self.assertTrue(any(r["finding"] for r in out[1800:1810]))
        self.assertEqual((None, None, "missing"), (out[500]["value"], out[500]["score"], out[500]["why"]))
        self.assertEqual(2001, len(run("detect", "--csv", "-", text="\n".join(rows)).splitlines()))

    def test_detect_refuses_with_place(self):
        self.assertIn("-:3: 'soon' is not a time", run("detect", "--csv", "-", text="timestamp,value\n1,2\nsoon,3\n", code=1))
        self.assertIn("--csv FILE", run("detect", code=2))
        self.assertIn("No such file", run("detect", "--csv", "/nowhere/at/all", code=1))

    def test_lint_names_lines(self):
        good = "# TYPE a gauge\na 1\n"
        self.assertIn("SUCCESS, 1 samples", run("metrics", "lint", "-", text=good))
        self.assertIn("SUCCESS", run("metrics", "lint", "--strict", "-", text=good))
        self.assertIn("-:2:", run("metrics", "lint", "-", text='a 1\nb{x="} 2\n', code=1))
        self.assertIn("did you mean", run("metrcs", "lint", "-", code=2))
        self.assertIn("metrics lint FILE", run("metrics", "lnt", "-", code=2))

    def test_query_and_cost_read_what_the_daemon_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("no such file", run("query", "x", "--data", folder, code=1))
            self.assertIn("no such file", run("cost", "--data", folder, code=1))
            subprocess.run([SEED, "points", folder, "a", "latency_p99"], check=True)
            at = ["--data", folder, "--until", "2026-05-12T02:00:00Z"]
            rows = run("query", 'latency_p99{service="a"}', *at, "-o", "csv").splitlines()
            self.assertEqual(["timestamp,series,value",
                              '2026-05-12T02:00:00.000Z,"latency_p99{layer=""request"",service=""a""}",40'], rows)
            answer = json.loads(run("query", "max_over_time(latency_p99[10m])", *at, "-o", "json"))
            self.assertEqual("success", answer["status"])
            self.assertEqual({"layer": "request", "service": "a"}, answer["data"]["result"][0]["metric"])
            self.assertEqual("59", answer["data"]["result"][0]["value"][1])
            lines = run("query", "latency_p99", *at, "--since", "1h", "--step", "10m", "-o", "csv").splitlines()
            self.assertEqual(1 + 7, len(lines))
            self.assertIn("not a function", run("query", "frobnicate(x)", *at, code=2))
            self.assertIn("11,000 steps", run("query", "x", *at, "--since", "14d", "--step", "1s", code=2))
            told = json.loads(run("cost", "--data", folder, "-o", "json"))
            request = told["layers"][0]
            self.assertEqual(("request", 1, 721, 14), tuple(request[k] for k in ("layer", "series", "points", "days_kept")))
            self.assertAlmostEqual(8652, request["points_a_day"], delta=1)
            self.assertIn("two hours after the first point", run("cost", "--data", folder))

    def test_simulate_gives_the_same_bytes(self):
        self.assertIn("reference", run("simulate", "--list").splitlines())
        one = run("simulate", "--scenario", "release", "--seed", "7", "--json")
        self.assertEqual(one, run("simulate", "--scenario", "release", "--seed", "7", "--json"))
        self.assertNotEqual(one, run("simulate", "--scenario", "release", "--seed", "8", "--json"))
        told = json.loads(one)
        self.assertEqual(("release", 7), (told["scenario"], told["seed"]))
        self.assertIn("did you mean 'release'", run("simulate", "--scenario", "relase", code=1))
        self.assertIn("--seed is a whole number", run("simulate", "--scenario", "release", "--seed", "-1", code=2))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write("nme: x\n")
            self.assertIn("s.yaml:1:", run("simulate", "--scenario", path, code=1))

    def test_a_policy_of_several_services_is_tested_one_by_one(self):
        scenario = """scenario: several
parts:
  - name: the second service
    world: script
    policy: config.yaml
    service: rerank
    interval: 1m
    duration: 25h
    series: {latency_p99: "38x1440 46.8x60", queue_depth: "140x1440 320x60", gpu_util: "0.65x1440 0.78x60",
             throughput: "1000x1500", batch_size: "31x1500", error_ratio: "0.001x1500"}
    knobs: {batch_max: 32}
    expect:
      - {at: 23h, state: watching, reason: healthy}
      - {at: 24h2m, symptom: latency-degraded}
      - {at: 24h5m, reason: evidence-before, cause: compute-bound, knob: batch_max, to: 64}
"""
        with tempfile.TemporaryDirectory() as folder:
            first = CONFIG.format(mode="auto", target="127.0.0.1:9", timeout="5s", write_more="", more="")
            second = first[first.index("  - name"):].replace("name: embed", "name: rerank").replace("mode: auto", "mode: alert")
            for name, text in (("config.yaml", first + second), ("good.yaml", scenario),
                               ("bad.yaml", scenario.replace("to: 64", "to: 128").replace("healthy", "blind")),
                               ("none.yaml", scenario.replace("service: rerank", "service: rank"))):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
            self.assertIn("3 passed, 0 failed", run("test", os.path.join(folder, "good.yaml")))
            out = run("test", os.path.join(folder, "bad.yaml"), code=1)
            self.assertIn("1 passed, 2 failed", out)
            self.assertIn("reason: expected blind, got healthy", out)
            self.assertIn("to: expected 128, got 64", out)
            self.assertIn("no service 'rank'", run("test", os.path.join(folder, "none.yaml"), code=1))

    def test_help_has_examples_of_every_command(self):
        for line in run("help").split("Commands:\n")[1].splitlines():
            if line.startswith("  "):
                self.assertIn("trimtab " + line.split()[0], run("help", line.split()[0]))


if __name__ == "__main__":
    unittest.main()
