// The shapes of docs/console-api.md, as the console reads them.

export type Time = string | null;
export type Tri = "true" | "false" | "unknown";
export type Role = "none" | "viewer" | "operator" | "admin";

export interface Session {
  authenticated: boolean;
  name: string | null;
  role: Role;
  kind: string;
  csrf: string | null;
  expires: Time;
  idle_seconds: number | null;
  setup_open: boolean;
  tls: boolean;
  version: string;
}

export interface Num {
  value: number | null;
  unit: string;
  why?: string;
  sentence?: string;
}

export interface Latency {
  signal: string;
  now: Num;
  baseline: Num;
  objective?: number;
  recent?: (number | null)[];
}

export interface LineIncident {
  incident: number;
  symptom: string;
  onset: Time;
  opened: Time;
  aging: boolean;
}

export interface LineAction {
  id: string;
  knob: string;
  from: string;
  to: string;
  phase: string;
  until: Time;
  cause?: string | null;
}

export interface LineRequest {
  id: string;
  plan: string;
  knob: string;
  from: string;
  to: string;
  cause: string | null;
  expires: Time;
}

export interface Head {
  service: string;
  environment: string | null;
  group?: string | null;
  state: string;
  mode: string;
  sentence: string;
  halted: boolean;
  halted_by?: string | null;
  halted_why?: string | null;
  halted_since?: Time;
  frozen: boolean;
  at: Time;
}

export interface Line extends Head {
  decision: string;
  reason: string | null;
  latency: Latency | null;
  incident: LineIncident | null;
  action: LineAction | null;
  request: LineRequest | null;
}

export interface Verified {
  good: boolean;
  at: Time;
  records: number;
  why: string | null;
}

export interface Status {
  version: string;
  revision: string;
  ready: boolean;
  not_ready_why?: string | null;
  dry_run: boolean;
  clock_speed: number;
  at: Time;
  started: Time;
  last_reload_good: boolean;
  name: string;
  counts: Record<string, number>;
  halt: { all: boolean; by: string | null; why: string | null; since: Time };
  audit: { records: number; store: string; trouble: string | null; verified: Verified | null };
  services: Line[];
}

export interface ViewWarm {
  view: string;
  awake: boolean;
  learned_seconds: number;
  needed_seconds: number;
  wakes: Time;
}

export interface SignalNow {
  name: string;
  layer: string;
  unit: string;
  bad: string;
  value: number | null;
  why?: string;
  why_sentence?: string;
  age_seconds: number;
  state: string;
  baseline: number | null;
  baseline_why?: string;
  profile: number | null;
  drift: number | null;
  zscore: number | null;
  score: number | null;
  origin: number | null;
  origin_at: Time;
  finding: string | null;
  query: string | null;
}

export interface Symptom {
  name: string;
  now: Tri;
  slo: boolean;
  request_layer: boolean;
  last_known_ticks: boolean[];
  explain: string;
}

export interface TryItem {
  knob?: string;
  direction?: string;
  advice?: string;
}

export interface Cause {
  name: string;
  id: string;
  group: string;
  verdict: string;
  when: Tri;
  share: number | null;
  all_tried: boolean;
  explain: string;
  try: TryItem[];
}

export interface Gate {
  reason: string;
  sentence: string | null;
  opens_when: string | null;
  kind: string;
  shut: boolean;
  knob?: string;
  direction?: string;
  cause?: string;
  value?: number | null;
  limit?: number | null;
  unit?: string;
  note: string | null;
}

export interface Plan {
  knob: string;
  direction: string;
  class: string;
  from: string;
  to: string;
  cause: string | null;
}

export interface Decision {
  kind: string;
  reason: string | null;
  sentence: string | null;
  opens_when: string | null;
  plan: Plan | null;
  advice_cause?: string;
  advice?: string;
  gates: Gate[];
  gates_left_out: number;
}

export interface KnobNow {
  name: string;
  class: string;
  tier: number;
  unit: string;
  value: string | null;
  why?: string;
  believed: string | null;
  min: number | null;
  max: number | null;
  interval_until: Time;
  protected_until: Time;
  cooling_until: Time;
  frozen_until: Time;
  fails: number;
  late_watch: boolean;
  unacknowledged: boolean;
  suspended: boolean;
  blocked: string | null;
}

export interface Target {
  url: string;
  instance: string;
  up: boolean;
  age_seconds: number | null;
  samples: number;
  broken_lines: number;
  error: string | null;
}

export interface Service extends Head {
  warm_for_auto: boolean;
  imported: boolean;
  views: ViewWarm[];
  automatic_changes_in_a_row: number;
  model_version: string | null;
  deployed: Time;
  latency: Latency | null;
  signals: SignalNow[];
  symptoms: Symptom[];
  incident: LineIncident | null;
  causes: Cause[];
  decision: Decision;
  action: LineAction | null;
  request: LineRequest | null;
  knobs: KnobNow[];
  targets: Target[];
}

type Column = (number | null)[];

export interface SeriesSignal {
  name: string;
  layer: string;
  unit: string;
  bad: string;
  objective: number | null;
  t: number[];
  mean: Column;
  min: Column;
  max: Column;
  baseline: Column;
  low: Column;
  high: Column;
}

export interface Mark {
  at: Time;
  t: number;
  kind: string;
  record: string;
  seq: number;
  action: string | null;
  incident: number | null;
  text: string;
}

export interface Series {
  service: string;
  from: Time;
  to: Time;
  step_seconds: number;
  signals: SeriesSignal[];
  marks: Mark[];
}

export type AuditRecord = { seq: number; kind: string; meaning: string; at: string; service?: string } & Record<
  string,
  unknown
>;

export interface IncidentRow {
  service: string;
  incident: number;
  symptom: string;
  cause: string | null;
  state: "open" | "closed";
  onset: Time;
  opened: Time;
  closed: Time;
  actions: number;
  last: string | null;
  reason: string | null;
}
