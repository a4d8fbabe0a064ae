"""Reads and proves the audit log without any of trimtab's code: SQLite, SHA-256 and RFC 6962 from the standard library.
Then the stories in it: what each action did, and whether that agrees with what a target saw."""

import base64
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile


class Broken(AssertionError):
    """The log or a story in it is not what was promised."""


def need(good, text, *args):
    if not good:
        raise Broken(text % args if args else text)


def root_of(leaves):
    """RFC 6962: the left part of n leaves is the largest power of two under n."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\1" + root_of(leaves[:k]) + root_of(leaves[k:])).digest()


def newest(data):
    """Records in a live store, as another process sees them: [(seq, dict)]. Only what was committed."""
    db = sqlite3.connect("file:%s?mode=ro" % os.path.join(data, "audit.db"), uri=True, timeout=30)
    try:
        return [(seq, json.loads(blob)) for seq, blob in db.execute("SELECT seq, bytes FROM records ORDER BY seq")]
    finally:
        db.close()


def prove(data):
    """The log of a daemon that has ended, however: all bytes, after each was proven. Works on a copy, since reading a
    store that nobody has open would repair it first."""
    with tempfile.TemporaryDirectory(prefix="trimtab-proof-") as copy:
        for name in ("audit.db", "audit.db-wal"):
            if os.path.exists(os.path.join(data, name)):
                shutil.copy(os.path.join(data, name), copy)
        db = sqlite3.connect(os.path.join(copy, "audit.db"))
        need(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "SQLite finds the file damaged")
        rows = db.execute("SELECT seq, bytes, leaf FROM records ORDER BY seq").fetchall()
        points = db.execute("SELECT size, root, note FROM checkpoint ORDER BY size").fetchall()
        db.close()
    leaves = []
    for i, (seq, blob, leaf) in enumerate(rows):
        need(seq == i and json.loads(blob)["seq"] == str(i), "record %d has number %d", i, seq)
        leaves.append(hashlib.sha256(b"\0" + blob).digest())
        need(leaf == leaves[i], "record %d does not hash to its leaf", i)
    need((points[-1][0] if points else 0) == len(rows), "the newest checkpoint does not cover %d records", len(rows))
    for size, root, note in points[-8:]:
        need(root_of(leaves[:size]) == root, "the root at %d is another one", size)
        need(note.split("\n")[1:3] == [str(size), base64.b64encode(root).decode()], "the note at %d says something else", size)
    published = os.path.join(data, "checkpoint")
    if os.path.exists(published):
        with open(published, encoding="utf-8") as f:
            lines = f.read().split("\n")
        size = int(lines[1])
        need(size <= len(rows), "a checkpoint for %d records was published, %d are left", size, len(rows))
        need(base64.b64encode(root_of(leaves[:size])).decode() == lines[2], "the published root at %d is another one", size)
    return [blob for _, blob, _ in rows]


CAUSES = ("INTENT", "UNDO", "UNDO-RETRY")


def cause_of_write(records):
    """The record that allows a write now: the newest INTENT, UNDO or UNDO-RETRY. It may have an end already: a target that is
    slow takes a write up after the daemon has given up waiting, and that is what late watches are for."""
    return next((seq for seq, r in reversed(records) if r["kind"] in CAUSES), None)


ENDS = {"ABORTED", "FAILED", "UNDONE", "YIELDED", "HELD", "UNDO-FAILED"}


def is_with_a_person(r):
    """From here on trimtab waits: what happens next is for a person to say."""
    held = r["kind"] == "VERDICT" and r.get("outcome") == "held"
    return held or r["kind"] in ("HANDOVER", "YIELDED", "HELD", "UNDO-FAILED", "REQUEST", "HALT")


def stories(records):
    """Action id -> its records, in order."""
    found = {}
    for r in records:
        if "action" in r and r["action"]:
            found.setdefault(r["action"], []).append(r)
    return found


def check_stories(records, value_at_start, value_now, writes):
    """Every write has one story and every story agrees with what the target holds. writes: [(allowed-by-seq, value, took
    effect)]. Returns what the log says the knob holds."""
    used = set()
    for newest_cause, value, _ in writes:
        need(newest_cause is not None, "a write of %s without a durable record that allows it", value)
        # A write that the target took up late, when the next one was allowed already, is the one of the record before.
        mine = [i for i, r in enumerate(records[:newest_cause + 1]) if r["kind"] in CAUSES and
                r.get("action") == records[newest_cause].get("action")]
        seq = next((i for i in reversed(mine) if i not in used), None)
        need(seq is not None, "record %d was carried out twice", newest_cause)
        used.add(seq)
        r = records[seq]
        want = r["to"] if r["kind"] == "INTENT" else r["from"]
        need(float(want) == value, "record %d says %s, the write said %s", seq, want, value)
    believed, told = value_at_start, False
    for action, story in stories(records).items():
        kinds = [r["kind"] for r in story]
        need(kinds.count("INTENT") == 1 and kinds[0] == "INTENT", "%s has %d intents: %s", action, kinds.count("INTENT"), kinds)
        for kind in ("APPLIED", "FAILED", "ABORTED", "UNDONE", "VERDICT", "CANCEL"):
            need(kinds.count(kind) <= 1, "%s has %s twice: %s", action, kind, kinds)
        kept = any(r["kind"] == "VERDICT" and r["verdict"] in ("effective", "partial") for r in story)
        held = any(is_with_a_person(r) for r in story)
        need(kept or held or ENDS & set(kinds), "%s has no end: %s", action, kinds)
        told = told or bool({"YIELDED", "HELD", "UNDO-FAILED"} & set(kinds))
    for r in records:
        if r["kind"] == "APPLIED":
            believed = float(r["to"])
        elif r["kind"] == "UNDONE":
            believed = float(r["from"])
    need(told or believed == value_now, "the log says %s, the target holds %s", believed, value_now)
    return believed
