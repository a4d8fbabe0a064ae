"""Lets one call of the real daemon fail, in one life after another: each allocation, write, sync, SQL step, call of curl and
some others, through a whole cycle (start, scrape, incident, intent, write, read-back, reload, verdict, undo, halt, resume, end).

    inject.py [--kinds memory,write,...] [--runs N] [--jobs J] [--seed S] [--only KIND:HASH:NUMBER:ERROR]

Calls are told apart by the place in the code that makes them (four return addresses), since there are a hundred thousand
of them: at each place the first call fails once, and a later one in a life of its own. With --runs, that many places, evenly
spread. Each life either goes on, says what failed and brings its story to an end, or ends with a sentence and a status and the
next life, without a fault, brings it to an end. One line of JSON on stdout; exit 1 on a violation."""

import argparse
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import audit_log
import crash
from fault import KINDS, Fault
from harness import BINARY

ERRORS = {
    "memory": (0,),
    "write": (5, 0),                   # EIO, half of it
    "sync": (5,),
    "sql": (778, 7),                   # SQLITE_IOERR_WRITE, SQLITE_NOMEM
    "curl": (0,),
    "other": (5,),
}
NO_END = "the story has no end"


def said(lines):
    """What a log complains about: its messages that are no matter of course."""
    found = set()
    for line in lines:
        try:
            x = json.loads(line)
        except ValueError:
            found.add(line[:120])
            continue
        if x.get("level") in ("warn", "error"):
            found.add("%s: %s" % (x.get("component"), x.get("msg")))
    return found


class Life(crash.Run):
    """A whole cycle, with one fault in its first life."""

    def __init__(self, folder, fault):
        super().__init__(folder, "whole")
        self.shim = Fault(os.path.join(folder, "fault"))
        self.fault, self.is_worse = fault, False

    def cycle(self):
        after = len(self.log)
        reader = self.start()
        if not self.is_worse:
            self.wait_scrapes(40, crash.PATIENCE)
            self.is_worse = self.process.poll() is None
            if self.is_worse:
                self.target.plant.set(**crash.WORSE)
        self.wait(after)
        alive = self.process.poll() is None
        over = alive and self.is_over([r for _, r in audit_log.newest(self.data)])
        if alive:
            self.process.terminate()
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.after_death(reader)
            raise audit_log.Broken("the daemon does not end")
        self.after_death(reader)
        audit_log.need(status >= 0, "the daemon was ended by signal %d", -status)
        audit_log.need(over or status > 0 or not alive, NO_END)
        if status:
            audit_log.need(any(x for x in self.log[after:] if '"level":"error"' in x or x.startswith("trimtab")),
                           "the daemon ended with %d and said nothing", status)
        return status, over

    def run(self, listing=False):
        self.shim.set(kind=KINDS.index(self.fault["kind"]), site=self.fault["site"], number=self.fault["number"],
                      error=self.fault["error"], listing=listing)
        status, over = self.cycle()
        hit, first = self.shim.get("hit"), len(self.log)
        self.shim.set(kind=0, number=0, site=0, listing=0)
        slow = any(crash.DISK_IS_SLOW in line for line in self.log[-2:])       # said, and true of a busy machine, too
        audit_log.need(hit or status == 0 or slow, "no fault, and still it ended with %d", status)
        lives = 1
        while not over:
            lives += 1
            audit_log.need(lives < 5, "the story does not end in four lives")
            again, over = self.cycle()
            slow = any(crash.DISK_IS_SLOW in line for line in self.log[-2:])
            audit_log.need(again == 0 or slow, "without a fault it ended with %d", again)
        records = [json.loads(b) for b in self.known]
        audit_log.check_stories(records, 32.0, float(self.target.knobs.values["batch_max"]), self.writes)
        done = subprocess.run([BINARY, "audit", "verify", "--data", self.data], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, timeout=60)
        audit_log.need(done.returncode == 0, "trimtab audit verify: %s", done.stdout)
        return {"hit": hit, "status": status, "kinds": [r["kind"] for r in records], "said": sorted(said(self.log[:first])),
                "last": self.log[first - 1] if status else ""}


def one(fault):
    """A story that does not end is tried again: on a machine that has no time for it, scrapes come too late for that."""
    result = once(fault)
    if NO_END in (result["violation"] or "") and not fault.get("listing"):
        result = dict(once(fault), again=True)
    return result


def once(fault):
    folder = tempfile.mkdtemp(prefix="trimtab-inject-")
    result = dict(fault, violation=None, hit=0, status=None, kinds=[], said=[])
    life = None
    try:
        life = Life(folder, fault)
        crash.fill(life)
        result.update(life.run(fault.get("listing", False)))
        if fault.get("listing"):
            result["sites"] = life.shim.sites()
    except (AssertionError, OSError, subprocess.SubprocessError, KeyError, ValueError) as e:
        result["violation"] = "%s: %s" % (type(e).__name__, e)
        result["log"] = life.log[-30:] if life else []
    finally:
        if life:
            result["victim"] = life.shim.victim()
            result["hit"] = life.shim.get("hit")
            life.close()
        shutil.rmtree(folder, ignore_errors=True)
    return result


def plan(kinds, pool, wanted, rng):
    """What is to fail, from one life a kind in which everything goes well."""
    quiet = [dict(kind=k, site=0, number=0, error=0, listing=True) for k in kinds]
    faults, places, normal = [], {}, None
    for r in pool.map(one, quiet):
        audit_log.need(not r["violation"], "without a fault: %s %s", r["violation"], r.get("log"))
        normal = normal or r
        normal["said"] = sorted(set(normal["said"]) | set(r["said"]))
        places[r["kind"]] = len(r["sites"])
        for s in sorted(r["sites"], key=lambda x: x["hash"]):
            for error in ERRORS[r["kind"]]:
                faults.append(dict(kind=r["kind"], site=s["hash"], number=1, error=error))
                if s["count"] > 1:
                    faults.append(dict(faults[-1], number=rng.randint(2, s["count"])))
    if wanted and wanted < len(faults):
        faults = [faults[int(i * len(faults) / wanted)] for i in range(wanted)]
    return faults, places, normal


def names(victim):
    """Of the functions in the program, innermost first."""
    at = [hex(a - 1) for a in victim["at"] if a]
    return [victim["what"]] + at


def summary(results, places, normal, began):
    counted = ("runs", "reached", "went on", "ended", "unaffected", "again", "violations")
    out = {k: dict({c: 0 for c in counted}, places=places[k]) for k in KINDS[1:] if k in places}
    for r in results:
        c = out[r["kind"]]
        c["runs"] += 1
        c["reached"] += r["hit"]
        c["again"] += r.get("again", False)
        c["violations"] += bool(r["violation"])
        if r["violation"] or not r["hit"]:
            continue
        new = set(r["said"]) - set(normal["said"])
        c["ended" if r["status"] else "went on"] += 1
        c["unaffected"] += not r["status"] and not new
    return {"faults": out, "violations": sum(c["violations"] for c in out.values()), "seconds": round(time.monotonic() - began, 1)}


def main():
    p = argparse.ArgumentParser(description="let one call of the daemon fail and look at what becomes of it")
    p.add_argument("--kinds", default=",".join(KINDS[1:]))
    p.add_argument("--runs", type=int, default=0)
    p.add_argument("--jobs", type=int, default=max(4, 4 * (os.cpu_count() or 2)))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", help="KIND:HASH:NUMBER:ERROR, from the report of a violation")
    p.add_argument("--keep", help="a file for the results of all runs")
    a = p.parse_args()
    began = time.monotonic()
    if a.only:
        kind, site, number, error = a.only.split(":")
        r = one(dict(kind=kind, site=int(site), number=int(number), error=int(error)))
        print(json.dumps(r, indent=1))
        return 1 if r["violation"] else 0
    with concurrent.futures.ProcessPoolExecutor(a.jobs) as pool:
        faults, places, normal = plan(a.kinds.split(","), pool, a.runs, random.Random(a.seed))
        print("%d faults at %s places" % (len(faults), places), file=sys.stderr, flush=True)
        results = []
        for r in pool.map(one, faults):
            results.append(r)
            if r["violation"]:
                print(json.dumps(r, indent=1), file=sys.stderr, flush=True)
            if len(results) % 100 == 0:
                print(json.dumps(summary(results, places, normal, began)), file=sys.stderr, flush=True)
    if a.keep:
        with open(a.keep, "w", encoding="utf-8") as f:
            json.dump({"normal": normal, "results": results}, f)
    total = summary(results, places, normal, began)
    print(json.dumps(total))
    return 1 if total["violations"] or not results else 0


if __name__ == "__main__":
    sys.exit(main())
