//! Charts of searches: against the load that was offered, and capacities against what was varied.

use std::collections::BTreeMap;
use std::path::Path;

use catalogue::Metric;
use catalogue::watch::{limits, processes};
use record::experiment::{Experiment, OtherFactor, Test, TestState};
use record::prediction::{PointOutcome, PredictedPoint, Prediction};
use record::search::{Onset, ProbeResult, SearchResult, Used};
use record::{LatencySummary, MetricName, Quantiles, RunDirectory, Samples, Summary};
use stats::Estimate;

use super::effects;
use crate::error::Error;
use crate::plot::{Axis, Curve, Figure, Mark, PlotPoint, Scale};
use crate::unit::Unit;

fn axis(label: &str, unit: Unit, scale: Scale) -> Axis {
    Axis { label: label.to_owned(), unit, logarithmic: scale == Scale::Logarithmic }
}

fn figure(
    id: String,
    title: &str,
    caption: &str,
    (x, y): (Axis, Axis),
    curves: Vec<Curve>,
) -> Option<Figure> {
    let curves: Vec<Curve> = curves.into_iter().filter(|curve| !curve.points.is_empty()).collect();
    let (title, caption) = (title.to_owned(), caption.to_owned());
    (!curves.is_empty()).then_some(Figure {
        id,
        title,
        place: String::new(),
        caption,
        x,
        y,
        curves,
        marks: Vec::new(),
        overload: None,
    })
}

/// A curve over the probes that offered something, in rising order: the mean of those at the same load that count.
fn over(name: &str, probes: &[&ProbeResult], value: impl Fn(&ProbeResult) -> Option<f64>) -> Curve {
    let is_same = |one: &&ProbeResult, other: &&ProbeResult| one.offered == other.offered;
    let place = |repeats: &[&ProbeResult]| {
        let valid: Vec<&ProbeResult> =
            repeats.iter().copied().filter(|probe| probe.not_valid.is_none()).collect();
        let shown = if valid.is_empty() { repeats } else { &valid };
        let values = shown.iter().filter_map(|probe| value(probe).filter(|value| value.is_finite()));
        let value = stats::MeanEstimate::of(values).mean;
        let remark = shown.iter().find_map(|probe| probe.behind.as_ref().or(probe.not_valid.as_ref()));
        let note = remark.map_or_else(|| "kept up".to_owned(), Clone::clone);
        (!value.is_nan()).then_some(PlotPoint {
            x: repeats.first()?.offered?,
            y: Estimate { value, ci: None },
            note: if valid.is_empty() { format!("does not count: {note}") } else { note },
        })
    };
    Curve { name: name.to_owned(), points: probes.chunk_by(is_same).filter_map(place).collect() }
}

/// What happened at each load.
pub(super) fn of(directory: &Path, id: &str, found: &SearchResult) -> Result<Vec<Figure>, Error> {
    let mut probes: Vec<&ProbeResult> = found.probes.iter().filter(|probe| probe.offered.is_some()).collect();
    probes
        .sort_by(|one, other| one.offered.unwrap_or_default().total_cmp(&other.offered.unwrap_or_default()));
    let seen = ProbeRecords::read(directory, &probes)?;
    let figures = of_clients(id, &probes, &seen).into_iter().chain(of_server(id, &probes, &seen, found));
    let mut figures: Vec<Figure> = figures.flatten().collect();
    let overload = found.capacity.as_ref().filter(|_| !found.is_of_crowd).map(|capacity| capacity.rate);
    for figure in &mut figures {
        (figure.marks, figure.overload) = (marks(&found.verdict.onset), overload);
    }
    Ok(figures)
}

/// From which loads on resources are at their ends; those that come there at the same load in one.
fn marks(onset: &[Onset]) -> Vec<Mark> {
    let is_same = |one: &Onset, other: &Onset| one.rate == other.rate;
    let together = |onset: &[Onset]| Mark {
        x: onset[0].rate,
        name: onset.iter().map(|onset| onset.resource.name()).collect::<Vec<_>>().join(", "),
    };
    onset.chunk_by(is_same).map(together).collect()
}

/// What the records of probes say besides, by their directories.
struct ProbeRecords<'a> {
    /// Means of connecting, processing and transfer, s.
    phases: BTreeMap<&'a str, [f64; 3]>,
    /// By metric and label.
    samples: BTreeMap<&'a str, BTreeMap<(MetricName, String), Vec<f64>>>,
}

impl<'a> ProbeRecords<'a> {
    fn read(directory: &Path, probes: &[&'a ProbeResult]) -> Result<Self, Error> {
        let watched = Samples::beside(directory);
        let (mut phases, mut samples) = (BTreeMap::new(), BTreeMap::new());
        for probe in probes {
            let run = RunDirectory::open(directory.join(&probe.directory))?;
            let latency = run.summary()?.latency;
            let means = [latency.connect.mean, latency.processing.mean, latency.transfer.mean];
            phases.insert(&*probe.directory, means);
            samples.insert(&*probe.directory, watched.during(&run.info()?));
        }
        Ok(Self { phases, samples })
    }
}

fn offered() -> Axis {
    axis("Offered load", Unit::Rate, Scale::Linear)
}

/// What those who ask see.
fn of_clients(id: &str, probes: &[&ProbeResult], seen: &ProbeRecords) -> [Option<Figure>; 3] {
    let achieved = vec![
        over("achieved", probes, |probe| Some(probe.achieved)),
        over("offered", probes, |probe| probe.offered),
    ];
    let latency =
        vec![over("median", probes, |probe| Some(probe.p50)), over("99 %", probes, |probe| Some(probe.p99))];
    let phase =
        |at: usize| move |probe: &ProbeResult| seen.phases.get(&*probe.directory).map(|phases| phases[at]);
    let phases = ["connecting", "processing", "transfer"].into_iter().enumerate();
    let phases = phases.map(|(at, name)| over(name, probes, phase(at))).collect();
    [
        figure(
            format!("{id}-achieved"),
            "What was achieved?",
            "Good responses, or completed sessions, beside what was offered; where the two part the server is at its end. Points here and below are means of the probes at a load that count, where the text tells of one of them.",
            (offered(), axis("Per second", Unit::Rate, Scale::Linear)),
            achieved,
        ),
        figure(
            format!("{id}-latency"),
            "How long did requests take?",
            "From when the schedule wanted a request to its last byte.",
            (offered(), axis("Latency", Unit::Seconds, Scale::Logarithmic)),
            latency,
        ),
        figure(
            format!("{id}-phases"),
            "Where did the time go?",
            "Means. Connecting grows when a queue of connections is full; processing, up to the first byte, when processors, workers, locks, the disk or what is behind hold requests up; transfer, when the network or the disk does. What took no time at all is below a logarithmic axis.",
            (offered(), axis("Mean time", Unit::Seconds, Scale::Logarithmic)),
            phases,
        ),
    ]
}

/// What the server was seen to use.
fn of_server(
    id: &str,
    probes: &[&ProbeResult],
    seen: &ProbeRecords,
    found: &SearchResult,
) -> [Option<Figure>; 4] {
    let mut names: Vec<&String> = probes.iter().flat_map(|probe| probe.used.keys()).collect();
    names.sort();
    names.dedup();
    let used = names.iter().map(|name| {
        let mut curve = over(name, probes, |probe| probe.used.get(*name).copied());
        mark(&mut curve, &found.verdict.onset);
        curve
    });
    [
        figure(
            format!("{id}-used"),
            "How near was everything to its end?",
            "At 100 % there is no more of it; bursts can be above.",
            (offered(), axis("In use", Unit::Percent, Scale::Linear)),
            used.collect(),
        ),
        figure(
            format!("{id}-refused"),
            "How many found a queue full?",
            "Connections that were ready for a listen queue without room, and SYNs for which there was none; clients wait a second before they try again.",
            (offered(), axis("Per second", Unit::Rate, Scale::Linear)),
            counts(probes, seen, &REFUSED).into_iter().filter(is_ever).collect(),
        ),
        figure(
            format!("{id}-processes"),
            "How many processes did the server have?",
            "Of each program, with their threads; and how many of these ran or were ready to.",
            (offered(), axis("Number", Unit::Plain, Scale::Linear)),
            counts(probes, seen, &PROCESSES),
        ),
        figure(
            format!("{id}-connections"),
            "In what state were connections?",
            "To be accepted: the server has no worker for them yet. Unread: it has, and has not read what they sent. TIME-WAIT: they are closed, and hold their port for a minute.",
            (offered(), axis("Number", Unit::Plain, Scale::Logarithmic)),
            counts(probes, seen, &CONNECTIONS),
        ),
    ]
}

/// Metrics of the monitor, and what they are called.
const PROCESSES: [(Metric, &str); 3] =
    [(processes::PROCESSES, "processes"), (processes::THREADS, "threads"), (processes::RUNNING, "running")];
const REFUSED: [(Metric, &str); 2] =
    [(limits::LISTEN_OVERFLOWS, "listen queue full"), (limits::SYN_QUEUE_FULL, "SYN queue full")];
const CONNECTIONS: [(Metric, &str); 3] = [
    (limits::SOCKETS_UNACCEPTED, "to be accepted"),
    (limits::SOCKETS_UNREAD, "unread"),
    (limits::SOCKETS_TIME_WAIT, "TIME-WAIT"),
];

/// Whether there is anything of it.
fn is_ever(curve: &Curve) -> bool {
    curve.points.iter().any(|place| place.y.value > 0.0)
}

/// What the monitor counted, in the mean, by metric and program.
fn counts(probes: &[&ProbeResult], seen: &ProbeRecords, metrics: &[(Metric, &str)]) -> Vec<Curve> {
    let mut programs: Vec<&str> = seen
        .samples
        .values()
        .flat_map(BTreeMap::keys)
        .filter(|(metric, _)| metrics.iter().any(|(name, _)| metric == name))
        .map(|(_, program)| &**program)
        .collect();
    programs.sort_unstable();
    programs.dedup();
    let curve = |program: &str, (metric, name): &(Metric, &str)| {
        let key = ((*metric).into(), program.to_owned());
        let mean = |probe: &ProbeResult| {
            let values = seen.samples.get(&*probe.directory)?.get(&key)?;
            stats::mean(values.iter().copied())
        };
        let name = if program.is_empty() { (*name).to_owned() } else { format!("{program}, {name}") };
        over(&name, probes, mean)
    };
    programs.iter().flat_map(|program| metrics.iter().map(|metric| curve(program, metric))).collect()
}

/// Says from which load on it was at its end, of what was nearly all in use there.
fn mark(curve: &mut Curve, onset: &[Onset]) {
    const NEARLY_ALL: f64 = 0.8;
    let resource = Used::named(&curve.name).map(Used::resource);
    let Some(onset) = onset.iter().find(|onset| Some(onset.resource) == resource) else { return };
    // A rate that was offered, to the digits that it was offered with.
    let is_at_its_end = |place: &&mut PlotPoint| place.x >= onset.rate * 0.999 && place.y.value >= NEARLY_ALL;
    for place in curve.points.iter_mut().filter(is_at_its_end) {
        place.note = format!("at its end; {}", place.note);
    }
}

/// What was predicted beside what was measured.
pub(super) fn predicted(id: &str, prediction: &Prediction) -> Vec<Figure> {
    let latency = |outcome: PointOutcome| Estimate { value: outcome.mean, ci: outcome.ci };
    let lost = |outcome: PointOutcome| Estimate { value: outcome.lost, ci: None };
    let curve = |name: &str,
                 of: &dyn Fn(&PredictedPoint) -> Option<PointOutcome>,
                 y: fn(PointOutcome) -> Estimate| {
        let place = |point: &PredictedPoint| {
            let y = y(of(point)?);
            let error = point.error().map(|error| format!("predicted {:+.1} %", error * 100.0));
            let note = error.unwrap_or_else(|| point.why.join("; "));
            Some(PlotPoint { x: point.rate, y, note: format!("{} times the capacity, {note}", point.load) })
        };
        let mut points: Vec<PlotPoint> = prediction.points.iter().filter_map(place).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Curve { name: name.to_owned(), points }
    };
    let both = |y: fn(PointOutcome) -> Estimate| {
        vec![
            curve("measured", &|point| Some(point.measured), y),
            curve("predicted", &|point| point.predicted, y),
        ]
    };
    let offered = || axis("Requests that arrived", Unit::Rate, Scale::Linear);
    let figures = [
        figure(
            format!("{id}-predicted"),
            "Does the simulator say the same?",
            "Mean latency of what was answered, measured, and predicted for the same arrivals from what requests needed in another run.",
            (offered(), axis("Mean latency", Unit::Seconds, Scale::Logarithmic)),
            both(latency),
        ),
        figure(
            format!("{id}-predicted-lost"),
            "And of what is lost?",
            "Requests without a response; predicted in the long run, when the queue is as full as it gets.",
            (offered(), axis("Lost", Unit::Percent, Scale::Linear)),
            both(lost),
        ),
    ];
    figures.into_iter().flatten().collect()
}

/// A value, and its interval where it has one.
type Value = (f64, Option<[f64; 2]>);

/// What is shown against a number that was varied.
struct Compared<'a> {
    id: &'a str,
    title: &'a str,
    caption: &'a str,
    y: Axis,
    /// Of a search.
    of: &'a dyn Fn(&Point) -> Option<Value>,
}

/// A search, and the run that is the most of it where it is a crowd's.
struct Point<'a> {
    found: &'a SearchResult,
    crowd: Option<Summary>,
}

/// Capacities against what was varied, where that is a number, and of crowds the phases of requests; a curve for each
/// combination of the rest.
pub(super) fn compared(
    directory: &Path,
    experiment: &Experiment,
    known: &[(&Test, SearchResult)],
) -> Result<Vec<Figure>, Error> {
    let Some(factor) = experiment.others.first() else { return Ok(Vec::new()) };
    let points = points(directory, factor, known)?;
    let phase = |of: fn(&LatencySummary) -> &Quantiles| {
        move |point: &Point| {
            let times = of(&point.crowd.as_ref()?.latency);
            (times.count > 0).then_some((times.mean, None))
        }
    };
    let capacity = |point: &Point| {
        let capacity = point.found.capacity.as_ref()?;
        Some((capacity.rate, Some(capacity.ci)))
    };
    let again = |point: &Point| Some((point.crowd.as_ref()?.syns_again()?, None));
    let seconds = |label: &str| axis(label, Unit::Seconds, Scale::Logarithmic);
    let all = [
        Compared {
            id: "capacity",
            title: "What does the server keep up with?",
            caption: "Bands are 95 % confidence intervals of repeats, or of a single search from the highest rate that was kept up with to the lowest that was not, of a crowd over parts of the time.",
            y: axis("Capacity", Unit::Rate, Scale::Linear),
            of: &capacity,
        },
        Compared {
            id: "connecting",
            title: "How long did connecting take?",
            caption: "The mean from the first SYN to the connection.",
            y: seconds("Mean time"),
            of: &phase(|latency| &latency.connect),
        },
        Compared {
            id: "sent-again",
            title: "How many SYNs were sent again?",
            caption: "For each connection that was begun; the kernel waits a second before it sends the first again.",
            y: axis("Sent again", Unit::Percent, Scale::Linear),
            of: &again,
        },
        Compared {
            id: "processing",
            title: "How long did processing take?",
            caption: "The mean from the request to the first byte; it has the wait to be accepted in it.",
            y: seconds("Mean time"),
            of: &phase(|latency| &latency.processing),
        },
        Compared {
            id: "transfer",
            title: "How long did transmission take?",
            caption: "The mean from the first byte to the last.",
            y: seconds("Mean time"),
            of: &phase(|latency| &latency.transfer),
        },
    ];
    let x = axis(&factor.label, Unit::Plain, Scale::Linear);
    let mut figures: Vec<Figure> = all.into_iter().filter_map(|what| against(&x, &points, what)).collect();
    if let Some(capacities) = figures.iter_mut().find(|figure| figure.id == "capacity") {
        beside_published(factor, capacities);
    }
    Ok(figures)
}

/// Where each search that counts stands: the name of its curve, the level, and what is known.
fn points<'a>(
    directory: &Path,
    factor: &OtherFactor,
    known: &'a [(&Test, SearchResult)],
) -> Result<Vec<(String, f64, Point<'a>)>, Error> {
    let mut points = Vec::new();
    for (test, found) in known.iter().filter(|(test, _)| test.state == TestState::Measured) {
        let Some(level) = test.settings.get(&factor.label).and_then(|level| level.parse::<f64>().ok()) else {
            continue;
        };
        let others = test.settings.iter().filter(|(label, _)| **label != factor.label);
        let others: Vec<String> = others.map(|(label, level)| format!("{label} {level}")).collect();
        let name = [std::slice::from_ref(&test.subject), &others[..]].concat().join(", ");
        points.push((name, level, Point { found, crowd: crowd(directory, test, found)? }));
    }
    Ok(points)
}

/// Adds what was published of the levels, as if the first had been what it is here, where there is one curve to
/// which that can be said.
fn beside_published(factor: &OtherFactor, figure: &mut Figure) {
    let (Some(published), [curve]) = (&factor.published, &*figure.curves) else { return };
    let first = factor.levels.first().and_then(|level| level.parse::<f64>().ok());
    let Some(here) = curve.points.iter().find(|place| Some(place.x) == first) else { return };
    let value = here.y.value;
    let place = |level: &String| {
        let value = value * effects::published(factor, level)?.times;
        Some(PlotPoint { x: level.parse().ok()?, y: Estimate { value, ci: None }, note: String::new() })
    };
    let mut points: Vec<PlotPoint> = factor.levels.iter().filter_map(place).collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    figure.curves.push(Curve { name: "published".to_owned(), points });
    figure.caption += &format!(" Published, as if its first level were ours: {}.", published.source);
}

/// The run of a crowd.
fn crowd(directory: &Path, test: &Test, found: &SearchResult) -> Result<Option<Summary>, Error> {
    let (true, Some(capacity), Some(probe)) = (found.is_of_crowd, &test.capacity, found.probes.last()) else {
        return Ok(None);
    };
    let place = directory.join(&test.directory).join(&capacity.directory).join(&probe.directory);
    Ok(Some(RunDirectory::open(place)?.summary()?))
}

fn against(x: &Axis, points: &[(String, f64, Point)], what: Compared) -> Option<Figure> {
    let mut curves: BTreeMap<&str, BTreeMap<u64, Vec<PlotPoint>>> = BTreeMap::new();
    for (name, level, point) in points {
        let Some((value, ci)) = (what.of)(point) else { continue };
        let limit = point.found.verdict.bottleneck.map_or("unknown", record::search::Resource::name);
        let place = PlotPoint { x: *level, y: Estimate { value, ci }, note: limit.to_owned() };
        curves.entry(name).or_default().entry(level.to_bits()).or_default().push(place);
    }
    let curves = curves.into_iter().map(|(name, levels)| {
        let mut points: Vec<PlotPoint> = levels.into_values().filter_map(together).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Curve { name: name.to_owned(), points }
    });
    figure(what.id.to_owned(), what.title, what.caption, (x.clone(), what.y), curves.collect())
}

/// Repeats at a level as one point.
fn together(repeats: Vec<PlotPoint>) -> Option<PlotPoint> {
    let mut place = repeats.first()?.clone();
    if repeats.len() > 1 {
        let estimate = stats::MeanEstimate::of(repeats.iter().map(|place| place.y.value));
        place.y = Estimate { value: estimate.mean, ci: Some(estimate.ci) };
    }
    Some(place)
}
