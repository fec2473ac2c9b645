//! `headworks sim --out`: a simulation that is kept, with a report.

use std::io::{Write, stdout};
use std::path::Path;

use anyhow::Context;
use report::Document;
use sim::{Model, Outcome, Plan, Recording};

use super::wait::Wait;
use crate::exit::Failure;
use crate::output::show;
use crate::process::command_line;

/// Requests of a replication that are looked at more closely, unless its warm-up takes more.
const BEGINNING: u64 = 4000;

/// Simulates `model`, says what came out, and keeps it in `out`.
pub(super) fn run(
    model: &Model,
    plan: &Plan,
    out: &Path,
    json: bool,
    wait: &Wait,
) -> Result<Outcome, Failure> {
    let recording = Recording::begin(out.to_owned(), command_line(), model, plan);
    let recording = recording.map_err(|why| Failure::Usage(why.into()))?;
    let outcome = wait.during(|control| sim::run_under(model, plan, control))?;
    show(&outcome, json)?;
    // The warm-up has been found; looking for it again would find it again.
    let plan = Plan { warmup: Some(outcome.warmup), ..*plan };
    let series = |requests| {
        sim::time_series(model, &Plan { requests, ..plan }).map_err(|why| Failure::Usage(why.into()))
    };
    let (series, beginning) = (series(plan.requests)?, series(plan.requests.min(BEGINNING))?);
    recording.finish(&outcome, &series, &beginning).map_err(|why| Failure::Failed(why.into()))?;
    let report = Document::read(out).and_then(|report| report.write(out));
    let page =
        report.context("the record is whole, but its report could not be made").map_err(Failure::Failed)?;
    if !json {
        writeln!(stdout(), "report: {}", page.display())
            .context("cannot write to standard output")
            .map_err(Failure::Failed)?;
    }
    Ok(outcome)
}
