"""trimtab replay over CSV, folders, the data of a real daemon, and a real Prometheus."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

from harness import BINARY, CONFIG, SystemTest

START = 1778457600                        # 2026-05-11T00:00:00Z
NOISE = [0, 0.4, -0.3, 0.2, -0.5, 0.3, -0.1]
FAULT_AT = "2026-05-12T00:00:30"          # the 2,881st point of 30 s


def run(*words, code=0):
    done = subprocess.run([BINARY, "replay", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, "%s ended with %d\n%s%s" % (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout if code == 0 else done.stderr


def row(i, bad_from=2881, bad=61):
    """The reference story: 24 h of health, then half an hour of 46.8 ms and a queue of 320 at a busy GPU."""
    ill, e = bad_from <= i < bad_from + bad, NOISE[i % 7]
    return {"latency_p99": (46.8 if ill else 38) + e, "queue_depth": (320 if ill else 140) + 4 * e, "throughput": 1000.0,
            "batch_size": 31.0, "gpu_util": 0.78 if ill else 0.65, "error_ratio": 0.001}


def csv(path, rows, **more):
    """Columns of `more` are functions of the row's number."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(",".join(["timestamp", *row(0), *more]) + "\n")
        for i in rows:
            values = ["%.6g" % v for v in row(i).values()] + [str(m(i)) for m in more.values()]
            f.write(",".join(["%d" % (START + 30 * i), *values]) + "\n")


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="trimtab-replay-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def config(self, mode="auto", name="config.yaml", more=""):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(CONFIG.format(mode=mode, target="127.0.0.1:9", timeout="5s", write_more="", more=more))
        return self.path(name)

    def json(self, *words):
        return json.loads(run("--config", self.config(), "--json", *words))


class FromCsv(Base):
    def test_csv_tells_what_would_have_been_done(self):
        csv(self.path("a.csv"), range(3060), batch_max=lambda i: 32)
        told = self.json("--from", self.path("a.csv"))
        service = told["services"][0]
        self.assertEqual(("embed", "auto", 3060), (service["service"], service["mode"], service["ticks"]))
        self.assertEqual([("batch_max", 32, "recorded")], [(k["knob"], k["start"], k["known_from"]) for k in service["knobs"]])
        incident, = service["incidents"]
        self.assertEqual((1, ["latency-degraded"], False), (incident["incident"], incident["symptoms"], incident["counterfactual"]))
        self.assertTrue(incident["onset"].startswith(FAULT_AT), incident["onset"])
        self.assertIn("1.15 * baseline 38", incident["rule"])
        self.assertEqual("recovered", incident["outcome"])
        plan, = service["would_be_actions"]
        self.assertEqual(("compute-bound", "batch_max", 32, 64, "act", None, False),
                         tuple(plan[k] for k in ("cause", "knob", "from", "to", "would", "asks_because", "counterfactual")))
        self.assertEqual(plan["at"], service["counterfactual_from"])
        self.assertIn({"reason": "mode-alert", "shut": True, "knob": "batch_max", "note": None}, plan["gates"])
        # Nine ticks wait for five minutes of evidence; after the plan its own gap and interval count.
        self.assertEqual(9, told["summary"]["held_back"]["evidence-before"])
        self.assertEqual((1, 1, 0), tuple(told["summary"][k] for k in ("incidents", "would_be_actions", "counterfactual_actions")))
        after = {a["signal"]: a for a in incident["next_30m"]}
        self.assertEqual("ms", after["latency_p99"]["unit"])
        self.assertAlmostEqual(38, after["latency_p99"]["before"], delta=0.5)
        for value in after["latency_p99"]["after"]:
            self.assertAlmostEqual(46.8, value, delta=0.5)

    def test_the_same_history_gives_the_same_bytes(self):
        csv(self.path("a.csv"), range(2000, 3060))
        words = ("--config", self.config(), "--from", self.path("a.csv"), "--since", "2h", "--json")
        self.assertEqual(run(*words), run(*words))
        # Two hours before the end, and a warm start from the seven before them.
        told = json.loads(run(*words))
        self.assertEqual(241, told["services"][0]["ticks"])
        self.assertEqual(1, told["summary"]["would_be_actions"])
        cold = json.loads(run(*words, "--history", "0s"))
        self.assertEqual(0, cold["summary"]["would_be_actions"])
        self.assertIn("warming", cold["summary"]["held_back"])

    def test_what_the_mode_of_the_file_makes_of_it(self):
        csv(self.path("a.csv"), range(2000, 3060))
        for mode, would, asks in (("alert", "report", None), ("confirm", "ask", "mode-confirm"), ("auto", "act", None)):
            told = json.loads(run("--config", self.config(mode), "--from", self.path("a.csv"), "--since", "2h", "--json"))
            plan = told["services"][0]["would_be_actions"][0]
            self.assertEqual((would, asks), (plan["would"], plan["asks_because"]))

    def test_after_the_first_action_all_is_counterfactual(self):
        def twice(i):                     # a day apart: the shadow ledger protects what would have been changed for 24 h
            return row(i) if i < 4000 else row(i, 5800)
        with open(self.path("a.csv"), "w", encoding="utf-8") as f:
            f.write(",".join(["timestamp", *row(0)]) + "\n")
            for i in range(6000):
                f.write(",".join(["%d" % (START + 30 * i), *("%.6g" % v for v in twice(i).values())]) + "\n")
        told = self.json("--from", self.path("a.csv"))
        self.assertEqual([False, True], [i["counterfactual"] for i in told["services"][0]["incidents"]])
        self.assertEqual([False, True], [p["counterfactual"] for p in told["services"][0]["would_be_actions"]])
        self.assertEqual(1, told["summary"]["counterfactual_actions"])
        text = run("--config", self.config(), "--from", self.path("a.csv"))
        self.assertIn("incident embed/2 latency-degraded, 2026-05-13 00:20:00", text)
        self.assertEqual(2, text.count("[counterfactual]\n"))
        self.assertIn("2 actions, 1 of them counterfactual", text)

    def test_knobs_releases_and_unknown_columns(self):
        csv(self.path("a.csv"), range(2000, 3060), gpu_utl=lambda i: 1, model_version=lambda i: "v2" if i >= 2870 else "v1")
        words = ["replay", "--config", self.config(), "--from", self.path("a.csv"), "--since", "3h", "--json"]
        done = subprocess.run([BINARY, *words], capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        self.assertIn("did you mean 'gpu_util'?", done.stderr)
        self.assertIn("gpu_utl", told["notes"][0])
        self.assertEqual([("RELEASE", "v2")], [(c["kind"], c["model_version"]) for c in told["services"][0]["context"]])
        self.assertIn("release", told["summary"]["held_back"])
        self.assertEqual([("batch_max", 32, "use")],
                         [(k["knob"], k["start"], k["known_from"]) for k in told["services"][0]["knobs"]])
        told = self.json("--from", self.path("a.csv"), "--since", "3h", "--knob", "batch_max=16")
        self.assertEqual((16, "given"), (told["services"][0]["knobs"][0]["start"], told["services"][0]["knobs"][0]["known_from"]))

    def test_a_folder_of_csv_files(self):
        second = CONFIG[CONFIG.index("  - name"):].replace("name: embed", "name: rerank").format(
            mode="alert", target="127.0.0.1:9", timeout="5s", write_more="", more="")
        config = self.config(more=second)
        os.mkdir(self.path("week"))
        csv(self.path("week/embed.csv"), range(2000, 3060))
        csv(self.path("week/rerank.csv"), range(2000, 2880))
        csv(self.path("week/other.csv"), range(2000, 2010))
        words = ("--config", config, "--since", "2026-05-11T23:00:00Z", "--json")
        told = json.loads(run(*words, "--from", self.path("week")))
        self.assertEqual([("embed", 1), ("rerank", 0)], [(s["service"], len(s["incidents"])) for s in told["services"]])
        self.assertIn("other.csv", told["notes"][0])
        told = json.loads(run(*words, "--from", self.path("week"), "--service", "rerank"))
        self.assertEqual(["rerank"], [s["service"] for s in told["services"]])
        self.assertIn("--service", run(*words, "--from", self.path("week/embed.csv"), code=1))

    def test_refuses_with_place(self):
        csv(self.path("a.csv"), range(10))
        with open(self.path("a.csv"), "a", encoding="utf-8") as f:
            f.write("%d,1,2,3,4,5,6\n" % START)
        words = ("--config", self.config(), "--from", self.path("a.csv"))
        self.assertIn("a.csv:12: times must grow", run(*words, code=1))
        self.assertIn("not 'soon'", run(*words, "--since", "soon", code=2))
        self.assertIn("no service of that name", run(*words, "--service", "x", code=2))
        self.assertIn("--config FILE", run("--from", "x", code=2))
        self.assertIn("No such file", run("--config", self.config(), "--from", self.path("none.csv"), code=1))
        os.mkdir(self.path("empty"))
        self.assertIn("no metrics.db", run("--config", self.config(), "--from", self.path("empty"), code=1))


@unittest.skipUnless(shutil.which("prometheus") and shutil.which("promtool"), "no Prometheus here")
class FromPrometheus(Base):
    """The same history, but asked of a real server."""

    names = {"latency_p99": "p99_seconds", "queue_depth": "queue_depth", "throughput": "throughput", "batch_size": "batch_fill",
             "gpu_util": "gpu_util", "error_ratio": "errors_ratio"}

    def serve(self, rows):
        with open(self.path("open.txt"), "w", encoding="utf-8") as f:
            for signal, name in self.names.items():
                f.write("# TYPE %s gauge\n" % name)
                for i in rows:
                    value = row(i)[signal] / (1000 if signal == "latency_p99" else 1)
                    f.write("%s %.6g %d\n" % (name, value, START + 30 * i))
            f.write("# EOF\n")
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", self.path("open.txt"), self.path("tsdb")],
                       check=True, stdout=subprocess.DEVNULL)
        with open(self.path("prometheus.yml"), "w", encoding="utf-8") as f:
            f.write("global: {scrape_interval: 1h}\n")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        server = subprocess.Popen(
            ["prometheus", "--config.file", self.path("prometheus.yml"), "--storage.tsdb.path", self.path("tsdb"),
             "--storage.tsdb.retention.time", "20y", "--web.listen-address", "127.0.0.1:%d" % port],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        url = "http://127.0.0.1:%d" % port
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(url + "/-/ready", timeout=5).close()
                return url
            except OSError:
                self.assertLess(time.monotonic(), deadline)
                self.assertIsNone(server.poll())

    def test_a_server_gives_what_the_file_gives(self):
        url = self.serve(range(2000, 3060))
        csv(self.path("a.csv"), range(2000, 3060))
        span = ("--since", "2026-05-11T23:00:00Z", "--until", "2026-05-12T01:00:00Z")
        asked, read = self.json("--from", url, *span), self.json("--from", self.path("a.csv"), *span)
        self.assertEqual("prometheus", asked["source_kind"])
        for key in ("incidents", "would_be_actions"):
            self.assertEqual(1, len(asked["services"][0][key]))
        plan, same = asked["services"][0]["would_be_actions"][0], read["services"][0]["would_be_actions"][0]
        for key in ("knob", "from", "to", "cause"):
            self.assertEqual(same[key], plan[key])
        self.assertEqual(read["services"][0]["incidents"][0]["opened"], asked["services"][0]["incidents"][0]["opened"])
        # 25 h in steps of 10 s are more than one answer may hold.
        self.assertGreater(asked["services"][0]["signals"][0]["points"], 3000)

    def test_refusals_of_a_server(self):
        url = self.serve(range(2000, 2100))
        config = self.path("bad.yaml")
        with open(self.config(), encoding="utf-8") as f, open(config, "w", encoding="utf-8") as out:
            out.write(f.read().replace("query: queue_depth", "query: sum(queue_depth)"))
        told = json.loads(run("--config", config, "--from", url, "--since", "2026-05-11T17:00:00Z", "--until",
                              "2026-05-11T17:20:00Z", "--json"))
        self.assertEqual(0, told["summary"]["incidents"])
        self.assertIn("is the address right?", run("--config", config, "--from", url + "/nowhere", code=1))
        self.assertIn("does not answer", run("--config", config, "--from", "http://127.0.0.1:1", code=1))


class FromDaemon(SystemTest):
    speed = 200

    def test_the_data_folder_of_a_daemon(self):
        config = self.config("alert")
        self.seed(config)
        d = self.start(config)
        d.wait_metric("trimtab_signal_value{service=\"embed\",signal=\"latency_p99\",unit=\"ms\"}", lambda v: v > 0)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        would = d.wait_line(msg="WOULD", timeout=120)
        d.end()
        told = json.loads(subprocess.run([BINARY, "replay", "--config", config, "--from", d.data, "--json"], capture_output=True,
                                         text=True, check=True).stdout)
        self.assertEqual("data", told["source_kind"])
        service, = told["services"]
        self.assertGreater(service["signals"][0]["points"], 20)
        self.assertEqual([("batch_max", 32, "audit")], [(k["knob"], k["start"], k["known_from"]) for k in service["knobs"]])
        self.assertEqual("32", would["from"])


if __name__ == "__main__":
    unittest.main()
