//! [`SearchReport`] from a directory.

use std::path::Path;

use record::experiment::{Experiment, Test, TestState};
use record::prediction::{self, Prediction};
use record::search::{Capacity, Resource, SearchResult, Verdict};
use record::{Environment, Kind};

use super::model::{OneSearch, SearchReport};
use super::{charts, effects};
use crate::conclusion::Conclusion;
use crate::conclusion::KeyFigure;
use crate::error::Error;
use crate::limit;
use crate::method::experiment as method;
use crate::method::fact::Fact;
use crate::method::machine;
use crate::text::{list, number, percent, seconds};

impl SearchReport {
    /// Derives it from the search or the experiment in `directory`.
    ///
    /// # Errors
    /// When the directory holds nothing of the kind, or it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        if Kind::of(directory) == Some(Kind::Search) {
            return one(directory);
        }
        let experiment = Experiment::load(directory)?;
        let mut searches = Vec::new();
        let mut known = Vec::new();
        for test in &experiment.tests {
            let found = match &test.capacity {
                Some(capacity) => {
                    SearchResult::load(&directory.join(&test.directory).join(&capacity.directory))?
                }
                None => SearchResult::default(),
            };
            searches.push(search(&experiment, directory, test, &found)?);
            known.push((test, found));
        }
        let mut warnings: Vec<String> = Vec::new();
        if experiment.interrupted {
            warnings.push(
                "The experiment was stopped before its end; this is what had been found by then.".to_owned(),
            );
        }
        let only = if let [(_, found)] = &*known { Some(found) } else { None };
        warnings.extend(only.into_iter().flat_map(doubts));
        let effects = effects::of(&experiment, &known);
        let counted = known.iter().zip(&searches).filter(|((test, _), _)| test.state == TestState::Measured);
        let counted: Vec<_> = counted.map(|((_, found), search)| (found, search)).collect();
        let mut verdict = if counted.is_empty() && !known.is_empty() {
            let headline = "No search counts; why is said with each".to_owned();
            Conclusion { headline, details: Vec::new(), figures: Vec::new() }
        } else {
            headline(&counted, known.len())
        };
        verdict.details.extend(effects.iter().filter_map(effects::Effect::sentence));
        warnings.extend(effects.iter().filter_map(effects::Effect::doubt));
        let lost = experiment.tests.iter().filter(|test| test.state != TestState::Measured).count();
        if lost > 0 {
            warnings.push(match experiment.tests.len() {
                1 => "The search does not count; why is said with it.".to_owned(),
                all => format!("{lost} of {all} searches do not count; why is said with each."),
            });
        }
        Ok(Self {
            title: experiment.title.clone(),
            version: experiment.version.clone(),
            verdict,
            warnings,
            effects,
            compared: charts::compared(directory, &experiment, &known)?,
            searches,
            method: method::facts(directory, &experiment),
            sources: method::sources(directory, &experiment),
        })
    }
}

/// A search by itself, outside of an experiment.
fn one(directory: &Path) -> Result<SearchReport, Error> {
    let found = SearchResult::load(directory)?;
    let searches = vec![OneSearch {
        id: "search".to_owned(),
        name: "The search".to_owned(),
        directory: ".".to_owned(),
        result: result(&found),
        why: Vec::new(),
        evidence: found.verdict.evidence.clone(),
        order: order(&found),
        next: found.verdict.next.clone(),
        basis: found.basis.clone(),
        predicted: Vec::new(),
        figures: charts::of(directory, "search", &found)?,
    }];
    Ok(SearchReport {
        title: "Capacity".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        verdict: headline(&[(&found, &searches[0])], 1),
        warnings: doubts(&found),
        effects: Vec::new(),
        compared: Vec::new(),
        searches,
        method: machine_of(directory)?,
        sources: Vec::new(),
    })
}

/// What the search was made on; a record from before that was kept has nothing.
fn machine_of(directory: &Path) -> Result<Vec<Fact>, Error> {
    let file = directory.join(Environment::FILE);
    if !file.exists() {
        return Ok(Vec::new());
    }
    let mut facts = machine::machine(&Environment::load(&file)?);
    facts.retain(|fact| !fact.value.is_empty());
    Ok(facts)
}

fn search(
    experiment: &Experiment,
    directory: &Path,
    test: &Test,
    found: &SearchResult,
) -> Result<OneSearch, Error> {
    let id = test.directory.trim_start_matches("tests/").to_owned();
    let place =
        test.capacity.as_ref().map(|capacity| directory.join(&test.directory).join(&capacity.directory));
    let result = match test.state {
        TestState::Measured => result(found),
        TestState::Broken => "broken".to_owned(),
        TestState::NotValid => format!("{}; not valid", result(found)),
    };
    let mut figures = place.map(|place| charts::of(&place, &id, found)).transpose()?.unwrap_or_default();
    let prediction = match Prediction::load(&directory.join(&test.directory).join(prediction::DIRECTORY)) {
        Ok(prediction) => Some(prediction),
        Err(record::Error::NotARecord { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    figures.extend(prediction.iter().flat_map(|prediction| charts::predicted(&id, prediction)));
    Ok(OneSearch {
        name: name(experiment, test),
        directory: test.directory.clone(),
        result,
        why: test.why.clone(),
        evidence: found.verdict.evidence.clone(),
        order: order(found),
        next: found.verdict.next.clone(),
        basis: found.basis.clone(),
        predicted: prediction.as_ref().map(nearness).unwrap_or_default(),
        figures,
        id,
    })
}

/// What a prediction is worth.
fn nearness(prediction: &Prediction) -> Vec<String> {
    let Prediction { capacity, fitted_at, demand, besides, is_of_full_server, server, points } = prediction;
    let mut sentences = Vec::new();
    if let Some(error) = prediction.error_below_capacity() {
        sentences.push(format!(
            "Below the capacity the mean latencies that the simulator predicts are within {:.1} % of those that were measured.",
            error * 100.0
        ));
    }
    let known_by = if *is_of_full_server { "as the full server shows" } else { "as its latency shows" };
    sentences.push(format!(
        "A request needs {} of a processor, {known_by}, and {} besides, whatever the load.",
        seconds(*demand),
        seconds(*besides)
    ));
    sentences.push(format!(
        "Fitted to a run at {}/s, {} of the capacity; the server is what headworks sim {} has.",
        number(fitted_at * capacity),
        percent(*fitted_at),
        server.join(" ")
    ));
    let not_compared = points.iter().filter(|point| !point.why.is_empty());
    sentences
        .extend(not_compared.map(|point| format!("At {}/s: {}.", number(point.rate), point.why.join("; "))));
    sentences
}

/// Subject, levels and, of several, the repeat.
fn name(experiment: &Experiment, test: &Test) -> String {
    let levels: Vec<String> = test.settings.iter().map(|(label, level)| format!("{label} {level}")).collect();
    let repeats = experiment.tests.iter().map(|test| test.repeat).max().unwrap_or(1);
    let repeat = if repeats > 1 { format!(" ({} of {repeats})", test.repeat) } else { String::new() };
    if levels.is_empty() {
        format!("{}{repeat}", test.subject)
    } else {
        format!("{} at {}{repeat}", test.subject, levels.join(", "))
    }
}

fn result(found: &SearchResult) -> String {
    let capacity = found.capacity.as_ref().map_or_else(
        || "no capacity".to_owned(),
        |capacity| {
            let [low, high] = capacity.ci.map(number);
            format!("{} {} ({low} to {high})", number(capacity.rate), capacity.unit)
        },
    );
    format!("{capacity}, {}", bottleneck(found))
}

fn order(found: &SearchResult) -> Vec<String> {
    let Verdict { bottleneck: Some(bottleneck), confidence, onset, .. } = &found.verdict else {
        return Vec::new();
    };
    let above = found.probes.iter().filter(|probe| probe.behind.is_some()).count();
    let by = match above {
        _ if found.is_of_crowd => "what the crowd got".to_owned(),
        0 => "probes that the generator could not offer".to_owned(),
        1 => "one probe that was more than the server keeps up with".to_owned(),
        _ => format!("{above} probes that were more than the server keeps up with"),
    };
    let mut sentences =
        vec![format!("Confidence that it is {}: {}, from {by}.", bottleneck.name(), percent(*confidence))];
    let onset: Vec<String> =
        onset.iter().map(|it| format!("{} at {}/s", it.resource.name(), number(it.rate))).collect();
    if !onset.is_empty() {
        sentences.push(format!("What came to its end, and from which load on: {}.", list(&onset)));
    }
    sentences
}

fn bottleneck(found: &SearchResult) -> &'static str {
    found.verdict.bottleneck.map_or("bottleneck unknown", Resource::name)
}

/// What one search found, why, and what to do.
fn of_one(found: &SearchResult, search: &OneSearch) -> Conclusion {
    let Verdict { evidence, next, .. } = &found.verdict;
    let limit = limit::words(&found.verdict);
    let labelled = |label: &str, sentences: &[String]| -> Vec<String> {
        let first = sentences.first().map(|first| format!("{label}: {first}"));
        first.into_iter().chain(sentences.iter().skip(1).cloned()).collect()
    };
    let predicted = search.predicted.iter().take(1).cloned();
    Conclusion {
        headline: format!("{}; {limit}", rate(found)),
        details: [
            labelled("Why", evidence),
            labelled("What to do", next),
            labelled("It could also be", &others(&found.verdict)),
        ]
        .into_iter()
        .flatten()
        .chain(predicted)
        .collect(),
        figures: Vec::new(),
    }
}

/// What else it may be, how likely that is, and what speaks against it; where it has been relieved, what came of it is
/// among the evidence.
fn others(verdict: &Verdict) -> Vec<String> {
    const WORTH_TELLING: f64 = 0.02;
    let others = verdict.candidates.iter().filter(|other| Some(other.name) != verdict.bottleneck);
    let others = others.filter(|other| other.probability >= WORTH_TELLING).map(|other| {
        let against = other.contradicts.first().or_else(|| other.supports.first());
        let against = against.map_or_else(String::new, |why| format!(": {why}"));
        format!("{} ({:.0} %){against}", other.name.name(), other.probability * 100.0)
    });
    others.collect()
}

/// The capacity; where a search left its ends far apart, these.
fn rate(found: &SearchResult) -> String {
    const FAR: f64 = 1.15;
    let Some(Capacity { rate, ci: [low, high], unit }) = &found.capacity else {
        return "No capacity".to_owned();
    };
    if *high > low * FAR && !found.is_of_crowd {
        format!("Between {} and {} {unit}", number(*low), number(*high))
    } else {
        format!("{} {unit}", number(*rate))
    }
}

/// How sentences begin that say which law figures contradict.
const SUSPECT: &str = "Suspect: ";

/// What to beware of in what a search found.
fn doubts(found: &SearchResult) -> Vec<String> {
    let lost = found.probes.iter().filter(|probe| probe.not_valid.is_some()).count();
    let lost = (lost > 0).then(|| {
        format!(
            "{lost} of {} probes do not count: the load generator could not offer them as it should.",
            found.probes.len()
        )
    });
    let suspect = found.basis.iter().filter(|sentence| sentence.starts_with(SUSPECT)).cloned();
    lost.into_iter().chain(found.early()).chain(suspect).collect()
}

/// Of one search what it found; of several what the best and the worst did. They are those that count of `all`.
fn headline(searches: &[(&SearchResult, &OneSearch)], all: usize) -> Conclusion {
    let rated = searches.iter().filter_map(|&(found, search)| {
        let capacity = found.capacity.as_ref()?;
        Some((capacity.rate, found, search))
    });
    let mut known: Vec<_> = rated.collect();
    known.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (Some(&(least, lowest, first)), Some(&(most, highest, last))) = (known.first(), known.last()) else {
        let verdicts = searches.iter().map(|(found, _)| &found.verdict);
        let details = verdicts.flat_map(|it| it.evidence.iter().chain(&it.next)).cloned().collect();
        let name = searches.first().map_or("bottleneck unknown", |(found, _)| bottleneck(found));
        let headline = if name == "none" {
            "No resource came to its end".to_owned()
        } else {
            format!("No capacity was found: {name}")
        };
        return Conclusion { headline, details, figures: Vec::new() };
    };
    let unit = highest.capacity.as_ref().map_or("requests/s", |capacity| &*capacity.unit);
    let figure = |rate: f64, found: &SearchResult, search: &OneSearch| KeyFigure {
        value: format!("{} {unit}", number(rate)),
        label: search.name.clone(),
        note: bottleneck(found).to_owned(),
    };
    if known.len() == 1 {
        // Of several, which one it is has to be said.
        let figures = if all > 1 { vec![figure(least, lowest, first)] } else { Vec::new() };
        return Conclusion { figures, ..of_one(lowest, first) };
    }
    Conclusion {
        headline: format!("From {} to {} {unit}", number(least), number(most)),
        details: vec![
            format!("Least with {}: {}.", first.name, bottleneck(lowest)),
            format!("Most with {}: {}.", last.name, bottleneck(highest)),
        ],
        figures: vec![figure(least, lowest, first), figure(most, highest, last)],
    }
}
