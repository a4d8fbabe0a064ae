"""Pages that are well-formed and yet wrong: too many series, contradicting series, another clock."""

import time
import unittest

from harness import SystemTest

QUEUE = 'trimtab_signal_value{service="embed",signal="queue_depth",unit=""}'


def unknown(why):
    return 'trimtab_signal_unknown{service="embed",signal="queue_depth",why="%s"}' % why


class Pages(SystemTest):
    speed = 100

    def begin(self):
        d = self.start(self.config(timeout="2s"))
        d.wait_metric(QUEUE, lambda v: v == 140)
        return d

    def serve(self, make):
        """From now on the page is what make(good page) says."""
        good = self.target.plant.page
        self.target.plant.page = lambda: make(good())
        return lambda: setattr(self.target.plant, "page", good)

    def comes_back(self, d, mend):
        mend()
        self.target.plant.set(queue=150.0)
        d.wait_metric(QUEUE, lambda v: v == 150)
        self.assertEqual(0, d.end())
        self.assertEqual([], self.target.knobs.log)

    def test_a_million_series(self):
        d = self.begin()
        self.target.mode("million")
        up = 'trimtab_target_up{service="embed",instance="%s"}' % self.target.address
        d.wait_metric(up, lambda v: v == 0)
        d.wait_metric(unknown("limit"), lambda v: v == 1)     # no part of a page over the limit is believed
        self.assertLess(d.metric("process_resident_memory_bytes"), 300e6)
        status, text = d.request("GET", "/api/v1/services/embed")
        self.assertEqual(200, status)
        self.assertIn("the page is over a limit, so nothing on it counts", text)
        self.comes_back(d, lambda: self.target.mode("good"))

    def test_two_values_for_one_series(self):
        d = self.begin()
        mend = self.serve(lambda page: page + b"queue_depth 9999\n")
        seen = self.target.count("scrape")
        self.target.wait("scrape", after=seen + 12)
        value = d.metric(QUEUE)
        self.assertNotEqual(9999, value)                      # which of the two is true cannot be known
        self.assertIsNone(value)
        self.comes_back(d, mend)

    def test_one_value_twice_is_no_contradiction(self):
        d = self.begin()
        self.serve(lambda page: page + b"queue_depth 170\n" + b"queue_depth 170\n" if b"queue_depth 170" in page else page)
        self.target.plant.set(queue=170.0)
        d.wait_metric(QUEUE, lambda v: v == 170)
        self.assertEqual(0, d.end())

    def stamped(self, seconds):
        """The queue with a time stamp of its own, that many seconds from the daemon's clock."""
        d = self.begin()
        start = time.time()

        def page(good):
            now = start + (time.time() - start) * self.speed
            text = good.replace(b"queue_depth 140", b"queue_depth 199 %d" % int(1000 * (now + seconds)))
            return text

        return d, self.serve(page)

    def test_a_clock_an_hour_behind(self):
        d, mend = self.stamped(-3600)
        seen = self.target.count("scrape")
        self.target.wait("scrape", after=seen + 12)
        self.assertNotEqual(199, d.metric(QUEUE))
        self.comes_back(d, mend)

    def test_a_clock_an_hour_ahead(self):
        d, mend = self.stamped(3600)
        seen = self.target.count("scrape")
        self.target.wait("scrape", after=seen + 12)
        self.assertNotEqual(199, d.metric(QUEUE))
        self.comes_back(d, mend)


if __name__ == "__main__":
    unittest.main()
