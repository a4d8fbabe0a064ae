// Freeze and maintenance windows: which are there, until when and by whom; open one, end one.
import type { JSX } from "preact";
import { seg } from "../api/client";
import type { FreezeWindow } from "../api/types";
import { t, word } from "../i18n/i18n";
import { useLoad } from "../state/load";
import { ask } from "./act";
import { Badge, Empty, Show, When } from "./basic";

const LENGTHS = ["30m", "1h", "2h", "8h", "24h", "7d"];

function askOpen(kind: "freeze" | "maintenance", service: string | null, again: () => void): void {
  const name = service ?? t("window.everything");
  ask({
    title: t(kind === "freeze" ? "window.freeze-title" : "window.maintenance-title", { name }),
    button: t(kind === "freeze" ? "window.freeze-button" : "window.maintenance-button"),
    path: "/api/v1/windows",
    body: service ? { kind, service } : { kind, all: true },
    choice: {
      key: "for",
      label: t("window.for"),
      first: "2h",
      options: LENGTHS.map((value) => ({ value, text: word("length", value) })),
    },
    role: "operator",
    reason: "needed",
    reasonKey: "comment",
    text: <p>{t(kind === "freeze" ? "window.freeze-text" : "window.maintenance-text")}</p>,
    done: again,
  });
}

function askEnd(w: FreezeWindow, again: () => void): void {
  ask({
    title: t("window.end-title", { id: w.id }),
    button: t("window.end-button", { id: w.id }),
    path: `/api/v1/windows/${seg(w.id)}`,
    method: "DELETE",
    role: "operator",
    reason: "none",
    text: <p>{t("window.end-text")}</p>,
    done: again,
  });
}

function Item(p: { of: FreezeWindow; again: () => void }): JSX.Element {
  const w = p.of;
  return (
    <li>
      <Badge tone={w.in_force ? "warn" : "plain"}>{t(w.in_force ? "window.in-force" : "window.later")}</Badge>{" "}
      <b>{word("window-kind", w.kind)}</b> {w.id} <span>{w.all ? t("window.everything") : w.services.join(", ")}</span>{" "}
      {w.in_force && w.until && (
        <>
          {t("window.until")} <When at={w.until} long />
        </>
      )}
      {!w.in_force && w.changes && (
        <>
          {t("window.from")} <When at={w.changes} long />
        </>
      )}{" "}
      {w.by && <small>{t("record.by", { by: w.by })}</small>}
      {w.source === "configuration" && <small> {t("window.of-file")}</small>}
      {w.comment && <div class="quote">{w.comment}</div>}
      {w.source === "person" && (
        <button
          type="button"
          class="small secondary"
          onClick={() => {
            askEnd(w, p.again);
          }}
        >
          {t("window.end-button", { id: w.id })}
        </button>
      )}
    </li>
  );
}

/** service null: all windows; else those that hold for it. */
export function Windows(p: { service: string | null }): JSX.Element {
  const kinds = ["FREEZE", "MAINTENANCE", "WINDOW-END", "POLICY"];
  const list = useLoad<{ windows: FreezeWindow[] }>(
    "/api/v1/windows",
    (e) => e.kind === "service" || kinds.includes(e.record?.kind ?? ""),
    3000,
  );
  return (
    <section class="windows">
      <h2>{t("window.title")}</h2>
      <Show of={list}>
        {({ windows }) => {
          const all = windows.filter((w) => p.service === null || w.all || w.services.includes(p.service));
          if (all.length === 0) return <Empty>{t("window.none")}</Empty>;
          return (
            <ul class="plain">
              {all.map((w) => (
                <Item of={w} again={list.again} key={w.id} />
              ))}
            </ul>
          );
        }}
      </Show>
      <p class="acts">
        {(["freeze", "maintenance"] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            class="secondary"
            onClick={() => {
              askOpen(kind, p.service, list.again);
            }}
          >
            {t(kind === "freeze" ? "window.freeze-open" : "window.maintenance-open")}
          </button>
        ))}
      </p>
    </section>
  );
}
