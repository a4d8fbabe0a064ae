// What tuning has brought, per knob and context; two tunings side by side over the same window.
import type { JSX } from "preact";
import type { TuningGroup, TuningRow } from "../api/types";
import { signed } from "../fmt/number";
import { t, word } from "../i18n/i18n";
import { Badge, Empty, Heading, Link, QueryChoice, Scroll, ServiceChoice, Show, type Tone, When } from "../parts/basic";
import { SideBySide } from "../parts/side";
import { useLoad } from "../state/load";
import { incidentHref, query, setQuery } from "../state/url";

const TONE: Record<string, Tone> = {
  effective: "good",
  partial: "info",
  ineffective: "plain",
  harmful: "bad",
  inconclusive: "warn",
};

function gain(v: number | null): string {
  return v === null ? t("unknown") : signed(-v);
}

function Groups(p: { of: TuningGroup[] }): JSX.Element {
  if (p.of.length === 0) return <Empty>{t("tuning.none")}</Empty>;
  const cols = ["knob", "cause", "load", "version", "tried", "effective", "gain", "rolled"];
  return (
    <Scroll label={t("tuning.groups")}>
      <table>
        <thead>
          <tr>
            {cols.map((c) => (
              <th scope="col" key={c}>
                {word("tuning-col", c)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {p.of.map((g, i) => (
            <tr key={i}>
              <th scope="row">
                {t("service.try", { knob: g.knob, direction: word("direction", g.direction) })}{" "}
                <small>{g.service}</small>
              </th>
              <td>{g.cause ?? t("unknown")}</td>
              <td>{word("load", g.load ?? "unknown")}</td>
              <td>{g.model_version ?? t("unknown")}</td>
              <td class="num">{g.tried}</td>
              <td>{t("tuning.of", { n: g.effective + g.partial, tried: g.tried })}</td>
              <td class="num">{gain(g.median_gain)}</td>
              <td class="num">{g.rolled_back}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function pick(action: string): void {
  const a = query("a");
  const b = query("b");
  if (a === action) setQuery({ a: b, b: "" });
  else if (b === action) setQuery({ b: "" });
  else if (!a) setQuery({ a: action });
  else setQuery({ b: action });
}

function ActionRow(p: { of: TuningRow }): JSX.Element {
  const r = p.of;
  const chosen = query("a") === r.action || query("b") === r.action;
  return (
    <tr>
      <td>
        <label class="check">
          <input
            type="checkbox"
            checked={chosen}
            onChange={() => {
              pick(r.action);
            }}
          />
          <span class="sr">{t("tuning.compare-this", { action: r.action })}</span>
        </label>
      </td>
      <th scope="row">{t("record.change", { knob: r.knob, from: r.from, to: r.to })}</th>
      <td>
        {r.incident !== null ? (
          <Link to={incidentHref(r.service, r.incident)}>
            {t("incident.title", { service: r.service, n: r.incident })}
          </Link>
        ) : (
          r.service
        )}
      </td>
      <td>{r.cause ?? ""}</td>
      <td>{r.applied ? <When at={r.applied} /> : <When at={r.intended} />}</td>
      <td>
        {r.verdict ? (
          <Badge tone={TONE[r.verdict] ?? "plain"}>{word("verdict", r.verdict)}</Badge>
        ) : (
          t("tuning.no-verdict")
        )}
      </td>
      <td class="num">{gain(r.gain)}</td>
      <td>{word("load", r.load ?? "unknown")}</td>
      <td>{r.automatic ? t("tuning.auto") : (r.by ?? "")}</td>
    </tr>
  );
}

function Actions(p: { of: TuningRow[] }): JSX.Element {
  if (p.of.length === 0) return <Empty>{t("tuning.no-actions")}</Empty>;
  const cols = ["compare", "change", "incident", "cause", "at", "verdict", "gain", "load", "by"];
  return (
    <Scroll label={t("tuning.actions")}>
      <table>
        <thead>
          <tr>
            {cols.map((c) => (
              <th scope="col" key={c}>
                {word("tuning-col", c)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {p.of.map((r) => (
            <ActionRow of={r} key={r.action} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface Tuning {
  actions: TuningRow[];
  groups: TuningGroup[];
}

function Filters(p: { of: Tuning }): JSX.Element {
  const found = (key: "knob" | "cause"): string[] =>
    [...new Set([query(key), ...p.of.actions.map((a) => a[key] ?? "")])].filter(Boolean).sort();
  return (
    <div class="filters">
      <ServiceChoice />
      <QueryChoice name="knob" label={t("knob.name")} values={found("knob")} />
      <QueryChoice name="cause" label={word("tuning-col", "cause")} values={found("cause")} />
    </div>
  );
}

export function TuningPage(): JSX.Element {
  const q = new URLSearchParams({ limit: "200" });
  for (const key of ["service", "knob", "cause"]) if (query(key)) q.set(key, query(key));
  const tuning = useLoad<Tuning>(`/api/v1/tuning?${q.toString()}`, (e) => e.kind === "action", 3000);
  const a = query("a");
  const b = query("b");
  return (
    <>
      <Heading title={t("nav.tuning")} />
      <p>{t("tuning.lead")}</p>
      <Show of={tuning}>
        {(d) => (
          <>
            <Filters of={d} />
            <h2>{t("tuning.groups")}</h2>
            <Groups of={d.groups} />
            <h2>{t("tuning.actions")}</h2>
            <p class="hint">{t("tuning.pick-two")}</p>
            <Actions of={d.actions} />
          </>
        )}
      </Show>
      {a && b && <SideBySide a={a} b={b} />}
    </>
  );
}
