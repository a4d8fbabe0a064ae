"""A person cancels in every phase of an action: whatever was begun is taken back, once, and the class rests for a day."""

import concurrent.futures
import json
import os
import subprocess
import time
import unittest

import audit_log
import harness
from harness import SystemTest
from shim import Shim


class Stage(SystemTest):
    """One service in trouble, held where the test wants it."""

    speed = 60

    def begin(self, mode="auto", **knobs):
        self.setUp()
        for name, value in knobs.items():
            setattr(self.target.knobs, name, value)
        self.shim = Shim(os.path.join(self.folder, "shim"))
        self.path = self.config(mode=mode)
        self.seed(self.path)
        d = self.start(self.path, env=self.shim.env)
        self.target.wait("scrape", after=40)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        return d

    def state(self, d):
        return json.loads(d.request("GET", "/api/v1/services/embed")[1])["data"]["state"]

    def until(self, d, state, timeout=90.0):
        """Asks until it is so; each answer of the daemon is the event waited for."""
        deadline, seen = time.monotonic() + timeout, None
        while time.monotonic() < deadline:
            seen = self.state(d)
            if seen == state:
                return
        raise AssertionError("never %s, is %s\n%s" % (state, seen, d.story()))

    def ask(self, d, verb, **body):
        status, text = d.request("POST", "/api/v1/services/embed/" + verb, json.dumps(dict(by="li", **body)), token=True)
        return status, json.loads(text)

    def kinds(self, d):
        return [r["kind"] for _, r in audit_log.newest(d.data)]

    def until_kind(self, d, kind, timeout=90.0):
        deadline = time.monotonic() + timeout
        while kind not in self.kinds(d):
            if time.monotonic() > deadline:
                raise AssertionError("no %s in %s\n%s" % (kind, self.kinds(d), d.story()))
            d.request("GET", "/-/healthy")


# How each phase is held: knobs of the target before the start, what to do to get there, what to do once cancelled.

def intent(s, d):
    s.until_kind(d, "INCIDENT")                    # on the disk, or it would be the record that hangs
    s.shim.set(hang=1)
    s.until(d, "intent")


def writing(s, d):
    s.target.knobs.write_gate.clear()
    s.target.wait("writing")
    s.until(d, "writing")


def readback(s, d):
    s.until(d, "readback")


def settling(s, d):
    s.until(d, "settling")


def observing(s, d):
    s.until(d, "observing")


def undo_intent(s, d):
    s.until(d, "observing")
    s.shim.set(hang=1)
    s.until(d, "undo-intent")


def undo_writing(s, d):
    s.until(d, "observing")
    s.target.knobs.write_gate.clear()
    s.until(d, "undo-writing")


def undo_readback(s, d):
    s.until(d, "undo-readback")


def kept(s, d):
    s.target.wait("write")
    s.target.plant.set(p99=0.0375, queue=70.0, gpu=0.66, fill=60.0)
    d.wait_line(component="audit", msg="CLOSED")


PHASES = {
    "intent": (intent, {}), "writing": (writing, {}), "readback": (readback, {"deaf_after": 1}), "settling": (settling, {}),
    "observing": (observing, {}), "undo-intent": (undo_intent, {}), "undo-writing": (undo_writing, {}),
    "undo-readback": (undo_readback, {"deaf_after": 2}), "kept": (kept, {}),
}


def cancelled(phase, by_cli):
    """None, or what went wrong."""
    s = Stage("until")
    hold, knobs = PHASES[phase]
    try:
        d = s.begin(**knobs)
        hold(s, d)
        if by_cli:
            done = subprocess.run([harness.BINARY, "cancel", "embed/1", "--data", d.data, "--by", "li"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=60, check=False)
            answer = (200 if done.returncode == 0 else 500, done.stdout.decode())
        else:
            answer = s.ask(d, "cancel", action="embed/1")
        s.shim.set(hang=0)
        s.target.knobs.write_gate.set()
        s.target.knobs.open_gate.set()
        # Only a disk that does not answer keeps a person waiting for more than the word that it does not.
        s.assertEqual(not phase.endswith("intent"), answer[0] == 200, answer)
        s.until_kind(d, "CANCEL")
        s.until_kind(d, "ABORTED" if phase == "intent" else "UNDONE")
        s.target.wait("scrape", after=s.target.count("scrape") + 60, timeout=120)
        s.assertEqual(32, s.target.knobs.values["batch_max"])
        s.assertEqual(0 if phase == "intent" else 2, len(s.target.knobs.log), s.target.knobs.log)
        s.assertEqual(0, d.end())
        records = [json.loads(b) for b in audit_log.prove(d.data)]
        kinds = [r["kind"] for r in records]
        s.assertEqual(1, kinds.count("INTENT"), kinds)
        s.assertEqual("li", records[kinds.index("CANCEL")]["by"])
        audit_log.check_stories(records, 32.0, 32.0, [])
    except (AssertionError, OSError) as e:
        return "%s: %s" % (phase, e)
    finally:
        s.tearDown()
    return None


class Cancel(unittest.TestCase):
    maxDiff = None

    def test_in_every_phase(self):
        with concurrent.futures.ThreadPoolExecutor(len(PHASES)) as pool:
            wrong = list(pool.map(lambda job: cancelled(*job), [(p, i % 2 == 1) for i, p in enumerate(PHASES)]))
        self.assertEqual("", "\n".join(w for w in wrong if w))


if __name__ == "__main__":
    unittest.main()
