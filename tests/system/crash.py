"""Kills the real daemon while it changes a knob of a real HTTP target, at random instants or at one system call of choice,
starts it again until its story has an end, and then holds the log against what the target saw.

    crash.py --kills N [--jobs J] [--seed S] [--sweep]

--sweep: first counts the system calls with an outside effect between INTENT and the end, then kills at each of them
(with --kills fewer than there are: at so many of them, evenly spread). One line of JSON on stdout; exit 1 on a violation."""

import argparse
import concurrent.futures
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

import audit_log
from harness import BINARY, CONFIG, SEED
from target import Target

SHIM = os.environ.get("KILL_SHIM_SO", os.path.join(os.path.dirname(BINARY), "tests", "system", "kill_shim.so"))
SPEED = 400
PATIENCE = 120.0           # wall seconds for one story; only to end a run that hangs
SHIM_HEAD, SHIM_NAME = 64, 40
SHIM_BYTES = SHIM_HEAD + 16384 * SHIM_NAME
ENDS = {"CLOSED", "HANDOVER", "YIELDED", "HELD", "UNDO-FAILED", "REQUEST"}
WORSE = {"p99": 0.0468, "queue": 320.0, "gpu": 0.78}
BETTER = {"p99": 0.0375, "queue": 70.0, "gpu": 0.66, "fill": 60.0}


class Shim:
    """The shared numbers of kill_shim.c."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as f:
            f.truncate(SHIM_BYTES)

    def set(self, kill_at, armed):
        with open(self.path, "r+b") as f:
            f.write(struct.pack("=QQQ", kill_at, 0, 1 if armed else 0))

    def count(self):
        with open(self.path, "rb") as f:
            return struct.unpack("=QQQ", f.read(24))[1]

    def names(self):
        with open(self.path, "rb") as f:
            n = struct.unpack("=QQQ", f.read(24))[1]
            f.seek(SHIM_HEAD)
            raw = f.read(min(n, 16384) * SHIM_NAME)
        return [raw[i:i + SHIM_NAME].split(b"\0")[0].decode() for i in range(0, len(raw), SHIM_NAME)]


class Writes(list):
    """The target's own list of writes. Each is held against the log at the moment it comes in."""

    def __init__(self, run):
        super().__init__()
        self.run = run

    def append(self, entry):
        super().append(entry)
        self.run.on_write(entry)


class Run:
    """One service that gets worse, one story, some kills."""

    def __init__(self, folder, cures):
        self.folder, self.cures = folder, cures
        self.data = os.path.join(folder, "data")
        self.target = Target(SPEED)
        self.target.knobs.log = Writes(self)
        self.writes, self.log, self.known, self.process = [], [], [], None
        self.kills, self.killed_at = 0, []
        self.changed = threading.Condition()
        self.shim = Shim(os.path.join(folder, "shim"))
        self.config = os.path.join(folder, "config.yaml")
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(CONFIG.format(mode="auto", target=self.target.address, timeout="5s", write_more="", more=""))

    def on_write(self, entry):
        _, value, _, status, _ = entry if len(entry) == 5 else entry + (None,)
        cause = audit_log.cause_of_write(audit_log.newest(self.data))
        self.writes.append((cause[0] if cause else None, value, status == 200))
        if self.cures and status == 200:
            self.target.plant.set(**(BETTER if value == 64 else WORSE))

    def start(self):
        env = dict(os.environ, LD_PRELOAD=SHIM, KILL_SHIM=self.shim.path)
        argv = [BINARY, "serve", "--config", self.config, "--data", self.data, "--listen", "127.0.0.1:0", "--log.format", "json",
                "--speed", str(SPEED)]
        self.process = subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=env)
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

    def line_with(self, words, after):
        for line in self.log[after:]:
            if '"component":"audit"' in line and any('"msg":"%s"' % w in line for w in words):
                return line
        return None

    def wait(self, words, after, seconds=PATIENCE):
        """True: such an audit line came. False: the process ended or time is over."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                if self.line_with(words, after):
                    return True
                left = deadline - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    return bool(self.line_with(words, after))
                self.changed.wait(min(left, 0.5))

    def after_death(self, reader):
        self.process.wait()
        reader.join(30)
        self.process.stderr.close()
        blobs = audit_log.prove(self.data)
        audit_log.need(blobs[:len(self.known)] == self.known, "records that were there are gone or changed")
        self.known = blobs

    def has_ended(self):
        kinds = [json.loads(b)["kind"] for b in self.known]
        ends = [i for i, k in enumerate(kinds) if k in ENDS]
        begins = [i for i, k in enumerate(kinds) if k in ("INCIDENT", "INTENT")]
        return bool(ends) and ends[-1] > begins[-1]

    def life(self, spec):
        """One life of the daemon; spec: ("call", n, from start), ("time", seconds) or None: to the end. True: ended."""
        call = spec and spec[0] == "call"
        self.shim.set(spec[1] if call else 0, bool(call and spec[2]))
        after = len(self.log)
        reader = self.start()
        if not self.known:
            self.target.wait("scrape", after=40)
            self.target.plant.set(**WORSE)
        ended = self.wait(ENDS, after, spec[1] if spec and spec[0] == "time" else PATIENCE)
        alive = self.process.poll() is None
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
            audit_log.need(self.process.returncode == 0, "the daemon ended with %d", self.process.returncode)
        self.after_death(reader)
        return self.has_ended()

    def all(self, specs):
        for spec in specs:
            if self.life(spec):
                break
        for _ in range(3):
            if self.has_ended() and not (specs and self.process.returncode == -9):
                break
            specs = []
            if self.has_ended():
                break
            self.life(None)
        records = [json.loads(b) for b in self.known]
        audit_log.check_stories(records, 32.0, float(self.target.knobs.values["batch_max"]), self.writes)
        audit_log.need(len(self.writes) == len(self.target.knobs.log), "a write was missed")

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.target.close()


def one(job):
    number, seed, cures, specs = job
    folder = tempfile.mkdtemp(prefix="trimtab-crash-")
    run = Run(folder, cures)
    result = {"run": number, "seed": seed, "cures": cures, "specs": specs, "violation": None}
    try:
        subprocess.run([SEED, run.config, run.data, "latency_p99=38", "queue_depth=140", "throughput=1000", "batch_size=31",
                        "gpu_util=0.65", "error_ratio=0.001"], check=True)
        run.all(specs)
    except (AssertionError, OSError, subprocess.SubprocessError) as e:
        result["violation"] = "%s: %s" % (type(e).__name__, e)
        result["log"] = run.log[-80:]
        result["records"] = [b.decode("utf-8", "replace")[:400] for b in run.known if b'"service"' in b]
        result["writes"] = run.writes
    finally:
        run.close()
        shutil.rmtree(folder, ignore_errors=True)
    result.update(kills=run.kills, killed_at=run.killed_at, calls=run.shim_names if hasattr(run, "shim_names") else [],
                  last=[json.loads(b)["kind"] for b in run.known][-1:] if run.known else [])
    return result


def count_calls(cures):
    """The names of the calls of an untouched story, in order."""
    folder = tempfile.mkdtemp(prefix="trimtab-crash-")
    run = Run(folder, cures)
    try:
        subprocess.run([SEED, run.config, run.data, "latency_p99=38", "queue_depth=140", "throughput=1000", "batch_size=31",
                        "gpu_util=0.65", "error_ratio=0.001"], check=True)
        run.all([])
        return run.shim.names()
    finally:
        run.close()
        shutil.rmtree(folder, ignore_errors=True)


def sweep(wanted):
    jobs = []
    calls = {cures: count_calls(cures) for cures in (False, True)}
    total = sum(len(c) for c in calls.values())
    step = max(1.0, total / wanted)
    at = 0.0
    while at < total:
        n = int(at)
        cures = n >= len(calls[False])
        jobs.append((cures, [("call", n - (len(calls[False]) if cures else 0) + 1, False)]))
        at += step
    return jobs, {str(c): len(v) for c, v in calls.items()}


def at_random(wanted, rng):
    jobs, planned = [], 0
    while planned < wanted:
        specs = []
        for _ in range(rng.randint(1, 5)):
            kind = rng.random()
            if kind < 0.5:
                specs.append(("time", rng.uniform(0.0, 5.0) if not specs else rng.uniform(0.0, 2.5)))
            elif not specs:
                specs.append(("call", int(rng.expovariate(1 / 150.0)) + 1, False))
            else:
                specs.append(("call", int(rng.expovariate(1 / 40.0)) + 1, True))
        jobs.append((rng.random() < 0.5, specs))
        planned += len(specs)
    return jobs


def main():
    p = argparse.ArgumentParser(description="kill the daemon and look at what is left")
    p.add_argument("--kills", type=int, default=100)
    p.add_argument("--jobs", type=int, default=max(4, 3 * (os.cpu_count() or 2)))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--sweep", action="store_true")
    a = p.parse_args()
    began, calls = time.monotonic(), {}
    rng = random.Random(a.seed)
    jobs, calls = sweep(a.kills) if a.sweep else (at_random(a.kills, rng), {})
    kills, bad, runs, names = 0, [], 0, {}
    with concurrent.futures.ProcessPoolExecutor(a.jobs) as pool:
        for r in pool.map(one, [(i, a.seed, cures, specs) for i, (cures, specs) in enumerate(jobs)]):
            runs += 1
            kills += r["kills"]
            for name in r["killed_at"]:
                names[name] = names.get(name, 0) + 1
            if r["violation"]:
                bad.append(r["violation"])
                print(json.dumps(r, indent=1), file=sys.stderr, flush=True)
    print(json.dumps({"kills": kills, "runs": runs, "violations": len(bad), "first": bad[:1], "seed": a.seed, "sweep": a.sweep,
                      "calls_counted": calls, "killed_at": names, "seconds": round(time.monotonic() - began, 1)}))
    return 1 if bad or runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
