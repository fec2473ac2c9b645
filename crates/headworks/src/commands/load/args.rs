//! The options of `headworks load`, in the order in which users think of them.

use std::num::NonZeroU32;
use std::path::PathBuf;

use load::{Backend, Http, Objective, Percentile, Sha256Digest, StopWhen, Target, TlsVersion, Via};
use regex::bytes::Regex;
use telemetry::MetricsAddress;
use telemetry::otlp::Collector;
use traffic::trace::Format;
use traffic::{Ramp, StatusSet, Think};
use units::{Rate, Span};

use super::values::{Arrivals, Header, WorkloadName};
use crate::output;
use crate::values::{collector, count};

const REQUEST: &str = "Target and request";
const LOAD: &str = "Load";
const WORKLOAD: &str = "Workload";
const CONNECTIONS: &str = "Connections and protocol";
const TIME: &str = "Time";
const CHECKS: &str = "Checks and objectives";
const GENERATOR: &str = "Generator";

#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// Where requests go; with --workload, scheme and host only.
    #[arg(value_name = "URL", required = true)]
    pub(super) target: Target,
    /// The method of every request (default: GET, or POST with --body).
    #[arg(long, short = 'X', value_name = "NAME", help_heading = REQUEST, value_parser = super::values::method)]
    pub(super) method: Option<String>,
    /// A header field of every request, as 'Name: value'. Can be given several times.
    #[arg(long = "header", short = 'H', value_name = "FIELD", help_heading = REQUEST)]
    pub(super) headers: Vec<Header>,
    /// What every request has as its body; @FILE for what is in a file.
    #[arg(long, short = 'B', value_name = "TEXT", help_heading = REQUEST)]
    pub(super) body: Option<String>,
    /// Name and password for Basic authentication.
    #[arg(long, short = 'u', value_name = "NAME:PASSWORD", help_heading = REQUEST)]
    pub(super) user: Option<String>,
    /// Connect there instead of to the host of the URL.
    #[arg(long, value_name = "HOST:PORT", help_heading = REQUEST, conflicts_with = "unix_socket")]
    pub(super) connect_to: Option<Via>,
    /// Connect to this Unix socket instead.
    #[arg(long, value_name = "PATH", help_heading = REQUEST)]
    pub(super) unix_socket: Option<PathBuf>,

    /// Closed loop: so many clients, each starting anew when it has finished (default 10). With --rate: at most so many requests at once; who finds that many waits, and the wait counts.
    #[arg(long, short, value_name = "N", help_heading = LOAD, value_parser = count::<u32>(1..=100_000))]
    pub(super) connections: Option<u32>,
    /// Open loop: so many requests, or with a workload of sessions sessions, per second.
    #[arg(long, short, value_name = "R", help_heading = LOAD)]
    pub(super) rate: Option<Rate>,
    /// How they are spread over time: constant, poisson, h2:CV, gamma:CV or lognormal:CV with a coefficient of variation; trace:FILE as in a file of times (seconds, a line each) or an access log (default poisson).
    #[arg(long, value_name = "PROCESS", help_heading = LOAD)]
    pub(super) arrivals: Option<Arrivals>,
    /// Load in steps: rates, or with --closed numbers of clients, from FROM to TO by STEP, each held for HOLD, as in 100:1100:100:20s; or a list, each with its time, as in 5:20s,50:10s,5:30s.
    #[arg(long, value_name = "RAMP", help_heading = LOAD, conflicts_with = "rate")]
    pub(super) ramp: Option<Ramp>,
    /// The steps of --ramp are numbers of clients of a closed loop.
    #[arg(long, help_heading = LOAD, requires = "ramp", conflicts_with_all = ["arrivals", "connections"])]
    pub(super) closed: bool,
    /// Closed loop: how long a client waits before it starts anew: SPAN, exp:MEAN, uniform:LEAST:MOST or lognormal:MEAN:CV. Users of a model wait that long instead of pausing as it says: 0s for not at all.
    #[arg(long, value_name = "SPAN", help_heading = LOAD, conflicts_with_all = ["rate", "arrivals"])]
    pub(super) think: Option<Think>,
    /// Closed loop: users make the pauses of their sessions (default: they go on at once, to find what the server carries).
    #[arg(long, help_heading = LOAD, requires = "workload", conflicts_with_all = ["rate", "arrivals"])]
    pub(super) pauses: bool,

    /// What is asked for: a TOML file of sessions (docs/workloads/sessions.md), surge, webstone, specweb96 and other models (docs/workloads), or trace:FILE for the requests of an access log (docs/workloads/trace.md): trace:A,B of several files, trace:- of standard input.
    #[arg(long, short, value_name = "WORKLOAD", help_heading = WORKLOAD)]
    pub(super) workload: Option<WorkloadName>,
    /// What the lines of a log are, where that is not recognised: common, json, w3c, cloudfront, alb, elb, haproxy, or a format as in nginx's log_format or Apache's LogFormat.
    #[arg(long, value_name = "FORMAT", help_heading = WORKLOAD)]
    pub(super) log_format: Option<Format>,
    /// Replay a log whose times are whole seconds as it is, in bursts, instead of spread over each second.
    #[arg(long, help_heading = WORKLOAD, requires = "workload")]
    pub(super) whole_seconds: bool,
    /// Replay a trace in this multiple of its time: 0.5 is twice as fast.
    #[arg(long, value_name = "X", help_heading = WORKLOAD, conflicts_with_all = ["rate", "ramp", "connections"])]
    pub(super) stretch: Option<f64>,

    /// Version of HTTP: 1.0, 1.1 or 2.
    #[arg(long, value_name = "VERSION", help_heading = CONNECTIONS, default_value_t)]
    pub(super) http: Http,
    /// Requests after which a connection is closed (default: as many as the server allows; 1 with HTTP/1.0).
    #[arg(long, value_name = "N", help_heading = CONNECTIONS, value_parser = count::<NonZeroU32>(1..=u64::from(u32::MAX)))]
    pub(super) requests_per_connection: Option<NonZeroU32>,
    /// Requests under way at once on a connection (default 1).
    #[arg(long, value_name = "N", help_heading = CONNECTIONS, value_parser = count::<NonZeroU32>(1..=1000))]
    pub(super) pipeline: Option<NonZeroU32>,
    /// Follow so many redirects of a request, each a request of its own; one to another server, or one more, is an error (default 0: a redirect is a response like any other).
    #[arg(long, value_name = "N", help_heading = CONNECTIONS, default_value_t, hide_default_value = true, value_parser = count::<u32>(0..=100))]
    pub(super) follow: u32,
    /// Look the host's name up anew for every connection, and record how long that takes.
    #[arg(long, help_heading = CONNECTIONS, conflicts_with = "unix_socket")]
    pub(super) lookup: bool,
    /// How long a request may take (default: the workload's, else 20s).
    #[arg(long, value_name = "SPAN", help_heading = CONNECTIONS)]
    pub(super) timeout: Option<Span>,
    /// Take any TLS certificate.
    #[arg(long, short = 'k', help_heading = CONNECTIONS)]
    pub(super) insecure: bool,
    /// Trust the certificate authorities in this PEM file besides the system's.
    #[arg(long, value_name = "FILE", help_heading = CONNECTIONS)]
    pub(super) cacert: Option<PathBuf>,

    /// A client certificate for servers that ask for one: PEM, with those between it and its authority.
    #[arg(long, value_name = "FILE", help_heading = CONNECTIONS)]
    pub(super) cert: Option<PathBuf>,
    /// Its private key: PEM (default: in the file of --cert).
    #[arg(long, value_name = "FILE", help_heading = CONNECTIONS, requires = "cert")]
    pub(super) key: Option<PathBuf>,
    /// The only version of TLS to speak: 1.2 or 1.3 (default: the later one that the server speaks).
    #[arg(long, value_name = "VERSION", help_heading = CONNECTIONS)]
    pub(super) tls: Option<TlsVersion>,
    /// Shorten TLS handshakes with the tickets of earlier ones, as clients that come back do (default: each is whole).
    #[arg(long, help_heading = CONNECTIONS)]
    pub(super) resume: bool,

    /// So many requests, or sessions, and then the end. --duration bounds it (default 1h then).
    #[arg(long, short = 'n', value_name = "N", help_heading = TIME, value_parser = count::<u64>(1..=1_000_000_000_000), conflicts_with_all = ["warmup", "ramp"])]
    pub(super) number: Option<u64>,
    /// The measuring window (default 10s, or as long as --ramp takes).
    #[arg(long, short, value_name = "SPAN", help_heading = TIME)]
    pub(super) duration: Option<Span>,
    /// Time under load before it that does not count.
    #[arg(long, value_name = "SPAN", help_heading = TIME, default_value = "0s")]
    pub(super) warmup: Span,
    /// How long to follow what began in the window (default: as long as a session can take).
    #[arg(long, value_name = "SPAN", help_heading = TIME)]
    pub(super) drain: Option<Span>,

    /// The statuses of a response that is what was asked for, as in 200,3xx.
    #[arg(long, value_name = "SET", help_heading = CHECKS)]
    pub(super) expect_status: Option<StatusSet>,
    /// The length of its body in bytes.
    #[arg(long, value_name = "N", help_heading = CHECKS, value_parser = count::<u64>(0..=u64::MAX))]
    pub(super) expect_length: Option<u64>,
    /// With a model: every byte is the one that make-content wrote.
    #[arg(long, help_heading = CHECKS, requires = "workload")]
    pub(super) expect_content: bool,
    /// The SHA-256 of its body.
    #[arg(long, value_name = "HEX", help_heading = CHECKS)]
    pub(super) expect_sha256: Option<Sha256Digest>,
    /// A regular expression that is found in the first MiB of its body.
    #[arg(long, value_name = "REGEX", help_heading = CHECKS)]
    pub(super) expect_body: Option<Regex>,
    /// A bound such as 'p99<50ms', 'errors<=1%' or 'rate>=100'; exit code 3 when it is missed. Can be given several times.
    #[arg(long = "objective", value_name = "BOUND", help_heading = CHECKS)]
    pub(super) objectives: Vec<Objective>,
    /// End the run, with exit code 3, when an objective has been missed for a time, as in 'p99<500ms for 10s'; 10s alone for whichever --objective. Looked at once a second, of that second. Can be given several times.
    #[arg(long = "stop-when", value_name = "WHEN", help_heading = CHECKS)]
    pub(super) stop: Vec<StopWhen>,

    /// Write the record of the run into this directory, with a report in report.html.
    #[arg(long, short, value_name = "DIR", help_heading = output::HEADING)]
    pub(super) out: Option<PathBuf>,
    /// Leave the report out of the record; `headworks report DIR` makes it later.
    #[arg(long, help_heading = output::HEADING, requires = "out")]
    pub(super) no_report: bool,
    /// Percentiles to show instead of the usual ones, and to add to the JSON, as in 50,75,99.99.
    #[arg(long, value_name = "LIST", help_heading = output::HEADING, value_delimiter = ',')]
    pub(super) percentiles: Vec<Percentile>,
    /// Write how latencies of each phase are distributed into this file, as CSV.
    #[arg(long, value_name = "FILE", help_heading = output::HEADING)]
    pub(super) latency_csv: Option<PathBuf>,
    /// Write latency by percentile into this file, as HdrHistogram and wrk2 do (.hgrm).
    #[arg(long, value_name = "FILE", help_heading = output::HEADING)]
    pub(super) latency_hgrm: Option<PathBuf>,
    /// Write one line per request into this file, as CSV.
    #[arg(long, value_name = "FILE", help_heading = output::HEADING)]
    pub(super) requests_csv: Option<PathBuf>,
    /// Print the summary as one JSON object.
    #[arg(long, help_heading = output::HEADING)]
    pub(super) json: bool,
    /// Show progress as lines, on a terminal too.
    #[arg(long, help_heading = output::HEADING, conflicts_with = "quiet")]
    pub(super) plain: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = output::HEADING)]
    pub(super) quiet: bool,
    /// Serve metrics to Prometheus while the run lasts, as in 127.0.0.1:9464.
    #[arg(long, value_name = "ADDRESS", help_heading = output::HEADING)]
    pub(super) prometheus: Option<MetricsAddress>,
    /// Send metrics to an OpenTelemetry collector (OTLP over HTTP), as in http://127.0.0.1:4318.
    #[arg(long, value_name = "URL", help_heading = output::HEADING, value_parser = collector)]
    pub(super) otlp: Option<Collector>,

    /// Threads that generate load.
    #[arg(long, short, value_name = "N", help_heading = GENERATOR, default_value = "1", value_parser = count::<NonZeroU32>(1..=256))]
    pub(super) threads: NonZeroU32,
    /// Seed of everything that is drawn.
    #[arg(long, value_name = "N", help_heading = GENERATOR, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(super) seed: u64,
    /// The way to the kernel: io_uring, epoll, or auto.
    #[arg(long, value_name = "NAME", help_heading = GENERATOR, default_value_t)]
    pub(super) engine: Backend,
}
