"""Measures how long after a halt a write may still begin: the halt is given at a random instant right after the INTENT of a change,
by signal, file, API and command line; the target notes when each write begins.

    halt_latency.py [--runs N] [--jobs J] [--seed S]

One line of JSON on stdout: for each way how many writes began after the moment at which the halt was given, and how late."""

import argparse
import concurrent.futures
import json
import random
import sys
import time

from bad_stop_test import NO_LATER, Stopping

AROUND = 0.03              # seconds from the line that tells of the INTENT on; the write begins some milliseconds after it


def one(job):
    way, wait = job
    s = Stopping("begin")
    s.speed = 100                                  # also a busy machine has time for a story then
    s.setUp()
    try:
        d = s.begin()
        s.worse()
        d.wait_line(component="audit", msg="INTENT", timeout=120)
        until = time.monotonic() + wait
        while time.monotonic() < until:            # too short for the clock of the scheduler
            pass
        thrown = time.monotonic()
        getattr(s, way)(d)
        done = time.monotonic()
        s.target.wait("scrape", after=s.target.count("scrape") + 20, timeout=120)
        began = [t - thrown for t in s.target.knobs.began]
        return {"way": way, "after": [t for t in began if t > 0], "before": sum(t <= 0 for t in began), "done": done - thrown}
    finally:
        s.tearDown()


def ms(seconds):
    return round(1000 * seconds, 1)


def main():
    p = argparse.ArgumentParser(description="how long after a halt a write may still begin")
    p.add_argument("--runs", type=int, default=25, help="of each way")
    p.add_argument("--jobs", type=int, default=8)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    rng = random.Random(a.seed)
    jobs = [(way, rng.uniform(0.0, AROUND)) for _ in range(a.runs) for way in Stopping.ways]
    report, worst = {}, 0.0
    with concurrent.futures.ProcessPoolExecutor(a.jobs) as pool:
        results = list(pool.map(one, jobs))
    for way in Stopping.ways:
        mine = [r for r in results if r["way"] == way]
        late, done = sorted(t for r in mine for t in r["after"]), sorted(r["done"] for r in mine)
        worst = max([worst] + late)
        report[way] = {"runs": len(mine), "no write": sum(not r["after"] and not r["before"] for r in mine),
                       "began before": sum(r["before"] for r in mine), "began after": len(late),
                       "latest_ms": ms(late[-1]) if late else 0, "median_ms": ms(late[len(late) // 2]) if late else 0,
                       "given_median_ms": ms(done[len(done) // 2]), "given_latest_ms": ms(done[-1])}
    print(json.dumps({"ways": report, "latest_ms": ms(worst)}))
    return 1 if worst > NO_LATER else 0


if __name__ == "__main__":
    sys.exit(main())
