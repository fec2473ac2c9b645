//! SURGE: heavy-tailed files, requests with popularity and locality, users who pause.
//!
//! Barford and Crovella, "Generating Representative Web Workloads for Network and Server
//! Performance Evaluation", SIGMETRICS 1998. `files` makes the lengths, `popularity` says how
//! often each file is asked for, `sequence` in which order.

mod files;
mod popularity;
mod sequence;

use std::sync::Arc;

use rand::rngs::StdRng;
use units::Span;

use super::law::{self, Pareto, Weibull};
use super::{Embedded, Object, Stream, Visit};
use popularity::Requested;

/// Objects embedded in a page.
const EMBEDDED: Pareto = Pareto { least: 1.0, shape: 2.43 };

/// The pause before an embedded object, in seconds (active OFF).
const ACTIVE_OFF: Weibull = Weibull { scale: 1.46, shape: 0.382 };

/// The pause between pages, in seconds (inactive OFF).
const INACTIVE_OFF: Pareto = Pareto { least: 1.0, shape: 1.5 };

/// One page in twenty million would have more; a visit has to have an end.
const MOST_EMBEDDED: f64 = 1000.0;

/// How many files there are, and what their tail is like.
pub(super) struct DataSet {
    body: u32,
    tail: u32,
    requested: Requested,
}

/// The 7,000 files of Shin, Koh and Won, "Measurement and Analysis of Web Server Response Time",
/// table 1. Two figures are chosen so that the table comes out: with 32 files in the tail, the
/// total and the largest; with 1.27 % of the requests for them, the mean of the requests.
pub(super) const RESPONSE_TIME_PAPER: DataSet =
    DataSet { body: 6968, tail: 32, requested: Requested::with_tail(0.0127) };

/// As many files with 7 % of them in the tail, as Barford and Crovella have it.
pub(super) const AS_PUBLISHED: DataSet =
    DataSet { body: 6510, tail: 490, requested: Requested::AS_PUBLISHED };

/// The stream of requests for a data set.
#[derive(Debug, Clone)]
pub(super) struct Surge {
    /// One round; it is repeated, as Shin, Koh and Won did (section III.A).
    sequence: Arc<[u32]>,
    position: usize,
    random: StdRng,
}

/// The files of a data set, in a folder of this name, and a stream of requests for them.
pub(super) fn files_and_stream(data: &DataSet, folder: &str, seed: u64) -> (Vec<Object>, Stream) {
    let lengths = files::lengths(data.body, data.tail);
    let requests = popularity::requests(&lengths, &data.requested);
    let sequence = sequence::order(&requests, &mut law::random(seed, 0)).into();
    let surge = Surge { sequence, position: 0, random: law::random(seed, 1) };
    let (body, tail): (Arc<str>, Arc<str>) = ("body".into(), "tail".into());
    let objects = (0..).zip(lengths).map(|(file, length)| Object {
        url: format!("/{folder}/{:02}/{file:04}.bin", file / 100).into(),
        length,
        group: Arc::clone(if file < data.body { &body } else { &tail }),
    });
    (objects.collect(), Stream::Surge(surge))
}

impl Surge {
    pub(super) fn request(&mut self) -> u32 {
        let file = self.sequence[self.position];
        self.position += 1;
        if self.position == self.sequence.len() {
            self.position = 0;
        }
        file
    }

    /// A page takes its own request and those of what is embedded in it from the one sequence, so
    /// that popularity, locality and lengths hold over all requests.
    pub(super) fn visit(&mut self, visit: &mut Visit) {
        visit.page = self.request();
        visit.embedded.clear();
        let embedded = EMBEDDED.draw(&mut self.random).min(MOST_EMBEDDED) as usize;
        for _ in 0..embedded {
            let pause = Span::from_secs_f64(ACTIVE_OFF.draw(&mut self.random));
            visit.embedded.push(Embedded { object: self.request(), pause });
        }
        visit.think = Span::from_secs_f64(INACTIVE_OFF.draw(&mut self.random));
    }
}
