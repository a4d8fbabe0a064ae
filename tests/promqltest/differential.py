#!/usr/bin/env python3
"""Asks a real Prometheus and our evaluator the same generated questions over the same data.

usage: differential.py PROMQLTEST-BINARY [SEED [COUNT]]

Exit 0: all answers agree to a billionth; 1: some differ (printed); 77: prometheus or promtool is not installed. The data and the
questions come from the seed alone. Left out is what Prometheus 3, whose rules ours are, answers otherwise than the 2.x of
Debian: range edges that fall on a sample (times are chosen off the grid), rates of series that fall below zero or begin
near it, deviations of NaN, and matching whose comparison filters away a duplicate. topk and bottomk stand over values
without ties only.
"""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

STEP, POINTS = 10, 120
BASE = 1_700_000_000 - 1_700_000_000 % 780       # a multiple of every step below: subqueries align as they do from 0
RANGES = ["31s", "61s", "95s", "305s", "725s"]    # with times ending in 3 or 7 no edge falls on a sample


def counter(rnd, scale, resets):
    value, out = 5000 + rnd.random() * 100, []
    for _ in range(POINTS):
        value = rnd.random() * 3 if rnd.random() < resets else value + rnd.random() * scale
        out.append(round(value, 3))
    return out


def gauge(rnd):
    return [None if rnd.random() < 0.05 else round(rnd.gauss(0, 50), 3) for _ in range(POINTS)]


def make_series(rnd):
    out = []
    for job in "ab":
        for instance in "123":
            base = {"job": job, "instance": instance}
            for code in ("200", "500"):
                out.append(("http_requests_total", {**base, "code": code}, counter(rnd, 10, 0.02)))
            out.append(("queue", base, gauge(rnd)))
            out.append(("util", {**base, "gpu": str(rnd.randrange(3))}, gauge(rnd)))
            total = [0.0] * POINTS
            for le in ("0.05", "0.1", "0.5", "2", "+Inf"):
                total = [a + b for a, b in zip(total, counter(rnd, 3, 0))]
                out.append(("lat_bucket", {**base, "le": le}, [round(v, 3) for v in total]))
            out.append(("lat_count", base, [round(v, 3) for v in total]))
        out.append(("limit", {"job": job, "team": "t" + job}, [float(rnd.randrange(1, 9))] * POINTS))
    return out


class Questions:
    """Grows random queries."""

    def __init__(self, rnd):
        self.rnd = rnd

    def one_of(self, *choices):
        return self.rnd.choice(choices)

    def selector(self, names, with_range=False):
        matcher = self.one_of("", "", "", 'job="a"', 'job!="a"', 'job=~"a|b"', 'instance=~"[12]"', 'instance!~"2.*"',
                              'nothing=""', 'code="500"')
        text = self.one_of(*names) + ("{" + matcher + "}" if matcher else "")
        if with_range:
            text += f"[{self.one_of(*RANGES)}]"
        if self.rnd.random() < 0.15:
            text += " offset " + self.one_of("1m", "30s", "-20s", "4m")
        return text + (" @ 503" if self.rnd.random() < 0.05 else "")

    def any_selector(self, with_range=False):
        return self.selector(["http_requests_total", "queue", "util", "lat_count", "limit"], with_range)

    def of_range(self):
        rising = self.one_of("rate", "increase", "irate", "resets")
        if self.rnd.random() < 0.4:
            return f"{rising}({self.selector(['http_requests_total', 'lat_count'], True)})"
        name = self.one_of("delta", "idelta", "changes", "deriv", "avg_over_time", "sum_over_time", "min_over_time",
                           "max_over_time", "count_over_time", "last_over_time", "stddev_over_time", "stdvar_over_time",
                           "present_over_time", "quantile_over_time", "predict_linear")
        arg = self.any_selector(True)
        if self.rnd.random() < 0.15:
            name = self.one_of("avg_over_time", "max_over_time", "sum_over_time", "count_over_time")
            arg = f"({self.any_selector()} * 2)[{self.one_of('2m', '3m')}:{self.one_of('30s', '')}]"
        if name == "quantile_over_time":
            return f"quantile_over_time({self.one_of(0, 0.3, 0.99, 1)}, {arg})"
        return f"{name}({arg}, {self.one_of(10, 600)})" if name == "predict_linear" else f"{name}({arg})"

    def aggregate(self, inner):
        by = self.one_of("", " by (job)", " by (job, code)", " without (instance)", " by (nothing)")
        name = self.one_of("sum", "avg", "min", "max", "count", "group", "stddev", "topk", "bottomk", "quantile",
                           "count_values")
        if name in ("topk", "bottomk"):
            return f"{name}{by} ({self.one_of(1, 2, 5)}, {self.selector(['queue', 'util'])})"
        if name == "stddev":
            return f"stddev{by} ({self.selector(['queue', 'http_requests_total'])})"
        if name == "quantile":
            return f"quantile{by} ({self.one_of(0, 0.5, 0.9)}, {inner})"
        return f'count_values{by} ("v", {self.selector(["limit"])})' if name == "count_values" else f"{name}{by} ({inner})"

    def matched(self, depth):
        kind = self.one_of("arithmetic", "set", "group")
        if kind == "set":
            how = self.one_of("", " on (job)", " on (job, instance)", " ignoring (code)")
            return f"({self.query(depth)} {self.one_of('and', 'or', 'unless')}{how} {self.query(depth)})"
        if kind == "group":
            extra = self.one_of("", " (team)")
            return f"({self.any_selector()} {self.one_of('+', '*', '/')} on (job) group_left{extra} limit)"
        name = self.one_of("http_requests_total", "queue", "lat_count")
        other = self.one_of(f"rate({name}[61s])", f"({name} offset 1m)", f"avg_over_time({name}[95s])")
        return f"({name} {self.one_of('+', '-', '*', '/', '> bool', '<=')} {other})"

    def histogram(self):
        by = self.one_of("", ", job", ", instance")
        q = self.one_of(0, 0.1, 0.5, 0.9, 0.99, 1)
        return f"histogram_quantile({q}, sum by (le{by}) (rate(lat_bucket[{self.one_of('61s', '95s')}])))"

    def call(self, inner):
        name = self.one_of("abs", "ceil", "floor", "exp", "ln", "log2", "log10", "sqrt", "sgn", "round", "clamp", "minus",
                           "absent", "scalar", "clamp_min", "label_replace", "label_join", "sort_desc")
        special = {
            "clamp": f"clamp({inner}, -3, 20)", "round": f"round({inner}, 0.5)", "minus": f"-({inner})",
            "scalar": f"vector(scalar({inner}))", "clamp_min": f"clamp_min({inner}, 1)",
            "label_replace": f'label_replace({inner}, "z", "$1-x", "instance", "(.)")',
            "label_join": f'label_join({inner}, "z", "/", "job", "instance")'}
        return special.get(name, f"{name}({inner})")

    def query(self, depth):
        r = self.rnd.random()
        if depth <= 0:
            return self.any_selector() if r < 0.4 else self.of_range()
        if r < 0.25:
            return self.of_range()
        if r < 0.5:
            return self.aggregate(self.query(depth - 1))
        if r < 0.6:
            op = self.one_of("+", "-", "*", "/", "%", "^", ">", "<", "==", "!=", ">= bool", "<= bool")
            return f"({self.query(depth - 1)} {op} {self.one_of('2', '0.5', '-3', '1e3', '0')})"
        if r < 0.75:
            return self.matched(depth - 1)
        return self.histogram() if r < 0.83 else self.call(self.query(depth - 1))


def labels_text(labels):
    return "{" + ",".join(f'{k}={json.dumps(v)}' for k, v in sorted(labels.items())) + "}"


def write_openmetrics(path, series):
    with open(path, "w", encoding="utf-8") as f:
        for name in sorted({s[0] for s in series}):
            f.write(f"# TYPE {name} unknown\n")
            for _, labels, values in (s for s in series if s[0] == name):
                for i, v in enumerate(values):
                    if v is not None:
                        f.write(f"{name}{labels_text(labels)} {v!r} {BASE + i * STEP}\n")
        f.write("# EOF\n")


class Prometheus:
    """A server over a folder of blocks, on a free port of the loopback."""

    def __init__(self, folder, series):
        write_openmetrics(f"{folder}/page", series)
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", f"{folder}/page", f"{folder}/data"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"{folder}/config.yml", "w", encoding="utf-8") as f:
            f.write("global: {}\n")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/api/v1/query"
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/config.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=100y"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:             # its own word that it is ready
            if "Server is ready to receive web requests" in line:
                return
        raise SystemExit("prometheus did not start")

    def ask(self, query, time):
        body = urllib.parse.urlencode({"query": query, "time": time}).encode()
        try:
            with urllib.request.urlopen(self.url, body, timeout=20) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as e:
            return json.load(e)

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()


def expected_lines(answer):
    if answer["status"] != "success":
        yield "expect fail"
        return
    data = answer["data"]
    if data["resultType"] == "scalar":
        yield data["result"][1]
        return
    for e in data["result"]:
        labels = dict(e["metric"])
        yield f'{labels.pop("__name__", "")}{labels_text(labels)} {e["value"][1]}'


def write_questions(path, rnd, series, server, count):
    asked = Questions(rnd)
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"load {STEP}s\n")
        for name, labels, values in series:
            f.write(f'  {name}{labels_text(labels)} {" ".join("_" if v is None else repr(v) for v in values)}\n')
        for _ in range(count):
            query = asked.query(rnd.randrange(1, 4))
            at = rnd.randrange(2, POINTS - 2) * STEP + rnd.choice((3, 7))
            answer = server.ask(query.replace("@ 503", f"@ {BASE + 503}"), BASE + at)
            f.write(f"\neval instant at {at}s {query}\n")
            for line in expected_lines(answer):
                f.write(f"  {line}\n")


def main():
    binary, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    if not (shutil.which("prometheus") and shutil.which("promtool")):
        print("skipped: prometheus and promtool are not installed")
        return 77
    rnd = random.Random(seed)
    series = make_series(rnd)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/data")
        server = Prometheus(folder, series)
        try:
            write_questions(f"{folder}/questions.test", rnd, series, server, count)
        finally:
            server.close()
        done = subprocess.run([binary, "-e", f"{folder}/questions.test"], stdout=subprocess.PIPE, text=True, check=False)
    print(f"seed {seed}\n{done.stdout}", end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
