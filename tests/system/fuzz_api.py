"""Schemathesis against the real daemon: whatever is sent, no answer is a server error and every answer is described.

usage: fuzz_api.py VENV    the folder of a virtual environment; made, with the versions of fuzz_api.txt, when it is not there
"""

import os
import subprocess
import sys
import unittest

from harness import SystemTest

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else os.environ.get("SCHEMATHESIS", "")
VENV = os.path.abspath(VENV) if VENV else ""
EXAMPLES = os.environ.get("EXAMPLES", "12")
SEED = os.environ.get("SEED", "20261130")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def tool(name):
    """The program, or None when it cannot be had."""
    path = os.path.join(VENV, "bin", name)
    if VENV and not os.path.exists(path):
        wanted = os.path.join(HERE, "fuzz_api.txt")
        made = subprocess.run([sys.executable, "-m", "venv", VENV], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False)
        if made.returncode == 0:
            subprocess.run([os.path.join(VENV, "bin", "pip"), "install", "-q", "--disable-pip-version-check", "-r", wanted],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return path if VENV and os.path.exists(path) else None


class FuzzApi(SystemTest):
    speed = 100

    def test_the_description_is_valid(self):
        program = tool("openapi-spec-validator")
        if not program:
            self.skipTest("openapi-spec-validator is not there and could not be installed")
        d = self.start(self.config())
        path = os.path.join(self.folder, "openapi.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write(d.request("GET", "/api/v1/openapi.json")[1])
        run = subprocess.run([program, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(0, run.returncode, run.stdout.decode("utf-8", "replace")[-4000:])

    def test_nothing_sent_breaks_an_answer(self):
        program = tool("schemathesis")
        if not program:
            self.skipTest("schemathesis is not there and could not be installed")
        config = self.config()
        self.seed(config)
        d = self.start(config)
        self.target.wait("scrape", after=40)
        run = subprocess.run(
            [program, "run", "http://%s:%d/api/v1/openapi.json" % (d.host, d.port), "-H", "Authorization: Bearer " + d.token(),
             "--checks", CHECKS, "--max-examples", EXAMPLES, "--seed", SEED, "--phases", "examples,coverage,fuzzing",
             "--exclude-path", "/api/v1/stream", "--exclude-path", "/api/v1/logout", "--request-timeout", "20", "--no-color",
             "--max-failures", "60", "--workers", "1"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder, check=False)
        text = run.stdout.decode("utf-8", "replace")
        self.assertEqual(0, run.returncode, text[-12000:])
        print(text[-900:])
        self.assertEqual(200, d.request("GET", "/-/healthy")[0])
        self.assertEqual(0, d.end())


if __name__ == "__main__":
    unittest.main()
