"""Two people, or a person and the clock, decide on the same request at the same time: one of them is the one who did, each is
told the truth, and at most one write comes of it."""

import concurrent.futures
import datetime
import json
import signal
import subprocess
import threading
import unittest

import audit_log
import harness
from phase_test import Stage

ENDS_OF_A_REQUEST = ("APPROVAL", "REJECT", "EXPIRED", "VOID", "HALT")


def at_once(*calls):
    """Each in a thread of its own, all let go at the same moment; their results in order."""
    gate = threading.Barrier(len(calls))

    def one(call):
        gate.wait()
        return call()

    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


class Race(Stage):
    """A request is open; `self.d` is the daemon."""

    def open(self, **knobs):
        self.d = self.begin(mode="confirm", **knobs)
        self.d.wait_line(component="audit", msg="REQUEST")
        self.until(self.d, "awaiting")

    def post(self, verb, **body):
        return lambda: self.ask(self.d, verb, **body)

    def expires_in(self):
        """Nominal seconds until the open request ends; None: there is none."""
        data = json.loads(self.d.request("GET", "/api/v1/services/embed")[1])["data"]
        if not data.get("request"):
            return None
        ends, now = (datetime.datetime.fromisoformat(t.replace("Z", "+00:00")) for t in (data["request"]["expires"], data["at"]))
        return (ends - now).total_seconds()

    def over(self):
        """The request has exactly one end; as many writes as approvals, and what was approved was done. Returns the end."""
        self.until_any(ENDS_OF_A_REQUEST)
        self.target.wait("scrape", after=self.target.count("scrape") + 40, timeout=120)
        self.assertEqual(0, self.d.end())
        records = [json.loads(b) for b in audit_log.prove(self.d.data)]
        kinds = [r["kind"] for r in records]
        first = kinds.index("REQUEST")
        again = kinds.index("REQUEST", first + 1) if kinds.count("REQUEST") > 1 else len(kinds)
        ends = [k for k in kinds[first:again] if k in ENDS_OF_A_REQUEST]
        self.assertEqual(kinds.count("INTENT"), kinds.count("APPROVAL"), kinds)
        self.assertLessEqual(len(self.target.knobs.log), kinds.count("APPROVAL"), kinds)
        return ends, records

    def until_any(self, kinds):
        while not set(kinds) & set(self.kinds(self.d)):
            self.d.request("GET", "/-/healthy")

    def winner(self, answers):
        """Exactly one was told yes; the others why not."""
        won = [i for i, (status, _) in enumerate(answers) if status == 200]
        self.assertEqual(1, len(won), answers)
        for i, (status, answer) in enumerate(answers):
            if i != won[0]:
                self.assertEqual(409, status, answers)
                self.assertTrue(answer.get("error"), answers)
        return won[0]


def two_approvals(s):
    s.open()
    answers = at_once(s.post("approve"), s.post("approve"), s.post("approve"))
    s.winner(answers)
    ends, _ = s.over()
    s.assertEqual(["APPROVAL"], ends)


def approve_and_reject(s):
    s.open()
    won = s.winner(at_once(s.post("approve"), s.post("reject")))
    ends, _ = s.over()
    s.assertEqual(["APPROVAL" if won == 0 else "REJECT"], ends)
    s.assertEqual(1 if won == 0 else 0, len(s.target.knobs.log))


def approve_and_halt(s):
    """The halt always holds. The approval that was given before it is on record, its write may have begun."""
    s.open()
    (approved, _), (halted, _) = at_once(s.post("approve"), s.post("halt"))
    s.assertEqual(200, halted)
    s.until_kind(s.d, "HALT")
    s.assertEqual(approved == 200, "APPROVAL" in s.kinds(s.d))
    s.over()


def approve_after_the_facts_changed(s):
    s.open()
    s.target.knobs.values["batch_max"], s.target.knobs.versions["batch_max"] = 96, 7
    status, answer = s.ask(s.d, "approve")
    s.assertEqual(409, status, answer)
    ends, _ = s.over()
    s.assertEqual(["VOID"], ends)
    s.assertEqual(([], 96), (s.target.knobs.log, s.target.knobs.values["batch_max"]))


def approve_while_a_configuration_is_loaded(s):
    """Loaded before: the request is void, and the answer says so. After: approved, and the reload finds a running action."""
    s.open()
    with open(s.path, "a", encoding="utf-8") as f:
        f.write("# another revision\n")
    answers = at_once(s.post("approve"), lambda: s.d.process.send_signal(signal.SIGHUP))
    s.d.wait_line(msg="configuration loaded")
    status = answers[0][0]
    s.assertIn(status, (200, 409))
    ends, _ = s.over()
    s.assertEqual(["APPROVAL"] if status == 200 else ["VOID"], ends[:1])


def approve_and_expiry(s):
    """Approvals all through the moment at which the request expires: at most one is taken, and then it did not expire."""
    s.open()
    answers = []
    while "EXPIRED" not in s.kinds(s.d) and not any(status == 200 for status, _ in answers):
        left = s.expires_in()
        if left is not None and left < 30:
            answers.append(s.ask(s.d, "approve"))
    ends, _ = s.over()
    s.assertEqual(["APPROVAL"] if any(status == 200 for status, _ in answers) else ["EXPIRED"], ends[:1])


def approve_by_api_and_cli(s):
    s.open()
    argv = [harness.BINARY, "approve", "embed", "--data", s.d.data, "--by", "wang"]
    answers = at_once(s.post("approve"), lambda: subprocess.run(argv, check=False, timeout=60, stdout=subprocess.PIPE,
                                                                stderr=subprocess.STDOUT))
    s.assertEqual(1, (answers[0][0] == 200) + (answers[1].returncode == 0), (answers[0], answers[1].stdout))
    ends, records = s.over()
    s.assertEqual(["APPROVAL"], ends)
    by = next(r["by"] for r in records if r["kind"] == "APPROVAL")
    s.assertEqual("li" if answers[0][0] == 200 else "wang", by)


RACES = (two_approvals, approve_and_reject, approve_and_halt, approve_after_the_facts_changed,
         approve_while_a_configuration_is_loaded, approve_and_expiry, approve_by_api_and_cli)


def run(race):
    s = Race("until")
    try:
        race(s)
    except (AssertionError, OSError, subprocess.SubprocessError) as e:
        return "%s: %s" % (race.__name__, e)
    finally:
        s.tearDown()
    return None


class Races(unittest.TestCase):
    maxDiff = None

    def test_one_winner(self):
        with concurrent.futures.ThreadPoolExecutor(len(RACES)) as pool:
            self.assertEqual("", "\n".join(w for w in pool.map(run, RACES) if w))


if __name__ == "__main__":
    unittest.main()
