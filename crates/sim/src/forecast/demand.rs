//! [`Server`]: what requests need of a server that is known only from outside.

use std::collections::HashMap;

use policy::Kind;

use super::request::{Fate, Request};

/// A server that works on so many requests at a time, each as fast as if it were alone, and divides itself evenly among more.
///
/// Of a request it is known how long it was inside, `T`, and which part of that was its own had all that was inside shared one
/// processor, `W`. Alone or among few it takes as long as it needs, so `T`; among many it gets `processors / n` of the time, so it needs
/// `processors * W`: whichever is less. With too few processors requests among few seem to need less than those among many, with too many
/// it is the other way round; the number is taken with which needs differ least within a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Server {
    pub(super) processors: u32,
}

impl Server {
    /// Beyond that a server is limited by something else.
    const MOST: u32 = 256;
    /// More processors have to explain so much more of how needs differ.
    const BETTER: f64 = 0.98;
    /// Of requests that were inside for less, what a clock tells is chance.
    const SHORTEST: f64 = 20e-6;
    /// So many tell enough.
    const LOOKED_AT: usize = 20_000;

    /// The server of these requests.
    pub(super) fn of(requests: &[Request]) -> Self {
        let is_telling = |request: &&Request| {
            request.fate == Fate::Served
                && request.served.as_secs_f64() >= Self::SHORTEST
                && !request.share.is_zero()
        };
        let telling: Vec<&Request> = requests.iter().rev().filter(is_telling).take(Self::LOOKED_AT).collect();
        let mut best = (1, scatter(&telling, 1));
        let mut processors = 2;
        while processors <= Self::MOST {
            let scatter = scatter(&telling, processors);
            if scatter < best.1 * Self::BETTER {
                best = (processors, scatter);
            }
            // One by one where it matters.
            processors += 1 + processors / 16;
        }
        Self { processors: best.0 }
    }

    /// What a request needed, in seconds of one processor.
    pub(super) fn demand(self, request: &Request) -> f64 {
        demand(request, self.processors)
    }
}

fn demand(request: &Request, processors: u32) -> f64 {
    (request.share.as_secs_f64() * f64::from(processors)).min(request.served.as_secs_f64())
}

/// How much needs differ within kinds, as logarithms.
fn scatter(requests: &[&Request], processors: u32) -> f64 {
    /// Fewer of a kind are put together with others.
    const FEW: f64 = 10.0;
    let mut kinds: HashMap<Kind, [f64; 3]> = HashMap::new();
    for request in requests {
        let log = demand(request, processors).max(f64::MIN_POSITIVE).ln();
        let sums = kinds.entry(request.kind).or_default();
        sums.iter_mut().zip([1.0, log, log * log]).for_each(|(sum, more)| *sum += more);
    }
    let scatter = |[number, sum, squares]: [f64; 3]| (squares - sum * sum / number.max(1.0)).max(0.0);
    let (mut rare, mut all) = ([0.0; 3], 0.0);
    for sums in kinds.into_values() {
        if sums[0] < FEW {
            rare.iter_mut().zip(sums).for_each(|(rare, sum)| *rare += sum);
        } else {
            all += scatter(sums);
        }
    }
    all + scatter(rare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Span, Time};

    /// Requests of 10 ms, so many at a time in turn, in a server with so many processors.
    fn served(processors: u32, inside: &[u32]) -> Vec<Request> {
        let request = |inside: &u32| {
            let stretch = f64::from(*inside.max(&processors)) / f64::from(processors);
            let served = 0.010 * stretch;
            Request {
                arrived: Time::ZERO,
                session: None,
                began: true,
                kind: Kind(7),
                class: Some(0),
                waited: Span::ZERO,
                served: Span::from_secs_f64(served),
                share: Span::from_secs_f64(served / f64::from(*inside)),
                fate: Fate::Served,
                weight: 1.0,
            }
        };
        inside.iter().cycle().take(200).map(request).collect()
    }

    #[test]
    fn processors_are_told_by_those_that_were_among_few_and_among_many() {
        for processors in [1, 2, 4, 10] {
            let requests = served(processors, &[1, 2, 3, 5, 9, 20, 40]);
            let server = Server::of(&requests);
            assert_eq!(server.processors, processors);
            let wrong = requests.iter().find(|request| (server.demand(request) - 0.010).abs() > 1e-6);
            assert_eq!(wrong, None);
        }
    }

    #[test]
    fn where_there_were_always_as_many_what_it_carries_is_known_all_the_same() {
        let requests = served(4, &[16]);
        let server = Server::of(&requests);
        let capacity = f64::from(server.processors) / server.demand(&requests[0]);
        assert!((capacity - 400.0).abs() < 1.0, "{capacity} with {}", server.processors);
    }
}
