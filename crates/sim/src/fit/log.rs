//! Requests of an access log.

use std::path::Path;

use traffic::trace::{AccessLog, BrokenLine, Format, LastNumber, Logged, Resolution, Resolutions, Written};
use units::Span;

use super::observation::{Observation, ObservationError, Origin, Request};
use super::set_aside::{moment, set_aside};
use crate::dynamic::kind;

/// What the number at the end of each line of a log says about how long requests took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeTaken {
    /// What the format says, if it says anything of how long requests took. If not, seconds where it has three decimals,
    /// as nginx writes its `$request_time`; otherwise nothing.
    #[default]
    Auto,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds: Apache's `%D`.
    Micros,
}

/// What the time of each line of a log is the time of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoggedAt {
    /// As the format says. Where it does not, the end of the request on lines whose time taken looks like nginx's
    /// `$request_time`, for nginx writes a line when the request has ended; otherwise its beginning, as Apache's `%t`.
    #[default]
    Auto,
    /// When the request came.
    Begin,
    /// When the response had been sent.
    End,
}

/// How a log is to be read.
#[derive(Debug, Clone, Default)]
pub struct LogFormat {
    /// What its lines are; `None` where that is recognised.
    pub lines: Option<Format>,
    /// What its lines end in, where their format does not say how long requests took, or is not to be believed.
    pub time_taken: TimeTaken,
    /// What their times are.
    pub logged_at: LoggedAt,
}

/// A number of seconds above this is a date.
const MAX_SECONDS: f64 = 1e6;

fn is_request_time(number: LastNumber) -> bool {
    number.decimals == 3
}

impl LogFormat {
    /// For how long the server had a request, in seconds, and whether its time is that of its end.
    fn reading(&self, logged: &Logged) -> (Option<f64>, bool) {
        let said = logged.took.filter(|_| self.time_taken == TimeTaken::Auto);
        let at_end = || logged.last.and_then(|number| self.time_taken.seconds(number));
        let took = said.map(Span::as_secs_f64).or_else(at_end);
        let is_end = match (self.logged_at, logged.is_end) {
            (LoggedAt::Begin, _) => false,
            (LoggedAt::End, _) => true,
            (LoggedAt::Auto, Some(is_end)) => is_end,
            (LoggedAt::Auto, None) => {
                matches!(self.time_taken, TimeTaken::Auto | TimeTaken::Seconds)
                    && logged.last.is_some_and(is_request_time)
            }
        };
        (took, is_end)
    }
}

/// When a request came, in seconds, that had ended `at` and taken so long. A whole second is
/// somewhere in that second, and remains whole.
fn began(at: f64, took: f64, resolution: Resolution) -> f64 {
    if resolution == Resolution::Seconds { (at + 0.5 - took).floor() } else { at - took }
}

/// What was found in a log, for the remarks on how it was read.
#[derive(Default)]
struct Irregularities {
    /// Connections that were switched to another protocol.
    tunnels: u64,
    other_methods: u64,
    /// Requests whose beginning was found from their end, and those whose end is all that is known.
    moved: u64,
    only_end: u64,
}

impl Irregularities {
    fn remarks(&self, resolution: f64) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.tunnels > 0 {
            remarks.push(format!(
                "{} connections were switched to another protocol (status 101, or CONNECT): how long they lasted is no demand, and they are left out.",
                self.tunnels
            ));
        }
        if self.other_methods > 0 {
            remarks.push(format!(
                "{} requests are neither GET nor HEAD and count as dynamic.",
                self.other_methods
            ));
        }
        if self.moved > 0 {
            remarks.push(format!(
                "{} requests came as long before the time of their line as they took: nginx writes a line when its request has ended, and so do most others. If yours does not, say --logged begin.",
                self.moved
            ));
        }
        if self.only_end > 0 {
            remarks.push(format!(
                "{} lines are written when requests have ended and do not say how long those took: their times are those of the ends.",
                self.only_end
            ));
        }
        if resolution >= 1.0 {
            remarks.push("Its times are whole seconds: the coefficient of variation comes from counts of requests, not from the times between them.".to_owned());
        }
        remarks
    }
}

impl TimeTaken {
    fn seconds(self, number: LastNumber) -> Option<f64> {
        let seconds = match self {
            Self::Auto if !is_request_time(number) => return None,
            Self::Auto | Self::Seconds => number.value,
            Self::Millis => number.value / 1e3,
            Self::Micros => number.value / 1e6,
        };
        (seconds < MAX_SECONDS).then_some(seconds)
    }
}

impl Observation {
    /// Reads an access log, whatever the methods of its requests.
    ///
    /// # Errors
    /// When it cannot be read, or has too few requests to say anything of.
    pub fn of_log(path: &Path, format: LogFormat) -> Result<Self, ObservationError> {
        let log = AccessLog::default();
        let log = match &format.lines {
            Some(lines) => log.with_format(lines.clone()),
            None => log,
        };
        let mut requests = Vec::new();
        let mut resolutions = Resolutions::default();
        let mut found = Irregularities::default();
        // Seconds since 1970 with a fraction would lose some of it.
        let mut origin = None;
        let skipped = log.each(path, |logged| {
            let (took, is_end) = format.reading(&logged);
            resolutions.add(logged.written);
            let Some(dynamic) = kind(&logged) else {
                found.tunnels += 1;
                return;
            };
            let Logged { at, written: Written { resolution, .. }, method, status, bytes, .. } = logged;
            found.other_methods += u64::from(!matches!(method.as_str(), "GET" | "HEAD"));
            let origin = *origin.get_or_insert(at.as_nanos() - at.as_nanos() % SECOND);
            let at = at.as_nanos().cast_signed().wrapping_sub(origin.cast_signed()) as f64 / 1e9;
            found.moved += u64::from(is_end && took.is_some());
            found.only_end += u64::from(is_end && took.is_none());
            requests.push(Request {
                at: took.filter(|_| is_end).map_or(at, |took| began(at, took, resolution)),
                dynamic,
                status,
                bytes,
                took,
                began: None,
            });
        })?;
        let origin = Span::from_nanos(origin.unwrap_or_default());
        let mut remarks = set_aside(&mut requests, origin);
        let first = requests.iter().map(|request| request.at).fold(f64::INFINITY, f64::min);
        let resolution = match resolutions.overall() {
            Resolution::Seconds => 1.0,
            Resolution::Millis => 1e-3,
            Resolution::Micros => 1e-6,
        };
        // Whole seconds stay whole.
        let first = if resolution >= 1.0 { first.floor() } else { first };
        requests.iter_mut().for_each(|request| request.at -= first);
        remarks.extend(found.remarks(resolution));
        Self {
            source: path.display().to_string(),
            origin: Origin::Log,
            requests,
            resolution,
            skipped: skipped.broken(),
            unread: skipped.examples.iter().map(BrokenLine::to_string).collect(),
            zero: Some(moment(origin, first)),
            ended: 0.0,
            steps: Vec::new(),
            clients: None,
            remarks,
        }
        .checked()
    }
}

const SECOND: u64 = 1_000_000_000;
