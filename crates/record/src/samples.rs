//! `samples.parquet`: quantities that were looked at now and then.

use std::sync::Arc;

use catalogue::{Metric, Viewpoint};
use units::Time;

use crate::metric_name::MetricName;
use crate::table::{named_cell, table};

table! {
    /// One value of one metric at one instant.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SampleRow {
        /// From the start of the run.
        pub time: Time,
        /// The host it was seen on.
        pub host: Arc<str>,
        /// Whose view it is.
        pub viewpoint: Viewpoint,
        /// What it is, with its unit at the end where it has one.
        pub metric: MetricName,
        /// Which of several, such as a class or an interface; empty when there is one.
        pub label: Arc<str>,
        /// The value.
        pub value: f64,
    }
}

impl SampleRow {
    /// A value of `metric`, as seen from its viewpoint.
    pub fn of(metric: Metric, label: Arc<str>, time: Time, host: Arc<str>, value: f64) -> Self {
        Self { time, host, viewpoint: metric.viewpoint(), metric: metric.into(), label, value }
    }
}

named_cell!(Viewpoint);
