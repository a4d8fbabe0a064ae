"""Files that `trimtab check` must survive: each is refused in bounded time and memory with a place and a reason."""

import os
import resource
import subprocess
import tempfile
import time
import unittest

import harness

MEMORY = 1 << 30
ASAN = "asan" in harness.BINARY or "AddressSanitizer" in os.environ.get("TRIMTAB_SANITIZER", "")


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    if not ASAN:                                               # its shadow alone is larger
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Yaml(unittest.TestCase):
    def check(self, data, code=1, words=()):
        with tempfile.NamedTemporaryFile(suffix=".yaml") as f:
            f.write(data)
            f.flush()
            began = time.monotonic()
            r = subprocess.run([harness.BINARY, "check", f.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                               timeout=60, preexec_fn=limit)
            said = (r.stdout + r.stderr).decode("utf-8", "strict")
            self.assertEqual(code, r.returncode, "%r: %s" % (data[:60], said[-500:]))
            self.assertLess(time.monotonic() - began, 20)
            self.assertLess(len(said), 200000, data[:60])      # a million errors are no help
            if code:
                self.assertIn(f.name + ":", said)
            for word in words:
                self.assertIn(word, said, data[:60])
            return said

    def test_bombs(self):
        laughs = b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        for i in range(30):
            laughs += b"%s: &%s [%s]\n" % (b"b%d" % i, b"b%d" % i, b",".join([b"*b%d" % (i - 1) if i else b"*a"] * 9))
        self.check(laughs)
        self.check(b"a: &a\n  <<: *a\n")
        self.check(b"a: &a [*a]\n")
        self.check(b"services: &s\n  - {name: a, targets: *s}\n")

    def test_depth(self):
        for n in (100, 10000, 300000):
            self.check(b"[" * n)
            self.check(b"a: " + b"{a: " * n)
            self.check(b"- " * n + b"x\n")
            self.check(b"".join(b" " * min(i, 500) + b"a:\n" for i in range(n)))

    def test_length(self):
        self.check(b"a" * 5000000)
        self.check(b"services: '" + b"x" * 900000 + b"'\n")
        self.check(b"version: 1\n" + b"#" * 5000000)
        self.check(b"\n" * 900000 + b"x: 1\n")
        self.check(b"".join(b"k%d: 1\n" % i for i in range(100000)))
        self.check(b"services:\n" + b"  - name: a\n" * 50000)
        self.check(b"version: 1\n" * 100000)
        self.check(b"version: " + b"9" * 900000 + b"\n")

    def test_bytes(self):
        for data in (b"", b"\0", b"\xff\xfe\0\0", b"version: 1\0\n", b"version: \xff\n", b"\xef\xbb\xbf", b"\xfe\xff\0a\0:",
                     b"\t", b"%", b"%YAML 9.9\n---\n", b"--- a\n--- b\n", b"...\n", b"!!python/object:os.system x\n",
                     b"a: !!binary aaaa\n",
                     b"? [a]\n: b\n", b"a: |\n  x\n b\n", b"a: 'x\n", b"- a\nb: c\n", b"version: \xe2\x80\xae1\n", b"\x1b[2J: 1\n",
                     b"version: 1\nversion: 1\n", b"a: *none\n", b"{", b"}", b"@", b"`", b"&", b"*", b"!", b"|", b">", b"'", b'"'):
            said = self.check(data)
            self.assertNotIn("\x1b", said)                     # what is on the terminal stays on it
            self.assertNotIn("\u202e", said)

    def test_numbers_and_expressions(self):
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "examples", "reference.yaml"), "rb") as f:
            good = f.read()
        self.check(good, code=0)
        for old, new in ((b"version: 1\n", b"version: 1e999\n"), (b"tick: 30s", b"tick: 99999999999999999999h"),
                         (b"tick: 30s", b"tick: -30s"), (b"tick: 30s", b"tick: 0s"), (b"alpha: 0.2", b"alpha: .nan"),
                         (b"alpha: 0.2", b"alpha: .inf"), (b"alpha: 0.2", b"alpha: 0x1"), (b"max: 128", b"max: 1e400"),
                         (b"gpu_util > 0.7", b"(" * 5000 + b"gpu_util" + b")" * 5000 + b" > 0.7"),
                         (b"gpu_util > 0.7", b" and ".join([b"gpu_util > 0.7"] * 5000)),
                         (b"gpu_util > 0.7", b"not " * 5000 + b"gpu_util > 0.7"),
                         (b"gpu_util > 0.7", b"slope(gpu_util, 99999999999w) > 0"),
                         (b"query: sum(rate(inference_queue_depth_seconds_total[30s]))",
                          b"query: " + b"sum(" * 3000 + b"x" + b")" * 3000),
                         (b"query: sum(rate(inference_queue_depth_seconds_total[30s]))",
                          b"query: 'x{a=~\"(a+)+$\",b=~\"" + b"(" * 200 + b"\"}'"),
                         (b"query: sum(rate(inference_queue_depth_seconds_total[30s]))", b"query: x[1m:1ms]"),
                         (b"{instance}/config/batch_max", b"{nothing}/config/batch_max"),
                         (b"http://127.0.0.1:9464/metrics", b"file:///etc/passwd"),
                         (b"http://127.0.0.1:9464/metrics", b"gopher://127.0.0.1:70/"),
                         (b"http://127.0.0.1:9464/metrics", b'"http://a\\nb/"')):
            with self.subTest(new[:60]):
                self.assertIn(old, good)
                self.check(good.replace(old, new, 1))

    def test_what_is_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            loop = os.path.join(folder, "loop")
            os.symlink(loop, loop)
            for path in (folder, os.path.join(folder, "none"), loop, "/dev/zero", "/dev/null", "/proc/self/mem", "x" * 5000, ""):
                r = subprocess.run([harness.BINARY, "check", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                   timeout=30, preexec_fn=limit, stdin=subprocess.DEVNULL)
                self.assertIn(r.returncode, (1, 2), path[:60])
                self.assertTrue(r.stdout + r.stderr, path[:60])


if __name__ == "__main__":
    unittest.main()
