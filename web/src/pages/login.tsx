// The door. And the first admin's one-time way in.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, post, session } from "../api/client";
import { span, t, word } from "../i18n/i18n";
import { errorText, Heading, Link } from "../parts/basic";
import { Icon } from "../parts/icon";
import { enter } from "../start";
import { go, query } from "../state/url";

/** Only back into the console: another address in the link is no place to send anybody. */
export function safeNext(next: string): string {
  return /^\/(?![/\\])/.test(next) && !next.startsWith("/login") ? next : "/";
}

function useSend(
  path: string,
  next: string,
): { busy: boolean; error: string | null; send: (body: Record<string, string>) => void } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const send = (body: Record<string, string>): void => {
    setBusy(true);
    setError(null);
    post(path, body)
      .then(() => enter())
      .then(
        () => {
          go(safeNext(next), true);
        },
        (e: unknown) => {
          setBusy(false);
          const bad = e instanceof ApiError && e.status === 401;
          setError(bad ? t("login.bad") : e instanceof ApiError ? errorText(e) : String(e));
        },
      );
  };
  return { busy, error, send };
}

function Field(p: { name: string; label: string; type: string; complete: string; hint?: string }): JSX.Element {
  return (
    <label>
      {p.label}
      <input
        name={p.name}
        type={p.type}
        autocomplete={p.complete}
        required
        aria-describedby={p.hint ? `${p.name}-hint` : undefined}
      />
      {p.hint && <small id={`${p.name}-hint`}>{p.hint}</small>}
    </label>
  );
}

function values(form: HTMLFormElement): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [k, v] of new FormData(form)) if (typeof v === "string") out[k] = v;
  return out;
}

function Refused(p: { text: string | null }): JSX.Element {
  return (
    <div role="alert">
      {p.text && (
        <p class="note tone-bad">
          <Icon name="cross" />
          <span>{p.text}</span>
        </p>
      )}
    </div>
  );
}

export function LoginPage(): JSX.Element {
  const { busy, error, send } = useSend("/api/v1/login", query("next"));
  const s = session.value;
  return (
    <div class="door">
      <Heading title={t("login.title")} />
      {query("ended") && <p class="note tone-warn">{t("login.ended")}</p>}
      {s?.setup_open && <p class="note tone-info">{t("login.setup-open")}</p>}
      {s && s.role !== "none" && s.kind === "session" && (
        <p class="note tone-info">{t("login.already", { name: s.name ?? "?", role: word("role", s.role) })}</p>
      )}
      <form
        onSubmit={(e) => {
          e.preventDefault();
          send(values(e.currentTarget));
        }}
      >
        <Field name="name" label={t("login.name")} type="text" complete="username" />
        <Field name="password" label={t("login.password")} type="password" complete="current-password" />
        <Refused text={error} />
        <button type="submit" disabled={busy} aria-busy={busy}>
          {t("login.button")}
        </button>
      </form>
      {s && s.role !== "none" && (
        <p>
          <Link to="/">{t("login.read-on")}</Link>
        </p>
      )}
      {s && s.idle_seconds !== null && <p class="hint">{t("login.idle", { span: span(s.idle_seconds) })}</p>}
    </div>
  );
}

export function SetupPage(): JSX.Element {
  const token = location.hash.replace(/^#/, "");
  const { busy, error, send } = useSend("/api/v1/setup", "/");
  return (
    <div class="door">
      <Heading title={t("setup.title")} />
      <p>{t("setup.text")}</p>
      {!token && <p class="note tone-warn">{t("setup.no-token")}</p>}
      <form
        onSubmit={(e) => {
          e.preventDefault();
          send({ ...values(e.currentTarget), token });
        }}
      >
        <Field name="name" label={t("login.name")} type="text" complete="username" />
        <Field
          name="password"
          label={t("login.password")}
          type="password"
          complete="new-password"
          hint={t("users.password-hint")}
        />
        <Refused text={error} />
        <button type="submit" disabled={busy || !token} aria-busy={busy}>
          {t("setup.button")}
        </button>
      </form>
    </div>
  );
}
