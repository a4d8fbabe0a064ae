// Data of one page: loaded, kept while loading again, marked stale when loading fails.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get } from "../api/client";
import { listen, type StreamEvent } from "./stream";

export interface Loaded<T> {
  data: T | null;
  error: ApiError | null;
  loading: boolean;
  /** Wall time of the data; with an error it is how old the shown data are. */
  at: number;
  again: () => void;
}

/** `wants` says which events call for a fresh look, at most one in `everyMs`. Data stay while `key` stays, whatever the path. */
export function useLoad<T>(
  path: string | null,
  wants?: (e: StreamEvent) => boolean,
  everyMs = 1000,
  key: string | null = path,
): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; data: T | null; error: ApiError | null; at: number }>({
    key: null,
    data: null,
    error: null,
    at: 0,
  });
  const [loading, setLoading] = useState(false);
  const [turn, setTurn] = useState(0);
  const due = useRef<ReturnType<typeof setTimeout> | null>(null);

  useEffect(() => {
    if (!path) return;
    const abort = new AbortController();
    setLoading(true);
    get<T>(path, abort.signal)
      .then((data) => {
        setState({ key, data, error: null, at: Date.now() });
        setLoading(false);
      })
      .catch((e: unknown) => {
        if (abort.signal.aborted) return;
        const error = e instanceof ApiError ? e : new ApiError(500, "internal", String(e), null, null);
        setState((old) => (old.key === key ? { ...old, error } : { key, data: null, error, at: 0 }));
        setLoading(false);
      });
    return () => {
      abort.abort();
    };
  }, [path, turn]);

  useEffect(() => {
    if (!wants) return;
    const stop = listen((e) => {
      if (e.kind !== "reset" && !wants(e)) return;
      due.current ??= setTimeout(() => {
        due.current = null;
        setTurn((n) => n + 1);
      }, everyMs);
    });
    return () => {
      stop();
      if (due.current) clearTimeout(due.current);
      due.current = null;
    };
  }, [key]);

  const fresh = state.key === key;
  return {
    data: fresh ? state.data : null,
    error: fresh ? state.error : null,
    loading,
    at: state.at,
    again: () => {
      setTurn((n) => n + 1);
    },
  };
}
