//! An experiment from its spec to its record.

use std::fs;
use std::path::{Path, PathBuf};

use record::experiment::{Class, Experiment, Factor, Limit, OtherFactor, Server, Test, TestState};
use record::search::Found;
use record::{Environment, RunDirectory, RunInfo, Timestamp, Window};
use units::Rate;

use crate::load::{Generator, Offer, Run};
use crate::plan::{Planned, plan};
use crate::server::{self, Running, Site};
use crate::spec::factors::{number, words};
use crate::spec::{self, Capacity, Spec, Subject, TOOL};
use crate::view::View;
use crate::watch::Watch;
use testbed::Stop;
use testbed::Testbed;
use testbed::{Pinning, settle};

use crate::{Error, capacity, gate, peer, resume, test, verdict};

const CAPACITY: &str = "capacity";
/// How the server of a test was started, and its configuration.
const SERVER: &str = "server.json";
/// The workload's file, in the record and where a test has one of its own.
pub(crate) const WORKLOAD: &str = "workload.toml";

/// What an experiment is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The spec's file.
    pub spec: PathBuf,
    /// What `--set` changes in it, as `key=value`.
    pub settings: Vec<String>,
    /// Where the record goes; `runs/NAME-TIME` when left out.
    pub out: Option<PathBuf>,
    /// Seed of arrivals and of the order of tests; left out, that of the record that is repeated, or 1.
    pub seed: Option<u64>,
    /// The `headworks` program, which is server, gate and generator.
    pub headworks: PathBuf,
    /// Its version.
    pub version: String,
    /// Its command line, for the record.
    pub command: Vec<String>,
    /// Whether to show no progress.
    pub quiet: bool,
}

impl Options {
    pub(crate) fn seed(&self) -> u64 {
        self.seed.or_else(|| spec::seed(&self.spec)).unwrap_or(1)
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Finished {
    /// Where the record is.
    pub directory: PathBuf,
    /// Its index.
    pub experiment: Experiment,
}

impl Finished {
    /// Whether every test that was done counts.
    pub fn is_valid(&self) -> bool {
        self.experiment.tests.iter().all(|test| test.state == TestState::Measured)
    }
}

/// Does the experiment. When somebody wants it to end, what was measured is kept and given.
///
/// # Errors
/// When the spec is wrong or something that every test needs cannot be had. A test that breaks is
/// no error: it is repeated once and then reported as broken.
pub fn run(options: &Options, stop: &Stop) -> Result<Finished, Error> {
    let spec = Spec::read(&options.spec, &options.settings)?;
    let pinning = Pinning::look(&spec.server.cpus, &spec.client_cpus);
    let seed = options.seed();
    let plan = plan(&spec, seed);
    let version = check(&spec, &plan, &options.headworks)?;
    let directory = options.out.clone().unwrap_or_else(|| default_directory(&options.spec));
    let fresh = begin(options, &spec, version);
    let files = [("spec.toml", spec.text.clone()), (WORKLOAD, text(&spec.workload_table)?)];
    let experiment = resume::go_on(&directory, fresh, &files)?;
    testbed::sweep();
    let mut lab = Lab {
        options,
        spec: &spec,
        pinning: &pinning,
        directory,
        plan,
        files,
        view: View::new(options.quiet),
        experiment,
        stop,
    };
    match lab.measure() {
        Ok(()) => lab.judge(),
        Err(Error::Interrupted) => lab.experiment.interrupted = true,
        Err(error) => {
            lab.view.finish();
            return Err(error);
        }
    }
    lab.experiment.ended = Some(Timestamp::now());
    lab.save()?;
    lab.view.finish();
    Ok(Finished { directory: lab.directory, experiment: lab.experiment })
}

/// Whether all that the tests need can be had; gives the version of the server.
pub(crate) fn check(spec: &Spec, plan: &[Planned], headworks: &Path) -> Result<String, Error> {
    let version = server::check(&spec.server, headworks)?;
    check_servers(spec, plan, headworks)?;
    check_gates(spec, plan, headworks)?;
    spec.subjects.iter().filter_map(|subject| subject.peer()).try_for_each(peer::Kind::check)?;
    Ok(version)
}

/// Levels that do not go together, and servers that are not installed, are found out before anything is measured.
fn check_servers(spec: &Spec, plan: &[Planned], headworks: &Path) -> Result<(), Error> {
    let mut checked = Vec::new();
    for test in plan.iter().filter(|test| !test.scene.is_empty()) {
        if !checked.contains(&&test.scene) {
            server::check(&test.spec(spec)?.server, headworks).map_err(|error| match error {
                Error::Directives { .. } => Error::Levels { levels: test.name(), why: error.to_string() },
                error => error,
            })?;
            checked.push(&test.scene);
        }
    }
    Ok(())
}

/// Lets the gate judge all settings that it will be started with.
fn check_gates(spec: &Spec, plan: &[Planned], headworks: &Path) -> Result<(), Error> {
    let mut checked = Vec::new();
    for test in plan.iter().filter(|test| test.subject == Subject::Gate) {
        let Some(settings) = spec.gate_with(&test.settings) else { continue };
        if !checked.contains(&settings) {
            gate::check(headworks, &settings)?;
            checked.push(settings);
        }
    }
    Ok(())
}

/// The record before anything is measured.
fn begin(options: &Options, spec: &Spec, version: String) -> Experiment {
    Experiment {
        title: spec.title.clone(),
        seed: options.seed(),
        started: Timestamp::now(),
        ended: None,
        interrupted: false,
        version: options.version.clone(),
        command: options.command.clone(),
        server: Server { kind: spec.server.kind.name().to_owned(), version },
        factor: axis(spec),
        others: others(spec),
        subjects: spec.subjects.iter().map(|subject| subject.name().to_owned()).collect(),
        classes: classes(spec),
        generator: None,
        capacity: None,
        tests: Vec::new(),
        limits: Vec::new(),
    }
}

/// What figures have on their axis; that of a search is the load, whatever else is varied.
fn axis(spec: &Spec) -> Factor {
    let first = spec.factors.first().filter(|_| !spec.is_search());
    Factor {
        name: first.map(|factor| factor.name.clone()).unwrap_or_default(),
        unit: first.map(|factor| factor.unit().to_owned()).unwrap_or_default(),
        levels: first.map(|factor| factor.levels.iter().filter_map(number).collect()).unwrap_or_default(),
    }
}

fn others(spec: &Spec) -> Vec<OtherFactor> {
    let other = |factor: &spec::Factor| OtherFactor {
        name: factor.name.clone(),
        label: factor.label(),
        unit: factor.unit().to_owned(),
        levels: factor.levels.iter().map(words).collect(),
        published: factor.published.clone(),
    };
    spec.factors.iter().skip(usize::from(!spec.is_search())).map(other).collect()
}

fn classes(spec: &Spec) -> Vec<Class> {
    let constant = |number: usize| spec.constant.iter().find(|constant| constant.class == number);
    (0..)
        .zip(&spec.workload.classes)
        .map(|(number, class)| Class {
            name: class.name.to_string(),
            share: class.share,
            load: constant(number).map(|constant| constant.load),
        })
        .collect()
}

fn default_directory(spec: &Path) -> PathBuf {
    // An experiment that is repeated is named by its directory.
    let of_directory = spec.parent().filter(|_| spec.ends_with("run.toml")).and_then(Path::file_name);
    let name = of_directory.or(spec.file_stem()).unwrap_or_default().to_string_lossy();
    let time: String =
        Timestamp::now().to_string().chars().take(19).filter(|c| !matches!(c, '-' | ':')).collect();
    Path::new("runs").join(format!("{name}-{time}"))
}

/// An experiment while it is done.
pub(crate) struct Lab<'a> {
    pub(crate) options: &'a Options,
    pub(crate) spec: &'a Spec,
    pub(crate) pinning: &'a Pinning,
    pub(crate) directory: PathBuf,
    pub(crate) plan: Vec<Planned>,
    /// What is run, as files of the record: names and texts.
    pub(crate) files: [(&'static str, String); 2],
    pub(crate) view: View,
    pub(crate) experiment: Experiment,
    pub(crate) stop: &'a Stop,
}

impl Lab<'_> {
    /// Finds what set the limits of all subjects; of those whose knees were searched for each search has said it.
    fn judge(&mut self) {
        if self.spec.is_search() {
            return;
        }
        match verdict::of_loads(&self.experiment, &self.directory) {
            Ok(found) => {
                let limit = |(subject, found): (String, Found)| Limit { subject, verdict: found.verdict };
                self.experiment.limits = found.into_iter().map(limit).collect();
            }
            // What was measured is there all the same.
            Err(error) => self.view.note(&format!("what sets the limit was not judged: {error}")),
        }
    }

    fn measure(&mut self) -> Result<(), Error> {
        for (name, text) in &self.files {
            let file = self.directory.join(name);
            fs::write(&file, text).map_err(Error::io("write", &file))?;
        }
        self.save()?;
        self.view.begin(&self.experiment, &self.plan, self.spec);
        if let Some(why) = self.pinning.why_not() {
            self.view.note(why);
        }
        self.validate()?;
        let rate = match &self.spec.capacity {
            Capacity::Sought(_) => None,
            _ => Some(self.capacity()?),
        };
        for index in 0..self.plan.len() {
            let planned = self.plan[index].clone();
            if self.experiment.tests.iter().any(|test| test.directory == planned.directory) {
                self.view.done(index, &self.directory, &self.experiment);
                continue;
            }
            self.test(index, &planned, rate.map(|rate| rate.scaled(planned.load)))?;
        }
        Ok(())
    }

    /// The load that the levels multiply: stated, known from before, or found now.
    fn capacity(&mut self) -> Result<Rate, Error> {
        let (concurrency, warmup, duration) = match &self.spec.capacity {
            Capacity::Fixed(rate) => return Ok(*rate),
            Capacity::Search { concurrency, warmup, duration } => (*concurrency, *warmup, *duration),
            Capacity::Sought(_) => return Err(Error::Capacity("each test finds its own".to_owned())),
        };
        if self.experiment.capacity.is_none() {
            self.view.searching(warmup + duration);
            let out = self.directory.join(CAPACITY);
            test::empty(&out)?;
            for sentence in settle(self.spec.test.settle, self.stop)? {
                self.view.note(&sentence);
            }
            let testbed = self.testbed(self.spec, self.pinning)?;
            let server = self.site(self.spec, &testbed).start(&out.join(server::LOG), self.stop)?;
            self.describe(&server, &out)?;
            let run = Run {
                authority: &server.authority,
                workload: &self.directory.join(WORKLOAD),
                offer: Offer::Closed(concurrency),
                warmup,
                duration,
                seed: self.options.seed(),
                out: &out,
            };
            // As the tests are, so that what that costs is in the capacity as well.
            let mut watch = self.watch(&server, &testbed, &out);
            let result = self.generator(self.spec, &testbed).run(&run, self.stop, || self.view.tick());
            watch.iter_mut().for_each(Watch::end);
            result?;
            self.stop.check()?;
            self.experiment.capacity = Some(capacity::estimate(&RunDirectory::open(&out)?, CAPACITY)?);
            self.save()?;
        }
        let rate = self.experiment.capacity.as_ref().map_or(0.0, |capacity| capacity.rate);
        self.view.found(&self.experiment);
        Rate::per_second(rate).ok_or_else(|| Error::Capacity(format!("{rate} is no rate")))
    }

    /// Does one test, a second time when it breaks, and keeps it.
    fn test(&mut self, index: usize, planned: &Planned, offered: Option<Rate>) -> Result<(), Error> {
        self.view.testing(index);
        let mut test = Test {
            directory: planned.directory.clone(),
            subject: planned.subject.name().to_owned(),
            level: planned.level,
            settings: match self.spec.capacity {
                Capacity::Sought(_) => planned.levels.iter().cloned().collect(),
                _ => planned.others().cloned().collect(),
            },
            repeat: planned.repeat,
            offered: offered.map_or(0.0, Rate::as_f64),
            knee: None,
            state: TestState::Broken,
            why: Vec::new(),
        };
        let out = self.directory.join(&planned.directory);
        for attempt in ["the first attempt", "the second attempt"] {
            test::empty(&out)?;
            let result = match (offered, &self.spec.capacity) {
                (None, Capacity::Sought(_)) => self.search(planned, &out),
                (offered, _) => self.attempt(planned, offered.unwrap_or_default(), &out),
            };
            match result {
                Ok(mut outcome) => {
                    test.state = outcome.state;
                    test.knee = outcome.knee;
                    test.why.append(&mut outcome.why);
                    break;
                }
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // It would be the same the second time, and in the next test.
                Err(error) if error.is_lasting() => return Err(error),
                Err(error) => test.why.push(format!("{attempt} broke: {error}")),
            }
        }
        self.experiment.tests.push(test);
        self.save()?;
        self.view.done(index, &self.directory, &self.experiment);
        Ok(self.stop.check()?)
    }

    /// What a test with this spec is set up on.
    pub(crate) fn testbed<'b>(&self, spec: &'b Spec, pinning: &'b Pinning) -> Result<Testbed<'b>, Error> {
        let (server, generator) = (&spec.server.cpus, &spec.client_cpus);
        Ok(Testbed::build(&spec.resources, pinning, server, generator, self.stop)?)
    }

    pub(crate) fn site<'b>(&'b self, spec: &'b Spec, testbed: &'b Testbed<'b>) -> Site<'b> {
        let headworks = &self.options.headworks;
        Site { server: &spec.server, workload: &spec.workload, asked: &spec.asked, testbed, headworks }
    }

    pub(crate) fn generator<'b>(&'b self, spec: &'b Spec, testbed: &'b Testbed<'b>) -> Generator<'b> {
        Generator { headworks: &self.options.headworks, testbed, workload: &spec.workload }
    }

    /// Begins to look at the server while it is asked, if that is wanted and possible.
    pub(crate) fn watch(&self, server: &Running, testbed: &Testbed, out: &Path) -> Option<Watch> {
        let url = format!("http://{}/", server.authority);
        Watch::begin((&self.options.headworks, &url), self.spec.sampling?, testbed, out, self.stop)
    }

    /// Records the machine and the server as it was started, once, and of each test the server in `out`: it may be
    /// another one at another level.
    pub(crate) fn describe(&self, server: &Running, out: &Path) -> Result<(), Error> {
        record::write_json(&out.join(SERVER), &server.environment)?;
        let file = self.directory.join(Environment::FILE);
        if file.exists() {
            return Ok(());
        }
        let environment = Environment { server: Some(server.environment.clone()), ..Environment::capture() };
        Ok(environment.save(&file)?)
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

pub(crate) fn text(table: &toml::Table) -> Result<String, Error> {
    toml::to_string(table)
        .map_err(|why| Error::Setting { setting: "workload".to_owned(), why: why.to_string() })
}
