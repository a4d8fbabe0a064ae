// What a service's line says: how bad, which word and icon, one sentence about now. Pure.
import type { Line } from "../api/types";
import { exact } from "../fmt/number";
import { span, t, word } from "../i18n/i18n";

export type Mood = "person" | "asks" | "undoing" | "acting" | "open" | "halted" | "suspect" | "waiting" | "normal";

const BY_STATE: Record<string, Mood> = {
  learning: "waiting",
  recovering: "waiting",
  watching: "normal",
  suspect: "suspect",
  open: "open",
  person: "person",
  awaiting: "asks",
  intent: "acting",
  writing: "acting",
  readback: "acting",
  settling: "acting",
  observing: "acting",
  "undo-intent": "undoing",
  "undo-writing": "undoing",
  "undo-readback": "undoing",
  halted: "halted",
};

export function moodOf(l: Pick<Line, "state" | "halted">): Mood {
  return l.halted ? "halted" : (BY_STATE[l.state] ?? "waiting");
}

// A halted service that suffers has nobody to help it: that is worse than one being treated.
const ORDER: Mood[] = ["person", "asks", "undoing", "acting", "open", "halted", "suspect", "waiting", "normal"];

export function badness(l: Line): number {
  const mood = moodOf(l);
  if (mood === "halted" && l.incident) return 0;
  return 1 + ORDER.indexOf(mood);
}

export function worstFirst(a: Line, b: Line): number {
  return badness(a) - badness(b) || excess(b) - excess(a) || a.service.localeCompare(b.service);
}

/** How far the judging latency is above its own normal, as a share. */
export function excess(l: Line): number {
  const now = l.latency?.now.value;
  const base = l.latency?.baseline.value;
  return now !== null && now !== undefined && base ? now / base - 1 : 0;
}

export function matches(l: Line, search: string, onlyNotNormal: boolean): boolean {
  if (onlyNotNormal && moodOf(l) === "normal") return false;
  if (!search) return true;
  const hay = `${l.service} ${l.environment ?? ""} ${l.group ?? ""} ${l.state} ${l.mode}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((w) => hay.includes(w));
}

type Left = (until: string | null | undefined) => number | null;

function actionSentence(l: Line, left: Left): string {
  const a = l.action;
  if (!a) return word("state-now", l.state);
  const p = { knob: a.knob, from: exact(a.from, ""), to: exact(a.to, "") };
  const seconds = left(a.until);
  const ready = seconds !== null && seconds > 0;
  const time = ready ? span(seconds) : "";
  if (l.state.startsWith("undo-")) return t("line.undoing", p);
  if (l.state === "observing") return ready ? t("line.observing", { ...p, left: time }) : t("line.judging", p);
  if (l.state === "settling") return ready ? t("line.settling", { ...p, left: time }) : t("line.settling-open", p);
  return t("line.writing", p);
}

/** One sentence about now. `left` gives the seconds until a time of the daemon's clock. */
export function sentenceOf(l: Line, left: Left): string {
  const mood = moodOf(l);
  if (mood === "halted") {
    const p = { by: l.halted_by ?? "?", why: l.halted_why ?? "" };
    return l.incident ? t("line.halted-suffering", { ...p, symptom: l.incident.symptom }) : t("line.halted", p);
  }
  if (mood === "acting" || mood === "undoing") return actionSentence(l, left);
  if (l.request) {
    const seconds = left(l.request.expires);
    const p = { knob: l.request.knob, from: l.request.from, to: l.request.to };
    return t("line.asks", { ...p, left: seconds === null ? "?" : span(seconds) });
  }
  if (l.incident && (mood === "open" || mood === "person")) {
    const p = { symptom: l.incident.symptom, reason: word("reason", l.reason) };
    return t(mood === "person" ? "line.person" : "line.open", p);
  }
  return word("state-now", l.state);
}
