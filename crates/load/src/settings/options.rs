//! [`Options`]: what a run is to do.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use record::Window;
use telemetry::MetricsAddress;
use telemetry::otlp::Collector;
use traffic::model::Model;
use traffic::trace::{Times, Trace};
use traffic::{Level, Process, Ramp, Think, Workload};
use units::{Rate, Span, Time};

use crate::engine::backend::Backend;
use crate::measure::objective::Objective;
use crate::measure::percentile::Percentile;
use crate::names::names;
use crate::settings::checks::Checks;
use crate::settings::exports::ExportPaths;
use crate::settings::stop::StopWhen;
use crate::settings::target::Target;
use crate::settings::view::View;

/// A run: what is asked for, how often, for how long, and where the record goes.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where requests go.
    pub target: Target,
    /// What every request has.
    pub request: Request,
    /// What is asked for.
    pub script: Script,
    /// How often.
    pub load: Load,
    /// Whether users of a closed loop make the pauses of their sessions, as those of an open one do, rather than go on
    /// at once to find what the server carries.
    pub pauses: bool,
    /// How HTTP is spoken.
    pub protocol: Protocol,
    /// What is checked of every response.
    pub checks: Checks,
    /// Threads that generate load.
    pub threads: NonZeroU32,
    /// The way to the kernel.
    pub backend: Backend,
    /// Time before the measuring window; load is on, nothing counts.
    pub warmup: Span,
    /// The measuring window.
    pub duration: Span,
    /// How many requests, or sessions, are begun; `None` for as many as there are in the window.
    pub count: Option<u64>,
    /// How long, at most, what began in the window is followed after it; `None` for as long as
    /// a session can take.
    pub drain: Option<Span>,
    /// How long one request may take; `None` for the workload's own, or 20 s.
    pub timeout: Option<Span>,
    /// The seed of the arrivals.
    pub seed: u64,
    /// What the run is to achieve.
    pub objectives: Vec<Objective>,
    /// When the run ends before its time.
    pub stop: Vec<StopWhen>,
    /// Percentiles that are told besides the usual ones.
    pub percentiles: Vec<Percentile>,
    /// The directory of the record; `None` for none.
    pub out: Option<PathBuf>,
    /// Files for other programs.
    pub exports: ExportPaths,
    /// The command line, for the record.
    pub command: Vec<String>,
    /// What is shown on standard error while it runs.
    pub view: View,
    /// Where Prometheus finds its metrics while it runs.
    pub metrics: Option<MetricsAddress>,
    /// The OpenTelemetry collector that its metrics are sent to.
    pub collector: Option<Collector>,
}

/// What every request has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The method; `None` for GET, or POST where there is a body.
    pub method: Option<String>,
    /// Header fields besides the usual ones, or instead of them.
    pub headers: Vec<(String, String)>,
    /// What is sent after the head.
    pub body: Option<Bytes>,
}

impl Request {
    /// The method that is sent.
    pub fn method(&self) -> &str {
        match &self.method {
            Some(method) => method,
            None if self.body.is_some() => "POST",
            None => "GET",
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone)]
pub enum Script {
    /// The target's own path, again and again.
    Url,
    /// Sessions.
    Sessions {
        /// Their script.
        workload: Box<Workload>,
        /// The text that it was read from, for the record.
        text: String,
    },
    /// Files of a model from the literature: pages of users in a closed loop, requests that
    /// stand alone in an open one.
    Model(Box<Model>),
    /// The requests of an access log, in its order.
    Trace(Arc<Trace>),
}

/// How often it is asked for.
#[derive(Debug, Clone)]
pub enum Load {
    /// Sessions, or requests, start when the schedule says, whatever became of those before.
    Open {
        /// Per second.
        rate: Rate,
        /// Rates, one after the other, instead.
        ramp: Option<Ramp>,
        /// How they are spread.
        process: Process,
        /// How many requests that stand alone may be under way at once; who finds that many waits,
        /// and that counts. `None` for as many as the schedule wants.
        connections: Option<u32>,
    },
    /// They start when others once did.
    Timed(Times),
    /// Each client starts anew when it has finished.
    Closed {
        /// How many clients.
        clients: u32,
        /// Numbers of clients, one after the other, instead.
        ramp: Option<Ramp>,
        /// How long a client waits before it starts anew; `None` for as long as the workload says.
        think: Option<Think>,
    },
}

/// How HTTP is spoken.
#[derive(Debug, Clone, Default)]
pub struct Protocol {
    /// Its version.
    pub http: Http,
    /// Requests after which a connection is closed; `None` for as many as the server allows.
    pub requests_per_connection: Option<NonZeroU32>,
    /// Requests under way at once on a connection.
    pub pipeline: Option<NonZeroU32>,
    /// How many redirects of a request are followed.
    pub redirects: u32,
    /// Whether the host's name is looked up for every connection, rather than once.
    pub lookup: bool,
    /// Whether any TLS certificate will do.
    pub insecure: bool,
    /// Certificates of authorities to trust besides the system's, PEM.
    pub authorities: Option<PathBuf>,
    /// What the client shows where a server asks who it is.
    pub identity: Option<Identity>,
    /// The only version of TLS that is spoken; `None` for 1.2 and 1.3.
    pub tls: Option<TlsVersion>,
    /// Whether handshakes are shortened where the server has given a ticket (RFC 8446, section 2.2).
    pub resumption: bool,
}

/// A client's certificate and its key, as PEM files. Both may be in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Versions of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsVersion {
    /// RFC 5246.
    Tls12,
    /// RFC 8446.
    Tls13,
}

names!(TlsVersion: TlsVersion::Tls12 => "1.2", TlsVersion::Tls13 => "1.3");

/// Versions of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Http {
    /// RFC 1945: a connection per request, unless told otherwise.
    Http10,
    /// RFC 9112.
    #[default]
    Http11,
    /// RFC 9113, by prior knowledge without TLS and by ALPN with it.
    Http2,
}

names!(Http: Http::Http10 => "1.0", Http::Http11 => "1.1", Http::Http2 => "2");

impl Options {
    /// Whether users are followed from page to page, or requests stand alone.
    pub(crate) fn has_sessions(&self) -> bool {
        matches!(self.script, Script::Sessions { .. })
    }

    /// How many requests that stand alone may be under way at once in an open loop.
    pub(crate) fn limit(&self) -> Option<u32> {
        match &self.load {
            Load::Open { connections, .. } if !self.has_sessions() => *connections,
            _ => None,
        }
    }

    /// Whether arrivals come one after the other, at equal distances.
    pub(crate) fn has_constant_arrivals(&self) -> bool {
        matches!(self.load, Load::Open { process: Process::Constant, .. })
    }

    /// Pages with what is embedded, or what arrives, in a word.
    pub(crate) fn things(&self) -> &'static str {
        match (&self.script, &self.load) {
            (Script::Sessions { .. }, _) => "sessions",
            _ => "requests",
        }
    }

    /// The levels of the ramp, with the time from which each holds, and their unit.
    pub(crate) fn ramp(&self) -> Option<(&Ramp, &'static str)> {
        match (&self.load, self.things()) {
            (Load::Open { ramp: Some(ramp), .. }, "sessions") => Some((ramp, "sessions/s")),
            (Load::Open { ramp: Some(ramp), .. }, _) => Some((ramp, "requests/s")),
            (Load::Closed { ramp: Some(ramp), .. }, _) => Some((ramp, "clients")),
            _ => None,
        }
    }

    /// The rate that the schedule had in `steps`, those of the ramp that came, or in the whole window.
    pub(crate) fn offered_in(&self, steps: &[record::Step]) -> Option<Rate> {
        match &self.load {
            Load::Open { ramp: Some(_), .. } if !steps.is_empty() => mean(steps),
            _ => self.offered(),
        }
    }

    /// The rate that the schedule has in the whole window, on average; `None` in a closed loop.
    pub(crate) fn offered(&self) -> Option<Rate> {
        match &self.load {
            Load::Open { ramp: Some(ramp), .. } => mean(&self.steps(ramp)),
            Load::Open { rate, .. } => Some(*rate),
            Load::Timed(times) => times.rate(),
            Load::Closed { .. } => None,
        }
    }

    /// The steps of a ramp inside the measuring window; the last level holds until its end.
    pub(crate) fn steps(&self, ramp: &Ramp) -> Vec<record::Step> {
        let window = self.window();
        let steps =
            ramp.within(self.duration).into_iter().scan(window.from_ns, |end, Level { level, hold }| {
                let from_ns = *end;
                *end = from_ns.saturating_add(hold.as_nanos());
                Some(record::Step { from_ns, to_ns: *end, level })
            });
        steps.collect()
    }

    /// The steps of the ramp inside the measuring window; none where there is no ramp.
    pub(crate) fn ramp_steps(&self) -> Vec<record::Step> {
        self.ramp().map(|(ramp, _)| self.steps(ramp)).unwrap_or_default()
    }

    /// The measuring window.
    pub(crate) fn window(&self) -> Window {
        Window::new(Time::ZERO + self.warmup, self.duration)
    }

    /// What was asked for, as a table for `run.toml`.
    pub(crate) fn spec(&self) -> toml::Table {
        let mut spec = toml::Table::new();
        let mut set = |key: &str, value: toml::Value| spec.insert(key.to_owned(), value);
        set("url", self.target.to_string().into());
        self.spec_of_load(&mut set);
        self.spec_of_request(&mut set);
        set("warmup", self.warmup.to_string().into());
        set("duration", self.duration.to_string().into());
        if let Some(count) = self.count {
            set("count", i64::try_from(count).unwrap_or(i64::MAX).into());
        }
        if let Some(drain) = self.drain {
            set("drain", drain.to_string().into());
        }
        if let Some(timeout) = self.timeout {
            set("timeout", timeout.to_string().into());
        }
        if !self.stop.is_empty() {
            let stop: Vec<String> = self.stop.iter().map(StopWhen::to_string).collect();
            set("stop_when", stop.into());
        }
        if !self.objectives.is_empty() {
            let objectives: Vec<String> = self.objectives.iter().map(Objective::to_string).collect();
            set("objectives", objectives.into());
        }
        spec
    }

    fn spec_of_load(&self, set: &mut impl FnMut(&str, toml::Value) -> Option<toml::Value>) {
        match &self.load {
            Load::Open { rate, process, connections, .. } => {
                set("rate", rate.as_f64().into());
                set("arrivals", process.to_string().into());
                if let Some(most) = connections {
                    set("connections", i64::from(*most).into());
                }
            }
            Load::Timed(times) => {
                set("arrivals", "trace".into());
                if let Some(rate) = times.rate() {
                    set("rate", rate.as_f64().into());
                }
            }
            Load::Closed { clients, think, .. } => {
                set("connections", i64::from(*clients).into());
                if let Some(think) = think {
                    set("think", think.to_string().into());
                }
                if self.pauses {
                    set("pauses", true.into());
                }
            }
        }
        if let Some((ramp, unit)) = self.ramp() {
            set("ramp", ramp.to_string().into());
            set("ramp_unit", unit.into());
        }
        match &self.script {
            Script::Url => {}
            Script::Sessions { text, .. } => {
                set("workload", text.as_str().into());
            }
            Script::Model(model) => {
                set("workload", model.name().to_string().into());
            }
            Script::Trace(trace) => {
                set("workload", "trace".into());
                set("trace_requests", i64::try_from(trace.requests.len()).unwrap_or(i64::MAX).into());
            }
        }
    }

    fn spec_of_request(&self, set: &mut impl FnMut(&str, toml::Value) -> Option<toml::Value>) {
        let protocol = &self.protocol;
        set("http", protocol.http.to_string().into());
        if self.request.method() != "GET" {
            set("method", self.request.method().into());
        }
        if let Some(requests) = protocol.requests_per_connection {
            set("requests_per_connection", i64::from(requests.get()).into());
        }
        if let Some(depth) = protocol.pipeline {
            set("pipeline", i64::from(depth.get()).into());
        }
        if let Some(version) = protocol.tls {
            set("tls", version.to_string().into());
        }
        if protocol.redirects > 0 {
            set("follow", i64::from(protocol.redirects).into());
        }
        if protocol.resumption {
            set("resumption", true.into());
        }
        if self.threads.get() > 1 {
            set("threads", i64::from(self.threads.get()).into());
        }
    }

    /// One line that says what is done.
    pub(crate) fn title(&self) -> String {
        let load = self.load_in_words();
        let warmup =
            if self.warmup.is_zero() { String::new() } else { format!(" after {} of warm-up", self.warmup) };
        let length = match self.count {
            Some(count) => format!("{count} {}", self.things()),
            None => self.duration.to_string(),
        };
        format!("{}  {load}, {length}{warmup}, seed {}", self.target, self.seed)
    }

    /// Where the times of a trace end later than the run, or are repeated in it.
    fn part_of(&self, times: &Times) -> String {
        let (whole, run) = (times.duration(), self.warmup + self.duration);
        match self.count {
            Some(count) if count > times.len() as u64 => ", which is repeated".to_owned(),
            Some(_) => String::new(),
            None if run < whole => {
                format!(
                    ", of which the first {run} of {whole:.1} are replayed (--duration {}s for all)",
                    whole.as_secs_f64().ceil()
                )
            }
            None if run > whole && !whole.is_zero() => format!(", which is repeated after {whole:.1}"),
            None => String::new(),
        }
    }

    /// How much of what, in a few words.
    pub(crate) fn load_in_words(&self) -> String {
        let things = self.things();
        let what = match &self.script {
            Script::Model(model) => format!("{}, ", model.name()),
            Script::Trace(trace) => {
                let is_given = self.request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
                let hosts = match trace.hosts().len() {
                    0 => String::new(),
                    _ if is_given => String::new(),
                    1 => " for 1 host".to_owned(),
                    hosts => format!(" for {hosts} hosts"),
                };
                format!("trace of {} requests{hosts}, ", trace.requests.len())
            }
            Script::Url | Script::Sessions { .. } => String::new(),
        };
        let who = if self.pauses { " who pause" } else { "" };
        let how = match (&self.load, self.ramp()) {
            (Load::Open { process, .. }, Some((ramp, unit))) => {
                format!("open loop, {ramp} {unit}, {process}")
            }
            (Load::Open { process, rate, .. }, None) => {
                format!("open loop, {} {things}/s, {process}", rate.as_f64())
            }
            (Load::Timed(times), _) => {
                let rate = times.rate().map_or(0.0, Rate::as_f64);
                let part = self.part_of(times);
                format!("open loop, {rate:.1} {things}/s at the times of a trace{part}")
            }
            (Load::Closed { .. }, Some((ramp, unit))) => format!("closed loop, {ramp} {unit}{who}"),
            (Load::Closed { clients, .. }, None) => format!("closed loop, {clients} clients{who}"),
        };
        let limit = match &self.load {
            Load::Open { connections: Some(most), .. } => format!(", {most} connections"),
            _ => String::new(),
        };
        what + &how + &limit
    }
}

/// The rate over all steps.
fn mean(steps: &[record::Step]) -> Option<Rate> {
    let weighted = |step: &record::Step| step.level * step.length().as_nanos() as f64;
    let length: u64 = steps.iter().map(|step| step.length().as_nanos()).sum();
    Rate::per_second(steps.iter().map(weighted).sum::<f64>() / length as f64)
}
