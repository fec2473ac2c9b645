// Generated from the types of the crate `report`, which `headworks report --json` prints as well. Do not edit:
// `make report-types` writes it.
//
// Times are in seconds, rates per second, shares from 0 to 1, moments as in RFC 3339.

/** Where connections went. */
export type AddressSummary = {
  /** The address that was taken, with its port, or the path of a Unix socket. */
  taken: string;
  /** Other addresses of the name that were tried before it, and why they were not taken. */
  refused?: Array<RefusedAddress>;
};

/** What is on an axis. */
export type Axis = {
  /** What it is. */
  label: string;
  /** In what. */
  unit: Unit;
  /** Whether it is logarithmic at first. */
  logarithmic: boolean;
};

/** What the server carries. */
export type Capacity = {
  /** In `unit`. */
  rate: Estimate;
  /** Such as `sessions/s`. */
  unit: string;
  /** The run that found it. */
  directory: string;
};

/** What a cell of a table holds. */
export type Cell = Quantity | string | null;

/** A statement, held against what came out. */
export type Check = {
  /** Where it is made, such as `Figure 4`. */
  place: string;
  /** The statement, in our words, with what is asked for it to hold. */
  statement: string;
  /** Whether it does. */
  holds: boolean;
  /** The figures that say so. */
  evidence: string;
};

/** A class of the workload. */
export type Class = {
  /** Its name. */
  name: string;
  /**
   * Its share of the offered load, 0 to 1. Where a class has a load of its own, the shares are
   * those of the workload before that.
   */
  share: number;
  /** Times the capacity that it is offered at every level, where that is held constant. */
  load?: number;
};

/** One class at a point. */
export type ClassPoint = {
  /** The class. */
  name: string;
  /** Sessions started in the measuring windows. */
  started: number;
  /** How many of those were completed. */
  completed: number;
  /** The share completed; none when none started. */
  share: Estimate | null;
  /** How long the completed ones took; none when none was. */
  duration: Duration | null;
};

/** One class in one test. */
export type ClassReading = {
  /** The class. */
  name: string;
  /** The share of sessions completed. */
  share: number | null;
  /** The mean duration of those. */
  mean: number | null;
  /** The median duration of them. */
  median: number | null;
};

/** Sessions of one class that started in the measuring window. */
export type ClassSummary = {
  /** Sessions started: the sum of the counts below. */
  started: number;
  /** Every request got its response. */
  completed: number;
  /** Ended by a request that took too long. */
  timeout: number;
  /** Ended by a 503. */
  refused: number;
  /** Ended otherwise. */
  error: number;
  /** Still running at the end. */
  censored: number;
  /** Durations of completed sessions, think time taken out. */
  duration: Quantiles;
};

/** The generator in one test. */
export type ClientReading = {
  /** Share of a processor that its busiest thread used. */
  cpu: number;
  /** How late it was, 99th percentile. */
  lag_p99: number;
};

/** The generator itself. */
export type ClientSummary = {
  /** Share of one processor that the generator's busiest thread used in the measuring window. */
  cpu: number;
  /**
   * Share of the measuring window in which it could have run but others had the processor, or its quota was used
   * up.
   */
  waited: number;
  /** Connections that could not be made because no local port was left (EADDRNOTAVAIL, connect(2)). */
  without_port: number;
  /** How late the generator began what the schedule wanted, by its own fault. */
  lag: Quantiles;
  /** Whether the figures are the server's rather than the generator's. */
  valid: boolean;
  /** Why not, one sentence each. */
  why_invalid: Array<string>;
};

/** What came out. */
export type Conclusion = {
  /** The one sentence to remember. */
  headline: string;
  /** What goes with it, a sentence each. */
  details: Array<string>;
  /** The few figures behind it. */
  figures: Array<KeyFigure>;
};

/** TCP connections of requests that were due in the measuring window. */
export type ConnectionSummary = {
  /** Connections opened for them; one that was opened before the window is reused. */
  opened: number;
  /** Requests sent on a connection that had carried one before. */
  reused: number;
  /** SYNs sent again. */
  syn_retransmits: number;
  /** Times that a client of a closed loop waited for 10 ms because no connection had come about. */
  waits: number;
  /** The bound on what may be under way at once in an open loop (`-c`); null where none was stated. */
  limit?: number | null;
  /** Requests that found that many under way, and waited. */
  queued: number;
  /**
   * What the bound would have had to be for hardly any to wait, at the times that requests took once they had begun;
   * null where none waited.
   */
  needed?: number | null;
};

/** What a load is made of. */
export type Counted = 'requests' | 'sessions';

/** A curve. */
export type Curve = {
  /** What it stands for. */
  name: string;
  /** Its points, in rising order of `x`. */
  points: Array<PlotPoint>;
};

/** What the page is filled with: a report that says of which kind it is, since the page shows each kind in its own way. */
export type Data =
  | ({ kind: 'experiment' } & ExperimentReport)
  | ({ kind: 'run' } & RunReport)
  | ({ kind: 'search' } & SearchReport)
  | ({ kind: 'simulation' } & SimulationReport)
  | ({ kind: 'watch' } & WatchReport);

/** How a capacity differs from that at the first level. */
export type Difference = 'more' | 'less' | 'chance' | '';

/** How long one phase took. */
export type Distribution = {
  /** Which. */
  phase: PhaseName;
  /** Its usual figures. */
  quantiles: Quantiles;
  /**
   * The whole of it: pairs of "nines" and latency. A share 1 - 10^-n of all is at or below the
   * latency that stands beside n, so that 0 is the shortest, 1 the 90th percentile, 2 the 99th.
   */
  curve: Array<[number, number]>;
};

/** Durations of completed sessions, think time taken out. */
export type Duration = {
  /** How many sessions. */
  count: number;
  /** The mean. */
  mean: Estimate;
  /** The median. */
  median: Estimate;
  /** The 90th percentile. */
  p90: Estimate;
};

/** The capacity at a level, and how it differs from that at the first. */
export type Effect = {
  /** What was varied, such as `server workers`. */
  factor: string;
  /** Subject and the levels of all else; empty where there is nothing else. */
  beside: string;
  /** Which level. */
  level: string;
  /** The mean over repeats. */
  capacity: Estimate;
  /** How many of them. */
  repeats: number;
  /** In how many repeats both this level and the first were measured. */
  pairs: number;
  /** Times the capacity at the first level, repeat by repeat; nothing of that itself. */
  times: Estimate | null;
  /** How likely that is by chance, as one of so many; nothing without two pairs. */
  chance: number | null;
  /**
   * Whether the first level was measured before this one in each pair, or after it in each: then what the machine
   * does in the course of time would look like the effect.
   */
  is_confounded: boolean;
  /** What somebody else found. */
  published: Published | null;
  /** Whether it is more or less than at the first. */
  verdict: Difference;
};

/** Requests that ended in the same way. */
export type ErrorCount = {
  /** Such as `timeout`, or `status 503`. */
  kind: string;
  /** How many. */
  count: number;
};

/** Requests without a complete response. */
export type ErrorCounts = {
  /** See [`RequestError::Connect`]. */
  connect: number;
  /** See [`RequestError::Timeout`]. */
  timeout: number;
  /** See [`RequestError::Reset`]. */
  reset: number;
  /** See [`RequestError::Protocol`]. */
  protocol: number;
  /** See [`RequestError::Body`]. */
  body: number;
};

/** How often one thing went wrong. */
export type ErrorDetail = {
  /** The error that it was counted as, such as `reset`. */
  kind: RequestError;
  /** What it was, in words. */
  reason: string;
  /** How often. */
  count: number;
};

/** A figure and where the true value lies with a confidence of 95 %. */
export type Estimate = {
  /** The figure. */
  value: number;
  /** Lower and upper end; `None` where there are too few observations to tell. */
  ci: [number, number] | null;
};

/** Everything that the page and the terminal show. Times in seconds, rates per second, shares 0 to 1. */
export type ExperimentReport = {
  /** What the experiment is about. */
  title: string;
  /** When it began. */
  started: string;
  /** When it ended; none when it has not, or was killed. */
  ended: string | null;
  /** Whether it was stopped before its end. */
  interrupted: boolean;
  /** The version of Headworks that measured. */
  version: string;
  /** The server under test. */
  server: Server;
  /** What was varied along the axis of figures. */
  factor: Factor;
  /**
   * What was compared: the subjects, those with settings of their own once for each, such as
   * `gate, look-ahead 4`.
   */
  subjects: Array<string>;
  /** The classes of the workload, the most important first. */
  classes: Array<Class>;
  /** What the server carries, where that is known. */
  capacity: Capacity | null;
  /** What came out, in words. */
  verdict: Conclusion;
  /** What sets the limit of each subject, where that was judged. */
  limits: Array<Limit>;
  /** The figures: one for each subject and level with at least one test that counts. */
  points: Array<Point>;
  /** Every test, in the order in which they were run. */
  tests: Array<Test>;
  /** How it was measured. */
  method: Array<Fact>;
  /** The texts that it was made by. */
  sources: Array<Source>;
};

/** One fact. */
export type Fact = {
  /** What it is about. */
  label: string;
  /** The fact. */
  value: string;
  /** Whether the value is a command line. */
  command: boolean;
};

/** What an experiment varies, in numbers. */
export type Factor = {
  /** Such as `load`, or `gate.differentiation`. */
  name: string;
  /** The unit of the levels, such as `x capacity`. */
  unit: string;
  /** The values it takes. */
  levels: Array<number>;
};

/** A quantity against another, a curve for each setting. */
export type Figure = {
  /** Of the place in the page. */
  id: string;
  /** What it shows. */
  title: string;
  /** What it repeats, such as `Figure 4`; empty where it repeats nothing. */
  place: string;
  /** How to read it. */
  caption: string;
  /** Along the bottom. */
  x: Axis;
  /** Up the side. */
  y: Axis;
  /** The curves. */
  curves: Array<Curve>;
  /** Where along the bottom something begins, in rising order. */
  marks: Array<Mark>;
  /** From where on there is more than can be carried. */
  overload: number | null;
};

/** A time in which one level was held, from the start of the run. */
export type Held = {
  /** Its first instant. */
  from: number;
  /** The first instant after it. */
  to: number;
  /** In [`Steps::unit`]. */
  level: number;
};

/** A figure that stands for itself. */
export type KeyFigure = {
  /** With its unit. */
  value: string;
  /** What it is. */
  label: string;
  /** What to compare it with. */
  note: string;
};

/**
 * Distributions of what clients waited, of all responses and, as a lower bound, of requests
 * that the timeout or the end of the run cut off. Requests that failed otherwise are not
 * latencies and not in here.
 */
export type LatencySummary = {
  /** From the intended time to the last byte. */
  total: Quantiles;
  /**
   * From the intended time to when work on the request began: it waited for one of the connections or streams that
   * there may be, for the generator, or for its turn to be sent again.
   */
  queued: Quantiles;
  /** Look-ups of the host's name, where each connection has one. */
  dns?: Quantiles;
  /** Connections that were opened; requests on an open connection do not count. */
  connect: Quantiles;
  /** TLS handshakes. */
  tls?: Quantiles;
  /** From the first byte of requests that have a body to the last that is on its way. */
  sending: Quantiles;
  /** From the request written to the first byte of the final response. */
  processing: Quantiles;
  /** From that byte to the last. */
  transfer: Quantiles;
};

/** What is at its end, why that is known, and what to do. */
export type Limit = {
  /** A subject, and its settings where it has some. */
  subject: string;
  /** The limit, as the end of a sentence. */
  limit: string;
  /** Sentences with figures. */
  evidence: Array<string>;
  /** What to do. */
  next: Array<string>;
};

/** A place along the bottom of a figure. */
export type Mark = {
  /** Where. */
  x: number;
  /** What begins there. */
  name: string;
};

/** One `--objective`. */
export type ObjectiveResult = {
  /** As it was stated, such as `p99<50ms`. */
  objective: string;
  /** The figure it is about, in the unit of the summary; null when nothing was measured. */
  measured: number | null;
  /** Whether it holds. */
  met: boolean;
};

/** A search. */
export type OneSearch = {
  /** Of the place in the page. */
  id: string;
  /** Subject and levels. */
  name: string;
  /** Where its record is, from the experiment's directory. */
  directory: string;
  /** Capacity, interval and bottleneck in a line. */
  result: string;
  /** Why it does not count, or what to know of it. */
  why: Array<string>;
  /** Why this is the bottleneck. */
  evidence: Array<string>;
  /** How sure that is, and what came to its end when. */
  order: Array<string>;
  /** What to do. */
  next: Array<string>;
  /** What the capacity rests on. */
  basis: Array<string>;
  /** How near predictions came. */
  predicted: Array<string>;
  /** Against the load. */
  figures: Array<Figure>;
};

/** What came out for some of the requests; nothing where nothing was observed. */
export type OutcomeRow = {
  /** Which requests. */
  name: string;
  /** Share of them that was rejected. */
  rejected: Estimate | null;
  /** Mean latency of the others, in seconds. */
  mean: Estimate | null;
  /** Median latency, in seconds. */
  p50: Estimate | null;
  /** 90th percentile of latency, in seconds. */
  p90: Estimate | null;
  /** 99th percentile of latency, in seconds. */
  p99: Estimate | null;
  /** Served per second. */
  throughput: Estimate | null;
};

/** Percentiles of each stretch of time; null where there was nothing. */
export type Percentiles = {
  /** Medians. */
  p50: Array<number | null>;
  /** 90th percentiles. */
  p90: Array<number | null>;
  /** 99th percentiles. */
  p99: Array<number | null>;
};

/** One phase. */
export type Phase = {
  /** Over all requests that came so far. */
  mean: number;
  /** The 99th percentile of the test in which it was highest; percentiles cannot be pooled. */
  p99: number;
  /** How many requests. */
  count: number;
};

/** A part of the time of a request. */
export type PhaseName =
  'total' | 'queued' | 'dns' | 'connect' | 'tls' | 'sending' | 'processing' | 'transfer' | 'server';

/** The phases of a request. */
export type Phases = {
  /** Until the connection stands. */
  connect: Phase;
  /** Until the first byte of the response. */
  processing: Phase;
  /** Until the last byte. */
  transfer: Phase;
};

/** A point of a curve. */
export type PlotPoint = {
  /** Along the bottom. */
  x: number;
  /** Up the side. */
  y: Estimate;
  /** What else is to be known of it. */
  note: string;
};

/** One subject at one level, over all tests that count. */
export type Point = {
  /** One of the report's subjects. */
  subject: string;
  /** The factor's value. */
  level: number;
  /** Sessions per second that were offered. */
  offered: number;
  /** How many tests are in it. */
  repeats: number;
  /** Sessions started in the measuring windows. */
  started: number;
  /** How many of those were completed, then or later. */
  completed: number;
  /** Sessions completed inside the measuring windows, whenever started. */
  completed_inside: number;
  /** The measuring windows together, in seconds. */
  window: number;
  /** `completed_inside` per second of the windows. */
  goodput: Estimate | null;
  /** Class by class, in the experiment's order. */
  classes: Array<ClassPoint>;
  /** The requests of all classes. */
  requests: Requests;
};

/** What somebody else found at a level. */
export type Published = {
  /** Where. */
  source: string;
  /** Times the capacity at the first level. */
  times: number;
};

/**
 * A distribution in a few numbers, times in seconds. With a `count` of 0 the others are 0 and
 * mean nothing.
 */
export type Quantiles = {
  /** Arithmetic mean, s. */
  mean: number;
  /** Smallest, s. */
  min: number;
  /** Median, s. */
  p50: number;
  /** 90th percentile, s. */
  p90: number;
  /** 95th percentile, s. */
  p95: number;
  /** 99th percentile, s. */
  p99: number;
  /** 99.9th percentile, s. */
  p999: number;
  /** Largest, s. */
  max: number;
  /** How many. */
  count: number;
} & { [key in string]: number };

/** A number with its unit. */
export type Quantity = {
  /** The number. */
  value: number;
  /** What it is in. */
  unit: Unit;
  /** Where the true value lies with a confidence of 95 %, in the same unit; none where it is not an estimate. */
  ci: [number, number] | null;
};

/** Sessions per second where the workload has sessions, else requests per second. */
export type RateSummary = {
  /** What the schedule asked for; in a closed loop, which asks for nothing, what it achieved. */
  offered: number;
  /** Sessions completed, or responses received, inside the measuring window, per second of it. */
  achieved: number;
};

/** An address that could not be connected to. */
export type RefusedAddress = {
  /** The address, with its port. */
  address: string;
  /** Why. */
  reason: string;
};

/** One replication over simulated time, in intervals that follow one another from 0. */
export type Replication = {
  /** Ends of the intervals, in seconds. */
  ends: Array<number>;
  /** Arrivals in each. */
  arrivals: number;
  /** And of those that the beginning has for itself, in more detail. */
  beginning: Array<number>;
  /** When the warm-up ended, in seconds. */
  warmup: number;
  /** What there is to be seen. */
  figures: Array<ReplicationFigure>;
};

/** Charts over time that belong together. */
export type ReplicationFigure = {
  /** Of the place in the page. */
  id: string;
  /** What it shows. */
  title: string;
  /** How to read it. */
  caption: string;
  /** Whether it shows the beginning in more detail, and not the whole. */
  beginning: boolean;
  /** Whether its y axis is logarithmic at first; nothing where it cannot be. */
  logarithmic: boolean | null;
  /** The charts. */
  charts: Array<TimeChart>;
};

/** Why a request has no complete response. A status such as 503 is a response, not an error. */
export type RequestError = 'connect' | 'timeout' | 'reset' | 'protocol' | 'body' | 'censored';

/** The requests at a point. */
export type Requests = {
  /** Begun in the measuring windows. */
  requests: number;
  /** Complete responses to them. */
  responses: number;
  /** Where their time went. */
  phases: Phases;
  /** Those that got no useful response, by reason; reasons that did not occur are left out. */
  errors: Array<ErrorCount>;
};

/**
 * Everything that is shown of a run. Times in seconds, rates per second, shares 0 to 1. Unless it
 * is said otherwise, a figure is of the requests that were due in the measuring window.
 */
export type RunReport = {
  /** What was put under load. */
  title: string;
  /** How much load that was, in a few words. */
  load: string;
  /** When it began. */
  started: string;
  /** When it ended; none when it has not, or was killed. */
  ended: string | null;
  /** The version of Headworks that made the record. */
  version: string;
  /** What `summary.rate` counts. */
  unit: Counted;
  /** The measuring window, from the start of the run. */
  window: [number, number];
  /** What came out. */
  verdict: Conclusion;
  /** Where the files of the record contradict each other, a sentence each. */
  contradictions: Array<string>;
  /** The figures of `summary.json`. */
  summary: Summary;
  /** Total, then each phase that took any time, and the server's own time where it told it. */
  distributions: Array<Distribution>;
  /** What was asked for most. */
  urls: Urls;
  /** The run, stretch by stretch. */
  timeline: Timeline;
  /** The levels of load that it held. */
  steps: Steps;
  /** Sizes of bodies and how long it took to receive them. */
  sizes: Array<SizeField>;
  /** Counters of the kernel's network stack that rose, by how much. */
  counters: Array<[string, number]>;
  /** How it was made. */
  method: Array<Fact>;
  /** Texts that it was made by. */
  sources: Array<Source>;
  /** The names of the files beside the report. */
  files: Array<string>;
};

/** The report of a search, or of an experiment whose tests are searches. */
export type SearchReport = {
  /** What it is about. */
  title: string;
  /** The version of Headworks that searched. */
  version: string;
  /** What came out, in words. */
  verdict: Conclusion;
  /** What is to be known before the figures are believed, a sentence each. */
  warnings: Array<string>;
  /** What each level of what was varied does. */
  effects: Array<Effect>;
  /** What compares the searches; nothing where there is one. */
  compared: Array<Figure>;
  /** Search by search. */
  searches: Array<OneSearch>;
  /** How it was done. */
  method: Array<Fact>;
  /** The spec, the workload, the server's configuration. */
  sources: Array<Source>;
};

/** The server under test. */
export type Server = {
  /** `origin`, `apache`, `nginx`, or `url` for one that was running already. */
  kind: string;
  /** As the server states it; empty when it does not. */
  version: string;
};

/** Sessions that started in the measuring window. */
export type SessionSummary = {
  /** Sessions started. */
  started: number;
  /** Sessions whose every request got its response. */
  completed: number;
  /** Durations of completed sessions, think time taken out. */
  duration: Quantiles;
  /** The same for each class. */
  by_class: { [key in string]: ClassSummary };
};

/** The report of a single simulation, of a sweep, or of the sweeps that repeat a paper. */
export type SimulationReport = {
  /** What it is about. */
  title: string;
  /** The version of Headworks that simulated. */
  version: string;
  /** What came out, in words. */
  verdict: Conclusion;
  /** What is to be known before the figures are believed, a sentence each. */
  warnings: Array<string>;
  /** What was said and whether it holds, in the order of the paper. */
  checks: Array<Check>;
  /** Of a single simulation: what came out for all requests, and then for each class. */
  outcomes: Array<OutcomeRow>;
  /** And one of its replications over time. */
  course: Replication | null;
  /** The figures of sweeps. */
  figures: Array<Figure>;
  /** How it was simulated. */
  method: Array<Fact>;
  /** The model or the specs. */
  sources: Array<Source>;
};

/** Responses of about one size that took about one time: fields of a grid with 16 to a decade. */
export type SizeField = {
  /** Size of the first response that fell into the field. */
  bytes: number;
  /** Its transfer time. */
  transfer: number;
  /** How many fell into it. */
  count: number;
};

/** A text that an experiment was made by, such as its spec. */
export type Source = {
  /** The file's name. */
  name: string;
  /** Its text. */
  text: string;
};

/** One level. */
export type Step = {
  /** In [`Steps::unit`]. */
  level: number;
  /** How long it was held. */
  seconds: number;
  /** Requests that were due. */
  requests: number;
  /** Of those, answered then or later. */
  responses: number;
  /** Requests due per second. */
  offered: number;
  /** Responses that came while it was held, per second. */
  achieved: number;
  /** Of sessions, where requests belong to such. */
  sessions: StepSessions | null;
  /** Connections begun. */
  connections: number;
  /** Of those, the ones whose SYN had to be sent again because nothing answered it in time. */
  timed_out: number;
  /** `timed_out` of `connections`. */
  timeouts: Estimate | null;
  /** Connections that were opened. */
  connect: StepPhase;
  /** From the request written to the first byte. */
  processing: StepPhase;
  /** What the server itself reported. */
  server: StepPhase;
  /** From the first byte to the last. */
  transfer: StepPhase;
  /** From the intended time to the last byte. */
  total: StepPhase;
};

/** One phase at one level. */
export type StepPhase = {
  /** The mean, which is what the paper's figures show. */
  mean: Estimate | null;
  /** And how it is spread. */
  quantiles: Quantiles;
};

/** Sessions at one level. */
export type StepSessions = {
  /** Started while it was held. */
  started: number;
  /** Of those, completed then or later. */
  completed: number;
  /** Started per second. */
  offered: number;
  /** Completed while it was held, per second. */
  achieved: number;
  /** `completed` of `started`. */
  completion: Estimate | null;
};

/** One level of a ramp: what was due while it held. */
export type StepSummary = {
  /** The level. */
  level: number;
  /** What it counts: `clients`, `requests/s`, `sessions/s` or `pages/s`. */
  unit: string;
  /** When it began, s from the run's start. */
  from: number;
  /** When it ended, s from the run's start. */
  to: number;
  /** Requests begun. */
  requests: number;
  /** Complete responses, whatever their status. */
  responses: number;
  /** Load asked for, and work done while it held. */
  rate: RateSummary;
  /** Responses by HTTP status. */
  status: { [key in number]: number };
  /** Requests without a complete response, by reason. */
  errors: ErrorCounts;
  /** Sessions started; 0 when the workload has none. */
  sessions_started: number;
  /** Sessions whose every request got its response. */
  sessions_completed: number;
  /** What clients waited, to 1 %. */
  latency: LatencySummary;
  /** The objectives of the run, held against this level alone. */
  objectives?: Array<ObjectiveResult>;
};

/** The levels of load that a run held. */
export type Steps = {
  /** What the levels count. */
  unit: string;
  /** Whether there was more than one of them. */
  ramp: boolean;
  /** When which level was held, in order. */
  held: Array<Held>;
  /**
   * In rising order; steps of one level are put together. One for the whole measuring window
   * where there was no ramp.
   */
  rows: Array<Step>;
  /** One for each of [`Steps::held`], where a level was held more than once; else none. */
  each: Array<Step>;
};

/**
 * A run in figures. Times in seconds, rates per second, sizes in bytes, shares 0 to 1.
 *
 * Counts are of requests whose intended time, and of sessions whose start, lay in the
 * measuring window; each was followed to its end.
 */
export type Summary = {
  /** Requests begun. */
  requests: number;
  /** Complete responses, whatever their status. */
  responses: number;
  /** Bytes of response bodies. */
  bytes: number;
  /** Length of the measuring window, s. */
  duration: number;
  /** Load asked for and work done. */
  rate: RateSummary;
  /** Responses by HTTP status. */
  status: { [key in number]: number };
  /** Requests without a complete response, by reason. */
  errors: ErrorCounts;
  /** `errors` by what exactly went wrong, the most frequent first. */
  error_details?: Array<ErrorDetail>;
  /**
   * Requests cut off by the timeout or by the end of the run: their latency is known only to
   * be longer than what the histograms hold for them.
   */
  censored: number;
  /** What clients waited, and in which phase. */
  latency: LatencySummary;
  /** Sessions; all zero when the workload has none. */
  sessions: SessionSummary;
  /** The generator's own state: whether the figures are the server's. */
  client: ClientSummary;
  /** TCP connections. */
  connections: ConnectionSummary;
  /** Where they went. */
  address: AddressSummary;
  /** Whether the run was stopped before its time. */
  interrupted: boolean;
  /** Why the run ended before its time by `--stop-when`; null where it did not. */
  stopped?: string | null;
  /** The levels of a ramp, in its order. */
  steps?: Array<StepSummary>;
  /** What was stated with `--objective`, and whether it was met. */
  objectives?: Array<ObjectiveResult>;
};

/** Figures as they are to be read. */
export type Table = {
  /** Of the place in the page. */
  id: string;
  /** What it shows. */
  title: string;
  /** What it repeats, such as `Table 5`; empty where it repeats nothing. */
  place: string;
  /** How to read it. */
  hint: string;
  /** What the rows are. */
  of: string;
  /** What the columns are. */
  columns: Array<string>;
  /** The rows. */
  rows: Array<TableRow>;
};

/** One quantity, in every column. */
export type TableRow = {
  /** What it is. */
  name: string;
  /** One for each column. */
  cells: Array<Cell>;
};

/** One test as it was run. */
export type Test = {
  /** Its run directory, from the experiment's. */
  directory: string;
  /** What was measured. */
  subject: string;
  /** At which level. */
  level: number;
  /** Which repetition, from 1. */
  repeat: number;
  /** Sessions per second that were offered. */
  offered: number;
  /** Whether it counts. A test whose record cannot be read is broken, whatever the index says. */
  state: TestState;
  /** Why not. */
  why: Array<string>;
  /** The files in its directory. */
  files: Array<string>;
  /** Sessions completed per second; none when broken. */
  goodput: number | null;
  /** Class by class; empty when broken. */
  classes: Array<ClassReading>;
  /** The generator; none when broken. */
  client: ClientReading | null;
};

/** Whether a test's figures can be used. */
export type TestState = 'measured' | 'broken' | 'not valid';

/** A quantity over time. */
export type TimeChart = {
  /** What sets it apart from the others of its figure. */
  title: string;
  /** Up the side. */
  label: string;
  /** In what. */
  unit: Unit;
  /** The lines. */
  lines: Array<TimeSeries>;
};

/** Charts over time that belong together. */
export type TimeFigure = {
  /** Of the place in the page. */
  id: string;
  /** What it shows. */
  title: string;
  /** How to read it. */
  caption: string;
  /** The charts. */
  charts: Array<TimeChart>;
};

/** A line over time. */
export type TimeSeries = {
  /** What it stands for. */
  name: string;
  /** Of each interval; nothing where nothing was observed. */
  values: Array<number | null>;
  /** The least and the greatest of each interval; empty where only values are shown. */
  ranges: Array<[number, number] | null>;
};

/** The run over time, from its start to its end, warm-up and all: one value for each stretch. */
export type Timeline = {
  /** How long a stretch is. */
  width: number;
  /** Requests that were due, per second. */
  due: Array<number>;
  /** Requests begun, per second. */
  begun: Array<number>;
  /** Complete responses, per second. */
  answered: Array<number>;
  /** Requests that ended without one, per second. */
  errors: Array<number>;
  /** Connections established, per second. */
  opened: Array<number>;
  /** SYNs sent again, per second, counted when the connection stood or was given up. */
  syn_retransmits: Array<number>;
  /** Requests given up while they were still connecting, per second. */
  connect_timeouts: Array<number>;
  /** Latency of the requests that were due, first byte to last and all. */
  total: Percentiles;
  /** Of those that opened a connection. */
  connect: Percentiles;
  /** From the request written to the first byte. */
  processing: Percentiles;
  /** From the first byte to the last. */
  transfer: Percentiles;
  /** How long after they were due requests began. */
  lag: Percentiles;
  /** Share of a processor that the generator's busiest thread used; null between samples. */
  cpu: Array<number | null>;
  /** Requests or sessions under way; null between samples. */
  running: Array<number | null>;
};

/** What a number is in. */
export type Unit =
  | 'plain'
  | 'number'
  | 'count'
  | 'percent'
  | 'difference'
  | 'seconds'
  | 'bytes'
  | 'kilobytes'
  | 'megabytes'
  | 'mebibytes'
  | 'rate'
  | 'kibibytes-per-second'
  | 'megabits-per-second';

/** One URL. */
export type UrlRow = {
  /** As the workload has it. */
  url: string;
  /** Requests. */
  count: number;
  /** Of those, without a complete response or with a status of 400 or more. */
  failed: number;
  /** Mean size of the bodies of its complete responses. */
  bytes: number | null;
  /** From the intended time to the last byte. */
  total: Quantiles;
  /** Connections that were opened for it. */
  connect: Quantiles;
  /** From the request written to the first byte. */
  processing: Quantiles;
  /** From the first byte to the last. */
  transfer: Quantiles;
};

/** What was asked for, by URL. */
export type Urls = {
  /** How many different ones there were; as many as were kept apart, where `complete` is false. */
  distinct: number;
  /** Whether every URL was kept apart. */
  complete: boolean;
  /** The most frequent, in falling order of `count`. */
  rows: Array<UrlRow>;
};

/** Everything that is shown of a watch, or of several side by side. Times in seconds. */
export type WatchReport = {
  /** What was watched. */
  title: string;
  /** When the first watch began. */
  started: string;
  /** The version of Headworks that made the record. */
  version: string;
  /** What came out. */
  verdict: Conclusion;
  /** What readers have to know before they believe it. */
  warnings: Array<string>;
  /** The tables, in the paper's order. */
  tables: Array<Table>;
  /** When the watches looked, in seconds since they began. */
  looks: Array<number>;
  /** Figures over time; values at each of the looks. */
  figures: Array<TimeFigure>;
  /** How it was made. */
  method: Array<Fact>;
  /** Texts that it was made by. */
  sources: Array<Source>;
  /** The names of the files beside the report. */
  files: Array<string>;
};
