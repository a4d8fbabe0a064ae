"""Notices by webhook: the shape, the retry, and a receiver that is away never delays the loop."""

import http.server
import json
import threading
import unittest

from harness import SystemTest


class Receiver(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.changed:
            self.server.got.append(json.loads(body))
            status = self.server.statuses.pop(0) if self.server.statuses else 200
            self.server.changed.notify_all()
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Notify(SystemTest):
    def setUp(self):
        super().setUp()
        self.receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.receiver.got, self.receiver.statuses, self.receiver.changed = [], [], threading.Condition()
        threading.Thread(target=self.receiver.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.more = "notify:\n  - url: http://127.0.0.1:%d/hook\n" % self.receiver.server_address[1]

    def tearDown(self):
        self.receiver.shutdown()
        self.receiver.server_close()
        super().tearDown()

    def get_worse(self):
        """An incident is told to people in any case."""
        self.target.wait("scrape", after=40)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)

    def wait(self, want):
        with self.receiver.changed:
            arrived = self.receiver.changed.wait_for(lambda: want(self.receiver.got), 60)
        self.assertTrue(arrived, self.daemons[-1].story())

    def test_shape_and_retry(self):
        self.receiver.statuses = [503]
        config = self.config(more=self.more)
        self.seed(config)
        d = self.start(config)
        self.get_worse()
        self.wait(lambda got: got and got.count(got[0]) == 2)  # refused once, sent again; others may come between
        first = self.receiver.got[0]
        self.assertEqual("4", first["version"])
        self.assertEqual("embed", first["commonLabels"]["service"])
        self.assertEqual("firing", first["alerts"][0]["status"])
        d.wait_metric('trimtab_notifications_total{outcome="sent"}', lambda v: v >= 1)
        self.assertEqual(0, d.end())

    def test_refused_for_good_is_not_tried_again(self):
        self.receiver.statuses = [400]
        config = self.config(more=self.more)
        self.seed(config)
        d = self.start(config)
        self.get_worse()
        d.wait_line(msg="a notice could not be delivered")
        self.assertEqual(1, d.metric('trimtab_notifications_total{outcome="failed"}'))
        self.assertEqual(0, d.end())


if __name__ == "__main__":
    unittest.main()
