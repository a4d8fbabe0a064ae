"""A copy of the source in which one file after the other is changed, built and tested: for `make mutants` and
`make mutation-sample`. What a change has broken is put right again before the next one."""

import json
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHUNK = 20


def run(command, seconds, **more):
    """None: it took too long."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, **more)
    except subprocess.TimeoutExpired:
        return None


class Tree:
    def __init__(self, work, build_type="Release", flags=(), ccache=True):
        self.tree = os.path.join(work, "tree")
        self.build_dir = os.path.join(work, "build")
        self.env = dict(os.environ)
        self._copy()
        command = ["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build_dir, f"-DCMAKE_BUILD_TYPE={build_type}",
                   "-DTRIMTAB_TESTS=ON", "-DTRIMTAB_WERROR=OFF", *flags]
        if ccache and shutil.which("ccache"):
            command.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
        done = run(command, 300)
        if done is None or done.returncode:
            raise SystemExit(done.stdout if done else "cmake takes too long")

    def _copy(self):
        os.makedirs(self.tree, exist_ok=True)
        for name in ("src", "cmake", "tests", "examples", "presets"):
            shutil.rmtree(os.path.join(self.tree, name), ignore_errors=True)
            shutil.copytree(os.path.join(ROOT, name), os.path.join(self.tree, name), copy_function=shutil.copy)  # new times
        for name in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md"):
            shutil.copy2(os.path.join(ROOT, name), os.path.join(self.tree, name))

    def path(self, name):
        return os.path.join(self.tree, name)

    def built(self, *parts):
        return os.path.join(self.build_dir, *parts)

    def build(self, targets, seconds=1800):
        done = run(["ninja", "-C", self.build_dir, *targets], seconds, env=self.env)
        return done is not None and done.returncode == 0

    def by_swarm(self, seeds, jobs, seconds=600):
        """(the number of seeds that were needed, what was found); None: nothing."""
        for first in range(1, seeds + 1, CHUNK):
            last = min(first + CHUNK - 1, seeds)
            done = run([self.built("trimtab"), "simulate", "--swarm", "--seeds", f"{first}..{last}", "--jobs", str(jobs)], seconds)
            if done is None:
                return last, "a run that never ends"
            lines = done.stdout.strip().splitlines()
            if done.returncode == 0:
                continue
            try:
                seed = json.loads(lines[-1])["first_failing_seed"]
                what = [line for line in lines if line.startswith(f"seed {seed}:")]
                return seed, what[0].split(":", 2)[-1].strip() if what else "violation"
            except (ValueError, KeyError, IndexError):
                return last, "the run crashed"
        return None

    def by_tests(self, targets):
        """The first of the rooms' test programs that fails; None: none."""
        for target in targets:
            if not self.build([target]):
                continue
            done = run([self.built("src", target.split("_")[0], target)], 120)
            if done is None or done.returncode:
                return target
        return None

    def by_explorer(self, runs):
        """The first run of the explorer ("value 2 150000") that finds something; None: none."""
        if not self.build(["explore"]):
            return None
        for words in runs:
            done = run([self.built("tests", "explore", "explore"), *words.split()], 600)
            if done is None or done.returncode:
                return f"explore {words}"
        return None
