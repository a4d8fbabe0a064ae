// Audit records: one line each, all fields below, and the proof to take along.
import type { JSX } from "preact";
import type { AuditRecord } from "../api/types";
import { hasWord, span, t, word } from "../i18n/i18n";
import { formula, heard } from "../i18n/said";
import { causesText, gatesText, valuesText } from "../story/quoted";
import { Empty, Link, When } from "./basic";
import { incidentHref } from "../state/url";

const HEAD = new Set(["seq", "kind", "meaning", "at"]);
const TIMES = new Set(["onset", "since", "deadline", "expiry", "deployed"]);
const SPANS = new Set(["settle", "window", "up"]);

/** Words of the daemon's tables, and its lists; all else is a sentence or a name. */
const AREAS: Record<string, string> = {
  verdict: "verdict",
  outcome: "outcome",
  direction: "direction",
  mode: "mode",
  class: "class",
  reason: "reason",
  read_class: "read-class",
};
const LISTS: Record<string, (text: string) => string> = {
  values: valuesText,
  gates: gatesText,
  causes: causesText,
  rule: formula,
};

function text(key: string, value: unknown): string {
  if (typeof value === "string") {
    const area = AREAS[key];
    if (area) return word(area, value);
    return (LISTS[key] ?? heard)(value);
  }
  if (typeof value === "number") return SPANS.has(key) ? span(value / 1e6) : String(value);
  return JSON.stringify(value);
}

/** What changed or who asked, in a line. */
export function recordLine(r: AuditRecord): string {
  const f = (key: string): string => (typeof r[key] === "string" ? (r[key] as string) : "");
  const parts = [f("service")];
  if (r.knob && r.from && r.to) parts.push(t("record.change", { knob: f("knob"), from: f("from"), to: f("to") }));
  else if (r.symptom) parts.push(f("symptom"));
  if (r.verdict) parts.push(word("verdict", f("verdict")));
  if (r.reason) parts.push(word("reason", f("reason")));
  if (r.by && r.by !== "auto") parts.push(t("record.by", { by: f("by") }));
  return parts.filter(Boolean).join(" \u00b7 ");
}

function Fields(p: { of: AuditRecord }): JSX.Element {
  const r = p.of;
  return (
    <dl class="fields">
      {Object.entries(r)
        .filter(([k, v]) => !HEAD.has(k) && v !== null)
        .map(([k, v]) => (
          <div key={k}>
            <dt title={k}>{hasWord("field", k) ? word("field", k) : k}</dt>
            <dd>{TIMES.has(k) && typeof v === "string" ? <When at={v} long /> : text(k, v)}</dd>
          </div>
        ))}
    </dl>
  );
}

export function RecordItem(p: { of: AuditRecord }): JSX.Element {
  const r = p.of;
  return (
    <li>
      <details class="record">
        <summary>
          <span class="seq">{t("record.seq", { n: r.seq })}</span> <When at={r.at} /> <code>{r.kind}</code>{" "}
          <b>{word("record", r.kind)}</b> <span class="rest">{recordLine(r)}</span>
        </summary>
        <Fields of={r} />
        <p class="no-print">
          {r.service && typeof r.incident === "number" && r.incident > 0 && (
            <>
              <Link to={incidentHref(r.service, r.incident)}>{t("overview.incident", { n: r.incident })}</Link>{" "}
            </>
          )}
          <a href={`/api/v1/audit/proof/record/${String(r.seq)}`} download={`record-${String(r.seq)}.tlog-proof`}>
            {t("record.proof")}
          </a>
        </p>
      </details>
    </li>
  );
}

export function RecordList(p: { records: AuditRecord[] }): JSX.Element {
  if (p.records.length === 0) return <Empty>{t("record.none")}</Empty>;
  return (
    <ol class="records">
      {p.records.map((r) => (
        <RecordItem of={r} key={r.seq} />
      ))}
    </ol>
  );
}
