// Start order: settings, address, who am I, then the fleet and its stream.
import { effect, signal } from "@preact/signals";
import { ApiError, loadSession, sessionEnded } from "./api/client";
import { loadStatus, setLink, startBeat } from "./state/live";
import { restartStream, stopStream } from "./state/stream";
import { applySettings } from "./state/settings";
import { go, place, watchPlace } from "./state/url";

export const startError = signal<ApiError | null>(null);
const AGAIN_MS = 5000;

/** Loads the session again and what hangs on it; used after login and logout too. */
export async function enter(): Promise<void> {
  const s = await loadSession();
  startError.value = null;
  if (s.role === "none") {
    stopStream();
    return;
  }
  await loadStatus().catch(() => undefined);
  restartStream();
}

function tryEnter(): void {
  enter().catch((e: unknown) => {
    startError.value = e instanceof ApiError ? e : new ApiError(500, "internal", String(e), null, null);
    setLink("lost");
    setTimeout(tryEnter, AGAIN_MS);
  });
}

export function loginAddress(): string {
  const here = place.value.path + location.search;
  return here === "/" || here.startsWith("/login") ? "/login" : `/login?next=${encodeURIComponent(here)}`;
}

export function start(): void {
  applySettings();
  watchPlace();
  startBeat();
  tryEnter();
  effect(() => {
    // A session that ended while reading: say so on the login page and come back to the same place.
    if (sessionEnded.value === 0) return;
    void loadSession()
      .then((s) => {
        // Several answers may say so at once; the first one leads to the door, and the door keeps where to return.
        if (s.role !== "none" || place.peek().path === "/login") return;
        stopStream();
        const to = loginAddress();
        go(`${to}${to.includes("?") ? "&" : "?"}ended=1`, true);
      })
      .catch(() => undefined);
  });
}
