// Before and after as two distributions over one scale, with the shift in words and the numbers in a table.
import type { JSX } from "preact";
import type { Compare, CompareSignal, Dist } from "../api/types";
import { percentSize, quantity, relative } from "../fmt/number";
import { t } from "../i18n/i18n";
import { Empty, Fold, Scroll } from "./basic";

const W = 320;
const H = 46;

function bars(d: Dist, most: number): { x: number; w: number; h: number }[] {
  const w = W / Math.max(1, d.bins.length);
  return d.bins.map((n, i) => ({ x: i * w, w: Math.max(0.5, w - 1), h: most > 0 ? (n / most) * (H - 2) : 0 }));
}

function Half(p: { d: Dist; edges: number[]; name: "before" | "after"; unit: string }): JSX.Element {
  const most = Math.max(...p.d.bins, 1);
  const low = p.edges[0] ?? 0;
  const high = p.edges[p.edges.length - 1] ?? 1;
  const mid = p.d.p50 === null ? null : ((p.d.p50 - low) / (high - low || 1)) * W;
  const label = t(p.name === "before" ? "compare.half-before" : "compare.half-after", {
    n: p.d.n,
    median: quantity(p.d.p50, p.unit),
    p10: quantity(p.d.p10, p.unit),
    p90: quantity(p.d.p90, p.unit),
  });
  return (
    <div class="half">
      <span class="half-name">{t(p.name === "before" ? "compare.before" : "compare.after")}</span>
      <svg
        class={`dist ${p.name}`}
        viewBox={`0 0 ${String(W)} ${String(H)}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {bars(p.d, most).map((b) => (
          <rect key={b.x} x={b.x} y={H - b.h} width={b.w} height={b.h} />
        ))}
        {mid !== null && <path d={`M${mid.toFixed(1)} 0V${String(H)}`} />}
      </svg>
      <span class="num">{quantity(p.d.p50, p.unit)}</span>
    </div>
  );
}

export function shiftText(s: CompareSignal): string {
  if (s.shift === null) return t("compare.no-shift");
  const p = {
    size: quantity(Math.abs(s.shift), s.unit),
    low: quantity(s.low, s.unit),
    high: quantity(s.high, s.unit),
    percent: percentSize(relative((s.before.p50 ?? 0) + s.shift, s.before.p50) ?? 0),
  };
  if (s.low !== null && s.high !== null && s.low <= 0 && s.high >= 0) return t("compare.unclear", p);
  return t(s.shift < 0 ? "compare.lower" : "compare.higher", p);
}

function One(p: { of: CompareSignal }): JSX.Element {
  const s = p.of;
  const low = s.edges[0] ?? null;
  const high = s.edges[s.edges.length - 1] ?? null;
  return (
    <figure class="compare">
      <figcaption>
        <b>{s.name}</b> {shiftText(s)}
      </figcaption>
      <Half d={s.before} edges={s.edges} name="before" unit={s.unit} />
      <Half d={s.after} edges={s.edges} name="after" unit={s.unit} />
      <div class="scale">
        <span>{quantity(low, s.unit)}</span>
        <span>{quantity(high, s.unit)}</span>
      </div>
    </figure>
  );
}

const COLS = ["n", "p10", "p25", "p50", "p75", "p90"] as const;

function Row(p: { name: string; d: Dist; unit: string; when: string }): JSX.Element {
  return (
    <tr>
      <th scope="row">{p.name}</th>
      <td>{p.when}</td>
      {COLS.map((c) => (
        <td class="num" key={c}>
          {c === "n" ? p.d.n : quantity(p.d[c], p.unit)}
        </td>
      ))}
    </tr>
  );
}

function Numbers(p: { of: Compare }): JSX.Element {
  return (
    <Fold title={t("chart.table")}>
      <Scroll label={t("chart.table")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("compare.signal")}</th>
              <th scope="col">{t("compare.when")}</th>
              {COLS.map((c) => (
                <th scope="col" key={c}>
                  {c}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {p.of.signals.flatMap((s) => [
              <Row key={s.name + "b"} name={s.name} d={s.before} unit={s.unit} when={t("compare.before")} />,
              <Row key={s.name + "a"} name={s.name} d={s.after} unit={s.unit} when={t("compare.after")} />,
            ])}
          </tbody>
        </table>
      </Scroll>
    </Fold>
  );
}

/** The judging signals first; the others are folded away. */
const FIRST = /latency|queue|throughput|error/;

export function CompareBox(p: { of: Compare }): JSX.Element {
  const known = p.of.signals.filter((s) => s.before.n > 0 && s.after.n > 0);
  if (known.length === 0) return <Empty>{t("compare.none")}</Empty>;
  const first = known.filter((s) => FIRST.test(s.name)).slice(0, 4);
  const shown = first.length ? first : known.slice(0, 4);
  const rest = known.filter((s) => !shown.includes(s));
  return (
    <div class="compares">
      <div class="grid-2">
        {shown.map((s) => (
          <One of={s} key={s.name} />
        ))}
      </div>
      {rest.length > 0 && (
        <Fold title={t("compare.more", { n: rest.length })}>
          <div class="grid-2">
            {rest.map((s) => (
              <One of={s} key={s.name} />
            ))}
          </div>
        </Fold>
      )}
      <Numbers of={p.of} />
    </div>
  );
}
