// Each configuration that was in force, and what changed from one to the next.
import type { JSX } from "preact";
import { seg } from "../api/client";
import type { PolicyDiff, Revision } from "../api/types";
import { t } from "../i18n/i18n";
import { useLoad } from "../state/load";
import { query, setQuery } from "../state/url";
import { Badge, Choice, Empty, Scroll, Show, When } from "./basic";

/** Changed lines with three around them; the rest of an unchanged file is of no interest. */
export function nearChanges(lines: PolicyDiff["lines"], around = 3): (PolicyDiff["lines"][number] | null)[] {
  const keep = lines.map((_l, i) => lines.slice(Math.max(0, i - around), i + around + 1).some((x) => x.op !== " "));
  const out: (PolicyDiff["lines"][number] | null)[] = [];
  lines.forEach((l, i) => {
    if (keep[i]) out.push(l);
    else if (out[out.length - 1] !== null) out.push(null);
  });
  return out;
}

function DiffLines(p: { of: PolicyDiff }): JSX.Element {
  const lines = nearChanges(p.of.lines);
  if (!lines.some((l) => l && l.op !== " ")) return <Empty>{t("policy.no-change")}</Empty>;
  return (
    <Scroll label={t("policy.diff")}>
      <pre class="lines">
        {lines.map((l, i) =>
          l === null ? (
            <div key={i} class="gap">
              {t("policy.gap")}
            </div>
          ) : (
            <div key={i} class={l.op === "+" ? "plus" : l.op === "-" ? "minus" : ""}>
              {t("diff.line", { op: l.op, text: l.text })}
            </div>
          ),
        )}
      </pre>
    </Scroll>
  );
}

function Diff(p: { from: string; to: string }): JSX.Element {
  const diff = useLoad<PolicyDiff>(`/api/v1/policy/diff?from=${seg(p.from)}&to=${seg(p.to)}`);
  return <Show of={diff}>{(d) => <DiffLines of={d} />}</Show>;
}

function List(p: { all: Revision[] }): JSX.Element {
  const all = p.all;
  const to = query("to") || (all[0]?.revision ?? "");
  const from = query("from") || (all[1]?.revision ?? "");
  const options = all.map((r) => ({ value: r.revision, text: r.revision.slice(0, 12) }));
  return (
    <>
      <ol class="plain">
        {all.map((r) => (
          <li key={r.revision + String(r.loaded)}>
            <When at={r.loaded} long /> <code>{r.revision.slice(0, 12)}</code> <span>{r.path}</span>{" "}
            {r.in_force && <Badge tone="good">{t("policy.in-force")}</Badge>}
          </li>
        ))}
      </ol>
      {all.length < 2 ? (
        <p class="hint">{t("policy.one-revision")}</p>
      ) : (
        <>
          <div class="filters">
            <Choice
              label={t("policy.diff-from")}
              value={from}
              options={options}
              set={(v) => {
                setQuery({ from: v });
              }}
            />
            <Choice
              label={t("policy.diff-to")}
              value={to}
              options={options}
              set={(v) => {
                setQuery({ to: v });
              }}
            />
          </div>
          {from && to && <Diff from={from} to={to} />}
        </>
      )}
    </>
  );
}

export function Revisions(): JSX.Element {
  const list = useLoad<{ revisions: Revision[] }>("/api/v1/policy/revisions", (e) => e.record?.kind === "POLICY", 2000);
  return (
    <section>
      <h2>{t("policy.revisions")}</h2>
      <Show of={list}>{(l) => <List all={l.revisions} />}</Show>
    </section>
  );
}
