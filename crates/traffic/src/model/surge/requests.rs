//! [`Surge`]: the stream of requests for a data set.

use std::sync::Arc;

use rand::rngs::StdRng;
use units::Span;

use super::data_set::DataSet;
use super::{files, popularity, sequence};
use crate::model::law::{self, Pareto, Weibull};
use crate::model::object::Object;
use crate::model::visit::{Embedded, Visit};

/// Objects embedded in a page.
const EMBEDDED: Pareto = Pareto { least: 1.0, shape: 2.43 };

/// The pause before an embedded object, in seconds (active OFF).
const ACTIVE_OFF: Weibull = Weibull { scale: 1.46, shape: 0.382 };

/// The pause between pages, in seconds (inactive OFF).
const INACTIVE_OFF: Pareto = Pareto { least: 1.0, shape: 1.5 };

/// One page in twenty million would have more; a visit has to have an end.
const MAX_EMBEDDED: f64 = 1000.0;

/// The stream of requests for a data set.
#[derive(Debug, Clone)]
pub(in crate::model) struct Surge {
    /// One round; it is repeated, as Shin, Koh and Won did (section III.A).
    sequence: Arc<[u32]>,
    position: usize,
    random: StdRng,
}

/// The files of a data set, in a folder of this name, and a stream of requests for them.
pub(in crate::model) fn files_and_requests(data: &DataSet, folder: &str, seed: u64) -> (Vec<Object>, Surge) {
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
    (objects.collect(), surge)
}

impl Surge {
    pub(in crate::model) fn request(&mut self) -> u32 {
        let file = self.sequence[self.position];
        self.position += 1;
        if self.position == self.sequence.len() {
            self.position = 0;
        }
        file
    }

    /// A page takes its own request and those of what is embedded in it from the one sequence, so
    /// that popularity, locality and lengths hold over all requests.
    pub(in crate::model) fn visit(&mut self, visit: &mut Visit) {
        visit.page = self.request();
        visit.embedded.clear();
        let embedded = EMBEDDED.draw(&mut self.random).min(MAX_EMBEDDED) as usize;
        for _ in 0..embedded {
            let pause = Span::from_secs_f64(ACTIVE_OFF.draw(&mut self.random));
            visit.embedded.push(Embedded { object: self.request(), pause });
        }
        visit.think = Span::from_secs_f64(INACTIVE_OFF.draw(&mut self.random));
    }
}
