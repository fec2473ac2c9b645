//! One test: a fresh server, what stands in front of it, fresh as well, and the generator.
//!
//! Everything is started anew, so that no test inherits the queues of the one before.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use record::Summary;
use record::experiment::{Knee, TestState};
use units::Rate;

use crate::Error;
use crate::front::Front;
use crate::load::{Offer, Run};
use crate::plan::Planned;
use crate::run::{Lab, WORKLOAD, text};
use crate::server::{self, Running};
use crate::spec::Spec;
use crate::watch::Watch;
use testbed::Testbed;
use testbed::{Pinning, settle};

/// What came of a test.
pub(crate) struct Outcome {
    /// Whether its figures can be used.
    pub(crate) state: TestState,
    /// Of a search.
    pub(crate) knee: Option<Knee>,
    /// What is to be said of them.
    pub(crate) why: Vec<String>,
}

/// What a test is measured on.
pub(crate) struct Stage<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) testbed: &'a Testbed<'a>,
    pub(crate) server: &'a Running,
    pub(crate) front: &'a mut Option<Front>,
    /// Host and port for clients.
    pub(crate) authority: &'a str,
    /// The file of sessions.
    pub(crate) workload: &'a Path,
}

impl Lab<'_> {
    /// Does the test once.
    pub(crate) fn attempt(&self, planned: &Planned, offered: Rate, out: &Path) -> Result<Outcome, Error> {
        let (summary, mut why) = self.staged(planned, out, |stage| {
            let mut watch = self.watch(stage.server, stage.testbed, out);
            let run = Run {
                authority: stage.authority,
                workload: stage.workload,
                offer: Offer::Rate(offered),
                warmup: self.spec.test.warmup,
                duration: self.spec.test.duration,
                seed: planned.seed,
                out,
            };
            let summary = self.generator(stage.spec, stage.testbed).run(&run, self.stop, || {
                self.view.tick();
                stage.front.iter_mut().for_each(|front| front.look(stage.testbed));
            });
            watch.iter_mut().for_each(Watch::end);
            summary
        })?;
        let state = judge(&summary, &mut why);
        why.extend(self.is_near_generators(summary.requests as f64 / summary.duration));
        Ok(Outcome { state, knee: None, why })
    }

    /// Starts all that a test needs, measures, and keeps what was counted meanwhile. Gives what was measured, and what
    /// is to be said of how.
    pub(crate) fn staged<T>(
        &self,
        planned: &Planned,
        out: &Path,
        measure: impl FnOnce(Stage) -> Result<T, Error>,
    ) -> Result<(T, Vec<String>), Error> {
        let spec = &planned.spec(self.spec)?;
        let pinning = Pinning::look(&spec.server.cpus, &spec.client_cpus);
        let mut why = settle(spec.test.settle, self.stop)?;
        let testbed = &self.testbed(spec, &pinning)?;
        let site = self.site(spec, testbed);
        let mut server = site.start(&out.join(server::LOG), self.stop)?;
        self.describe(&server, out)?;
        let mut front = self.front(planned, &site, &server.authority, out)?;
        let workload = &self.workload(spec, planned, out)?;
        let authority = &front.as_ref().map_or(&*server.authority, Front::authority).to_owned();
        let stage = Stage { spec, testbed, server: &server, front: &mut front, authority, workload };
        let measured = measure(stage);
        // A generator that broke off is told by the server that did so first.
        if let Some(error) = server.has_died().or_else(|| front.as_mut().and_then(Front::has_died)) {
            return Err(error);
        }
        let kept = front.as_ref().map_or(Ok(()), |front| front.keep_metrics(testbed, out));
        // A generator that broke off left a record to which nothing can be added.
        let measured = measured?;
        kept?;
        why.extend(pinning.why_not().map(str::to_owned));
        Ok((measured, why))
    }
}

impl Lab<'_> {
    /// The file of sessions: the experiment's, or one of the test where shares follow the load, or the test has
    /// something of its own.
    pub(crate) fn workload(&self, spec: &Spec, planned: &Planned, out: &Path) -> Result<PathBuf, Error> {
        let table = match spec.workload_at(planned.load) {
            Some(table) => table,
            None if planned.scene.is_empty() => return Ok(self.directory.join(WORKLOAD)),
            None => spec.workload_table.clone(),
        };
        let file = out.join(WORKLOAD);
        fs::write(&file, text(&table)?).map_err(Error::io("write", &file))?;
        Ok(file)
    }
}

fn judge(summary: &Summary, why: &mut Vec<String>) -> TestState {
    if summary.interrupted {
        why.push("it was stopped before its time".to_owned());
    }
    why.extend(summary.client.why_invalid.iter().cloned());
    let wrong = not_asked_for(summary);
    let is_wrong = wrong.is_some();
    why.extend(wrong);
    let counts = summary.client.valid && !summary.interrupted && !is_wrong;
    if counts { TestState::Measured } else { TestState::NotValid }
}

/// That most responses say that the request was wrong (RFC 9110, section 15.5): what is measured then is not the
/// workload. With 429 a server says that there are too many.
fn not_asked_for(summary: &Summary) -> Option<String> {
    let of_client = summary.status.range(400..500).filter(|(status, _)| **status != 429);
    let wrong: u64 = of_client.clone().map(|(_, count)| count).sum();
    let (status, _) = of_client.max_by_key(|(_, count)| **count)?;
    (wrong * 2 > summary.responses).then(|| {
        format!(
            "{wrong} of {} responses had a status of 400 to 499, mostly {status}: the server does not serve what the workload asks for",
            summary.responses
        )
    })
}

/// An empty directory for a run, whatever a broken attempt or an interrupted experiment left there.
pub(crate) fn empty(directory: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(directory) {
        Err(why) if why.kind() != ErrorKind::NotFound => return Err(Error::io("empty", directory)(why)),
        _ => {}
    }
    fs::create_dir_all(directory).map_err(Error::io("create", directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_that_the_server_does_not_have_does_not_count() {
        let judged = |statuses: &[(u16, u64)]| {
            let mut summary = Summary { responses: 100, ..Summary::default() };
            summary.client.valid = true;
            summary.status.extend(statuses.iter().copied());
            let mut why = Vec::new();
            (judge(&summary, &mut why), why.join(""))
        };
        let (state, why) = judged(&[(200, 40), (403, 10), (404, 50)]);
        assert_eq!(state, TestState::NotValid);
        assert!(why.starts_with("60 of 100 responses had a status of 400 to 499, mostly 404"), "{why}");
        // An overloaded server refuses.
        for statuses in [[(200, 10), (503, 90)], [(200, 10), (429, 90)], [(200, 60), (404, 40)]] {
            assert_eq!(judged(&statuses), (TestState::Measured, String::new()));
        }
    }
}
