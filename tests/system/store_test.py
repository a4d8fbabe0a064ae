"""A store that stops working while the daemon runs: nothing is changed without a record, and it goes on by itself."""

import os
import resource
import unittest

from harness import SystemTest


class Store(SystemTest):
    def test_audit_that_cannot_grow_freezes_and_thaws(self):
        """A file-size limit on the running daemon makes every growing write fail, as a full disk does."""
        config = self.config()
        self.seed(config)
        d = self.start(config)
        self.target.wait("scrape", after=40)
        _, hard = resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE)
        size = os.path.getsize(os.path.join(d.data, "audit.db"))
        resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, (min(size, 4096), hard))
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        d.wait_line(component="store", level="error")
        d.wait_metric('trimtab_service_frozen{service="embed"}', lambda v: v == 1)
        self.assertEqual(200, d.request("GET", "/-/healthy")[0])
        scrapes = self.target.count("scrape")
        self.target.wait("scrape", after=scrapes + 120)
        self.assertEqual([], self.target.knobs.log)
        resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        self.target.wait("write", timeout=90)                 # the incident is still there; now it may be tuned
        self.assertEqual(0, d.end())


if __name__ == "__main__":
    unittest.main()
