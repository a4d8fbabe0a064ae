"""What a browser, a page in it, or thousands of idle peers can do to the daemon: nothing that keeps a person from halting."""

import json
import os
import resource
import socket
import unittest

from harness import SystemTest
from stream_test import Listener

HTML = "<script>alert(1)</script>"


class BadWeb(SystemTest):
    speed = 100

    def test_ten_thousand_idle_connections(self):
        d = self.start(self.config())
        listener = Listener(d)
        listener.wait(lambda e, i, data: e == "hello")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        held = []
        room = min(hard - 200, 10000)
        try:
            for i in range(10000):
                held.append(socket.create_connection((d.host, d.port), timeout=30))
                if len(held) > room:
                    held.pop(0).close()
                if i % 2500 == 2499:
                    status, text = d.request("POST", "/api/v1/halt", b'{"by":"li","reason":"crowd"}', token=True)
                    self.assertEqual(200, status, text)
                    status, text = d.request("POST", "/api/v1/resume", b'{"by":"li"}', token=True)
                    self.assertEqual(200, status, text)
            self.assertLessEqual(d.metric("trimtab_http_connections"), 640)
            self.assertEqual(1, d.metric("trimtab_stream_listeners"))
            self.assertLess(d.metric("process_resident_memory_bytes"), 200e6)
            with open(os.path.join(d.data, "halt"), "w", encoding="ascii") as f:
                f.write("li: crowd\n")
            listener.wait(lambda e, i, data: e == "halt" and data["record"].get("via") == "file")
        finally:
            for s in held:
                s.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertEqual(200, d.request("GET", "/-/healthy")[0])
        self.assertEqual(0, d.end())

    def test_paths_of_the_console(self):
        d = self.start(self.config())
        token = d.token()
        for path in ("/assets/../index.html", "/assets/../../token", "/assets/%2e%2e/index.html", "/assets/..%2f..%2ftoken",
                     "/assets/",
                     "/services/../../etc/passwd", "/services/%2e%2e/token", "//services", "/services//x", "/services/x%00",
                         "/index.html/",
                     "/services/x\\..\\token", "/assets/x.js.map", "/INDEX.HTML", "/inbox.html", "/token", "/data/token",
                         "/.git/config"):
            status, text = d.request("GET", path)
            self.assertIn(status, (400, 404), path)
            self.assertNotIn(token, text)
            self.assertNotIn("root:", text)
        for path in ("/", "/services/embed", "/setup", "/login"):
            status, text = d.request("GET", path)
            self.assertIn(status, (200, 404), path)
            self.assertIn(d.request("POST", path, b"{}")[0], (404, 405), path)

    def test_files_are_kept_by_browsers_and_packed(self):
        d = self.start(self.config())
        import http.client
        c = http.client.HTTPConnection(d.host, d.port, timeout=30)

        def get(path, **headers):
            c.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            r = c.getresponse()
            return r, r.read()

        r, body = get("/")
        if not body.lower().startswith(b"<!doctype html"):
            self.skipTest("no console is built in")
        self.assertEqual("no-cache", r.getheader("Cache-Control"))
        self.assertIn("default-src 'self'", r.getheader("Content-Security-Policy"))
        self.assertNotIn(b"<script>", body)                      # nothing inline: the policy would refuse it
        r, again = get("/", If_None_Match=r.getheader("ETag"))
        self.assertEqual((304, b""), (r.status, again))
        import gzip
        import re
        total = 0
        for path in sorted(set(re.findall(rb'(?:src|href)="(/assets/[^"]+)"', body))):
            path = path.decode()
            r, plain = get(path)
            self.assertEqual((200, None), (r.status, r.getheader("Content-Encoding")), path)
            self.assertIn("immutable", r.getheader("Cache-Control"))
            r, packed = get(path, Accept_Encoding="br, gzip")
            self.assertEqual("gzip", r.getheader("Content-Encoding"))
            self.assertEqual(plain, gzip.decompress(packed))
            r, _ = get(path, Accept_Encoding="gzip;q=0, br")
            self.assertIsNone(r.getheader("Content-Encoding"))
            total += len(packed)
        self.assertGreater(total, 0)
        self.assertEqual(body, get("/incidents/embed/1")[1])
        c.close()

    def test_markup_stays_text(self):
        """Whatever people or targets say comes back as JSON text, with a type that no browser takes for a page."""
        d = self.start(self.config())
        self.target.mode("error")
        body = json.dumps({"by": HTML[:50], "reason": HTML})
        self.assertEqual(200, d.request("POST", "/api/v1/services/embed/halt", body, token=True)[0])
        event = json.dumps({"kind": "deploy", "service": "embed", "version": HTML, "by": HTML})
        self.assertEqual(200, d.request("POST", "/api/v1/events", event, token=True)[0])
        import http.client
        for path in ("/api/v1/status", "/api/v1/services/embed", "/api/v1/audit", "/api/v1/audit/search?q=script",
                     "/api/v1/services/" + HTML[1:7],
                     "/api/v1/audit/search?kind=%3Cscript%3E", "/api/v1/services/embed/series?from=%3Cscript%3E", "/%3Cscript%3E"):
            c = http.client.HTTPConnection(d.host, d.port, timeout=30)
            c.request("GET", path)
            r = c.getresponse()
            text = r.read().decode()
            self.assertEqual(("application/json", "nosniff"), (r.getheader("Content-Type"),
                                                               r.getheader("X-Content-Type-Options")), path)
            json.loads(text)
            c.close()
        one = json.loads(d.request("GET", "/api/v1/services/embed")[1])["data"]
        self.assertEqual(HTML, one["halted_why"])
        self.assertEqual(HTML, one["model_version"])
        self.assertEqual(400, d.request("POST", "/api/v1/halt", json.dumps({"reason": "two\nlines"}), token=True)[0])


if __name__ == "__main__":
    unittest.main()
