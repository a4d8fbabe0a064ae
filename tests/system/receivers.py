"""Receivers of notices that check what they get byte by byte, and answer as their vendors do. No test by itself."""

import base64
import hashlib
import hmac
import http.server
import json
import re
import ssl
import threading
import urllib.parse

GOOD = {"dingtalk": (200, b'{"errcode":0,"errmsg":"ok"}'), "wecom": (200, b'{"errcode":0,"errmsg":"ok"}'),
        "feishu": (200, b'{"code":0,"msg":"success","data":{}}'), "slack": (200, b"ok"),
        "grafana": (200, b'{"message":"Annotation added","id":7}'), "webhook": (200, b"")}


def mac(key, message):
    return base64.b64encode(hmac.new(key.encode(), message.encode(), hashlib.sha256).digest()).decode()


class Faults(AssertionError):
    pass


def need(ok, what):
    if not ok:
        raise Faults(what)


def exact(o, required, optional=()):
    """An object has these keys, of these types, and no other."""
    need(isinstance(o, dict), "%r is no object" % (o,))
    need(set(o) >= set(required) and set(o) <= set(required) | set(optional), "keys %s" % sorted(o))
    for key, kind in required.items():
        need(isinstance(o[key], kind), "%s is %r" % (key, o[key]))


def markdown(text, most):
    need(0 < len(text.encode()) <= most, "%d bytes" % len(text.encode()))
    need("<at" not in text and "<@" not in text, "somebody is called: %s" % text)
    need(not re.search(r"[\x00-\x08\x0b-\x1f]", text), "control characters")


def check_dingtalk(r, h, body, secret):
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(r).query, strict_parsing=True)
    stamp = query["timestamp"][0]
    need(len(stamp) == 13, "timestamp in ms: %s" % stamp)
    need(query["sign"][0] == mac(secret, stamp + "\n" + secret), "sign")
    need(h["Content-Type"] == "application/json; charset=utf-8", h["Content-Type"])
    exact(body, {"msgtype": str, "actionCard": dict})
    need(body["msgtype"] == "actionCard", body["msgtype"])
    exact(body["actionCard"], {"title": str, "text": str, "singleTitle": str, "singleURL": str})
    markdown(body["actionCard"]["text"], 20000)
    need(body["actionCard"]["text"].startswith("#### "), "headline")
    return body["actionCard"]["title"], body["actionCard"]["text"], body["actionCard"]["singleURL"]


def check_feishu(r, h, body, secret):
    exact(body, {"timestamp": str, "sign": str, "msg_type": str, "card": dict})
    need(re.fullmatch(r"\d{10}", body["timestamp"]), "timestamp in s")
    need(body["sign"] == mac(body["timestamp"] + "\n" + secret, ""), "sign")
    need(body["msg_type"] == "interactive", body["msg_type"])
    exact(body["card"], {"schema": str, "header": dict, "body": dict})
    need(body["card"]["schema"] == "2.0", "schema")
    exact(body["card"]["header"], {"title": dict, "template": str})
    need(body["card"]["header"]["template"] in ("red", "orange", "blue", "green"), "colour")
    text, button = body["card"]["body"]["elements"]
    exact(text, {"tag": str, "content": str})
    markdown(text["content"], 20000)
    exact(button, {"tag": str, "text": dict, "type": str, "behaviors": list})
    exact(button["behaviors"][0], {"type": str, "default_url": str})
    return body["card"]["header"]["title"]["content"], text["content"], button["behaviors"][0]["default_url"]


def check_wecom(r, h, body, secret):
    exact(body, {"msgtype": str, "markdown": dict})
    exact(body["markdown"], {"content": str})
    text = body["markdown"]["content"]
    need(len(text.encode()) <= 4096, "too long")
    need(set(re.findall(r"<[^>]*>", text)) <= {'<font color="warning">', "</font>"}, "marks")
    need("<@" not in text, "somebody is called")
    return text.split("\n")[0], text, re.findall(r"\]\(([^)]*)\)", text)[0]


def check_slack(r, h, body, secret):
    exact(body, {"text": str, "blocks": list})
    head, section, actions = body["blocks"]
    need(head["type"] == "header" and len(head["text"]["text"]) <= 150, "header")
    need(section["text"]["type"] == "mrkdwn" and len(section["text"]["text"]) <= 3000, "section")
    need(not re.search(r"<(?!/)|&(?!amp;|lt;|gt;)", section["text"]["text"]), "not escaped")
    button = actions["elements"][0]
    exact(button, {"type": str, "text": dict, "url": str})
    return head["text"]["text"], section["text"]["text"], button["url"]


def check_grafana(r, h, body, secret):
    need(r == "/api/annotations", r)
    need(h["Authorization"] == "Bearer " + secret, "token")
    exact(body, {"time": int, "tags": list, "text": str})
    need(body["time"] > 1.6e12 and body["tags"][0] == "trimtab", "time or tags")
    return body["text"].split("\n")[0], body["text"], None


def check_webhook(r, h, body, secret):
    t, v1 = re.fullmatch(r"t=(\d{10}),v1=([0-9a-f]{64})", h["X-Trimtab-Signature"]).groups()
    need(v1 == hmac.new(secret.encode(), t.encode() + b"." + h["raw"], hashlib.sha256).hexdigest(), "signature")
    need(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", h["X-Trimtab-Delivery"]), "delivery")
    exact(body, {"version": str, "status": str, "receiver": str, "groupKey": str, "groupLabels": dict, "commonLabels": dict,
                 "commonAnnotations": dict, "externalURL": str, "truncatedAlerts": int, "alerts": list, "trimtab": dict})
    exact(body["trimtab"], {"format": int, "delivery": str, "receiver": str, "title": str, "seq": (int, type(None)),
                            "record": (dict, type(None))}, {"link": str})
    need(body["trimtab"]["delivery"] == h["X-Trimtab-Delivery"], "two identities")
    return body["trimtab"]["title"], body["alerts"][0]["annotations"]["description"], body["trimtab"].get("link")


CHECKS = {"dingtalk": check_dingtalk, "feishu": check_feishu, "wecom": check_wecom, "slack": check_slack, "grafana": check_grafana,
          "webhook": check_webhook}


class Receiver:
    """One server; a message is checked before it counts. `script` holds the next answers: (status, body, headers)."""

    def __init__(self, kind, secret, tls=None):
        outer = self
        self.kind, self.secret, self.got, self.faults, self.script, self.gate = kind, secret, [], [], [], threading.Event()
        self.gate.set()
        self.changed = threading.Condition()

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_POST(self):
                outer.take(self)

            def do_GET(self):
                outer.faults.append("GET " + self.path)
                self.send_error(405)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.port = self.server.server_address[1]

    def take(self, handler):
        raw = handler.rfile.read(int(handler.headers["Content-Length"]))
        headers = dict(handler.headers)
        headers["raw"] = raw
        self.gate.wait(60)
        with self.changed:
            try:
                title, text, link = CHECKS[self.kind](handler.path, headers, json.loads(raw), self.secret)
                self.got.append({"title": title, "text": text, "link": link, "raw": raw, "headers": headers})
            except (Faults, KeyError, ValueError, AttributeError, IndexError, TypeError) as e:
                self.faults.append("%s: %r in %r" % (self.kind, e, raw))
            status, body, *more = self.script.pop(0) if self.script else GOOD[self.kind]
            self.changed.notify_all()
        try:
            handler.send_response(status)
            for name, value in (more[0] if more else {}).items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
        except OSError:
            pass

    def wait(self, want, what, timeout=60):
        with self.changed:
            if not self.changed.wait_for(lambda: self.faults or want(self.got), timeout):
                raise AssertionError("%s: %s never came; got %s" % (self.kind, what, [g["title"] for g in self.got]))
        if self.faults:
            raise AssertionError("\n".join(self.faults))

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()
