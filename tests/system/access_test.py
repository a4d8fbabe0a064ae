"""Who may do what: every address with every role and with none; cookies, forged requests, floods, tokens, TLS."""

import base64
import concurrent.futures
import datetime
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import time
import unittest

import harness
from harness import SystemTest

PASSWORD = "correct horse battery"
ROLES = ["none", "viewer", "operator", "admin"]


class Access(SystemTest):
    speed = 100

    def setUp(self):
        super().setUp()
        self.password_file = os.path.join(self.folder, "password")
        with open(self.password_file, "w", encoding="ascii") as f:
            f.write(PASSWORD + "\n")

    def user(self, *words, check=True):
        r = subprocess.run([harness.BINARY, "user", *words, "--data", os.path.join(self.folder, "data")], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
        if check:
            self.assertEqual(0, r.returncode, r.stderr)
        return r.stdout.decode(), r.stderr.decode()

    def add(self, name, role):
        self.user("add", name, "--role", role, "--password-file", self.password_file)

    def begin(self, web="", people=(("vi", "viewer"), ("op", "operator"), ("ad", "admin")), wait=True):
        config = self.config()
        if web:
            with open(config, "a", encoding="ascii") as f:
                f.write("web: {%s}\n" % web)
        os.makedirs(os.path.join(self.folder, "data"), exist_ok=True)
        os.chmod(os.path.join(self.folder, "data"), 0o700)
        for name, role in people:
            self.add(name, role)
        self.d = self.start(config, wait=wait)
        return self.d

    def login(self, name, password=PASSWORD, headers=None, status=200):
        c = http.client.HTTPConnection(self.d.host, self.d.port, timeout=30)
        c.request("POST", "/api/v1/login", json.dumps({"name": name, "password": password}), headers or {})
        r = c.getresponse()
        answer, cookie = json.loads(r.read()), r.getheader("Set-Cookie")
        c.close()
        self.assertEqual(status, r.status, answer)
        if status != 200:
            return answer
        return {"Cookie": cookie.split(";")[0], "X-CSRF-Token": answer["data"]["csrf"]}

    def ask(self, method, path, headers=None, body=None):
        status, text = self.d.request(method, path, body, headers=headers)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def routes(self):
        document = self.ask("GET", "/api/v1/openapi.json")[1]
        for path, methods in document["paths"].items():
            for method, o in methods.items():
                concrete = re.sub(r"{service}", "embed", path)
                concrete = re.sub(r"{(incident|action|seq)}", "1", concrete)
                concrete = re.sub(r"{module}", "collect", concrete)
                yield method.upper(), re.sub(r"{[a-z]*}", "nobody", concrete), o["x-role"]

    def test_every_address_with_every_role(self):
        self.begin()
        who = {"none": {}, "viewer": self.login("vi"), "operator": self.login("op"), "admin": self.login("ad")}
        walked = 0
        for method, path, least in self.routes():
            if path.endswith(("/stream", "/logout")):
                continue                       # one has no end, the other ends the session it is asked with
            for role in ROLES:
                status, answer = self.ask(method, path, who[role], b"{]" if method == "POST" else None)
                enough = ROLES.index(role) >= ROLES.index(least)
                where = "%s %s as %s: %d %s" % (method, path, role, status, str(answer)[:200])
                if enough:
                    self.assertNotIn(status, (401, 403) if "login" not in path and "setup" not in path else (403,), where)
                elif role == "none":
                    self.assertEqual(401, status, where)
                else:
                    self.assertEqual((403, "role"), (status, answer["reason"]), where)
                self.assertLess(status, 504, where)
                walked += 1
        self.assertGreater(walked, 180)

    def test_forged_requests(self):
        self.begin()
        op, other = self.login("op"), self.login("op")
        halt = "/api/v1/services/embed/halt"
        cookie = {"Cookie": op["Cookie"]}
        for token in (None, "", "x", op["X-CSRF-Token"][:-1], op["X-CSRF-Token"] + "0", other["X-CSRF-Token"],
                      op["X-CSRF-Token"].upper() + " "):
            headers = dict(cookie, **({"X-CSRF-Token": token} if token is not None else {}))
            status, answer = self.ask("POST", halt, headers, b"{}")
            self.assertEqual((403, "csrf"), (status, answer["reason"]), token)
        for origin in ("http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1", "ftp://x", "",
                       "http://127.0.0.1:%d.evil.example" % self.d.port):
            for path in (halt, "/api/v1/login"):
                status, answer = self.ask("POST", path, dict(op, Origin=origin), b"{}")
                self.assertEqual((403, "origin"), (status, answer["reason"]), origin)
        self.assertEqual(403, self.ask("POST", halt, dict(op, **{"Sec-Fetch-Site": "cross-site"}), b"{}")[0])
        self.assertFalse(self.ask("GET", "/api/v1/services/embed", op)[1]["data"]["halted"])
        self.assertEqual(200, self.ask("POST", "/api/v1/logout", other)[0])
        replayed = {"Cookie": op["Cookie"], "X-CSRF-Token": other["X-CSRF-Token"]}
        self.assertEqual(403, self.ask("POST", halt, replayed, b"{}")[0])
        own = "http://127.0.0.1:%d" % self.d.port
        self.assertEqual(200, self.ask("POST", halt, dict(op, Origin=own), b'{"reason":"odd <b>readings</b>"}')[0])
        records = self.ask("GET", "/api/v1/audit?limit=1000", op)[1]["data"]["records"]
        record = [r for r in records if r["kind"] == "HALT"][-1]
        self.assertEqual(("op", "console"), (record["by"], record["via"]))
        status, answer = self.ask("POST", halt, op, b'{"by":"somebody else"}')
        self.assertEqual(400, status, answer)
        status, answer = self.ask("POST", "/api/v1/services/embed/resume", op, b"{}")
        self.assertEqual((403, "role"), (status, answer["reason"]))
        page, text = self.d.request("GET", "/api/v1/services/embed", headers=op)
        self.assertEqual(200, page)
        self.assertIn("odd <b>readings</b>", json.loads(text)["data"]["halted_why"])

    def test_sessions(self):
        self.begin()
        fixed = "a" * 64
        op = self.login("op", headers={"Cookie": "trimtab_session=" + fixed})
        self.assertNotIn(fixed, op["Cookie"])             # a cookie chosen by somebody else is never taken up
        self.assertEqual(401, self.ask("GET", "/api/v1/status", {"Cookie": "trimtab_session=" + fixed})[0])
        again = self.login("op", headers={"Cookie": op["Cookie"]})
        self.assertEqual(401, self.ask("GET", "/api/v1/status", op)[0])           # a new login ends the old session
        self.assertEqual(200, self.ask("GET", "/api/v1/status", again)[0])
        self.assertEqual(0, self.d.end())
        self.d = self.start(os.path.join(self.folder, "config.yaml"))
        self.assertEqual(200, self.ask("GET", "/api/v1/status", again)[0])        # it outlives the process
        self.assertEqual(200, self.ask("POST", "/api/v1/logout", again)[0])
        self.assertEqual((401, "session-ended"), (lambda s, a: (s, a["reason"]))(*self.ask("GET", "/api/v1/status", again)))
        vi = self.login("vi")
        status, answer = self.ask("POST", "/api/v1/password", vi, json.dumps({"old": PASSWORD, "password": "another one here"}))
        self.assertEqual(200, status, answer)
        self.login("vi", status=401)
        self.login("vi", "another one here")

    def test_users_and_tokens(self):
        self.begin()
        ad = self.login("ad")
        new = {"name": "wang", "role": "viewer", "password": "long enough to be one"}
        self.assertEqual(200, self.ask("POST", "/api/v1/users", ad, json.dumps(new))[0])
        self.assertEqual(409, self.ask("POST", "/api/v1/users", ad, json.dumps(new))[0])
        for bad in ({"name": "a b"}, {"name": "<script>"}, {"role": "root"}, {"password": "short"}, {"password": "password"}):
            self.assertEqual(400, self.ask("POST", "/api/v1/users", ad, json.dumps(dict(new, name="wu", **bad) if "name" not in bad
                                                                                  else dict(new, **bad)))[0], bad)
        wang = self.login("wang", new["password"])
        self.assertEqual(200, self.ask("POST", "/api/v1/users/wang", ad, b'{"role":"operator"}')[0])
        self.assertEqual(401, self.ask("GET", "/api/v1/status", wang)[0])         # a changed role ends its sessions
        status, answer = self.ask("DELETE", "/api/v1/users/ad", ad)
        self.assertEqual((409, "last-admin"), (status, answer["reason"]))
        self.assertEqual(200, self.ask("DELETE", "/api/v1/users/wang", ad)[0])
        self.login("wang", new["password"], status=401)
        status, answer = self.ask("POST", "/api/v1/tokens", ad, b'{"name":"ci","role":"operator","days":"1"}')
        bearer = {"Authorization": "Bearer " + answer["data"]["token"]}
        self.assertEqual(200, self.ask("POST", "/api/v1/events", bearer, b'{"kind":"deploy","service":"embed","version":"v9"}')[0])
        self.assertEqual(403, self.ask("GET", "/api/v1/users", bearer)[0])
        with open(os.path.join(self.folder, "data", "access.db"), "rb") as f:
            raw = f.read()
        self.assertNotIn(answer["data"]["token"].encode(), raw)                   # hashed at rest
        self.assertNotIn(PASSWORD.encode(), raw)
        self.assertEqual(200, self.ask("DELETE", "/api/v1/tokens/" + answer["data"]["id"], ad)[0])
        self.assertEqual(401, self.ask("GET", "/api/v1/status", bearer)[0])
        token = self.user("token", "cli", "--role", "viewer")[0].strip()
        deadline = time.monotonic() + 30
        while self.ask("GET", "/api/v1/status", {"Authorization": "Bearer " + token})[0] != 200:
            self.assertLess(time.monotonic(), deadline)                           # the daemon sees the command line's change

    def test_the_first_admin(self):
        self.begin(people=())
        line = self.d.wait_line(msg="no user exists yet; this link makes the first admin, once")
        secret = line["link"].split("#")[1]
        self.assertEqual("anonymous", self.ask("GET", "/api/v1/session")[1]["data"]["kind"])
        self.assertEqual(401, self.ask("POST", "/api/v1/halt", None, b"{}")[0])
        forwarded = {"X-Forwarded-For": "10.1.2.3"}                               # a proxy on this machine is not this machine
        self.assertEqual(401, self.ask("GET", "/api/v1/status", forwarded)[0])
        body = {"token": "0" * 64, "name": "li", "password": PASSWORD}
        self.assertEqual(401, self.ask("POST", "/api/v1/setup", None, json.dumps(body))[0])
        body["token"] = secret
        status, answer = self.ask("POST", "/api/v1/setup", None, json.dumps(body))
        self.assertEqual((200, "admin"), (status, answer["data"]["role"]))
        self.assertEqual(401, self.ask("POST", "/api/v1/setup", None, json.dumps(dict(body, name="wu")))[0])
        self.assertEqual(401, self.ask("GET", "/api/v1/status")[0])               # from now on one logs in
        self.assertEqual(200, self.d.request("GET", "/api/v1/status", token=True)[0])
        self.assertEqual(200, self.d.request("GET", "/metrics")[0])

    def test_a_flood_of_logins(self):
        """Guessing is slowed down; the loop and the halt by file go on meanwhile."""
        self.begin(people=(("op", "operator"),))

        def guess(i):
            return self.ask("POST", "/api/v1/login", None, json.dumps({"name": "op", "password": "guess %d" % i}))[0]

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            codes = list(pool.map(guess, range(200)))
            self.assertTrue(set(codes) <= {401, 429, 503}, set(codes))
            self.assertLessEqual(codes.count(401), 10)
            flood = [pool.submit(guess, i) for i in range(200)]
            with open(os.path.join(self.folder, "data", "halt"), "w", encoding="ascii") as f:
                f.write("li: flood\n")
            self.d.wait_line(component="audit", msg="HALT")
            for f in flood:
                f.result()
        self.assertIn(self.ask("POST", "/api/v1/login", None, json.dumps({"name": "op", "password": PASSWORD}))[0], (429,))
        self.assertNotIn(PASSWORD, self.d.story())
        self.assertNotIn("guess 1", self.d.story())

    def test_a_proxy_and_basic_authentication(self):
        hashed = subprocess.run([harness.BINARY, "user", "hash", "--password-file", self.password_file], stdout=subprocess.PIPE,
                                check=True).stdout.decode().strip()
        basic = os.path.join(self.folder, "basic")
        with open(basic, "w", encoding="ascii") as f:
            f.write("# who\nmonitor:viewer:%s\n" % hashed)
        self.begin('proxies: ["127.0.0.1"], proxy_header: X-Forwarded-User, basic_auth_file: %s' % basic)
        session = self.ask("GET", "/api/v1/session", {"X-Forwarded-User": "op"})[1]["data"]
        self.assertEqual(("proxy", "op", "operator"), (session["kind"], session["name"], session["role"]))
        headers = {"X-Forwarded-User": "op", "X-CSRF-Token": session["csrf"]}
        self.assertEqual(403, self.ask("POST", "/api/v1/halt", {"X-Forwarded-User": "op"}, b"{}")[0])
        self.assertEqual(200, self.ask("POST", "/api/v1/halt", headers, b"{}")[0])
        self.assertEqual(401, self.ask("GET", "/api/v1/status", {"X-Forwarded-User": "<b>"})[0])
        good = {"Authorization": "Basic " + base64.b64encode(("monitor:" + PASSWORD).encode()).decode()}
        for _ in range(3):
            self.assertEqual(200, self.ask("GET", "/api/v1/status", good)[0])
        for text in ("monitor:wrong wrong", "nobody:" + PASSWORD, "monitor", ":", "x" * 400):
            bad = {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}
            self.assertEqual(401, self.ask("GET", "/api/v1/status", bad)[0], text)
        self.assertEqual(401, self.ask("GET", "/api/v1/status", {"Authorization": "Basic !!!"})[0])

    def certificate(self, days, name="cert"):
        paths = [os.path.join(self.folder, name + end) for end in (".crt", ".key")]
        openssl = shutil.which("openssl")
        if not openssl:
            self.skipTest("openssl is not installed")
        subprocess.run([openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                        str(days), "-subj", "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout",
                        paths[1]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return paths

    def tls(self, path, cafile=None, headers=None):
        context = ssl.create_default_context(cafile=cafile)
        if not cafile:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        c = http.client.HTTPSConnection(self.d.host, self.d.port, timeout=30, context=context)
        c.request("GET", path, headers=headers or {})
        r = c.getresponse()
        text = r.read().decode()
        peer = c.sock.getpeercert() if cafile else None
        c.close()
        return r, text, peer

    def test_tls(self):
        cert, key = self.certificate(30)
        self.begin("cert_file: %s, key_file: %s" % (cert, key))
        r, text, _ = self.tls("/-/healthy", cert)
        self.assertEqual((200, "trimtab is healthy.\n"), (r.status, text))
        self.assertIn("max-age", r.getheader("Strict-Transport-Security"))
        with self.assertRaises((http.client.HTTPException, OSError)):
            self.d.request("GET", "/-/healthy")                                   # plain words on the TLS port
        with self.assertRaises(ssl.SSLError):
            old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
            old.maximum_version = ssl.TLSVersion.TLSv1_1
            http.client.HTTPSConnection(self.d.host, self.d.port, timeout=30, context=old).request("GET", "/")
        cli = subprocess.run([harness.BINARY, "status", "--data", os.path.join(self.folder, "data")], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, check=False)
        self.assertEqual(0, cli.returncode, cli.stderr)                           # it knows the daemon by its key
        new_cert, new_key = self.certificate(30, "renewed")
        seen = len(self.d.lines)
        os.replace(new_key, key)
        os.replace(new_cert, cert)
        self.d.wait_line(component="tls", msg="certificate loaded", subject="/CN=renewed", after=seen)
        self.assertEqual("renewed", self.tls("/", cert)[2]["subject"][0][0][1])
        with open(key, "w", encoding="ascii") as f:
            f.write("no key\n")
        self.d.wait_line(component="tls", msg="the new certificate is not usable; the old one stays")
        self.assertEqual("renewed", self.tls("/", cert)[2]["subject"][0][0][1])

    def test_an_expired_certificate(self):
        """Served all the same, with a loud line: browsers refuse it, and halt has to work."""
        cert, key = self.certificate(30)
        faketime = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=9)).strftime("%Y%m%d%H%M%SZ")
        past = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=2)).strftime("%Y%m%d%H%M%SZ")
        folder = os.path.join(self.folder, "ca")
        os.makedirs(folder)
        with open(os.path.join(folder, "index"), "w", encoding="ascii"):
            pass
        with open(os.path.join(folder, "ca.cnf"), "w", encoding="ascii") as f:
            f.write("[ca]\ndefault_ca=c\n[c]\ndatabase=%s/index\nnew_certs_dir=%s\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n"
                    "x509_extensions=e\n[p]\ncommonName=supplied\n[e]\nsubjectAltName=IP:127.0.0.1\n" % (folder, folder))
        request = os.path.join(folder, "r.csr")
        run = lambda *a: subprocess.run(a, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        run("openssl", "req", "-new", "-key", key, "-subj", "/CN=old", "-out", request)
        old = os.path.join(self.folder, "old.crt")
        run("openssl", "ca", "-batch", "-config", os.path.join(folder, "ca.cnf"), "-cert", cert, "-keyfile", key, "-in", request,
            "-out",
            old, "-startdate", faketime, "-enddate", past, "-notext")
        self.begin("cert_file: %s, key_file: %s" % (old, key))
        self.d.wait_line(component="tls", msg="the certificate has expired: browsers will refuse it")
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.tls("/-/healthy", cert)
        self.assertEqual(200, self.tls("/-/healthy")[0].status)
        p = subprocess.run([harness.BINARY, "halt", "--all", "--reason", "test", "--data", os.path.join(self.folder, "data")],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual((0, b""), (p.returncode, p.stderr))

    def test_what_needs_tls(self):
        config = self.config()
        with open(config, "a", encoding="ascii") as f:
            f.write("listen: 0.0.0.0:0\n")
        p = subprocess.run([harness.BINARY, "serve", "--config", config, "--data", os.path.join(self.folder, "data")],
                           stderr=subprocess.PIPE, check=False)
        self.assertEqual(1, p.returncode)
        self.assertIn(b"passwords would cross the network in the clear", p.stderr)


if __name__ == "__main__":
    unittest.main()
