"""Attacks on the HTTP side of the daemon: who may not, cannot; who may, still gets an answer at once."""

import concurrent.futures
import json
import os
import socket
import subprocess
import time
import unittest

import harness
from harness import SystemTest

HOST = b"Host: localhost\r\n"


class Api(SystemTest):
    speed = 100

    def setUp(self):
        super().setUp()
        self.d = self.start(self.config())

    def tearDown(self):
        self.assertEqual(200, self.d.request("GET", "/-/healthy")[0])
        self.assertEqual(0, self.d.end())
        super().tearDown()

    def connect(self):
        return socket.create_connection((self.d.host, self.d.port), timeout=30)

    def raw(self, data, half_close=True):
        """All that comes back until the daemon closes."""
        with self.connect() as s:
            try:
                s.sendall(data)
                if half_close:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass                                          # refused before all was sent
            answer = b""
            try:
                while chunk := s.recv(65536):
                    answer += chunk
            except ConnectionResetError:
                pass
            return answer

    def answers_at_once(self):
        began = time.monotonic()
        self.assertEqual(200, self.d.request("GET", "/-/healthy")[0])
        self.assertLess(time.monotonic() - began, 5.0)        # far under the time-outs of the peers that are held

    def test_held_connections_keep_nobody_out(self):
        for words in (b"", b"G", b"GET /-/healthy HTTP/1.1\r\n" + HOST + b"X: ",
                      b"POST /api/v1/halt HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\n\r\n{"):
            held = [self.connect() for _ in range(300)]
            for s in held:
                try:
                    s.sendall(words)
                except OSError:
                    pass                                      # it had to give way already
            self.answers_at_once()
            for s in held:
                s.close()

    def test_a_hundred_at_once(self):
        def ask(i):
            path = ("/metrics", "/api/v1/services/embed", "/api/v1/status", "/api/v1/audit", "/-/healthy")[i % 5]
            return [self.d.request("GET", path)[0] for _ in range(10)]

        with concurrent.futures.ThreadPoolExecutor(100) as pool:
            for codes in pool.map(ask, range(100)):
                self.assertEqual([200] * 10, codes)

    def test_wrong_tokens(self):
        token = self.d.token()
        for said in ("", "Bearer", "Bearer ", "Bearer " + token[:-1], "Bearer " + token + "0", "Bearer " + token.upper() + "!",
                     "Basic " + token, token, "Bearer  " + token[1:], "Bearer " + "0" * 64, "Bearer " + "a" * 4000):
            status, text = self.d.request("POST", "/api/v1/halt", b"{}", headers={"Authorization": said})
            self.assertEqual(401, status, said[:20])
            self.assertNotIn(token, text)
        self.assertNotIn(token, self.raw(b"POST /api/v1/halt HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\nAuthorization: Bearer "
                                         b"x\r\nAuthorization: Bearer " + token.encode() + b"\r\n\r\n").decode())
        one = json.loads(self.d.request("GET", "/api/v1/services/embed")[1])["data"]
        self.assertFalse(one["halted"])
        self.assertNotIn(token, self.d.story())

    def test_other_names_of_this_host(self):
        """A page of another site that rebinds its name to 127.0.0.1 still sends its own name."""
        for host in ("evil.example", "evil.example:%d" % self.d.port, "localhost.evil.example", "127.0.0.1.evil.example",
                     "localhost@evil.example", "evil.example@localhost", "xlocalhost", "127.0.0.1x", "::1"):
            status, _ = self.d.request("GET", "/api/v1/status", headers={"Host": host})
            self.assertIn(status, (400, 421), host)
        for host in ("localhost", "127.0.0.1", "LOCALHOST:%d" % self.d.port, "[::1]:%d" % self.d.port):
            self.assertEqual(200, self.d.request("GET", "/api/v1/status", headers={"Host": host})[0], host)

    def test_paths_that_lead_elsewhere(self):
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/v1/services/..%2f..%2ftoken", "/api/v1/services/%00",
                     "/api/v1/services/embed%00", "/api/v1/services/embed/", "//api/v1/status", "/api//v1/status",
                     "/api/v1/services/" + "a" * 4000, "/api/v1/services/%ff%fe", "/api/v1/services/%",
                     "/api/v1/services/%4", "/api/v1/services/%zz",
                     "/data/token", "/token", "/api/v1/actions/embed/..%2f..", "/-/healthy/../../token", "/metrics/%63ollect/x"):
            status, text = self.d.request("GET", path)
            self.assertIn(status, (400, 404), path)
            self.assertNotIn("root:", text)
            self.assertNotIn(self.d.token(), text)

    def test_requests_within_requests(self):
        """What a proxy and this server could read differently is refused, and what follows it is not read as a request."""
        inner = b"GET /-/healthy HTTP/1.1\r\n" + HOST + b"\r\n"
        for head in (b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding : chunked\r\n", b"transfer-encoding:\tchunked\r\n",
                     b"Content-Length: 0\r\nContent-Length: 5\r\n", b"Content-Length: +5\r\n", b"Content-Length: 5, 5\r\n",
                     b"Content-Length: 0x5\r\n", b"Content-Length: -1\r\n", b"Content-Length: 18446744073709551617\r\n",
                     b"X: a\r\n b\r\n", b"X\r\n", b"X : a\r\n", b": a\r\n", b"X: a\nY: b\r\n", b"X: \0\r\n",
                     b"Content-Length:\r\n"):
            answer = self.raw(b"POST /api/v1/halt HTTP/1.1\r\n" + HOST + head + b"\r\n" + inner)
            self.assertIn(answer[9:12], (b"400", b"413", b"431", b"501"), head)
            self.assertNotIn(b"trimtab is healthy", answer, head)
        for line in (b"GET /-/healthy", b"GET  /-/healthy HTTP/1.1", b"GET /-/healthy HTTP/1.1 x", b"get /-/healthy HTTP/1.1",
                     b"GET /-/healthy HTTP/2.0", b"GET /-/healthy HTTP/1.10", b"GET http://a/-/healthy HTTP/1.1", b"\0",
                     b"GET * HTTP/1.1", b"PRI * HTTP/2.0", b"G\xc3\x89T / HTTP/1.1", b"CONNECT a:1 HTTP/1.1",
                     b"GET /-/health\x7fy HTTP/1.1"):
            answer = self.raw(line + b"\r\n" + HOST + b"\r\n")
            self.assertNotEqual(b"200", answer[9:12], line)

    def test_many_requests_in_one_piece(self):
        one = b"GET /-/healthy HTTP/1.1\r\n" + HOST + b"\r\n"
        last = b"GET /-/healthy HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n"
        self.assertEqual(2000, self.raw(one * 1999 + last, half_close=False).count(b"trimtab is healthy."))

    def test_bodies_at_the_limit(self):
        token = self.d.token()
        for size, codes in ((1 << 20, (b"400",)), ((1 << 20) + 1, (b"413",)), (1 << 40, (b"413",))):
            head = (b"POST /api/v1/services/embed/halt HTTP/1.1\r\n" + HOST + b"Authorization: Bearer " + token.encode()
                    + b"\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % size)
            answer = self.raw(head + b"[" * min(size, 1 << 20))
            self.assertIn(answer[9:12], codes, size)

    def test_who_leaves_in_the_middle(self):
        for words in (b"", b"GET / HT", b"GET /metrics HTTP/1.1\r\n" + HOST + b"\r\n", b"POST /api/v1/halt HTTP/1.1\r\n" + HOST
                      + b"Content-Length: 10\r\n\r\n12"):
            for _ in range(50):
                s = self.connect()
                s.sendall(words)
                s.close()
        self.answers_at_once()
        before = self.d.metric("process_resident_memory_bytes")
        head = b"POST /api/v1/halt HTTP/1.1\r\n" + HOST + b"Content-Length: 1000000\r\n\r\n"
        for _ in range(200):
            s = self.connect()
            s.sendall(head + b"x" * 500000)
            s.close()
        self.answers_at_once()
        self.assertLess(self.d.metric("process_resident_memory_bytes") - before, 50e6)

    def test_who_does_not_read_the_answer(self):
        s = self.connect()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(200):
            s.sendall(b"GET /metrics HTTP/1.1\r\n" + HOST + b"\r\n")
        self.answers_at_once()
        self.assertLess(self.d.metric("process_resident_memory_bytes"), 200e6)
        s.close()

    def test_the_command_line_with_an_answer_that_lies(self):
        """Something else listens where the daemon should: its words are data, never a crash and never believed."""
        listener = socket.create_server(("127.0.0.1", 0))
        folder = os.path.join(self.folder, "other")
        os.mkdir(folder)
        for name, text in (("listen", "127.0.0.1:%d\n" % listener.getsockname()[1]), ("token", "x" * 64 + "\n")):
            with open(os.path.join(folder, name), "w", encoding="ascii") as f:
                f.write(text)
            os.chmod(os.path.join(folder, name), 0o600)
        for answer in (b"", b"\0" * 100, b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
                       b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"status\":\"x\"}\n",
                       b"HTTP/1.1 302 Found\r\nLocation: http://a/\r\n\r\n",
                       b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"[" * 200000,
                       b'HTTP/1.1 200 OK\r\nContent-Length: 48\r\n\r\n{"status":"success","data":{"services":[1,null]}}'):
            p = subprocess.Popen([harness.BINARY, "status", "--data", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            peer, _ = listener.accept()
            peer.recv(65536)
            peer.sendall(answer)
            peer.close()
            out, err = p.communicate(timeout=60)
            self.assertIn(p.returncode, (1, 2), "%s %s %s" % (answer[:60], out, err))
            self.assertTrue(err, answer[:60])
        listener.close()


if __name__ == "__main__":
    unittest.main()
