#!/usr/bin/env python3
"""What VictoriaMetrics takes on disk for the samples of a file in exposition format with times.
usage: store_peer.py FILE     prints: VERSION BYTES_OF_SAMPLES BYTES_OF_ALL_FILES
All is flushed and merged, and the server has ended, before the bytes are counted."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

PIECE = 8 << 20


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def pieces(path):
    with open(path, "rb") as f:
        while True:
            piece = f.read(PIECE) + f.readline()
            if not piece:
                return
            yield piece


def ask(url, body=None):
    with urllib.request.urlopen(url, data=body, timeout=60) as answer:
        return answer.read().decode()


def pause(server):
    """A moment, or until the server ends."""
    try:
        server.wait(0.05)
    except subprocess.TimeoutExpired:
        pass


def wait_for(url, server):
    end = time.monotonic() + 30
    while time.monotonic() < end and server.poll() is None:
        try:
            return ask(url)
        except OSError:
            pause(server)
    sys.exit("victoria-metrics does not answer")


def bytes_below(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def main():
    port, folder = free_port(), tempfile.mkdtemp(prefix="trimtab-bench-")
    base = "http://127.0.0.1:%d" % port
    server = subprocess.Popen(
        ["victoria-metrics", "-storageDataPath=" + folder, "-retentionPeriod=100y", "-httpListenAddr=127.0.0.1:%d" % port,
         "-loggerLevel=ERROR"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(base + "/health", server)
        for piece in pieces(sys.argv[1]):
            ask(base + "/api/v1/import/prometheus", piece)
        ask(base + "/internal/force_flush")
        ask(base + "/internal/force_merge")
        end = time.monotonic() + 60
        while time.monotonic() < end and re.search(r"vm_active_force_merges [1-9]", ask(base + "/metrics")):
            pause(server)
        version = subprocess.run(["dpkg-query", "-Wf", "${Version}", "victoria-metrics"], stdout=subprocess.PIPE, text=True).stdout
        server.terminate()
        server.wait(60)
        print(version.split("+")[0] or "?", bytes_below(os.path.join(folder, "data")), bytes_below(folder))
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


main()
