//! The knee: the highest rate that a server which runs already keeps up with.
//!
//! [`find`] asks a few closed loops, each with four times the clients of the one before, what the server does in
//! all, and how that grows with concurrency. Open loops around that rate say where what waits only grows: a
//! closed loop waits for the server and does not see that.

mod backlog;
mod bracket;
mod crowd;
mod defaults;
mod options;
mod probe;
mod prober;
mod scalability;
mod tried;

use std::path::Path;
use std::time::{Duration, Instant};

use record::experiment::Experiment;
use record::search::{Capacity, Found, Resource, Tried, Verdict};
use record::{Environment, Samples};
use traffic::Ramp;
use units::{Rate, Span};

use self::bracket::Bracket;
pub use self::crowd::Crowd;
pub use self::defaults::{HOLD, LEAST_HOLD, LEAST_PRECISION, PRECISION, arrivals};
pub use self::options::Search;
use self::probe::Outcome;
use self::prober::Prober;
use self::tried::{is_at, kept_up};
use crate::verdict::{self, Level, Refused};
use crate::watch::Watch;
use testbed::Stop;
use testbed::Testbed;
use testbed::{Cpus, NoCpus, Pinning};

use crate::{Error, server, test};

/// The unit of a capacity that is not of sessions.
pub(crate) const REQUESTS: &str = "requests/s";
/// From one closed loop to the next, until the server does hardly more.
const TIMES: u32 = 4;
const MOST_CLIENTS: u32 = 1024;
const HARDLY_MORE: f64 = 1.05;
/// When a search ends that knows between which rates the knee lies, however far they are apart, and when any
/// does.
const ENOUGH: Duration = Duration::from_secs(50);
const TOO_LONG: Duration = Duration::from_secs(150);
/// Less is not worth telling.
const BLIND: f64 = 0.005;
/// A look is this long after another: several in each probe.
const LOOK: Span = Span::from_millis(200);
/// Of what closed loops achieved, to see what the server does at lighter loads.
const LIGHT: [f64; 3] = [0.25, 0.5, 0.75];
/// Where the generator could offer none of these as it should.
const LIGHTER: [f64; 2] = [0.1, 0.04];

/// Reads what a search with a directory found, and judges it anew.
///
/// # Errors
/// When there is no such search, or something of it is missing.
pub fn verdict(directory: &Path) -> Result<Found, Error> {
    // Of a test of an experiment, beside the search.
    let test = directory.parent().filter(|test| test.ancestors().nth(2).is_some_and(Experiment::is_in));
    let log = test.map(|test| test.join(server::LOG));
    let mut found = Found::load(directory)?;
    let verdict = verdict::judge(levels(&found, directory, log.as_deref())?);
    let is_none = |verdict: &Verdict| verdict.bottleneck == Some(Resource::None);
    // That nothing was at its end is known only where all was tried that was to be.
    found.verdict = if is_none(&verdict) && !is_none(&found.verdict) { Verdict::default() } else { verdict };
    Ok(found)
}

/// The same for each search of an experiment, by its test's directory; of tests at given loads for each subject and
/// its settings, by their name.
///
/// # Errors
/// When there is no such experiment, or nothing in it that was measured, or something of one is missing.
pub fn verdicts(directory: &Path) -> Result<Vec<(String, Found)>, Error> {
    let experiment = Experiment::load(directory)?;
    let searches = experiment.tests.iter().filter_map(|test| Some((&test.directory, test.knee.as_ref()?)));
    let found: Vec<_> = searches
        .map(|(test, knee)| Ok((test.clone(), verdict(&directory.join(test).join(&knee.directory))?)))
        .collect::<Result<_, Error>>()?;
    let found = if found.is_empty() { verdict::of_loads(&experiment, directory)? } else { found };
    if found.is_empty() {
        let path = directory.to_owned();
        return Err(record::Error::NotARecord { path, missing: "test that was measured" }.into());
    }
    Ok(found)
}

/// Searches for it; what was found until an error ended the search is given as well. `each` is told of every
/// probe.
///
/// # Errors
/// When the generator cannot do what it is asked, or is itself what cannot keep up, or the server answers
/// nobody, or keeps up with everything or nothing.
pub fn find(search: &Search, stop: &Stop, each: impl FnMut(&Tried)) -> (Found, Result<(), Error>) {
    match generators(search.cpus.as_deref()) {
        Ok((pinning, cpus)) => find_on(&Testbed::host(&pinning, &cpus, &cpus), search, None, stop, each),
        Err(error) => (Found::default(), Err(error)),
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

/// With a server that runs on a testbed, whose `log` is known where the lab started it.
pub(crate) fn find_on(
    testbed: &Testbed,
    search: &Search,
    log: Option<&Path>,
    stop: &Stop,
    mut each: impl FnMut(&Tried),
) -> (Found, Result<(), Error>) {
    let mut found = Found::default();
    let result = find_into(&mut found, testbed, (search, log), stop, &mut each);
    (found, result)
}

fn find_into(
    found: &mut Found,
    testbed: &Testbed,
    (search, log): (&Search, Option<&Path>),
    stop: &Stop,
    each: &mut dyn FnMut(&Tried),
) -> Result<(), Error> {
    let place = if search.out.is_none() { Some(testbed::directory()?) } else { None };
    let temporary = place.as_ref().map(|place| place.path().to_owned());
    let root = search.out.clone().or(temporary).unwrap_or_default();
    if std::fs::read_dir(&root).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::NotEmpty { path: root });
    }
    if search.out.is_some() {
        std::fs::create_dir_all(&root).map_err(Error::io("create", &root))?;
        Environment::capture().save(&root.join(Environment::FILE))?;
    }
    let mut prober = Prober {
        search,
        testbed,
        root: root.clone(),
        stop,
        alone: None,
        of_sessions: false,
        tried: Vec::new(),
        each,
        runs: 0,
        lacked_ports: false,
    };
    let mut course = Course::default();
    let place = (&*search.headworks, &*search.url);
    let is_watched = search.watch && !search.is_elsewhere();
    let mut watch = if is_watched { Watch::begin(place, LOOK, testbed, &root, stop) } else { None };
    let result = course.run(&mut prober);
    watch.iter_mut().for_each(Watch::end);
    if search.out.is_some() && prober.tried.is_empty() {
        // Nothing that is worth keeping, and it would be in the way of the next search.
        let _ = test::empty(&root);
    }
    let unit = if prober.of_sessions { "sessions/s" } else { REQUESTS };
    *found = course.found(unit, prober.tried);
    let levels = levels(found, &root, log)?;
    for (tried, level) in found.probes.iter_mut().zip(&levels) {
        tried.used = level.used();
    }
    found.basis.extend(verdict::broken_laws(&found.probes, &levels, search.is_one_each()));
    found.verdict = verdict::judge(levels);
    let result = result.and_then(|()| course.check(found));
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

/// What was seen at each probe; the server's log is read where it is known.
fn levels(found: &Found, root: &Path, log: Option<&Path>) -> Result<Vec<Level>, Error> {
    let samples = Samples::beside(root);
    let refused = log.map(Refused::read).unwrap_or_default();
    let too_much = found.capacity.as_ref().filter(|_| !found.is_of_crowd).map(|capacity| capacity.ci[1]);
    let level = |tried: &Tried| {
        let mut level = Level::read(&root.join(&tried.directory), tried, &samples)?;
        level.refused.clone_from(&refused);
        // A probe below the knee that others outvoted was chance.
        level.is_behind &= too_much.is_none_or(|rate| is_at(tried, rate) || level.rate > rate);
        Ok(level)
    };
    let mut levels: Vec<Level> = found.probes.iter().map(level).collect::<Result<_, Error>>()?;
    // A crowd is all that the server can do. The client before it is what that is compared with, but what is at its end
    // for one may be for all.
    if let (true, Some(last)) = (found.is_of_crowd, levels.last_mut()) {
        (last.is_open, last.is_behind) = (true, true);
    }
    Ok(levels)
}

/// What a search learns.
#[derive(Debug, Default)]
struct Course {
    /// Clients of closed loops, and what they achieved together.
    closed: Vec<(f64, f64)>,
    bracket: Bracket,
    /// What a crowd got, and its confidence interval.
    crowd: Option<(f64, [f64; 2])>,
    /// What of that was not served.
    lost: Option<String>,
    began: Option<Instant>,
    /// After how long it ended before both ends were as near and as certain as they should be.
    early: Option<Duration>,
}

impl Course {
    fn run(&mut self, prober: &mut Prober) -> Result<(), Error> {
        self.began = Some(Instant::now());
        let alone = prober.alone()?;
        match (prober.search.crowd, prober.search.ramp) {
            (Some(crowd), _) => {
                let probe = prober.crowd(crowd)?;
                if probe.achieved() <= 0.0 {
                    let why = probe.complaints();
                    return Err(Error::Capacity(format!("{} clients got nothing{why}", crowd.clients)));
                }
                let directory = prober.root.join(&prober.last().directory);
                self.lost = probe.lost();
                self.crowd = Some(crowd::achieved(&probe, &directory, prober.of_sessions)?);
                Ok(())
            }
            (None, Some(ramp)) => self.climb(ramp, prober),
            (None, None) => {
                self.close_in(alone, prober)?;
                self.narrow(prober)
            }
        }
    }

    /// More clients, until they are of hardly any use.
    fn close_in(&mut self, alone: f64, prober: &mut Prober) -> Result<(), Error> {
        self.closed.push((1.0, alone));
        let (mut clients, mut most) = (1, alone);
        while clients < MOST_CLIENTS && !self.has_taken(TOO_LONG / 3) {
            clients *= TIMES;
            let probe = prober.closed(clients)?;
            let achieved = probe.achieved();
            if !probe.summary.client.valid || achieved <= 0.0 {
                break;
            }
            self.closed.push((f64::from(clients), achieved));
            if achieved < most * HARDLY_MORE {
                break;
            }
            most = achieved;
        }
        prober.rest()
    }

    /// Open loops around what closed ones achieved.
    fn narrow(&mut self, prober: &mut Prober) -> Result<(), Error> {
        let most = self.closed.iter().map(|(_, achieved)| *achieved).fold(0.0, f64::max);
        let first = Rate::per_second(most).ok_or_else(|| Error::Capacity(format!("{most} is no rate")))?;
        let mut is_possible = false;
        for share in LIGHT {
            // Of a server so slow one has to do.
            if !(is_possible && self.has_taken(TOO_LONG / 2)) {
                is_possible |= self.is_possible(first.scaled(share), prober)?;
            }
        }
        for share in LIGHTER {
            is_possible = is_possible || self.is_possible(first.scaled(share), prober)?;
        }
        if !is_possible {
            return Ok(());
        }
        while let Some(rate) = self.bracket.next(first, prober.search.precision.as_f64()) {
            let enough = if self.bracket.knee().is_some() { ENOUGH } else { TOO_LONG };
            if self.has_taken(enough) {
                self.early = self.began.map(|began| began.elapsed());
                break;
            }
            self.hold(rate, prober)?;
        }
        Ok(())
    }

    fn has_taken(&self, time: Duration) -> bool {
        self.began.is_some_and(|began| began.elapsed() > time)
    }

    /// Whether the generator can offer it as it should: of few requests it takes but few to be late.
    fn is_possible(&mut self, rate: Rate, prober: &mut Prober) -> Result<bool, Error> {
        let outcome = prober.light(rate)?;
        let is_valid = !matches!(outcome, Outcome::NotValid(_));
        if is_valid {
            self.bracket.add(rate, outcome == Outcome::KeptUp);
        }
        Ok(is_valid)
    }

    /// All rates of a ramp, whatever comes of each, and again those that others contradict.
    fn climb(&mut self, ramp: Ramp, prober: &mut Prober) -> Result<(), Error> {
        for rate in ramp.levels().into_iter().filter(|level| *level > 0.0).filter_map(Rate::per_second) {
            self.hold(rate, prober)?;
        }
        while let Some(rate) = self.bracket.doubtful() {
            self.hold(rate, prober)?;
        }
        Ok(())
    }

    fn hold(&mut self, rate: Rate, prober: &mut Prober) -> Result<(), Error> {
        let outcome = prober.open(rate)?;
        self.bracket.add(rate, outcome == Outcome::KeptUp);
        Ok(())
    }

    fn found(&self, unit: &str, probes: Vec<Tried>) -> Found {
        let scalability = scalability::fit(&self.closed);
        if let Some((rate, ci)) = self.crowd {
            let capacity = Some(Capacity { rate, ci, unit: unit.to_owned() });
            let basis = probes.last().map(|tried| {
                format!(
                    "{} clients got that, with {:.2} ms in the median, 99 % within {:.2} ms.",
                    tried.clients.unwrap_or_default(),
                    tried.p50 * 1e3,
                    tried.p99 * 1e3
                )
            });
            let basis = basis.into_iter().chain(self.lost.clone()).collect();
            return Found { capacity, basis, is_of_crowd: true, probes, ..Found::default() };
        }
        let Some([low, high]) = self.bracket.knee() else {
            return Found { scalability, probes, ..Found::default() };
        };
        let at = |rate: f64| probes.iter().rev().filter(move |tried| is_at(tried, rate));
        let mut basis = Vec::new();
        if let Some(tried) = at(low).find(|tried| kept_up(tried)) {
            basis.push(format!(
                "At {low:.0}/s it kept up: {:.2} ms in the median, 99 % within {:.2} ms.",
                tried.p50 * 1e3,
                tried.p99 * 1e3
            ));
        }
        if let Some(why) = at(high).find_map(|tried| tried.behind.as_ref()) {
            basis.push(format!("At {high:.0}/s it did not: {why}."));
        }
        let between =
            |tried: &&Tried| tried.offered.is_some_and(|rate| low * 1.001 < rate && rate < high * 0.999);
        match probes.iter().filter(between).count() {
            0 => {}
            count => basis.push(format!("{count} probes between these rates contradict each other.")),
        }
        let blind = at(low).map(|tried| tried.blind).fold(0.0, f64::max);
        if blind > BLIND {
            basis.push(format!(
                "At {low:.0}/s, what waits could have grown by up to {:.1} % of what arrived, and not be told from chance; the interval begins that much lower.",
                blind * 100.0
            ));
        }
        let ci = [low * (1.0 - blind.min(1.0)), high];
        // Nothing is known of the lower end where everything could be chance.
        let least = if ci[0] > 0.0 { ci[0] } else { low };
        let capacity = Some(Capacity { rate: (least * high).sqrt(), ci, unit: unit.to_owned() });
        let ended_early = self.early.map(|after| after.as_secs_f64());
        let mut found = Found { capacity, basis, ended_early, scalability, probes, ..Found::default() };
        found.basis.extend(found.early());
        found
    }

    /// Whether what was found is the server's knee.
    fn check(&self, found: &Found) -> Result<(), Error> {
        if self.crowd.is_some() {
            let why = found.probes.last().and_then(|tried| tried.not_valid.clone());
            return why.map_or(Ok(()), |why| Err(Error::NotTheServers(why)));
        }
        let open = || found.probes.iter().filter(|tried| tried.offered.is_some());
        let Some(Capacity { ci: [low, high], .. }) = found.capacity else {
            return Err(match (no_knee(open()), self.early) {
                // More was to be tried.
                (Error::Capacity(_) | Error::KeptUp(_), Some(after)) => Error::Capacity(format!(
                    "the search ended after {} s, before there was a rate that the server keeps up with and one that it does not; a ramp (--ramp) has the time",
                    after.as_secs()
                )),
                (error, _) => error,
            });
        };
        let at_high = || open().filter(|tried| is_at(tried, high));
        match at_high().find_map(|tried| tried.not_valid.as_ref()) {
            Some(why) if at_high().all(|tried| tried.behind.is_none()) => Err(Error::NotTheServers(format!(
                "the server kept up with {low:.0}/s, and {high:.0}/s could not be offered as they should be: {why}"
            ))),
            _ => Ok(()),
        }
    }
}

fn no_knee<'a>(open: impl Iterator<Item = &'a Tried> + Clone) -> Error {
    let rate = |tried: &&Tried| tried.offered.unwrap_or_default();
    let highest = open.clone().max_by(|one, other| rate(one).total_cmp(&rate(other)));
    let lowest = open.min_by(|one, other| rate(one).total_cmp(&rate(other)));
    match (lowest, highest) {
        (_, Some(highest)) if kept_up(highest) => Error::KeptUp(rate(&highest)),
        (Some(lowest), _) => match (&lowest.behind, &lowest.not_valid) {
            (_, Some(why)) => Error::NotTheServers(why.clone()),
            (Some(why), _) => Error::Capacity(format!(
                "the server kept up with no rate, down to {:.0}/s: {why}",
                rate(&lowest)
            )),
            _ => Error::Capacity("the probes contradict each other".to_owned()),
        },
        _ => Error::Capacity("nothing was tried".to_owned()),
    }
}
