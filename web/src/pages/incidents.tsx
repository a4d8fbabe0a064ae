// All incidents, newest first: the way to a story of last night.
import type { JSX } from "preact";
import type { IncidentRow, Report } from "../api/types";
import { percent } from "../fmt/number";
import { secondsBetween } from "../fmt/time";
import { span, t, word } from "../i18n/i18n";
import { Badge, Empty, Heading, Link, QueryChoice, Scroll, ServiceChoice, Show, When } from "../parts/basic";
import { useLoad } from "../state/load";
import { incidentHref, query, serviceHref } from "../state/url";

function Row(p: { of: IncidentRow }): JSX.Element {
  const r = p.of;
  const length = secondsBetween(r.onset, r.closed);
  return (
    <tr>
      <td>
        <Badge tone={r.state === "open" ? "warn" : "good"}>{word("incident-state", r.state)}</Badge>
      </td>
      <th scope="row">
        <Link to={incidentHref(r.service, r.incident)}>
          {t("incident.title", { service: r.service, n: r.incident })}
        </Link>
      </th>
      <td>{r.symptom}</td>
      <td>{r.cause ?? t("unknown")}</td>
      <td>
        <When at={r.onset} />
      </td>
      <td>{length === null ? t("incidents.still") : span(length)}</td>
      <td class="num">{r.actions}</td>
      <td>{r.last ? word("record", r.last) : ""}</td>
      <td>{r.feedback ? word("feedback-short", r.feedback) : ""}</td>
    </tr>
  );
}

function Filters(): JSX.Element {
  return (
    <div class="filters">
      <QueryChoice
        name="state"
        label={t("incidents.state")}
        values={["open", "closed"]}
        text={(v) => word("incident-state", v)}
      />
      <ServiceChoice />
    </div>
  );
}

/** How often people said that an incident was none, of those they judged in the last two weeks. */
function FalseAlarms(): JSX.Element | null {
  const report = useLoad<Report>("/api/v1/report?since=14d", (e) => e.record?.kind === "FEEDBACK", 2000);
  const r = report.data?.false_alarm_rate;
  if (!r) return null;
  return (
    <p class="hint">
      {r.of === 0 || r.value === null
        ? t("feedback.no-rate")
        : t("feedback.rate", {
            n: r.n,
            of: r.of,
            percent: percent(r.value),
            low: percent(r.low),
            high: percent(r.high),
          })}
    </p>
  );
}

export function IncidentsPage(): JSX.Element {
  const q = new URLSearchParams({ limit: "200" });
  if (query("state")) q.set("state", query("state"));
  if (query("service")) q.set("service", query("service"));
  const list = useLoad<{ incidents: IncidentRow[] }>(
    `/api/v1/incidents?${q.toString()}`,
    (e) => e.kind === "incident" || e.kind === "action" || e.record?.kind === "FEEDBACK",
    2000,
  );
  const cols = ["state", "incident", "symptom", "cause", "onset", "length", "actions", "last", "feedback"];
  return (
    <>
      <Heading title={t("nav.incidents")}>
        <Filters />
      </Heading>
      <Show of={list}>
        {({ incidents }) =>
          incidents.length === 0 ? (
            <Empty>{t("incidents.none")}</Empty>
          ) : (
            <Scroll label={t("nav.incidents")}>
              <table>
                <thead>
                  <tr>
                    {cols.map((c) => (
                      <th scope="col" key={c}>
                        {word("incident-col", c)}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {incidents.map((r) => (
                    <Row of={r} key={`${r.service}/${String(r.incident)}`} />
                  ))}
                </tbody>
              </table>
            </Scroll>
          )
        }
      </Show>
      <FalseAlarms />
      <p class="hint">
        <Link to={query("service") ? serviceHref(query("service")) : "/"}>{t("incidents.back")}</Link>
      </p>
    </>
  );
}
