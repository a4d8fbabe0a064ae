// One incident as a readable story under the headings of the loop; evidence folded below each sentence.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { seg } from "../api/client";
import type { Compare, Story } from "../api/types";
import { t, word } from "../i18n/i18n";
import { say } from "../parts/act";
import { Badge, Fold, Heading, Link, Show, When } from "../parts/basic";
import { Feedback } from "../parts/feedback";
import { CompareBox } from "../parts/compare";
import { GateTree } from "../parts/gates";
import { Icon, type IconName } from "../parts/icon";
import { RecordList } from "../parts/records";
import { CauseTable } from "../parts/service-tables";
import { askCancel } from "../parts/service-acts";
import { secondsUntil } from "../state/live";
import { useLoad } from "../state/load";
import { incidentHref, route, serviceHref } from "../state/url";
import { factLabel, storySteps, type HeadName, type Step } from "../story/incident";
import { storyMarkdown } from "../story/markdown";

const HEAD_ICON: Record<HeadName, IconName> = {
  noticed: "eye",
  located: "alert",
  decided: "flag",
  asked: "question",
  did: "gear",
  watched: "clock",
  verdict: "check",
  undone: "undo",
  would: "info",
  ended: "dot",
};

function Evidence(p: { of: Step }): JSX.Element | null {
  if (p.of.facts.length === 0) return null;
  return (
    <Fold title={p.of.fold ?? t("incident.evidence", { n: p.of.facts.length })}>
      <dl class="evidence">
        {p.of.facts.map((f, i) => (
          <div key={i}>
            {f.label && <dt>{factLabel(f.label)}</dt>}
            <dd class={f.label ? "quote" : ""}>{f.text}</dd>
          </div>
        ))}
      </dl>
    </Fold>
  );
}

function CompareOf(p: { action: string }): JSX.Element {
  const at = p.action.lastIndexOf("/");
  const service = p.action.slice(0, at);
  const path = `/api/v1/actions/${seg(service)}/${seg(p.action.slice(at + 1))}/compare`;
  const compare = useLoad<Compare>(path, (e) => e.service === service, 3000);
  return (
    <section class="before-after">
      <h3>{t("incident.before-after")}</h3>
      <Show of={compare}>{(c) => <CompareBox of={c} />}</Show>
    </section>
  );
}

function StepItem(p: { of: Step; story: Story }): JSX.Element {
  const s = p.of;
  const live = p.story.live;
  return (
    <li class={`step head-${s.head}${s.pending ? " pending" : ""}`}>
      <div class="step-head">
        <Icon name={HEAD_ICON[s.head]} />
        <h2>{word("head", s.head)}</h2>
        {s.at ? <When at={s.at} /> : <span class="no-time">{t("story.no-time")}</span>}
      </div>
      <div class="step-body">
        <p class="say">{s.text}</p>
        <Evidence of={s} />
        {s.head === "located" && live && live.causes.length > 0 && (
          <Fold title={t("incident.causes-now")}>
            <CauseTable of={live.causes} />
          </Fold>
        )}
        {s.head === "decided" && live && s.pending && (
          <Fold title={t("incident.could-have-stopped")}>
            <GateTree gates={live.decision.gates} leftOut={live.decision.gates_left_out} />
          </Fold>
        )}
        {s.head === "verdict" && s.pending && live?.action && !live.halted && (
          <p class="acts no-print">
            <button
              type="button"
              class="small"
              onClick={() => {
                askCancel(p.story.service, live.action);
              }}
            >
              {t("cancel.short", { knob: live.action.knob, from: live.action.from })}
            </button>
          </p>
        )}
        {s.head === "watched" && s.attempt && <CompareOf action={s.attempt.action} />}
      </div>
    </li>
  );
}

function copy(story: Story, steps: Step[]): void {
  const text = storyMarkdown(story, steps, location.href);
  const clip = (navigator as { clipboard?: Clipboard }).clipboard;
  if (!clip) {
    say(t("incident.no-clipboard"));
    return;
  }
  clip.writeText(text).then(
    () => {
      say(t("incident.copied"));
    },
    () => {
      say(t("incident.no-clipboard"));
    },
  );
}

function Tools(p: { story: Story; steps: Step[] }): JSX.Element {
  const [shown, setShown] = useState(false);
  return (
    <>
      <p class="tools no-print">
        <button
          type="button"
          class="small secondary"
          onClick={() => {
            copy(p.story, p.steps);
          }}
        >
          {t("incident.copy")}
        </button>
        <button
          type="button"
          class="small secondary"
          aria-expanded={shown}
          onClick={() => {
            setShown(!shown);
          }}
        >
          {t("incident.markdown")}
        </button>
        <button
          type="button"
          class="small secondary"
          onClick={() => {
            print();
          }}
        >
          {t("incident.print")}
        </button>
      </p>
      {shown && (
        <textarea
          class="markdown no-print"
          readOnly
          rows={12}
          aria-label={t("incident.markdown")}
          value={storyMarkdown(p.story, p.steps, location.href)}
        />
      )}
    </>
  );
}

function Told(p: { story: Story; again: () => void }): JSX.Element {
  const s = p.story;
  const steps = storySteps(s, secondsUntil);
  return (
    <article class="story">
      <p class="lead">
        <Badge tone={s.state === "open" ? "warn" : "good"}>{word("incident-state", s.state)}</Badge>{" "}
        <Link to={serviceHref(s.service)}>{s.service}</Link> {t("incident.lead", { symptom: s.symptom })}{" "}
        {t("incident.since")} <When at={s.onset} long />
        {s.closed && (
          <>
            {" "}
            {t("incident.until")} <When at={s.closed} long />
          </>
        )}
      </p>
      {s.live?.request && (
        <p class="note tone-info">
          <Icon name="question" />
          <Link to="/inbox">{t("overview.decide")}</Link>
        </p>
      )}
      <Tools story={s} steps={steps} />
      <ol class="steps">
        {steps.map((x, i) => (
          <StepItem of={x} story={s} key={`${x.head}${String(i)}`} />
        ))}
      </ol>
      <Feedback of={s} again={p.again} />
      <h2>{t("incident.records")}</h2>
      <p class="hint">{t("incident.records-hint")}</p>
      <RecordList records={s.records} />
    </article>
  );
}

export function IncidentPage(): JSX.Element {
  const [service = "", n = ""] = route.value.args;
  const path = `/api/v1/incidents/${seg(service)}/${seg(n)}/story`;
  const story = useLoad<Story>(path, (e) => e.service === service, 1500);
  return (
    <>
      <Heading title={t("incident.title", { service, n })} />
      <Show of={story}>{(s) => <Told story={s} again={story.again} />}</Show>
      <p class="no-print">
        <Link to={incidentHref(service, Number(n))}>{t("incident.link")}</Link>
      </p>
    </>
  );
}
