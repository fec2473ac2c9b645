//! [`Metrics`]: metrics as they are gathered, by family.

use std::borrow::Cow;

use catalogue::Metric;

/// Metrics being gathered.
#[derive(Debug, Default)]
pub struct Metrics(Vec<Family>);

/// All values of one metric.
#[derive(Debug)]
pub struct Family {
    /// What it is.
    pub metric: Metric,
    /// For Prometheus, and for OpenTelemetry unless its conventions have another.
    pub name: Cow<'static, str>,
    /// What it says, in a sentence.
    pub help: Cow<'static, str>,
    /// Its values.
    pub samples: Vec<Sample>,
}

/// One value of a metric.
#[derive(Debug)]
pub struct Sample {
    /// Values of its labels, in the order of their names in the catalogue.
    pub labels: Vec<String>,
    /// The value.
    pub value: Value,
}

/// A number or a histogram.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Of a counter or a gauge.
    Number(Number),
    /// Observations.
    Histogram(Buckets),
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A count.
    Whole(u64),
    /// Any other.
    Real(f64),
}

/// Observations in buckets.
#[derive(Debug, Clone, PartialEq)]
pub struct Buckets {
    /// Upper ends, in rising order; they belong to their buckets.
    pub bounds: &'static [f64],
    /// Observations in each bucket, the last above all bounds.
    pub counts: Vec<u64>,
    /// Of all observations.
    pub sum: f64,
}

impl Buckets {
    /// Observations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl Number {
    /// As OpenTelemetry has it; a count above 2^53 loses its last digits.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
        }
    }
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl From<$type> for Number {
            fn from(number: $type) -> Self {
                Self::Whole(number.into())
            }
        }
    )*};
}

whole!(u8, u16, u32, u64);

impl From<usize> for Number {
    fn from(number: usize) -> Self {
        Self::Whole(number as u64)
    }
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl Metrics {
    /// Begins the values of a metric; each metric once.
    pub fn family(&mut self, metric: Metric) -> &mut Family {
        let name = metric.exposed().unwrap_or_else(|| metric.name().into());
        let at = self.0.len();
        self.0.push(Family { metric, name, help: metric.help().into(), samples: Vec::new() });
        &mut self.0[at]
    }

    /// What has been gathered.
    pub fn families(&self) -> &[Family] {
        &self.0
    }
}

impl Family {
    /// Says what it is in other words than the catalogue's, where that depends on what is measured.
    pub fn described(&mut self, help: impl Into<Cow<'static, str>>) -> &mut Self {
        self.help = help.into();
        self
    }

    /// Adds a value with values for the labels of the metric.
    pub fn sample(&mut self, labels: &[&str], value: impl Into<Number>) -> &mut Self {
        self.add(labels, Value::Number(value.into()))
    }

    /// Adds a histogram with values for the labels of the metric.
    pub fn buckets(&mut self, labels: &[&str], buckets: Buckets) -> &mut Self {
        self.add(labels, Value::Histogram(buckets))
    }

    fn add(&mut self, labels: &[&str], value: Value) -> &mut Self {
        debug_assert_eq!(labels.len(), self.metric.labels().len(), "labels of {}", self.name);
        let labels = labels.iter().map(|value| (*value).to_owned()).collect();
        self.samples.push(Sample { labels, value });
        self
    }
}
