// Times: local with the zone for reading, UTC on hover; durations as 6:40 or 2 h 10 min.
import type { Time } from "../api/types";

export function parse(t: Time | undefined): Date | null {
  if (!t) return null;
  const d = new Date(t);
  return Number.isNaN(d.getTime()) ? null : d;
}

const two = (n: number): string => String(n).padStart(2, "0");

export function clock(d: Date): string {
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

export function day(d: Date): string {
  return `${String(d.getFullYear())}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

export function zone(d: Date): string {
  const minutes = -d.getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const size = Math.abs(minutes);
  const rest = size % 60;
  return `UTC${minutes < 0 ? "\u2212" : "+"}${String(Math.floor(size / 60))}${rest ? `:${two(rest)}` : ""}`;
}

/** 10:02:30 today (by the daemon's clock), else with the day in front. */
export function local(t: Time | undefined, now?: Date | null): string {
  const d = parse(t);
  if (!d) return "\u2013";
  return now && day(now) === day(d) ? clock(d) : `${day(d)} ${clock(d)}`;
}

export function full(t: Time | undefined): string {
  const d = parse(t);
  return d ? `${day(d)} ${clock(d)} ${zone(d)}` : "\u2013";
}

export function utc(t: Time | undefined): string {
  const d = parse(t);
  return d ? `${d.toISOString().slice(0, 19).replace("T", " ")} UTC` : "";
}

export interface Words {
  days: string;
  hours: string;
  minutes: string;
  seconds: string;
}

/** Countdown form: 6:40, 1:02:05. */
export function countdown(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  const h = Math.floor(s / 3600);
  const m = Math.floor((s % 3600) / 60);
  return h > 0 ? `${String(h)}:${two(m)}:${two(s % 60)}` : `${String(m)}:${two(s % 60)}`;
}

/** Reading form: 40 s, 6:40 (minutes and seconds) below an hour, then 2 h 10 min, 3 d 4 h. Units come from the catalogue. */
export function duration(seconds: number, w: Words): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${String(s)} ${w.seconds}`;
  if (s < 3600) return s % 60 === 0 ? `${String(s / 60)} ${w.minutes}` : countdown(s);
  const pair = (big: number, bigWord: string, small: number, smallWord: string): string =>
    small ? `${String(big)} ${bigWord} ${String(small)} ${smallWord}` : `${String(big)} ${bigWord}`;
  if (s < 86400) return pair(Math.floor(s / 3600), w.hours, Math.floor((s % 3600) / 60), w.minutes);
  return pair(Math.floor(s / 86400), w.days, Math.floor((s % 86400) / 3600), w.hours);
}

export function secondsBetween(from: Time | undefined, to: Time | undefined): number | null {
  const a = parse(from);
  const b = parse(to);
  return a && b ? (b.getTime() - a.getTime()) / 1000 : null;
}
