import { beforeEach, describe, expect, it } from "vitest";
import type { Line } from "../src/api/types";
import type { Story } from "../src/api/types";
import { lang } from "../src/state/settings";
import { storySteps } from "../src/story/incident";
import { badness, excess, matches, moodOf, sentenceOf, worstFirst } from "../src/story/line";
import { escape, storyMarkdown } from "../src/story/markdown";
import { parseRule, parseValues, ruleText } from "../src/story/rule";

beforeEach(() => {
  lang.value = "en";
});

export function line(more: Partial<Line>): Line {
  return {
    service: "embed",
    environment: "prod",
    group: null,
    state: "watching",
    mode: "auto",
    sentence: "",
    halted: false,
    frozen: false,
    at: "2026-05-12T10:02:30Z",
    decision: "noop",
    reason: "healthy",
    latency: {
      signal: "latency_p99",
      now: { value: 46.8, unit: "ms" },
      baseline: { value: 38.1, unit: "ms" },
      objective: 80,
      recent: [],
    },
    incident: null,
    action: null,
    request: null,
    ...more,
  };
}

const action = { id: "embed/1", knob: "batch_max", from: "32", to: "64", phase: "observing" as const, until: null };
const incident = { incident: 3, symptom: "slo", onset: null, opened: null, aging: false };

describe("a line", () => {
  it("says what is happening now", () => {
    const acting = line({ state: "observing", action });
    expect(sentenceOf(acting, () => 400)).toBe("batch_max 32 → 64: judging, 6:40 left.");
    expect(sentenceOf(acting, () => null)).toBe("batch_max 32 → 64: the window is over, judging.");
    expect(sentenceOf(line({ state: "undo-writing", action }), () => 5)).toBe("Taking batch_max back to 32.");
    expect(sentenceOf(line({}), () => null)).toBe("Nothing to do.");
    const open = line({ state: "open", incident, reason: "evidence-before" });
    expect(sentenceOf(open, () => null)).toBe("slo: too few points since the onset to judge a change against.");
  });

  it("says it in Chinese too", () => {
    lang.value = "zh";
    expect(sentenceOf(line({ state: "observing", action }), () => 400)).toBe(
      "batch_max 32 → 64：效果观察中，剩余 6:40。",
    );
  });

  it("of a halted service that suffers says so, and ranks first", () => {
    const l = line({ halted: true, halted_by: "ann", halted_why: "drill <b>", incident });
    expect(sentenceOf(l, () => null)).toBe("slo is open and nothing acts: halted by ann: drill <b>");
    expect(moodOf(l)).toBe("halted");
    expect(badness(l)).toBe(0);
  });

  it("ranks worst first, then by distance from normal, then by name", () => {
    const list = [
      line({ service: "b" }),
      line({ service: "a" }),
      line({ service: "asks", state: "awaiting" }),
      line({ service: "person", state: "person" }),
      line({ service: "acting", state: "settling" }),
    ];
    expect(list.sort(worstFirst).map((l) => l.service)).toEqual(["person", "asks", "acting", "a", "b"]);
    expect(excess(line({}))).toBeCloseTo(0.228, 3);
    expect(excess(line({ latency: null }))).toBe(0);
  });

  it("is found by words, and by not being normal", () => {
    expect(matches(line({}), "EMB prod", false)).toBe(true);
    expect(matches(line({}), "emb staging", false)).toBe(false);
    expect(matches(line({}), "", true)).toBe(false);
    expect(matches(line({ state: "suspect" }), "", true)).toBe(true);
  });
});

describe("a rule with values", () => {
  const rule = "latency_p99 46.8 ms > 1.15 * baseline 38.1 ms = 43.8 ms: true and queue_depth 1,320 > 250: true";
  it("becomes a sentence", () => {
    expect(ruleText(rule)).toBe(
      "latency_p99 46.8 ms is 22.8 % above its own normal 38.1 ms and queue_depth is 1,320 (limit 250)",
    );
  });
  it("becomes a Chinese sentence", () => {
    lang.value = "zh";
    expect(ruleText(rule)).toBe("latency_p99 46.8 ms 比自身基线 38.1 ms 高 22.8 %和queue_depth 为 1,320（限值 250）");
  });
  it("is left alone when it is of another kind", () => {
    expect(parseRule("age(deploy) 1 d 2 h < 30m: false")).toBeNull();
    expect(ruleText("a or b")).toBeNull();
    expect(ruleText(null)).toBeNull();
  });
  it("gives its values apart", () => {
    expect(parseValues("latency_p99 46.8 ms, queue_depth 1,320, gpu_util 0.741")).toEqual([
      { name: "latency_p99", value: "46.8 ms" },
      { name: "queue_depth", value: "1,320" },
      { name: "gpu_util", value: "0.741" },
    ]);
  });
});

const T0 = "2026-05-12T10:02:30Z";
const T1 = "2026-05-12T10:07:30Z";

function story(): Story {
  return {
    service: "embed",
    incident: 1,
    symptom: "slo",
    state: "open",
    onset: T0,
    opened: T0,
    closed: null,
    model_version: "v7",
    deployed: null,
    last_change: null,
    policy: "abc",
    noticed: {
      at: T0,
      seq: 4,
      symptom: "slo",
      rule: "latency_p99 82.6 ms > 80 ms: true",
      values: null,
      reason: null,
      note: null,
    },
    located: {
      at: T0,
      seq: 4,
      causes: [{ name: "compute-bound", verdict: "chosen" }],
      chosen: "compute-bound",
      text: null,
    },
    attempts: [
      {
        action: "embed/1",
        knob: "batch_max",
        class: "batch",
        cause: "compute-bound",
        direction: "up",
        from: "32",
        to: "64",
        automatic: true,
        by: "auto",
        via: "loop",
        asked: null,
        approved: null,
        decided: { at: T1, seq: 6, values: null, rule: null, gates: null, mode: null, policy: null, note: null },
        did: {
          intent_at: T1,
          intent_seq: 6,
          deadline: null,
          since: null,
          version: null,
          by_hand: "curl",
          outcome: "applied",
          at: T1,
          seq: 7,
          read: "64",
          read_class: "new",
          reason: null,
          late: false,
        },
        watched: { settle_seconds: 120, window_seconds: 600, began: T1, until: T1, extended: false },
        verdict: {
          at: T1,
          seq: 8,
          verdict: "ineffective",
          outcome: "undo",
          reason: null,
          numbers: [{ name: "median", before: 81.2, after: 41.6 }],
          before: null,
          after: null,
          note: "no clear change; latency 81.2 -> 41.6 ms (-48.7 %)",
        },
        undo: { at: T1, seq: 9, by: "auto", outcome: "undone", done_at: T1, read: "32", by_hand: null },
      },
    ],
    requests: [],
    would: [],
    ended: null,
    live: null,
    records: [],
  };
}

describe("an incident", () => {
  it("is told under the headings in their order", () => {
    const steps = storySteps(story(), () => null);
    expect(steps.map((s) => s.head)).toEqual(["noticed", "located", "decided", "did", "watched", "verdict", "undone"]);
    expect(steps.map((s) => s.text)).toEqual([
      "latency_p99 is 82.6 ms (limit 80 ms).",
      "The likely cause is compute-bound.",
      "Waited 5 min for evidence. batch_max 32 → 64, one notch, against compute-bound. All gates were open.",
      "Recorded first, then written, then read back from the server: batch_max 64.",
      "After 2 min to settle, watched for 10 min: latency 41.6 ms (before 81.2 ms, 48.8 % less).",
      "Ineffective: no clear change. Taken back.",
      "batch_max was set back to 32 and read back.",
    ]);
  });

  it("has the pending verdict and the time that is left", () => {
    const s = story();
    const a = s.attempts[0];
    if (!a) throw new Error("no attempt");
    a.verdict = null;
    a.undo = null;
    const steps = storySteps(s, (t) => (t === T1 ? 200 : null));
    expect(steps.map((x) => [x.head, x.pending])).toContainEqual(["verdict", true]);
    expect(steps.find((x) => x.head === "watched")?.text).toContain("3:20 left");
  });

  it("without a change says which gate is in the way", () => {
    const s = story();
    s.attempts = [];
    s.live = {
      decision: {
        kind: "noop",
        reason: "gap",
        sentence: null,
        opens_when: null,
        plan: null,
        gates: [],
        gates_left_out: 0,
      },
      causes: [],
      action: null,
      request: null,
    } as unknown as Story["live"];
    const last = storySteps(s, () => null).pop();
    expect(last?.text).toBe(
      "No change so far: the last write, or taking one back, is too recent for the effects of two to be told apart.",
    );
  });

  it("goes to the clipboard as Markdown with nothing read as markup", () => {
    const s = story();
    s.symptom = "slo_[x](http://evil)<img>";
    s.noticed.symptom = s.symptom;
    const text = storyMarkdown(
      s,
      storySteps(s, () => null),
      "http://host/incidents/embed/1",
    );
    expect(text).toContain("# embed: incident 1");
    expect(text).toContain("- **Verdict**");
    expect(text).not.toContain("<img>");
    expect(text).toContain("slo\\_\\[x\\](http://evil)\\<img\\>");
    expect(escape("a*b`c")).toBe("a\\*b\\`c");
  });
});
