// What changed since a person was asked, each a sentence. Pure.
import type { Change } from "../api/types";
import { t, word } from "../i18n/i18n";
import { heard } from "../i18n/said";

const arrow = (text: string): string => text.replace(" -> ", " \u2192 ");

export function changeText(c: Change): string {
  const p = { name: c.name ?? "", then: c.then, now: c.now, by: c.by ?? "" };
  switch (c.what) {
    case "ended": {
      const end = word("request-end", c.now);
      if (c.by) return t("change.ended-by", { ...p, end });
      return c.reason ? t("change.ended-why", { end, why: word("reason", c.reason) }) : t("change.ended", { end });
    }
    case "incident":
      return t("change.incident");
    case "symptom":
      return t(c.now === "unknown" ? "change.symptom-unknown" : "change.symptom", p);
    case "gate":
      return t("change.gate", { gate: word("gate", c.name), why: word("reason", c.name) });
    case "policy":
      return t("change.policy");
    case "mode":
      return t("change.mode", { then: word("mode", c.then), now: word("mode", c.now) });
    case "plan":
      return t("change.plan", { then: arrow(c.then), now: arrow(c.now) });
    default:
      return t("change.value", { ...p, then: heard(c.then), now: heard(c.now) });
  }
}
