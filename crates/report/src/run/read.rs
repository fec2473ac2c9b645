//! From the record of a run to its report.

use std::path::Path;

use record::{Counters, RunDirectory, RunInfo, Summary};

use super::model::{Counted, RunReport};
use super::requests::Requests;
use super::urls::Census;
use super::{facts, headline};
use crate::conclusion::Conclusion;
use crate::error::Error;
use crate::files;

/// Counters that tell where connections were lost or held up, by protocol.
const COUNTERS: [(&str, &[&str]); 2] = [
    (
        "TcpExt",
        &[
            "ListenOverflows",
            "ListenDrops",
            "TCPReqQFullDrop",
            "TCPReqQFullDoCookies",
            "SyncookiesSent",
            "TCPSynRetrans",
            "TCPTimeouts",
            "TCPBacklogDrop",
            "TCPAbortOnTimeout",
            "TCPAbortOnMemory",
        ],
    ),
    ("Tcp", &["ActiveOpens", "PassiveOpens", "AttemptFails", "EstabResets", "RetransSegs", "OutRsts"]),
];

impl RunReport {
    /// Derives the report of the run in `directory`.
    ///
    /// # Errors
    /// When the directory holds no run, or one of its files is missing or cannot be read.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        if !directory.is_dir() {
            return Err(Error::Missing(directory.to_owned()));
        }
        let run = RunDirectory::open(directory).map_err(|_| Error::NotARecord(directory.to_owned()))?;
        let (info, summary) = (run.info()?, run.summary()?);
        let unit = if summary.sessions.started > 0 { Counted::Sessions } else { Counted::Requests };
        let (level, level_unit) = level(&info, &summary, unit);
        let mut requests = Requests::new(&info, Census::take(&run, info.window)?, (level, &level_unit));
        for row in run.requests()? {
            requests.request(&row?);
        }
        if unit == Counted::Sessions {
            for row in run.sessions()? {
                requests.session(&row?);
            }
        }
        for row in run.samples()? {
            requests.sample(&row?);
        }
        let contradictions = contradictions(&summary, requests.due);
        let derived = requests.finish();
        let seconds = |nanos: u64| units::Span::from_nanos(nanos).as_secs_f64();
        let mut report = Self {
            title: facts::target(&info),
            load: facts::load(&info, unit),
            started: info.started,
            ended: info.ended,
            version: info.version.clone(),
            unit,
            window: [seconds(info.window.from_ns), seconds(info.window.to_ns)],
            verdict: Conclusion::default(),
            contradictions,
            distributions: derived.distributions,
            urls: derived.urls,
            timeline: derived.timeline,
            steps: derived.steps,
            sizes: derived.sizes,
            counters: run.counters().map(|counters| rises(&counters)).unwrap_or_default(),
            method: facts::facts(&run, &info, unit),
            sources: facts::sources(&run),
            files: files::names(directory),
            summary,
        };
        report.verdict = headline::of(&report);
        Ok(report)
    }
}

/// The level of load that a run without a ramp asked for.
fn level(info: &RunInfo, summary: &Summary, unit: Counted) -> (f64, String) {
    match (facts::asked(info, "rate"), facts::asked(info, "connections")) {
        (Some(rate), _) => (rate, format!("{unit}/s")),
        (None, Some(clients)) => (clients, "clients".to_owned()),
        (None, None) => (summary.rate.offered, format!("{unit}/s")),
    }
}

/// A record that contradicts itself was cut off or changed by hand, and the reader must know.
fn contradictions(summary: &Summary, due: u64) -> Vec<String> {
    let mut found = Vec::new();
    if due != summary.requests {
        found.push(format!(
            "summary.json counts {} requests in the measuring window, requests.parquet holds {due}.",
            summary.requests
        ));
    }
    found
}

fn rises(counters: &Counters) -> Vec<(String, i64)> {
    let named = COUNTERS.iter().flat_map(|(protocol, names)| names.iter().map(move |name| (protocol, name)));
    named
        .filter_map(|(protocol, name)| Some(((*name).to_owned(), counters.rise(protocol, name)?)))
        .filter(|(_, rise)| *rise > 0)
        .collect()
}
