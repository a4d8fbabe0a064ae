// Language, light or dark, who is logged in.
import type { JSX } from "preact";
import { post, session } from "../api/client";
import { t } from "../i18n/i18n";
import { enter } from "../start";
import { lang, setLang, setTheme, theme, type Theme } from "../state/settings";
import { stopStream } from "../state/stream";
import { go } from "../state/url";
import { Choice, Link } from "./basic";
import { word } from "../i18n/i18n";

const THEMES: Theme[] = ["auto", "light", "dark"];

function logout(): void {
  stopStream();
  post("/api/v1/logout")
    .catch(() => undefined)
    .then(() => enter())
    .catch(() => undefined)
    .finally(() => {
      go("/login");
    });
}

function Person(): JSX.Element | null {
  const s = session.value;
  if (!s) return null;
  if (!s.authenticated || s.kind === "anonymous") return <Link to="/login">{t("menu.login")}</Link>;
  return (
    <>
      <span class="who">{t("menu.who", { name: s.name ?? "?", role: word("role", s.role) })}</span>
      {s.kind === "session" && (
        <button type="button" class="small secondary" onClick={logout}>
          {t("menu.logout")}
        </button>
      )}
    </>
  );
}

export function SettingsMenu(): JSX.Element {
  return (
    <div class="menu">
      <Person />
      <button
        type="button"
        class="small secondary"
        lang={lang.value === "en" ? "zh-CN" : "en"}
        onClick={() => {
          setLang(lang.value === "en" ? "zh" : "en");
        }}
      >
        {t("menu.other-language")}
      </button>
      <Choice
        label={t("menu.theme")}
        value={theme.value}
        set={setTheme}
        options={THEMES.map((v) => ({ value: v, text: word("theme", v) }))}
      />
    </div>
  );
}
