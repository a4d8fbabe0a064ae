// A person's command: asked twice, with a reason, and answered with the daemon's own sentence.
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { ApiError, may, post, remove } from "../api/client";
import { t } from "../i18n/i18n";
import { heard } from "../i18n/said";
import { loadStatus } from "../state/live";
import { Choice, ErrorNote, Link } from "./basic";
import { Dialog } from "./dialog";
import { place } from "../state/url";

export interface Act {
  title: string;
  /** The button says the act: "Set batch to 64", never "OK". */
  button: string;
  path: string;
  role: "operator" | "admin";
  body?: Record<string, string | boolean>;
  method?: "POST" | "DELETE";
  /** One of several values goes into the body with it. */
  choice?: { key: string; label: string; options: { value: string; text: string }[]; first: string };
  reason: "needed" | "optional" | "none";
  /** What the reason is called in the body. */
  reasonKey?: string;
  danger?: boolean;
  text?: ComponentChildren;
  done?: (answer: string) => void;
}

const asked = signal<Act | null>(null);
/** The last answer, said politely to screen readers and shown for a while. */
export const toast = signal<{ text: string; at: number } | null>(null);

export function ask(act: Act): void {
  asked.value = act;
}

export function say(text: string): void {
  toast.value = { text, at: Date.now() };
}

function NoRole(p: { role: "operator" | "admin" }): JSX.Element {
  const next = encodeURIComponent(place.value.path + location.search);
  return (
    <p class="note tone-warn">
      <span>{t(p.role === "admin" ? "act.needs-admin" : "act.needs-operator")}</span>
      <Link to={`/login?next=${next}`}>{t("act.login")}</Link>
    </p>
  );
}

/** Answers that say no more than the button does. */
const PLAIN = ["", "done", "done for all services", "recorded"];

async function carryOut(act: Act, reason: string, chosen: string): Promise<void> {
  const body: Record<string, string | boolean> = { ...act.body };
  if (reason) body[act.reasonKey ?? "reason"] = reason;
  if (act.choice) body[act.choice.key] = chosen;
  const answer = act.method === "DELETE" ? await remove(act.path) : await post<{ done?: string }>(act.path, body);
  say(t("act.done", { words: PLAIN.includes(answer.done ?? "") ? act.button : heard(answer.done) }));
  act.done?.(answer.done ?? "");
  loadStatus().catch(() => undefined);
}

interface Doing {
  busy: boolean;
  error: ApiError | null;
  run: (reason: string, chosen: string) => void;
}

function useAct(act: Act, close: () => void): Doing {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const run = (reason: string, chosen: string): void => {
    setBusy(true);
    setError(null);
    carryOut(act, reason, chosen).then(close, (e: unknown) => {
      setBusy(false);
      setError(e instanceof ApiError ? e : new ApiError(500, "internal", String(e), null, null));
    });
  };
  return { busy, error, run };
}

function ActForm(p: { act: Act; close: () => void }): JSX.Element {
  const { act, close } = p;
  const [reason, setReason] = useState("");
  const [chosen, setChosen] = useState(act.choice?.first ?? "");
  const { busy, error, run } = useAct(act, close);
  const id = useId();
  const short = act.reason === "needed" && reason.trim().length < 3;
  const submit = (e: Event): void => {
    e.preventDefault();
    if (!short) run(reason.trim(), chosen);
  };
  return (
    <form onSubmit={submit}>
      {act.text}
      {act.choice && <Choice label={act.choice.label} value={chosen} options={act.choice.options} set={setChosen} />}
      {act.reason !== "none" && (
        <>
          <label for={id}>{t(act.reason === "needed" ? "act.reason" : "act.comment")}</label>
          <textarea
            id={id}
            rows={2}
            maxLength={190}
            value={reason}
            required={act.reason === "needed"}
            onInput={(e) => {
              setReason(e.currentTarget.value.replace(/[\r\n]+/g, " "));
            }}
          />
        </>
      )}
      {error && <ErrorNote error={error} />}
      <footer>
        <button type="button" class="secondary" onClick={close}>
          {t("act.leave")}
        </button>
        <button type="submit" class={act.danger ? "danger" : ""} disabled={busy || short} aria-busy={busy}>
          {act.button}
        </button>
      </footer>
    </form>
  );
}

export function ActDialog(): JSX.Element | null {
  const act = asked.value;
  if (!act) return null;
  const close = (): void => {
    asked.value = null;
  };
  return (
    <Dialog title={act.title} close={close} key={act.title}>
      {may(act.role) ? (
        <ActForm act={act} close={close} />
      ) : (
        <>
          {act.text}
          <NoRole role={act.role} />
          <footer>
            <button type="button" class="secondary" onClick={close}>
              {t("act.leave")}
            </button>
          </footer>
        </>
      )}
    </Dialog>
  );
}
