// Names for what the pages read. All shapes come from the daemon's own description (generated.ts).
import type * as G from "./generated";

export type Time = string | null;
export type Role = G.Session["role"];

export type {
  Attempt,
  AuditState,
  Cause,
  Compare,
  Decision,
  Distribution as Dist,
  Gate,
  Health,
  Knob as KnobNow,
  Line,
  Module as ModuleView,
  Number as Num,
  Policy,
  PolicyDiff,
  PolicyKnob,
  Report,
  Series,
  Service,
  Session,
  Side,
  Signal as SignalNow,
  Status,
  Story,
  Symptom,
  Target,
  Verified as Checked,
} from "./generated";

export type AuditRecord = G.Record & Record<string, unknown>;
export type CompareSignal = G.Compare["signals"][number];
export type InboxRequest = G.Inbox["requests"][number];
export type Change = NonNullable<G.Error["changes"]>[number];
export type FreezeWindow = G.Windows["windows"][number];
export type IncidentRow = G.Incidents["incidents"][number];
export type Mark = G.Series["marks"][number];
export type PolicyService = G.Policy["services"][number];
export type Revision = G.Revisions["revisions"][number];
export type SeriesSignal = G.Series["signals"][number];
export type Token = G.Tokens["tokens"][number];
export type TryItem = G.Cause["try"][number];
export type TuningGroup = G.Tuning["groups"][number];
export type TuningRow = G.Tuning["actions"][number];
export type User = G.Users["users"][number];
export type VerdictNumber = G.VerdictPart["numbers"][number];
export type ViewWarm = G.Service["views"][number];
