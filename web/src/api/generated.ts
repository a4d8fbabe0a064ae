/* Written by scripts/api-types.mjs from src/api/schemas.json of the daemon. Do not edit. */
/* eslint-disable */

export type Error = { status: "error"; errorType: string; error: string; reason?: string; changes?: (Change)[]; };
export type Change = { what: "ended" | "incident" | "symptom" | "knob" | "plan" | "gate" | "mode" | "policy" |
  "signal"; name: string | null; then: string; now: string; by: string | null; reason: string | null; at: string |
  null; };
export type Done = { done: string; detail: string | null; };
export type Session = { authenticated: boolean; name: string | null; role: "none" | "viewer" | "operator" | "admin";
  kind: "none" | "anonymous" | "session" | "token" | "local" | "basic" | "proxy"; csrf: string | null; expires: string
  | null; idle_seconds: number | null; why: string | null; setup_open: boolean; tls: boolean; version: string; };
export type Login = { name: string; password: string; };
export type Setup = { token: string; name: string; password: string; };
export type Password = { old: string; password: string; };
export type NewUser = { name: string; role: "viewer" | "operator" | "admin"; password: string; };
export type UserChange = { role?: "viewer" | "operator" | "admin"; password?: string; };
export type NewToken = { name: string; role: "viewer" | "operator" | "admin"; days?: string; };
export type Command = { by?: string; via?: "cli" | "api" | "console"; reason?: string; action?: string; request?:
  string; clear?: boolean; };
export type NewWindow = { kind: "freeze" | "maintenance"; service?: string; all?: boolean; for?: string; until?:
  string; comment?: string; by?: string; via?: "cli" | "api" | "console"; };
export type Event = { kind: "deploy"; service: string; version?: string; by?: string; };
export type NewTokenMade = { id: string; token: string; expires: string | null; };
export type Users = { users: ({ name: string; role: "viewer" | "operator" | "admin"; created: string | null; changed:
  string | null; last_login: string | null; locked_until: string | null; sessions: number; })[]; };
export type Tokens = { tokens: ({ id: string; name: string; role: "viewer" | "operator" | "admin"; created: string |
  null; created_by: string; expires: string | null; expired: boolean; })[]; };
export type Number = { value: number | null; unit: string; why?: string; sentence?: string; };
export type State = "learning" | "watching" | "suspect" | "open" | "person" | "awaiting" | "intent" | "writing" |
  "readback" | "settling" | "observing" | "undo-intent" | "undo-writing" | "undo-readback" | "halted";
export type Incident = { incident: number; symptom: string | null; onset: string | null; opened: string | null; aging:
  boolean; };
export type Action = { id: string; knob: string; from: string; to: string; phase: State; until: string | null; };
export type Request = { id: string; plan: string; knob: string; from: string; to: string; cause: string | null;
  expires: string | null; };
export type Latency = { signal: string; now: Number; baseline: Number; objective?: number; recent?: (number | null)[];
  };
export type Line = { service: string; environment: string | null; state: State; mode: "alert" | "confirm" | "auto";
  sentence: string; halted: boolean; halted_by?: string | null; halted_why?: string | null; frozen: boolean;
  frozen_why?: string | null; maintenance?: boolean; at: string | null; decision: "noop" | "tune" | "ask" | "alert";
  reason: string | null; latency: Latency | null; incident: Incident | null; action: Action | null; request: Request |
  null; group: string | null; halted_since?: string | null; };
export type Services = { services: (Line)[]; };
export type Status = { version: string; revision: string; ready: boolean; not_ready_why?: string | null; dry_run:
  boolean; clock_speed: number; started: string | null; last_reload_good: boolean; counts: { services: number; acting:
  number; waiting_for_a_person: number; with_a_person: number; halted: number; incidents: number; actions: number;
  rollbacks: number; }; receivers_failing?: (string)[]; audit: { records: number; store: string; trouble: string |
  null; metrics_trouble: string | null; verified: LastCheck | null; }; services: (Line)[]; at: string | null; name:
  string | null; halt: { all: boolean; by: string | null; why: string | null; since: string | null; }; };
export type Signal = { name: string; layer: "request" | "processing" | "system" | "data"; unit: string; bad: "up" |
  "down" | "both"; value: number | null; why?: string; why_sentence?: string; age_seconds: number | null; state:
  string; baseline: number | null; baseline_why?: string; baseline_why_sentence?: string; baseline_scale: number |
  null; profile: number | null; drift: number | null; zscore: number | null; score: number | null; anchor: number |
  null; origin: number | null; origin_at: string | null; learned_ticks: number; needed_ticks: number; finding: string |
  null; query: string | null; };
export type Symptom = { name: string; now: "true" | "false" | "unknown"; slo: boolean; request_layer: boolean;
  last_known_ticks: (boolean)[]; explain: string; };
export type Cause = { name: string; id: string; group: string; verdict: string; when: "true" | "false" | "unknown";
  share: number | null; all_tried: boolean; explain: string; try: ({ advice?: string; knob?: string; direction?: "up" |
  "down"; })[]; };
export type Gate = { reason: string | null; sentence: string | null; opens_when: string | null; kind: string; shut:
  boolean; knob?: string; direction?: string; cause?: string; value?: number | null; limit?: number | null; unit?:
  string; note: string | null; };
export type Plan = { knob: string; direction: "up" | "down"; class: string; from: string; to: string; cause: string |
  null; };
export type Decision = { kind: "noop" | "tune" | "ask" | "alert"; reason: string | null; sentence: string | null;
  opens_when: string | null; plan: Plan | null; advice_cause?: string; advice?: string; gates: (Gate)[];
  gates_left_out: number; };
export type Knob = { name: string; class: string; tier: number; unit: string; value: string | null; why?: string;
  believed: string | null; min: number | null; max: number | null; interval_until: string | null; protected_until:
  string | null; cooling_until: string | null; frozen_until: string | null; fails: number; late_watch: boolean;
  unacknowledged: boolean; suspended: boolean; blocked: string | null; };
export type Target = { url: string; instance: string; up: boolean; age_seconds: number | null; samples: number;
  broken_lines: number; error: string | null; };
export type Service = { service: string; environment: string | null; state: State; mode: "alert" | "confirm" | "auto";
  sentence: string; halted: boolean; halted_by?: string | null; halted_why?: string | null; frozen: boolean;
  frozen_why?: string | null; maintenance?: boolean; at: string | null; warm_for_auto: boolean; imported: boolean;
  views: ({ view: string; awake: boolean; learned_seconds: number; needed_seconds: number; wakes: string | null; })[];
  automatic_changes_in_a_row: number; model_version: string | null; deployed: string | null; latency: Latency | null;
  signals: (Signal)[]; symptoms: (Symptom)[]; incident: Incident | null; causes: (Cause)[]; decision: Decision; action:
  Action | null; request: Request | null; knobs: (Knob)[]; targets: (Target)[]; group: string | null; halted_since?:
  string | null; };
export type Explain = { service: string; environment: string | null; state: State; mode: "alert" | "confirm" | "auto";
  sentence: string; halted: boolean; halted_by?: string | null; halted_why?: string | null; frozen: boolean;
  frozen_why?: string | null; maintenance?: boolean; at: string | null; incident: Incident | null; decision: Decision;
  symptoms: (Symptom)[]; causes: (Cause)[]; action: Action | null; request: Request | null; group: string | null;
  halted_since?: string | null; };
export type Windows = { windows: ({ id: string; kind: "freeze" | "maintenance"; source: "configuration" | "person";
  in_force: boolean; services: (string)[]; all: boolean; from: string | null; until: string | null; changes: string |
  null; zone: string; by: string | null; comment: string | null; })[]; };
export type Incidents = { incidents: ({ service: string; incident: number; symptom: string; cause: string | null;
  state: "open" | "closed"; onset: string | null; opened: string | null; closed: string | null; actions: number; last:
  string | null; reason: string | null; feedback: "false" | "true" | "useful" | null; })[]; };
export type Feedback = { verdict: "false" | "true" | "useful"; comment?: string; by?: string; via?: "cli" | "api" |
  "console"; };
export type Reload = { by?: string; via?: "cli" | "api" | "console"; };
export type Rate = { n: number; of: number; value: number | null; low: number; high: number; };
export type Report = { since: string | null; until: string | null; log_begins: string | null; services: ({ service:
  string; mode: string | null; observed_days: number; incidents: number; fates: { [key: string]: number }; plans: {
  [key: string]: number }; came: { [key: string]: number }; verdicts: { [key: string]: number }; rejected: number;
  expired: number; taken_back: number; feedback: { [key: string]: number }; false_alarm_rate: Rate; false_plan_rate:
  Rate; mode_changes: ({ at: string | null; class: string | null; from: string; to: string; by: string | null;
  revision: string | null; })[]; promotion: { to: string | null; advice: "ready" | "stay" | null; for: (string)[];
  against: (string)[]; }; })[]; plans: ({ at: string | null; service: string; incident: number; symptom: string; cause:
  string | null; knob: string; from: string; to: string; how: "would" | "asked" | "acted"; came: "hit" | "false-plan" |
  "no-help" | "unclear" | "pending"; mode: string | null; by: string | null; action: string | null; ended: string |
  null; verdict: string | null; outcome: string | null; stopped_by: (string)[]; gates: string | null; feedback: string
  | null; incident_closed: string | null; next_30m: ({ signal: string; unit: string; before: number | null; after:
  (number | null)[]; })[]; })[]; plans_left_out: number; incidents: ({ service: string; incident: number; symptom:
  string; opened: string | null; closed: string | null; fate: "planned" | "miss" | "told" | "passed" | "false-alarm" |
  "report-only" | "open"; handed_over: string | null; advice: string | null; feedback: string | null; feedback_by:
  string | null; comment: string | null; })[]; false_alarm_rate: Rate; };
export type Record = { seq: number; kind: string; meaning: string; at?: string | null; service?: string; incident?:
  number; action?: string; by?: string; via?: string; reason?: string; note?: string; };
export type IncidentRecords = { service: string; incident: number; records: (Record)[]; };
export type ActionRecords = { action: string; records: (Record)[]; };
export type AuditPage = { records: (Record)[]; next: number; size: number; };
export type Verified = { good: boolean; records: number; checkpoints: number; first_bad_record: number | null; why:
  string | null; };
export type Receiver = { name: string; type: "webhook" | "alertmanager" | "dingtalk" | "feishu" | "wecom" | "slack" |
  "grafana"; state: "idle" | "waiting" | "failing" | "refused"; waiting: number; sent: number; failed: number; dropped:
  number; retried: number; good_seconds: number | null; error: string | null; };
export type Module = { module: string; healthy: boolean; silent_seconds: number; runs: number; errors: number; note:
  string | null; };
export type Modules = { modules: (Module)[]; };
export type Config = { revision: string; path: string | null; services: ({ [key: string]: unknown })[]; };
export type Reasons = { reasons: ({ reason: string; kind: string; sentence: string | null; opens_when: string | null;
  keys: string | null; })[]; };
export type Series = { service: string; from: string | null; to: string | null; step_seconds: number; signals: ({ name:
  string; layer: string; unit: string; bad: string; objective: number | null; t: (number)[]; mean: (number | null)[];
  min: (number | null)[]; max: (number | null)[]; baseline: (number | null)[]; low: (number | null)[]; high: (number |
  null)[]; })[]; marks: ({ at: string | null; t: number; kind: "release" | "action" | "verdict" | "rollback" | "freeze"
  | "incident" | "closed" | "external" | "halt" | "resume"; record: string; seq: number; action: string | null;
  incident: number | null; text: string; })[]; };
export type Distribution = { n: number; min: number | null; p10: number | null; p25: number | null; p50: number | null;
  p75: number | null; p90: number | null; max: number | null; mean: number | null; bins: (number)[]; };
export type Compare = { action: string; knob: string; from: string; to: string; before: { from: string | null; to:
  string | null; }; after: { from: string | null; to: string | null; }; signals: ({ name: string; unit: string; layer:
  string; bad: string; before: Distribution; after: Distribution; edges: (number)[]; shift: number | null; low: number
  | null; high: number | null; })[]; };
export type Side = { action: string; service: string; knob: string; from_value: string; to_value: string; at: string |
  null; from: string | null; to: string | null; signals: ({ name: string; unit: string; offset: (number)[]; mean:
  (number | null)[]; })[]; };
export type SideBySide = { a: Side; b: Side; };
export type Story = { service: string; incident: number; symptom: string | null; state: "open" | "closed"; onset:
  string | null; opened: string | null; closed: string | null; model_version: string | null; deployed: string | null;
  last_change: string | null; policy: string | null; noticed: { at: string | null; seq: number; symptom: string | null;
  rule: string | null; values: string | null; reason: string | null; note: string | null; }; located: Located | null;
  attempts: (Attempt)[]; requests: (EndedRequest)[]; would: ({ at: string | null; seq: number; knob: string | null;
  from: string | null; to: string | null; cause: string | null; note: string | null; })[]; ended: Ended | null; live:
  Explain | null; records: (Record)[]; };
export type EndedRequest = { at: string | null; seq: number; expires: string | null; knob: string | null; from: string
  | null; to: string | null; cause: string | null; end: "rejected" | "expired" | "void"; end_at: string | null;
  end_seq: number; by: string | null; reason: string | null; note: string | null; changes: (Change)[]; };
export type Located = { at: string | null; seq: number; causes: ({ name: string; verdict: string; })[]; chosen: string
  | null; text: string | null; };
export type Ended = { at: string | null; seq: number; kind: string; outcome: string | null; reason: string | null;
  causes: string | null; note: string | null; };
export type Asked = { at: string | null; seq: number; expires: string | null; };
export type Approved = { at: string | null; seq: number; by: string | null; reason: string | null; };
export type VerdictPart = { at: string | null; seq: number; verdict: string | null; outcome: string | null; reason:
  string | null; numbers: ({ name: string; before: number | null; after: number | null; })[]; before: string | null;
  after: string | null; note: string | null; };
export type UndoPart = { at: string | null; seq: number; by: string | null; outcome: "undone" | "failed" | "retry" |
  "pending"; done_at: string | null; read: string | null; by_hand: string | null; };
export type Attempt = { action: string; knob: string | null; class: string | null; cause: string | null; direction:
  string | null; from: string | null; to: string | null; automatic: boolean; by: string | null; via: string | null;
  asked: Asked | null; approved: Approved | null; decided: { at: string | null; seq: number; values: string | null;
  rule: string | null; gates: string | null; mode: string | null; policy: string | null; note: string | null; }; did: {
  intent_at: string | null; intent_seq: number; deadline: string | null; since: string | null; version: string | null;
  by_hand: string | null; outcome: "applied" | "failed" | "aborted" | "yielded" | "held" | "pending"; at: string |
  null; seq: number | null; read: string | null; read_class: string | null; reason: string | null; late: boolean; };
  watched: { settle_seconds: number; window_seconds: number; began: string | null; until: string | null; extended:
  boolean; }; verdict: VerdictPart | null; undo: UndoPart | null; };
export type Inbox = { requests: ({ service: string; id: string; plan: string; incident: number | null; symptom: string
  | null; cause: string | null; knob: string; class: string; tier: number; unit: string; from: string; to: string;
  direction: string | null; at: string | null; expires: string | null; asked_at: string | null; seq: number | null;
  diff: ({ what: string; from: string; to: string; unit: string; })[]; evidence: { values: string | null; rule: string
  | null; causes: string | null; gates: string | null; note: string | null; }; now: { decision: string; reason: string
  | null; sentence: string | null; still_planned: boolean; knob_value: string | null; changed: string | null; changes:
  (Change)[]; symptoms: (Symptom)[]; }; undo: { value: string; settle_seconds: number; window_seconds: number; };
  history: { known: boolean; tried: number; effective: number; rolled_back: number; }; may: string; })[]; };
export type SearchPage = { records: (Record)[]; next: number | null; size: number; };
export type LastCheck = { good: boolean; at: string | null; records: number; why: string | null; };
export type AuditState = { size: number; store: string; trouble: string | null; checkpoint: Checkpoint | null;
  verified: LastCheck | null; };
export type Checkpoint = { origin: string; size: number; root: string; };
export type Tuning = { actions: ({ action: string; service: string; knob: string; class: string | null; direction:
  string | null; cause: string | null; from: string; to: string; by: string; automatic: boolean; incident: number;
  intended: string | null; applied: string | null; verdict: string | null; outcome: string | null; last: string | null;
  rolled_back: boolean; model_version: string | null; load: "low" | "usual" | "high" | null; gain: number | null; })[];
  groups: ({ service: string; knob: string; direction: string | null; cause: string | null; load: "low" | "usual" |
  "high" | null; model_version: string | null; tried: number; effective: number; partial: number; ineffective: number;
  harmful: number; inconclusive: number; rolled_back: number; median_gain: number | null; })[]; };
export type Health = { version: string; started: string | null; at: string | null; ready: boolean; not_ready_why:
  string | null; modules: (Module)[]; scrape: ({ service: string; instance: string; up: boolean; interval_seconds:
  number; age_seconds: number | null; lag_seconds: number | null; error: string | null; })[]; store: { state: string;
  audit_records: number; audit_bytes: number; metrics_bytes: number; metrics_budget: number; waiting: number;
  points_dropped: number; trouble: string | null; metrics_trouble: string | null; points_a_day: number; }; receivers:
  (Receiver)[]; reload: { good: boolean; at: string | null; error: string | null; revision: string; }; tls: { on:
  boolean; subject: string | null; not_after: string | null; days_left: number | null; }; listeners: number;
  connections: number; loop_bytes: number; };
export type Words = { states: (string)[]; modes: (string)[]; decisions: (string)[]; verdicts: (string)[]; causes:
  (string)[]; groups: (string)[]; layers: (string)[]; units: (string)[]; series: (string)[]; unknown: (string)[];
  classes: (string)[]; modules: (string)[]; kinds: ({ kind: string; meaning: string; })[]; };
export type PolicyKnob = { name: string; class: string; tier: number; unit: string; min: number | null; max: number |
  null; min_step: number | null; up: boolean; down: boolean; interval_seconds: number; protect_seconds: number;
  settle_seconds: number; apply: string; dead_band: number; budget: string; cas: boolean; single_writer: boolean; read:
  { [key: string]: unknown } | null; write: { [key: string]: unknown } | null; ladder: string; precondition: string |
  null; mode: string; now: Knob; };
export type Policy = { revision: string; path: string | null; loaded: string | null; service_count: number; services:
  ({ name: string; environment: string | null; group: string | null; mode: string; class_mode: { [key: string]: unknown
  }; objective: number | null; objective_unit: string | null; symptoms: ({ name: string; when: string | null; clear:
  string | null; slo: boolean; request_layer: boolean; })[]; playbook: ({ id: string; cause: string; group: string;
  symptom: string | null; when: string | null; try: ({ advice?: string; knob?: string; direction?: string; })[]; })[];
  knobs: (PolicyKnob)[]; limits: { [key: string]: unknown }; windows: ({ name: string; weekdays: (number)[]; from:
  string; to: string; utc_offset_seconds: number; })[]; })[]; };
export type Revisions = { revisions: ({ revision: string; path: string; loaded: string | null; in_force: boolean; })[];
  };
export type Revision = { revision: string; text: string; };
export type PolicyDiff = { from: string; to: string; lines: ({ op: string; a: number | null; b: number | null; text:
  string; })[]; };
