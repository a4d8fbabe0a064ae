// The frame of every page: who and what, the switch, the way to the pages, what is out of order.
import type { ComponentType, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { may, session } from "./api/client";
import { span, t, word } from "./i18n/i18n";
import { heard } from "./i18n/said";
import { ActDialog, toast } from "./parts/act";
import { ErrorNote, Link } from "./parts/basic";
import { Boundary } from "./parts/boundary";
import { HaltAll, HaltBanner } from "./parts/halt";
import { Icon } from "./parts/icon";
import { SettingsMenu } from "./parts/menu";
import { AuditPage } from "./pages/audit";
import { HealthPage } from "./pages/health";
import { InboxPage } from "./pages/inbox";
import { IncidentPage } from "./pages/incident";
import { IncidentsPage } from "./pages/incidents";
import { LoginPage, SetupPage } from "./pages/login";
import { MissingPage } from "./pages/missing";
import { OverviewPage } from "./pages/overview";
import { PolicyPage } from "./pages/policy";
import { ServicePage } from "./pages/service";
import { TuningPage } from "./pages/tuning";
import { UsersPage } from "./pages/users";
import { startError } from "./start";
import { beat, counts, link, secondsUntil, status, statusError } from "./state/live";
import { place, route } from "./state/url";

const PAGES: Record<string, ComponentType> = {
  overview: OverviewPage,
  service: ServicePage,
  incident: IncidentPage,
  incidents: IncidentsPage,
  inbox: InboxPage,
  audit: AuditPage,
  policy: PolicyPage,
  tuning: TuningPage,
  health: HealthPage,
  login: LoginPage,
  setup: SetupPage,
  users: UsersPage,
  missing: MissingPage,
};

function Verified(): JSX.Element {
  const v = status.value?.audit.verified;
  if (!v) return <span>{t("top.audit-not-yet")}</span>;
  if (!v.good) {
    return (
      <span class="bad">
        <Icon name="cross" />
        {t("top.audit-bad")}
      </span>
    );
  }
  const ago = -(secondsUntil(v.at) ?? 0);
  return (
    <span class="good">
      <Icon name="check" />
      {t("top.audit-good", { span: span(ago) })}
    </span>
  );
}

function Numbers(): JSX.Element | null {
  if (!status.value) return null;
  const c = counts.value;
  return (
    <p class="numbers">
      <span>{t("top.watching", { n: c.services })}</span>
      <span class={c.acting ? "strong" : ""}>{t("top.acting", { n: c.acting })}</span>
      <span class={c.asking ? "strong" : ""}>{t("top.asking", { n: c.asking })}</span>
      <span class={c.person ? "strong" : ""}>{t("top.person", { n: c.person })}</span>
      <Verified />
      {status.value.clock_speed !== 1 && <span>{t("top.speed", { n: status.value.clock_speed })}</span>}
      {status.value.dry_run && <span class="strong">{t("top.dry-run")}</span>}
    </p>
  );
}

function LinkState(): JSX.Element | null {
  const l = link.value;
  if (l.state === "live" || l.state === "starting") return null;
  const since = span((beat.value - l.since) / 1000);
  return (
    <div class={`banner ${l.state}`} role="status">
      <Icon name="clock" />
      <div>{t(l.state === "lost" ? "link.lost" : "link.polling", { span: since })}</div>
    </div>
  );
}

function Troubles(): JSX.Element {
  const s = status.value;
  return (
    <>
      {s && !s.ready && (
        <div class="banner polling" role="status">
          <Icon name="clock" />
          <div>{t("top.not-ready", { why: heard(s.not_ready_why) })}</div>
        </div>
      )}
      {s?.audit.trouble && (
        <div class="banner halted" role="alert">
          <Icon name="cross" />
          <div>{t("top.audit-trouble", { why: heard(s.audit.trouble) })}</div>
        </div>
      )}
      {s && !s.last_reload_good && (
        <div class="banner polling" role="status">
          <Icon name="alert" />
          <div>
            {t("top.reload-bad")} <Link to="/health">{t("nav.health")}</Link>
          </div>
        </div>
      )}
    </>
  );
}

function Nav(): JSX.Element {
  const here = route.value.page;
  const asking = counts.value.asking;
  const items = ["overview", "inbox", "incidents", "audit", "policy", "tuning", "health"];
  if (may("admin")) items.push("users");
  return (
    <nav aria-label={t("nav.label")}>
      {items.map((page) => (
        <Link
          key={page}
          to={page === "overview" ? "/" : `/${page}`}
          current={
            here === page ||
            (page === "overview" && here === "service") ||
            (page === "incidents" && here === "incident")
          }
        >
          {word("nav", page)}
          {page === "inbox" && asking > 0 && <span class="count">{asking}</span>}
        </Link>
      ))}
    </nav>
  );
}

function Top(p: { inside: boolean }): JSX.Element {
  const name = status.value?.name;
  return (
    <header class="top">
      <div class="bar">
        <Link to="/" class="brand">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="7" />
            <path class="sail" d="M6 21h13l7-9v9z" />
            <path class="tab" d="M19 21l7-9" />
          </svg>
          {t("brand")}
        </Link>
        {p.inside && name && <span class="origin">{name.replace(/^trimtab\//, "")}</span>}
        {p.inside && <Numbers />}
        <SettingsMenu />
        {p.inside && <HaltAll />}
      </div>
      {p.inside && <Nav />}
    </header>
  );
}

function Toast(): JSX.Element {
  const shown = toast.value && beat.value - toast.value.at < 12_000 ? toast.value.text : "";
  return (
    <div class="toast" role="status" aria-live="polite">
      {shown && <span>{shown}</span>}
    </div>
  );
}

function Body(): JSX.Element {
  const s = session.value;
  const { page, args } = route.value;
  if (startError.value) return <ErrorNote error={startError.value} />;
  const open = page === "login" || page === "setup";
  const waiting = s?.role !== "none" && !open && !status.value && !statusError.value;
  if (!s || waiting) {
    return (
      <p class="loading" aria-busy="true">
        {t("loading")}
      </p>
    );
  }
  const Page = s.role === "none" && !open ? LoginPage : (PAGES[page] ?? MissingPage);
  return (
    <Boundary key={page + args.join("/")}>
      <Page />
    </Boundary>
  );
}

/** A new page takes the focus to its title, so that a keyboard and a screen reader start there; the first one is the browser's. */
function useTitleFocus(): void {
  const path = place.value.path;
  const shown = useRef(path);
  useEffect(() => {
    const title = document.getElementById("page-title");
    document.title = title?.textContent ? `${title.textContent} \u00b7 trimtab` : "trimtab";
    if (!title || shown.current === path) return;
    shown.current = path;
    title.focus({ preventScroll: true });
  });
}

export function App(): JSX.Element {
  useTitleFocus();
  const s = session.value;
  const inside = s !== null && s.role !== "none";
  return (
    <>
      <a class="skip" href="#main">
        {t("skip")}
      </a>
      <Top inside={inside} />
      <div class="banners">
        <LinkState />
        {inside && <HaltBanner />}
        {inside && <Troubles />}
      </div>
      <main id="main" tabIndex={-1}>
        <Body />
      </main>
      <ActDialog />
      <Toast />
    </>
  );
}
