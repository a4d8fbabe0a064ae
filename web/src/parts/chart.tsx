// One signal over time. All charts of a page share the cursor; arrow keys move it; a table says the same in text.
import { effect, signal, type Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Mark, SeriesSignal } from "../api/types";
import { percentSize, quantity, relative } from "../fmt/number";
import { clock } from "../fmt/time";
import { t } from "../i18n/i18n";
import { isDark } from "../state/settings";
import { chartOptions, dataOf, readColors } from "./chart-options";

/** The time under the cursor, in seconds, or null; shared by all charts of a page. */
export const cursorTime: Signal<number | null> = signal(null);

export function indexAt(times: number[], t: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((times[mid] ?? 0) < t) low = mid + 1;
    else high = mid;
  }
  const before = times[low - 1];
  const here = times[low];
  return before !== undefined && here !== undefined && t - before < here - t ? low - 1 : low;
}

function lastKnown(s: SeriesSignal): number {
  for (let i = s.mean.length - 1; i >= 0; i -= 1) if (s.mean[i] !== null) return i;
  return s.mean.length - 1;
}

export function chartText(s: SeriesSignal, at: number | null): string {
  const i = at === null ? lastKnown(s) : indexAt(s.t, at);
  const when = s.t[i];
  const value = s.mean[i] ?? null;
  const base = s.baseline[i] ?? null;
  if (when === undefined) return t("chart.empty");
  const p = { at: clock(new Date(when * 1000)), value: quantity(value, s.unit), base: quantity(base, s.unit) };
  if (value === null) return t("chart.at-unknown", p);
  if (base === null) return t("chart.at-plain", p);
  const diff = relative(value, base);
  const percent = percentSize(diff ?? 0);
  if (diff === null || Math.abs(diff) < 0.005) return t("chart.at-equal", p);
  return t(diff > 0 ? "chart.at-above" : "chart.at-below", { ...p, percent });
}

interface ChartProps {
  of: SeriesSignal;
  marks: Mark[];
  range: [number, number];
  showTime: boolean;
  height?: number;
  title?: string;
  select?: (from: number, to: number) => void;
}

function build(el: HTMLElement, now: { current: ChartProps }): uPlot {
  const p = now.current;
  const height = (p.height ?? 84) + (p.showTime ? 30 : 0);
  const shape = { width: Math.max(160, el.clientWidth), height, showTime: p.showTime };
  const o = chartOptions(() => now.current, readColors(el), shape);
  o.hooks = {
    ...o.hooks,
    setCursor: [
      (u) => {
        const i = u.cursor.idx;
        const at = i === null || i === undefined ? null : (now.current.of.t[i] ?? null);
        cursorTime.value = (u.cursor.left ?? -1) < 0 ? null : at;
      },
    ],
    setSelect: [
      (u) => {
        if (u.select.width < 8) return;
        const from = u.posToVal(u.select.left, "x");
        const to = u.posToVal(u.select.left + u.select.width, "x");
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        now.current.select?.(from, to);
      },
    ],
  };
  return new uPlot(o, dataOf(p.of), el);
}

/** The other charts' cursors follow; no hook is fired, so nothing runs in a circle. */
function follow(u: uPlot, at: number | null): void {
  const left = at === null ? -10 : u.valToPos(at, "x");
  if (Math.abs((u.cursor.left ?? -10) - left) > 0.5) u.setCursor({ left, top: 0 }, false);
}

function useChart(p: ChartProps): { current: HTMLDivElement | null } {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef(p);
  now.current = p;
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const u = build(el, now);
    plot.current = u;
    const size = new ResizeObserver(() => {
      if (el.clientWidth > 0 && Math.abs(u.width - el.clientWidth) > 1)
        u.setSize({ width: el.clientWidth, height: u.height });
    });
    size.observe(el);
    const stop = effect(() => {
      follow(u, cursorTime.value);
    });
    return () => {
      stop();
      size.disconnect();
      u.destroy();
      plot.current = null;
    };
  }, [p.of.name, p.showTime, isDark()]);
  useEffect(() => {
    plot.current?.setData(dataOf(p.of));
  }, [p.of, p.marks, p.range]);
  return box;
}

export function Chart(p: ChartProps): JSX.Element {
  const box = useChart(p);
  const s = p.of;
  const at = cursorTime.value;
  const text = useMemo(() => chartText(s, at), [s, at]);
  const first = s.t[0] ?? 0;
  const last = s.t[s.t.length - 1] ?? 0;
  const move = (e: KeyboardEvent): void => {
    const i = at === null ? s.t.length - 1 : indexAt(s.t, at);
    const step = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0;
    const to = e.key === "Home" ? 0 : e.key === "End" ? s.t.length - 1 : i + step;
    if (to === i && step === 0) return;
    const time = s.t[Math.min(s.t.length - 1, Math.max(0, to))];
    if (time === undefined) return;
    e.preventDefault();
    cursorTime.value = time;
  };
  return (
    <figure class="chart">
      <figcaption>
        <b>{p.title ?? s.name}</b> <span class="num">{text}</span>
      </figcaption>
      <div
        ref={box}
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={t("chart.label", { signal: s.name })}
        aria-valuemin={first}
        aria-valuemax={last}
        aria-valuenow={at ?? last}
        aria-valuetext={text}
        onKeyDown={move}
      />
    </figure>
  );
}
