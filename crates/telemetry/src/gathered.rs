//! [`Metrics`]: metrics as they are gathered, by family.

use std::borrow::Cow;

use catalogue::{Kind, Metric};

/// Metrics being gathered.
#[derive(Debug, Clone, Default)]
pub struct Metrics(Vec<Family>);

/// All values of one metric.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone)]
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
    /// The values of a metric, to add to them.
    pub fn family(&mut self, metric: Metric) -> &mut Family {
        let at = self.0.iter().position(|family| family.metric == metric).unwrap_or(self.0.len());
        if at == self.0.len() {
            let name = metric.exposed().unwrap_or_else(|| metric.name().into());
            self.0.push(Family { metric, name, help: metric.help().into(), samples: Vec::new() });
        }
        &mut self.0[at]
    }

    /// Leaves counters where they were before that have fallen since: a scraper takes one that falls for a server
    /// that was started anew, and adds all of it once more.
    pub fn rise_from(&mut self, before: &Self) {
        let counters = self.0.iter_mut().filter(|family| family.metric.exposed_kind() == Kind::Counter);
        for family in counters {
            let Some(before) = before.0.iter().find(|before| before.metric == family.metric) else {
                continue;
            };
            for sample in &mut family.samples {
                let there = before.samples.iter().find(|before| before.labels == sample.labels);
                if let (Some(Value::Number(there)), Value::Number(now)) =
                    (there.map(|there| &there.value), &mut sample.value)
                    && there.as_f64() > now.as_f64()
                {
                    *now = *there;
                }
            }
        }
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

#[cfg(test)]
mod tests {
    use catalogue::gate;

    use super::*;

    #[test]
    fn counters_do_not_fall_and_gauges_do() {
        let gathered = |counts: [u64; 2], queue: f64| {
            let mut metrics = Metrics::default();
            metrics.family(gate::ARRIVED).sample(&["a"], counts[0]).sample(&["b"], counts[1]);
            metrics.family(gate::CLASS_QUEUE).sample(&["a"], queue);
            metrics
        };
        let mut now = gathered([4, 9], 1.0);
        now.rise_from(&gathered([5, 8], 2.0));
        let values = |at: usize| -> Vec<Value> {
            now.families()[at].samples.iter().map(|sample| sample.value.clone()).collect()
        };
        let number = |number: Number| Value::Number(number);
        assert_eq!(values(0), [number(Number::Whole(5)), number(Number::Whole(9))]);
        assert_eq!(values(1), [number(Number::Real(1.0))]);
    }
}
