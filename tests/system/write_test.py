"""Writes whose answer lies, and who else turns the knob: the read-back decides."""

import os
import unittest

from harness import SystemTest


class Writes(SystemTest):
    def worse(self, write_mode, **kwargs):
        config = self.config(**kwargs)
        self.seed(config)
        self.target.knobs.write_mode = write_mode
        d = self.start(config)
        self.target.wait("scrape", after=40)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        return d

    def test_500_that_took_effect(self):
        d = self.worse("error-but-applied")
        self.assertEqual(500, self.target.wait("write")[3])
        line = d.wait_line(component="audit", msg="APPLIED")
        self.assertEqual("64", line["to"])
        self.assertEqual(1, len(self.target.knobs.log))       # never sent twice
        self.assertEqual(0, d.end())

    def test_200_that_did_not(self):
        d = self.worse("ok-but-not")
        self.assertEqual(200, self.target.wait("write")[3])
        d.wait_line(component="audit", msg="FAILED")
        self.assertEqual(32, self.target.knobs.values["batch_max"])
        self.assertEqual(1, len(self.target.knobs.log))
        self.assertFalse(d.has_line(component="audit", msg="APPLIED"))
        self.assertEqual(0, d.end())

    def test_third_value_is_left_alone(self):
        d = self.worse("third")
        self.target.wait("write")
        d.wait_line(component="audit", msg="YIELDED")
        scrapes = self.target.count("scrape")
        self.target.wait("scrape", after=scrapes + 60)
        self.assertEqual(48, self.target.knobs.values["batch_max"])
        self.assertEqual(1, len(self.target.knobs.log))
        self.assertEqual(0, d.end())

    def test_refused_write(self):
        d = self.worse("refuse")
        self.assertEqual(412, self.target.wait("write")[3])
        d.wait_line(component="audit", msg="FAILED")
        self.assertEqual(32, self.target.knobs.values["batch_max"])
        self.assertEqual(0, d.end())

    def test_dry_run_sends_nothing(self):
        config = self.config()
        self.seed(config)
        d = self.start(config, "--dry-run")
        self.target.wait("scrape", after=40)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        d.wait_line(component="execute", msg="dry run: a write is left out")
        d.wait_line(component="audit", msg="FAILED")
        self.assertEqual([], self.target.knobs.log)
        self.assertEqual(0, d.end())

    def test_ineffective_change_is_taken_back(self):
        d = self.worse("good")
        self.target.wait("write")
        d.wait_line(component="audit", msg="UNDONE")
        self.assertEqual([64, 32], [value for _, value, _, _ in self.target.knobs.log])
        self.assertEqual(32, self.target.knobs.values["batch_max"])
        self.assertEqual(0, d.end())

    def test_secret_goes_to_the_target_and_nowhere_else(self):
        path = os.path.join(self.folder, "secret")
        with open(path, "w", encoding="ascii") as f:
            f.write("open-sesame\n")
        os.chmod(path, 0o600)
        d = self.worse("good", write_more="\n            secret_file: " + path)
        self.assertEqual("Bearer open-sesame", self.target.wait("write")[4])
        d.wait_line(component="audit", msg="APPLIED")
        self.assertEqual(0, d.end())
        self.assertNotIn("open-sesame", d.story())

    def test_secret_that_others_can_read_is_not_used(self):
        path = os.path.join(self.folder, "secret")
        with open(path, "w", encoding="ascii") as f:
            f.write("open-sesame\n")
        os.chmod(path, 0o644)
        d = self.worse("good", write_more="\n            secret_file: " + path)
        d.wait_line(component="audit", msg="FAILED")
        self.assertEqual([], self.target.knobs.log)
        self.assertEqual(0, d.end())


class Halts(SystemTest):
    def worse(self):
        config = self.config()
        self.seed(config)
        d = self.start(config)
        self.target.wait("scrape", after=40)
        return d

    def after_halt_nothing_is_written(self, d):
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        scrapes = self.target.count("scrape")
        self.target.wait("scrape", after=scrapes + 120)       # 20 min of incident: without the halt it is written after 5
        self.assertEqual([], self.target.knobs.log)

    def test_file_halts_one_and_survives_restart(self):
        d = self.worse()
        with open(os.path.join(d.data, "halt.embed"), "w", encoding="ascii") as f:
            f.write("Ana: switch maintenance\n")
        line = d.wait_line(component="audit", msg="HALT")
        self.assertTrue(line["by"].startswith("file"))
        self.after_halt_nothing_is_written(d)
        self.assertEqual(0, d.end())
        os.remove(os.path.join(d.data, "halt.embed"))
        d = self.start(os.path.join(self.folder, "config.yaml"))
        d.wait_metric('trimtab_service_halted{service="embed"}', lambda v: v == 1)
        self.after_halt_nothing_is_written(d)
        self.assertFalse(d.has_line(component="audit", msg="HALT"))   # it is in the log already
        self.assertEqual(0, d.end())

    def test_file_at_start_halts_all(self):
        config = self.config()
        self.seed(config)
        with open(os.path.join(self.folder, "data", "halt"), "w", encoding="ascii"):
            pass
        d = self.start(config)
        d.wait_line(component="audit", msg="HALT")
        self.after_halt_nothing_is_written(d)
        self.assertEqual(0, d.end())

    def test_signal_halts_all(self):
        import signal
        d = self.worse()
        d.process.send_signal(signal.SIGUSR1)
        self.assertEqual("signal", d.wait_line(component="audit", msg="HALT")["by"])
        self.after_halt_nothing_is_written(d)
        self.assertEqual(0, d.end())


if __name__ == "__main__":
    unittest.main()
