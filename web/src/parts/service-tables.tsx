// The tables of a service's page.
import type { JSX } from "preact";
import type { Cause, KnobNow, SignalNow, Symptom, Target, ViewWarm } from "../api/types";
import { digits, exact, percent, quantity, relative, signed } from "../fmt/number";
import { span, t, word } from "../i18n/i18n";
import { formula, heard } from "../i18n/said";
import { Ago, Badge, Empty, Fold, Scroll, type Tone, When } from "./basic";

export function triTone(now: string): Tone {
  return now === "true" ? "warn" : now === "unknown" ? "info" : "plain";
}

export function SymptomList(p: { of: Symptom[] }): JSX.Element {
  if (p.of.length === 0) return <Empty>{t("service.no-symptoms")}</Empty>;
  return (
    <ul class="plain">
      {p.of.map((s) => (
        <li key={s.name}>
          <Badge tone={triTone(s.now)}>{word("tri", s.now)}</Badge> <b>{s.name}</b>{" "}
          {s.slo && <small>{t("service.slo")}</small>}{" "}
          <small>{t("service.ticks", { n: s.last_known_ticks.filter(Boolean).length })}</small>
          <div class="quote">{formula(s.explain)}</div>
        </li>
      ))}
    </ul>
  );
}

/** "NAME: verdict; rule; ..." without what the line above says already. */
export function causeText(c: Cause): string {
  const [, ...rest] = c.explain.split("; ");
  return [
    formula(rest[0] ?? ""),
    ...rest
      .slice(1)
      .filter((x) => !x.startsWith("candidates: ") && !x.startsWith("explains "))
      .map(heard),
  ]
    .filter(Boolean)
    .join("; ");
}

const CAUSE_TONE: Record<string, Tone> = { chosen: "good", matched: "info", unknown: "warn", excluded: "plain" };

export function CauseTable(p: { of: Cause[] }): JSX.Element {
  return (
    <ol class="causes">
      {p.of.map((c) => (
        <li key={c.id}>
          <Badge tone={CAUSE_TONE[c.verdict] ?? "plain"}>{word("cause-verdict", c.verdict)}</Badge> <b>{c.name}</b>
          {c.share !== null && <small> {t("service.share", { percent: percent(c.share) })}</small>}
          <div class="quote">{causeText(c)}</div>
          <small>
            {c.try
              .map(
                (x) =>
                  heard(x.advice) ||
                  t("service.try", { knob: x.knob ?? "", direction: word("direction", x.direction) }),
              )
              .join("; ")}
          </small>
        </li>
      ))}
    </ol>
  );
}

function Lock(p: { word: string; until: string | null }): JSX.Element | null {
  if (!p.until) return null;
  return (
    <li>
      {word("lock", p.word)} <Ago at={p.until} />
    </li>
  );
}

export function KnobLocks(p: { of: KnobNow }): JSX.Element {
  const k = p.of;
  const none =
    !k.interval_until &&
    !k.protected_until &&
    !k.cooling_until &&
    !k.frozen_until &&
    !k.late_watch &&
    !k.unacknowledged &&
    !k.suspended;
  if (none) return <span>{k.blocked ? word("reason", k.blocked) : t("knob.free")}</span>;
  return (
    <ul class="plain">
      <Lock word="interval" until={k.interval_until} />
      <Lock word="protected" until={k.protected_until} />
      <Lock word="cooling" until={k.cooling_until} />
      <Lock word="frozen" until={k.frozen_until} />
      {k.late_watch && <li>{word("lock", "late-watch")}</li>}
      {k.unacknowledged && <li>{word("lock", "unacknowledged")}</li>}
      {k.suspended && <li>{word("lock", "suspended")}</li>}
    </ul>
  );
}

function knobRange(k: { min: number | null; max: number | null; unit: string }): string {
  return t("knob.range", { min: quantity(k.min, k.unit), max: quantity(k.max, k.unit) });
}

export function KnobTable(p: { of: KnobNow[] }): JSX.Element {
  if (p.of.length === 0) return <Empty>{t("service.no-knobs")}</Empty>;
  return (
    <Scroll label={t("service.knobs")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("knob.name")}</th>
            <th scope="col">{t("knob.value")}</th>
            <th scope="col">{t("knob.tier")}</th>
            <th scope="col">{t("knob.now")}</th>
          </tr>
        </thead>
        <tbody>
          {p.of.map((k) => (
            <tr key={k.name}>
              <th scope="row">
                {k.name} <small>{word("class", k.class)}</small>
              </th>
              <td>
                <b>{k.value === null ? t("unknown") : exact(k.value, k.unit)}</b> <small>{knobRange(k)}</small>
                {k.believed !== null && k.believed !== k.value && (
                  <div>{t("knob.believed", { value: k.believed })}</div>
                )}
              </td>
              <td>{t("knob.tier-n", { n: k.tier })}</td>
              <td>
                <KnobLocks of={k} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function SignalRow(p: { of: SignalNow }): JSX.Element {
  const s = p.of;
  const diff = relative(s.value, s.baseline);
  return (
    <tr>
      <th scope="row">
        {s.name} <small>{word("layer", s.layer)}</small>
      </th>
      <td class="num">{s.value === null ? word("why", s.why ?? "") || t("unknown") : quantity(s.value, s.unit)}</td>
      <td class="num">{s.baseline === null ? word("why", s.baseline_why ?? "") : quantity(s.baseline, s.unit)}</td>
      <td class="num">{diff === null ? "" : signed(diff)}</td>
      <td class="num">{s.zscore === null ? "" : digits(s.zscore)}</td>
      <td class="num">{s.drift === null ? "" : signed(s.drift)}</td>
      <td>{word("series-state", s.state)}</td>
      <td class="num">{s.age_seconds === null ? "" : span(s.age_seconds)}</td>
      <td>{heard(s.finding)}</td>
    </tr>
  );
}

export function SignalTable(p: { of: SignalNow[] }): JSX.Element {
  const heads = ["name", "value", "baseline", "difference", "zscore", "drift", "state", "age", "finding"];
  return (
    <Fold title={t("service.signals", { n: p.of.length })}>
      <Scroll label={t("service.signals", { n: p.of.length })}>
        <table>
          <thead>
            <tr>
              {heads.map((h) => (
                <th scope="col" key={h}>
                  {word("signal-col", h)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {p.of.map((s) => (
              <SignalRow of={s} key={s.name} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </Fold>
  );
}

export function ViewTable(p: { of: ViewWarm[]; imported: boolean }): JSX.Element {
  const asleep = p.of.filter((v) => !v.awake).length;
  return (
    <Fold title={t("service.learning", { awake: p.of.length - asleep, all: p.of.length })}>
      {p.imported && <p>{t("service.imported")}</p>}
      <ul class="plain">
        {p.of.map((v) => (
          <li key={v.view}>
            <Badge tone={v.awake ? "good" : "plain"}>{t(v.awake ? "service.awake" : "service.asleep")}</Badge>{" "}
            <b>{word("warm", v.view)}</b>{" "}
            {t("service.learned", { learned: span(v.learned_seconds), needed: span(v.needed_seconds) })}{" "}
            {!v.awake && v.wakes && (
              <>
                {t("service.wakes")} <When at={v.wakes} />
              </>
            )}
          </li>
        ))}
      </ul>
    </Fold>
  );
}

export function TargetTable(p: { of: Target[] }): JSX.Element {
  const down = p.of.filter((x) => !x.up).length;
  return (
    <Fold title={t("service.targets", { n: p.of.length, down })} open={down > 0}>
      <ul class="plain">
        {p.of.map((x) => (
          <li key={x.instance}>
            <Badge tone={x.up ? "good" : "bad"}>{t(x.up ? "target.up" : "target.down")}</Badge> <b>{x.instance}</b>{" "}
            <code>{x.url}</code>{" "}
            {x.age_seconds !== null &&
              t("target.age", { span: span(x.age_seconds), samples: x.samples, broken: x.broken_lines })}
            {x.error && <div class="quote">{heard(x.error)}</div>}
          </li>
        ))}
      </ul>
    </Fold>
  );
}
