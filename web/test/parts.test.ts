import { gzipSync } from "node:zlib";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Gate, Line, SeriesSignal } from "../src/api/types";
import type { CompareSignal, Dist } from "../src/api/types";
import { safeNext } from "../src/pages/login";
import { rangeOf } from "../src/pages/service";
import { chartText, indexAt } from "../src/parts/chart";
import { joined, yRange } from "../src/parts/chart-options";
import { sampleTimes } from "../src/parts/chart-table";
import { shiftText } from "../src/parts/compare";
import { branchesOf } from "../src/parts/gates";
import { recordLine } from "../src/parts/records";
import { nearChanges } from "../src/parts/revisions";
import { frameOf } from "../src/parts/side";
import { sparkPath } from "../src/parts/spark";
import { visible } from "../src/parts/virtual";
import { countLines, mergeLine } from "../src/state/live";
import { chooseLang, lang } from "../src/state/settings";
import { incidentHref, routeOf } from "../src/state/url";

beforeEach(() => {
  lang.value = "en";
});

describe("addresses", () => {
  it("name pages and what they show", () => {
    expect(routeOf("/")).toEqual({ page: "overview", args: [] });
    expect(routeOf("/services/a%2Fb")).toEqual({ page: "service", args: ["a/b"] });
    expect(routeOf("/incidents/embed/3")).toEqual({ page: "incident", args: ["embed", "3"] });
    expect(routeOf("/incidents")).toEqual({ page: "incidents", args: [] });
    expect(routeOf("/audit/x").page).toBe("missing");
    expect(routeOf("/services/%zz")).toEqual({ page: "service", args: ["%zz"] });
    expect(incidentHref("a b", 3)).toBe("/incidents/a%20b/3");
  });

  it("after a login lead only into the console", () => {
    expect(safeNext("/audit?q=x")).toBe("/audit?q=x");
    for (const bad of [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "javascript:x",
      "",
      "/login?next=/",
    ])
      expect(safeNext(bad)).toBe("/");
  });

  it("hold a fixed window or a living one", () => {
    expect(rangeOf("1h", "", "", 10_000)).toEqual({ from: 6400, to: 10_000, live: true });
    expect(rangeOf("", "100", "200", 10_000)).toEqual({ from: 100, to: 200, live: false });
    expect(rangeOf("x", "200", "100", 10_000).live).toBe(true);
  });
});

describe("language", () => {
  it("is the stored one, else the browser's first that we speak", () => {
    expect(chooseLang("zh", ["en-US"])).toBe("zh");
    expect(chooseLang(null, ["fr", "zh-CN", "en"])).toBe("zh");
    expect(chooseLang(null, ["fr", "en-GB", "zh"])).toBe("en");
    expect(chooseLang("xx", [])).toBe("en");
  });
});

describe("the list", () => {
  it("draws only what is in sight", () => {
    expect(visible(0, 800, 64, 1000)).toEqual({ first: 0, end: 19 });
    expect(visible(64 * 500, 800, 64, 1000)).toEqual({ first: 494, end: 519 });
    expect(visible(64 * 990, 800, 64, 1000).end).toBe(1000);
  });

  it("carries the history of a line on when the stream sends none", () => {
    const at = (t: string, v: number, recent?: number[]): Line =>
      ({ at: t, latency: { now: { value: v, unit: "ms" }, recent } }) as unknown as Line;
    const old = at("2026-05-12T10:00:00Z", 1, [0, 1]);
    expect(mergeLine(old, at("2026-05-12T10:00:30Z", 2)).latency?.recent).toEqual([0, 1, 2]);
    expect(mergeLine(old, at("2026-05-12T10:00:01Z", 2)).latency?.recent).toEqual([0, 1]);
    expect(mergeLine(old, at("2026-05-12T10:00:30Z", 2, [9])).latency?.recent).toEqual([9]);
  });

  it("counts what the header says", () => {
    const l = (more: object): Line => ({ state: "watching", halted: false, ...more }) as unknown as Line;
    const c = countLines([
      l({}),
      l({ state: "settling" }),
      l({ request: {} }),
      l({ state: "person", incident: {} }),
      l({ halted: true }),
    ]);
    expect(c).toEqual({ services: 5, acting: 1, asking: 1, person: 1, halted: 1, open: 1 });
  });

  it("draws gaps as gaps", () => {
    expect(sparkPath([1, 2, null, 3], 1, 3).match(/M/g)?.length).toBe(2);
    expect(sparkPath([1, 2, 3], 1, 3)).toBe("M0.0 24.0L60.0 13.0L120.0 2.0");
  });
});

const signal = (more: Partial<SeriesSignal>): SeriesSignal => ({
  name: "latency_p99",
  layer: "request",
  unit: "ms",
  bad: "up",
  objective: null,
  t: [100, 130, 160],
  mean: [38, 46.8, null],
  min: [],
  max: [],
  baseline: [38, 38, 38],
  low: [36, 36, 36],
  high: [40, 40, 40],
  ...more,
});

describe("charts", () => {
  it("find the nearest point", () => {
    expect(indexAt([100, 130, 160], 114)).toBe(0);
    expect(indexAt([100, 130, 160], 116)).toBe(1);
    expect(indexAt([100, 130, 160], 999)).toBe(2);
    expect(indexAt([], 5)).toBe(0);
  });

  it("say in words what the cursor is at", () => {
    expect(chartText(signal({}), 130)).toMatch(/46\.8 ms, 23\.2 % above its normal 38 ms$/);
    expect(chartText(signal({}), 160)).toMatch(/not known$/);
    expect(chartText(signal({}), null)).toMatch(/46\.8 ms/);
    expect(chartText(signal({ t: [], mean: [], baseline: [] }), null)).toBe("no data in this time");
  });

  it("join the points of a slow signal and leave real gaps open", () => {
    const u = undefined;
    expect(joined([1, null, null, 2, null, null, 3])).toEqual([1, u, u, 2, u, u, 3]);
    expect(joined([1, 2, null, null, null, null, 3, 4])).toEqual([1, 2, null, null, null, null, 3, 4]);
    expect(joined([null, null])).toEqual([null, null]);
  });

  it("leave room for the objective only when it is near", () => {
    expect(yRange(signal({ objective: 80 }))[1]).toBeGreaterThan(80);
    expect(yRange(signal({ objective: 800 }))[1]).toBeLessThan(60);
    expect(yRange(signal({ mean: [], low: [], high: [], baseline: [] }))).toEqual([0, 1]);
  });

  it("have a table of at most 25 rows", () => {
    const times = Array.from({ length: 300 }, (_v, i) => i);
    expect(sampleTimes(times)).toHaveLength(25);
    expect(sampleTimes(times)[24]).toBe(299);
    expect(sampleTimes([1, 2])).toEqual([1, 2]);
  });

  it("share one frame for two tunings", () => {
    const s = (mean: (number | null)[]): { name: string; unit: string; offset: number[]; mean: (number | null)[] } => ({
      name: "x",
      unit: "",
      offset: [-60, 0, 60],
      mean,
    });
    expect(frameOf([s([1, 2, null]), s([3, 1, 2])])).toMatchObject({ x0: -60, x1: 60, y0: 0.8, y1: 3.2 });
  });
});

describe("before and after", () => {
  const dist = (p50: number): Dist => ({
    n: 10,
    p10: 1,
    p25: 1,
    p50,
    p75: 1,
    p90: 1,
    min: 1,
    max: 1,
    mean: 1,
    bins: [],
  });
  const s = (shift: number | null, low: number | null, high: number | null): CompareSignal => ({
    name: "latency_p99",
    unit: "ms",
    layer: "request",
    bad: "up",
    before: dist(80),
    after: dist(40),
    edges: [],
    shift,
    low,
    high,
  });
  it("say the shift with its interval, or that it is unclear", () => {
    expect(shiftText(s(-40, -44, -36))).toBe("is 40 ms lower (50 %; 95 %: \u221244 ms to \u221236 ms).");
    expect(shiftText(s(8, 2, 12))).toMatch(/^is 8 ms higher \(10 %/);
    expect(shiftText(s(1, -2, 3))).toMatch(/no clear change/);
    expect(shiftText(s(null, null, null))).toBe("has too few points to tell.");
  });
});

describe("gates", () => {
  const g = (reason: string, kind: string, shut: boolean, knob?: string): Gate => ({
    reason,
    kind,
    shut,
    sentence: null,
    opens_when: null,
    note: null,
    ...(knob ? { knob, direction: "up", cause: "compute-bound" } : {}),
  });
  it("stand by kind and knob, shut ones first", () => {
    const b = branchesOf([
      g("interval", "candidate", true, "b"),
      g("halted", "service", false),
      g("gap", "service", true),
      g("excluded", "candidate", false, "a"),
      g("mode-alert", "last", false),
    ]);
    expect(b.map((x) => x.kind)).toEqual(["service", "candidate", "candidate", "last"]);
    expect(b[0]?.gates.map((x) => x.reason)).toEqual(["gap", "halted"]);
    expect(b[1]?.title).toBe("Candidate: b up, for compute-bound");
  });
});

describe("lists", () => {
  it("show a record in a line", () => {
    const r = {
      seq: 1,
      kind: "INTENT",
      meaning: "",
      at: "",
      service: "embed",
      knob: "batch_max",
      from: "32",
      to: "64",
      by: "ann",
    };
    expect(recordLine(r)).toBe("embed · batch_max 32 → 64 · by ann");
  });

  it("show changes with a few lines around them", () => {
    const lines = Array.from({ length: 30 }, (_v, i) => ({
      op: (i === 15 ? "+" : " ") as " " | "+",
      a: i,
      b: i,
      text: String(i),
    }));
    const near = nearChanges(lines);
    expect(near[0]).toBeNull();
    expect(near.filter((l) => l !== null).map((l) => l.text)).toEqual(["12", "13", "14", "15", "16", "17", "18"]);
  });
});

describe("what is shipped", () => {
  const dist = join(new URL(".", import.meta.url).pathname, "..", "dist");
  it("weighs at most 120 KB and comes from this server alone", () => {
    const names = ["index.html", ...readdirSync(join(dist, "assets")).map((f) => join("assets", f))];
    const total = names.reduce((sum, n) => sum + gzipSync(readFileSync(join(dist, n)), { level: 9 }).length, 0);
    expect(total).toBeLessThanOrEqual(120 * 1024);
    const page = readFileSync(join(dist, "index.html"), "utf8");
    expect(page).not.toMatch(/<script(?![^>]* src="\/assets\/)|<style| style=|https?:\/\//);
    const css = names.filter((n) => n.endsWith(".css")).map((n) => readFileSync(join(dist, n), "utf8"));
    for (const text of css) expect(text).not.toMatch(/url\(["']?(data:|https?:|\/\/)/);
  });
});
