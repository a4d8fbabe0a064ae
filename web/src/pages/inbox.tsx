// What waits for a person: the exact change, why, what could go wrong, how it is undone, and until when.
import type { JSX } from "preact";
import { seg } from "../api/client";
import type { InboxRequest } from "../api/types";
import { exact } from "../fmt/number";
import { countdown } from "../fmt/time";
import { span, t, word } from "../i18n/i18n";
import { formula, heard } from "../i18n/said";
import { ask } from "../parts/act";
import { Badge, ChangeList, Empty, Fold, Heading, Link, Show, When } from "../parts/basic";
import { Icon } from "../parts/icon";
import { SymptomList } from "../parts/service-tables";
import { secondsUntil } from "../state/live";
import { useLoad } from "../state/load";
import { incidentHref, serviceHref } from "../state/url";
import { causesText, gatesText, valuesText } from "../story/quoted";
import { parseRule, parseValues, ruleText } from "../story/rule";

function askApprove(r: InboxRequest, again: () => void): void {
  ask({
    title: t("inbox.approve-title", { service: r.service }),
    button: t("inbox.approve", { knob: r.knob, to: exact(r.to, r.unit) }),
    path: `/api/v1/services/${seg(r.service)}/approve`,
    body: { request: r.id },
    role: "operator",
    reason: "optional",
    text: (
      <>
        <Diff of={r} />
        <p>{t("inbox.measured-again")}</p>
      </>
    ),
    done: again,
  });
}

function askReject(r: InboxRequest, again: () => void): void {
  ask({
    title: t("inbox.reject-title", { service: r.service }),
    button: t("inbox.reject", { knob: r.knob, from: exact(r.from, r.unit) }),
    path: `/api/v1/services/${seg(r.service)}/reject`,
    body: { request: r.id },
    role: "operator",
    reason: "needed",
    text: <p>{t("inbox.reject-text")}</p>,
    done: again,
  });
}

export function Diff(p: { of: Pick<InboxRequest, "diff" | "knob" | "from" | "to" | "unit"> }): JSX.Element {
  const r = p.of;
  const list = r.diff.length ? r.diff : [{ what: r.knob, from: r.from, to: r.to, unit: r.unit }];
  return (
    <div class="diff" role="group" aria-label={t("inbox.diff")}>
      {list.map((d) => (
        <div key={d.what}>
          <div class="minus">
            <span class="sr">{t("inbox.now-is")}</span>
            {t("diff.minus", { what: d.what, value: exact(d.from, d.unit) })}
          </div>
          <div class="plus">
            <span class="sr">{t("inbox.will-be")}</span>
            {t("diff.plus", { what: d.what, value: exact(d.to, d.unit) })}
          </div>
        </div>
      ))}
    </div>
  );
}

function Countdown(p: { until: string | null }): JSX.Element {
  const left = secondsUntil(p.until);
  if (left === null) return <span>{t("unknown")}</span>;
  if (left <= 0) return <Badge tone="warn">{t("inbox.expired")}</Badge>;
  return (
    <span class={left < 120 ? "countdown soon" : "countdown"} role="timer">
      <Icon name="clock" />
      {t("inbox.left", { span: countdown(left) })}
    </span>
  );
}

function Changed(p: { of: InboxRequest }): JSX.Element | null {
  const now = p.of.now;
  if (!now || now.still_planned) return null;
  return (
    <div class="note tone-warn" role="status">
      <Icon name="alert" />
      <div>
        {t("inbox.changed", { why: word("reason", now.reason) })}
        <ChangeList of={now.changes} />
      </div>
    </div>
  );
}

const EVIDENCE_TEXT: Record<"rule" | "values" | "causes" | "gates" | "note", (text: string | null) => string> = {
  rule: (text) => formula(text ?? ""),
  values: valuesText,
  causes: causesText,
  gates: gatesText,
  note: heard,
};

const USUAL = ["latency_p99", "queue_depth", "gpu_util", "throughput"];

/** What the rule names comes first, then the usual suspects. */
export function threeValues(rule: string | null, values: string | null): { name: string; value: string }[] {
  const all = parseValues(values);
  const names = [...(parseRule(rule ?? "") ?? []).map((c) => c.signal), ...USUAL];
  const found = [...new Set(names)].flatMap((n) => all.filter((v) => v.name === n));
  return [...found, ...all.filter((v) => !found.includes(v))].slice(0, 3);
}

/** Three numbers say why; the rest is folded. */
function Why(p: { of: InboxRequest }): JSX.Element {
  const e = p.of.evidence;
  const rule = ruleText(e.rule);
  const values = threeValues(e.rule, e.values);
  return (
    <div>
      <h3>{t("inbox.why")}</h3>
      <p>
        {rule
          ? t("inbox.why-rule", { rule, cause: p.of.cause ?? "?" })
          : t("inbox.why-plain", { symptom: p.of.symptom ?? "?", cause: p.of.cause ?? "?" })}
      </p>
      <ul class="three">
        {values.map((v) => (
          <li key={v.name}>
            <b class="num">{v.value}</b> <span>{v.name}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Outlook(p: { of: InboxRequest }): JSX.Element {
  const r = p.of;
  const h = r.history;
  return (
    <dl class="outlook">
      <div>
        <dt>{t("inbox.expected")}</dt>
        <dd>
          {t("inbox.expected-plain", {
            knob: r.knob,
            settle: span(r.undo.settle_seconds),
            window: span(r.undo.window_seconds),
          })}
        </dd>
      </div>
      <div>
        <dt>{t("inbox.risk")}</dt>
        <dd>{t("inbox.risk-plain")}</dd>
      </div>
      <div>
        <dt>{t("inbox.undo")}</dt>
        <dd>{t("inbox.undo-text", { knob: r.knob, value: exact(r.undo.value, r.unit) })}</dd>
      </div>
      <div>
        <dt>{t("inbox.history")}</dt>
        <dd>
          {!h.known || h.tried === 0
            ? t("inbox.history-none")
            : t("inbox.history-text", { tried: h.tried, effective: h.effective, rolled: h.rolled_back })}
        </dd>
      </div>
      <div>
        <dt>{t("inbox.who-may")}</dt>
        <dd>{word("role-may", r.may)}</dd>
      </div>
    </dl>
  );
}

function Card(p: { of: InboxRequest; again: () => void }): JSX.Element {
  const r = p.of;
  return (
    <article class="card" aria-label={t("inbox.card", { service: r.service, knob: r.knob })}>
      <header>
        <h2>
          <Link to={serviceHref(r.service)}>{r.service}</Link>{" "}
          {t("inbox.wants", { knob: r.knob, from: exact(r.from, r.unit), to: exact(r.to, r.unit) })}
        </h2>
        <Countdown until={r.expires} />
      </header>
      <p class="hint">
        {t("inbox.meta", { class: word("class", r.class), tier: r.tier })} {t("inbox.asked")} <When at={r.asked_at} />{" "}
        {r.incident !== null && (
          <Link to={incidentHref(r.service, r.incident)}>{t("overview.incident", { n: r.incident })}</Link>
        )}
      </p>
      <Diff of={r} />
      <Changed of={r} />
      <Why of={r} />
      <Outlook of={r} />
      <Fold title={t("inbox.evidence")}>
        <dl class="evidence">
          {(["rule", "values", "causes", "gates", "note"] as const).map((k) =>
            r.evidence[k] ? (
              <div key={k}>
                <dt>{word("evidence", k)}</dt>
                <dd class="quote">{EVIDENCE_TEXT[k](r.evidence[k])}</dd>
              </div>
            ) : null,
          )}
          <div>
            <dt>{t("inbox.plan")}</dt>
            <dd class="quote">{r.plan}</dd>
          </div>
        </dl>
        {r.now && <SymptomList of={r.now.symptoms} />}
      </Fold>
      <footer>
        <button
          type="button"
          class="secondary"
          onClick={() => {
            askReject(r, p.again);
          }}
        >
          {t("inbox.reject", { knob: r.knob, from: exact(r.from, r.unit) })}
        </button>
        <button
          type="button"
          onClick={() => {
            askApprove(r, p.again);
          }}
        >
          {t("inbox.approve", { knob: r.knob, to: exact(r.to, r.unit) })}
        </button>
      </footer>
    </article>
  );
}

export function InboxPage(): JSX.Element {
  const inbox = useLoad<{ requests: InboxRequest[] }>("/api/v1/inbox", (e) => e.kind !== "health", 1500);
  return (
    <>
      <Heading title={t("nav.inbox")} />
      <Show of={inbox}>
        {({ requests }) =>
          requests.length === 0 ? (
            <Empty>{t("inbox.none")}</Empty>
          ) : (
            <div class="cards">
              {requests.map((r) => (
                <Card of={r} again={inbox.again} key={r.service + r.id} />
              ))}
            </div>
          )
        }
      </Show>
    </>
  );
}
