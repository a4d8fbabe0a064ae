import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import en from "../src/i18n/en.json";
import { fill, hasWord, rich, t } from "../src/i18n/i18n";
import zh from "../src/i18n/zh.json";
import { lang } from "../src/state/settings";

const EN = en as Record<string, string>;
const ZH = zh as Record<string, string>;
const SRC = join(new URL(".", import.meta.url).pathname, "..", "src");
const MODEL = join(SRC, "..", "..", "src", "model");

const params = (text: string): string[] => [...new Set([...text.matchAll(/\{(\w+)/g)].map((m) => m[1] ?? ""))].sort();

function files(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) =>
    e.isDirectory() ? files(join(dir, e.name)) : /\.tsx?$/.test(e.name) ? [join(dir, e.name)] : [],
  );
}

describe("catalogues", () => {
  it("have the same keys", () => {
    expect(Object.keys(ZH).sort()).toEqual(Object.keys(EN).sort());
  });

  it("have the same parameters in each sentence", () => {
    for (const key of Object.keys(EN)) {
      expect({ key, params: params(ZH[key] ?? "") }).toEqual({ key, params: params(EN[key] ?? "") });
    }
  });

  it("have no empty sentence, and Chinese where the English is a sentence", () => {
    for (const key of Object.keys(EN)) {
      expect(EN[key], key).toBeTruthy();
      expect(ZH[key], key).toBeTruthy();
      if (/[a-z]{3,} [a-z]{3,}/.test(EN[key] ?? "")) expect(ZH[key], key).toMatch(/[\u4e00-\u9fff]/);
    }
  });

  it("know every word that the code asks for by name", () => {
    const missing: string[] = [];
    for (const file of files(SRC)) {
      const text = readFileSync(file, "utf8");
      for (const m of text.matchAll(/\b(?:t|rich)\(\s*"([^"]+)"/g)) if (!((m[1] ?? "") in EN)) missing.push(m[1] ?? "");
      for (const m of text.matchAll(/"(story\.fact\.[\w-]+)"/g)) if (!((m[1] ?? "") in EN)) missing.push(m[1] ?? "");
    }
    expect(missing).toEqual([]);
  });
});

// The daemon's own tables: a word added there without a translation fails here.
describe("words of the daemon", () => {
  const table = (name: string, file = "enums.h"): string[] => {
    const text = readFileSync(join(MODEL, file), "utf8");
    const at = text.indexOf(`#define ${name}(X)`);
    expect(at, name).toBeGreaterThan(-1);
    const lines = text.slice(at).split("\n");
    const end = lines.findIndex((l) => !l.endsWith("\\"));
    const body = lines.slice(0, end + 1).join("\n");
    return [...body.matchAll(/X\(\w+, "([^"]*)"/g)].map((m) => m[1] ?? "");
  };
  const all = (area: string, names: string[]): void => {
    expect(names.length, area).toBeGreaterThan(1);
    expect(names.filter((n) => n && !hasWord(area, n))).toEqual([]);
  };

  it("states, modes, verdicts, classes, groups, layers", () => {
    all("state-now", table("STATE_TABLE"));
    all("mode", table("MODE_TABLE"));
    all("verdict", table("VERDICT_TABLE"));
    all("class", table("CLASS_TABLE"));
    all("group", table("CAUSE_GROUP_TABLE"));
    all("layer", table("LAYER_TABLE"));
    all("cause-verdict", table("CAUSE_VERDICT_TABLE"));
    all("decision", table("DECISION_TABLE"));
    all("direction", table("DIRECTION_TABLE"));
    all("series-state", table("SERIES_STATE_TABLE"));
    all("module", table("MODULE_TABLE"));
    all("why", table("UNKNOWN_TABLE"));
    all("read-class", table("READ_CLASS_TABLE"));
    all("warm", table("WARM_TABLE", "view.h"));
  });

  it("reasons, and for each gate its name and what opens it", () => {
    const text = readFileSync(join(MODEL, "reason.def"), "utf8");
    const rows = [...text.matchAll(/^REASON\(\w+, "([^"]+)", (\w+)/gm)].map((m) => ({
      code: m[1] ?? "",
      kind: m[2] ?? "",
    }));
    all("reason", rows.map((r) => r.code)); // prettier-ignore
    const gates = rows.filter((r) => ["SERVICE", "CANDIDATE", "PERSON", "LAST"].includes(r.kind)).map((r) => r.code);
    all("gate", gates);
    all("opens", gates);
  });

  it("kinds of audit records", () => {
    const text = readFileSync(join(MODEL, "record.def"), "utf8");
    all("record", [...text.matchAll(/^KIND\(\w+, "([^"]+)"/gm)].map((m) => m[1] ?? "")); // prettier-ignore
  });
});

describe("templates", () => {
  it("fill in parameters and choose by number", () => {
    expect(fill("{n} {n|gate is|gates are} shut", { n: 1 })).toBe("1 gate is shut");
    expect(fill("{n} {n|gate is|gates are} shut", { n: 2 })).toBe("2 gates are shut");
    expect(fill("{a} and {b}", { a: "x" })).toBe("x and {b}");
  });

  it("keep pieces for parts that are links", () => {
    lang.value = "en";
    expect(rich("record.by", { by: "<b>" })).toEqual(["by ", "<b>", ""]);
  });

  it("speak the language that is chosen", () => {
    lang.value = "zh";
    expect(t("nav.overview")).toBe("总览");
    lang.value = "en";
    expect(t("nav.overview")).toBe("Overview");
  });
});

// Text in code would be text in one language.
describe("code", () => {
  const WORDY = /[A-Za-z\u4e00-\u9fff]{2,}/;
  const SPOKEN = new Set(["aria-label", "title", "placeholder", "alt", "label"]);

  function literals(file: string): string[] {
    const source = ts.createSourceFile(
      file,
      readFileSync(file, "utf8"),
      ts.ScriptTarget.ES2022,
      true,
      ts.ScriptKind.TSX,
    );
    const found: string[] = [];
    const visit = (n: ts.Node): void => {
      if (ts.isJsxText(n) && WORDY.test(n.text)) found.push(`${file}: ${n.text.trim()}`);
      if (ts.isJsxAttribute(n) && n.initializer && ts.isStringLiteral(n.initializer)) {
        if (SPOKEN.has(n.name.getText(source)) && WORDY.test(n.initializer.text))
          found.push(`${file}: ${n.initializer.text}`);
      }
      if (ts.isJsxExpression(n) && n.expression && ts.isStringLiteral(n.expression) && ts.isJsxElement(n.parent)) {
        if (WORDY.test(n.expression.text)) found.push(`${file}: ${n.expression.text}`);
      }
      ts.forEachChild(n, visit);
    };
    visit(source);
    return found;
  }

  it("has no text nodes and no spoken attributes of its own", () => {
    expect(files(SRC).flatMap(literals)).toEqual([]);
  });

  it("has no Chinese outside the catalogue and no HTML from strings", () => {
    for (const file of files(SRC)) {
      const text = readFileSync(file, "utf8");
      expect(/[\u4e00-\u9fff]/.test(text), file).toBe(false);
      expect(/innerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write/.test(text), file).toBe(false);
    }
  });
});
