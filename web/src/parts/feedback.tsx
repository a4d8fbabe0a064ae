// What people say about an incident: false alarm, real, real and helped. It feeds the published rate of false alarms.
import type { JSX } from "preact";
import { seg } from "../api/client";
import type { AuditRecord, Story } from "../api/types";
import { t, word } from "../i18n/i18n";
import { ask } from "./act";
import { When } from "./basic";

const VERDICTS = ["false", "true", "useful"] as const;

function askFeedback(s: Story, verdict: (typeof VERDICTS)[number], again: () => void): void {
  ask({
    title: t("feedback.title"),
    button: word("feedback", verdict),
    path: `/api/v1/incidents/${seg(s.service)}/${String(s.incident)}/feedback`,
    body: { verdict },
    role: "operator",
    reason: "optional",
    reasonKey: "comment",
    text: <p>{t("feedback.text")}</p>,
    done: again,
  });
}

export function Feedback(p: { of: Story; again: () => void }): JSX.Element {
  const said = [...(p.of.records as AuditRecord[])].reverse().find((r) => r.kind === "FEEDBACK");
  return (
    <section class="feedback">
      <h2>{t("feedback.title")}</h2>
      {said && (
        <div class="said">
          {t("feedback.said", { by: said.by ?? "?", verdict: word("feedback-short", String(said.outcome)) })}{" "}
          <When at={said.at} long />
          {said.note && <div class="quote">{said.note}</div>}
        </div>
      )}
      <p class="acts no-print">
        {VERDICTS.map((v) => (
          <button
            key={v}
            type="button"
            class="small secondary"
            onClick={() => {
              askFeedback(p.of, v, p.again);
            }}
          >
            {word("feedback", v)}
          </button>
        ))}
      </p>
    </section>
  );
}
