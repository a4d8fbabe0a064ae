"""The JSON API of a real daemon: envelopes, hostile bodies, the token, what is described."""

import http.client
import json
import re
import unittest

from harness import SystemTest


class Api(SystemTest):
    def setUp(self):
        super().setUp()
        config = self.config()
        self.seed(config)
        self.d = self.start(config)
        self.target.wait("scrape", after=10)

    def get(self, path, status=200):
        code, text = self.d.request("GET", "/api/v1/" + path)
        self.assertEqual(status, code, text)
        answer = json.loads(text, parse_constant=lambda c: self.fail("not JSON: " + c))
        self.assertEqual("success" if status == 200 else "error", answer["status"])
        return answer["data"] if status == 200 else answer

    def post(self, path, body=b"", status=200, token=True):
        code, text = self.d.request("POST", "/api/v1/" + path, body, token=token)
        self.assertEqual(status, code, "%s %s" % (body[:80], text))
        return json.loads(text)

    def test_every_page_answers(self):
        for path in ("status", "services", "services/embed", "services/embed/explain", "incidents", "audit", "modules", "config",
                     "reasons"):
            self.assertIsInstance(self.get(path), dict)
        self.assertTrue(self.get("audit/verify")["good"])
        self.assertTrue(self.d.request("GET", "/api/v1/audit/checkpoint")[1].startswith("trimtab/test\n"))
        self.assertIn('openapi: "3.1.0"', self.d.request("GET", "/api/v1/openapi.yaml")[1])

    def test_unknown_is_null_and_says_why(self):
        self.target.mode("error")
        deadline = self.target.count("scrape") + 40
        self.target.wait("scrape", after=deadline)
        signal = self.get("services/embed")["signals"][0]
        self.assertIsNone(signal["value"])
        self.assertIn(signal["why"], ("stale", "scrape-failed", "missing"))
        target = self.get("services/embed")["targets"][0]
        self.assertFalse(target["up"])
        self.assertTrue(target["error"])

    def test_what_is_not_there(self):
        self.assertIn("did you mean 'embed'", self.get("services/embde", status=404)["error"])
        self.get("incidents/embed/99", status=404)
        self.get("actions/embed/99", status=404)
        self.get("audit/proof/embed/99", status=404)
        self.get("incidents?state=half", status=400)
        self.get("incidents?limit=1001", status=400)
        self.get("incidents?since=yesterday", status=400)
        self.assertEqual([], self.get("audit?from=1000000")["records"])
        self.assertEqual(405, self.d.request("GET", "/api/v1/halt")[0])

    def test_changes_need_the_token(self):
        for path in ("services/embed/halt", "halt", "resume", "events", "import?service=embed"):
            self.post(path, status=401, token=False)
        self.assertFalse(self.get("services/embed")["halted"])

    def test_bodies_are_strict(self):
        path = "services/embed/halt"
        for body in (b"[]", b"1", b"{", b'{"reason":1}', b'{"reason":null}', b'{"clear":"yes"}', b'{"by":"a","by":"b"}',
                     b'{"reason":"%s"}' % (b"x" * 191), b'{"reason":"a\\u0000b"}', b'{"reason":"a\\nb"}', b'{"reason":"\xff"}',
                     b"[" * 100000, b'{"reason":' + b"[" * 40 + b"]" * 40 + b"}", b'{"via":"magic"}', b'{"reason":NaN}'):
            self.assertEqual("bad_data", self.post(path, body, status=400)["errorType"])
        self.assertIn("did you mean 'reason'", self.post(path, b'{"reasn":"x"}', status=400)["error"])
        self.assertFalse(self.get("services/embed")["halted"])
        connection = http.client.HTTPConnection(self.d.host, self.d.port, timeout=30)
        connection.putrequest("POST", "/api/v1/" + path)
        connection.putheader("Authorization", "Bearer " + self.d.token())
        connection.putheader("Content-Length", str((1 << 20) + 1))
        connection.endheaders()
        self.assertEqual(413, connection.getresponse().status)
        connection.close()

    def test_a_refusal_is_the_loops_own(self):
        answer = self.post("services/embed/approve", status=409)
        self.assertEqual("state", answer["errorType"])
        self.assertIn("no request waits", answer["error"])
        self.post("services/embed/rollback", b'{"action":"embed/1","by":"li"}', status=404)
        self.post("services/embed/hlat", status=404)

    def test_a_release_is_noted(self):
        self.post("events", b'{"kind":"deploy","service":"embed","version":"v7","by":"ci"}')
        one = self.get("services/embed")
        self.assertEqual("v7", one["model_version"])
        self.assertIsNotNone(one["deployed"])
        self.post("events", b'{"kind":"lunch","service":"embed"}', status=400)
        self.post("events", b'{"kind":"deploy","service":"other"}', status=404)

    def test_imports_are_checked(self):
        path = "import?service=embed"
        for body in (b"", b"time,latency_p99\n", b"timestamp\n1\n", b"timestamp,nothing\n1,2\n", b"timestamp,latency_p99\n1,x\n",
                     b"timestamp,latency_p99\n1,2,3\n", b"timestamp,latency_p99\n2,2\n1,2\n", b"timestamp,latency_p99\n",
                     b"timestamp,latency_p99,latency_p99\n1,2,3\n", b"timestamp,latency_p99\n99999999999,2\n"):
            self.post(path, body, status=400)
        self.post(path + "&last=maybe", b"timestamp,latency_p99\n1,2\n", status=400)
        self.post("import?service=none", b"timestamp,latency_p99\n1,2\n", status=404)

    def test_openapi_names_what_is_served(self):
        document = json.loads(self.d.request("GET", "/api/v1/openapi.json")[1])
        self.assertGreater(len(document["paths"]), 40)
        for path in document["paths"]:
            concrete = re.sub(r"{incident}|{action}|{seq}", "1", path).replace("{service}", "embed")
            concrete = re.sub(r"{[a-z]*}", "x", concrete)
            self.assertIn(self.d.request("PUT", concrete)[0], (405, 501), path)


if __name__ == "__main__":
    unittest.main()
