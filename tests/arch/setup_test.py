"""scripts/setup looks before it installs, and says what it needs, on machines that are pretended here."""

import os
import shutil
import subprocess
import unittest

from support import TOP, ScriptTest

# Answers as dpkg-query does: "installed" for each name in $INSTALLED.
DPKG_QUERY = """#!/bin/sh
for name; do :; done
case " $INSTALLED " in *" $name "*) printf installed ;; *) exit 1 ;; esac
"""
RECORD = """#!/bin/sh
echo "$(basename "$0") $*" >> "$LOG"
if [ -n "$FAIL_ON" ]; then case "$*" in *"$FAIL_ON"*) exit 100 ;; esac; fi
"""
SUDO = """#!/bin/sh
echo "sudo" >> "$LOG"
exec "$@"
"""
BUILD_TIER = ("gcc libc6-dev make cmake ninja-build pkg-config libevent-dev libcurl4-openssl-dev libssl-dev "
              "libsodium-dev libyaml-dev libjansson-dev libsqlite3-dev uthash-dev libpcre2-dev zlib1g-dev libzstd-dev "
              "ca-certificates libsnappy-dev")


class Setup(ScriptTest):
    def setUp(self):
        super().setUp()
        self.write("bin/dpkg-query", DPKG_QUERY)
        self.write("bin/apt-get", RECORD)
        self.user(0)
        # Only what the script itself calls: nothing of the machine that runs the test shows through.
        for tool in ["sh", "sed", "basename", "env"]:
            os.symlink(shutil.which(tool), f"{self.root}/bin/{tool}")

    def user(self, number):
        self.write("bin/id", f"#!/bin/sh\necho {number}\n")

    def setup_run(self, *tiers, installed="", fail_on=""):
        for name in os.listdir(f"{self.root}/bin"):
            if not os.path.islink(f"{self.root}/bin/{name}"):
                os.chmod(f"{self.root}/bin/{name}", 0o755)
        log = f"{self.root}/log"
        open(log, "w", encoding="utf-8").close()
        env = {"PATH": f"{self.root}/bin", "LOG": log, "INSTALLED": installed, "FAIL_ON": fail_on}
        done = subprocess.run([f"{TOP}/scripts/setup", *tiers], env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        with open(log, encoding="utf-8") as f:
            return done.returncode, done.stdout, done.stderr, f.read().splitlines()

    def test_nothing_missing_does_and_says_nothing(self):
        self.assertEqual((0, "", "", []), self.setup_run("build", installed=BUILD_TIER))

    def test_missing_ones_are_told_and_installed_after_one_update(self):
        code, out, err, log = self.setup_run("build", installed=BUILD_TIER.replace("cmake ", "").replace("make ", ""))
        self.assertEqual((0, ""), (code, out))
        self.assertRegex(err, r"(?m)^  cmake +describes the build$")
        self.assertNotIn("libevent-dev", err)
        self.assertEqual(["apt-get -qq update", "apt-get -qq install -y --no-install-recommends make cmake"], log)

    def test_test_tier_is_apart(self):
        code, _, err, log = self.setup_run("test", installed=BUILD_TIER)
        self.assertEqual(0, code)
        self.assertIn("promtool", err)
        self.assertIn("libcmocka-dev", log[1])
        self.assertNotIn("libevent-dev", log[1])

    def test_node_of_another_origin_serves(self):
        self.assertIn(" nodejs npm ", self.setup_run("test", installed=BUILD_TIER)[3][1])
        for tool in ["node", "npm"]:
            self.write(f"bin/{tool}", "#!/bin/sh\n")
        log = self.setup_run("test", installed=BUILD_TIER)[3]
        self.assertNotIn("nodejs", log[1])
        self.assertIn("chromium", log[1])

    def test_root_is_asked_for_only_where_apt_needs_it(self):
        self.user(1000)
        self.write("bin/sudo", SUDO)
        self.assertEqual([], self.setup_run("build", installed=BUILD_TIER)[3])
        code, _, err, log = self.setup_run("build")
        self.assertEqual(0, code)
        self.assertIn("sudo may ask", err)
        self.assertEqual(["sudo", "apt-get -qq update", "sudo"], log[:3])

    def test_without_root_and_sudo_it_says_what_to_run(self):
        self.user(1000)
        code, _, err, log = self.setup_run("build", installed=BUILD_TIER.replace("libyaml-dev ", ""))
        self.assertEqual((1, []), (code, log))
        self.assertIn("apt-get install --no-install-recommends libyaml-dev", err)

    def test_failures_of_apt_are_failures(self):
        code, _, err, _ = self.setup_run("build", fail_on="update")
        self.assertEqual(1, code)
        self.assertIn("update failed", err)
        code, _, err, _ = self.setup_run("build", fail_on="install")
        self.assertEqual(1, code)
        self.assertIn("could not install", err)

    def test_another_system_gets_the_list(self):
        os.remove(f"{self.root}/bin/dpkg-query")
        code, _, err, log = self.setup_run("build", "test")
        self.assertEqual((1, []), (code, log))
        self.assertIn("not a Debian system", err)
        self.assertIn("libsodium(library)", err)
        self.assertRegex(err, r"(?m)^  libcmocka-dev +the unit test library$")

    def test_wrong_words(self):
        self.assertEqual(2, self.setup_run("everything")[0])
        self.assertEqual(2, self.setup_run()[0])


if __name__ == "__main__":
    unittest.main()
