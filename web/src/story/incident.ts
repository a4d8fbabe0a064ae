// The story of an incident as sentences under the six headings of the loop. Pure; the page and the Markdown copy print it.
import type { Time } from "../api/types";
import type { Attempt, Story, VerdictNumber } from "../api/types";
import { percentSize, quantity, relative } from "../fmt/number";
import { secondsBetween } from "../fmt/time";
import { span, t, word, type Key } from "../i18n/i18n";
import { formula, heard } from "../i18n/said";
import { changeText } from "./changes";
import { causesText, gatesText, valuesText } from "./quoted";
import { ruleText } from "./rule";

export type HeadName =
  | "noticed"
  | "located"
  | "decided"
  | "asked"
  | "did"
  | "watched"
  | "verdict"
  | "undone"
  | "would"
  | "ended";

export interface Fact {
  label: string;
  text: string;
}

export interface Step {
  head: HeadName;
  at: Time;
  text: string;
  facts: Fact[];
  seq: number | null;
  attempt: Attempt | null;
  pending: boolean;
  /** What the folded evidence is called; null: just "evidence". */
  fold: string | null;
}

type Left = (until: Time) => number | null;

function fact(label: string, text: string | null | undefined): Fact[] {
  return text ? [{ label, text }] : [];
}

function step(head: HeadName, at: Time, text: string, more: Partial<Step> = {}): Step {
  return { head, at, text, facts: [], seq: null, attempt: null, pending: false, fold: null, ...more };
}

function noticed(s: Story): Step {
  const n = s.noticed;
  const rule = ruleText(n.rule);
  const agree = n.rule ? n.rule.split(" and ").length : 0;
  const text = rule
    ? t(agree > 1 ? "story.noticed-agree" : "story.noticed", { rule, symptom: n.symptom })
    : t("story.noticed-plain", { symptom: n.symptom, rule: n.rule ?? "" });
  return step("noticed", n.at, text, {
    seq: n.seq,
    facts: [
      ...fact("story.fact.rule", formula(n.rule ?? "")),
      ...fact("story.fact.values", valuesText(n.values)),
      ...fact("story.fact.findings", heard(n.note)),
      ...fact("story.fact.version", s.model_version),
      ...fact("story.fact.last-change", heard(s.last_change)),
      ...fact("story.fact.policy", s.policy),
    ],
  });
}

export function countCauses(causes: { verdict: string }[]): Record<string, number> {
  const c: Record<string, number> = { all: causes.length, chosen: 0, excluded: 0, unknown: 0, other: 0 };
  for (const x of causes) {
    if (x.verdict === "chosen") c.chosen = (c.chosen ?? 0) + 1;
    else if (x.verdict === "unknown") c.unknown = (c.unknown ?? 0) + 1;
    else if (x.verdict === "excluded" || x.verdict === "false") c.excluded = (c.excluded ?? 0) + 1;
    else c.other = (c.other ?? 0) + 1;
  }
  return c;
}

function located(s: Story): Step | null {
  const l = s.located;
  if (!l) return null;
  const live = s.live?.causes ?? [];
  const causes = live.length ? live : l.causes;
  const chosen = causes.find((c) => c.verdict === "chosen")?.name ?? l.chosen;
  const c = countCauses(causes);
  const text = chosen ? t("story.located", { cause: chosen }) : t("story.located-none");
  const checked = t("story.causes-checked", {
    all: c.all ?? 0,
    chosen: c.chosen ?? 0,
    excluded: c.excluded ?? 0,
    unknown: c.unknown ?? 0,
    other: c.other ?? 0,
  });
  const why = live.find((x) => x.verdict === "chosen")?.explain;
  // The newest look at the causes may be later than the decision; the story keeps its order.
  const first = s.attempts[0]?.decided.at ?? null;
  const late = first !== null && l.at !== null && l.at > first;
  return step("located", late ? s.noticed.at : l.at, text, {
    seq: l.seq,
    fold: checked,
    facts: [
      ...fact("story.fact.why", formula(why ?? "")),
      ...causes.map((x) => ({
        label: "",
        text: t("story.cause-line", { cause: x.name, verdict: word("cause-verdict", x.verdict) }),
      })),
    ],
  });
}

function decided(s: Story, a: Attempt): Step {
  const waited = secondsBetween(s.onset, a.did.intent_at ?? a.decided.at);
  const p = {
    knob: a.knob,
    from: a.from,
    to: a.to,
    cause: a.cause ?? "?",
    waited: waited === null ? "?" : span(waited),
  };
  const text = t(a.automatic ? "story.decided-auto" : "story.decided-person", { ...p, by: a.by ?? "?" });
  return step("decided", a.decided.at, text, {
    seq: a.decided.seq,
    attempt: a,
    fold: t("story.fold.decided"),
    facts: [
      ...fact("story.fact.rule", formula(a.decided.rule ?? "")),
      ...fact("story.fact.values", valuesText(a.decided.values)),
      ...fact("story.fact.gates", gatesText(a.decided.gates)),
      ...fact("story.fact.note", heard(a.decided.note)),
    ],
  });
}

function asked(a: Attempt): Step[] {
  const out: Step[] = [];
  if (a.asked)
    out.push(
      step("asked", a.asked.at, t("story.asked", { knob: a.knob, from: a.from, to: a.to }), {
        seq: a.asked.seq,
        attempt: a,
      }),
    );
  if (a.approved) {
    const key = a.approved.reason ? "story.approved-why" : "story.approved";
    out.push(
      step("asked", a.approved.at, t(key, { by: a.approved.by, why: a.approved.reason ?? "" }), {
        seq: a.approved.seq,
      }),
    );
  }
  return out;
}

const DID = ["applied", "failed", "aborted", "yielded", "held", "pending"] as const;

function did(a: Attempt): Step {
  const d = a.did;
  const outcome = DID.find((x) => x === d.outcome) ?? "pending";
  const p = { knob: a.knob, from: a.from, to: a.to, read: d.read ?? "?" };
  return step("did", d.at ?? d.intent_at, t(`story.did-${outcome}`, p), {
    seq: d.seq,
    attempt: a,
    pending: outcome === "pending",
    fold: t("story.fold.did"),
    facts: [
      ...fact("story.fact.read", d.read),
      ...fact("story.fact.read-class", d.read_class ? word("read-class", d.read_class) : null),
      ...fact("story.fact.version-read", d.version),
      ...fact("story.fact.by-hand", heard(d.by_hand)),
      ...(d.late ? fact("story.fact.late", t("story.late")) : []),
    ],
  });
}

/** The verdict's own sentence names the unit of the judging latency; the numbers come without. */
function judgeUnit(a: Attempt): string {
  return /latency [\d.,]+(?: \S+)? -> [\d.,]+ (\w+)/i.exec(a.verdict?.note ?? "")?.[1] ?? "";
}

function number(v: VerdictNumber, unit: string): string {
  const own = v.name === "queue" ? "" : unit;
  const p = { name: word("verdict-number", v.name), before: quantity(v.before, own), after: quantity(v.after, own) };
  const diff = relative(v.after, v.before);
  if (v.before === null) return t("story.number-after", p);
  if (diff === null || Math.abs(diff) < 0.005) return t("story.number", p);
  return t(diff > 0 ? "story.number-up" : "story.number-down", { ...p, percent: percentSize(diff) });
}

export const numbersText = (a: Attempt): string =>
  (a.verdict?.numbers ?? []).map((v) => number(v, judgeUnit(a))).join("; ");

function watched(a: Attempt, left: Left): Step | null {
  const w = a.watched;
  if (!w.began && !a.verdict) return null;
  const p = { settle: span(w.settle_seconds ?? 0), window: span(w.window_seconds ?? 0) };
  if (a.verdict) {
    const numbers = numbersText(a);
    return step("watched", w.began, t(numbers ? "story.watched" : "story.watched-bare", { ...p, numbers }), {
      attempt: a,
    });
  }
  const rest = left(w.until);
  const began = left(w.began);
  const key = began !== null && began > 0 ? "story.settling" : "story.watching";
  const text = rest === null || rest <= 0 ? t("story.judging", p) : t(key, { ...p, left: span(rest) });
  return step("watched", w.began, text, { attempt: a, pending: true });
}

function verdict(a: Attempt): Step {
  const v = a.verdict;
  if (!v) return step("verdict", null, t("story.verdict-pending"), { attempt: a, pending: true });
  const text = t("story.verdict", {
    verdict: word("verdict", v.verdict),
    meaning: word("verdict-meaning", v.verdict),
    outcome: word("outcome", v.outcome),
  });
  return step("verdict", v.at, text, {
    seq: v.seq,
    attempt: a,
    facts: [
      ...fact("story.fact.numbers", numbersText(a)),
      ...fact("story.fact.before", heard(v.before)),
      ...fact("story.fact.after", heard(v.after)),
      ...fact("story.fact.note", heard(v.note)),
    ],
  });
}

const UNDO = ["undone", "retry", "failed", "pending"] as const;

function undone(a: Attempt): Step | null {
  const u = a.undo;
  if (!u) return null;
  const outcome = UNDO.find((x) => x === u.outcome) ?? "pending";
  const p = { knob: a.knob, from: a.from, by: u.by ?? "?" };
  return step("undone", u.done_at ?? u.at, t(`story.undo-${outcome}`, p), {
    seq: u.seq,
    attempt: a,
    pending: outcome === "pending" || outcome === "retry",
    facts: fact("story.fact.read", u.read),
  });
}

function attemptSteps(s: Story, a: Attempt, left: Left): Step[] {
  const aborted = a.did.outcome === "aborted" || a.did.outcome === "failed";
  const steps = [...asked(a), decided(s, a), did(a)];
  const w = watched(a, left);
  if (w) steps.push(w);
  if (!aborted) steps.push(verdict(a));
  const u = undone(a);
  if (u) steps.push(u);
  return steps;
}

function ended(s: Story): Step[] {
  if (!s.ended) return [];
  const e = s.ended;
  const key = e.kind === "CLOSED" ? "story.closed" : "story.handover";
  const length = secondsBetween(s.onset, e.at);
  return [
    step("ended", e.at, t(key, { span: length === null ? "?" : span(length), note: heard(e.note) }), {
      seq: e.seq,
      facts: [...fact("story.fact.causes-list", causesText(e.causes)), ...fact("story.fact.note", heard(e.note))],
    }),
  ];
}

/** By their place in the log; a step that is not there yet stays behind the one before it. */
function inOrder(steps: Step[]): Step[] {
  let last = 0;
  return steps
    .map((x) => ({ x, key: (last = x.seq ?? last) }))
    .sort((a, b) => a.key - b.key)
    .map(({ x }) => x);
}

/** What is going on when no attempt has begun yet: the gate that is shut, in words. */
function waiting(s: Story): Step[] {
  const d = s.live?.decision;
  if (!d || s.attempts.some((a) => !a.verdict && a.did.outcome !== "aborted" && a.did.outcome !== "failed")) return [];
  if (s.ended?.kind === "HANDOVER") return [];
  return [step("decided", null, t("story.waiting", { reason: word("reason", d.reason) }), { pending: true })];
}

/** Requests that led to nothing: who ended them, or what was different by then. */
function requests(s: Story): Step[] {
  return s.requests.flatMap((r) => {
    const p = { knob: r.knob ?? "?", from: r.from ?? "?", to: r.to ?? "?", by: r.by ?? "?", why: r.note ?? "" };
    const key = r.end === "rejected" && r.note ? "story.request-rejected-why" : `story.request-${r.end}`;
    const text = t(key as Key, { ...p, reason: word("reason", r.reason) });
    return [
      step("asked", r.at, t("story.asked", p), { seq: r.seq }),
      step("asked", r.end_at, text, {
        seq: r.end_seq,
        fold: r.changes.length ? t("story.fold.changes", { n: r.changes.length }) : null,
        facts: r.changes.map((c) => ({ label: "", text: changeText(c) })),
      }),
    ];
  });
}

export function storySteps(s: Story, left: Left): Step[] {
  const l = located(s);
  const would = s.would.map((w) =>
    step(
      "would",
      w.at,
      t("story.would", { knob: w.knob ?? "?", from: w.from ?? "?", to: w.to ?? "?", cause: w.cause ?? "?" }),
      {
        seq: w.seq,
        facts: fact("story.fact.note", heard(w.note)),
      },
    ),
  );
  return [
    noticed(s),
    ...(l ? [l] : []),
    ...inOrder([...would, ...requests(s), ...s.attempts.flatMap((a) => attemptSteps(s, a, left))]),
    ...waiting(s),
    ...ended(s),
  ];
}

/** Labels of facts are keys of the catalogue. */
export function factLabel(key: string): string {
  return word(key.slice(0, key.lastIndexOf(".")), key.slice(key.lastIndexOf(".") + 1));
}
