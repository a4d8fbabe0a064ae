// Is trimtab itself well: six modules, scrapes, store, reload, TLS.
import type { JSX } from "preact";
import type { Health, ModuleView } from "../api/types";
import { bytes, count, digits } from "../fmt/number";
import { span, t, word } from "../i18n/i18n";
import { heard } from "../i18n/said";
import { Ago, Badge, Empty, Heading, Scroll, Show, When } from "../parts/basic";
import { ask } from "../parts/act";
import { Windows } from "../parts/windows";
import { may } from "../api/client";
import { useLoad } from "../state/load";

function Modules(p: { of: ModuleView[] }): JSX.Element {
  return (
    <ol class="modules">
      {p.of.map((m) => (
        <li key={m.module} class={m.healthy ? "" : "ill"}>
          <b>{word("module", m.module)}</b>
          <Badge tone={m.healthy ? "good" : "bad"}>{t(m.healthy ? "health.beats" : "health.silent")}</Badge>
          <span>{t("health.last-beat", { span: span(m.silent_seconds) })}</span>
          <span>{t("health.runs", { runs: count(m.runs), errors: count(m.errors) })}</span>
          {m.note && <span class="quote">{heard(m.note)}</span>}
        </li>
      ))}
    </ol>
  );
}

function Scrape(p: { of: Health["scrape"] }): JSX.Element {
  if (p.of.length === 0) return <Empty>{t("health.no-targets")}</Empty>;
  const down = p.of.filter((s) => !s.up).length;
  // A thousand targets: the ones in trouble first, and no more than a page of them.
  const shown = [...p.of]
    .sort((a, b) => Number(a.up) - Number(b.up) || (b.lag_seconds ?? 0) - (a.lag_seconds ?? 0))
    .slice(0, 50);
  return (
    <>
      <p>{t("health.scrape", { n: count(p.of.length), down: count(down), shown: shown.length })}</p>
      <Scroll label={t("health.scrapes")}>
        <table>
          <thead>
            <tr>
              {["service", "instance", "state", "age", "lag", "error"].map((c) => (
                <th scope="col" key={c}>
                  {word("scrape-col", c)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((s) => (
              <tr key={s.service + s.instance}>
                <th scope="row">{s.service}</th>
                <td>{s.instance}</td>
                <td>
                  <Badge tone={s.up ? "good" : "bad"}>{t(s.up ? "target.up" : "target.down")}</Badge>
                </td>
                <td class="num">{s.age_seconds === null ? t("unknown") : span(s.age_seconds)}</td>
                <td class="num">{s.lag_seconds === null ? "" : span(s.lag_seconds)}</td>
                <td>{heard(s.error)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function Item(p: { name: string; children: JSX.Element | string | (JSX.Element | string)[] }): JSX.Element {
  return (
    <div>
      <dt>{word("health", p.name)}</dt>
      <dd>{p.children}</dd>
    </div>
  );
}

const size = (n: number | null): string => (n === null ? t("unknown") : bytes(n));

function Store(p: { of: Health["store"] }): JSX.Element {
  const s = p.of;
  return (
    <dl class="facts">
      <Item name="store-state">{word("store-state", s.state)}</Item>
      <Item name="audit-records">{count(s.audit_records)}</Item>
      <Item name="audit-bytes">{size(s.audit_bytes)}</Item>
      <Item name="metrics-bytes">{size(s.metrics_bytes)}</Item>
      <Item name="cost">{t("health.a-day", { points: digits(s.points_a_day) })}</Item>
      <Item name="waiting">{count(s.waiting)}</Item>
      <Item name="dropped">{count(s.points_dropped)}</Item>
      {s.trouble ? <Item name="trouble">{heard(s.trouble)}</Item> : <></>}
      {s.metrics_trouble ? <Item name="metrics-trouble">{heard(s.metrics_trouble)}</Item> : <></>}
    </dl>
  );
}

function Self(p: { of: Health }): JSX.Element {
  const h = p.of;
  return (
    <dl class="facts">
      <Item name="version">{h.version}</Item>
      <Item name="ready">
        <Badge tone={h.ready ? "good" : "warn"}>{t(h.ready ? "health.ready" : "health.not-ready")}</Badge>
      </Item>
      <Item name="started">
        <When at={h.started} long />
      </Item>
      <Item name="reload">
        {[
          <Badge key="b" tone={h.reload.good ? "good" : "bad"}>
            {t(h.reload.good ? "health.reload-good" : "health.reload-bad")}
          </Badge>,
          " ",
          <Ago key="a" at={h.reload.at} />,
        ]}
      </Item>
      {h.reload.error ? <Item name="reload-error">{heard(h.reload.error)}</Item> : <></>}
      <Item name="tls">
        {h.tls.on
          ? t("health.tls-on", {
              subject: h.tls.subject ?? "?",
              days: h.tls.days_left === null ? "?" : digits(h.tls.days_left),
            })
          : t("health.tls-off")}
      </Item>
      <Item name="listeners">{t("health.listeners-of", { n: h.listeners, connections: h.connections })}</Item>
      <Item name="memory">{bytes(h.loop_bytes)}</Item>
    </dl>
  );
}

function askReload(): void {
  ask({
    title: t("health.reload-title"),
    button: t("health.reload-now"),
    path: "/api/v1/reload",
    role: "admin",
    reason: "none",
    text: <p>{t("health.reload-text")}</p>,
  });
}

export function HealthPage(): JSX.Element {
  const health = useLoad<Health>("/api/v1/health", (e) => e.kind === "health" || e.kind === "record", 5000);
  return (
    <>
      <Heading title={t("nav.health")} />
      <Show of={health}>
        {(h) => (
          <>
            <h2>{t("health.modules")}</h2>
            <Modules of={h.modules} />
            <h2>{t("health.self")}</h2>
            <Self of={h} />
            {may("admin") && (
              <p class="acts">
                <button type="button" class="secondary" onClick={askReload}>
                  {t("health.reload-now")}
                </button>
              </p>
            )}
            <Windows service={null} />
            <h2>{t("health.scrapes")}</h2>
            <Scrape of={h.scrape} />
            <h2>{t("health.store")}</h2>
            <Store of={h.store} />
          </>
        )}
      </Show>
    </>
  );
}
