// Small parts that every page uses.
import type { ComponentChildren, JSX } from "preact";
import { ApiError } from "../api/client";
import type { Change, Num } from "../api/types";
import { quantity } from "../fmt/number";
import { full, local, utc } from "../fmt/time";
import { span, t, word } from "../i18n/i18n";
import { heard } from "../i18n/said";
import { beat, daemonNow, lines, secondsUntil } from "../state/live";
import type { Loaded } from "../state/load";
import { go, query, setQuery } from "../state/url";
import { changeText } from "../story/changes";
import type { Mood } from "../story/line";
import { Icon, type IconName } from "./icon";

export function Link(p: { to: string; children: ComponentChildren; class?: string; current?: boolean }): JSX.Element {
  const follow = (e: MouseEvent): void => {
    if (e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return;
    e.preventDefault();
    go(p.to);
  };
  return (
    <a href={p.to} class={p.class} aria-current={p.current ? "page" : undefined} onClick={follow}>
      {p.children}
    </a>
  );
}

/** Local time; the full one and UTC on hover and for screen readers' title. */
export function When(p: { at: string | null | undefined; long?: boolean }): JSX.Element {
  if (!p.at) return <span>{t("unknown")}</span>;
  return (
    <time dateTime={p.at} title={`${full(p.at)} = ${utc(p.at)}`}>
      {p.long ? full(p.at) : local(p.at, daemonNow.value)}
    </time>
  );
}

export function Ago(p: { at: string | null | undefined }): JSX.Element {
  const left = secondsUntil(p.at);
  if (left === null) return <span>{t("unknown")}</span>;
  return (
    <time dateTime={p.at ?? ""} title={`${full(p.at)} = ${utc(p.at)}`}>
      {left > 0 ? t("time.in", { span: span(left) }) : t("time.ago", { span: span(-left) })}
    </time>
  );
}

export function Amount(p: { of: Num | null | undefined }): JSX.Element {
  if (!p.of || p.of.value === null) {
    const why = p.of?.why ? word("why", p.of.why) : t("unknown");
    return (
      <span class="unknown" title={why}>
        {t("unknown")}
      </span>
    );
  }
  return <span class="num">{quantity(p.of.value, p.of.unit)}</span>;
}

const MOOD_ICON: Record<Mood, IconName> = {
  person: "person",
  asks: "question",
  undoing: "undo",
  acting: "gear",
  open: "alert",
  halted: "stop",
  suspect: "eye",
  waiting: "clock",
  normal: "check",
};

export function MoodBadge(p: { mood: Mood }): JSX.Element {
  return (
    <span class={`badge mood-${p.mood}`}>
      <Icon name={MOOD_ICON[p.mood]} />
      {word("mood", p.mood)}
    </span>
  );
}

export type Tone = "good" | "bad" | "warn" | "plain" | "info";
const TONE_ICON: Record<Tone, IconName> = { good: "check", bad: "cross", warn: "alert", plain: "dot", info: "info" };

export function Badge(p: { tone: Tone; children: ComponentChildren; icon?: IconName }): JSX.Element {
  return (
    <span class={`badge tone-${p.tone}`}>
      <Icon name={p.icon ?? TONE_ICON[p.tone]} />
      {p.children}
    </span>
  );
}

/** What went wrong, in the daemon's own words where there are some, and what to do. */
export function errorText(e: ApiError): string {
  const words = heard(e.message);
  if (e.lost) return t("error.lost");
  if (e.status === 401) return t("error.login");
  if (e.status === 403) return t(e.reason === "role" ? "error.role" : "error.forbidden", { words });
  if (e.status === 404) return t("error.missing", { words });
  if (e.status === 429) return t("error.locked", { span: span(e.retryAfter ?? 60) });
  if (e.status === 409) return e.changes.length ? t("error.changed") : t("error.state", { words });
  return t("error.other", { words });
}

export function ChangeList(p: { of: Change[] }): JSX.Element | null {
  if (p.of.length === 0) return null;
  return (
    <ul class="changes">
      {p.of.map((c, i) => (
        <li key={i}>{changeText(c)}</li>
      ))}
    </ul>
  );
}

export function ErrorNote(p: { error: ApiError; again?: () => void }): JSX.Element {
  return (
    <div class="note tone-bad" role="alert">
      <Icon name="cross" />
      <div>
        {errorText(p.error)}
        <ChangeList of={p.error.changes} />
      </div>
      {p.again && (
        <button type="button" class="small secondary" onClick={p.again}>
          {t("again")}
        </button>
      )}
    </div>
  );
}

/** Waits, tells an error, or shows the data; data that could not be renewed are greyed with their age. */
export function Show<T>(p: { of: Loaded<T>; children: (data: T) => ComponentChildren }): JSX.Element {
  const { data, error, at, again } = p.of;
  if (!data) {
    if (error) return <ErrorNote error={error} again={again} />;
    return (
      <p class="loading" aria-busy="true">
        {t("loading")}
      </p>
    );
  }
  if (!error) return <>{p.children(data)}</>;
  return (
    <>
      <div class="note tone-warn" role="status">
        <Icon name="clock" />
        <span>{t("stale", { span: span((beat.value - at) / 1000), why: errorText(error) })}</span>
        <button type="button" class="small secondary" onClick={again}>
          {t("again")}
        </button>
      </div>
      <div class="stale">{p.children(data)}</div>
    </>
  );
}

export function Empty(p: { children: ComponentChildren }): JSX.Element {
  return <p class="empty">{p.children}</p>;
}

export function Heading(p: { title: ComponentChildren; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="heading">
      <h1 tabIndex={-1} id="page-title">
        {p.title}
      </h1>
      {p.children}
    </div>
  );
}

/** A wide table scrolls inside its own box, reachable by keyboard. */
export function Scroll(p: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="scroll" role="region" aria-label={p.label} tabIndex={0}>
      {p.children}
    </div>
  );
}

export function Fold(p: { title: ComponentChildren; children: ComponentChildren; open?: boolean }): JSX.Element {
  return (
    <details class="fold" open={p.open}>
      <summary>{p.title}</summary>
      <div>{p.children}</div>
    </details>
  );
}

export function Choice<V extends string>(p: {
  label: string;
  value: V;
  options: { value: V; text: string }[];
  set: (v: V) => void;
}): JSX.Element {
  return (
    <label class="choice">
      <span>{p.label}</span>
      <select
        value={p.value}
        onChange={(e) => {
          p.set(e.currentTarget.value as V);
        }}
      >
        {p.options.map((o) => (
          <option key={o.value} value={o.value}>
            {o.text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A choice that is kept in the address under `name`; "" is all. Further keys are cleared with it. */
export function QueryChoice(p: {
  name: string;
  label: string;
  values: string[];
  text?: (v: string) => string;
  clear?: string[];
}): JSX.Element {
  const options = ["", ...p.values].map((v) => ({ value: v, text: v ? (p.text ?? String)(v) : t("all") }));
  return (
    <Choice
      label={p.label}
      value={query(p.name)}
      options={options}
      set={(v) => {
        setQuery({ ...Object.fromEntries((p.clear ?? []).map((k) => [k, ""])), [p.name]: v });
      }}
    />
  );
}

export function ServiceChoice(p: { clear?: string[] }): JSX.Element {
  const names = lines.value.map((l) => l.service).sort();
  return <QueryChoice name="service" label={t("incidents.service")} values={names} clear={p.clear} />;
}
