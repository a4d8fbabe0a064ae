"""The report of an evaluation says what the kept figures say, and notices when it does not."""
import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/evaluation-report"


def module():
    loader = importlib.machinery.SourceFileLoader("evaluation_report", str(SCRIPT))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("evaluation_report", loader))
    loader.exec_module(made)
    return made


def rate(n, of):
    return {"n": n, "of": of, "rate": n / of if of else None}


def score(recovered, slo, **more):
    s = {"runs": 12, "recovered": {**rate(*recovered), "low": 0.4}, "flips": 0, "slo_minutes": slo, "harm_minutes": 0.5,
         "slo_minutes_scaling_cures": 2.0, "slo_minutes_scaling_cannot": slo, "detect_delay_s": 60, "recover_s": 900,
         "regret": 3.0, "replica_hours": 50.0, "clean_acts": 0, "clean_service_years": 0.5,
         "wrong_per_1000_service_years_high": 5991.0}
    for key in ("first_acts_incurable", "second_acts_incurable", "placebo_kept", "placebo_kept_noisy", "self_healing_kept",
                "quiet_acts"):
        s[key] = rate(0, 0)
    s.update(more)
    return s


def run(whole):
    trimtab = score((8, 10), 20.0, first_acts_incurable=rate(1, 4), families={
        "load": score((5, 5), 4.0), "upstream": score((3, 5), 40.0, first_acts_incurable=rate(1, 4))})
    counts = dict.fromkeys(module().LABELS, 0)
    data = {"command": "trimtab evaluate --runs 6", "policy": "ab" * 32, "first_seed": 1, "worlds": 12, "errors": [],
            "labels": {"all": {**counts, "tunable": 10}, "load": {**counts, "tunable": 5}},
            "trimtab": trimtab, "hpa": score((2, 10), 50.0, families={})}
    if whole:
        data["without_gap"] = score((7, 10), 25.0, trimtab_in_the_same_worlds=trimtab, families={})
    return data


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "scripts").mkdir()
        (self.root / "docs").mkdir()
        shutil.copy(SCRIPT, self.root / "scripts")
        m = module()
        self.page = self.root / "docs/evaluation.md"
        self.page.write_text(f"before\n\n{m.BEGIN}\n{m.END}\nafter\n")

    def tearDown(self):
        self.folder.cleanup()

    def call(self, *args):
        return subprocess.run([sys.executable, str(self.root / "scripts/evaluation-report"), *args], capture_output=True, text=True)

    def take(self, data):
        figures, worlds = self.root / "e.json", self.root / "w.jsonl"
        figures.write_text(json.dumps(data))
        worlds.write_text('{"trimtab":{"detect_s":60.002}}\n{"trimtab":{"detect_s":null}}\n{"trimtab":{"detect_s":400}}\n')
        return self.call("--take", str(figures), str(worlds), "--date", "2026-01-02")

    def test_the_page_says_what_the_figures_say(self):
        self.assertEqual(self.take(run(True)).returncode, 0)
        text = self.page.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        self.assertIn("Run of 2026-01-02: `trimtab evaluate --runs 6`, first seed 1, 12 worlds", text)
        self.assertIn("| trimtab | 12 | 8/10 | 0.400 | - | 1/4 |", text)
        self.assertIn("missed by 0.550 | 10 tunable worlds; the goal asks for 400. Not recovered: upstream 2 of 5", text)
        self.assertIn("| SLO minutes over HPA's, where scaling cannot cure | 0.40 | at most 0.2 | missed by 0.20 |", text)
        self.assertIn("| gap | 12 | 7/10 (whole: 8/10) |", text)
        self.assertIn("| 1 fewer recovered, 5.0 more SLO min |", text)
        self.assertIn("2 worlds", (self.root / "docs/evaluation/detect_delay.svg").read_text())
        self.assertTrue((self.root / "docs/evaluation/ablations.svg").exists())

    def test_a_change_by_hand_is_found(self):
        self.take(run(False))
        self.assertEqual(self.call("--check").returncode, 0)
        self.page.write_text(self.page.read_text().replace("8/10", "9/10"))
        done = self.call("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/evaluation.md is not what", done.stdout)
        self.call()
        self.assertEqual(self.call("--check").returncode, 0)

    def test_other_figures_make_the_plots_stale(self):
        self.take(run(False))
        kept = self.root / "docs/evaluation/evaluation.json"
        kept.write_text(kept.read_text().replace('"slo_minutes": 50.0', '"slo_minutes": 51.0'))
        self.assertIn("slo_minutes.svg is not what", self.call("--check").stdout)

    def test_it_says_why_a_world_was_missed(self):
        reason = module().reason_of
        verdict = {"record": "VERDICT", "outcome": "undo",
                   "note": "ineffective: the queue is not back to normal. Latency 117 -> 96 ms"}
        self.assertEqual(reason([{"record": "INCIDENT"}, {"record": "APPLIED"}, verdict]), "queue is not back")
        verdict["note"] = "inconclusive: less than 80 % of the time after the change was measured. Latency 88 -> 42 ms"
        self.assertEqual(reason([verdict, {"record": "HANDOVER", "reason": "no-candidate"}]), "less than 80 %")
        self.assertEqual(reason([{"record": "INCIDENT"}, {"record": "HANDOVER", "reason": "advice-only"}]), "advice-only")
        self.assertEqual(reason([{"record": "INCIDENT"}, {"record": "APPLIED"}]), "watched")
        self.assertEqual(reason([]), "none")

    def test_minutes_are_told_by_what_the_oracle_says(self):
        self.take(run(False))
        more = {"why": {"watched": {"load": 2, "leak": 3}},
                "slo": {"cannot": {"incurable": {"worlds": 2, "nothing": 80.0, "hpa": 60.0, "trimtab": 30.0}}}}
        (self.root / "docs/evaluation/misses.json").write_text(json.dumps(more))
        self.call()
        self.assertIn("The 5 tunable worlds", self.page.read_text())
        self.assertIn("| incurable | 2 | 40.0 | 30.0 | 15.0 | 100 % |", self.page.read_text())

    def test_without_a_run_it_says_what_to_do(self):
        self.assertIn("make evaluate", self.call().stderr)

    def test_wilson(self):
        low, high = module().wilson(8, 10)      # the textbook's example
        self.assertAlmostEqual(low, 0.4902, 3)
        self.assertAlmostEqual(high, 0.9433, 3)


if __name__ == "__main__":
    unittest.main()
