"""The whole loop over real HTTP: the target gets worse, one knob moves by one notch, the verdict keeps it."""

import unittest

from harness import SystemTest


class Loop(SystemTest):
    def test_worse_target_gets_one_notch_and_keeps_it(self):
        config = self.config()
        self.seed(config)
        d = self.start(config)
        self.target.wait("scrape", after=40)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        name, value, match, status, _ = self.target.wait("write")
        self.assertEqual(("batch_max", 64, '"1"', 200), (name, value, match, status))
        self.target.plant.set(p99=0.0375, queue=70.0, gpu=0.66, fill=60.0)
        line = d.wait_line(component="audit", msg="VERDICT")
        self.assertEqual("effective", line["verdict"], d.story())
        self.assertEqual(64, self.target.knobs.values["batch_max"])
        self.assertEqual(1, len(self.target.knobs.log))
        self.assertEqual(0, d.end())


if __name__ == "__main__":
    unittest.main()
