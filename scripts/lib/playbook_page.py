"""The page of the shipped playbook, from presets/playbook.yaml, and what each preset can feed of it."""

import glob
import os
import re

import tree

PLAYBOOK = "presets/playbook.yaml"
SIGNALS = "examples/tests/every-signal.yaml"

# Group: title, and why its rows turn a knob or leave it to a person.
GROUPS = {
    "outage": ("Outage", """Another disease: nothing below can be believed, and nothing is tuned until it is over."""),
    "recent-release": ("Release", """It can imitate every other row, and tuning would hide it. A release incident is advice only
until it closes: rolling a version back is a person's decision."""),
    "data-quality": ("Data quality", """Heavier or different work makes every deeper layer look guilty. It is reported to the owner
of the data, never tuned away."""),
    "upstream-data": ("Upstream data", """Late input fills queues while CPU and GPU look fine, and a knob of this service adds load
to what is already slow. Advice, but where a cache, a pool or fewer retries of our own relieve the upstream."""),
    "cache-too-small": ("Cache", """A local cache that no longer holds the working set."""),
    "demand": ("Demand", """Retries and dead work keep everything below busy after the trigger is gone. Limits of callers belong
to callers; retries, queues and time-outs are asked for."""),
    "one-bad-instance": ("One bad instance", """A knob of the fleet cannot mend one of its members: all of it is advice."""),
    "host-or-io-bound": ("Host and I/O", """A starved CPU makes GPU and queues look slow. Quotas and neighbours are other people's
budget: advice; threads and instances of our own may go down."""),
    "ceiling": ("Ceilings", """A limit is only worth moving when it binds and nothing above is true: here most automatic moves
live."""),
    "compute-bound": ("The rest", """Utilisation follows from all others and names no cause alone; so these come last."""),
}
INTRO = """# The shipped playbook

{rows} causes, what speaks for each, what is done about it. {only} of them are advice only. A service takes it over with
`include: [default]`; a row of its own with the same `id` replaces the one here. How rows are written: [rules.md](rules.md).

How it is read:

- **Evidence** is one rule: what stands for the cause and what stands against its look-alikes, joined by `and`. A value that is
  unknown makes the row unknown, never true; one that ranks above the best true row is waited for, then a person is told.
- A row whose signals are not configured **drops out**; `trimtab check` counts them.
- **Rank**: groups in the order of this page, most upstream first; inside a group the larger share of the growth of latency,
  then more known signals, then the smaller blast radius. A share under 10 % puts a row behind all others.
- **What is done** is tried in order, one notch at a time, only if the knob is in the whitelist and every gate is open. Up only
  while more than 85 % of the limit is in use. Taken back to the exact old value unless it helped.
- Moves of tier 1 (batch, concurrency, cache) may be automatic. Those of tier 2 (time-outs, queues, retries, replicas, anything
  that restarts) are asked for. Tier 3 (versions, quotas, GPU memory) is words.
- **Never** is what makes it worse or only hides it; a test holds the moves against it.
- **Seen in**: `repo#n` is an issue or pull request on GitHub, mostly one reporter's word, then how many independent sources
  there are. Thresholds are starting points, not measurements.

Each row has a test in which it is the cause and its two nearest neighbours are not (`src/locate/neighbours_test.c`), and cases
that misled real teams run through the whole loop (`examples/tests/look-alikes.yaml`).
"""
KEYS = ("cause", "symptom", "group", "when", "share", "try", "note", "never", "source")
WORD = re.compile(r"[a-z][a-z0-9_]*[a-z0-9]")


def items(text):
    """Of a list in brackets, quotes taken off."""
    found = re.findall(r'"([^"]*)"|([^,\[\]"]+)', text[1:-1])
    return [quoted or plain.strip() for quoted, plain in found if quoted or plain.strip()]


def parse(text):
    """Symptoms as (name, rule, True when it only reports) and rows as dicts, in the order of the file."""
    symptoms, rows, section, reports = [], [], "", False
    for line in text.splitlines():
        top = re.fullmatch(r"(\w+):", line)
        section = top[1] if top else section
        reports = reports or "these report and never" in line
        pair = re.match(r"  (  |- )?([\w-]+): (.*)$", line)
        if not pair:
            continue
        if section == "symptoms":
            symptoms.append((pair[2], pair[3], reports))
        elif pair[2] == "id":
            rows.append({"id": pair[3]})
        elif pair[2] in KEYS:
            rows[-1][pair[2]] = pair[3].strip('"') if pair[2] == "source" else pair[3]
    return symptoms, rows


def vocabulary(text):
    """Signal: (layer, unit), and the names of the knobs."""
    signals = {m[1]: (m[2], m[3].strip('"')) for m in re.finditer(r"^      (\w+): \{layer: (\w+), unit: ([^,}]+)", text, re.M)}
    return signals, set(re.findall(r"^      (\w+): \{class:", text, re.M))


def cell(text):
    return text.replace("|", "\\|")


def table(head, body):
    return (["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
            + ["| " + " | ".join(cell(c) for c in row) + " |" for row in body])


def action(row):
    moves = [t for t in items(row["try"]) if not t.startswith("advise:")]
    words = [t.removeprefix("advise:").strip() for t in items(row["try"]) if t.startswith("advise:")]
    text = ", then ".join(f"`{m}`" for m in moves)
    said = "; ".join(words)
    if not moves:
        return f"advice only: {said}"
    return f"{text}; else a person: {said}" if said else text


def evidence(row, signals):
    words = [w for w in dict.fromkeys(WORD.findall(row["when"])) if w in signals]
    layers = list(dict.fromkeys(signals[w][0] for w in words))
    text = f"`{row['when']}`"
    if row.get("symptom"):
        text += f"; only for symptom {row['symptom']}"
    if row.get("share"):
        text += f"; weighed by the share of `{row['share']}`"
    return text, ", ".join(layers) or "context"


def group_tables(rows, signals):
    lines = []
    for group, (title, why) in GROUPS.items():
        body = []
        for row in (r for r in rows if r["group"] == group):
            text, layers = evidence(row, signals)
            never = ", ".join(f"`{n}`" if re.fullmatch(r"\w+ (up|down)", n) else n for n in items(row["never"]))
            body.append((f"**{row['cause']}**", text, layers, action(row), never, row.get("note", ""), row["source"]))
        if body:
            lines += ["", f"## {title}", "", *why.splitlines(), ""] + table(
                ["cause", "evidence", "layers", "what is done", "never", "told from its look-alikes", "seen in"], body)
    return lines


def preset_names(text):
    return set(re.findall(r"^  (\w+):", text, re.M))


def asked(row, names):
    return [w for w in dict.fromkeys(WORD.findall(row["when"])) if w in names]


def presets_table(root, rows, names):
    body = []
    for path in sorted(glob.glob(os.path.join(root, "presets", "*.yaml"))):
        name = os.path.basename(path).removesuffix(".yaml")
        if name == "playbook":
            continue
        with open(path, encoding="utf-8") as f:
            have = preset_names(f.read())
        awake = [r["id"] for r in rows if asked(r, names) and all(w in have for w in asked(r, names))]
        body.append((name, str(len(awake)), ", ".join(awake) or "none by itself"))
    return body


def signals_table(root, rows, signals):
    given = {}
    for path in sorted(glob.glob(os.path.join(root, "presets", "*.yaml"))):
        name = os.path.basename(path).removesuffix(".yaml")
        with open(path, encoding="utf-8") as f:
            for word in preset_names(f.read()) if name != "playbook" else ():
                given.setdefault(word, []).append(name)
    body = []
    for name, (layer, unit) in signals.items():
        uses = [r["id"] for r in rows if name in asked(r, signals)]
        if uses:
            body.append((f"`{name}`", layer, unit or "-", ", ".join(given.get(name, ["-"])), ", ".join(uses)))
    return body


def page(root):
    symptoms, rows = parse(tree.read(root, PLAYBOOK))
    signals, knobs = vocabulary(tree.read(root, SIGNALS))
    only = sum(1 for r in rows if all(t.startswith("advise:") for t in items(r["try"])))
    lines = INTRO.format(rows=len(rows), only=only).splitlines()
    lines += group_tables(rows, signals)
    lines += ["", "## Symptoms", "", "Two views or two signals must agree before an incident opens.", ""] + table(
        ["symptom", "rule", "leads to"], [(n, f"`{w}`", "a report only" if r else "a cause") for n, w, r in symptoms])
    lines += ["", "## Signals", "", "The names that rows ask for. A signal of your own by the same name wakes its rows.", ""]
    lines += table(
        ["signal", "layer", "unit", "presets that have it", "rows that ask for it"], signals_table(root, rows, signals))
    lines += ["", "## What one preset alone can tell", "",
              "Rows whose signals and knobs are all in that preset, optional ones included; together with others more.",
              "`recent-release` needs none and is in each.", ""] + table(
        ["preset", "rows", "which"], presets_table(root, rows, set(signals) | knobs))
    return lines
