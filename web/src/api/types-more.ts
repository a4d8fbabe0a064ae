// Shapes of the deeper pages: incident, inbox, audit, policy, tuning, health, users, stream.
import type {
  AuditRecord,
  Cause,
  Decision,
  KnobNow,
  LineAction,
  LineRequest,
  Symptom,
  Time,
  TryItem,
  Verified,
} from "./types";

export interface StoryGate {
  reason: string;
  shut: boolean;
  text: string | null;
}

export interface VerdictNumber {
  name: string;
  before: number | null;
  after: number | null;
  unit: string;
}

export interface Attempt {
  action: string;
  knob: string;
  class: string;
  cause: string | null;
  from: string;
  to: string;
  automatic: boolean;
  by: string | null;
  via: string | null;
  asked: { at: Time; seq: number; request: string; expires: Time } | null;
  approved: { at: Time; seq: number; by: string; reason: string | null } | null;
  decided: {
    at: Time;
    seq: number;
    values: string | null;
    rule: string | null;
    gates: StoryGate[] | string | null;
    note: string | null;
  };
  did: {
    intent_at: Time;
    intent_seq: number;
    deadline: Time;
    since: Time;
    version: string | null;
    by_hand: string | null;
    outcome: "applied" | "failed" | "aborted" | "yielded" | "held" | "pending";
    at: Time;
    seq: number | null;
    read: string | null;
    read_class: string | null;
    late: boolean;
  };
  watched: {
    settle_seconds: number | null;
    window_seconds: number | null;
    began: Time;
    until: Time;
    extended: boolean;
  } | null;
  verdict: {
    at: Time;
    seq: number;
    verdict: string;
    outcome: string | null;
    reason: string | null;
    numbers: VerdictNumber[];
    before: string | null;
    after: string | null;
    note: string | null;
  } | null;
  undo: { at: Time; seq: number; by: string | null; outcome: string; done_at: Time; read: string | null } | null;
}

export interface Story {
  service: string;
  incident: number;
  symptom: string;
  state: "open" | "closed";
  onset: Time;
  opened: Time;
  closed: Time;
  model_version: string | null;
  deployed: Time;
  last_change: string | null;
  policy: string | null;
  noticed: {
    at: Time;
    seq: number;
    symptom: string;
    rule: string | null;
    values: string | null;
    reason: string | null;
    note: string | null;
  };
  located: {
    at: Time;
    seq: number;
    causes: { name: string; verdict: string }[];
    chosen: string | null;
    text: string | null;
  } | null;
  attempts: Attempt[];
  would: {
    at: Time;
    seq: number;
    knob: string | null;
    from: string | null;
    to: string | null;
    cause: string | null;
    note: string | null;
  }[];
  ended: { at: Time; seq: number; kind: string; causes: string | null; note: string | null } | null;
  live: {
    decision: Decision;
    causes: Cause[];
    action: LineAction | null;
    request: LineRequest | null;
  } | null;
  records: AuditRecord[];
}

export interface Dist {
  n: number;
  p10: number | null;
  p25: number | null;
  p50: number | null;
  p75: number | null;
  p90: number | null;
  min: number | null;
  max: number | null;
  mean: number | null;
  bins: number[];
}

export interface CompareSignal {
  name: string;
  unit: string;
  layer: string;
  bad: string;
  before: Dist;
  after: Dist;
  edges: number[];
  shift: number | null;
  low: number | null;
  high: number | null;
}

export interface Compare {
  action: string;
  knob: string;
  from: string;
  to: string;
  before: { from: Time; to: Time };
  after: { from: Time; to: Time };
  signals: CompareSignal[];
}

export interface InboxRequest {
  service: string;
  id: string;
  plan: string;
  incident: number | null;
  symptom: string | null;
  cause: string | null;
  knob: string;
  class: string;
  tier: number;
  unit: string;
  from: string;
  to: string;
  direction: string;
  expires: Time;
  asked_at: Time;
  seq: number | null;
  diff: { what: string; from: string; to: string; unit: string }[];
  evidence: { values: string | null; rule: string | null; gates: string | null; note: string | null };
  now: {
    decision: string;
    reason: string | null;
    symptoms: Symptom[];
    still_planned: boolean;
    changed: string | null;
  } | null;
  expected: string | null;
  risk: string | null;
  undo: { value: string; by_hand: string | null };
  history: { tried: number; effective: number; rolled_back: number };
  may: string;
}

export interface AuditState {
  size: number;
  checkpoint: { origin: string; size: number; root: string; at: Time } | null;
  verified: Verified | null;
}

export interface PolicyKnob {
  name: string;
  class: string;
  tier: number;
  unit: string;
  min: number | null;
  max: number | null;
  ladder?: string;
  precondition?: string | null;
  dead_band?: number | null;
  now?: KnobNow | null;
  [key: string]: unknown;
}

export interface PolicyService {
  name: string;
  environment: string | null;
  group: string | null;
  mode: string;
  class_mode: Record<string, string>;
  objective: number | null;
  objective_unit: string;
  symptoms: { name: string; when: string; slo: boolean; clear: string | null }[];
  playbook: { id: string; cause: string; group: string; symptoms: string[]; when: string; try: TryItem[] }[];
  knobs: PolicyKnob[];
  limits: Record<string, number>;
  windows: {
    name: string;
    freeze: boolean;
    zone: string;
    weekdays: number[];
    from: string;
    to: string;
    now: boolean;
  }[];
}

export interface Policy {
  revision: string;
  path: string;
  loaded: Time;
  services: PolicyService[];
}

export interface Revision {
  revision: string;
  path: string;
  loaded: Time;
  in_force: boolean;
}

export interface PolicyDiff {
  from: string;
  to: string;
  lines: { op: " " | "+" | "-"; a: number | null; b: number | null; text: string }[];
}

export interface TuningRow {
  action: string;
  service: string;
  knob: string;
  class: string;
  cause: string | null;
  from: string;
  to: string;
  by: string | null;
  automatic: boolean;
  incident: number | null;
  intended: Time;
  applied: Time;
  verdict: string | null;
  outcome: string | null;
  last_kind: string | null;
  model_version: string | null;
  load: string | null;
  gain: number | null;
}

export interface TuningGroup {
  service: string;
  knob: string;
  direction: string;
  cause: string | null;
  load: string | null;
  model_version: string | null;
  tried: number;
  effective: number;
  partial: number;
  ineffective: number;
  harmful: number;
  inconclusive: number;
  rolled_back: number;
  median_gain: number | null;
}

export interface Side {
  action: TuningRow;
  from: Time;
  to: Time;
  at: Time;
  signals: { name: string; unit: string; offset: number[]; mean: (number | null)[] }[];
}

export interface ModuleView {
  module: string;
  healthy: boolean;
  silent_seconds: number;
  runs: number;
  errors: number;
  note: string | null;
}

export interface Health {
  version: string;
  started: Time;
  at: Time;
  ready: boolean;
  modules: ModuleView[];
  scrape: {
    service: string;
    instance: string;
    up: boolean;
    age_seconds: number | null;
    interval_seconds: number | null;
    lag_seconds: number | null;
    error: string | null;
  }[];
  store: {
    state: string;
    audit_records: number;
    audit_bytes: number | null;
    metrics_bytes: number | null;
    waiting: number;
    points_dropped: number;
    trouble: string | null;
    metrics_trouble: string | null;
    points_a_day: number | null;
    bytes_a_point: number | null;
    bytes_a_day: number | null;
  };
  reload: { good: boolean; at: Time; count: number; failed: number; error: string | null; revision: string };
  tls: { on: boolean; subject: string | null; not_after: Time; days_left: number | null };
  listeners: number;
  connections: number;
  memory_bytes: number;
}

export interface User {
  name: string;
  role: string;
  created: Time;
  changed: Time;
  last_login: Time;
  locked_until: Time;
  sessions: number;
}

export interface Token {
  id: string;
  name: string;
  role: string;
  created: Time;
  created_by: string;
  expires: Time;
  last_used: Time;
}
