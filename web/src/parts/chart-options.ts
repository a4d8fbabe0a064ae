// How a signal is drawn: line, band of its normal, objective, marks. Plain options for uPlot.
import type uPlot from "uplot";
import type { Mark, SeriesSignal } from "../api/types";
import { quantity } from "../fmt/number";

export interface Colors {
  line: string;
  band: string;
  base: string;
  goal: string;
  grid: string;
  text: string;
  mark: Record<string, string>;
}

export function readColors(el: HTMLElement): Colors {
  const css = getComputedStyle(el);
  const v = (name: string): string => css.getPropertyValue(name).trim() || "#777777";
  return {
    line: v("--chart-line"),
    band: v("--chart-band"),
    base: v("--chart-base"),
    goal: v("--chart-goal"),
    grid: v("--chart-grid"),
    text: v("--chart-text"),
    mark: {
      action: v("--mood-acting"),
      verdict: v("--mood-normal"),
      rollback: v("--mood-undoing"),
      release: v("--mood-asks"),
      freeze: v("--mood-waiting"),
      incident: v("--mood-open"),
      halt: v("--mood-halted"),
    },
  };
}

/** Room for line and band; the objective only when the line comes near it, else the line would be flat at the bottom. */
export function yRange(s: SeriesSignal): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const column of [s.mean, s.low, s.high, s.baseline]) {
    for (const v of column) {
      if (v === null) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  if (!Number.isFinite(low)) return [0, 1];
  if (s.objective !== null && s.objective < high * 3) high = Math.max(high, s.objective * 1.05);
  const pad = (high - low || Math.abs(high) || 1) * 0.08;
  return [low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad];
}

/** A slow signal has a point in every third step only: what lies between is no gap. A gap is longer than three of its own steps. */
export function joined(column: (number | null)[]): (number | null | undefined)[] {
  const known = column.flatMap((v, i) => (v === null ? [] : [i]));
  const steps = known.slice(1).map((v, i) => v - (known[i] ?? 0));
  const usual = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 1;
  const out: (number | null | undefined)[] = [...column];
  steps.forEach((step, i) => {
    if (step > 3 * usual) return;
    for (let k = (known[i] ?? 0) + 1; k < (known[i + 1] ?? 0); k += 1) out[k] = undefined;
  });
  return out;
}

export function dataOf(s: SeriesSignal): uPlot.AlignedData {
  return [s.t, s.low, s.high, s.baseline, joined(s.mean)] as uPlot.AlignedData;
}

// One letter at the head of each line, explained in the list of marks: colour is never alone.
export const MARK_LETTER: Record<string, string> = {
  incident: "!",
  action: "A",
  verdict: "V",
  rollback: "B",
  release: "R",
  freeze: "F",
  external: "E",
  halt: "H",
  resume: "G",
  closed: "C",
};

function vertical(u: uPlot, x: number, color: string, letter: string): void {
  const ctx = u.ctx;
  const { top, height } = u.bbox;
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, top + height);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.font = `bold ${String(11 * devicePixelRatio)}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.fillText(letter, x + 2 * devicePixelRatio, top + devicePixelRatio);
}

function drawMarks(u: uPlot, marks: Mark[], c: Colors): void {
  const { left, width } = u.bbox;
  u.ctx.save();
  for (const m of marks) {
    const x = Math.round(u.valToPos(m.t, "x", true));
    if (x < left || x > left + width) continue;
    vertical(u, x, c.mark[m.kind] ?? c.text, MARK_LETTER[m.kind] ?? "?");
  }
  u.ctx.restore();
}

function drawGoal(u: uPlot, objective: number | null, c: Colors): void {
  if (objective === null) return;
  const y = Math.round(u.valToPos(objective, "y", true));
  const { left, top, width, height } = u.bbox;
  if (y < top || y > top + height) return;
  u.ctx.save();
  u.ctx.strokeStyle = c.goal;
  u.ctx.lineWidth = 1.5 * devicePixelRatio;
  u.ctx.beginPath();
  u.ctx.moveTo(left, y);
  u.ctx.lineTo(left + width, y);
  u.ctx.stroke();
  u.ctx.restore();
}

export interface Shape {
  width: number;
  height: number;
  showTime: boolean;
}

/** What is drawn now; asked at each drawing, since data change while the chart stays. */
export interface Drawn {
  of: SeriesSignal;
  marks: Mark[];
  range: [number, number];
}

export function chartOptions(now: () => Drawn, c: Colors, shape: Shape): uPlot.Options {
  const axis = { stroke: c.text, grid: { stroke: c.grid, width: 1 }, ticks: { stroke: c.grid, width: 1 } };
  return {
    width: shape.width,
    height: shape.height,
    // The same at the sides in all charts of a page: their times stand under one another.
    padding: [8, 14, shape.showTime ? 0 : 8, 0],
    legend: { show: false },
    cursor: { points: { show: true }, drag: { x: true, y: false, setScale: false }, y: false },
    select: { show: true, left: 0, top: 0, width: 0, height: 0 },
    scales: { x: { time: true, range: () => now().range }, y: { range: () => yRange(now().of) } },
    axes: [
      { ...axis, show: shape.showTime, size: 30, values: "{HH}:{mm}" },
      { ...axis, size: 74, space: 20, values: (_u, v) => v.map((x) => quantity(x, now().of.unit)) },
    ],
    series: [
      {},
      { stroke: "transparent", points: { show: false } },
      { stroke: "transparent", points: { show: false } },
      { stroke: c.base, width: 1, dash: [5, 4], points: { show: false } },
      { stroke: c.line, width: 1.75, points: { show: false } },
    ],
    bands: [{ series: [2, 1], fill: c.band }],
    hooks: {
      draw: [
        (u) => {
          drawGoal(u, now().of.objective, c);
          drawMarks(u, now().marks, c);
        },
      ],
    },
  };
}
