// Written by scripts/api-types.mjs from src/api/schemas.json of the daemon. Do not edit.
/* eslint-disable */

export type Error = { status: "error"; errorType: string; error: string; reason?: string };

export type Done = { done: string; detail: string | null };

export type Session = {
  authenticated: boolean;
  name: string | null;
  role: "none" | "viewer" | "operator" | "admin";
  kind: "none" | "anonymous" | "session" | "token" | "local" | "basic" | "proxy";
  csrf: string | null;
  expires: string | null;
  idle_seconds: number | null;
  why: string | null;
  setup_open: boolean;
  tls: boolean;
  version: string;
};

export type Login = { name: string; password: string };

export type Setup = { token: string; name: string; password: string };

export type Password = { old: string; password: string };

export type NewUser = { name: string; role: "viewer" | "operator" | "admin"; password: string };

export type UserChange = { role?: "viewer" | "operator" | "admin"; password?: string };

export type NewToken = { name: string; role: "viewer" | "operator" | "admin"; days?: string };

export type Command = {
  by?: string;
  via?: "cli" | "api" | "console";
  reason?: string;
  action?: string;
  request?: string;
  clear?: boolean;
};

export type Event = { kind: "deploy"; service: string; version?: string; by?: string };

export type NewTokenMade = { id: string; token: string; expires: string | null };

export type Users = {
  users: {
    name: string;
    role: "viewer" | "operator" | "admin";
    created: string | null;
    changed: string | null;
    last_login: string | null;
    locked_until: string | null;
    sessions: number;
  }[];
};

export type Tokens = {
  tokens: {
    id: string;
    name: string;
    role: "viewer" | "operator" | "admin";
    created: string | null;
    created_by: string;
    expires: string | null;
    expired: boolean;
  }[];
};

export type Number = { value: number | null; unit: string; why?: string; sentence?: string };

export type State =
  | "recovering"
  | "watching"
  | "suspect"
  | "open"
  | "person"
  | "awaiting"
  | "intent"
  | "writing"
  | "readback"
  | "settling"
  | "observing"
  | "undo-intent"
  | "undo-writing"
  | "undo-readback"
  | "halted";

export type Incident = {
  incident: number;
  symptom: string | null;
  onset: string | null;
  opened: string | null;
  aging: boolean;
};

export type Action = { id: string; knob: string; from: string; to: string; phase: State; until: string | null };

export type Request = {
  id: string;
  plan: string;
  knob: string;
  from: string;
  to: string;
  cause: string | null;
  expires: string | null;
};

export type Latency = { signal: string; now: Number; baseline: Number; objective?: number };

export type Line = {
  service: string;
  environment: string | null;
  state: State;
  mode: "alert" | "confirm" | "auto";
  sentence: string;
  halted: boolean;
  halted_by?: string | null;
  halted_why?: string | null;
  frozen: boolean;
  at: string | null;
  decision: "noop" | "tune" | "ask" | "alert";
  reason: string | null;
  latency: Latency | null;
  incident: Incident | null;
  action: Action | null;
  request: Request | null;
};

export type Services = { services: Line[] };

export type Status = {
  version: string;
  revision: string;
  ready: boolean;
  not_ready_why?: string;
  dry_run: boolean;
  clock_speed: number;
  started: string | null;
  last_reload_good: boolean;
  counts: {
    services: number;
    acting: number;
    waiting_for_a_person: number;
    with_a_person: number;
    halted: number;
    incidents: number;
    actions: number;
    rollbacks: number;
  };
  audit: { records: number; store: string; trouble: string | null };
  services: Line[];
};

export type Signal = {
  name: string;
  layer: "request" | "processing" | "system" | "data";
  unit: string;
  bad: "up" | "down" | "both";
  value: number | null;
  why?: string;
  why_sentence?: string;
  age_seconds: number | null;
  state: string;
  baseline: number | null;
  baseline_why?: string;
  baseline_why_sentence?: string;
  baseline_scale: number | null;
  profile: number | null;
  drift: number | null;
  zscore: number | null;
  score: number | null;
  anchor: number | null;
  origin: number | null;
  origin_at: string | null;
  learned_ticks: number;
  needed_ticks: number;
  finding: string | null;
  query: string | null;
};

export type Symptom = {
  name: string;
  now: "true" | "false" | "unknown";
  slo: boolean;
  request_layer: boolean;
  last_known_ticks: boolean[];
  explain: string;
};

export type Cause = {
  name: string;
  id: string;
  group: string;
  verdict: string;
  when: "true" | "false" | "unknown";
  share: number | null;
  all_tried: boolean;
  explain: string;
  try: { advice?: string; knob?: string; direction?: "up" | "down" }[];
};

export type Gate = {
  reason: string | null;
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
};

export type Plan = {
  knob: string;
  direction: "up" | "down";
  class: string;
  from: string;
  to: string;
  cause: string | null;
};

export type Decision = {
  kind: "noop" | "tune" | "ask" | "alert";
  reason: string | null;
  sentence: string | null;
  opens_when: string | null;
  plan: Plan | null;
  advice_cause?: string;
  advice?: string;
  gates: Gate[];
  gates_left_out: number;
};

export type Knob = {
  name: string;
  class: string;
  tier: number;
  unit: string;
  value: string | null;
  why?: string;
  believed: string | null;
  min: number | null;
  max: number | null;
  interval_until: string | null;
  protected_until: string | null;
  cooling_until: string | null;
  frozen_until: string | null;
  fails: number;
  late_watch: boolean;
  unacknowledged: boolean;
  suspended: boolean;
  blocked: string | null;
};

export type Target = {
  url: string;
  instance: string;
  up: boolean;
  age_seconds: number | null;
  samples: number;
  broken_lines: number;
  error: string | null;
};

export type Service = {
  service: string;
  environment: string | null;
  state: State;
  mode: "alert" | "confirm" | "auto";
  sentence: string;
  halted: boolean;
  halted_by?: string | null;
  halted_why?: string | null;
  frozen: boolean;
  at: string | null;
  warm_for_auto: boolean;
  imported: boolean;
  views: { view: string; awake: boolean; learned_seconds: number; needed_seconds: number; wakes: string | null }[];
  automatic_changes_in_a_row: number;
  model_version: string | null;
  deployed: string | null;
  latency: Latency | null;
  signals: Signal[];
  symptoms: Symptom[];
  incident: Incident | null;
  causes: Cause[];
  decision: Decision;
  action: Action | null;
  request: Request | null;
  knobs: Knob[];
  targets: Target[];
};

export type Explain = {
  service: string;
  environment: string | null;
  state: State;
  mode: "alert" | "confirm" | "auto";
  sentence: string;
  halted: boolean;
  halted_by?: string | null;
  halted_why?: string | null;
  frozen: boolean;
  at: string | null;
  incident: Incident | null;
  decision: Decision;
  symptoms: Symptom[];
  causes: Cause[];
  action: Action | null;
  request: Request | null;
};

export type Incidents = {
  incidents: {
    service: string;
    incident: number;
    symptom: string;
    cause: string | null;
    state: "open" | "closed";
    onset: string | null;
    opened: string | null;
    closed: string | null;
    actions: number;
    last: string | null;
    reason: string | null;
  }[];
};

export type Record = {
  seq: number;
  kind: string;
  meaning: string;
  at?: string | null;
  service?: string;
  incident?: number;
  action?: string;
  by?: string;
  via?: string;
  reason?: string;
  note?: string;
};

export type IncidentRecords = { service: string; incident: number; records: Record[] };

export type ActionRecords = { action: string; records: Record[] };

export type AuditPage = { records: Record[]; next: number; size: number };

export type Verified = {
  good: boolean;
  records: number;
  checkpoints: number;
  first_bad_record: number | null;
  why: string | null;
};

export type Module = {
  module: string;
  healthy: boolean;
  silent_seconds: number;
  runs: number;
  errors: number;
  note: string | null;
};

export type Modules = { modules: Module[] };

export type Config = { revision: string; path: string | null; services: Record<string, unknown>[] };

export type Reasons = {
  reasons: { reason: string; kind: string; sentence: string | null; opens_when: string | null }[];
};
