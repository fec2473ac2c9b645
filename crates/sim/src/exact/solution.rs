//! [`Solution`], and the [`Method`] by which it was found.

use serde::Serialize;

/// What a model does in the long run, exactly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Solution {
    /// How it was found.
    pub method: Method,
    /// The share of requests that are rejected.
    pub rejected: f64,
    /// Where clients give up: the share of attempts whose client has done so before the answer is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<f64>,
    /// Where they do, or come back: the share of requests that are never served in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<f64>,
    /// The mean time from arrival to completion, in seconds, of the requests that are served; not a number where clients come
    /// back, since the chain does not know when they first came.
    pub latency: f64,
    /// Mean latency of each class, in seconds, in the model's order.
    pub latency_by_class: Vec<f64>,
    /// The share of the processors' time in which they work.
    pub utilization: f64,
    /// Requests served per second.
    pub throughput: f64,
    /// Requests in the server on average, queue included.
    pub present: f64,
}

/// A way to an exact solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A finite Markov chain whose levels are the number of requests present: Poisson or
    /// hyperexponential arrivals, one or two exponential classes, processor sharing between a limited
    /// number of threads, a finite queue.
    QuasiBirthDeath,
    /// Processor sharing without a queue under Poisson arrivals: only the mean of what requests need matters
    /// (Kelly, "Reversibility and Stochastic Networks", section 3.3).
    InsensitiveLoss,
    /// Processor sharing between any number of requests under Poisson arrivals (Kleinrock, "Queueing
    /// Systems", volume 2, section 4.4).
    InsensitiveSharing,
    /// First come, first served with exponential needs and Poisson arrivals: M/M/c/K.
    Markov,
    /// First come, first served by one processor without a limit: Pollaczek and Khinchine's formula.
    PollaczekKhinchine,
    /// Clients that give up, and come back, with exponential needs, patience and pauses, under processor sharing without
    /// a queue.
    Impatient,
    /// A closed network of product form, without a limit: exact mean value analysis.
    MeanValueAnalysis,
}

impl Method {
    pub(super) const ALL: [Self; 7] = [
        Self::QuasiBirthDeath,
        Self::InsensitiveLoss,
        Self::InsensitiveSharing,
        Self::Markov,
        Self::PollaczekKhinchine,
        Self::Impatient,
        Self::MeanValueAnalysis,
    ];

    /// What a model has to be for it, in the words of the command line.
    pub(super) const fn needs(self) -> &'static str {
        match self {
            Self::QuasiBirthDeath => {
                "--discipline ps, a finite queue, poisson or h2 arrivals, --service exponential, one or two classes"
            }
            Self::InsensitiveLoss => "--discipline ps, --queue 0, poisson arrivals",
            Self::InsensitiveSharing => {
                "--discipline ps, --queue none, poisson arrivals, one processor, 100000 threads or more (so many never limit it)"
            }
            Self::Markov => "--discipline fcfs, poisson arrivals, --service exponential, one class",
            Self::PollaczekKhinchine => "--discipline fcfs, --queue none, poisson arrivals, one processor",
            Self::Impatient => {
                "--discipline ps, --queue 0, poisson arrivals, --service exponential, one class; in a model file, patience of the law exponential, retries of a share below 1, anew, with a delay, without backoff, and 1000 at most or more (so many never limit it)"
            }
            Self::MeanValueAnalysis => {
                "a model file with clients, of one class, with at least as many threads, one processor, at most one disk, and ps or --service exponential (which a disk needs)"
            }
        }
    }

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QuasiBirthDeath => "quasi-birth-death process",
            Self::InsensitiveLoss => "M/G/1/K-PS, insensitive",
            Self::InsensitiveSharing => "M/G/1-PS, insensitive",
            Self::Markov => "M/M/c/K",
            Self::PollaczekKhinchine => "M/G/1, Pollaczek-Khinchine",
            Self::Impatient => "chain of impatient clients",
            Self::MeanValueAnalysis => "mean value analysis",
        }
    }
}
