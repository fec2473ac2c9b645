//! [`MetricName`]: what stands in the column `metric`.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use catalogue::Metric;
use parquet::basic::LogicalType;
use parquet::data_type::{ByteArray, ByteArrayType};

use crate::table::Cell;

/// The name of a recorded metric. One that is written is a [`Metric`]'s; one that is read may be of another
/// version, which knows metrics that this one does not.
///
/// ```compile_fail
/// let name: record::MetricName = "kernel.cpu_idle".into();
/// ```
#[derive(Clone)]
pub struct MetricName(Name);

#[derive(Clone)]
enum Name {
    Declared(&'static str),
    Read(Arc<str>),
}

impl MetricName {
    /// As it stands in the file.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Declared(name) => name,
            Name::Read(name) => name,
        }
    }
}

impl From<Metric> for MetricName {
    fn from(metric: Metric) -> Self {
        Self(Name::Declared(metric.name()))
    }
}

impl PartialEq for MetricName {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for MetricName {}

impl PartialEq<Metric> for MetricName {
    fn eq(&self, metric: &Metric) -> bool {
        self.as_str() == metric.name()
    }
}

impl PartialOrd for MetricName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MetricName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for MetricName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for MetricName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for MetricName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl Cell for MetricName {
    type Physical = ByteArrayType;

    fn logical() -> Option<LogicalType> {
        Some(LogicalType::String)
    }

    fn to_physical(&self) -> Option<ByteArray> {
        Some(ByteArray::from(self.as_str()))
    }

    fn from_physical(value: Option<ByteArray>) -> Option<Self> {
        value?.as_utf8().ok().map(|name| Self(Name::Read(name.into())))
    }
}
