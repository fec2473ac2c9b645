//! [`Arrangement`]: where on one axis of time each record lies.

use record::{RunInfo, Step, Window};
use units::{Span, Time};

use crate::merge::error::MergeError;
use crate::merge::source::Source;

/// Records side by side have at least this part of the shortest window in common, as one of so many...
const SIDE_BY_SIDE: u64 = 2;

/// ...and those one after the other at most this part of the shorter: a start or an end, and clocks that differ a little.
const AFTER: u64 = 100;

/// Where each record lies.
pub(super) struct Arrangement {
    /// Whether they ran at the same time.
    pub(super) side_by_side: bool,
    /// Where the window of each begins, in nanoseconds.
    begins: Vec<u64>,
    pub(super) window: Window,
    /// The levels that all of them held, with their sum; none where they do not go together.
    pub(super) steps: Vec<Step>,
    /// How far apart the windows of those side by side opened, by their hosts' clocks.
    apart: Span,
}

impl Arrangement {
    /// Records whose windows overlap for the most part, by their hosts' clocks, ran side by side: their windows are laid
    /// upon one another, because the clocks of two hosts do not agree to less than that. Others are laid one after the
    /// other.
    ///
    /// # Errors
    ///
    /// When two windows overlap in part: neither the sum of their rates nor the mean is a rate that there was.
    pub(super) fn of(sources: &[Source]) -> Result<Self, MergeError> {
        let calendar: Vec<(i128, i128)> = sources.iter().map(Source::on_the_calendar).collect();
        let last = calendar.iter().map(|(from, _)| *from).max().unwrap_or(0);
        let first = calendar.iter().map(|(from, _)| *from).min().unwrap_or(0);
        let side_by_side = are_side_by_side(sources)?;
        let length = |source: &Source| source.info.window.length().as_nanos();
        let start = sources.iter().map(|source| source.info.window.from_ns).max().unwrap_or(0);
        let (mut begins, mut next) = (Vec::new(), start);
        for source in sources {
            begins.push(next);
            if !side_by_side {
                next += length(source);
            }
        }
        let longest = sources.iter().map(length).max().unwrap_or(0);
        let to_ns = if side_by_side { start + longest } else { next };
        Ok(Self {
            side_by_side,
            steps: if side_by_side { steps(sources, start) } else { Vec::new() },
            begins,
            window: Window { from_ns: start, to_ns },
            apart: Span::from_nanos(u64::try_from(last - first).unwrap_or(u64::MAX)),
        })
    }

    /// Where something that happened at `time` in the record of that number lies.
    pub(super) fn place(&self, number: usize, window: Window, time: Time) -> Time {
        let begins = self.begins.get(number).copied().unwrap_or_default();
        Time::from_nanos((begins + time.as_nanos()).saturating_sub(window.from_ns))
    }

    /// What a rate of the record with that window counts in that of all: side by side they add up, each over its own
    /// window; else it is the mean over all windows.
    pub(super) fn weight(&self, window: Window) -> f64 {
        match self.window.length().as_secs_f64() {
            _ if self.side_by_side => 1.0,
            all if all > 0.0 => window.length().as_secs_f64() / all,
            _ => 0.0,
        }
    }

    /// One line that says what was put together.
    pub(super) fn title(&self, sources: &[Source]) -> String {
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let how = if self.side_by_side {
            format!("side by side, rates added; their windows opened within {} by their clocks", self.apart)
        } else {
            "one after the other, rates averaged".to_owned()
        };
        let of = match &*urls(sources) {
            [] | [_] => String::new(),
            several => format!(" (of {})", several.join(" and ")),
        };
        format!("{} records, {how}: {}{of}", sources.len(), names.join(", "))
    }

    /// What is said of the whole: as of the first, with the load of all.
    pub(super) fn info(&self, sources: &[Source], command: Vec<String>) -> RunInfo {
        let mut spec = toml::Table::new();
        let infos = || sources.iter().map(|source| &source.info);
        let first = sources.first();
        let names = sources.iter().map(|source| toml::Value::from(source.name())).collect();
        let urls = urls(sources);
        if !urls.is_empty() {
            spec.insert("url".to_owned(), urls.join(" and ").into());
        }
        spec.insert("merged".to_owned(), toml::Value::Array(names));
        spec.insert("side_by_side".to_owned(), self.side_by_side.into());
        for key in ["rate", "connections"] {
            let asked = |info: &RunInfo| Some(number(info.spec.get(key)?)? * self.weight(info.window));
            if let Some(all) = infos().map(asked).sum::<Option<f64>>() {
                spec.insert(key.to_owned(), all.into());
            }
        }
        RunInfo {
            tool: "load".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            started: infos().map(|info| info.started).min().unwrap_or_default(),
            ended: infos().filter_map(|info| info.ended).max(),
            interrupted: infos().any(|info| info.interrupted),
            seed: first.map_or(0, |source| source.info.seed),
            window: self.window,
            step_unit: first
                .and_then(|source| source.info.step_unit.clone())
                .filter(|_| !self.steps.is_empty()),
            steps: self.steps.clone(),
            spec,
        }
    }
}

/// Whether all windows are upon one another rather than each for itself.
fn are_side_by_side(sources: &[Source]) -> Result<bool, MergeError> {
    let common = |from: i128, to: i128| Span::from_nanos(u64::try_from(to - from).unwrap_or(0));
    let calendar = || sources.iter().map(|source| (source, source.on_the_calendar()));
    let shortest = sources.iter().map(|source| source.info.window.length()).min().unwrap_or(Span::ZERO);
    let last = calendar().map(|(_, (from, _))| from).max().unwrap_or(0);
    let earliest_end = calendar().map(|(_, (_, to))| to).min().unwrap_or(0);
    if last < earliest_end && common(last, earliest_end) * SIDE_BY_SIDE >= shortest {
        return Ok(true);
    }
    for (index, (source, (from, to))) in calendar().enumerate() {
        for (other, (other_from, other_to)) in calendar().take(index) {
            let common = common(from.max(other_from), to.min(other_to));
            let shorter = source.info.window.length().min(other.info.window.length());
            if common * AFTER > shorter {
                let [a, b] = [other, source].map(|source| source.given.clone());
                return Err(MergeError::Overlap { a, b, common, shorter });
            }
        }
    }
    Ok(false)
}

/// The URLs that were asked for, each once.
fn urls(sources: &[Source]) -> Vec<&str> {
    let mut urls: Vec<&str> = Vec::new();
    for url in sources.iter().filter_map(|source| source.info.spec.get("url")?.as_str()) {
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    urls
}

fn number(value: &toml::Value) -> Option<f64> {
    value.as_float().or_else(|| Some(value.as_integer()? as f64))
}

/// The steps that all of them have at the same times of their windows.
fn steps(sources: &[Source], start: u64) -> Vec<Step> {
    let Some(first) = sources.first() else { return Vec::new() };
    let within = |source: &Source| -> Vec<(u64, u64)> {
        let from = source.info.window.from_ns;
        source.info.steps.iter().map(|step| (step.from_ns - from, step.to_ns - from)).collect()
    };
    let times = within(first);
    let unit = |source: &Source| source.info.step_unit.clone();
    if sources.iter().any(|source| within(source) != times || unit(source) != unit(first)) {
        return Vec::new();
    }
    let level = |index: usize| sources.iter().filter_map(move |source| source.info.steps.get(index));
    let step = |(index, (from, to)): (usize, (u64, u64))| Step {
        from_ns: start + from,
        to_ns: start + to,
        level: level(index).map(|step| step.level).sum(),
    };
    times.into_iter().enumerate().map(step).collect()
}
