// One way to the daemon: envelope off, CSRF on, refusals as values with the daemon's own sentence.
import { signal } from "@preact/signals";
import type { Change, Session } from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly reason: string | null,
    readonly retryAfter: number | null,
    /** What is different now from when a person was asked; empty when that is not the matter. */
    readonly changes: Change[] = [],
  ) {
    super(message);
  }
  /** No answer at all: the daemon or the network is away. */
  get lost(): boolean {
    return this.status === 0;
  }
}

export const session = signal<Session | null>(null);
/** Counts sessions that ended while a page was open; the shell answers with the login page. */
export const sessionEnded = signal(0);

interface Envelope {
  status?: string;
  data?: unknown;
  error?: string;
  errorType?: string;
  reason?: string;
  changes?: Change[];
}

async function refusal(answer: Response): Promise<ApiError> {
  let body: Envelope = {};
  try {
    body = (await answer.json()) as Envelope;
  } catch {
    // A proxy's page: the status alone has to do.
  }
  const wait = Number(answer.headers.get("Retry-After"));
  return new ApiError(
    answer.status,
    body.errorType ?? "internal",
    body.error ?? `HTTP ${String(answer.status)}`,
    body.reason ?? null,
    wait > 0 ? wait : null,
    body.changes,
  );
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  // Peeked: whoever sends inside an effect must not run again when the session changes.
  const csrf = session.peek()?.csrf;
  if (method !== "GET" && csrf) headers["X-CSRF-Token"] = csrf;
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers,
      signal,
      credentials: "same-origin",
      cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new ApiError(0, "lost", "", null, null);
  }
  if (answer.ok) return answer;
  const error = await refusal(answer);
  if (error.status === 401 && error.reason !== "bad-login") sessionEnded.value += 1;
  throw error;
}

export async function get<T>(path: string, abort?: AbortSignal): Promise<T> {
  const answer = await send("GET", path, undefined, abort);
  return ((await answer.json()) as { data: T }).data;
}

export async function getText(path: string): Promise<string> {
  return (await send("GET", path)).text();
}

export async function post<T = { done: string; detail?: string | null }>(path: string, body?: unknown): Promise<T> {
  const answer = await send("POST", path, body ?? {});
  return ((await answer.json()) as { data: T }).data;
}

export async function remove<T = { done: string; detail?: string | null }>(path: string): Promise<T> {
  const answer = await send("DELETE", path);
  return ((await answer.json()) as { data: T }).data;
}

let askedSessions = 0;

/** An answer to an older question, from before a login, does not overwrite a newer one. */
export async function loadSession(): Promise<Session> {
  askedSessions += 1;
  const mine = askedSessions;
  const s = await get<Session>("/api/v1/session");
  if (mine === askedSessions) session.value = s;
  return s;
}

const ROLES = ["none", "viewer", "operator", "admin"];

export function may(role: "viewer" | "operator" | "admin"): boolean {
  return ROLES.indexOf(session.value?.role ?? "none") >= ROLES.indexOf(role);
}

/** Names come from people: each is one segment of the address. */
export const seg = (text: string): string => encodeURIComponent(text);
