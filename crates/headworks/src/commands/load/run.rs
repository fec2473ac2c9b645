//! `headworks load URL`: puts load on a server and tells what became of it.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use load::{
    Checks, ExportPaths, Http, Identity, Load, Options, Protocol, Report, Request, Script, Via, View,
};
use traffic::model::Model;
use traffic::trace::{AccessLog, Skipped, Times};
use traffic::{Process, Workload};
use units::{Rate, Span};

use super::args::RunArgs;
use super::conflicts::check_pipeline;
use super::values::{Arrivals, Header, WorkloadName};
use crate::exit::{Exit, Failure, tell, usage};
use crate::process::command_line;

const DEFAULT_CLIENTS: u32 = 10;
const LIMITED_TRACE: &str =
    "--connections limits requests that --rate or --ramp start; a trace's come at their own times";
/// Within which what `-n` counts has to be begun.
const LONGEST_COUNT: Span = Span::from_secs(3600);
const DEFAULT_DURATION: Span = Span::from_secs(10);

impl RunArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let json = self.json;
        let out = self.out.clone().filter(|_| !self.no_report);
        let report = load::run(&self.options()?).map_err(|error| {
            if error.is_of_usage() { Failure::Usage(error.into()) } else { Failure::Failed(error.into()) }
        })?;
        show(&report, json).map_err(Failure::Failed)?;
        if let Some(why) = &report.untold {
            tell(format_args!("collector: {why}"));
        }
        if let Some(error) = report.unwritten {
            return Err(Failure::Failed(anyhow::Error::new(error).context("the record is not whole")));
        }
        if let Some(directory) = &out {
            let written = report::run(directory);
            written
                .context("the record is whole, but its report could not be made")
                .map_err(Failure::Failed)?;
        }
        match (report.signal, &report.never_connected) {
            (Some(signal), _) => Ok(Exit::Interrupted { signal }),
            // A generator without a port says nothing of the server.
            (None, Some(why)) if report.summary.client.without_port == 0 => {
                Err(Failure::Failed(anyhow!("not one connection came about: {why}")))
            }
            (None, _) if !report.summary.client.valid => Ok(Exit::NotValid),
            (None, _) if report.summary.stopped.is_some() || !report.meets_objectives() => {
                Ok(Exit::ObjectiveMissed)
            }
            (None, _) => Ok(Exit::Ok),
        }
    }

    /// `Connection: close` as a field means that a connection carries one request, and is said by the generator itself
    /// then, with HTTP/1; the other kind keeps it open, as HTTP/1.0 does not by itself.
    fn take_connection_field(&mut self) -> Result<(), Failure> {
        let Some(at) = self.headers.iter().position(|Header(name, _)| name == "Connection") else {
            return Ok(());
        };
        let Header(_, value) = self.headers.remove(at);
        let closes = value.eq_ignore_ascii_case("close");
        match (self.requests_per_connection.map(NonZeroU32::get), closes) {
            (Some(2..), true) => Err(usage(
                "Connection: close and --requests-per-connection contradict each other; leave one out",
            )),
            (Some(_), _) => Ok(()),
            (None, closes) => {
                self.requests_per_connection =
                    if closes { NonZeroU32::new(1) } else { Some(NonZeroU32::MAX) };
                Ok(())
            }
        }
    }

    fn options(mut self) -> Result<Options, Failure> {
        self.take_connection_field()?;
        if self.timeout.is_some_and(Span::is_zero) {
            return Err(usage("--timeout is 0; every request would fail"));
        }
        self.check_logs()?;
        self.check_exports()?;
        let script = self.script()?;
        let (load, view) = (self.load(&script)?, self.view());
        self.check_pauses(&script, &load)?;
        self.check_ends(&script)?;
        let duration = self.length()?;
        let protocol = self.protocol();
        check_pipeline(&protocol, &script, &load)?;
        let mut target = self.target;
        if let Some(user) = self.user {
            if !user.contains(':') {
                return Err(usage("--user has no password; write NAME:PASSWORD"));
            }
            target = target.with_user(user);
        }
        if let Some(via) = self.connect_to.or(self.unix_socket.map(Via::Unix)) {
            target = target.via(via);
        }
        Ok(Options {
            target,
            request: Request {
                method: self.method,
                headers: self.headers.into_iter().map(|Header(name, value)| (name, value)).collect(),
                body: self.body.map(|body| read_body(&body)).transpose()?,
            },
            script,
            load,
            pauses: self.pauses,
            protocol,
            checks: Checks {
                status: self.expect_status,
                length: self.expect_length,
                digest: self.expect_sha256,
                content: self.expect_content,
                pattern: self.expect_body,
            },
            threads: self.threads,
            backend: self.engine,
            warmup: self.warmup,
            duration,
            count: self.number,
            drain: self.drain,
            timeout: self.timeout,
            seed: self.seed,
            objectives: self.objectives,
            stop: self.stop,
            percentiles: self.percentiles,
            exports: ExportPaths {
                latency_csv: self.latency_csv,
                latency_hgrm: self.latency_hgrm,
                requests_csv: self.requests_csv,
            },
            out: self.out,
            command: command_line(),
            view,
            metrics: self.prometheus,
            collector: self.otlp,
        })
    }

    /// How long the window is.
    fn length(&self) -> Result<Span, Failure> {
        let duration = match (self.duration, &self.ramp) {
            (Some(duration), _) => duration,
            (None, Some(ramp)) => ramp.total(),
            (None, None) if self.number.is_some() => LONGEST_COUNT,
            (None, None) => DEFAULT_DURATION,
        };
        if duration.is_zero() {
            return Err(usage("--duration is 0; nothing would be measured"));
        }
        Ok(duration)
    }

    fn protocol(&self) -> Protocol {
        let requests_per_connection = match self.http {
            Http::Http10 => self.requests_per_connection.or(NonZeroU32::new(1)),
            Http::Http11 | Http::Http2 => self.requests_per_connection,
        };
        Protocol {
            http: self.http,
            requests_per_connection,
            pipeline: self.pipeline,
            redirects: self.follow,
            lookup: self.lookup,
            insecure: self.insecure,
            authorities: self.cacert.clone(),
            identity: self.cert.clone().map(|certificate| {
                let key = self.key.clone().unwrap_or_else(|| certificate.clone());
                Identity { certificate, key }
            }),
            tls: self.tls,
            resumption: self.resume,
        }
    }

    fn view(&self) -> View {
        match (self.quiet, self.plain) {
            (true, _) => View::Nothing,
            (_, true) => View::Lines,
            _ => View::Auto,
        }
    }

    /// How logs are read that are replayed.
    fn access_log(&self) -> AccessLog {
        let log = AccessLog::default();
        match &self.log_format {
            Some(format) => log.with_format(format.clone()),
            None => log,
        }
    }

    fn script(&self) -> Result<Script, Failure> {
        let Some(workload) = &self.workload else { return Ok(Script::Url) };
        if let WorkloadName::Url(target) = workload {
            if *target != self.target {
                return Err(usage(
                    "the URL of --workload is another than the one to put load on; give it once",
                ));
            }
            return Ok(Script::Url);
        }
        if self.target.path() != "/" {
            return Err(usage("the pages come from --workload; give the URL without a path"));
        }
        if self.expect_content && !matches!(workload, WorkloadName::Model(_)) {
            return Err(usage("--expect-content is for the models that make-content writes files for"));
        }
        if self.whole_seconds && !matches!(workload, WorkloadName::Trace(_)) {
            return Err(usage("--whole-seconds is for the replay of a log, --workload trace:FILE"));
        }
        Ok(match workload {
            WorkloadName::Model(name) => Script::Model(Box::new(Model::named(*name, self.seed))),
            WorkloadName::Trace(file) => {
                let log = self.access_log();
                let log = if self.whole_seconds { log.keep_seconds() } else { log };
                let trace = log.read(file).map_err(|error| Failure::Usage(error.into()))?;
                tell_skipped(file, &trace.skipped);
                if !self.quiet {
                    eprintln!("{}: {}", file.display(), trace.summary());
                }
                Script::Trace(Arc::new(trace))
            }
            WorkloadName::Sessions(file) => {
                let source = config::Source::read(file)?;
                Script::Sessions {
                    workload: Box::new(Workload::parse(&source)?),
                    text: source.text().to_owned(),
                }
            }
            WorkloadName::Url(_) => Script::Url,
        })
    }

    fn load(&self, script: &Script) -> Result<Load, Failure> {
        let rate = |rate: Option<Rate>| match rate {
            Some(rate) if rate.as_f64() > 0.0 => Ok(Some(rate)),
            Some(_) => Err(usage("--rate is 0; give a rate above 0")),
            None => Ok(None),
        };
        let rate = rate(self.rate)?;
        if let Some(Arrivals::Times(file)) = &self.arrivals {
            if self.ramp.is_some() {
                return Err(usage(
                    "--ramp changes a rate, and --arrivals trace: has its own; give one of them",
                ));
            }
            if self.connections.is_some() {
                return Err(usage(LIMITED_TRACE));
            }
            let (times, skipped) =
                self.access_log().times(file).map_err(|error| Failure::Usage(error.into()))?;
            tell_skipped(file, &skipped);
            return self.timed(times, rate);
        }
        let process = match &self.arrivals {
            Some(Arrivals::Process(process)) => Some(*process),
            _ => None,
        };
        if let Some(ramp) = self.ramp.clone() {
            let levels = ramp.levels();
            let first = levels.first().copied().unwrap_or(0.0);
            if self.closed {
                let most = levels.iter().copied().fold(0.0, f64::max);
                if levels.iter().any(|level| level.fract() != 0.0) || !(1.0..=100_000.0).contains(&most) {
                    return Err(usage("the steps of --ramp with --closed must be whole numbers up to 100k"));
                }
                return Ok(Load::Closed { clients: most as u32, ramp: Some(ramp), think: self.think });
            }
            let rate = Rate::per_second(first).ok_or_else(|| usage("--ramp begins with no rate"))?;
            let process = process.unwrap_or_default();
            return Ok(Load::Open { rate, ramp: Some(ramp), process, connections: self.limit(script)? });
        }
        match (script, rate, process, self.connections) {
            (Script::Trace(trace), _, None, None) => self.timed(trace.times(), rate),
            (Script::Trace(_), Some(_), None, Some(_)) => Err(usage(LIMITED_TRACE)),
            (Script::Trace(trace), None, Some(process), _) => {
                let rate =
                    trace.rate().ok_or_else(|| usage("the trace has no rate of its own; give --rate"))?;
                Ok(Load::Open { rate, ramp: None, process, connections: self.limit(script)? })
            }
            (_, Some(rate), process, _) => {
                let process = process.unwrap_or(Process::Poisson);
                Ok(Load::Open { rate, ramp: None, process, connections: self.limit(script)? })
            }
            (_, None, Some(_), _) => Err(usage("--arrivals needs --rate or --ramp")),
            (_, None, None, clients) => Ok(Load::Closed {
                clients: clients.unwrap_or(DEFAULT_CLIENTS),
                ramp: None,
                think: self.think,
            }),
        }
    }

    /// How many requests of an open loop may be under way at once.
    fn limit(&self, script: &Script) -> Result<Option<u32>, Failure> {
        if self.connections.is_some() && matches!(script, Script::Sessions { .. }) {
            return Err(usage(
                "--connections with --rate is for requests that stand alone; sessions have their own",
            ));
        }
        if self.connections.is_some_and(|most| most < self.threads.get()) {
            return Err(usage("--connections with --rate must be at least --threads, so that each has one"));
        }
        Ok(self.connections)
    }

    /// Arrivals at times that are given, scaled as asked.
    fn timed(&self, times: Times, rate: Option<Rate>) -> Result<Load, Failure> {
        let scaled = match (rate, self.stretch) {
            (Some(rate), _) => times.at_rate(rate),
            (None, Some(factor)) => times.scaled_time(factor),
            (None, None) => Ok(times),
        };
        scaled.map(Load::Timed).map_err(|error| Failure::Usage(error.into()))
    }
}

fn read_body(text: &str) -> Result<bytes::Bytes, Failure> {
    match text.strip_prefix('@') {
        None => Ok(text.to_owned().into()),
        Some(file) => {
            let read = std::fs::read(file).with_context(|| format!("cannot read the body from {file}"));
            read.map(Into::into).map_err(Failure::Usage)
        }
    }
}

/// Says what of a log is left out; the run goes on.
fn tell_skipped(file: &Path, skipped: &Skipped) {
    if skipped.broken() + skipped.other_methods() + skipped.out_of_order > 0 {
        eprintln!("{}: {skipped}", file.display());
    }
}

fn show(report: &Report, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, &report.summary)
            .map_err(Into::into)
            .and_then(|()| writeln!(out))
            .context("cannot write the summary to standard output")
    } else {
        write!(out, "{report}").context("cannot write the summary to standard output")
    }
}
