// Lists of the daemon's records ("signal value, ...", "gate: note; ...", "cause verdict; ...") in the reader's language. Pure.
import { hasWord, t, word } from "../i18n/i18n";
import { heard } from "../i18n/said";
import { parseValues } from "./rule";

export function valuesText(list: string | null | undefined): string {
  const all = parseValues(list);
  if (all.length === 0) return list ?? "";
  return all.map((v) => t("quoted.value", { name: v.name, value: word("why", v.value) })).join(t("quoted.comma"));
}

/** "evidence-before: 8 of 30 points; cooling (batch_max up): until 04:10 UTC"; a note may hold a semicolon itself. */
export function gatesText(list: string | null | undefined): string {
  if (!list) return "";
  const out: { name: string; knob: string; note: string }[] = [];
  for (const part of list.split("; ")) {
    const m = /^([a-z0-9-]+)(?: \(([^()]+) (up|down)\))?(?:: (.*))?$/.exec(part);
    const last = out[out.length - 1];
    if (m && hasWord("gate", m[1] ?? ""))
      out.push({
        name: word("gate", m[1]),
        knob: m[2] ? t("service.try", { knob: m[2], direction: word("direction", m[3]) }) : "",
        note: m[4] ?? "",
      });
    else if (last) last.note += `; ${part}`;
    else return list;
  }
  return out
    .map((g) => {
      const key = g.knob
        ? g.note
          ? "quoted.gate-knob-note"
          : "quoted.gate-knob"
        : g.note
          ? "quoted.gate-note"
          : "quoted.gate";
      return t(key, { ...g, note: heard(g.note) });
    })
    .join(t("quoted.semicolon"));
}

export function causesText(list: string | null | undefined): string {
  if (!list) return "";
  return list
    .split("; ")
    .map((part) => {
      const at = part.lastIndexOf(" ");
      if (at < 0) return part;
      return t("story.cause-line", { cause: part.slice(0, at), verdict: word("cause-verdict", part.slice(at + 1)) });
    })
    .join(t("quoted.semicolon"));
}
