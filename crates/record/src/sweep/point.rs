//! [`PointRow`]: what was simulated at a point, and what came out.

use std::sync::Arc;

use crate::table::table;

table! {
    /// A point of a sweep. Times in seconds, rates per second, shares 0 to 1. Of each quantity
    /// there is the mean over replications and its 95 % confidence interval; not a number where
    /// nothing was observed.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PointRow {
        /// Its number, from 0.
        pub point: u32,
        /// The curve that it is on.
        pub curve: Arc<str>,
        /// The value of the swept parameter.
        pub x: f64,
        /// Requests per second over those that can be served.
        pub load: f64,
        /// The arrival process.
        pub arrivals: Arc<str>,
        /// Share of dynamic requests.
        pub dynamic: f64,
        /// Mean demand of a dynamic request over that of a static one.
        pub dynamic_cost: f64,
        /// Mean demand of a static request.
        pub static_time: f64,
        /// The law of demands.
        pub service: Arc<str>,
        /// Requests that are worked on at a time.
        pub threads: u32,
        /// Requests that wait at most; null for no limit.
        pub queue: Option<u32>,
        /// How processors are divided.
        pub discipline: Arc<str>,
        /// Processors.
        pub processors: u32,
        /// Where random numbers began.
        pub seed: u64,
        /// Replications.
        pub replications: u32,
        /// Requests at the beginning of each that were not counted.
        pub warmup: u64,
        /// Requests in each that were.
        pub requests: u64,
        /// Arrivals and completions, warm-up included.
        pub events: u64,
        /// Whether it is as precise as it was to be.
        pub precise: bool,
        /// Share of requests that were rejected.
        pub rejected: f64,
        /// Lower end of its interval.
        pub rejected_low: f64,
        /// Upper end.
        pub rejected_high: f64,
        /// Mean latency of the others, from arrival to completion.
        pub latency: f64,
        /// Lower end of its interval.
        pub latency_low: f64,
        /// Upper end.
        pub latency_high: f64,
        /// Median latency.
        pub p50: f64,
        /// Lower end of its interval.
        pub p50_low: f64,
        /// Upper end.
        pub p50_high: f64,
        /// 90th percentile of latency.
        pub p90: f64,
        /// Lower end of its interval.
        pub p90_low: f64,
        /// Upper end.
        pub p90_high: f64,
        /// 95th percentile of latency.
        pub p95: f64,
        /// Lower end of its interval.
        pub p95_low: f64,
        /// Upper end.
        pub p95_high: f64,
        /// 99th percentile of latency.
        pub p99: f64,
        /// Lower end of its interval.
        pub p99_low: f64,
        /// Upper end.
        pub p99_high: f64,
        /// 99.9th percentile of latency.
        pub p999: f64,
        /// Lower end of its interval.
        pub p999_low: f64,
        /// Upper end.
        pub p999_high: f64,
        /// Share of the processors' time in which they worked.
        pub utilization: f64,
        /// Lower end of its interval.
        pub utilization_low: f64,
        /// Upper end.
        pub utilization_high: f64,
        /// Requests served per second.
        pub throughput: f64,
        /// Lower end of its interval.
        pub throughput_low: f64,
        /// Upper end.
        pub throughput_high: f64,
        /// Requests in the server on average, queue included.
        pub present: f64,
        /// Lower end of its interval.
        pub present_low: f64,
        /// Upper end.
        pub present_high: f64,
    }
}
