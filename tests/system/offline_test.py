"""Commands that need no daemon."""

import json
import os
import subprocess
import tempfile
import unittest

from harness import BINARY


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

    def test_help_has_examples_of_every_command(self):
        for line in run("help").split("Commands:\n")[1].splitlines():
            if line.startswith("  "):
                self.assertIn("trimtab " + line.split()[0], run("help", line.split()[0]))


if __name__ == "__main__":
    unittest.main()
