//! One test that is a search: a fresh server, what stands in front of it, and the search for the knee.

use std::path::Path;

use record::experiment::{Knee, TestState};
use record::search::{Found, Resource};
use traffic::model::ModelName;

use crate::knee::{REQUESTS, Search, find_on};
use crate::plan::Planned;
use crate::prediction::Predictor;
use crate::run::Lab;
use crate::spec::{Capacity, Cold, Sought, Spec, What};
use crate::test::{Outcome, Stage};
use crate::{Error, server};

/// Where the record of a search is, below its test's.
const SEARCH: &str = "search";

impl Lab<'_> {
    /// Does the search once.
    pub(crate) fn search(&self, planned: &Planned, out: &Path) -> Result<Outcome, Error> {
        let ((found, result, not_predicted), mut why) = self.staged(planned, out, |stage| {
            let Stage { spec, testbed, server, authority, workload, .. } = stage;
            let Capacity::Sought(sought) = &spec.capacity else {
                return Err(Error::Capacity("this test looks for none".to_owned()));
            };
            let search = Search {
                out: Some(out.join(SEARCH)),
                seed: planned.seed,
                cold: server.content().filter(|_| spec.asked.cold == Cold::Always),
                ..self.asked(spec, sought, authority, workload)
            };
            let log = out.join(server::LOG);
            let (found, result) = find_on(testbed, &search, Some(&log), self.stop, |_| self.view.tick());
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
                    stop: self.stop,
                    each: &|| self.view.tick(),
                };
                // What the search has found is kept, whatever comes of this.
                not_predicted = predictor.run(capacity.rate).err();
            }
            Ok((found, result, not_predicted))
        })?;
        let capacity = found.capacity.as_ref().filter(|capacity| capacity.unit == REQUESTS);
        why.extend(capacity.and_then(|capacity| self.is_near_generators(capacity.rate)));
        why.extend(not_predicted.map(|error| format!("nothing was predicted: {error}")));
        let state = match result {
            Ok(()) => TestState::Measured,
            Err(Error::NotTheServers(reason)) => {
                why.push(reason);
                TestState::NotValid
            }
            // There is none below the highest rate that was asked for, which is a finding.
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
        Ok(Outcome { state, knee: Some(knee(&found)), why })
    }

    fn asked(&self, spec: &Spec, sought: &Sought, authority: &str, sessions: &Path) -> Search {
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
        Search {
            url: format!("http://{authority}{path}"),
            load: load.into_iter().map(Into::into).collect(),
            objectives: sought.objectives.clone(),
            arrivals: sought.arrivals.clone(),
            cpus: None,
            precision: sought.precision,
            ramp: sought.ramp,
            crowd: sought.crowd,
            cold: None,
            out: None,
            watch: true,
            seed: 0,
            headworks: self.options.headworks.clone(),
        }
    }
}

fn knee(found: &Found) -> Knee {
    let capacity = found.capacity.as_ref();
    Knee {
        rate: capacity.map(|capacity| capacity.rate),
        ci: capacity.map(|capacity| capacity.ci),
        unit: capacity.map_or_else(String::new, |capacity| capacity.unit.clone()),
        bottleneck: found.verdict.bottleneck.map(|resource| resource.name().to_owned()),
        confidence: found.verdict.confidence,
        directory: SEARCH.to_owned(),
    }
}
