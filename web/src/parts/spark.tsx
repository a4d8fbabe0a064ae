// The last minutes of one signal as a small line, with its normal as a dashed one.
import type { JSX } from "preact";

const W = 120;
const H = 26;

export function sparkPath(values: (number | null)[], low: number, high: number): string {
  const range = high - low || 1;
  const step = values.length > 1 ? W / (values.length - 1) : W;
  let out = "";
  let pen = false;
  values.forEach((v, i) => {
    if (v === null) {
      pen = false;
      return;
    }
    const y = H - 2 - ((v - low) / range) * (H - 4);
    out += `${pen ? "L" : "M"}${(i * step).toFixed(1)} ${y.toFixed(1)}`;
    pen = true;
  });
  return out;
}

export function Spark(p: { values: (number | null)[]; baseline: number | null; label: string }): JSX.Element {
  const known = p.values.filter((v): v is number => v !== null);
  const all = p.baseline === null ? known : [...known, p.baseline];
  if (known.length < 2) return <span class="spark" />;
  const low = Math.min(...all);
  const high = Math.max(...all, low + Math.abs(low) * 0.15);
  const y = p.baseline === null ? null : H - 2 - ((p.baseline - low) / (high - low || 1)) * (H - 4);
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${String(W)} ${String(H)}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={p.label}
    >
      {y !== null && <path class="spark-base" d={`M0 ${y.toFixed(1)}H${String(W)}`} />}
      <path class="spark-line" d={sparkPath(p.values, low, high)} />
    </svg>
  );
}
