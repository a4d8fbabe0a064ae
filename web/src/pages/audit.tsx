// The audit log: is it whole, what stands in it, and proofs to take along.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, get } from "../api/client";
import type { AuditRecord } from "../api/types";
import type { AuditState } from "../api/types";
import { count } from "../fmt/number";
import { t, word, wordsOf } from "../i18n/i18n";
import { heard } from "../i18n/said";
import { Ago, Badge, ErrorNote, Heading, QueryChoice, ServiceChoice, Show } from "../parts/basic";
import { RecordList } from "../parts/records";
import { useLoad } from "../state/load";
import { query, setQuery } from "../state/url";

interface Checked {
  good: boolean;
  records: number;
  checkpoints: number;
  first_bad_record: number | null;
  why: string | null;
}

function VerifyNow(): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<Checked | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const run = (): void => {
    setBusy(true);
    setError(null);
    get<Checked>("/api/v1/audit/verify")
      .then(setResult, (e: unknown) => {
        if (e instanceof ApiError) setError(e);
      })
      .finally(() => {
        setBusy(false);
      });
  };
  return (
    <>
      <button type="button" class="secondary" disabled={busy} aria-busy={busy} onClick={run}>
        {t("audit.verify-now")}
      </button>
      <span role="status">
        {result && (
          <Badge tone={result.good ? "good" : "bad"}>
            {result.good
              ? t("audit.verify-good", { n: count(result.records), checkpoints: count(result.checkpoints) })
              : t("audit.verify-bad", { n: result.first_bad_record ?? "?", why: heard(result.why) })}
          </Badge>
        )}
      </span>
      {error && <ErrorNote error={error} />}
    </>
  );
}

function State(p: { of: AuditState }): JSX.Element {
  const s = p.of;
  const v = s.verified;
  return (
    <dl class="facts">
      <div>
        <dt>{t("audit.size")}</dt>
        <dd class="num">{count(s.size)}</dd>
      </div>
      <div>
        <dt>{t("audit.verified")}</dt>
        <dd>
          {!v && t("top.audit-not-yet")}
          {v && (
            <>
              <Badge tone={v.good ? "good" : "bad"}>{t(v.good ? "audit.good" : "audit.bad")}</Badge> <Ago at={v.at} />
              {v.why && <div class="quote">{heard(v.why)}</div>}
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>{t("audit.checkpoint")}</dt>
        <dd>
          {!s.checkpoint && t("audit.no-checkpoint")}
          {s.checkpoint && (
            <>
              {t("audit.checkpoint-of", { n: count(s.checkpoint.size), origin: s.checkpoint.origin })}
              <code class="block">{s.checkpoint.root}</code>
              <a href="/api/v1/audit/checkpoint" download="checkpoint">
                {t("audit.checkpoint-get")}
              </a>
            </>
          )}
        </dd>
      </div>
    </dl>
  );
}

function Filters(): JSX.Element {
  return (
    <form
      class="filters"
      aria-label={t("audit.search")}
      onSubmit={(e) => {
        e.preventDefault();
      }}
    >
      <input
        type="search"
        aria-label={t("audit.search")}
        placeholder={t("audit.search")}
        value={query("q")}
        onInput={(e) => {
          setQuery({ q: e.currentTarget.value, before: "" });
        }}
      />
      <ServiceChoice clear={["before"]} />
      <QueryChoice
        name="kind"
        label={t("audit.kind")}
        values={wordsOf("record")}
        text={(v) => word("record", v)}
        clear={["before"]}
      />
    </form>
  );
}

function searchPath(): string {
  const q = new URLSearchParams({ limit: "100" });
  for (const key of ["q", "service", "kind", "by", "action", "since", "until", "before"])
    if (query(key)) q.set(key, query(key));
  return `/api/v1/audit/search?${q.toString()}`;
}

function exportPath(): string {
  const q = new URLSearchParams();
  for (const key of ["service", "since", "until"]) if (query(key)) q.set(key, query(key));
  const text = q.toString();
  return `/api/v1/audit/export${text ? `?${text}` : ""}`;
}

interface Found {
  records: AuditRecord[];
  next: number | null;
  size: number;
}

export function AuditPage(): JSX.Element {
  const onRecord = (e: { record: AuditRecord | null }): boolean => e.record !== null;
  const state = useLoad<AuditState>("/api/v1/audit/state", onRecord, 3000);
  const path = searchPath();
  const found = useLoad<Found>(path, (e) => onRecord(e) && !query("before"), 2000);
  return (
    <>
      <Heading title={t("nav.audit")} />
      <p>{t("audit.lead")}</p>
      <Show of={state}>{(s) => <State of={s} />}</Show>
      <p class="tools">
        <VerifyNow />{" "}
        <a href={exportPath()} download="audit.jsonl">
          {t("audit.export")}
        </a>
      </p>
      <Filters />
      <Show of={found}>
        {(f) => (
          <>
            <RecordList records={f.records} />
            <p class="tools">
              {query("before") && (
                <button
                  type="button"
                  class="secondary"
                  onClick={() => {
                    setQuery({ before: "" });
                  }}
                >
                  {t("audit.newest")}
                </button>
              )}
              {f.next !== null && f.records.length > 0 && (
                <button
                  type="button"
                  class="secondary"
                  onClick={() => {
                    setQuery({ before: String(f.next) });
                  }}
                >
                  {t("audit.older")}
                </button>
              )}
            </p>
          </>
        )}
      </Show>
    </>
  );
}
