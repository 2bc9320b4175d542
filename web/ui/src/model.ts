// What the server sends; docs/formats-web.md describes it. Times are ns.

import type { HistoryPage } from "./past";

export interface Target { pid: number; user: string; java: string; main: string; started: string; attachable: boolean; reason?: string }
export interface Method { name: string; loader: string; flags: string; reason?: string; root: boolean }
export interface Branch { name: string; kind: "package" | "class" | "method"; count: number; method?: Method }
export interface Recording {
  roots: string[]; scheme: string; clock: string; until_calls: number; wait: boolean; filter: string[]; natives: string; recursion: string; probes: string; overhead: string; warmup: string;
  root_times: string; slowest: number; over: string; memory: number; events: boolean; timeline: boolean; follow: boolean; cpu: boolean; leaves: string; count: string[]; modes: string[]; agents: boolean; every: number; observe: string; patience: string;
}
export interface Snapshot {
  id: number; name: string; when: string; target: string; scheme: string; clock: string; seconds: number; calls: number; total: number; nodes: number;
  file?: string; broken?: string; timeline?: boolean; kind?: "comparison";
}
export interface Suggestion { root: string; stacks: number; of: number; threads: number; thread: string; always: boolean; share?: number; share_low?: number; share_high?: number; rate?: number; price?: string }
export interface Suggestions {
  source?: number; prices?: Record<string, string>; samples?: number; why?: string; roots: Suggestion[]; looks: number; seconds: number; busy: number; threads: number }
export interface PreviewClass { class: string; loader: string; initialized: boolean; methods: string[] }
export interface Preview {
  roots: string[]; classes: number; methods: number; packages: { package: string; classes: number; methods: number; class_list: PreviewClass[] }[];
  skipped: Skipped[]; notes: string[]; filter?: Filter;
}
export interface Skipped { method: string; reason: string }
export interface Filter { rules: string[]; hidden: number }
export interface Entry { seq: number; time: string; level: "info" | "warn" | "error"; text: string }

export interface Figures {
  scheme: string; seconds: number; calls: number; rate: number; invocations: number; open: number; nodes: number;
  instrumented: number; called: number; skipped: number; batches: number; classes: number; redefining: number; pause: number | null;
  measured: number; charged: number; subtracted: number | null; clamped: number | null; suspended: number; exact: boolean;
  used: number; most: number;
  governor?: Governor; // of a recording with a budget
  sampling?: Sampling; // of a report that is made of samples: calls are entries then
}

/** How the cost of a recording is held within a budget, as docs/formats-report.md describes it. */
export interface Governor {
  budget: number; over_budget_share: number; overhead: number; scale: number; every: number; off: string[]; out: string[];
  steps: { after_ms: number; action: string; overhead: number; expected: number; every: number; count: number; methods: string[] }[];
}

/** How samples were taken, as docs/formats-report.md describes it. */
export interface Sampling {
  source: string; mode: "cpu" | "wall"; hz: number; samples: number; complete: number; heuristic: number; lost: number; seconds: number; first_ms: number; sampler_cpu_share: number;
  why?: string; detached?: number; purged?: number; broken?: Record<string, number>; states?: Record<string, number>; skewed?: boolean; by_compiled?: boolean;
}

export type Phase = "idle" | "attaching" | "attached" | "starting" | "recording" | "stopping" | "stopped" | "comparing";

export interface State {
  phase: Phase; paused: boolean; warming: boolean; target: { pid: number; java: string; vm: string; main: string; redefinition?: string } | null;
  recording: Recording; defaults: Recording; methods: number; actions: string[]; diagnosis: string; ended?: string; frame: number; figures: Figures | null; snapshots: Snapshot[];
  comparing: Trying | null; compared: number; agents?: Agent[];
}

/** A user's script beside the recording, as docs/formats-report.md describes it. */
export interface Agent {
  name: string; activations: number; seconds: number; output: string[]; dropped?: number; folder?: string; files?: string[]; marks?: number; went_on?: number; failed?: string;
}

/** How far a comparison of schemes is. */
export interface Trying { schemes: string[]; seconds: number; step: number; steps: number; doing: string; since: string; sofar: Comparison | null }

/** What schemes showed, as docs/formats-report.md describes it. */
export interface Comparison {
  target: { pid: number; java: string; vm: string; main: string }; command?: string[]; clock: string; roots: string[]; bare_ms?: number;
  bare_root: { invocations: number; total_ns: number; mean_ns: number } | null; schemes: SchemeRun[]; advice: string; notes: string[];
}
export interface SchemeRun {
  scheme: string; armed_ms: number; seconds: number; total_ms?: number; ended: string; exact: boolean; calls: number; calls_per_second: number; root_invocations: number;
  methods: { instrumented: number; called: number };
  redefinition: { batches: number; classes: number; ms: number; longest_pause_ms: number | null; total_pause_ms: number | null; longest_wait_ms: number | null; analysis_ms: number | null };
  processing_ms: number; measured_ns: number; suspended_ns: number; subtracted_ns: number | null; charged_ns: number | null;
  root_mean_ns: number | null; root_charged_mean_ns: number | null; overhead: number | null;
}

// Rows are arrays; these are the places of their figures.
export const R = { path: 0, depth: 1, method: 2, flags: 3, calls: 4, thrown: 5, self: 6, raw: 7, error: 8, total: 9, children: 10, levels: 11, waited: 12, longest: 13 } as const;
export const B = { path: 0, depth: 1, method: 2, start: 3, total: 4, self: 5, calls: 6, thrown: 7, raw: 8, error: 9, cut: 10, above: 11, flags: 12, waited: 13, longest: 14 } as const;
export const L = { method: 0, contexts: 1, calls: 2, thrown: 3, self: 4, raw: 5, error: 6, total: 7, tasks: 8, waited: 9, longest: 10, flags: 11 } as const;
export const D = { path: 0, depth: 1, method: 2, flags: 3, callsA: 4, callsB: 5, totalA: 6, totalB: 7, selfA: 8, selfB: 9, children: 10, boundTotal: 11, boundSelf: 12 } as const;
export const F = { path: 0, depth: 1, method: 2, start: 3, width: 4, selfA: 5, selfB: 6, totalA: 7, totalB: 8, bound: 9, above: 10, flags: 11, callsA: 12, callsB: 13 } as const;
export const flagOpen = 1, flagIncomplete = 2, flagHot = 4, flagAsync = 8, flagCounted = 16, flagFold = 32, flagType = 64;

/** What a recording has beside calls, thrown and time. Counts are own and total of each in turn. */
export interface Metric { name: string; title: string; unit: string; self: string; total?: string; rate?: string; doc?: string }
export interface Line { name?: string; f: number[]; c?: number[] }
export interface TreePage { total: number; count: number; from: number; found: number; rows: number[][]; hot: number[]; metrics?: Metric[]; counts?: number[][]; processes?: { name: string; total: number }[]; parts?: number[][] }
export interface IciclePage { focus: number; above: [number, number][]; total: number; whole: number; boxes: number[][]; inverted?: boolean; metric?: Metric }
export interface MethodsPage { total: number; all: number; count: number; from: number; lines: Line[]; metrics?: Metric[] }
export interface AroundPage { total: number; self: Line; callers: Line[]; callees: Line[]; more: [number, number] }
export interface ThreadLine { name: string; id: number; virtual?: boolean; shared?: boolean; inside: boolean; entries: number; open: number; total: number; suspended: number; place: number }
export interface ThreadsPage { count: number; threads: ThreadLine[] | null }
export interface Calibration { inner_ns: number; outer_ns: number; spread_ns: number; batches: number; tick: { period_ns: number; core_share: number; longest_gap_ns: number; gaps_over_1ms: number; ticks: number } | null }
export interface DoubtsPage {
  incomplete: number; overflow: number; lost: number; unfollowed: number; refused: number; damaged: number; open: number; clamped: number; subtracted: number; measured: number;
  uncounted: number; exact: boolean; gaps: { reason: string; count: number; where: string[] }[]; calibration: Calibration | null; notes: string[]; pauses: string[]; skipped_count: number; reasons: { reason: string; count: number }[];
  filter: Filter | null; natives: number; events: { dropped: number; muted: number; bad: number; waits: number; waited: number; differ: number | null } | null;
  dark: { method: number; incomplete: number; hidden: number; self: number; error: number }[];
  processes: { host?: string; pid: number; java: string; main: string; seconds: number; error?: string; samples: number; calls: number; self_ns: number }[] | null; odd: string[] | null;
}
export interface SkippedPage { count: number; from: number; lines: Skipped[] }
export interface SlowLine { place: number; method: number; thread: string; id: number; start: number; took: number; suspended: number; gc_pause?: [number, number]; way?: [number, number, number]; ran?: number; thrown: boolean; trace_id?: string; span_id?: string; span_within?: boolean; calls: number; cut_contexts: number; cut_calls: number; tasks: number; waited: number; longest_wait: number }
export interface SlowPage { recorded: boolean; times_only: boolean; asked: number; over: number; of: number; count: number; lines: SlowLine[]; path?: SlowPath }
/** Segments are [kind, thread, method, from, to, cause]; methods [method, ran, queued, waited]. */
export interface SlowPath { run: number; queue: number; wait: number; profiler: number; lacking: number; left: number; left_ns: number; threads: { name: string; id: number }[]; segments: number[][]; methods: number[][] }
export interface BriefPage { lines: string[]; self: number[]; allocated: number[]; waiting: number[] }
export interface Unlike { kind: string; text: string; grave: boolean }
export interface DiffFlamePage { focus: number; above: [number, number][]; total: number; boxes: number[][] }
export interface ComparePage { before: number; after: number; scaled: boolean; unlike: Unlike[]; verdict: string; differ: number; within: number; flame?: DiffFlamePage; roots: [number, number]; count: number; from: number; rows: number[][]; hot: number[]; changes: number[][]; more: number }

export interface Sections {
  history?: HistoryPage;
  figures?: Figures;
  tree?: TreePage; icicle?: IciclePage; methods?: MethodsPage; around?: AroundPage; threads?: ThreadsPage; doubts?: DoubtsPage; skipped?: SkippedPage; slowest?: SlowPage; compare?: ComparePage; sandwich?: { callers: IciclePage; callees: IciclePage }; brief?: BriefPage;
}

export interface Look {
  seq: number; source: number; against: number; thread: number; slow: number; fold: boolean; frameworks: boolean; unfold: number[];
  tree?: { open: number[]; sort: string; up: boolean; from: number; rows: number; find: number };
  icicle?: { focus: number; width: number; depth: number; inverted?: boolean; weight?: string };
  methods?: { group: string; filter: string; sort: string; up: boolean; from: number; rows: number };
  around?: { method: number; width: number };
  threads?: boolean; doubts?: boolean; slowest?: boolean; brief?: boolean; history?: boolean; range?: [number, number];
  skipped?: { filter: string; reason: string; from: number; rows: number };
  compare?: { open: number[]; from: number; rows: number; each: boolean; flame: { focus: number; width: number; depth: number } };
}
