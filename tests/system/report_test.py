"""Feedback, the report, and modes as recorded acts: the real daemon, its API, its command line, and its data folder alone."""

import json
import os
import signal
import subprocess
import time
import unittest

from harness import BINARY, SystemTest


def cli(*words, code=0):
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, "%s ended with %d\n%s%s" % (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout if code == 0 else done.stderr


class Report(SystemTest):
    speed = 200

    def would(self, mode="alert"):
        """A daemon in mode alert with one incident and one plan; the fault goes on."""
        self.path = self.config(mode)
        self.seed(self.path)
        d = self.start(self.path)
        d.wait_metric('trimtab_signal_value{service="embed",signal="latency_p99",unit="ms"}', lambda v: v > 0)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        d.wait_line(msg="WOULD", timeout=120)
        return d

    def report(self, d, *words):
        return json.loads(cli("report", "--data", d.data, "-o", "json", *words))

    def until(self, d, want, *words):
        """Asks until the record is on the disk; each answer is the event waited for."""
        deadline = time.monotonic() + 60
        while True:
            told = self.report(d, *words)
            if told["services"] and want(told):
                return told
            self.assertLess(time.monotonic(), deadline, told)

    def records(self, d, kind):
        text = cli("audit", "export", "--file", d.data)
        return [r for r in map(json.loads, text.splitlines()) if r["kind"] == kind]

    def test_feedback_is_a_durable_word_that_counts(self):
        d = self.would()
        self.until(d, lambda r: r["services"][0]["came"]["pending"] == 1)
        self.assertIsNone(d.metric("trimtab_false_alarm_ratio"))
        self.assertIn("recorded", cli("feedback", "embed/1", "false", "--comment", "load test", "--by", "kim", "--data", d.data))
        self.assertIn("no such incident", cli("feedback", "embed/9", "true", "--data", d.data, code=1))
        self.assertIn("false, true or useful", cli("feedback", "embed/1", "maybe", "--data", d.data, code=2))
        status, text = d.request("POST", "/api/v1/incidents/embed/1/feedback", '{"verdict":"maybe"}', token=True)
        self.assertEqual(400, status, text)
        self.assertEqual(401, d.request("POST", "/api/v1/incidents/embed/1/feedback", '{"verdict":"true"}')[0])
        self.assertEqual(1, d.metric('trimtab_feedback_total{verdict="false"}'))
        d.wait_metric("trimtab_false_alarm_ratio", lambda v: v == 1)
        told = self.report(d)
        service, = told["services"]
        self.assertEqual({"false": 1, "true": 0, "useful": 0}, service["feedback"])
        self.assertEqual(1, service["came"]["false-plan"])
        self.assertEqual((1, 1, 1), tuple(told["false_alarm_rate"][k] for k in ("n", "of", "value")))
        self.assertAlmostEqual(0.2065, told["false_alarm_rate"]["low"], places=3)      # Wilson, 1 of 1
        said = tuple(told["incidents"][0][k] for k in ("feedback", "feedback_by", "comment"))
        self.assertEqual(("false", "kim", "load test"), said)
        self.assertIn("kim said that it was a false alarm: load test.", cli("incidents", "embed/1", "--data", d.data))
        listed = json.loads(cli("incidents", "--data", d.data, "-o", "json"))["incidents"]
        self.assertEqual("false", listed[0]["feedback"])
        self.assertNotEqual("FEEDBACK", listed[0]["last"])
        # The newest word counts; the counter keeps both; a restart forgets nothing.
        cli("feedback", "embed/1", "useful", "--by", "kim", "--data", d.data)
        d.end()
        again = self.start(self.path)
        self.assertEqual(1, again.metric('trimtab_feedback_total{verdict="false"}'))
        self.assertEqual(1, again.metric('trimtab_feedback_total{verdict="useful"}'))
        again.wait_metric("trimtab_false_alarm_ratio", lambda v: v == 0)
        self.assertEqual(1, self.report(again)["services"][0]["came"]["hit"])
        self.assertEqual(["false", "useful"], [r["outcome"] for r in self.records(again, "FEEDBACK")])
        cli("audit", "verify", "--data", again.data)

    def test_the_report_tells_plans_gates_and_what_came(self):
        d = self.would()
        self.target.plant.set(p99=0.038, queue=140.0, gpu=0.65)
        d.wait_line(msg="CLOSED", timeout=120)
        told = self.until(d, lambda r: r["incidents"] and r["incidents"][0]["closed"], "--since", "1d", "--service", "embed")
        plan, = told["plans"]
        self.assertEqual(("would", "false-plan", "batch_max", "32", "64", "compute-bound", "alert"),
                         tuple(plan[k] for k in ("how", "came", "knob", "from", "to", "cause", "mode")))
        self.assertEqual(["mode-alert"], plan["stopped_by"])
        after = {s["signal"]: s for s in plan["next_30m"]}["latency_p99"]
        self.assertEqual("ms", after["unit"])
        self.assertEqual(3, len(after["after"]))
        self.assertGreater(after["before"], 37)
        promotion = told["services"][0]["promotion"]
        self.assertEqual(("confirm", "stay"), (promotion["to"], promotion["advice"]))
        self.assertTrue(any("0 days in mode alert" in line for line in promotion["against"]))
        text = cli("report", "--data", d.data)
        for part in ("ready for mode confirm? Not yet.", "stopped by    mode-alert", "next 30 min", "false plans   1 of 1, 100 %"):
            self.assertIn(part, text)
        self.assertIn("span before the end", cli("report", "--data", d.data, "--since", "soon", code=1))
        d.end()
        # The data folder alone says the same.
        alone = json.loads(cli("report", "--offline", "--data", d.data, "-o", "json", "--since", "1d"))
        self.assertEqual(plan["came"], alone["plans"][0]["came"])
        self.assertEqual(plan["next_30m"][0]["before"], alone["plans"][0]["next_30m"][0]["before"])
        self.assertEqual(alone, json.loads(cli("report", "--data", d.data, "-o", "json", "--since", "1d")))

    def test_a_real_action_is_told_with_its_verdict(self):
        self.path = self.config("auto")
        self.seed(self.path)
        d = self.start(self.path)
        self.target.wait("scrape", after=40)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        self.target.wait("write")
        self.target.plant.set(p99=0.0375, queue=70.0, gpu=0.66, fill=60.0)
        d.wait_line(component="audit", msg="VERDICT", timeout=90)
        d.wait_metric('trimtab_verdicts_total{verdict="effective"}', lambda v: v == 1)
        plan, = self.until(d, lambda r: r["plans"] and r["plans"][0]["verdict"])["plans"]
        self.assertEqual(("acted", "hit", "embed/1", "effective", "keep"),
                         tuple(plan[k] for k in ("how", "came", "action", "verdict", "outcome")))

    def test_changes_of_modes_are_recorded_with_a_name(self):
        path = self.config("alert")
        d = self.start(path)
        self.config("confirm")
        self.assertIn("loaded", cli("reload", "--by", "kim", "--data", d.data))
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("    mode: confirm", "    mode: confirm\n    class_modes: {batch: auto}"))
        status, said = d.request("POST", "/-/reload", '{"by":"lee"}', token=True)
        self.assertEqual(200, status, said)
        with open(path, "a", encoding="utf-8") as f:
            f.write("signls: 3\n")
        self.assertIn("stays in force", cli("reload", "--data", d.data, code=1))
        self.config("auto")
        d.process.send_signal(signal.SIGHUP)
        d.wait_metric('trimtab_service_mode{service="embed",mode="auto"}', lambda v: v == 1)
        d.end()
        self.config("alert")                       # changed while nobody looked
        again = self.start(path)
        again.end()
        got = [(r.get("class"), r["from"], r["to"], r["by"]) for r in self.records(again, "MODE")]
        self.assertEqual([(None, "alert", "confirm", "kim"), ("batch", "confirm", "auto", "lee"),
                          (None, "confirm", "auto", "file (SIGHUP)"), (None, "auto", "alert", "file (start)")], got)
        modes = json.loads(cli("report", "--offline", "--data", again.data, "-o", "json"))["services"][0]
        self.assertEqual("alert", modes["mode"])
        self.assertEqual(4, len(modes["mode_changes"]))
        self.assertEqual("kim", modes["mode_changes"][0]["by"])

    def test_a_service_that_begins_in_auto_is_recorded(self):
        d = self.start(self.config("auto"))
        d.end()
        self.assertEqual([("new", "auto", "file (start)")], [(r["from"], r["to"], r["by"]) for r in self.records(d, "MODE")])
        again = self.start(os.path.join(self.folder, "config.yaml"))
        again.end()
        self.assertEqual(1, len(self.records(again, "MODE")))


if __name__ == "__main__":
    unittest.main()
