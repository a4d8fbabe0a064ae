"""The daemon's own HTTP side: operational addresses, and peers that do not behave."""

import shutil
import socket
import subprocess
import unittest

from harness import SystemTest


class Http(SystemTest):
    speed = 100

    def raw(self, d, data, timeout=30):
        with socket.create_connection((d.host, d.port), timeout=timeout) as s:
            s.sendall(data)
            answer = b""
            while True:
                chunk = s.recv(65536)
                if not chunk:
                    return answer
                answer += chunk

    def test_operational_addresses(self):
        d = self.start(self.config())
        self.assertEqual((200, "trimtab is healthy.\n"), d.request("GET", "/-/healthy"))
        self.assertEqual((200, ""), d.request("HEAD", "/-/healthy"))
        self.assertEqual(200, d.request("GET", "/-/ready")[0])
        d.wait_metric("trimtab_ticks_total", lambda v: v > 2)
        for module in ("collect", "detect", "locate", "decide", "execute", "verify"):
            status, text = d.request("GET", "/-/healthy/" + module)
            self.assertEqual(200, status, text)
            self.assertIn('module="%s"' % module, d.request("GET", "/metrics/" + module)[1])
        self.assertEqual(404, d.request("GET", "/-/healthy/none")[0])
        self.assertEqual(404, d.request("GET", "/none")[0])
        self.assertEqual(401, d.request("POST", "/-/reload", headers={"Authorization": "Bearer wrong"})[0])
        self.assertEqual(421, d.request("GET", "/-/healthy", headers={"Host": "evil.example"})[0])
        self.assertEqual(0, d.end())

    def test_metrics_pass_promtool(self):
        promtool = shutil.which("promtool")
        if not promtool:
            self.skipTest("promtool is not installed")
        d = self.start(self.config())
        d.wait_metric("trimtab_ticks_total", lambda v: v > 2)
        page = d.request("GET", "/metrics")[1]
        r = subprocess.run([promtool, "check", "metrics"], input=page.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           check=False)
        self.assertEqual((0, b""), (r.returncode, r.stdout))
        for module in ("collect", "detect", "locate", "decide", "execute", "verify"):
            page = d.request("GET", "/metrics/" + module)[1]
            r = subprocess.run([promtool, "check", "metrics"], input=page.encode(), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
            self.assertEqual((0, b""), (r.returncode, r.stdout), module)
        self.assertEqual(0, d.end())

    def test_peers_that_do_not_behave(self):
        d = self.start(self.config())
        host = b"Host: localhost\r\n"
        cases = [
            (b"GET /-/healthy HTTP/1.1\r\n\r\n", b"400"),
            (b"GET /-/healthy HTTP/1.1\r\n" + host + host + b"\r\n", b"400"),
            (b"POST /-/reload HTTP/1.1\r\n" + host + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n", b"400"),
            (b"POST /-/reload HTTP/1.1\r\n" + host + b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n", b"501"),
            (b"POST /-/reload HTTP/1.1\r\n" + host + b"Content-Length: 9999999999\r\n\r\n", b"413"),
            (b"GET /-/healthy HTTP/1.1\n" + host + b"\n\n\r\n\r\n", b"400"),
            (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n", b"431"),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
            (b"GET /%00 HTTP/1.1\r\nConnection: close\r\n" + host + b"\r\n", b"404"),
        ]
        for data, status in cases:
            self.assertEqual(b"HTTP/1.1 " + status, self.raw(d, data)[:12], data[:60])
        self.assertEqual(200, d.request("GET", "/-/healthy")[0])
        self.assertEqual(0, d.end())

    def test_pipelined_and_cut_requests(self):
        d = self.start(self.config())
        one = b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"
        last = b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        self.assertEqual(3, self.raw(d, one + one + last).count(b"trimtab is healthy."))
        with socket.create_connection((d.host, d.port), timeout=30) as s:
            for i in range(len(last)):
                s.sendall(last[i:i + 1])
            answer = b""
            while chunk := s.recv(4096):
                answer += chunk
        self.assertIn(b"trimtab is healthy.", answer)
        self.assertEqual(0, d.end())

    def test_many_connections_leave_room_for_others(self):
        d = self.start(self.config())
        held = [socket.create_connection((d.host, d.port), timeout=30) for _ in range(255)]
        self.assertEqual(200, d.request("GET", "/-/healthy")[0])
        for s in held:
            s.close()
        more = [socket.create_connection((d.host, d.port), timeout=30) for _ in range(300)]
        for s in more:
            s.close()
        self.assertEqual(200, d.request("GET", "/-/healthy")[0])
        self.assertEqual(0, d.end())


if __name__ == "__main__":
    unittest.main()
