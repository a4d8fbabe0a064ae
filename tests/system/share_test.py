"""What is written for other programs: alert rules that promtool takes, a dashboard of metrics that exist, runbooks for all."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def run(*words):
    return subprocess.run([harness.BINARY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as f:
        return f.read()


class Share(unittest.TestCase):
    def known(self):
        names = set(re.findall(r'METRIC\(\w+, "(\w+)"', read("src", "api", "metrics.def")))
        return names | {n + end for n in names for end in ("_bucket", "_sum", "_count")}

    def test_rules(self):
        r = run("rules", "--job", "tt")
        self.assertEqual((0, b""), (r.returncode, r.stderr))
        text = r.stdout.decode()
        self.assertNotIn("@", text)
        self.assertIn('up{job="tt"} == 0', text)
        used = set(re.findall(r"\b(trimtab_\w+)", text))
        self.assertEqual(set(), used - self.known())
        page = read("docs", "runbooks.md")
        anchors = {title.lower() for title in re.findall(r"^## (\w+)$", page, re.M)}
        alerts = re.findall(r"- alert: (\w+)", text)
        self.assertEqual([a.lower() for a in alerts], re.findall(r"#(\w+)'", text))
        self.assertEqual(anchors, {a.lower() for a in alerts})
        self.assertEqual(2, run("rules", "--job", 'a"b').returncode)

    def test_promtool_takes_the_rules(self):
        promtool = shutil.which("promtool")
        if not promtool:
            self.skipTest("promtool is not installed")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rules.yaml")
            with open(path, "wb") as f:
                f.write(run("rules").stdout)
            r = subprocess.run([promtool, "check", "rules", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(0, r.returncode, r.stdout)
            self.assertIn(b"20 rules found", r.stdout)
            test = os.path.join(folder, "test.yaml")
            with open(test, "w", encoding="utf-8") as f:
                f.write("""rule_files: [rules.yaml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'trimtab_watchdog{job="trimtab"}', values: '1x20'}
      - {series: 'up{job="trimtab"}', values: '1x20'}
      - {series: 'trimtab_store_state{state="full"}', values: '_x4 1x20'}
    alert_rule_test:
      - {eval_time: 3m, alertname: TrimtabWatchdog, exp_alerts: [{exp_labels: {job: trimtab, severity: none}, exp_annotations: {
          summary: Always firing. Send it to a service outside that alarms when it falls silent.,
          runbook_url: 'file:///usr/local/share/doc/trimtab/docs/runbooks.md#trimtabwatchdog'}}]}
      - {eval_time: 3m, alertname: TrimtabAuditNotWritable, exp_alerts: []}
      - {eval_time: 3m, alertname: TrimtabDown, exp_alerts: []}
      - eval_time: 8m
        alertname: TrimtabAuditNotWritable
        exp_alerts: [{exp_labels: {state: full, severity: critical}, exp_annotations: {
          summary: The audit log cannot be written (full). No change is made until it can.,
          runbook_url: 'file:///usr/local/share/doc/trimtab/docs/runbooks.md#trimtabauditnotwritable'}}]
""")
            r = subprocess.run([promtool, "test", "rules", test], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(0, r.returncode, r.stdout.decode())

    def test_the_dashboard(self):
        r = run("dashboard", "grafana")
        self.assertEqual((0, b""), (r.returncode, r.stderr))
        d = json.loads(r.stdout)
        expressions = [t["expr"] for p in d["panels"] for t in p.get("targets", [])]
        self.assertGreater(len(expressions), 20)
        used = {name for e in expressions for name in re.findall(r"\b(trimtab_\w+|process_\w+)", e)}
        self.assertEqual(set(), used - self.known())
        self.assertEqual(len(d["panels"]), len({p["id"] for p in d["panels"]}))
        for p in d["panels"]:
            self.assertLessEqual(p["gridPos"]["x"] + p["gridPos"]["w"], 24, p["title"])
        promtool = shutil.which("promtool")
        if promtool:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "e.yaml")
                rules = [{"record": "r:%d" % i, "expr": e.replace("$service", "s").replace("$signal", "x")}
                         for i, e in enumerate(expressions)]
                with open(path, "w", encoding="utf-8") as f:
                    json.dump({"groups": [{"name": "g", "rules": rules}]}, f)
                r = subprocess.run([promtool, "check", "rules", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   check=False)
                self.assertEqual(0, r.returncode, r.stdout)

    def test_provisioning_files(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "grafana")
            r = run("dashboard", "grafana", "--out", out, "--prometheus", "http://prom:9090")
            self.assertEqual((0, b""), (r.returncode, r.stderr))
            self.assertEqual(3, len(r.stdout.splitlines()))
            with open(os.path.join(out, "trimtab-datasource.yaml"), encoding="utf-8") as f:
                self.assertIn("url: 'http://prom:9090'", f.read())
            with open(os.path.join(out, "trimtab-dashboards.yaml"), encoding="utf-8") as f:
                self.assertIn("path: '%s/dashboards'" % out, f.read())
            self.assertEqual(1, run("dashboard", "grafana", "--out", "/proc/none").returncode)
            self.assertEqual(2, run("dashboard", "kibana").returncode)


if __name__ == "__main__":
    unittest.main()
