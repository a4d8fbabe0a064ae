"""Server-sent events: many listen at once, who was cut off goes on, who does not read is dropped."""

import json
import os
import socket
import subprocess
import threading
import unittest

import harness
from harness import SystemTest


class Listener:
    """Reads the stream in the background; waits on events, never on time."""

    def __init__(self, d, headers=(), path="/api/v1/stream"):
        self.socket = socket.create_connection((d.host, d.port), timeout=60)
        lines = ["GET %s HTTP/1.1" % path, "Host: localhost"] + ["%s: %s" % h for h in headers]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.events, self.comments, self.head, self.ended = [], 0, "", False
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        data = b""
        try:
            while chunk := self.socket.recv(65536):
                data = self._take(data + chunk)
        except OSError:
            pass
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def _take(self, data):
        if not self.head:
            head, found, rest = data.partition(b"\r\n\r\n")
            if not found:
                return data
            with self.changed:
                self.head, data = head.decode(), rest
                self.changed.notify_all()
        while b"\n\n" in data:
            block, _, data = data.partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if ": " in line and line[0] != ":")
            with self.changed:
                if block.startswith(b":"):
                    self.comments += 1
                else:
                    self.events.append((fields.get("event"), fields.get("id"), json.loads(fields.get("data", "null"))))
                self.changed.notify_all()
        return data

    def wait(self, test, what=""):
        with self.changed:
            if not self.changed.wait_for(lambda: any(test(*e) for e in self.events) or self.ended, 60):
                raise AssertionError("no event %s: %s" % (what, [e[:2] for e in self.events]))
            found = [e for e in self.events if test(*e)]
            if not found:
                raise AssertionError("ended without %s: %s %s" % (what, self.head[:60], [e[:2] for e in self.events]))
            return found[0]

    def wait_end(self):
        with self.changed:
            return self.changed.wait_for(lambda: self.ended, 60)

    def close(self):
        self.socket.close()


class Stream(SystemTest):
    speed = 100

    def setUp(self):
        super().setUp()
        self.d = self.start(self.config())

    def halt(self, verb="halt", reason="test"):
        body = json.dumps({"by": "li", "reason": reason})
        status, text = self.d.request("POST", "/api/v1/services/embed/" + verb, body, token=True)
        self.assertEqual(200, status, text)

    def test_what_is_told(self):
        with_html = "odd <img src=x onerror=alert(1)> \u4e2d\u6587"
        listener = Listener(self.d)
        listener.wait(lambda e, i, d: e == "hello" and d["clock_speed"] == 100)
        self.assertIn("Content-Type: text/event-stream", listener.head)
        self.assertIn("Cache-Control: no-store", listener.head)
        listener.wait(lambda e, i, d: e == "service" and d["service"] == "embed" and d["at"])
        self.halt(reason=with_html)
        event = listener.wait(lambda e, i, d: e == "halt", "halt")
        self.assertEqual(("embed", True, "li"), (event[2]["service"], event[2]["halted"], event[2]["by"]))
        self.assertTrue(event[1])
        self.assertIn(with_html, event[2]["record"]["note"])
        listener.wait(lambda e, i, d: e == "service" and d["halted"] and d["halted_by"] == "li")
        self.halt("resume")
        listener.wait(lambda e, i, d: e == "halt" and not d["halted"])
        listener.close()

    def test_going_on_where_it_was(self):
        first = Listener(self.d)
        first.wait(lambda e, i, d: e == "hello")
        self.halt(reason="one")
        last = first.wait(lambda e, i, d: e == "halt")[1]
        first.close()
        self.halt("resume", "two")
        again = Listener(self.d, [("Last-Event-ID", last)])
        event = again.wait(lambda e, i, d: e == "halt")
        self.assertFalse(event[2]["halted"])
        self.assertFalse([e for e in again.events if e[1] == last or e[0] == "reset"])
        by_query = Listener(self.d, path="/api/v1/stream?last_event=" + last)
        self.assertEqual(event, by_query.wait(lambda e, i, d: e == "halt"))
        for strange in ("0-1", "x", last + "0000000", last.split("-")[0] + "-99999", "-", "9" * 60):
            strange = Listener(self.d, [("Last-Event-ID", strange)])
            strange.wait(lambda e, i, d: e == "reset", "reset")
            strange.close()

    def test_two_hundred_listen(self):
        listeners = [Listener(self.d) for _ in range(200)]
        for one in listeners:
            one.wait(lambda e, i, d: e == "hello")
        self.halt()
        ids = {one.wait(lambda e, i, d: e == "halt")[1] for one in listeners}
        self.assertEqual(1, len(ids))
        more = [Listener(self.d) for _ in range(100)]
        refused = 0
        for one in more:
            with one.changed:
                self.assertTrue(one.changed.wait_for(lambda: one.head or one.ended, 60))
            refused += "503" in one.head[:20]
        self.assertEqual(300 - 256, refused)                # over the limit: told so, nobody is thrown out
        self.assertEqual(200, self.d.request("GET", "/-/healthy")[0])
        self.halt("resume")
        for one in listeners:
            one.wait(lambda e, i, d: e == "halt" and not d["halted"])
            one.close()

    def test_who_does_not_read_is_dropped(self):
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        deaf.connect((self.d.host, self.d.port))
        deaf.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        good = Listener(self.d)
        good.wait(lambda e, i, d: e == "hello")
        reason = "x" * 180
        for _ in range(400):
            self.halt(reason=reason)
            self.halt("resume", reason)
            if self.d.metric("trimtab_stream_dropped_total"):
                break
        self.assertEqual(1, self.d.metric("trimtab_stream_dropped_total"))
        self.assertEqual(1, self.d.metric("trimtab_stream_listeners"))
        self.assertFalse(good.ended)
        deaf.close()
        good.close()

    def test_who_logs_out_hears_no_more(self):
        password = os.path.join(self.folder, "password")
        with open(password, "w", encoding="ascii") as f:
            f.write("correct horse battery\n")
        anonymous = Listener(self.d)
        anonymous.wait(lambda e, i, d: e == "hello")
        subprocess.run([harness.BINARY, "user", "add", "op", "--role", "operator", "--password-file", password, "--data",
                        os.path.join(self.folder, "data")], check=True, stdout=subprocess.DEVNULL)
        self.assertTrue(anonymous.wait_end())               # there is a user now: nobody listens without a login
        status, text = self.d.request("POST", "/api/v1/login", json.dumps({"name": "op", "password": "correct horse battery"}))
        self.assertEqual(200, status)
        self.assertEqual(401, self.d.request("GET", "/api/v1/stream")[0])
        data = os.path.join(self.folder, "data")
        token = subprocess.run([harness.BINARY, "user", "token", "ci", "--role", "viewer", "--data", data], check=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().strip()
        while self.d.request("GET", "/api/v1/status", headers={"Authorization": "Bearer " + token})[0] != 200:
            pass
        listener = Listener(self.d, [("Authorization", "Bearer " + token)])
        listener.wait(lambda e, i, d: e == "hello")
        listener.close()


if __name__ == "__main__":
    unittest.main()
