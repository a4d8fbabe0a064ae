"""scripts/docs writes what the tables say, notices a stale page, and loses no row."""

import os
import subprocess
import sys
import unittest

from support import TOP, ScriptTest

REASONS = """/* REASON(ID, "code", ...): said in a comment, no row. */
REASON(HALTED, "halted", SERVICE, "writes, all of them, are halted", "lift it with: trimtab resume")
REASON(TIER_2, "tier-2", PERSON, "a | b", "approve")
RULED(TIER_2, "tier", "waits for a person")
"""
RECORDS = """#ifndef FIELD
#define FIELD(...)
#endif
FIELD(SEQ, seq, U64)              /* position in the log */
FIELD(KIND, kind, NAME)
KIND(HALT, "HALT", "stopped")
"""
STATES = """/* ROW(number, "number", ...) */
ROW(490, "49a", IN_FLIGHT | IN(H), ON(HALT), guard_490, act_490, "halt --undo, by name", "same", "HALT; epoch + 1")
"""
ROUTES = """/* ROUTE(METHOD, "/path", ROLE, function, ...) */
ROUTE(GET, "/-/healthy", NONE, api_get_healthy, "operate", "200 as long as it answers", "a | b", NONE, NONE)
"""
PLAYBOOK = """symptoms:
  late: a_ms > 5 ms and bb > 1
  # Resources: these report and never lead to a change.
  full: cc > 0.9 and bb > 1
playbook:
  # ---- one
  - id: first
    cause: first-cause
    group: ceiling
    when: a_ms > 2 * baseline(a_ms) or bb > 3
    share: a_ms
    try: [a_max up, "advise: look, then think"]
    never: [a_max down, "any other"]
    source: x#1; 1 source
  - id: second
    cause: second-cause
    group: outage
    symptom: late
    when: cc > 0.5
    try: ["advise: wait"]
    note: it | is late
    never: ["any knob"]
    source: "reasoned: yes"
"""
SIGNALS = """    signals:
      a_ms: {layer: request, unit: ms}
      bb: {layer: data, unit: ""}
      cc: {layer: system, unit: ratio, bad: down}
    knobs:
      a_max: {class: batch, min: 1}
"""


class Docs(ScriptTest):
    def setUp(self):
        super().setUp()
        self.write("src/model/reason.def", REASONS)
        self.write("src/model/record.def", RECORDS)
        self.write("src/loop/control_table.def", STATES)
        self.write("src/api/route.def", ROUTES)
        self.write("presets/playbook.yaml", PLAYBOOK)
        self.write("examples/tests/every-signal.yaml", SIGNALS)
        self.write("presets/some.yaml", "signals:\n  a_ms:\n    layer: request\n  bb:\n    layer: data\n")

    def docs(self, *args):
        return self.run_script("docs", "--root", self.root, *args)

    def page(self, name):
        with open(f"{self.root}/docs/reference/{name}", encoding="utf-8") as f:
            return f.read()

    def test_rows_become_rows(self):
        self.assert_clean(self.docs())
        self.assertIn("### halted\n\nWrites, all of them, are halted.\n\n- What to do: lift it with: trimtab resume.\n"
                      "- Ruled by: nothing in the configuration.\n", self.page("reasons.md"))
        self.assertIn("### tier-2\n\nA | b.\n\n- What to do: approve.\n- Ruled by: [`tier`](", self.page("reasons.md"))
        self.assertIn("- In `trimtab explain`: waits for a person.\n", self.page("reasons.md"))
        self.assertIn("| GET | `/-/healthy` | none | 200 as long as it answers. | a \\| b |", self.page("routes.md"))
        self.assertIn("| `seq` | U64 | position in the log |\n| `kind` | NAME |  |\n", self.page("records.md"))
        self.assertIn("| `HALT` | stopped |", self.page("records.md"))
        self.assertIn("| 49a | in flight, H | halt --undo, by name | same | HALT; epoch + 1 |", self.page("state-table.md"))
        self.assertNotIn("`code`", self.page("reasons.md"))
        self.assert_clean(self.docs("--check"))

    def test_the_playbook_as_a_page(self):
        self.assert_clean(self.docs())
        with open(f"{self.root}/docs/playbook.md", encoding="utf-8") as f:
            text = f.read()
        self.assertIn("2 causes, what speaks for each, what is done about it. 1 of them are advice only.", text)
        self.assertIn("| **first-cause** | `a_ms > 2 * baseline(a_ms) or bb > 3`; weighed by the share of `a_ms` | request, data | "
                      "`a_max up`; else a person: look, then think | `a_max down`, any other |  | x#1; 1 source |\n", text)
        self.assertIn("| **second-cause** | `cc > 0.5`; only for symptom late | system | advice only: wait | any knob | "
                      "it \\| is late | reasoned: yes |\n", text)
        self.assertIn("| full | `cc > 0.9 and bb > 1` | a report only |", text)
        self.assertIn("| `a_ms` | request | ms | some | first |", text)
        self.assertIn("| some | 1 | first |", text)
        self.assertLess(text.index("## Outage"), text.index("## Ceilings"))

    def test_stale_and_missing_pages_are_found(self):
        self.assert_finds(self.docs("--check"), "docs/reference/reasons.md:1: is not",
                          "docs/reference/records.md:1: is not", "docs/reference/state-table.md:1: is not",
                          "docs/reference/routes.md:1: is not", "docs/playbook.md:1: is not")
        self.assertFalse(os.path.exists(f"{self.root}/docs"))
        self.docs()
        self.write("src/model/reason.def", REASONS.replace("halted\"", "held\""))
        self.assert_finds(self.docs("--check"), "docs/reference/reasons.md:1: is not")

    def test_a_row_over_two_lines_is_not_lost(self):
        self.write("src/model/reason.def", 'REASON(A, "a", STATE,\n       "b", "c")\n')
        done = subprocess.run([sys.executable, f"{TOP}/scripts/docs", "--root", self.root], capture_output=True, text=True)
        self.assertEqual(1, done.returncode)
        self.assertIn("src/model/reason.def: a row of REASON could not be read", done.stderr)


if __name__ == "__main__":
    unittest.main()
