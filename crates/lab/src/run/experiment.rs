//! An experiment from its spec to its record.

use std::fs;
use std::path::{Path, PathBuf};

use record::experiment::{Experiment, Limit, Test, TestState};
use record::search::SearchResult;
use record::{RunDirectory, RunInfo, Timestamp, Window};
use testbed::{Pinning, Stop, Testbed, settle};
use units::Rate;

use super::begin::{begin, default_directory};
use super::check::check;
use super::directory::{WORKLOAD, empty, kept, text};
use super::load_test::{self, Places};
use super::options::{Finished, Options};
use super::plan::{Planned, plan};
use super::runner::Runner;
use super::set_up::{TestOutcome, describe};
use super::{capacity, lengths, resume, search_test, validation};
use crate::error::Error;
use crate::load::generator::{Offer, Run};
use crate::monitor::Monitor;
use crate::progress::{Event, Expected, Progress, Quiet, TestKind};
use crate::server::running::LOG;
use crate::spec::experiment::{Spec, TOOL};
use crate::spec::method::Capacity;
use crate::verdict::of_loads::of_loads;
use crate::view::terminal::View;

const CAPACITY: &str = "capacity";

/// Does the experiment. When an end is asked for, what was measured is kept and given.
///
/// # Errors
/// When the spec is wrong or something that every test needs cannot be had. A test that breaks is
/// not an error: it is repeated once and then reported as broken.
pub fn run(options: &Options, stop: &Stop) -> Result<Finished, Error> {
    if options.quiet { run_with(options, stop, &Quiet) } else { run_with(options, stop, &View::new()) }
}

pub(super) fn pinning(spec: &Spec) -> Pinning {
    Pinning::look(&spec.server.cpus, spec.server.front_cpus.as_ref(), &spec.client_cpus)
}

fn run_with(options: &Options, stop: &Stop, progress: &dyn Progress) -> Result<Finished, Error> {
    let spec = Spec::read(&options.spec, &options.settings)?;
    let pinning = pinning(&spec);
    let plan = plan(&spec, options.seed());
    let version = check(&spec, &plan, &options.headworks)?;
    let directory = options.out.clone().unwrap_or_else(|| default_directory(&options.spec));
    let fresh = begin(options, &spec, version);
    let mut files = vec![("spec.toml".to_owned(), spec.text.clone())];
    files.extend(kept(&spec)?);
    let experiment = resume::go_on(&directory, fresh, &files)?;
    testbed::sweep();
    let mut running = RunningExperiment {
        options,
        spec: &spec,
        pinning: &pinning,
        directory,
        plan,
        experiment,
        stop,
        progress,
    };
    for (name, text) in &files {
        let file = running.directory.join(name);
        fs::write(&file, text).map_err(Error::io("write", &file))?;
    }
    match running.measure() {
        Ok(()) => running.judge(),
        Err(Error::Interrupted) => running.experiment.interrupted = true,
        Err(error) => {
            progress.tell(Event::Ends);
            return Err(error);
        }
    }
    running.experiment.ended = Some(Timestamp::now());
    running.save()?;
    progress.tell(Event::Ends);
    Ok(Finished { directory: running.directory, experiment: running.experiment })
}

/// An experiment while it is done.
struct RunningExperiment<'a> {
    options: &'a Options,
    spec: &'a Spec,
    pinning: &'a Pinning,
    /// Of the record.
    directory: PathBuf,
    plan: Vec<Planned>,
    experiment: Experiment,
    stop: &'a Stop,
    progress: &'a dyn Progress,
}

impl RunningExperiment<'_> {
    /// Finds what set the limits of all subjects; of those whose capacities were searched for each search has said it.
    fn judge(&mut self) {
        if self.spec.is_search() {
            return;
        }
        match of_loads(&self.experiment, &self.directory) {
            Ok(found) => {
                let limit =
                    |(subject, found): (String, SearchResult)| Limit { subject, verdict: found.verdict };
                self.experiment.limits = found.into_iter().map(limit).collect();
            }
            // What was measured is kept in any case.
            Err(error) => self.note(&format!("what sets the limit was not judged: {error}")),
        }
    }

    fn measure(&mut self) -> Result<(), Error> {
        self.save()?;
        self.tell_plan();
        if let Some(why) = self.pinning.why_not() {
            self.note(why);
        }
        self.validate()?;
        let rate = match &self.spec.capacity {
            Capacity::Searched(_) => None,
            _ => Some(self.capacity()?),
        };
        for index in 0..self.plan.len() {
            let planned = self.plan[index].clone();
            if self.experiment.tests.iter().any(|test| test.directory == planned.directory) {
                self.test_ends(index);
                continue;
            }
            self.test(index, &planned, rate.map(|rate| rate.scaled(planned.load)))?;
        }
        Ok(())
    }

    fn note(&self, sentence: &str) {
        self.progress.tell(Event::Note(sentence));
    }

    fn tell_plan(&self) {
        let expected = |planned: &Planned| Expected {
            name: planned.name(),
            directory: planned.directory.clone(),
            // What could not be read would have been said before.
            length: planned.spec(self.spec).map(|spec| lengths::test(&spec)).unwrap_or_default(),
        };
        let tests = self.plan.iter().map(expected).collect();
        let kind = if self.spec.is_search() { TestKind::Search } else { TestKind::AtLoad };
        self.progress.tell(Event::Begins { experiment: &self.experiment, tests, kind });
    }

    fn test_ends(&self, index: usize) {
        let (directory, experiment) = (&*self.directory, &self.experiment);
        self.progress.tell(Event::TestEnds { index, directory, experiment });
    }

    /// Finds what the generator can do, unless it is known from before. Where that cannot be done, the tests are done
    /// without.
    fn validate(&mut self) -> Result<(), Error> {
        if self.experiment.generator.is_some() {
            return Ok(());
        }
        let best = validation::generators_best(
            self.spec,
            self.pinning,
            &self.options.headworks,
            &self.directory,
            self.stop,
            self.progress,
        );
        match best {
            Ok(validation) => self.experiment.generator = Some(validation),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => self.note(&format!("the generator was not validated: {error}")),
        }
        Ok(())
    }

    /// The load that the levels multiply: stated, known from before, or found now.
    fn capacity(&mut self) -> Result<Rate, Error> {
        let run = match &self.spec.capacity {
            Capacity::Stated(rate) => return Ok(*rate),
            Capacity::ClosedLoop { concurrency, warmup, duration } => Run {
                authority: "",
                workload: &self.directory.join(WORKLOAD),
                offer: Offer::Closed(*concurrency),
                warmup: *warmup,
                duration: *duration,
                seed: self.options.seed(),
                out: &self.directory.join(CAPACITY),
            },
            Capacity::Searched(_) => return Err(Error::Capacity("each test finds its own".to_owned())),
        };
        if self.experiment.capacity.is_none() {
            self.progress.tell(Event::CapacitySearchBegins(lengths::capacity(self.spec)));
            self.closed_loop(&run)?;
            self.experiment.capacity = Some(capacity::estimate(&RunDirectory::open(run.out)?, CAPACITY)?);
            self.save()?;
        }
        let rate = self.experiment.capacity.as_ref().map_or(0.0, |capacity| capacity.rate);
        self.progress.tell(Event::CapacityIsKnown(&self.experiment));
        Rate::per_second(rate).ok_or_else(|| Error::Capacity(format!("{rate} is not a rate")))
    }

    /// Carries out a run against the server alone.
    fn closed_loop(&self, run: &Run) -> Result<(), Error> {
        empty(run.out)?;
        for sentence in settle(self.spec.test.settle, self.stop)? {
            self.note(&sentence);
        }
        let testbed = self.testbed(self.spec, self.pinning)?;
        let runner = self.runner(self.spec, &testbed);
        let server = runner.site().start(&run.out.join(LOG), self.stop)?;
        describe(&server, &self.directory, run.out)?;
        // As the tests are, so that what that costs is in the capacity as well.
        let mut monitor = runner.monitor(&server, run.out);
        let run = Run { authority: &server.authority, ..*run };
        let result = runner.generator().run(&run, self.stop, || self.progress.tell(Event::Tick));
        monitor.iter_mut().for_each(Monitor::end);
        result?;
        Ok(self.stop.check()?)
    }

    /// Does one test, a second time when it breaks, and keeps it.
    fn test(&mut self, index: usize, planned: &Planned, offered: Option<Rate>) -> Result<(), Error> {
        self.progress.tell(Event::TestBegins(index));
        let mut test = Test {
            directory: planned.directory.clone(),
            subject: planned.subject.name().to_owned(),
            level: planned.level,
            settings: match self.spec.capacity {
                Capacity::Searched(_) => planned.levels.iter().cloned().collect(),
                _ => planned.others().cloned().collect(),
            },
            repeat: planned.repeat,
            offered: offered.map_or(0.0, Rate::as_f64),
            capacity: None,
            state: TestState::Broken,
            why: Vec::new(),
        };
        let out = self.directory.join(&planned.directory);
        for attempt in ["the first attempt", "the second attempt"] {
            empty(&out)?;
            match self.attempt(planned, offered, &out) {
                Ok(mut outcome) => {
                    test.state = outcome.state;
                    test.capacity = outcome.capacity;
                    test.why.append(&mut outcome.why);
                    break;
                }
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // A second attempt would end in this as well, and the next test.
                Err(error) if error.is_lasting() => return Err(error),
                Err(error) => test.why.push(format!("{attempt} broke: {error}")),
            }
        }
        self.experiment.tests.push(test);
        self.save()?;
        self.test_ends(index);
        Ok(self.stop.check()?)
    }

    /// Does a test once: at the load that is `offered`, or else as a search.
    fn attempt(&self, planned: &Planned, offered: Option<Rate>, out: &Path) -> Result<TestOutcome, Error> {
        let spec = &planned.spec(self.spec)?;
        let pinning = pinning(spec);
        let restless = settle(spec.test.settle, self.stop)?;
        let testbed = self.testbed(spec, &pinning)?;
        let runner = self.runner(spec, &testbed);
        let workload = &self.workload(spec, planned, out)?;
        let places = Places { record: &self.directory, out, workload };
        let best = self.experiment.generator.as_ref().map(|generator| generator.rate);
        let mut outcome = match offered {
            Some(offered) => load_test::attempt(&runner, planned, offered, &places, best)?,
            None => search_test::search(&runner, planned, &places, best)?,
        };
        let shared = pinning.why_not().map(str::to_owned);
        outcome.why.splice(0..0, restless.into_iter().chain(shared));
        Ok(outcome)
    }

    /// What a test with this spec is set up on.
    fn testbed<'b>(&self, spec: &'b Spec, pinning: &'b Pinning) -> Result<Testbed<'b>, Error> {
        let (server, generator) = (&spec.server.cpus, &spec.client_cpus);
        let testbed = Testbed::build(&spec.resources, pinning, server, generator, self.stop)?;
        Ok(testbed.with_front(spec.server.front_cpus.as_ref()))
    }

    fn runner<'b>(&'b self, spec: &'b Spec, testbed: &'b Testbed<'b>) -> Runner<'b> {
        Runner { spec, testbed, headworks: &self.options.headworks, stop: self.stop, progress: self.progress }
    }

    /// The file of sessions: the experiment's, or one of the test where shares follow the load, or the test has
    /// something of its own.
    fn workload(&self, spec: &Spec, planned: &Planned, out: &Path) -> Result<PathBuf, Error> {
        let table = match spec.workload_at(planned.load) {
            Some(table) => table,
            None if planned.own.is_empty() => return Ok(self.directory.join(WORKLOAD)),
            None => spec.workload_table.clone(),
        };
        let file = out.join(WORKLOAD);
        fs::write(&file, text(&table)?).map_err(Error::io("write", &file))?;
        Ok(file)
    }

    fn save(&self) -> Result<(), Error> {
        let Experiment { version, command, started, ended, interrupted, seed, .. } = &self.experiment;
        let length = ended.map_or(0, |ended| ended.duration_since(*started).as_nanos());
        let info = RunInfo {
            tool: TOOL.to_owned(),
            version: version.clone(),
            command: command.clone(),
            started: *started,
            ended: *ended,
            interrupted: *interrupted,
            seed: *seed,
            window: Window { from_ns: 0, to_ns: u64::try_from(length).unwrap_or(0) },
            step_unit: None,
            steps: Vec::new(),
            spec: self.spec.whole(),
        };
        Experiment::save_info(&self.directory, &info)?;
        Ok(self.experiment.save(&self.directory)?)
    }
}
