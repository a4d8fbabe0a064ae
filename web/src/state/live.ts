// The fleet as it is now: loaded once, then kept fresh by the stream, or by asking when there is no stream.
import { batch, computed, signal } from "@preact/signals";
import { ApiError, get, session } from "../api/client";
import type { Line, Status } from "../api/types";
import { parse } from "../fmt/time";

export const status = signal<Status | null>(null);
export const statusError = signal<ApiError | null>(null);
export const lines = signal<Line[]>([]);

/** live: the stream is open; polling: asked every few seconds; lost: no answer since `since`. */
export const link = signal<{ state: "starting" | "live" | "polling" | "lost"; since: number }>({
  state: "starting",
  since: Date.now(),
});

export function setLink(state: "live" | "polling" | "lost"): void {
  if (link.value.state !== state) link.value = { state, since: Date.now() };
}

/** One beat a second for countdowns and ages. */
export const beat = signal(Date.now());

const anchor = signal({ wall: Date.now(), nominal: Date.now(), speed: 1 });

/** The daemon's clock now; with --speed it runs faster than ours. */
export const daemonNow = computed(() => {
  const a = anchor.value;
  return new Date(a.nominal + (beat.value - a.wall) * a.speed);
});

export function setClock(at: string | null, speed: number): void {
  const d = parse(at);
  if (d) anchor.value = { wall: Date.now(), nominal: d.getTime(), speed: speed > 0 ? speed : 1 };
}

/** Seconds of the daemon's clock until `t`; negative when past. */
export function secondsUntil(t: string | null | undefined): number | null {
  const d = parse(t);
  return d ? (d.getTime() - daemonNow.value.getTime()) / 1000 : null;
}

const RECENT = 30;
const TICK_MS = 20_000;

/** The stream's lines come without their history: carry it on from the one we have. */
export function mergeLine(old: Line | undefined, fresh: Line): Line {
  if (!fresh.latency || fresh.latency.recent) return fresh;
  let recent = old?.latency?.recent ?? [];
  const before = parse(old?.at)?.getTime() ?? 0;
  const now = parse(fresh.at)?.getTime() ?? 0;
  if (now - before >= TICK_MS) recent = [...recent, fresh.latency.now.value].slice(-RECENT);
  return { ...fresh, latency: { ...fresh.latency, recent } };
}

const waiting = new Map<string, Line>();
let timer: ReturnType<typeof setTimeout> | null = null;
const FLUSH_MS = 250;

function flush(): void {
  timer = null;
  if (waiting.size === 0) return;
  const seen = new Set<string>();
  const next = lines.value.map((old) => {
    const fresh = waiting.get(old.service);
    if (!fresh) return old;
    seen.add(old.service);
    return mergeLine(old, fresh);
  });
  for (const [name, fresh] of waiting) if (!seen.has(name)) next.push(mergeLine(undefined, fresh));
  waiting.clear();
  lines.value = next;
}

/** A thousand services tick within a second: one change of the list for all of them. */
export function takeLine(line: Line): void {
  waiting.set(line.service, line);
  timer ??= setTimeout(flush, FLUSH_MS);
}

export async function loadStatus(): Promise<void> {
  try {
    const fresh = await get<Status>("/api/v1/status");
    batch(() => {
      waiting.clear();
      setClock(fresh.at, fresh.clock_speed);
      status.value = fresh;
      lines.value = fresh.services;
      statusError.value = null;
      beat.value = Date.now();
    });
  } catch (e) {
    if (e instanceof ApiError) statusError.value = e;
    throw e;
  }
}

export interface Counts {
  services: number;
  acting: number;
  asking: number;
  person: number;
  halted: number;
  open: number;
}

const ACTING = [
  "intent",
  "writing",
  "readback",
  "settling",
  "observing",
  "undo-intent",
  "undo-writing",
  "undo-readback",
];

export function countLines(all: Line[]): Counts {
  const c: Counts = { services: all.length, acting: 0, asking: 0, person: 0, halted: 0, open: 0 };
  for (const l of all) {
    if (ACTING.includes(l.state)) c.acting += 1;
    if (l.request) c.asking += 1;
    if (l.state === "person") c.person += 1;
    if (l.halted) c.halted += 1;
    if (l.incident) c.open += 1;
  }
  return c;
}

export const counts = computed(() => countLines(lines.value));
export const haltedAll = computed(() => status.value?.halt.all ?? false);
export const signedIn = computed(() => session.value !== null && session.value.role !== "none");

export function startBeat(): void {
  setInterval(() => {
    if (!document.hidden) beat.value = Date.now();
  }, 1000);
}
