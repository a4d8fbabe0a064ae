"""What the console's pages ask, while a real loop goes through request, approval, write and verdict: every answer has the
form that the description promises, and says what happened."""

import json
import os
import re
import sqlite3
import threading
import time
import unittest
import urllib.parse

from harness import SystemTest


def fault(schema, value, root, where="$"):
    """What is wrong with the value, as a text; None when nothing is. The part of JSON Schema that schemas.json uses."""
    if "$ref" in schema:
        parts = schema["$ref"].split("/")
        return fault(root["components"][parts[2]][parts[3]], value, root, where)
    if "oneOf" in schema:
        faults = [fault(s, value, root, where) for s in schema["oneOf"]]
        return None if faults.count(None) == 1 else "%s: fits %d of oneOf: %s" % (where, faults.count(None), faults)
    kinds = schema.get("type")
    names = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
    if kinds:
        kinds = [kinds] if isinstance(kinds, str) else kinds
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        fits = any((k == "number" and number) or (k == "integer" and number and float(value).is_integer())
                   or (k in names and isinstance(value, names[k])) for k in kinds)
        if not fits:
            return "%s: %r is not %s" % (where, value, kinds)
    if "enum" in schema and value not in schema["enum"]:
        return "%s: %r is not one of %s" % (where, value, schema["enum"])
    if "const" in schema and value != schema["const"]:
        return "%s: %r is not %r" % (where, value, schema["const"])
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                return "%s: %s is missing" % (where, key)
        known = schema.get("properties", {})
        for key, item in value.items():
            if key in known:
                found = fault(known[key], item, root, where + "." + key)
                if found:
                    return found
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            found = fault(schema["items"], item, root, "%s[%d]" % (where, i))
            if found:
                return found
    return None


class Pages(SystemTest):
    def begin(self, mode):
        config = self.config(mode=mode)
        self.seed(config)
        self.d = self.start(config)
        self.document = json.loads(self.d.request("GET", "/api/v1/openapi.json")[1])
        self.target.wait("scrape", after=40)

    def get(self, path, **query):
        """Also looks whether the answer has the form of the description."""
        text = self.d.request("GET", "/api/v1/" + path + ("?" + urllib.parse.urlencode(query) if query else ""))
        self.assertEqual(200, text[0], path + text[1])
        answer = json.loads(text[1], parse_constant=lambda c: self.fail("not JSON: " + c))
        for pattern, methods in self.document["paths"].items():
            exact = re.sub(r"\\{[a-z]+\\}", "[^/]+", re.escape(pattern).replace("\\{", "\\{").replace("\\}", "\\}"))
            if not re.fullmatch(exact, "/api/v1/" + path):
                continue
            schema = methods["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            self.assertIsNone(fault(schema, answer, self.document), path)
            return answer["data"]
        return self.fail("%s is not described" % path)

    def post(self, path, status=200, **body):
        code, text = self.d.request("POST", "/api/v1/" + path, json.dumps(dict(body, by="li")), token=True)
        self.assertEqual(status, code, text)
        return json.loads(text)

    def ask_for_64(self):
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        self.d.wait_line(component="audit", msg="REQUEST")
        requests = self.get("inbox")["requests"]
        while not requests or requests[0]["seq"] is None:      # state and record are a moment apart
            requests = self.get("inbox")["requests"]
        return requests[0]

    def all_pages(self):
        for path in ("session", "status", "services", "services/embed", "services/embed/explain", "services/embed/series",
                     "incidents",
                     "inbox", "tuning", "audit", "audit/search", "audit/state", "audit/verify", "policy", "policy/revisions",
                         "health",
                     "modules", "config", "reasons", "words"):
            self.get(path)

    def test_a_change_that_is_approved(self):
        self.begin("confirm")
        self.all_pages()
        card = self.ask_for_64()
        self.assertEqual(("embed", "batch_max", "32", "64", "batch", 1), tuple(card[k] for k in (
            "service", "knob", "from", "to", "class", "tier")))
        self.assertEqual([{"what": "batch_max", "from": "32", "to": "64", "unit": ""}], card["diff"])
        self.assertIn("46.8 ms", card["evidence"]["values"])
        self.assertIn("queue_depth", card["evidence"]["rule"])
        self.assertEqual({"value": "32", "known": True, "tried": 0},
                         {"value": card["undo"]["value"], "known": card["history"]["known"], "tried": card["history"]["tried"]})
        self.assertGreater(card["expires"], card["asked_at"])
        self.assertEqual(card["id"], self.get("status")["services"][0]["request"]["id"])
        self.all_pages()
        self.post("services/embed/approve", request="0123456789abcdef", status=409)
        self.post("services/embed/approve", request=card["id"], reason="looks right <b>")
        self.target.wait("write")
        self.target.plant.set(p99=0.0375, queue=70.0, gpu=0.66, fill=60.0)
        self.d.wait_line(component="audit", msg="VERDICT")
        self.d.wait_line(component="audit", msg="CLOSED")
        self.all_pages()
        self.story()
        self.charts()
        self.past()

    def story(self):
        story = self.get("incidents/embed/1/story")
        self.assertEqual(("embed", 1, "latency-degraded", "closed"), tuple(story[k] for k in (
            "service", "incident", "symptom", "state")))
        self.assertIn("latency_p99 46.8 ms > 1.15 * baseline", story["noticed"]["rule"])
        self.assertIn({"name": "compute-bound", "verdict": "chosen"}, story["located"]["causes"])
        self.assertEqual(1, len(story["attempts"]))
        one = story["attempts"][0]
        self.assertEqual(("embed/1", "batch_max", "32", "64", "up"), tuple(one[k] for k in (
            "action", "knob", "from", "to", "direction")))
        self.assertEqual("li", one["approved"]["by"])
        self.assertEqual("looks right <b>", one["approved"]["reason"])
        self.assertLess(one["asked"]["seq"], one["approved"]["seq"])
        self.assertLess(one["did"]["intent_seq"], one["did"]["seq"])
        self.assertEqual(("applied", "64"), (one["did"]["outcome"], one["did"]["read"]))
        self.assertIn("32", one["did"]["by_hand"])
        self.assertEqual(("effective", "keep"), (one["verdict"]["verdict"], one["verdict"]["outcome"]))
        numbers = {n["name"]: n for n in one["verdict"]["numbers"]}
        self.assertAlmostEqual(46.8, numbers["median"]["before"], delta=1)
        self.assertAlmostEqual(37.5, numbers["median"]["after"], delta=1)
        self.assertEqual((600, 120), (one["watched"]["window_seconds"], one["watched"]["settle_seconds"]))
        self.assertIsNone(one["undo"])
        self.assertEqual("CLOSED", story["ended"]["kind"])
        self.assertIsNone(story["live"])
        self.assertEqual([r["seq"] for r in story["records"]], sorted(r["seq"] for r in story["records"]))

    def charts(self):
        series = self.get("services/embed/series", signals="latency_p99,queue_depth")
        self.assertEqual(["latency_p99", "queue_depth"], [s["name"] for s in series["signals"]])
        latency = series["signals"][0]
        self.assertEqual((80, "ms"), (latency["objective"], latency["unit"]))
        lengths = {len(latency[k]) for k in ("t", "mean", "min", "max", "baseline", "low", "high")}
        self.assertEqual(1, len(lengths))
        known = [i for i, v in enumerate(latency["mean"]) if v is not None]
        self.assertTrue(any(latency["mean"][i] > 46 for i in known))
        banded = [i for i in known if latency["baseline"][i] is not None and latency["low"][i] is not None]
        self.assertTrue(banded)
        for i in banded:
            self.assertLess(latency["low"][i], latency["baseline"][i])
            self.assertAlmostEqual(38, latency["baseline"][i], delta=3)
        kinds = [m["kind"] for m in series["marks"]]
        self.assertTrue({"incident", "action", "verdict", "closed"} <= set(kinds), kinds)
        for query in ({"from": "x"}, {"step": "0.5"}, {"step": "-1"}, {"from": "2026-01-02T00:00:00Z",
                                                                       "to": "2026-01-01T00:00:00Z"},
                      {"from": "1", "to": "9999999999999999999"}, {"step": "1", "from": "1700000000", "to": "1700100000"}):
            code, text = self.d.request("GET", "/api/v1/services/embed/series?" + urllib.parse.urlencode(query))
            self.assertEqual(400, code, text)
        compare = self.get("actions/embed/1/compare")
        latency = [s for s in compare["signals"] if s["name"] == "latency_p99"][0]
        self.assertGreater(latency["before"]["n"], 10)
        self.assertAlmostEqual(37.5, latency["after"]["p50"], delta=1)
        self.assertEqual(latency["before"]["n"], sum(latency["before"]["bins"]))
        self.assertEqual(21, len(latency["edges"]))
        self.assertTrue(latency["low"] <= latency["shift"] <= latency["high"] < 0, latency)

    def past(self):
        tuning = self.get("tuning")
        self.assertEqual(("embed/1", "effective", "li"), tuple(tuning["actions"][0][k] for k in ("action", "verdict", "by")))
        self.assertAlmostEqual(0.2, tuning["actions"][0]["gain"], delta=0.03)
        group = tuning["groups"][0]
        self.assertEqual((1, 1, 0), (group["tried"], group["effective"], group["rolled_back"]))
        self.assertEqual([], self.get("tuning", knob="other")["actions"])
        side = self.get("tuning/side", a="embed/1", b="embed/1")
        self.assertEqual(side["a"], side["b"])
        self.assertIn(0, side["a"]["signals"][0]["offset"])
        found = self.get("audit/search", q="LOOKS RIGHT")["records"]
        self.assertEqual(["APPROVAL"], [r["kind"] for r in found if r["kind"] == "APPROVAL"])
        self.assertEqual([], self.get("audit/search", q="nowhere to be found")["records"])
        kinds = {r["kind"] for r in self.get("audit/search", kind="verdict", service="embed")["records"]}
        self.assertEqual({"VERDICT"}, kinds)
        seen, before = [], None
        while before != "end":
            page = self.get("audit/search", limit=3, **({"before": before} if before else {}))
            seen += [r["seq"] for r in page["records"]]
            before = page["next"] or "end"
        self.assertEqual(list(range(page["size"])), seen[::-1])
        self.assertTrue(self.get("audit/state")["verified"]["good"])
        self.assertTrue(self.d.request("GET", "/api/v1/audit/proof/record/1")[1].startswith("c2sp.org/tlog-proof@v1"))
        lines = self.d.request("GET", "/api/v1/audit/export?service=embed")[1].splitlines()
        self.assertTrue(all(json.loads(line)["service"] == "embed" for line in lines))
        self.assertGreater(len(lines), 5)

    def test_a_change_that_is_rejected_or_no_longer_fits(self):
        self.begin("confirm")
        card = self.ask_for_64()
        self.post("services/embed/reject", request=card["id"], reason="load test")
        self.d.wait_line(component="audit", msg="REJECT")
        answer = self.post("services/embed/approve", request=card["id"], status=409)
        self.assertIn("no request waits", answer["error"])
        self.assertIn("the request is rejected by li", answer["error"])
        self.assertIn(("ended", "waiting", "rejected", "li"), self.changes(answer["changes"], "by"))
        self.assertEqual([], self.get("inbox")["requests"])
        story = self.get("incidents/embed/1/story")["requests"]
        self.assertEqual([("batch_max", "32", "64", "rejected", "li", "load test", [])],
                         [tuple(r[k] for k in ("knob", "from", "to", "end", "by", "note", "changes")) for r in story])

    @staticmethod
    def changes(items, *more):
        return [tuple(c[k] for k in ("what", "then", "now") + more) for c in items]

    def test_an_approval_after_the_symptom_went_says_what_changed(self):
        self.begin("confirm")
        card = self.ask_for_64()
        self.target.plant.set(p99=0.0375, queue=70.0, gpu=0.66)
        while card["now"]["symptoms"][0]["now"] != "false":
            card = self.get("inbox")["requests"][0]
        self.assertIn(("symptom", "true", "false"), self.changes(card["now"]["changes"]))
        answer = self.post("services/embed/approve", request=card["id"], status=409)
        self.assertEqual("symptom-gone", answer["reason"])
        self.assertIn(("symptom", "latency-degraded", "true", "false"),
                      [tuple(c[k] for k in ("what", "name", "then", "now")) for c in answer["changes"]])
        signals = {c["name"]: c for c in answer["changes"] if c["what"] == "signal"}
        self.assertEqual("320", signals["queue_depth"]["then"])
        self.assertNotEqual("320", signals["queue_depth"]["now"])
        self.assertIn("the symptom latency-degraded is false now", answer["error"])
        self.assertIn("queue_depth was 320, is ", answer["error"])
        self.d.wait_line(component="audit", msg="VOID")
        ended = self.get("incidents/embed/1/story")["requests"]
        while not ended:                            # answer and record are a moment apart
            ended = self.get("incidents/embed/1/story")["requests"]
        self.assertEqual(("void", "symptom-gone"), (ended[0]["end"], ended[0]["reason"]))
        kept = {c["name"]: c for c in ended[0]["changes"]}
        self.assertEqual("320", kept["queue_depth"]["then"])
        self.assertEqual(("true", "false"), (kept["latency-degraded"]["then"], kept["latency-degraded"]["now"]))

    def test_an_approval_after_somebody_else_changed_the_knob_says_so(self):
        self.begin("confirm")
        card = self.ask_for_64()
        self.target.knobs.values["batch_max"] = 16
        self.target.knobs.versions["batch_max"] += 1
        answer = self.post("services/embed/approve", request=card["id"], status=409)
        self.assertIn(("knob", "32", "16"), self.changes(answer["changes"]))
        self.assertIn("batch_max was 32, is 16", answer["error"])
        self.d.wait_line(component="audit", msg="VOID")
        ended = self.get("incidents/embed/1/story")["requests"]
        while not ended:
            ended = self.get("incidents/embed/1/story")["requests"]
        self.assertIn(("knob", "32", "16"), self.changes(ended[0]["changes"]))

    def test_a_long_log_is_checked_beside_the_loop(self):
        config = self.config()
        self.seed(config, "records=21000")
        d = self.start(config)
        self.target.wait("scrape", after=10)
        found = {}

        def check(name):
            found[name] = json.loads(d.request("GET", "/api/v1/audit/verify")[1])["data"]

        asking = [threading.Thread(target=check, args=(i,)) for i in range(3)]
        for t in asking:
            t.start()
        slowest = 0.0
        while any(t.is_alive() for t in asking):
            began = time.monotonic()
            self.assertEqual(200, d.request("GET", "/-/healthy")[0])
            slowest = max(slowest, time.monotonic() - began)
        self.assertLess(slowest, 0.5)
        for answer in found.values():
            self.assertTrue(answer["good"], answer)
            self.assertGreaterEqual(answer["records"], 21000)
        db = sqlite3.connect(os.path.join(self.folder, "data", "audit.db"))
        with db:
            for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
                db.execute("DROP TRIGGER " + name)
            db.execute("UPDATE records SET bytes = CAST(replace(CAST(bytes AS TEXT), 'trimtab', 'trimtap') AS BLOB)"
                       " WHERE seq = 12345")
        db.close()
        check("after")
        self.assertFalse(found["after"]["good"])
        self.assertEqual(12345, found["after"]["first_bad_record"])

    def test_a_policy_that_changed(self):
        self.begin("alert")
        path = self.d.process.args[self.d.process.args.index("--config") + 1]
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("max: 128", "max: 256\n        min_step: 2").replace("        min_step: 4\n", "", 1))
        self.assertEqual(200, self.d.request("POST", "/-/reload", token=True)[0])
        revisions = self.get("policy/revisions")["revisions"]
        while len(revisions) < 2:                   # they are written beside the loop
            revisions = self.get("policy/revisions")["revisions"]
        self.assertEqual([True, False], [r["in_force"] for r in revisions])
        diff = self.get("policy/diff", **{"from": revisions[1]["revision"], "to": revisions[0]["revision"]})["lines"]
        self.assertEqual([("-", "max: 128"), ("+", "max: 256"), ("+", "min_step: 2"), ("-", "min_step: 4")],
                         sorted(((x["op"], x["text"].strip()) for x in diff if x["op"] != " "), key=lambda x: x[1]))
        self.assertEqual("\n".join(x["text"] for x in diff if x["op"] != "+") + "\n",
                         self.get("policy/revisions/" + revisions[1]["revision"])["text"])
        knob = self.get("policy", service="embed")["services"][0]["knobs"][0]
        self.assertEqual((256, "x2", "32"), (knob["max"], knob["ladder"], knob["now"]["value"]))


if __name__ == "__main__":
    unittest.main()
