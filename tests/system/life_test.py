"""Start, stop, crash, reload, and stores that are in trouble."""

import glob
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import audit_log
from harness import BINARY, SystemTest


class Life(SystemTest):
    speed = 100

    def test_sigterm_ends_within_two_seconds_and_writes_no_knob(self):
        d = self.start(self.config())
        self.target.wait("scrape", after=3)
        began = time.monotonic()
        self.assertEqual(0, d.end())
        self.assertLess(time.monotonic() - began, 2.0)
        self.assertEqual([], self.target.knobs.log)

    def test_second_daemon_on_the_same_store_is_refused(self):
        config = self.config()
        first = self.start(config)
        self.target.wait("scrape", after=3)
        second = self.start(config, wait=False)
        line = second.wait_line(level="error")
        self.assertIn("in use by process", line["error"])
        self.assertEqual(1, second.process.wait(30))
        self.assertFalse(second.has_line(component="audit"))
        self.target.wait("scrape", after=self.target.count("scrape") + 5)    # the first one goes on
        self.assertEqual(0, first.end())
        starts = [r for r in map(json.loads, audit_log.prove(first.data)) if r["kind"] == "START"]
        self.assertEqual(1, len(starts))

    def test_port_in_use(self):
        first = self.start(self.config())
        other = os.path.join(self.folder, "other")
        r = subprocess.run([BINARY, "serve", "--config", os.path.join(self.folder, "config.yaml"), "--data", other, "--listen",
                            "%s:%d" % (first.host, first.port)], stderr=subprocess.PIPE, check=False, timeout=60)
        self.assertEqual(1, r.returncode)
        self.assertIn(b"the port is in use", r.stderr)

    def test_corrupt_store_is_named_and_nothing_starts(self):
        config = self.config()
        d = self.start(config)
        self.target.wait("scrape", after=3)
        self.assertEqual(0, d.end())
        with open(os.path.join(d.data, "audit.db"), "r+b") as f:
            f.seek(0)
            f.write(b"this is no database any more" * 40)
        again = self.start(config, wait=False)
        line = again.wait_line(level="error")
        self.assertIn("audit.db", line["error"])
        self.assertEqual(1, again.process.wait(30))

    def test_data_folder_that_cannot_be_made(self):
        path = os.path.join(self.folder, "data")
        with open(path, "w", encoding="ascii") as f:
            f.write("a file stands here\n")
        d = self.start(self.config(), wait=False)
        self.assertIn("data", d.wait_line(level="error")["data"])
        self.assertEqual(1, d.process.wait(30))

    def test_errors_in_the_configuration_start_nothing(self):
        path = self.config()
        with open(path, "a", encoding="utf-8") as f:
            f.write("signls: 3\n")
        d = self.start(path, wait=False)
        self.assertIn("signls", d.wait_line(level="error")["error"])
        self.assertEqual(1, d.process.wait(30))
        self.assertFalse(os.path.exists(d.data))

    def test_speed_that_scrapes_too_often_is_refused(self):
        d = self.start(self.config(), speed=501, wait=False)
        self.assertIn("every 20 ms", d.wait_line(level="error")["msg"])
        self.assertEqual(1, d.process.wait(30))

    def test_reload(self):
        config = self.config(mode="auto")
        d = self.start(config)
        status, text = d.request("POST", "/-/reload")
        self.assertEqual(401, status, text)
        status, text = d.request("GET", "/-/reload")
        self.assertEqual(405, status, text)
        self.config(mode="alert")
        status, text = d.request("POST", "/-/reload", token=True)
        self.assertEqual(200, status, text)
        d.wait_metric('trimtab_service_mode{service="embed",mode="alert"}', lambda v: v == 1)
        with open(config, "a", encoding="utf-8") as f:
            f.write("signls: 3\n")
        status, text = d.request("POST", "/-/reload", token=True)
        self.assertEqual(500, status)
        self.assertIn("signls", text)
        self.assertEqual(0, d.metric("trimtab_config_last_reload_successful"))
        self.assertEqual(1, d.metric('trimtab_service_mode{service="embed",mode="alert"}'))
        self.config(mode="confirm")
        d.process.send_signal(signal.SIGHUP)
        d.wait_metric('trimtab_service_mode{service="embed",mode="confirm"}', lambda v: v == 1)
        self.assertEqual(1, d.metric("trimtab_config_last_reload_successful"))
        self.assertEqual(0, d.end())

    def test_new_service_by_reload_works_at_once(self):
        config = self.config()
        d = self.start(config)
        with open(config, encoding="utf-8") as f:
            text = f.read()
        service = text[text.index("  - name: embed"):].replace("name: embed", "name: second")
        with open(config, "w", encoding="utf-8") as f:
            f.write(text + service)
        self.assertEqual(200, d.request("POST", "/-/reload", token=True)[0])
        d.wait_metric('trimtab_signal_value{service="second",signal="queue_depth",unit=""}', lambda v: v == 140)
        self.assertEqual(0, d.end())


class Crash(SystemTest):
    def test_kill_between_write_and_verdict_keeps_the_story(self):
        config = self.config()
        self.seed(config)
        d = self.start(config)
        self.target.wait("scrape", after=40)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        self.target.wait("write")
        d.process.kill()
        d.process.wait()
        self.target.plant.set(p99=0.0375, queue=70.0, gpu=0.66, fill=60.0)
        again = self.start(config)
        line = again.wait_line(component="audit", msg="VERDICT", timeout=90)
        self.assertEqual("embed/1", line["action"])
        first = self.target.knobs.log[0]
        self.assertEqual(("batch_max", 64), first[:2])
        if line["verdict"] == "effective":
            self.assertEqual(1, len(self.target.knobs.log))    # not sent again
        self.assertEqual(0, again.end())

    def test_killed_in_its_window_a_change_is_judged_by_what_was_seen_before_it(self):
        config = self.config()
        self.seed(config)
        d = self.start(config)
        self.target.wait("scrape", after=40)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        self.target.wait("write", timeout=90)
        self.target.plant.set(p99=0.0375, queue=70.0, gpu=0.66, fill=60.0)
        d.wait_metric('trimtab_service_state{service="embed",state="observing"}', lambda v: v == 1)
        self.target.wait("scrape", after=self.target.count("scrape") + 36)     # six minutes of ten
        d.process.kill()
        d.process.wait()
        again = self.start(config)
        line = again.wait_line(component="audit", msg="VERDICT", timeout=90)
        self.assertEqual(("embed/1", "effective"), (line["action"], line["verdict"]))
        self.assertEqual(1, len(self.target.knobs.log))
        self.assertEqual(0, again.end())

    def test_kill_at_any_moment_starts_again(self):
        config = self.config()
        self.seed(config)
        for scrapes in (1, 7, 20):
            d = self.start(config)
            self.target.wait("scrape", after=self.target.count("scrape") + scrapes)
            d.process.kill()
            d.process.wait()
        d = self.start(config)
        d.wait_metric('trimtab_service_state{service="embed",state="watching"}', lambda v: v == 1)
        self.assertEqual(0, d.end())
        self.assertEqual([], self.target.knobs.log)


class ReadOnly(SystemTest):
    speed = 100

    def test_store_that_becomes_unwritable(self):
        """A copy of the store whose audit.db may only be read."""
        if os.geteuid() == 0 and not shutil.which("chattr"):
            self.skipTest("root may write everything here")
        config = self.config()
        d = self.start(config)
        self.target.wait("scrape", after=3)
        self.assertEqual(0, d.end())
        for path in glob.glob(os.path.join(d.data, "audit.db*")):
            os.chmod(path, 0o400)
        locked = os.geteuid() != 0 or subprocess.run(["chattr", "+i", os.path.join(d.data, "audit.db")], check=False,
                                                     stderr=subprocess.DEVNULL).returncode == 0
        if not locked:
            self.skipTest("this file system knows no immutable files, and root may write everything")
        try:
            again = self.start(config, wait=False)
            self.assertIn("audit.db", again.wait_line(level="error")["error"])
            self.assertEqual(1, again.process.wait(30))
        finally:
            if os.geteuid() == 0:
                subprocess.run(["chattr", "-i", os.path.join(d.data, "audit.db")], check=False)


if __name__ == "__main__":
    unittest.main()
