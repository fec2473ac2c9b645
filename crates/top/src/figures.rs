//! Figures of the last seconds, as text.

use tui::figures::{number, time};

use crate::api::history::{ClassSample, Sample};
use crate::api::state::{Server, State};

/// Figures of a single second jump; these are the last few.
const LATELY: f64 = 5.0;

/// A class of late.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lately {
    pub(crate) name: String,
    /// 1/s, as are the next three.
    pub(crate) offered: f64,
    pub(crate) served: f64,
    pub(crate) refused: f64,
    /// Of clients that gave up.
    pub(crate) aborted: f64,
    pub(crate) queued: f64,
    /// In the gate, s; none where nothing ended.
    pub(crate) wait: Option<f64>,
    /// Of responses of the last ten seconds, s; of an older gate the worst of these seconds.
    pub(crate) p95: Option<f64>,
}

/// Titles of [`Lately::row`].
pub(crate) const TITLES: [&str; 6] = ["offered", "served", "refused", "queued", "waits for", "95 % within"];
/// And where there is less room.
pub(crate) const SHORT_TITLES: [&str; 6] = ["offered", "served", "refused", "queued", "wait", "p95"];

/// The samples of the last seconds.
pub(crate) fn recent<'a>(samples: impl DoubleEndedIterator<Item = &'a Sample>) -> Vec<&'a Sample> {
    let mut newest_first = samples.rev().peekable();
    let end = newest_first.peek().map_or(0.0, |sample| sample.at);
    newest_first.take_while(|sample| sample.at > end - LATELY).collect()
}

/// What is refused per second, before its class is known or after.
pub(crate) fn refused(recent: &[&Sample]) -> f64 {
    let whole: f64 = recent.iter().map(|sample| sample.span).sum();
    let all = |sample: &&Sample| sample.span * (sample.sum(|class| class.refused) + sample.unclassified);
    if whole > 0.0 { recent.iter().map(all).sum::<f64>() / whole } else { 0.0 }
}

/// Each class of late, most important first. The classes are the state's; samples have them in the order of `names`.
pub(crate) fn lately(state: &State, names: &[String], recent: &[&Sample]) -> Vec<Lately> {
    let one = |class: &crate::api::state::Class| {
        let index = names.iter().position(|name| *name == class.name);
        let of: Vec<(f64, &ClassSample)> = recent
            .iter()
            .filter_map(|sample| Some((sample.span.max(f64::EPSILON), sample.classes.get(index?)?)))
            .collect();
        let whole: f64 = of.iter().map(|(span, _)| span).sum();
        let rate = |read: fn(&ClassSample) -> f64| {
            if whole > 0.0 {
                of.iter().map(|(span, class)| span * read(class)).sum::<f64>() / whole
            } else {
                0.0
            }
        };
        let waits: Vec<f64> =
            of.iter().filter_map(|(_, class)| Some(class.waits.as_ref()?.in_gate())).collect();
        Lately {
            name: class.name.clone(),
            offered: rate(|class| class.offered),
            served: rate(|class| class.served),
            refused: rate(|class| class.refused),
            aborted: rate(|class| class.aborted),
            queued: of.first().map_or(class.queued, |(_, newest)| newest.queued),
            wait: (!waits.is_empty()).then(|| waits.iter().sum::<f64>() / waits.len() as f64),
            p95: class.p95.unwrap_or_else(|| of.iter().filter_map(|(_, second)| second.p95).reduce(f64::max)),
        }
    };
    state.classes.iter().map(one).collect()
}

impl Lately {
    /// In the order of [`TITLES`].
    pub(crate) fn row(&self) -> [String; 6] {
        let seconds = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| time(value.max(0.0)));
        [
            number(self.offered),
            number(self.served),
            number(self.refused),
            number(self.queued),
            seconds(self.wait),
            seconds(self.p95),
        ]
    }

    /// Of what was offered.
    pub(crate) fn refused_share(&self) -> f64 {
        let all = self.offered.max(self.served + self.refused + self.aborted);
        if all > 0.0 { self.refused / all } else { 0.0 }
    }
}

/// The gate as a whole, figure by figure.
pub(crate) fn whole(state: &State, newest: Option<&Sample>) -> Vec<String> {
    let capacity = newest.and_then(|sample| sample.capacity).or(state.capacity);
    let (window, in_service, waiting, pressure) = match newest {
        Some(sample) => (sample.window, sample.in_service, sample.waiting, sample.pressure),
        None => (state.window, state.in_service, state.waiting(), state.pressure),
    };
    let mut figures = vec![
        format!("window {}", number(window)),
        format!("in service {}", number(in_service)),
        format!("waiting {}", number(waiting)),
        capacity.map_or_else(
            || "capacity not known yet".to_owned(),
            |rate| format!("capacity {}/s", number(rate)),
        ),
    ];
    if let Some(sample) = newest {
        figures.push(format!("goodput {}/s", number(sample.sum(|class| class.served))));
    }
    figures.push(format!("pressure {} %", number((pressure * 100.0).round())));
    figures
}

/// A server in a line.
pub(crate) fn server(server: &Server) -> String {
    let Server { address, name, standing, outstanding, requests, failures } = server;
    let name =
        if name.is_empty() || name == address { address.clone() } else { format!("{name} ({address})") };
    format!(
        "{standing:<8} {name}  {} outstanding, {} of {} requests failed",
        number(*outstanding),
        number(*failures),
        number(*requests)
    )
}

/// What the gate is called: its host, its version and how long it has run.
pub(crate) fn gate(state: &State) -> String {
    let version = state.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
    let host = state.host.as_deref().map_or_else(String::new, |host| format!(" on {host}"));
    match (state.clock, state.started) {
        (Some(now), Some(started)) => {
            format!("gate{version}{host}, up {}", tui::figures::clock(now - started))
        }
        _ => format!("gate{version}{host}"),
    }
}
