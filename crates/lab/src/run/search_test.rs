//! One test that is a search: a fresh server, what stands in front of it, and the search for the capacity.

use std::path::Path;

use record::experiment::{MeasuredCapacity, TestState};
use record::search::{Resource, SearchResult};
use traffic::model::ModelName;

use super::find::find_on;
use super::load_test::Places;
use super::plan::Planned;
use super::prediction::Predictor;
use super::runner::Runner;
use super::set_up::{TestOutcome, with_all_set_up};
use super::validation;
use crate::error::Error;
use crate::progress::Event;
use crate::search::options::SearchOptions;
use crate::search::steps::REQUESTS;
use crate::server::running::LOG;
use crate::spec::method::Capacity;
use crate::spec::search::SearchSpec;
use crate::spec::workload::{Cold, What};

/// Where the record of a search is, below its test's.
const SEARCH: &str = "search";

/// Does the search once; `best` is what the generator gets from the reference server, per second.
pub(super) fn search(
    runner: &Runner,
    planned: &Planned,
    places: &Places,
    best: Option<f64>,
) -> Result<TestOutcome, Error> {
    let Runner { spec, testbed, stop, progress, .. } = *runner;
    let &Places { record, out, workload } = places;
    let (found, result, not_predicted) = with_all_set_up(runner, planned, record, out, |set_up| {
        let Capacity::Searched(searched) = &spec.capacity else {
            return Err(Error::Capacity("this test looks for none".to_owned()));
        };
        let search = SearchOptions {
            out: Some(out.join(SEARCH)),
            seed: planned.seed,
            cold: set_up.server.content().filter(|_| spec.asked.cold == Cold::Always),
            ..options(runner, searched, set_up.authority, workload)
        };
        let log = out.join(LOG);
        let tick = || progress.tell(Event::Tick);
        let (found, result) = find_on(testbed, &search, Some(&log), stop, |_| tick());
        let mut not_predicted = None;
        let is_found = matches!(result, Ok(()) | Err(Error::NotTheServers(_)));
        if let (Some(wanted), Some(capacity), true) = (&spec.prediction, &found.capacity, is_found) {
            let predictor = Predictor {
                wanted,
                server: &spec.server,
                testbed,
                search: &search,
                is_of_processors: found.verdict.bottleneck == Some(Resource::ServerCpu),
                out: &out.join(record::prediction::DIRECTORY),
                stop,
                each: &tick,
            };
            // What the search has found is kept, whatever comes of this.
            not_predicted = predictor.run(capacity.rate).err();
        }
        Ok((found, result, not_predicted))
    })?;
    let mut why = Vec::new();
    let capacity = found.capacity.as_ref().filter(|capacity| capacity.unit == REQUESTS);
    why.extend(capacity.and_then(|capacity| validation::is_near_generators(capacity.rate, best)));
    why.extend(not_predicted.map(|error| format!("nothing was predicted: {error}")));
    let state = match result {
        Ok(()) => TestState::Measured,
        Err(Error::NotTheServers(reason)) => {
            why.push(reason);
            TestState::NotValid
        }
        // That the capacity lies above the highest rate that was asked for is a finding.
        Err(error @ Error::KeptUp(_)) => {
            why.push(error.to_string());
            TestState::Measured
        }
        // The generator broke off, and what had been seen until then explains it.
        Err(error @ Error::Testbed(testbed::Error::Process { .. }))
            if found.verdict.bottleneck.is_some_and(Resource::is_generators) =>
        {
            why.push(error.to_string());
            TestState::NotValid
        }
        Err(error) => return Err(error),
    };
    Ok(TestOutcome { state, capacity: Some(capacity_of(&found)), why })
}

/// What to search for, with sessions of the file `sessions`.
fn options(runner: &Runner, searched: &SearchSpec, authority: &str, sessions: &Path) -> SearchOptions {
    let spec = runner.spec;
    let mut load = spec.asked.options.clone();
    let path = match &spec.asked.what {
        Some(What::Url(path)) => path.clone(),
        Some(What::Model(name)) => {
            load.extend(["--workload".to_owned(), ModelName::to_string(name)]);
            String::new()
        }
        None => {
            load.extend(["--workload".to_owned(), sessions.display().to_string()]);
            String::new()
        }
    };
    // Certificates of tests are signed by themselves.
    load.extend(spec.asked.tls.then(|| "--insecure".to_owned()));
    let scheme = if spec.asked.tls { "https" } else { "http" };
    SearchOptions {
        url: format!("{scheme}://{authority}{path}"),
        load: load.into_iter().map(Into::into).collect(),
        objectives: searched.objectives.clone(),
        arrivals: searched.arrivals.clone(),
        cpus: None,
        precision: searched.precision,
        ramp: searched.ramp.clone(),
        crowd: searched.crowd,
        cold: None,
        out: None,
        watch: true,
        seed: 0,
        headworks: runner.headworks.clone(),
    }
}

fn capacity_of(found: &SearchResult) -> MeasuredCapacity {
    let capacity = found.capacity.as_ref();
    MeasuredCapacity {
        rate: capacity.map(|capacity| capacity.rate),
        ci: capacity.map(|capacity| capacity.ci),
        unit: capacity.map_or_else(String::new, |capacity| capacity.unit.clone()),
        bottleneck: found.verdict.bottleneck.map(|resource| resource.name().to_owned()),
        confidence: found.verdict.confidence,
        directory: SEARCH.to_owned(),
    }
}
