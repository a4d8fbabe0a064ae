// The daemon writes rules with values filled in; here they become sentences. What does not fit the pattern is shown as written.
import { percentSize } from "../fmt/number";
import { lang } from "../state/settings";
import { t, word } from "../i18n/i18n";

export interface Clause {
  signal: string;
  value: string;
  op: string;
  factor: number | null;
  view: string | null;
  reference: string | null;
  limit: string;
  now: string;
}

const NUMBER = String.raw`-?[\d.,]+(?:e-?\d+)?(?: ?(?:ms|us|s|m|h|d|%|B|KB|MB|GB|/s|MB/s|W|C|MHz))?`;
const CLAUSE = new RegExp(
  String.raw`^(\w+) (${NUMBER}) ([<>]=?) (?:([\d.]+) \* (\w+) (${NUMBER}) = )?(${NUMBER}): (true|false|unknown)$`,
);

export function parseRule(rule: string): Clause[] | null {
  const out: Clause[] = [];
  for (const part of rule.split(" and ")) {
    const m = CLAUSE.exec(part.trim());
    if (!m) return null;
    const [, signal = "", value = "", op = "", factor, view, reference, limit = "", now = ""] = m;
    out.push({
      signal,
      value,
      op,
      factor: factor ? Number(factor) : null,
      view: view ?? null,
      reference: reference ?? null,
      limit,
      now,
    });
  }
  return out;
}

const numberOf = (text: string): number => Number(text.replace(/,/g, "").replace(/[^\d.e-].*$/, ""));

export function clauseText(c: Clause): string {
  const p = { signal: c.signal, value: c.value, limit: c.limit, reference: c.reference ?? "" };
  if (c.now === "unknown") return t("rule.unknown", p);
  if (c.reference !== null && c.view !== null) {
    const diff = numberOf(c.value) / numberOf(c.reference) - 1;
    const more = { ...p, percent: percentSize(diff), view: word("view-own", c.view) };
    if (!Number.isFinite(diff)) return t("rule.plain", { ...p, op: c.op });
    return t(diff >= 0 ? "rule.above-view" : "rule.below-view", more);
  }
  return t(c.op.startsWith(">") === (c.now === "true") ? "rule.over" : "rule.under", p);
}

function joined(parts: string[]): string {
  return new Intl.ListFormat(lang.value === "zh" ? "zh-CN" : "en", { type: "conjunction" }).format(parts);
}

/** A sentence of the whole rule, or null when it is not of the simple kind. */
export function ruleText(rule: string | null | undefined): string | null {
  if (!rule) return null;
  const clauses = parseRule(rule);
  return clauses ? joined(clauses.map(clauseText)) : null;
}

/** "latency_p99 46.8 ms, queue_depth 1,040" as pairs; a comma inside a number is not a border. */
export function parseValues(values: string | null | undefined): { name: string; value: string }[] {
  if (!values) return [];
  return values.split(/, (?=[A-Za-z_])/).flatMap((part) => {
    const at = part.indexOf(" ");
    return at > 0 ? [{ name: part.slice(0, at), value: part.slice(at + 1) }] : [];
  });
}

export function pick(values: string | null | undefined, names: string[]): string {
  const all = parseValues(values);
  const found = names.flatMap((n) => all.filter((v) => v.name === n));
  return (found.length ? found : all.slice(0, 3)).map((v) => `${v.name} ${v.value}`).join(", ");
}
