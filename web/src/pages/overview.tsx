// Every service, worst first, one line each: is anything wrong, what is done about it, can I stop it.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Line } from "../api/types";
import { percentSize, quantity } from "../fmt/number";
import { t, word } from "../i18n/i18n";
import { Amount, Empty, ErrorNote, Heading, Link, MoodBadge } from "../parts/basic";
import { askHalt, askResume } from "../parts/halt";
import { askCancel } from "../parts/service-acts";
import { Spark } from "../parts/spark";
import { VirtualList } from "../parts/virtual";
import { lines, loadStatus, secondsUntil, status, statusError } from "../state/live";
import { incidentHref, query, serviceHref, setQuery } from "../state/url";
import { excess, matches, moodOf, sentenceOf, worstFirst } from "../story/line";

export function Undo(p: { of: Line }): JSX.Element | null {
  const l = p.of;
  if (!l.action || l.state.startsWith("undo-") || l.halted) return null;
  return (
    <button
      type="button"
      class="small"
      onClick={() => {
        askCancel(l.service, l.action);
      }}
    >
      {t("cancel.short", { knob: l.action.knob, from: l.action.from })}
    </button>
  );
}

function HaltOne(p: { of: Line }): JSX.Element | null {
  if (status.value?.halt.all) return null;
  const name = p.of.service;
  return p.of.halted ? (
    <button
      type="button"
      class="small secondary"
      aria-label={t("resume.button-one", { service: name })}
      onClick={() => {
        askResume(name);
      }}
    >
      {t("resume.word")}
    </button>
  ) : (
    <button
      type="button"
      class="small quiet-danger"
      aria-label={t("halt.button-one", { service: name })}
      onClick={() => {
        askHalt(name);
      }}
    >
      {t("halt.word-one")}
    </button>
  );
}

function LatencyCell(p: { of: Line }): JSX.Element {
  const l = p.of.latency;
  if (!l) return <span class="latency unknown">{t("overview.no-latency")}</span>;
  const above = excess(p.of);
  return (
    <span class="latency">
      <span class="now">
        {l.signal.replace(/^latency_/, "")} <Amount of={l.now} />
      </span>
      <span class="ref">
        {t("overview.base")} <Amount of={l.baseline} />
        {above > 0.05 && <b>{t("overview.above", { percent: percentSize(above) })}</b>}
      </span>
      {l.objective !== undefined && (
        <span class="ref">
          {t("overview.goal")} {quantity(l.objective, l.now.unit)}
        </span>
      )}
    </span>
  );
}

function Row(p: { of: Line }): JSX.Element {
  const l = p.of;
  const mood = moodOf(l);
  return (
    <div class={`line mood-${mood}`}>
      <span class="name">
        <Link to={serviceHref(l.service)}>{l.service}</Link>
        <small>
          {l.environment ? `${l.environment} · ` : ""}
          {word("mode", l.mode)}
          {l.frozen && ` · ${t(l.maintenance ? "overview.maintenance" : "overview.frozen")}`}
        </small>
      </span>
      <MoodBadge mood={mood} />
      <LatencyCell of={l} />
      <Spark
        values={l.latency?.recent ?? []}
        baseline={l.latency?.baseline.value ?? null}
        label={t("overview.spark", { signal: l.latency?.signal ?? "" })}
      />
      <span class="sentence">
        {sentenceOf(l, secondsUntil)}{" "}
        {l.incident && (
          <Link to={incidentHref(l.service, l.incident.incident)}>
            {t("overview.incident", { n: l.incident.incident })}
          </Link>
        )}
        {l.request && (
          <>
            {" "}
            <Link to="/inbox">{t("overview.decide")}</Link>
          </>
        )}
      </span>
      <span class="acts">
        <Undo of={l} />
        <HaltOne of={l} />
      </span>
    </div>
  );
}

function Filters(p: { shown: number; all: number }): JSX.Element {
  const only = query("only") === "not-normal";
  return (
    <form
      class="filters"
      aria-label={t("overview.search")}
      onSubmit={(e) => {
        e.preventDefault();
      }}
    >
      <label class="check">
        <input
          type="checkbox"
          checked={only}
          onChange={(e) => {
            setQuery({ only: e.currentTarget.checked ? "not-normal" : "" });
          }}
        />
        {t("overview.only")}
      </label>
      <input
        type="search"
        aria-label={t("overview.search")}
        placeholder={t("overview.search")}
        value={query("q")}
        onInput={(e) => {
          setQuery({ q: e.currentTarget.value });
        }}
      />
      <span class="shown" role="status">
        {t("overview.shown", { shown: p.shown, all: p.all })}
      </span>
    </form>
  );
}

export function OverviewPage(): JSX.Element {
  const q = query("q");
  const only = query("only") === "not-normal";
  const all = lines.value;
  const shown = useMemo(() => all.filter((l) => matches(l, q, only)).sort(worstFirst), [all, q, only]);
  if (!status.value) {
    if (statusError.value)
      return <ErrorNote error={statusError.value} again={() => void loadStatus().catch(() => undefined)} />;
    return (
      <p class="loading" aria-busy="true">
        {t("loading")}
      </p>
    );
  }
  return (
    <>
      <Heading title={t("nav.overview")}>
        <Filters shown={shown.length} all={all.length} />
      </Heading>
      {all.length === 0 && <Empty>{t("overview.none")}</Empty>}
      {all.length > 0 && shown.length === 0 && (
        <Empty>{t(only && !q ? "overview.all-normal" : "overview.no-match")}</Empty>
      )}
      <VirtualList
        items={shown}
        keyOf={(l) => l.service}
        row={(l) => <Row of={l} />}
        label={t("overview.list")}
        guess={64}
      />
    </>
  );
}
