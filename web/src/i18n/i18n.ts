// Sentences come whole from the catalogue, with numbers passed in; nothing is glued together in code.
import type { ComponentChild } from "preact";
import { duration as spanText, type Words } from "../fmt/time";
import { lang, type Lang } from "../state/settings";
import book from "virtual:book";
import type en from "./en.json";

export type Key = keyof typeof en;
/** A parameter that is not known is shown as a question mark. */
export type Params = Record<string, string | number | null | undefined>;
export type RichParams = Record<string, ComponentChild>;

const [keys, english, chinese] = book;
const column = (texts: string[]): Record<string, string> =>
  Object.fromEntries(keys.map((key, i) => [key, texts[i] ?? ""]));
const BOOKS: Record<Lang, Record<string, string>> = { en: column(english), zh: column(chinese) };

/** {name} is a parameter; {name|one|many} chooses by number, as English needs it. */
const HOLE = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g;

export function fill(template: string, params: Params): string {
  return template.replace(HOLE, (_all, name: string, one?: string, many?: string) => {
    const value = params[name];
    if (one !== undefined && many !== undefined) return Number(value) === 1 ? one : many;
    if (!(name in params)) return `{${name}}`;
    return value === null || value === undefined ? "?" : String(value);
  });
}

export function tIn(l: Lang, key: Key, params: Params = {}): string {
  return fill(BOOKS[l][key] ?? key, params);
}

export function t(key: Key, params: Params = {}): string {
  return tIn(lang.value, key, params);
}

/** A word of the daemon (state, reason, unit ...): from the catalogue, else as it came. */
export function word(area: string, name: string | null | undefined): string {
  if (!name) return "";
  return BOOKS[lang.value][`${area}.${name}`] ?? name;
}

export const hasWord = (area: string, name: string): boolean => `${area}.${name}` in BOOKS.en;

/** The names of one area that are not small words of the catalogue's own (kinds of records are written large). */
export const wordsOf = (area: string): string[] =>
  keys
    .filter((k) => k.startsWith(`${area}.`))
    .map((k) => k.slice(area.length + 1))
    .filter((n) => n === n.toUpperCase());

/** The other way round: from the daemon's English sentence of one area to that of the reader. */
function reverse(area: string): (text: string) => string | null {
  const found = new Map(keys.flatMap((k, i) => (k.startsWith(`${area}.`) ? [[english[i] ?? "", k] as const] : [])));
  return (text) => {
    const key = found.get(text);
    return key ? (BOOKS[lang.value][key] ?? null) : null;
  };
}
export const reasonOf = reverse("reason");
export const meaningOf = reverse("meaning");

/** The sentence in pieces, so that a parameter may be a link or a time. */
export function rich(key: Key, params: RichParams): ComponentChild[] {
  const template = BOOKS[lang.value][key] ?? key;
  const out: ComponentChild[] = [];
  let from = 0;
  for (const m of template.matchAll(HOLE)) {
    out.push(template.slice(from, m.index));
    const value = params[m[1] ?? ""];
    if (m[2] !== undefined) out.push(Number(value) === 1 ? m[2] : m[3]);
    else out.push(value === undefined ? m[0] : value);
    from = m.index + m[0].length;
  }
  out.push(template.slice(from));
  return out;
}

export function spanWords(): Words {
  return { days: t("unit.days"), hours: t("unit.hours"), minutes: t("unit.minutes"), seconds: t("unit.seconds") };
}

export const span = (seconds: number): string => spanText(seconds, spanWords());
