// The daemon's own sentences in Chinese: every one that stands in its source and can reach a page.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { heard } from "../src/i18n/said";
import said from "../src/i18n/said.json";
import { lang } from "../src/state/settings";

const TOP = join(new URL(".", import.meta.url).pathname, "..", "..");
const ROOMS = ["loop", "decide", "verify"].map((r) => join(TOP, "src", r));
const API = join(TOP, "src", "api");
const APP = join(TOP, "src", "app");
const APP_FILES = "daemon_effects daemon_v1 daemon_api daemon_modes daemon_feedback".split(" ").map((n) => `${n}.c`);

// What a page never gets to see: requests that only programs can write, lines of a table to import, words of the log.
const NOT_FOR_PAGES = new RegExp(
  `^(${[
    "line \\d|line %|via is|leave `by`|kind is deploy|no such command|last is|'%s'|unknown key|the body|no memory",
    "%u rows|; the others|%s is a whole|cannot write|%s: a token|trimtab plan|mode%s|until is a time like|since is a time",
    "\\{|rows|the configuration before| of class ",
  ].join("|")})`,
);

const inRoom = (dir: string): string[] =>
  readdirSync(dir)
    .filter((n) => n.endsWith(".c") && !n.endsWith("_test.c"))
    .map((n) => join(dir, n));

/** Text literals that are sentences; those glued together from pieces are covered by the samples below. */
function sentences(file: string): string[] {
  const text = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  const out: string[] = [];
  for (const m of text.matchAll(/(?:"(?:[^"\\\n]|\\.)*"\s*)+/g)) {
    const literal = [...m[0].matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((x) => x[1] ?? "").join("");
    if (!/[A-Za-z]{2,} [a-z]{2,}/.test(literal) || NOT_FOR_PAGES.test(literal)) continue;
    const before = text.slice(0, m.index);
    const statement = before.slice(before.lastIndexOf(";") + 1);
    if (/\b(buf_puts|buf_printf|log_line|notice|daemon_notice|told|say)\s*\(/.test(statement)) continue;
    out.push(literal.replace(/\\"/g, '"').replace(/\\n/g, "").trim());
  }
  return out;
}

const sample = (literal: string): string =>
  literal
    .replace(/%%/g, "%")
    .replace(/%(?:\.?\*?\d*)?(?:l|ll|z)?([sdu])/g, (_m, kind: string) => (kind === "s" ? "abc" : "7"));

/** Three English words in a row are a sentence that nobody has translated. */
const ENGLISH = /\b[a-z]{2,}(?: [a-z]{2,}){2,}/;

function untranslated(text: string): string | null {
  const out = heard(text);
  return /[\u4e00-\u9fff]/.test(out) && !ENGLISH.test(out.replace(/trimtab [a-z-]+( [A-Za-z-]+)*/g, ""))
    ? null
    : `${text} => ${out}`;
}

describe("sentences of the daemon", () => {
  beforeAll(() => {
    lang.value = "zh";
    return () => {
      lang.value = "en";
    };
  });

  it("are all translated: refusals, answers, notes of gates, reasons of verdicts", () => {
    const files = [
      ...ROOMS.flatMap(inRoom),
      ...inRoom(API).filter((f) => /\/(v1\w*|gate|login|people|auth)\.c$/.test(f) && !/v1_(body|words)\.c$/.test(f)),
      ...APP_FILES.map((n) => join(APP, n)),
    ];
    const all = [...new Set(files.flatMap(sentences))];
    expect(all.length).toBeGreaterThan(130);
    expect(all.map((s) => untranslated(sample(s))).filter((x) => x !== null)).toEqual([]);
  });

  it("those made of pieces are translated as well", () => {
    const samples = [
      "latency_p99 46.8 ms is 23 % above its own normal 38.1 ms (60 ticks)",
      "gpu_util 78 % is 6 points above its own normal 72 % (60 ticks)",
      "queue_depth last 5 min are 4.2 scales above the 30 min before: 320 against 98 (60 blocks)",
      "latency_p99 departs from level and time of day 3.4 times as far as its own 99.5 % quantile allows (1200 scores)",
      "latency_p99 median of 24 h 46.8 ms is 23 % above its anchor's 38.1 ms (96 slots of 15 min)",
      "latency_p99 46.8 ms is 23 % above what its anchor shows for this time 38.1 ms (14 days)",
      "latency_p99 46.8 ms is 23 % above the same time last week 38.1 ms",
      "latency_p99 46.8 ms is 23 % above its own normal 38.1 ms (60 ticks); queue_depth 320 is 229 % above " +
        "its own normal 97.3 (60 ticks)",
      "effective: latency, queue, throughput and errors are all good. Latency 46.8 -> 38.6 ms, 17.5 % " +
        "lower (sure: 14 to 21 % lower). 92 wait in the queue, at most 250 may. Throughput 3 % higher. Load " +
        "as before",
      "ineffective: no clear change: the difference may be chance. Latency 46.8 -> 46.5 ms, 0.6 % lower " +
        "(sure: 3 % lower to 2.1 % higher). Throughput as before. The load is not measured",
      "harmful: latency jumps about more than 1.5 times as much as it did. Latency 1,040 -> 1,200 ms, 15.4 " +
        "% higher (sure: 9 to 20 % higher). It jumps by 40.1 from one half minute to the next, at most 12 may",
      "latency 96.1 is 25 % beyond its peak from before the change: the limit is 80, three times in a row",
      "21 of 30 points, 6 of 8 blocks since the onset",
      "30 of 30 points, 8 of 8 blocks since the onset; latency is still changing too fast for a fair comparison",
      "until 04:10 UTC",
      "until 2026-12-02 04:10 UTC",
      "2 of 2 in flight, 3 of 6 in the last hour",
      "batch_size 28.1 is not over 0.85 * 64",
      "coupled with queue_max, which is 512",
      "freeze w1 by li until 2026-12-02 04:10 UTC: load test",
      "maintenance w2 by li until 2026-12-02 04:10 UTC",
      "freeze nights until 2026-12-02 04:10 Asia/Shanghai; a stage of trimtab is silent",
      "batch_max 32 -> 64 by auto at 2026-12-01T00:00:00.000Z",
      "batch_max to 48 by somebody else at 2026-12-01T00:00:00.000Z",
      "median 46.8, jitter 3.1, queue 1,320",
      "mode changed from alert to auto by a reload",
      "3120 rows of history for embedding",
      "mode of class batch changed from alert to auto by a reload",
      "upstream-data: look at the feature service and its network path",
    ];
    expect(samples.map(untranslated).filter((x) => x !== null)).toEqual([]);
  });

  it("so are the advice of the playbook and the examples, reasons and meanings", () => {
    const advice = ["presets", "examples"]
      .flatMap((dir) => readdirSync(join(TOP, dir)).map((n) => join(TOP, dir, n)))
      .filter((f) => f.endsWith(".yaml"))
      .flatMap((f) =>
        [...readFileSync(f, "utf8").matchAll(/"advise: ([^"]+)"/g)].map((m) => m[1] ?? "").filter((x) => x !== "TEXT"),
      );
    expect(advice.length).toBeGreaterThan(60);
    const model = (name: string, row: RegExp): string[] =>
      [...readFileSync(join(TOP, "src/model", name), "utf8").matchAll(row)].map((m) => m[1] ?? "");
    const reasons = model("reason.def", /^REASON\(\w+, "[^"]+", \w+, "([^"]+)"/gm);
    const meanings = model("record.def", /^KIND\(\w+, "[^"]+", "([^"]+)"/gm);
    const enums = readFileSync(join(TOP, "src/model/enums.h"), "utf8");
    const table = enums.slice(enums.indexOf("#define UNKNOWN_TABLE")).split("\n\n")[0] ?? "";
    const unknown = [...table.matchAll(/X\(\w+, "[^"]+", "([^"]+)"\)/g)].map((m) => m[1] ?? "");
    expect(unknown.length).toBeGreaterThan(15);
    expect(reasons.length).toBeGreaterThan(50);
    expect(meanings.length).toBeGreaterThan(30);
    expect([...advice, ...reasons, ...meanings, ...unknown].map(untranslated).filter((x) => x !== null)).toEqual([]);
  });

  it("keep what is not theirs: names, numbers, comments of people", () => {
    expect(heard("please look at <b>this</b>, it is odd")).toBe("please look at <b>this</b>, it is odd");
    expect(heard("freeze w1 by li until 2026-12-02 04:10 UTC: load test")).toContain("load test");
    expect(heard("latency_p99 46.8 ms is 23 % above its own normal 38.1 ms (60 ticks)")).toBe(
      "latency_p99 46.8 ms 比自身正常值 38.1 ms 高 23 %（60 次检查）",
    );
    expect(heard(null)).toBe("");
  });

  it("pass on every hole", () => {
    const holes = (text: string): string[] => [...text.matchAll(/\{[a-z]+(\d)\}/g)].map((m) => m[1] ?? "").sort();
    for (const [en, zh] of Object.entries(said as Record<string, string>)) expect(holes(zh), en).toEqual(holes(en));
  });

  it("stay as they are in English", () => {
    lang.value = "en";
    expect(heard("no request waits for a person")).toBe("no request waits for a person");
    lang.value = "zh";
  });
});
