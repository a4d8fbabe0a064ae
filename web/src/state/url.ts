// The address is the state: path and query, so that any view can be shared.
import { computed, signal } from "@preact/signals";

export const place = signal(readPlace());

function readPlace(): { path: string; query: URLSearchParams } {
  if (typeof location === "undefined") return { path: "/", query: new URLSearchParams() };
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export function watchPlace(): void {
  addEventListener("popstate", () => (place.value = readPlace()));
}

export function go(address: string, replace = false): void {
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  const before = place.value.path;
  place.value = readPlace();
  if (before !== place.value.path) scrollTo(0, 0);
}

export const query = (name: string): string => place.value.query.get(name) ?? "";

/** Sets or clears (empty text) keys of the query; filters replace, they are no steps to go back through. */
export function setQuery(changes: Record<string, string>): void {
  const q = new URLSearchParams(place.value.query);
  for (const [key, value] of Object.entries(changes)) {
    if (value) q.set(key, value);
    else q.delete(key);
  }
  const text = q.toString();
  go(place.value.path + (text ? `?${text}` : ""), true);
}

export interface Route {
  page: string;
  args: string[];
}

const PAGES = ["inbox", "incidents", "audit", "policy", "tuning", "health", "login", "users", "setup"];

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function routeOf(path: string): Route {
  const parts = path.split("/").filter(Boolean).map(decode);
  const [first, ...rest] = parts;
  if (first === undefined) return { page: "overview", args: [] };
  if (first === "services" && rest.length === 1) return { page: "service", args: rest };
  if (first === "incidents" && rest.length === 2) return { page: "incident", args: rest };
  if (PAGES.includes(first) && rest.length === 0) return { page: first, args: [] };
  return { page: "missing", args: [path] };
}

export const route = computed(() => routeOf(place.value.path));

export const serviceHref = (name: string): string => `/services/${encodeURIComponent(name)}`;
export const incidentHref = (name: string, n: number): string => `/incidents/${encodeURIComponent(name)}/${String(n)}`;
