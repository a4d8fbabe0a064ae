// Numbers as people read them: three significant digits, always with the unit.

export const MINUS = "\u2212";

/** Three significant digits; whole numbers of four digits and more keep them all, with group marks. */
export function digits(v: number): string {
  if (!Number.isFinite(v)) return "?";
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 1e15 || size < 1e-6) return v.toExponential(2).replace("-", MINUS);
  const places = Math.max(0, 2 - Math.floor(Math.log10(size)));
  const rounded = Number(v.toFixed(Math.min(places, 8)));
  const text = Math.abs(rounded).toLocaleString("en-US", { maximumFractionDigits: Math.min(places, 8) });
  return (rounded < 0 ? MINUS : "") + text;
}

const BYTES = ["B", "KB", "MB", "GB", "TB"];

export function bytes(v: number): string {
  let n = v;
  let i = 0;
  while (Math.abs(n) >= 1000 && i < BYTES.length - 1) {
    n /= 1000;
    i += 1;
  }
  return `${digits(n)} ${BYTES[i] ?? "B"}`;
}

export function percent(ratio: number): string {
  const v = ratio * 100;
  if (v !== 0 && Math.abs(v) < 0.001) return v > 0 ? "<0.001 %" : `>${MINUS}0.001 %`;
  return `${digits(v)} %`;
}

/** A value of a signal or knob in its own unit. */
export function quantity(v: number | null | undefined, unit: string): string {
  if (v === null || v === undefined || !Number.isFinite(v)) return "?";
  if (unit === "ratio") return percent(v);
  if (unit === "B") return bytes(v);
  if (unit === "") return digits(v);
  if (unit === "%") return `${digits(v)} %`;
  if (unit === "C") return `${digits(v)} \u00b0C`;
  return unit.startsWith("/") ? `${digits(v)}${unit}` : `${digits(v)} ${unit}`;
}

/** The exact bytes of a knob with its unit: never rounded, a person approves them. */
export function exact(text: string, unit: string): string {
  if (unit === "" || unit === "ratio") return text;
  return unit === "%" ? `${text} %` : `${text} ${unit}`;
}

/** Relative difference in percent, or null when there is nothing to compare with. */
export function relative(now: number | null | undefined, before: number | null | undefined): number | null {
  if (now === null || now === undefined || before === null || before === undefined || before === 0) return null;
  return now / before - 1;
}

export function percentSize(ratio: number): string {
  return percent(Math.abs(ratio));
}

export function signed(ratio: number): string {
  const text = percent(Math.abs(ratio));
  if (text === "0 %") return text;
  return (ratio < 0 ? MINUS : "+") + text;
}

export function count(n: number): string {
  return n.toLocaleString("en-US");
}
