// The big switch: two steps with a reason, for all services or one; the banner while it is in force.
import type { JSX } from "preact";
import type { Line } from "../api/types";
import { t } from "../i18n/i18n";
import { lines, status } from "../state/live";
import { ask } from "./act";
import { When } from "./basic";
import { Icon } from "./icon";

function WhatStops(p: { undo?: boolean }): JSX.Element {
  return (
    <div class="columns">
      <div>
        <h3>{t("halt.stops")}</h3>
        <ul>
          <li>{t("halt.stops-writes")}</li>
          <li>{t(p.undo ? "halt.stops-except-undo" : "halt.stops-undo")}</li>
          <li>{t("halt.stops-approvals")}</li>
        </ul>
      </div>
      <div>
        <h3>{t("halt.stays")}</h3>
        <ul>
          <li>{t("halt.stays-values")}</li>
          <li>{t("halt.stays-watching")}</li>
          <li>{t("halt.stays-until")}</li>
        </ul>
      </div>
    </div>
  );
}

export function askHalt(service: string | null, undo = false): void {
  const one = service !== null;
  ask({
    title: one ? t("halt.title-one", { service }) : t("halt.title-all", { n: lines.value.length }),
    button: one ? t(undo ? "halt.button-undo" : "halt.button-one", { service }) : t("halt.button-all"),
    path: one ? `/api/v1/services/${encodeURIComponent(service)}/${undo ? "halt-undo" : "halt"}` : "/api/v1/halt",
    role: "operator",
    reason: "needed",
    danger: true,
    text: <WhatStops undo={undo} />,
  });
}

export function askResume(service: string | null): void {
  const one = service !== null;
  ask({
    title: one ? t("resume.title-one", { service }) : t("resume.title-all"),
    button: one ? t("resume.button-one", { service }) : t("resume.button-all"),
    path: one ? `/api/v1/services/${encodeURIComponent(service)}/resume` : "/api/v1/resume",
    role: "admin",
    reason: "needed",
    text: <p>{t("resume.text")}</p>,
  });
}

export function HaltAll(): JSX.Element {
  if (status.value?.halt.all) return <></>;
  return (
    <button
      type="button"
      class="halt"
      onClick={() => {
        askHalt(null);
      }}
    >
      <Icon name="stop" />
      {t("halt.word")}
    </button>
  );
}

export function HaltBanner(): JSX.Element | null {
  const halt = status.value?.halt;
  if (!halt?.all) return null;
  return (
    <div class="banner halted" role="alert">
      <Icon name="stop" />
      <div>
        <strong>{t("halt.banner-all")}</strong>{" "}
        <span>{t("halt.banner-who", { by: halt.by ?? "?", why: halt.why ?? "" })}</span>{" "}
        {halt.since && <When at={halt.since} />}
      </div>
      <button
        type="button"
        onClick={() => {
          askResume(null);
        }}
      >
        {t("resume.button-all")}
      </button>
    </div>
  );
}

export function ServiceHaltBanner(p: {
  of: Pick<Line, "service" | "halted" | "halted_by" | "halted_why" | "halted_since">;
}): JSX.Element | null {
  if (!p.of.halted || status.value?.halt.all) return null;
  return (
    <div class="banner halted" role="alert">
      <Icon name="stop" />
      <div>
        <strong>{t("halt.banner-one", { service: p.of.service })}</strong>{" "}
        <span>{t("halt.banner-who", { by: p.of.halted_by ?? "?", why: p.of.halted_why ?? "" })}</span>{" "}
        {p.of.halted_since && <When at={p.of.halted_since} />}
      </div>
      <button
        type="button"
        onClick={() => {
          askResume(p.of.service);
        }}
      >
        {t("resume.button-one", { service: p.of.service })}
      </button>
    </div>
  );
}
