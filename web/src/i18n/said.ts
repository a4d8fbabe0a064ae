// What the daemon says in whole sentences (refusals, notes, findings, verdicts, advice of the playbook), in the language of the
// reader. The table's keys are the daemon's own sentences with holes for what is passed in; what it does not know stays as it came.
import { lang } from "../state/settings";
import { meaningOf, reasonOf, word } from "./i18n";
import said from "./said.json";

interface Pattern {
  test: RegExp;
  holes: string[];
  text: string;
}

/** What may stand in a hole, by its first letter: n number, v value with unit, name one word, text anything. */
const HOLES: Record<string, string> = {
  n: "(-?[\\d.,]+(?:e[-+]?\\d+)?)",
  v: "(-?[\\d.,]+(?:e[-+]?\\d+)?(?: ?[\\w%/]{1,8})?)",
  name: "([^\\s;]+)",
  text: "(.+?)",
};

const WORDS = ["verdict", "mode", "class", "role", "direction", "tri", "decision", "cause-verdict"];
const PIECES = ["; ", ". ", ": ", ", "];
const MARKS: Record<string, string> = { "; ": "\uff1b", ". ": "\u3002", ": ": "\uff1a", ", ": "\uff0c" };

function pattern(en: string, zh: string): Pattern {
  const holes: string[] = [];
  const source = en.split(/(\{[a-z]+\d\})/).map((part) => {
    const m = /^\{([a-z]+)\d\}$/.exec(part);
    if (!m) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    holes.push(part.slice(1, -1));
    return HOLES[m[1] ?? ""] ?? HOLES.text;
  });
  return { test: new RegExp(`^${source.join("")}$`), holes, text: zh };
}

const exact = new Map<string, string>();
let patterns: Pattern[] | null = null;

function table(): Pattern[] {
  if (patterns) return patterns;
  const all: Pattern[] = [];
  for (const [en, zh] of Object.entries(said)) {
    if (en.includes("{")) all.push(pattern(en, zh));
    else exact.set(en, zh);
  }
  // The longer a sentence, the surer it is the one that was meant.
  patterns = all.sort((a, b) => b.test.source.length - a.test.source.length);
  return patterns;
}

/** Words of the daemon's tables, as they stand inside its sentences. */
function single(text: string): string | null {
  for (const area of WORDS) {
    const found = word(area, text);
    if (found !== text) return found;
  }
  return null;
}

function whole(text: string): string | null {
  const all = table();
  const direct = exact.get(text) ?? reasonOf(text) ?? meaningOf(text) ?? single(text);
  if (direct) return direct;
  for (const p of all) {
    const m = p.test.exec(text);
    if (!m) continue;
    return p.text.replace(/\{([a-z]+)(\d)\}/g, (_all, _kind: string, n: string) => {
      const i = p.holes.findIndex((h) => h.endsWith(n));
      const value = m[i + 1] ?? "";
      return translate(value) ?? value;
    });
  }
  return null;
}

function inPieces(text: string): string | null {
  for (const mark of PIECES) {
    // A known sentence may hold the mark itself: the first border behind one that is known counts.
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
      const head = whole(text.slice(0, at));
      const tail = text.slice(at + mark.length);
      if (head !== null) return `${head}${MARKS[mark] ?? mark}${translate(tail) ?? tail}`;
    }
    const at = text.indexOf(mark);
    const tail = at < 0 ? null : translate(text.slice(at + mark.length));
    if (tail !== null) {
      const head = text.slice(0, at);
      return `${translate(head) ?? head}${MARKS[mark] ?? mark}${tail}`;
    }
  }
  const m = /^(.*\S) \((.+)\)$/.exec(text);
  const inside = m ? translate(m[2] ?? "") : null;
  const before = m ? translate(m[1] ?? "") : null;
  return m && (inside ?? before) ? `${before ?? m[1] ?? ""}\uff08${inside ?? m[2] ?? ""}\uff09` : null;
}

function translate(text: string): string | null {
  return text === "" ? null : (whole(text) ?? inPieces(text));
}

/** A rule with values filled in stays as it is, but for why a value is not known. */
export function formula(text: string): string {
  return text.replace(/unknown \(([^()]+)\)/g, (_all, why: string) => `unknown (${heard(why)})`);
}

/** A sentence of the daemon for the reader. */
export function heard(text: string | null | undefined): string {
  if (!text) return "";
  return lang.value === "en" ? text : (translate(text) ?? text);
}
