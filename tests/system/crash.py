"""Kills the real daemon while it changes a knob of a real HTTP target, at random instants or at one system call of choice,
starts it again until its story has an end, and then holds the log against what the target saw.

    crash.py --kills N [--sweep M] [--jobs J] [--seed S]

The first M of the kills are one a story, at the system calls with an outside effect between INTENT and the end, which are
counted first; the rest are several a story, at random. Stories: the change is undone; it is kept; the configuration is loaded
anew while it is watched, then a person halts and has it taken back; it is halted in the middle of the undo. People are told of
all by webhook. One line of JSON on stdout; exit 1 on a violation."""

import argparse
import concurrent.futures
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import audit_log
from harness import BINARY, CONFIG, SEED
from shim import Shim
from target import Target

SPEED = int(os.environ.get("CRASH_SPEED", "400"))
DISK_IS_SLOW = "the disk does not answer"          # said at the end, and true of a busy machine, too
PATIENCE = 120.0           # wall seconds for one story; only to end a run that hangs
WORSE = {"p99": 0.0468, "queue": 320.0, "gpu": 0.78}
BETTER = {"p99": 0.0375, "queue": 70.0, "gpu": 0.66, "fill": 60.0}


class Began(list):
    """The target's list of writes that begin: each is held against the log before it takes effect."""

    def __init__(self, run):
        super().__init__()
        self.run = run

    def append(self, at):
        super().append(at)
        self.run.causes.append(audit_log.cause_of_write(audit_log.newest(self.run.data)))


class Writes(list):
    """The target's list of writes that it has carried out or refused."""

    def __init__(self, run):
        super().__init__()
        self.run = run

    def append(self, entry):
        super().append(entry)
        self.run.on_write(entry)


def has_ended(records):
    if sum(r["kind"] == "FAILED" for r in records) >= 2:     # from the second on the knob is left alone for a day
        return records[-1]["kind"] != "INTENT"
    ends = [i for i, r in enumerate(records) if r["kind"] == "CLOSED" or audit_log.is_with_a_person(r)]
    begins = [i for i, r in enumerate(records) if r["kind"] in ("INCIDENT", "INTENT")]
    return bool(ends and begins) and ends[-1] > begins[-1]


def has_record(kind):
    return lambda records: any(r["kind"] == kind for r in records)


def is_loaded_anew(records):
    return any(r["kind"] == "POLICY" and "SIGHUP" in r["by"] for r in records)


def is_resumed(records):
    kinds = [r["kind"] for r in records]
    return "RESUME" in kinds and "HALT" not in kinds[len(kinds) - kinds[::-1].index("RESUME"):]


# What people do in a story: (from when on, what, how the log shows that it is done). A story that has ended earlier than
# that, since something failed in it, still gets all of it.
RELOAD = ("reload", is_loaded_anew)
RESUME = (has_record("HALT"), "resume", is_resumed)
STORIES = {
    "undone": (),
    "kept": (),
    "stopped": ((has_record("APPLIED"),) + RELOAD, (is_loaded_anew, "halt-undo", has_record("HALT")), RESUME),
    "halted": ((has_record("UNDO"), "halt", has_record("HALT")), RESUME),
    "whole": ((has_record("APPLIED"),) + RELOAD, (has_ended, "halt", has_record("HALT")), RESUME),
}


class Run:
    """One service that gets worse, one story, some kills."""

    def __init__(self, folder, story, write_mode="good"):
        self.folder, self.acts, self.cures = folder, STORIES[story], story == "kept"
        self.acted_at, self.began = 0.0, 0
        self.data = os.path.join(folder, "data")
        self.target = Target(SPEED)
        self.target.knobs.write_mode = write_mode
        self.target.knobs.log, self.target.knobs.began = Writes(self), Began(self)
        self.causes, self.writes, self.log, self.known, self.process = [], [], [], [], None
        self.kills, self.killed_at = 0, []
        self.changed = threading.Condition()
        self.shim = Shim(os.path.join(folder, "shim"))
        self.config = os.path.join(folder, "config.yaml")
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(CONFIG.format(mode="auto", target=self.target.address, timeout="5s", write_more="",
                                  more="notify:\n  - url: http://%s/hook\n" % self.target.address))

    def is_over(self, records):
        """Has everybody done what there is to do, and has the change an end?"""
        if not self.acts:
            return has_ended(records)
        newest = list(audit_log.stories(records).values())[-1:]
        resolved = any(r["kind"] in audit_log.ENDS or (r["kind"] == "VERDICT" and r.get("outcome") != "undo")
                       for story in newest for r in story)
        return all(done(records) for _, _, done in self.acts) and resolved

    def act(self, records):
        """The next thing that a person does, again and again until the log shows that it is done."""
        if not any('"msg":"started"' in line for line in self.log[self.began:]):
            return
        for due, what, done in self.acts:
            if done(records):
                continue
            if (due(records) or has_ended(records)) and time.monotonic() - self.acted_at > 0.2:
                self.acted_at = time.monotonic()
                self.ask(what)
            return

    def ask(self, what):
        try:
            if what == "reload":
                with open(self.config, "a", encoding="utf-8") as f:
                    f.write("# looked at again\n")
                self.process.send_signal(signal.SIGHUP)
                return
            with open(os.path.join(self.data, "listen"), encoding="ascii") as f:
                address = f.read().strip()
            with open(os.path.join(self.data, "token"), encoding="ascii") as f:
                token = f.read().strip()
            c = http.client.HTTPConnection(address, timeout=10)
            c.request("POST", "/api/v1/services/embed/" + what, b'{"by":"li"}', {"Authorization": "Bearer " + token})
            c.getresponse().read()
            c.close()
        except (OSError, http.client.HTTPException):
            pass                           # killed, or it could not: the log says so, and it is asked again

    def on_write(self, entry):
        value, status = entry[1], entry[3]
        self.writes.append((self.causes[len(self.writes)], value, status))
        if self.cures:
            self.target.plant.set(**(BETTER if self.target.knobs.values["batch_max"] == 64 else WORSE))

    def start(self):
        self.began = len(self.log)
        argv = [BINARY, "serve", "--config", self.config, "--data", self.data, "--listen", "127.0.0.1:0", "--log.format", "json",
                "--speed", str(SPEED)]
        self.process = subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        env=dict(os.environ, **self.shim.env))
        reader = threading.Thread(target=self.read, args=(self.process,), daemon=True)
        reader.start()
        return reader

    def read(self, process):
        for raw in process.stderr:
            with self.changed:
                self.log.append(raw.decode("utf-8", "replace").rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def ended_since(self, after):
        """Has an audit line come after which the log says that the story is over? Else somebody may have something to do."""
        if not (self.acts or any('"component":"audit"' in line for line in self.log[after:])):
            return False
        records = [r for _, r in audit_log.newest(self.data)]
        if not self.is_over(records):
            self.act(records)
            return False
        return True

    def wait(self, after, seconds=PATIENCE):
        """Until the story is over, the process has ended, or time is over; looks again at each line of the daemon."""
        deadline = time.monotonic() + seconds
        while True:
            with self.changed:
                seen = len(self.log)
            if self.process.poll() is not None:
                return
            if self.ended_since(after):
                return
            with self.changed:
                left = deadline - time.monotonic()
                if left <= 0:
                    return
                if len(self.log) == seen:
                    self.changed.wait(min(left, 0.5))

    def wait_scrapes(self, n, seconds):
        deadline, want = time.monotonic() + seconds, self.target.count("scrape") + n
        with self.target.changed:
            while self.process.poll() is None and time.monotonic() < deadline:
                if sum(1 for kind, _ in self.target.events if kind == "scrape") >= want:
                    return
                self.target.changed.wait(0.5)

    def after_death(self, reader):
        self.process.wait()
        reader.join(30)
        self.process.stderr.close()
        blobs = audit_log.prove(self.data)
        audit_log.need(blobs[:len(self.known)] == self.known, "records that were there are gone or changed")
        self.known = blobs

    def has_ended(self):
        return self.is_over([json.loads(b) for b in self.known])

    def life(self, spec):
        """One life of the daemon; spec: ("call", n, from start), ("time", seconds) or None: to the end. True: ended."""
        call = spec and spec[0] == "call"
        self.shim.set(kill_at=spec[1] if call else 0, count=0, armed=bool(call and spec[2]), no_metrics=not call or spec[3])
        after, over = len(self.log), self.has_ended()
        reader = self.start()
        if over:                           # a story that is over stays over
            self.wait_scrapes(100, spec[1] if spec and spec[0] == "time" else PATIENCE)
        elif not self.known:
            self.target.wait("scrape", after=40)
            self.target.plant.set(**WORSE)
        if not over:
            self.wait(after, spec[1] if spec and spec[0] == "time" else PATIENCE)
        alive = self.process.poll() is None
        ended = alive and self.is_over([r for _, r in audit_log.newest(self.data)])
        if alive and spec and spec[0] == "time":
            self.process.kill()
        elif alive and not ended:
            self.process.kill()
            self.after_death(reader)
            raise audit_log.Broken("the story has no end after %d s" % PATIENCE)
        elif alive:
            self.process.terminate()
        if self.process.wait(60) == -9:
            self.kills += 1
            names = self.shim.names()
            self.killed_at.append(names[spec[1] - 1] if call and len(names) >= spec[1] else "any")
        else:
            slow = self.process.returncode == 5 and any(DISK_IS_SLOW in line for line in self.log[-2:])
            audit_log.need(self.process.returncode == 0 or slow, "the daemon ended with %d", self.process.returncode)
        self.after_death(reader)
        return self.has_ended()

    def all(self, specs):
        """The kills, then one life to the end, which also shows that the last of them left nothing behind."""
        for spec in specs:
            if self.life(spec) and self.process.returncode == 0:
                break
        if specs and self.process.returncode != 0:
            self.life(None)
        while not self.has_ended():
            self.life(None)
        records = [json.loads(b) for b in self.known]
        audit_log.check_stories(records, 32.0, float(self.target.knobs.values["batch_max"]), self.writes)
        done = subprocess.run([BINARY, "audit", "verify", "--data", self.data], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, timeout=60)
        audit_log.need(done.returncode == 0, "trimtab audit verify: %s", done.stdout)
        audit_log.need(len(self.writes) == len(self.target.knobs.log), "a write was missed")

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.target.close()


def fill(run):
    """A warm service: history up to now."""
    subprocess.run([SEED, run.config, run.data, "latency_p99=38", "queue_depth=140", "throughput=1000", "batch_size=31",
                    "gpu_util=0.65", "error_ratio=0.001"], check=True)


def seeded(folder, story, write_mode):
    run = Run(folder, story, write_mode)
    fill(run)
    return run


def one(job):
    number, seed, story, write_mode, specs = job
    folder = tempfile.mkdtemp(prefix="trimtab-crash-")
    result = {"run": number, "seed": seed, "story": story, "write_mode": write_mode, "specs": specs, "violation": None}
    run = seeded(folder, story, write_mode)
    try:
        run.all(specs)
    except (AssertionError, OSError, subprocess.SubprocessError) as e:
        result["violation"] = "%s: %s" % (type(e).__name__, e)
        result["log"] = run.log[-80:]
        result["records"] = [b.decode("utf-8", "replace")[:400] for b in run.known if b'"service"' in b]
        result["writes"] = run.writes
    finally:
        run.close()
        shutil.rmtree(folder, ignore_errors=True)
    kinds = [json.loads(b) for b in run.known]
    result.update(kills=run.kills, killed_at=run.killed_at, end=next((r["kind"] for r in reversed(kinds) if "incident" in r), ""))
    return result


def count_calls(story):
    """The names of the calls of an untouched story, in order, without those on metrics.db."""
    folder = tempfile.mkdtemp(prefix="trimtab-crash-")
    run = seeded(folder, story, "good")
    try:
        run.all([])
        return run.shim.names()
    finally:
        run.close()
        shutil.rmtree(folder, ignore_errors=True)


SWEPT = ("undone", "kept", "stopped", "halted")


def sweep(wanted):
    """Each call of each story; fewer: evenly spread."""
    calls = {story: len(count_calls(story)) for story in SWEPT}
    places = [(story, n + 1) for story in SWEPT for n in range(calls[story])]
    wanted = min(wanted, len(places))
    jobs = [(story, "good", [("call", n, False, True)])
            for story, n in (places[int(i * len(places) / wanted)] for i in range(wanted))]
    return jobs, calls


def at_random(wanted, rng):
    """Several kills a story, at instants and at calls, in the first life and while what was open is being resolved."""
    jobs, planned = [], 0
    while planned < wanted:
        specs = []
        for _ in range(rng.randint(1, 5)):
            if rng.random() < 0.5:
                specs.append(("time", rng.uniform(0.0, 2.5 if specs else 5.0)))
            else:
                specs.append(("call", int(rng.expovariate(1 / (40.0 if specs else 150.0))) + 1, bool(specs), rng.random() < 0.7))
        mode = rng.choice(["good"] * 6 + ["error-but-applied", "ok-but-not", "third", "refuse"])
        jobs.append((rng.choice(SWEPT), mode, specs))
        planned += len(specs)
    return jobs


def main():
    p = argparse.ArgumentParser(description="kill the daemon and look at what is left")
    p.add_argument("--kills", type=int, default=100)
    p.add_argument("--jobs", type=int, default=max(4, 3 * (os.cpu_count() or 2)))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--sweep", type=int, default=0, metavar="N", help="first N kills at the calls of a story, evenly spread")
    a = p.parse_args()
    began, calls, jobs = time.monotonic(), {}, []
    if a.sweep:
        jobs, calls = sweep(a.sweep)
    rng = random.Random(a.seed)
    jobs += at_random(a.kills - len(jobs), rng)
    ends = {}
    kills, bad, runs, names = 0, [], 0, {}
    with concurrent.futures.ProcessPoolExecutor(a.jobs) as pool:
        while jobs and runs < 4 * a.kills:
            for r in pool.map(one, [(runs + i, a.seed) + job for i, job in enumerate(jobs)]):
                runs += 1
                kills += r["kills"]
                ends[r["end"]] = ends.get(r["end"], 0) + 1
                for name in r["killed_at"]:
                    names[name] = names.get(name, 0) + 1
                if runs % 50 == 0:
                    print("%d kills in %d stories, %d violations, %d s" % (kills, runs, len(bad), time.monotonic() - began),
                          file=sys.stderr, flush=True)
                if r["violation"]:
                    bad.append(r["violation"])
                    print(json.dumps(r, indent=1), file=sys.stderr, flush=True)
            # Some stories are over before all their kills were due.
            jobs = at_random(a.kills - kills, rng)
    print(json.dumps({"kills": kills, "runs": runs, "violations": len(bad), "first": bad[:1], "seed": a.seed,
                      "calls_counted": calls, "ends": ends, "killed_at": names,
                      "seconds": round(time.monotonic() - began, 1)}))
    return 1 if bad or runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
