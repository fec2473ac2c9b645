//! [`Metric`]: one entry of the catalogue.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use crate::entry::{Entry, Exposed};
use crate::{Kind, Unit, Viewpoint};

/// One entry of the catalogue. Only the catalogue makes them.
///
/// ```
/// use catalogue::{Kind, gate};
///
/// assert_eq!(gate::WINDOW.sampled(), Some("gate.window"));
/// assert_eq!(gate::WINDOW.exposed().as_deref(), Some("headworks_gate_window"));
/// assert_eq!(gate::WINDOW.kind(), Kind::Gauge);
/// ```
///
/// What writes or reads metrics takes them, so that a name alone does not compile:
///
/// ```compile_fail
/// fn value(metric: catalogue::Metric) -> f64 { 0.0 }
/// value("gate.window");
/// ```
#[derive(Clone, Copy)]
pub struct Metric(&'static Entry);

impl Metric {
    pub(crate) const fn of(entry: &'static Entry) -> Self {
        Self(entry)
    }

    /// Its name in `samples.parquet`, if it is recorded.
    pub fn sampled(self) -> Option<&'static str> {
        Some(self.0.sampled).filter(|name| !name.is_empty())
    }

    /// Its name for scrapers and collectors, if they are told it; that of a counter ends in `_total`.
    pub fn exposed(self) -> Option<Cow<'static, str>> {
        match self.0.exposed {
            Exposed::No => None,
            Exposed::As(name) => Some(name.into()),
            Exposed::Scraped(prefix) => Some(self.scraped(prefix).into()),
            Exposed::Summed(name) => Some(name.into()),
        }
    }

    fn scraped(self, prefix: &str) -> String {
        let mut name = format!("{prefix}{}", self.0.sampled.replace('.', "_"));
        if let Some(word) = self.exposed_unit().word().filter(|word| !name.ends_with(word)) {
            name = format!("{name}_{word}");
        }
        if self.exposed_kind() == Kind::Counter { name + "_total" } else { name }
    }

    /// A name that it goes by: in the record, or for scrapers where it is not recorded.
    pub fn name(self) -> &'static str {
        match self.0.exposed {
            Exposed::As(name) if self.0.sampled.is_empty() => name,
            _ => self.0.sampled,
        }
    }

    /// OpenTelemetry's name where its semantic conventions have one.
    pub fn convention(self) -> Option<&'static str> {
        self.0.convention
    }

    /// How its values are to be read.
    pub fn kind(self) -> Kind {
        self.0.kind
    }

    /// How scrapers and collectors are to read it, who are told totals of what is recorded per second.
    pub fn exposed_kind(self) -> Kind {
        if self.per_second().is_some() { Kind::Counter } else { self.0.kind }
    }

    /// What its values count.
    pub fn unit(self) -> Unit {
        self.0.unit
    }

    /// What its values count for scrapers and collectors.
    fn exposed_unit(self) -> Unit {
        self.total().map_or(self.0.unit, |(unit, _)| unit)
    }

    /// How much a second at a value of 1 adds to the total that scrapers and collectors are told; none where they
    /// are told the value itself.
    pub fn per_second(self) -> Option<f64> {
        self.total().map(|(_, factor)| factor)
    }

    fn total(self) -> Option<(Unit, f64)> {
        match self.0.exposed {
            Exposed::Scraped(_) if self.0.unit != Unit::Processors => self.0.unit.total(),
            Exposed::Summed(_) => self.0.unit.total(),
            _ => None,
        }
    }

    /// Its unit, where the name for scrapers ends with the word for it, as base units do.
    pub fn unit_in_name(self) -> Option<Unit> {
        let (exposed, unit) = (self.exposed()?, self.exposed_unit());
        let word = unit.word()?;
        exposed.strip_suffix("_total").unwrap_or(&exposed).ends_with(word).then_some(unit)
    }

    /// Who sees it.
    pub fn viewpoint(self) -> Viewpoint {
        self.0.viewpoint
    }

    /// Names of its labels, in the order in which they are written.
    pub fn labels(self) -> &'static [&'static str] {
        self.0.labels
    }

    /// What it says, in a sentence.
    pub fn help(self) -> &'static str {
        self.0.help
    }

    /// What tells it from all others: the simulator and the generator both record a `cpu_ratio`.
    fn key(self) -> (&'static str, Viewpoint) {
        (self.name(), self.0.viewpoint)
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Metric {}

impl PartialOrd for Metric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By name.
impl Ord for Metric {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metric({})", self.name())
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}
