// Two tunings over the same window around their writes, drawn on one axis of seconds from the write.
import type { JSX } from "preact";
import type { Side } from "../api/types";
import { quantity } from "../fmt/number";
import { span, t, word } from "../i18n/i18n";
import { useLoad } from "../state/load";
import { joined } from "./chart-options";
import { Empty, Fold, Scroll, Show, When } from "./basic";

const W = 600;
const H = 120;

type SideSignal = Side["signals"][number];

export interface Frame {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

export function frameOf(list: SideSignal[]): Frame {
  const xs = list.flatMap((s) => s.offset);
  const ys = list.flatMap((s) => s.mean).filter((v): v is number => v !== null);
  const y0 = Math.min(...ys);
  const y1 = Math.max(...ys);
  const pad = (y1 - y0 || Math.abs(y1) || 1) * 0.1;
  const low = y0 >= 0 ? Math.max(0, y0 - pad) : y0 - pad;
  return { x0: Math.min(...xs), x1: Math.max(...xs), y0: low, y1: y1 + pad };
}

function path(s: SideSignal, f: Frame): string {
  let out = "";
  let pen = false;
  const mean = joined(s.mean);
  s.offset.forEach((x, i) => {
    const v = mean[i];
    if (v === undefined) return;
    if (v === null) {
      pen = false;
      return;
    }
    const px = ((x - f.x0) / (f.x1 - f.x0 || 1)) * W;
    const py = H - ((v - f.y0) / (f.y1 - f.y0 || 1)) * H;
    out += `${pen ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`;
    pen = true;
  });
  return out;
}

function Pair(p: { name: string; a: SideSignal; b: SideSignal }): JSX.Element {
  const f = frameOf([p.a, p.b]);
  const zero = ((0 - f.x0) / (f.x1 - f.x0 || 1)) * W;
  return (
    <figure class="pair">
      <figcaption>
        <b>{p.name}</b>{" "}
        <small>{t("side.scale", { low: quantity(f.y0, p.a.unit), high: quantity(f.y1, p.a.unit) })}</small>
      </figcaption>
      <svg
        viewBox={`0 0 ${String(W)} ${String(H)}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t("side.label", { signal: p.name })}
      >
        <path class="write" d={`M${zero.toFixed(1)} 0V${String(H)}`} />
        <path class="side-a" d={path(p.a, f)} />
        <path class="side-b" d={path(p.b, f)} />
      </svg>
    </figure>
  );
}

function Head(p: { letter: "A" | "B"; of: Side }): JSX.Element {
  const s = p.of;
  return (
    <div class={`side-head side-${p.letter.toLowerCase()}`}>
      <b>{t(p.letter === "A" ? "side.a" : "side.b")}</b> {s.service}{" "}
      {t("record.change", { knob: s.knob, from: s.from_value, to: s.to_value })} <When at={s.at} />
    </div>
  );
}

function Rows(p: { a: Side; b: Side; names: string[] }): JSX.Element {
  const mean = (s: Side, name: string, after: boolean): string => {
    const x = s.signals.find((v) => v.name === name);
    const list = (x?.mean ?? []).filter((v, i): v is number => v !== null && (x?.offset[i] ?? 0) >= 0 === after);
    return list.length ? quantity(list.reduce((sum, v) => sum + v, 0) / list.length, x?.unit ?? "") : t("unknown");
  };
  return (
    <Fold title={t("chart.table")}>
      <Scroll label={t("chart.table")}>
        <table>
          <thead>
            <tr>
              {["signal", "a-before", "a-after", "b-before", "b-after"].map((c) => (
                <th scope="col" key={c}>
                  {word("side-col", c)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {p.names.map((n) => (
              <tr key={n}>
                <th scope="row">{n}</th>
                <td class="num">{mean(p.a, n, false)}</td>
                <td class="num">{mean(p.a, n, true)}</td>
                <td class="num">{mean(p.b, n, false)}</td>
                <td class="num">{mean(p.b, n, true)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Fold>
  );
}

function Both(p: { a: Side; b: Side }): JSX.Element {
  const names = p.a.signals.map((s) => s.name).filter((n) => p.b.signals.some((s) => s.name === n));
  const first = p.a.signals[0]?.offset ?? [];
  const reach = first.length ? Math.abs(first[0] ?? 0) : 0;
  if (names.length === 0) return <Empty>{t("side.none")}</Empty>;
  return (
    <>
      <Head letter="A" of={p.a} />
      <Head letter="B" of={p.b} />
      <p class="hint">{t("side.hint", { span: span(reach) })}</p>
      <div class="grid-2">
        {names.map((n) => {
          const a = p.a.signals.find((s) => s.name === n);
          const b = p.b.signals.find((s) => s.name === n);
          return a && b ? <Pair key={n} name={n} a={a} b={b} /> : null;
        })}
      </div>
      <Rows a={p.a} b={p.b} names={names} />
    </>
  );
}

export function SideBySide(p: { a: string; b: string }): JSX.Element {
  const q = new URLSearchParams({ a: p.a, b: p.b });
  const side = useLoad<{ a: Side; b: Side }>(`/api/v1/tuning/side?${q.toString()}`);
  return (
    <section>
      <h2>{t("side.title")}</h2>
      <Show of={side}>{(d) => <Both a={d.a} b={d.b} />}</Show>
    </section>
  );
}
