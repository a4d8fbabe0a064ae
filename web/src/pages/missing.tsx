import type { JSX } from "preact";
import { t } from "../i18n/i18n";
import { Heading, Link } from "../parts/basic";
import { place } from "../state/url";

export function MissingPage(): JSX.Element {
  return (
    <>
      <Heading title={t("missing.title")} />
      <p>{t("missing.text", { path: place.value.path })}</p>
      <p>
        <Link to="/">{t("nav.overview")}</Link>
      </p>
    </>
  );
}
