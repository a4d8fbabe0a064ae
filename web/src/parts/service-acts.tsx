// What a person can do to one service, each a sentence on a button.
import type { JSX } from "preact";
import type { Line, Service } from "../api/types";
import { t } from "../i18n/i18n";
import { status } from "../state/live";
import { ask } from "./act";
import { Link } from "./basic";
import { askHalt, askResume } from "./halt";

function path(s: Service, verb: string): string {
  return `/api/v1/services/${encodeURIComponent(s.service)}/${verb}`;
}

function askRetry(s: Service): void {
  ask({
    title: t("retry.title", { service: s.service }),
    button: t("retry.button"),
    path: path(s, "retry"),
    role: "operator",
    reason: "optional",
    text: <p>{t("retry.text")}</p>,
  });
}

function askNormal(s: Service): void {
  ask({
    title: t("normal.title", { service: s.service }),
    button: t("normal.button"),
    path: path(s, "normal-now"),
    role: "operator",
    reason: "optional",
    text: <p>{t("normal.text")}</p>,
  });
}

export function askCancel(service: string, a: Line["action"]): void {
  if (!a) return;
  ask({
    title: t("cancel.title", { knob: a.knob, from: a.from, to: a.to }),
    button: t("cancel.button", { knob: a.knob, from: a.from }),
    path: `/api/v1/services/${encodeURIComponent(service)}/cancel`,
    body: { action: a.id },
    role: "operator",
    reason: "needed",
    text: <p>{t("cancel.text")}</p>,
  });
}

function Press(p: { text: string; act: () => void; kind?: string }): JSX.Element {
  return (
    <button type="button" class={p.kind ?? "secondary"} onClick={p.act}>
      {p.text}
    </button>
  );
}

export function ServiceActs(p: { of: Service }): JSX.Element {
  const s = p.of;
  const running = s.action !== null && !s.state.startsWith("undo-") && !s.halted;
  const held = s.state === "person" || s.knobs.some((k) => k.unacknowledged);
  const all = status.value?.halt.all ?? false;
  return (
    <p class="acts">
      {s.request && <Link to="/inbox">{t("overview.decide")}</Link>}
      {running && s.action && (
        <Press
          kind=""
          text={t("cancel.short", { knob: s.action.knob, from: s.action.from })}
          act={() => {
            askCancel(s.service, s.action);
          }}
        />
      )}
      {held && (
        <Press
          text={t("retry.button")}
          act={() => {
            askRetry(s);
          }}
        />
      )}
      {(held || s.incident) && (
        <Press
          text={t("normal.button")}
          act={() => {
            askNormal(s);
          }}
        />
      )}
      {!all && s.halted && (
        <Press
          text={t("resume.button-one", { service: s.service })}
          act={() => {
            askResume(s.service);
          }}
        />
      )}
      {!all && !s.halted && (
        <Press
          kind="quiet-danger"
          text={t("halt.button-one", { service: s.service })}
          act={() => {
            askHalt(s.service);
          }}
        />
      )}
      {running && (
        <Press
          kind="quiet-danger"
          text={t("halt.button-undo")}
          act={() => {
            askHalt(s.service, true);
          }}
        />
      )}
    </p>
  );
}
