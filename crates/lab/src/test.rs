//! One test: a fresh server, what stands in front of it, fresh as well, and the generator.
//!
//! Everything is started anew, so that no test inherits the queues of the one before.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use record::Summary;
use record::experiment::TestState;
use units::Rate;

use crate::Error;
use crate::front::Front;
use crate::load::{Offer, Run};
use crate::machine::settle;
use crate::plan::Planned;
use crate::run::{Lab, WORKLOAD, text};

impl Lab<'_> {
    /// Does the test once. Gives whether its figures can be used, and what is to be said of them.
    pub(crate) fn attempt(
        &self,
        planned: &Planned,
        offered: Rate,
        out: &Path,
    ) -> Result<(TestState, Vec<String>), Error> {
        let mut why = settle(self.spec.test.settle, self.stop)?;
        let mut server = self.site.start(&out.join("server.log"), self.stop)?;
        self.describe(&server)?;
        let mut front = self.front(planned, &server.authority, out)?;
        let workload = self.workload(planned, out)?;
        let authority = front.as_ref().map_or(&*server.authority, Front::authority).to_owned();
        let run = Run {
            authority: &authority,
            workload: &workload,
            offer: Offer::Rate(offered),
            warmup: self.spec.test.warmup,
            duration: self.spec.test.duration,
            seed: planned.seed,
            out,
        };
        let summary = self.generator().run(&run, self.stop, || {
            self.view.tick();
            front.iter_mut().for_each(Front::look);
        })?;
        if let Some(error) = server.has_died().or_else(|| front.as_mut().and_then(Front::has_died)) {
            return Err(error);
        }
        if let Some(front) = &front {
            front.keep_metrics(out)?;
        }
        why.extend(self.site.pinning.why_not.clone());
        Ok((judge(&summary, &mut why), why))
    }
}

impl Lab<'_> {
    /// The workload's file: the experiment's, or one of the test where shares follow the load.
    fn workload(&self, planned: &Planned, out: &Path) -> Result<PathBuf, Error> {
        let Some(table) = self.spec.workload_at(planned.load) else {
            return Ok(self.directory.join(WORKLOAD));
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
    if summary.client.valid && !summary.interrupted { TestState::Measured } else { TestState::NotValid }
}

/// An empty directory for a run, whatever a broken attempt or an interrupted experiment left there.
pub(crate) fn empty(directory: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(directory) {
        Err(why) if why.kind() != ErrorKind::NotFound => return Err(Error::io("empty", directory)(why)),
        _ => {}
    }
    fs::create_dir_all(directory).map_err(Error::io("create", directory))
}
