//! Options of `headworks load` that contradict each other, or would have no effect.

use std::num::NonZeroU32;
use std::path::PathBuf;

use load::{Http, Load, Protocol, RunFeatures, Script, StopWhen};
use traffic::trace::is_standard_input;

use super::args::RunArgs;
use super::values::{Arrivals, WorkloadName};
use crate::exit::{Failure, usage};

impl RunArgs {
    /// Refuses options about logs where no log is read, and two logs that are both to come from standard input.
    pub(super) fn check_logs(&self) -> Result<(), Failure> {
        let workload = match &self.workload {
            Some(WorkloadName::Trace(file)) => Some(file),
            _ => None,
        };
        let times = match &self.arrivals {
            Some(Arrivals::Times(file)) => Some(file),
            _ => None,
        };
        if self.log_format.is_some() && workload.is_none() && times.is_none() {
            return Err(usage(
                "--log-format is for a log; give --workload trace:FILE or --arrivals trace:FILE",
            ));
        }
        let from_input = |file: Option<&PathBuf>| file.is_some_and(|file| is_standard_input(file));
        if from_input(workload) && from_input(times) {
            return Err(usage(
                "standard input can be read once only; --workload trace:- alone has its times, too",
            ));
        }
        Ok(())
    }

    /// Refuses options about the time between requests that would have no effect.
    pub(super) fn check_pauses(&self, script: &Script, load: &Load) -> Result<(), Failure> {
        if self.stretch.is_some() && !matches!(load, Load::Timed(_)) {
            return Err(usage(
                "--stretch is for the times of a trace; give --workload trace:FILE or --arrivals trace:FILE",
            ));
        }
        if self.pauses && !(matches!(load, Load::Closed { .. }) && matches!(script, Script::Sessions { .. }))
        {
            return Err(usage(
                "--pauses is for sessions in a closed loop; sessions that come at a rate make theirs, and users of a model, too",
            ));
        }
        let Some(think) = self.think else { return Ok(()) };
        if !matches!(load, Load::Closed { .. }) {
            return Err(usage("--think is for the clients of a closed loop; give --connections or --closed"));
        }
        let in_line = self.http != Http::Http2 && self.pipeline.is_some_and(|depth| depth.get() > 1);
        if in_line && !think.is_zero() && !matches!(script, Script::Sessions { .. }) {
            return Err(usage("clients that wait with --think have no --pipeline; give one of them"));
        }
        Ok(())
    }

    /// Refuses two exports that would be written into one file, and one that would be written into the summary.
    pub(super) fn check_exports(&self) -> Result<(), Failure> {
        let exports = [
            ("--latency-csv", &self.latency_csv),
            ("--latency-hgrm", &self.latency_hgrm),
            ("--requests-csv", &self.requests_csv),
        ];
        let mut files: Vec<(&str, &PathBuf)> = Vec::new();
        for (option, file) in exports.into_iter().filter_map(|(option, file)| Some((option, file.as_ref()?)))
        {
            if file.as_os_str() == "-" {
                return Err(usage(&format!(
                    "{option} - is standard output, where the summary goes; give a file, or another descriptor as in /dev/fd/3"
                )));
            }
            if let Some((other, _)) = files.iter().find(|(_, taken)| *taken == file) {
                return Err(usage(&format!(
                    "{other} and {option} are both to be written into {}; give each a file of its own",
                    file.display()
                )));
            }
            files.push((option, file));
        }
        Ok(())
    }

    /// Refuses ends and objectives that would have no effect.
    pub(super) fn check_ends(&self, script: &Script) -> Result<(), Failure> {
        if self.number.is_some() && matches!(script, Script::Model(_)) {
            return Err(usage(
                "-n counts requests or sessions; users of a model come back for ever, use --duration",
            ));
        }
        if self.objectives.is_empty() && self.stop.iter().any(StopWhen::needs_objectives) {
            return Err(usage(
                "--stop-when with a time alone is about --objective, and there is none; write 'p99<500ms for 10s'",
            ));
        }
        let has_sessions = matches!(script, Script::Sessions { .. });
        let run = RunFeatures {
            has_tls: self.target.is_tls() || self.follow > 0,
            looks_up: self.lookup,
            has_bodies: self.body.is_some() || has_sessions || matches!(script, Script::Trace(_)),
            has_sessions,
        };
        for objective in self.objectives.iter().chain(self.stop.iter().filter_map(StopWhen::objective)) {
            if let Some(why) = objective.why_never(&run) {
                return Err(usage(&format!("nothing will be measured for {objective}: {why}")));
            }
        }
        Ok(())
    }
}

/// Refuses requests in line where something has to wait for a response.
pub(super) fn check_pipeline(protocol: &Protocol, script: &Script, load: &Load) -> Result<(), Failure> {
    let deep = protocol.pipeline.is_some_and(|depth| depth.get() > 1) && protocol.http != Http::Http2;
    if deep && protocol.redirects > 0 {
        return Err(usage(
            "--follow needs the response before it asks on, --pipeline does not wait; give one of them",
        ));
    }
    if deep && matches!(script, Script::Sessions { .. }) {
        return Err(usage("--pipeline is for requests that stand alone; a session waits for its pages"));
    }
    if deep && protocol.requests_per_connection == NonZeroU32::new(1) {
        return Err(usage(
            "--pipeline needs connections for several requests; give --requests-per-connection",
        ));
    }
    if deep && !matches!(load, Load::Closed { .. }) {
        return Err(usage("--pipeline with HTTP/1 is for a closed loop; give --connections"));
    }
    Ok(())
}
