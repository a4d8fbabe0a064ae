// All incidents, newest first: the way to a story of last night.
import type { JSX } from "preact";
import type { IncidentRow } from "../api/types";
import { secondsBetween } from "../fmt/time";
import { span, t, word } from "../i18n/i18n";
import { Badge, Choice, Empty, Heading, Link, Scroll, Show, When } from "../parts/basic";
import { lines } from "../state/live";
import { useLoad } from "../state/load";
import { incidentHref, query, serviceHref, setQuery } from "../state/url";

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
    </tr>
  );
}

function Filters(): JSX.Element {
  const states = ["", "open", "closed"].map((v) => ({ value: v, text: v ? word("incident-state", v) : t("all") }));
  const services = ["", ...lines.value.map((l) => l.service).sort()].map((v) => ({ value: v, text: v || t("all") }));
  return (
    <div class="filters">
      <Choice
        label={t("incidents.state")}
        value={query("state")}
        options={states}
        set={(v) => {
          setQuery({ state: v });
        }}
      />
      <Choice
        label={t("incidents.service")}
        value={query("service")}
        options={services}
        set={(v) => {
          setQuery({ service: v });
        }}
      />
    </div>
  );
}

export function IncidentsPage(): JSX.Element {
  const q = new URLSearchParams({ limit: "200" });
  if (query("state")) q.set("state", query("state"));
  if (query("service")) q.set("service", query("service"));
  const list = useLoad<{ incidents: IncidentRow[] }>(
    `/api/v1/incidents?${q.toString()}`,
    (e) => e.kind === "incident" || e.kind === "action",
    2000,
  );
  const cols = ["state", "incident", "symptom", "cause", "onset", "length", "actions", "last"];
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
      <p class="hint">
        <Link to={query("service") ? serviceHref(query("service")) : "/"}>{t("incidents.back")}</Link>
      </p>
    </>
  );
}
