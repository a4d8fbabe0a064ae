#!/usr/bin/env python3
"""A slice of the evaluation: the same worlds give the same bytes, trimtab beats the naive engine, the JSON has every key, and a
broken scenario file is named with its place while the others are run."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

TRIMTAB = os.path.join(sys.argv.pop(1), "trimtab")
SLICE = ["--families", "load,cache-working-set,bad-instance,placebo", "--contenders", "nothing,hpa,aimd,naive,trimtab"]
KEYS = ["recovered", "first_acts_incurable", "second_acts_incurable", "placebo_kept", "self_healing_kept",
        "wrong_per_1000_service_years", "flips", "slo_minutes", "detect_delay_s", "recover_s", "harm_minutes", "regret",
        "replica_hours", "families"]
WORLD = """scenario: small-1
world: fluid
history: 1d
duration: 40m
faults: [{kind: load, at: 10m, size: 1.05}, {kind: kernel, at: 10m, size: 1.06}]
"""


def evaluate(folder, name, *args):
    out = os.path.join(folder, name)
    done = subprocess.run([TRIMTAB, "evaluate", "--json", out, *args], capture_output=True, text=True, timeout=900)
    with open(out, encoding="utf-8") as f:
        return done, f.read()


class Slice(unittest.TestCase):
    def test_the_same_worlds_give_the_same_bytes_and_trimtab_beats_the_naive_engine(self):
        with tempfile.TemporaryDirectory() as folder:
            _, first = evaluate(folder, "a.json", *SLICE, "--jobs", "2")
            _, second = evaluate(folder, "b.json", *SLICE, "--jobs", "1")
        self.assertEqual(first, second)
        r = json.loads(first)
        for who in ("trimtab", "hpa", "aimd", "naive", "nothing"):
            for key in KEYS:
                self.assertIn(key, r[who])
            for key in ("n", "of", "low"):
                self.assertIn(key, r[who]["recovered"])
        self.assertEqual(r["errors"], [])
        self.assertEqual(len(r["policy"]), 64)
        self.assertGreater(r["trimtab"]["recovered"]["n"], r["naive"]["recovered"]["n"])
        self.assertEqual(r["trimtab"]["placebo_kept"]["n"], 0)
        self.assertGreater(r["naive"]["placebo_kept"]["n"], 0)
        self.assertEqual(r["nothing"]["recovered"]["n"], 0)
        self.assertEqual(r["nothing"]["harm_minutes"], 0)

    def test_what_was_kept_is_not_run_again(self):
        few = ["--families", "load,placebo", "--contenders", "nothing,naive", "--jobs", "1"]
        with tempfile.TemporaryDirectory() as folder:
            keep = os.path.join(folder, "kept")
            _, whole = evaluate(folder, "a.json", *few, "--runs", "2")
            evaluate(folder, "b.json", *few, "--runs", "1", "--keep", keep)
            done, part = evaluate(folder, "c.json", *few, "--runs", "2", "--keep", keep, "--kept-only")
            self.assertEqual(json.loads(part)["worlds"], 2)
            self.assertEqual(done.stderr, "")
            done, rest = evaluate(folder, "d.json", *few, "--runs", "2", "--keep", keep)
            self.assertEqual(rest, whole)
            self.assertEqual(done.stderr.count("seed 1"), 0)
            self.assertEqual(done.stderr.count("seed 2"), 2)
            with open(keep, "ab") as f:
                f.write(b"no result")
            done = subprocess.run([TRIMTAB, "evaluate", *few, "--keep", keep], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no file of results", done.stderr)

    def test_a_broken_file_is_an_error_with_its_place_and_the_others_are_run(self):
        with tempfile.TemporaryDirectory() as worlds, tempfile.TemporaryDirectory() as folder:
            texts = {"a.yaml": WORLD, "b.yaml": WORLD.replace("load,", "lod,"), "c.yaml": "]", "d.yaml": "services: []\n"}
            for name, text in texts.items():
                with open(os.path.join(worlds, name), "w", encoding="utf-8") as f:
                    f.write(text)
            done, out = evaluate(folder, "w.json", "--worlds", worlds, "--contenders", "nothing,naive")
        self.assertEqual(done.returncode, 1)
        self.assertIn("b.yaml:5:", done.stderr)
        r = json.loads(out)
        self.assertEqual(len(r["errors"]), 2)          # d.yaml is a policy: no world
        self.assertEqual(r["naive"]["runs"], 1)
        self.assertEqual(r["labels"]["small"]["tunable"], 1)


if __name__ == "__main__":
    unittest.main()
