//! [`Reading`]: figures by time, as fine as is wanted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use catalogue::Metric;
use catalogue::watch::{connections, kernel, processes, requests};
use record::{Error, RunDirectory, SampleRow, Timestamp};
use serde::Serialize;
use units::{Span, Time};

use super::moment::{Moment, on_calendar};
use super::pauses::{Pause, Pauses};

/// What is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// From when; the beginning unless given.
    pub from: Option<Moment>,
    /// Until when; the end unless given.
    pub to: Option<Moment>,
    /// How long a row stands for; as long as makes [`ROWS`](Self::ROWS) of them, unless given.
    pub interval: Option<Span>,
    /// How many of the slowest requests, where there are requests.
    pub slowest: usize,
}

impl Wanted {
    /// Rows, where no interval is given, at most.
    pub const ROWS: u64 = 200;
}

/// What went on in one interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Row {
    /// Its end, in seconds from the beginning of the watch.
    pub offset: f64,
    /// The same on the calendar.
    pub time: Timestamp,
    /// By name, with its label in braces where it has one: of rates and shares the mean, of what is counted at a moment (the
    /// run queue, those that wait) the most.
    pub figures: BTreeMap<String, f64>,
}

/// A request that took long.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "as in `record::WatchedRow`, in seconds")]
pub struct SlowRequest {
    pub offset: f64,
    pub time: Timestamp,
    pub class: String,
    pub client_port: u16,
    pub duration: f64,
    pub parse: f64,
    pub process: f64,
    pub log: f64,
    pub cpu: f64,
    pub disk_wait: f64,
    pub bytes_sent: u64,
}

/// A part of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// When the watch began.
    pub started: Timestamp,
    /// In seconds from then.
    pub from: f64,
    /// In seconds from then.
    pub to: f64,
    /// How long a row stands for, in seconds; 0 for each look by itself.
    pub interval: f64,
    /// In their order.
    pub rows: Vec<Row>,
    /// Stretches without responses.
    pub pauses: Vec<Pause>,
    /// The slowest first.
    pub slowest: Vec<SlowRequest>,
    /// Records of finer looks below the directory.
    pub finer: Vec<PathBuf>,
}

/// How things are at a moment, of which the most is told.
const LEVELS: [Metric; 3] = [kernel::RUN_QUEUE, connections::WAITING, processes::RUNNING];

/// Reads what a watch has left in a directory.
///
/// # Errors
/// When there is no record of a watch, or it cannot be read.
pub fn read(directory: &Path, wanted: Wanted) -> Result<Reading, Error> {
    let run = RunDirectory::open(directory)?;
    let info = run.info()?;
    let began = info.started;
    // Of one that was broken off only its looks say how far it goes.
    let end = if info.ended.is_none() { last_look(&run)?.as_nanos() } else { info.window.to_ns };
    let length = Span::from_nanos(end);
    let first = Span::from_nanos(info.window.from_ns);
    let since = |moment: Moment| moment.since(began, first, length);
    let from = wanted.from.map_or(first, since).max(first).min(length);
    let to = wanted.to.map_or(length, since).min(length);
    let span = to.saturating_sub(from);
    let interval = wanted.interval.unwrap_or_else(|| coarse(span));
    let mut bins = Bins::new(interval, (from, to));
    for row in run.samples()? {
        bins.add(&row?);
    }
    let (rows, pauses) = bins.end(began);
    Ok(Reading {
        started: began,
        from: from.as_secs_f64(),
        to: to.as_secs_f64(),
        interval: interval.as_secs_f64(),
        rows,
        pauses,
        slowest: slowest(&run, wanted.slowest, (from, to), began),
        finer: finer(directory),
    })
}

/// The end of a record that was broken off.
fn last_look(run: &RunDirectory) -> Result<Time, Error> {
    let mut last = Time::ZERO;
    for row in run.samples()? {
        last = last.max(row?.time);
    }
    Ok(last)
}

/// An interval that makes few enough rows, of 1, 2 or 5 times a power of ten; nothing where each look will do.
fn coarse(span: Span) -> Span {
    let least = span.as_nanos() / Wanted::ROWS;
    let steps = (0..12).flat_map(|power| [1, 2, 5].map(|step| step * 10_u64.pow(power + 6)));
    let first = steps.into_iter().find(|step| *step >= least).unwrap_or(least);
    // Looks are 10 ms apart at least.
    if first <= 10_000_000 { Span::ZERO } else { Span::from_nanos(first) }
}

fn finer(directory: &Path) -> Vec<PathBuf> {
    let kept = (1..).map(|number| directory.join(format!("kept-{number}")));
    kept.take_while(|kept| kept.is_dir()).collect()
}

/// The figures of one interval.
#[derive(Debug, Default)]
struct Bin {
    /// Sums over time, and of how long a time, or the most.
    figures: BTreeMap<String, (f64, f64)>,
    /// Its last look.
    to: Span,
}

/// Figures by interval.
struct Bins {
    interval: Span,
    within: (Span, Span),
    bins: BTreeMap<u64, Bin>,
    pauses: Pauses,
    /// When the look was that is being read, and how long after the one before.
    now: (Span, f64),
    /// Responses of the look that is being read, and of the one before.
    look: (Time, f64),
    before: Option<Time>,
}

impl Bins {
    fn new(interval: Span, within: (Span, Span)) -> Self {
        Self {
            interval,
            within,
            bins: BTreeMap::new(),
            pauses: Pauses::default(),
            now: (within.0, 0.0),
            look: (Time::ZERO, 0.0),
            before: None,
        }
    }

    fn add(&mut self, row: &SampleRow) {
        let at = row.time.since(Time::ZERO);
        if at < self.within.0 || at > self.within.1 {
            return;
        }
        if at != self.now.0 {
            self.now = (at, at.saturating_sub(self.now.0).as_secs_f64());
        }
        if row.metric == requests::RATE {
            self.add_responses(row.time, row.value);
        }
        let interval = self.interval.as_nanos();
        // A look at the end of an interval is of that interval.
        let number = at.as_nanos().saturating_sub(1).checked_div(interval).unwrap_or(at.as_nanos());
        let bin = self.bins.entry(number).or_default();
        bin.to = bin.to.max(at);
        let name = if row.label.is_empty() {
            row.metric.to_string()
        } else {
            format!("{}{{{}}}", row.metric, row.label)
        };
        let (sum, time) = bin.figures.entry(name).or_default();
        if LEVELS.iter().any(|level| row.metric == *level) {
            (*sum, *time) = (sum.max(row.value), 1.0);
        } else {
            (*sum, *time) = (*sum + row.value * self.now.1, *time + self.now.1);
        }
    }

    /// Responses of one class.
    fn add_responses(&mut self, time: Time, rate: f64) {
        if time != self.look.0 {
            self.end_look();
            self.look = (time, 0.0);
        }
        self.look.1 += rate;
    }

    fn end_look(&mut self) {
        let (time, rate) = self.look;
        if let Some(before) = self.before {
            self.pauses.see(time, time.since(before), rate);
        }
        self.before = (time > Time::ZERO).then_some(time);
    }

    fn end(mut self, began: Timestamp) -> (Vec<Row>, Vec<Pause>) {
        self.end_look();
        let rows = self.bins.into_values().map(|bin| Row {
            offset: bin.to.as_secs_f64(),
            time: on_calendar(began, bin.to),
            figures: bin
                .figures
                .into_iter()
                .filter(|(_, (_, time))| *time > 0.0)
                .map(|(name, (sum, time))| (name, sum / time))
                .collect(),
        });
        (rows.collect(), self.pauses.find(began))
    }
}

/// The slowest requests of a time, where there is a list of them.
fn slowest(run: &RunDirectory, count: usize, within: (Span, Span), began: Timestamp) -> Vec<SlowRequest> {
    let Ok(table) = run.watched() else { return Vec::new() };
    let mut all: Vec<SlowRequest> = Vec::new();
    for row in table.map_while(Result::ok) {
        let (at, lasted) = (row.began.since(Time::ZERO), row.parse_ns + row.process_ns);
        if at + lasted < within.0 || at > within.1 {
            continue;
        }
        let duration = lasted.as_secs_f64();
        let is_among = all.len() < count || all.last().is_some_and(|last| last.duration < duration);
        if count == 0 || !is_among {
            continue;
        }
        let place = all.partition_point(|other| other.duration >= duration);
        all.insert(
            place,
            SlowRequest {
                offset: at.as_secs_f64(),
                time: on_calendar(began, at),
                class: row.class.to_string(),
                client_port: row.client_port,
                duration,
                parse: row.parse_ns.as_secs_f64(),
                process: row.process_ns.as_secs_f64(),
                log: row.log_ns.as_secs_f64(),
                cpu: row.cpu_ns.as_secs_f64(),
                disk_wait: row.disk_wait_ns.as_secs_f64(),
                bytes_sent: row.bytes_sent,
            },
        );
        all.truncate(count);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(metric: Metric, label: &str, millis: u64, value: f64) -> SampleRow {
        SampleRow::of(metric, label.into(), Time::ZERO + Span::from_millis(millis), "host".into(), value)
    }

    #[test]
    fn rates_are_means_and_levels_the_most() {
        let all = Span::from_secs(10);
        let mut bins = Bins::new(Span::from_millis(100), (Span::ZERO, all));
        for number in 1..=20 {
            bins.add(&row(kernel::CPU_IDLE, "", 10 * number, number as f64 / 20.0));
            bins.add(&row(connections::WAITING, "80", 10 * number, (number % 7) as f64));
        }
        let (rows, pauses) = bins.end(Timestamp::UNIX_EPOCH);
        let of = |row: &Row, name: &str| row.figures[name];
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].offset, rows[1].offset), (0.1, 0.2));
        assert!((of(&rows[0], "kernel.cpu_idle") - 0.275).abs() < 1e-9);
        assert_eq!(of(&rows[1], "listen_queue.waiting{80}"), 6.0);
        assert_eq!(rows[1].time.to_string(), "1970-01-01T00:00:00.2Z");
        assert!(pauses.is_empty());
    }

    #[test]
    fn a_long_time_is_told_in_few_rows() {
        for (seconds, expected) in [(1.0, 0), (2.0, 0), (10.0, 50), (600.0, 5000), (86_400.0, 500_000)] {
            assert_eq!(coarse(Span::from_secs_f64(seconds)), Span::from_millis(expected), "{seconds} s");
        }
    }
}
