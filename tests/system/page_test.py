"""Hostile pages: each is one outcome with a reason, its signals are unknown, nothing is done, the daemon goes on."""

import unittest

from harness import SystemTest


class Pages(SystemTest):
    speed = 100

    def outcome(self, mode, word, timeout="300ms"):
        """The mode's scrapes count as `word`, no signal has a value, and a good page later is read again."""
        d = self.start(self.config(timeout=timeout))
        d.wait_metric('trimtab_scrapes_total{outcome="ok"}', lambda v: v > 0)
        self.target.mode(mode)
        before = d.metric('trimtab_scrapes_total{outcome="%s"}' % word)
        d.wait_metric('trimtab_scrapes_total{outcome="%s"}' % word, lambda v: v > before + 1)
        d.wait_metric('trimtab_target_up{service="embed",instance="%s"}' % self.target.address, lambda v: v == 0)
        d.wait_metric('trimtab_service_state{service="embed",state="learning"}', lambda v: v == 1)
        rss = d.metric("process_resident_memory_bytes")
        self.target.mode("good")
        good = d.metric('trimtab_scrapes_total{outcome="ok"}')
        d.wait_metric('trimtab_scrapes_total{outcome="ok"}', lambda v: v > good + 1)
        d.wait_metric('trimtab_target_up{service="embed",instance="%s"}' % self.target.address, lambda v: v == 1)
        self.assertEqual(0, d.end())
        self.assertEqual([], self.target.knobs.log)
        return rss

    def test_error(self):
        self.outcome("error", "http_error")

    def test_redirect_is_not_followed(self):
        self.outcome("redirect", "redirect")

    def test_dripping(self):
        self.outcome("dripping", "timeout")

    def test_closing_mid_body(self):
        self.outcome("closing", "down")

    def test_no_http(self):
        self.outcome("no_http", "garbage")

    def test_broken_gzip(self):
        self.outcome("broken_gzip", "garbage")

    def test_gzip_bomb(self):
        self.assertLess(self.outcome("bomb", "too_large"), 200e6)

    def test_500_mb_page(self):
        self.assertLess(self.outcome("huge", "too_large"), 200e6)


class Lines(SystemTest):
    speed = 100

    def page_is_unknown(self, mode):
        """The page came over HTTP without fault; nothing that is on it is believed."""
        d = self.start(self.config())
        d.wait_metric('trimtab_signal_value{service="embed",signal="queue_depth",unit=""}', lambda v: v == 140)
        self.target.mode(mode)
        self.target.plant.set(queue=200.0)
        d.wait_metric('trimtab_target_up{service="embed",instance="%s"}' % self.target.address, lambda v: v == 0)
        self.assertNotEqual(200, d.metric('trimtab_signal_value{service="embed",signal="queue_depth",unit=""}'))
        self.assertEqual(0, d.end())
        self.assertEqual([], self.target.knobs.log)

    def line_is_left_out(self, mode):
        d = self.start(self.config())
        d.wait_metric('trimtab_signal_value{service="embed",signal="queue_depth",unit=""}', lambda v: v == 140)
        self.target.mode(mode)
        self.target.plant.set(queue=200.0)
        d.wait_metric('trimtab_target_broken_lines{service="embed",instance="%s"}' % self.target.address, lambda v: v > 0)
        d.wait_metric('trimtab_signal_value{service="embed",signal="queue_depth",unit=""}', lambda v: v == 200)
        self.assertEqual(0, d.end())

    def test_garbage(self):
        self.page_is_unknown("garbage")

    def test_long_label(self):
        self.page_is_unknown("long_label")

    def test_nul_in_a_label_hurts_nobody_else(self):
        d = self.start(self.config())
        d.wait_metric('trimtab_signal_value{service="embed",signal="queue_depth",unit=""}', lambda v: v == 140)
        self.target.mode("nul")
        self.target.plant.set(queue=200.0)
        d.wait_metric('trimtab_signal_value{service="embed",signal="queue_depth",unit=""}', lambda v: v == 200)
        self.assertEqual(0, d.end())

    def test_invalid_utf8(self):
        self.line_is_left_out("invalid_utf8")


class Down(SystemTest):
    speed = 100

    def test_target_down_and_back(self):
        """No connection at all: the port is closed."""
        d = self.start(self.config(timeout="300ms"))
        d.wait_metric('trimtab_scrapes_total{outcome="ok"}', lambda v: v > 0)
        self.target.mode("silent")           # open connections end too
        self.target.server.shutdown()
        self.target.server.server_close()
        d.wait_metric('trimtab_scrapes_total{outcome="down"}', lambda v: v > 1)
        self.assertEqual(200, d.request("GET", "/-/healthy")[0])
        self.assertEqual(0, d.end())

    def tearDown(self):
        self.target.server.serve_forever = lambda *a: None
        self.target.close = self.target.server.stopping.set
        super().tearDown()


if __name__ == "__main__":
    unittest.main()
