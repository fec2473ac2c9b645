//! A search on a server that runs: probes with the generator, as the [steps](crate::search::steps) say.

use std::path::Path;
use std::time::Instant;

use record::search::{ProbeResult, Resource, SearchResult, Verdict};
use record::{Environment, Samples};
use testbed::{Cpus, NoCpus, Pinning, Stop, Testbed};
use units::Span;

use super::directory::empty;
use super::prober::Prober;
use crate::error::Error;
use crate::monitor::Monitor;
use crate::search::options::SearchOptions;
use crate::search::steps::{Next, Steps};
use crate::verdict::judge::judge;
use crate::verdict::{laws, levels};

/// A look is this long after another: several in each probe.
const LOOK: Span = Span::from_millis(200);

/// Searches for the capacity of a server that runs; what was found until an error ended the search is given as well.
/// `each` is told of every probe.
///
/// # Errors
/// When the generator cannot do what it is asked, or is itself what cannot keep up, or the server does not answer, or
/// keeps up with everything or nothing.
pub fn find(
    search: &SearchOptions,
    stop: &Stop,
    each: impl FnMut(&ProbeResult),
) -> (SearchResult, Result<(), Error>) {
    match generators(search.cpus.as_deref()) {
        Ok((pinning, cpus)) => find_on(&Testbed::host(&pinning, &cpus, &cpus), search, None, stop, each),
        Err(error) => (SearchResult::default(), Err(error)),
    }
}

/// The processors of a generator alone; any where none are named.
fn generators(cpus: Option<&str>) -> Result<(Pinning, Cpus), Error> {
    let Some(text) = cpus else { return Ok((Pinning::anywhere(), Cpus::one(0))) };
    let wrong = |why: String| Error::Cpus { cpus: text.to_owned(), why };
    let cpus: Cpus = text.parse().map_err(|why: NoCpus| wrong(why.to_string()))?;
    let pinning = Pinning::alone(&cpus).map_err(|error| match error {
        testbed::Error::NoProcessor(_) => wrong(error.to_string()),
        other => other.into(),
    })?;
    Ok((pinning, cpus))
}

/// Searches for the capacity of a server that runs on a testbed, whose `log` is known where the lab started it.
pub(super) fn find_on(
    testbed: &Testbed,
    search: &SearchOptions,
    log: Option<&Path>,
    stop: &Stop,
    mut each: impl FnMut(&ProbeResult),
) -> (SearchResult, Result<(), Error>) {
    let mut found = SearchResult::default();
    let prober = Prober::new(search, testbed, stop);
    let result = prober.and_then(|mut prober| find_with(&mut found, &mut prober, log, &mut each));
    (found, result)
}

fn find_with(
    found: &mut SearchResult,
    prober: &mut Prober,
    log: Option<&Path>,
    each: &mut dyn FnMut(&ProbeResult),
) -> Result<(), Error> {
    let (search, root) = (prober.search, prober.root.clone());
    if std::fs::read_dir(&root).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::NotEmpty { path: root });
    }
    if search.out.is_some() {
        std::fs::create_dir_all(&root).map_err(Error::io("create", &root))?;
        Environment::capture().save(&root.join(Environment::FILE))?;
    }
    let is_watched = search.watch && !search.is_elsewhere();
    let begin = || Monitor::begin(&search.headworks, &search.url, LOOK, prober.testbed, &root, prober.stop);
    let mut monitor = if is_watched { begin() } else { None };
    let mut steps = Steps::new(search);
    let result = carry_out(&mut steps, prober, each);
    monitor.iter_mut().for_each(Monitor::end);
    if search.out.is_some() && steps.results().is_empty() {
        // Nothing that is worth keeping, and it would be in the way of the next search.
        let _ = empty(&root);
    }
    *found = steps.found();
    let levels = levels::of_search(found, &root, &Samples::beside(&root), log)?;
    for (result, level) in found.probes.iter_mut().zip(&levels) {
        result.used = level.used();
    }
    found.basis.extend(laws::broken(&found.probes, &levels, search.is_one_each()));
    found.verdict = judge(levels);
    let result = result.and_then(|()| steps.check(found));
    let is_complete = match &result {
        Ok(()) | Err(Error::KeptUp(_)) => true,
        Err(Error::NotTheServers(_)) => search.ramp.is_some(),
        Err(_) => false,
    };
    if found.verdict.bottleneck == Some(Resource::None) && !is_complete {
        // More was to be tried.
        found.verdict = Verdict::default();
    }
    if search.out.is_some() && !found.probes.is_empty() {
        found.save(&root)?;
    }
    result
}

/// Makes the probes until there is nothing more to be done.
fn carry_out(
    steps: &mut Steps,
    prober: &mut Prober,
    each: &mut dyn FnMut(&ProbeResult),
) -> Result<(), Error> {
    let began = Instant::now();
    loop {
        match steps.next(began.elapsed()) {
            Next::Probe(plan) => {
                let name = format!("probes/{:02}-{}", steps.results().len() + 1, plan.offer.name());
                let probe = prober.probe(&plan, &name)?;
                let added = steps.add(&probe, name);
                steps.results().last().into_iter().for_each(&mut *each);
                added?;
            }
            Next::Rest(plan) => prober.rest(&plan)?,
            Next::Nothing => return Ok(()),
        }
    }
}
