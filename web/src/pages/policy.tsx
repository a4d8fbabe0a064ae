// The rules in force, as the table users know: read-only here, files stay the source.
import type { JSX } from "preact";
import { seg } from "../api/client";
import type { Policy, PolicyKnob, PolicyService } from "../api/types";
import { percent, quantity } from "../fmt/number";
import { span, t, word } from "../i18n/i18n";
import { heard } from "../i18n/said";
import { Choice, Empty, Fold, Heading, Scroll, Show, When } from "../parts/basic";
import { Revisions } from "../parts/revisions";
import { KnobLocks } from "../parts/service-tables";
import { useLoad } from "../state/load";
import { query, setQuery } from "../state/url";

function Playbook(p: { of: PolicyService }): JSX.Element {
  const s = p.of;
  if (s.playbook.length === 0) return <Empty>{t("policy.no-playbook")}</Empty>;
  return (
    <Scroll label={t("policy.playbook")}>
      <table class="cross">
        <caption>{t("policy.playbook-caption")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("policy.cause")}</th>
            <th scope="col">{t("policy.when")}</th>
            {s.symptoms.map((x) => (
              <th scope="col" key={x.name}>
                {x.name}
              </th>
            ))}
            <th scope="col">{t("policy.try")}</th>
          </tr>
        </thead>
        <tbody>
          {s.playbook.map((row) => (
            <tr key={row.id}>
              <th scope="row">
                {row.cause} <small>{word("group", row.group)}</small>
              </th>
              <td>
                <code>{row.when}</code>
              </td>
              {s.symptoms.map((x) => (
                <td key={x.name} class="mark">
                  {row.symptom === null || row.symptom === x.name ? (
                    <span role="img" aria-label={t("policy.applies")}>
                      {t("policy.dot")}
                    </span>
                  ) : (
                    <span class="sr">{t("policy.applies-not")}</span>
                  )}
                </td>
              ))}
              <td>
                <ol class="plain">
                  {row.try.map((x, i) => (
                    <li key={i}>
                      {x.advice
                        ? t("policy.advice", { advice: heard(x.advice) })
                        : t("service.try", { knob: x.knob ?? "", direction: word("direction", x.direction) })}
                    </li>
                  ))}
                </ol>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function KnobRow(p: { of: PolicyKnob }): JSX.Element {
  const k = p.of;
  return (
    <tr>
      <th scope="row">
        {k.name} <small>{word("class", k.class)}</small>
      </th>
      <td>{word("tier", String(k.tier))}</td>
      <td class="num">{t("knob.range", { min: quantity(k.min, k.unit), max: quantity(k.max, k.unit) })}</td>
      <td>{k.ladder}</td>
      <td>{k.precondition ? <code>{k.precondition}</code> : ""}</td>
      <td class="num">{percent(k.dead_band)}</td>
      <td class="num">{span(k.interval_seconds)}</td>
      <td class="num">{span(k.protect_seconds)}</td>
      <td>
        <KnobLocks of={k.now} />
      </td>
    </tr>
  );
}

function Knobs(p: { of: PolicyKnob[] }): JSX.Element {
  if (p.of.length === 0) return <Empty>{t("service.no-knobs")}</Empty>;
  const cols = ["name", "tier", "range", "ladder", "precondition", "dead-band", "interval", "protect", "now"];
  return (
    <Scroll label={t("policy.knobs")}>
      <table>
        <thead>
          <tr>
            {cols.map((c) => (
              <th scope="col" key={c}>
                {word("knob-col", c)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {p.of.map((k) => (
            <KnobRow of={k} key={k.name} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function limitText(key: string, value: unknown): string {
  const v = Number(value);
  if (key.endsWith("_seconds")) return span(v);
  if (key.endsWith("_ratio")) return percent(v);
  return quantity(v, "");
}

function zoneText(seconds: number): string {
  const hours = seconds / 3600;
  return hours === 0 ? "UTC" : `UTC${hours < 0 ? "\u2212" : "+"}${String(Math.abs(hours))}`;
}

function Limits(p: { of: PolicyService }): JSX.Element {
  const modes = Object.entries(p.of.class_mode);
  return (
    <>
      <dl class="facts">
        {Object.entries(p.of.limits).map(([k, v]) => (
          <div key={k}>
            <dt>{word("limit", k)}</dt>
            <dd class="num">{limitText(k, v)}</dd>
          </div>
        ))}
      </dl>
      <h3>{t("policy.modes")}</h3>
      <ul class="inline">
        {modes.map(([c, m]) => (
          <li key={c}>{t("policy.class-mode", { class: word("class", c), mode: word("mode", String(m)) })}</li>
        ))}
      </ul>
      {p.of.windows.length > 0 && <h3>{t("policy.windows")}</h3>}
      <ul class="plain">
        {p.of.windows.map((w) => (
          <li key={w.name}>
            <b>{w.name}</b>{" "}
            {t("policy.window-change", {
              days: w.weekdays.map((d) => word("weekday", String(d))).join(", "),
              from: w.from,
              to: w.to,
              zone: zoneText(w.utc_offset_seconds),
            })}
          </li>
        ))}
      </ul>
    </>
  );
}

function Symptoms(p: { of: PolicyService }): JSX.Element {
  return (
    <ul class="plain">
      {p.of.symptoms.map((s) => (
        <li key={s.name}>
          <b>{s.name}</b> {s.slo && <small>{t("service.slo")}</small>} <code>{s.when}</code>{" "}
          {s.clear && <small>{t("policy.clear", { rule: s.clear })}</small>}
        </li>
      ))}
    </ul>
  );
}

function One(p: { of: PolicyService }): JSX.Element {
  const s = p.of;
  return (
    <section>
      <h2>{s.name}</h2>
      <p>
        {t("policy.head", { mode: word("mode", s.mode), environment: s.environment ?? t("unknown") })}{" "}
        {s.objective !== null && t("policy.objective", { objective: quantity(s.objective, s.objective_unit ?? "") })}
      </p>
      <h3>{t("service.symptoms")}</h3>
      <Symptoms of={s} />
      <h3>{t("policy.playbook")}</h3>
      <Playbook of={s} />
      <h3>{t("policy.knobs")}</h3>
      <p class="hint">{t("policy.knobs-hint")}</p>
      <Knobs of={s.knobs} />
      <Fold title={t("policy.limits")}>
        <Limits of={s} />
      </Fold>
    </section>
  );
}

function Body(p: { of: Policy }): JSX.Element {
  const all = p.of.services;
  const wanted = query("service") || (all[0]?.name ?? "");
  const options = all.map((s) => ({ value: s.name, text: s.name }));
  const one = all.find((s) => s.name === wanted) ?? all[0];
  return (
    <>
      <p>
        {t("policy.revision")} <code>{p.of.revision.slice(0, 12)}</code> {t("policy.from-file", { path: p.of.path })}{" "}
        <When at={p.of.loaded} long />
      </p>
      {all.length > 1 && (
        <Choice
          label={t("incidents.service")}
          value={one?.name ?? ""}
          options={options}
          set={(v) => {
            setQuery({ service: v });
          }}
        />
      )}
      {one ? <One of={one} /> : <Empty>{t("overview.none")}</Empty>}
    </>
  );
}

export function PolicyPage(): JSX.Element {
  const name = query("service");
  const policy = useLoad<Policy>(
    "/api/v1/policy",
    (e) => e.record?.kind === "POLICY" || (name !== "" && e.service === name && e.kind === "action"),
    3000,
  );
  return (
    <>
      <Heading title={t("nav.policy")} />
      <p>{t("policy.lead")}</p>
      <Show of={policy}>{(p) => <Body of={p} />}</Show>
      <Revisions />
    </>
  );
}

export const policyHref = (service: string): string => `/policy?service=${seg(service)}`;
