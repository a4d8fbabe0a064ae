// Server-sent events with resume by the browser; when they cannot be had, ask every few seconds and try again.
import { sessionEnded, session } from "../api/client";
import type { AuditRecord, Line } from "../api/types";
import { lines, loadStatus, setClock, setLink, status, takeLine } from "./live";

export interface StreamEvent {
  kind: "service" | "incident" | "action" | "record" | "halt" | "health" | "reset";
  service: string | null;
  record: AuditRecord | null;
}

type Listener = (e: StreamEvent) => void;
const listeners = new Set<Listener>();

/** Pages listen to know when to load again. Returns the way to stop. */
export function listen(f: Listener): () => void {
  listeners.add(f);
  return () => listeners.delete(f);
}

function tell(kind: StreamEvent["kind"], service: string | null, record: AuditRecord | null): void {
  for (const f of listeners) f({ kind, service, record });
}

const POLL_MS = 5000;
const RETRY_MS = 10_000;
let source: EventSource | null = null;
let poll: ReturnType<typeof setInterval> | null = null;
let retry: ReturnType<typeof setTimeout> | null = null;

function refresh(): void {
  loadStatus().then(
    () => {
      if (source?.readyState !== EventSource.OPEN) setLink("polling");
      tell("reset", null, null);
    },
    () => {
      setLink("lost");
    },
  );
}

function startPolling(): void {
  if (poll) return;
  refresh();
  poll = setInterval(refresh, POLL_MS);
}

function stopPolling(): void {
  if (poll) clearInterval(poll);
  poll = null;
}

function parsed<T>(e: Event): T | null {
  try {
    return JSON.parse((e as MessageEvent<string>).data) as T;
  } catch {
    return null;
  }
}

interface Hello {
  version: string;
  at: string | null;
  clock_speed: number;
}

interface HaltEvent {
  all: boolean;
  service: string | null;
  halted: boolean;
  by: string | null;
  why: string | null;
  at: string | null;
}

function onHello(e: Event): void {
  const hello = parsed<Hello>(e);
  stopPolling();
  if (hello) setClock(hello.at, hello.clock_speed);
  setLink("live");
  // What was missed while away comes by resume; the counts and the halt come from a fresh look.
  refresh();
}

function onHalt(e: Event): void {
  const h = parsed<HaltEvent>(e);
  if (!h) return;
  if (h.all && status.value) {
    const halt = { all: h.halted, by: h.by, why: h.why, since: h.at };
    status.value = { ...status.value, halt };
  }
  lines.value = lines.value.map((l) =>
    h.all || l.service === h.service
      ? { ...l, halted: h.halted, halted_by: h.by, halted_why: h.why, halted_since: h.at }
      : l,
  );
  tell("halt", h.service, null);
}

function onRecord(kind: "incident" | "action" | "record"): (e: Event) => void {
  return (e) => {
    const data = parsed<{ service?: string; record: AuditRecord }>(e);
    if (data) tell(kind, data.service ?? data.record.service ?? null, data.record);
  };
}

function attach(s: EventSource): void {
  s.addEventListener("hello", onHello);
  s.addEventListener("reset", refresh);
  s.addEventListener("service", (e) => {
    const line = parsed<Line>(e);
    if (!line) return;
    takeLine(line);
    setClock(line.at, status.value?.clock_speed ?? 1);
    tell("service", line.service, null);
  });
  for (const kind of ["incident", "action", "record"] as const) s.addEventListener(kind, onRecord(kind));
  s.addEventListener("halt", onHalt);
  s.addEventListener("health", () => {
    tell("health", null, null);
  });
  s.onerror = () => {
    if (s !== source) return;
    setLink("lost");
    startPolling();
    // The browser tries again by itself unless the daemon refused; then it is on us.
    if (s.readyState === EventSource.CLOSED) retry ??= setTimeout(reopen, RETRY_MS);
  };
}

function reopen(): void {
  retry = null;
  source?.close();
  source = new EventSource("/api/v1/stream");
  attach(source);
}

export function startStream(): void {
  if (source) return;
  reopen();
}

export function stopStream(): void {
  source?.close();
  source = null;
  stopPolling();
  if (retry) clearTimeout(retry);
  retry = null;
}

/** After a login or logout: another session, another stream. */
export function restartStream(): void {
  stopStream();
  if (session.value && session.value.role !== "none") startStream();
}

export const endedSessions = sessionEnded;
