// One service: what is going on, the four layers over one time axis, why nothing happens now, its knobs and targets.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { seg } from "../api/client";
import type { Line, Series, Service } from "../api/types";
import { t, word } from "../i18n/i18n";
import { heard } from "../i18n/said";
import { Badge, Choice, Heading, Link, MoodBadge, Show, When } from "../parts/basic";
import { Chart } from "../parts/chart";
import { ChartTable, MarkList } from "../parts/chart-table";
import { GateTree } from "../parts/gates";
import { ServiceHaltBanner } from "../parts/halt";
import { CauseTable, KnobTable, SignalTable, SymptomList, TargetTable, ViewTable } from "../parts/service-tables";
import { ServiceActs } from "../parts/service-acts";
import { Windows } from "../parts/windows";
import { Icon } from "../parts/icon";
import { daemonNow, lines, secondsUntil } from "../state/live";
import { useLoad, type Loaded } from "../state/load";
import { listen } from "../state/stream";
import { incidentHref, query, route, setQuery } from "../state/url";
import { moodOf, sentenceOf } from "../story/line";

const REFRESH_MS = 1500;
const LAYERS = ["request", "processing", "system", "data"];
const RANGES: Record<string, number> = {
  "15m": 900,
  "1h": 3600,
  "3h": 10_800,
  "6h": 21_600,
  "24h": 86_400,
  "7d": 604_800,
};

export interface Range {
  from: number;
  to: number;
  live: boolean;
}

/** From the address: a fixed window (from, to in seconds) or a living one (range). */
export function rangeOf(range: string, from: string, to: string, now: number): Range {
  const a = Number(from);
  const b = Number(to);
  if (from && to && Number.isFinite(a) && Number.isFinite(b) && b > a) return { from: a, to: b, live: false };
  return { from: now - (RANGES[range] ?? 3600), to: now, live: true };
}

function useSeries(name: string): { series: Loaded<Series>; range: Range } {
  const [turn, setTurn] = useState(0);
  const fixed = query("from") + query("to");
  const key = `${name} ${query("range")} ${fixed}`;
  const range = useMemo(
    () => rangeOf(query("range"), query("from"), query("to"), Math.floor(daemonNow.peek().getTime() / 1000)),
    [key, turn],
  );
  const path = `/api/v1/services/${seg(name)}/series?from=${String(Math.floor(range.from))}&to=${String(Math.ceil(range.to))}`;
  const series = useLoad<Series>(path, undefined, 1000, key);
  useEffect(() => {
    if (!range.live) return;
    let last = 0;
    return listen((e) => {
      if (document.hidden || (e.service !== name && e.kind !== "reset") || Date.now() - last < REFRESH_MS) return;
      last = Date.now();
      setTurn((n) => n + 1);
    });
  }, [range.live, name]);
  return { series, range };
}

function zoom(from: number, to: number): void {
  setQuery({ from: String(Math.round(from)), to: String(Math.round(to)), range: "" });
}

function RangePicker(p: { range: Range }): JSX.Element {
  const value = p.range.live ? query("range") || "1h" : "fixed";
  const options = Object.keys(RANGES).map((v) => ({ value: v, text: word("range", v) }));
  if (value === "fixed") options.push({ value, text: t("range.fixed") });
  return (
    <Choice
      label={t("range.label")}
      value={value}
      options={options}
      set={(v) => {
        setQuery({ range: v, from: "", to: "" });
      }}
    />
  );
}

function Charts(p: { data: Series; range: Range }): JSX.Element {
  const span: [number, number] = [p.range.from, p.range.to];
  const layers = LAYERS.map((layer) => ({ layer, list: p.data.signals.filter((s) => s.layer === layer) }));
  const filled = layers.filter((l) => l.list.length > 0);
  const missing = layers.filter((l) => l.list.length === 0);
  return (
    <>
      {filled.map(({ layer, list }, i) => (
        <section class="layer" key={layer} aria-label={word("layer", layer)}>
          <h3>
            {word("layer", layer)} <small>{word("layer-question", layer)}</small>
          </h3>
          {list.map((s, k) => (
            <Chart
              key={s.name}
              of={s}
              marks={p.data.marks}
              range={span}
              showTime={i === filled.length - 1 && k === list.length - 1}
              height={layer === "request" ? 110 : 76}
              select={zoom}
            />
          ))}
        </section>
      ))}
      {missing.length > 0 && (
        <p class="hint">
          {t("service.layers-missing", { layers: missing.map((l) => word("layer", l.layer)).join(", ") })}
        </p>
      )}
      <p class="hint">{t("chart.key")}</p>
      <MarkList marks={p.data.marks} />
      <ChartTable signals={p.data.signals} />
    </>
  );
}

function Facts(p: { of: Service }): JSX.Element {
  const s = p.of;
  return (
    <dl class="facts">
      <div>
        <dt>{t("service.mode")}</dt>
        <dd>{word("mode", s.mode)}</dd>
      </div>
      <div>
        <dt>{t("service.version")}</dt>
        <dd>{s.model_version ?? t("unknown")}</dd>
      </div>
      <div>
        <dt>{t("service.deployed")}</dt>
        <dd>{s.deployed ? <When at={s.deployed} /> : t("service.never-deployed")}</dd>
      </div>
      <div>
        <dt>{t("service.in-a-row")}</dt>
        <dd>{t("service.in-a-row-of", { n: s.automatic_changes_in_a_row })}</dd>
      </div>
    </dl>
  );
}

function Now(p: { of: Service; line: Line | null }): JSX.Element {
  const s = p.of;
  const line = p.line ?? { ...s, decision: s.decision.kind, reason: s.decision.reason };
  return (
    <section class="now" aria-label={t("service.now")}>
      <p class="lead">
        <MoodBadge mood={moodOf(line)} /> {sentenceOf(line, secondsUntil)}{" "}
        {s.incident && (
          <Link to={incidentHref(s.service, s.incident.incident)}>
            {t("overview.incident", { n: s.incident.incident })}
          </Link>
        )}
      </p>
      <ServiceActs of={s} />
      <Facts of={s} />
    </section>
  );
}

function Why(p: { of: Service }): JSX.Element {
  const d = p.of.decision;
  return (
    <section>
      <h2>{t("gates.title")}</h2>
      <p>
        <Badge tone={d.kind === "noop" ? "plain" : "info"}>{word("decision", d.kind)}</Badge> {word("reason", d.reason)}
        {d.plan && (
          <> {t("gates.plan", { knob: d.plan.knob, from: d.plan.from, to: d.plan.to, cause: d.plan.cause ?? "" })}</>
        )}
        {d.advice && <> {t("gates.advice", { cause: d.advice_cause ?? "", advice: heard(d.advice) })}</>}
      </p>
      <GateTree gates={d.gates} leftOut={d.gates_left_out} />
      <h3>{t("service.symptoms")}</h3>
      <SymptomList of={p.of.symptoms} />
      {p.of.causes.length > 0 && <h3>{t("service.causes")}</h3>}
      {p.of.causes.length > 0 && <CauseTable of={p.of.causes} />}
    </section>
  );
}

export function ServicePage(): JSX.Element {
  const name = route.value.args[0] ?? "";
  const service = useLoad<Service>(`/api/v1/services/${seg(name)}`, (e) => e.service === name, 1500);
  const { series, range } = useSeries(name);
  const line = lines.value.find((l) => l.service === name) ?? null;
  return (
    <>
      <Heading title={name}>
        <RangePicker range={range} />
      </Heading>
      <Show of={service}>
        {(s) => (
          <>
            <ServiceHaltBanner of={line ?? s} />
            {s.frozen && !s.halted && (
              <div class="banner polling" role="status">
                <Icon name="lock" />
                <div>{t("window.banner", { why: heard(s.frozen_why) })}</div>
              </div>
            )}
            <Now of={s} line={line} />
          </>
        )}
      </Show>
      <div class="split">
        <section class="charts" aria-label={t("service.charts")}>
          <h2 class="sr">{t("service.charts")}</h2>
          <Show of={series}>{(data) => <Charts data={data} range={range} />}</Show>
        </section>
        <div class="side">
          <Show of={service}>
            {(s) => (
              <>
                <Why of={s} />
                <section>
                  <h2>{t("service.knobs")}</h2>
                  <KnobTable of={s.knobs} />
                </section>
                <Windows service={s.service} />
              </>
            )}
          </Show>
        </div>
      </div>
      {service.data && (
        <>
          <SignalTable of={service.data.signals} />
          <ViewTable of={service.data.views} imported={service.data.imported} />
          <TargetTable of={service.data.targets} />
        </>
      )}
    </>
  );
}
