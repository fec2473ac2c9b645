//! In which order the requests come: temporal locality.
//!
//! A list in which the file asked for last is on top gives the order; how far down the next one
//! is has a lognormal distribution. Distances drawn alone would ask for whatever is near the top
//! for ever, and for each file equally often. So each file with requests to make stays on the
//! list for a part of the round that is as long as its requests are many, and among the files
//! about the distance drawn the one that is most behind is taken.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use crate::model::law::Lognormal;

/// The distance from the top of the list, 1 being the file asked for last.
const DISTANCE: Lognormal = Lognormal { mu: 1.5, sigma: 0.80 };

/// Requests, to any file, for each request that a file makes while it is on the list: about how
/// many files are on the list. Fewer, and long distances find no file; more, and it takes longer
/// than a file stays until it is its turn again.
const PACE: f64 = 50.0;

/// From how much nearer than the distance drawn a file can be taken; none that is farther, because
/// the one most behind is most often the farthest.
const NEARER: f64 = 1.5;

/// The time that a file spends on the list, in requests.
#[derive(Clone, Copy)]
struct Stay {
    file: usize,
    from: f64,
    length: f64,
    requests: u32,
    left: u32,
}

impl Stay {
    /// How many requests fewer it had than it should have had by `now`.
    fn behind(&self, now: f64) -> f64 {
        let due = f64::from(self.requests) * ((now - self.from) / self.length).min(1.0);
        due - f64::from(self.requests - self.left)
    }
}

/// One round: file after file, each as often as `requests` says.
pub(super) fn order(requests: &[u32], random: &mut StdRng) -> Vec<u32> {
    let total: u32 = requests.iter().sum();
    let (mut list, coming) = stays(requests, f64::from(total), random);
    list.shuffle(random);
    let mut coming = coming.into_iter().peekable();
    let mut order = Vec::with_capacity(total as usize);
    for now in (0..total).map(f64::from) {
        let mut stay = match coming.next_if(|stay| stay.from <= now || list.is_empty()) {
            Some(stay) => begin(stay, now, &mut list),
            None if list.is_empty() => break,
            None => list.remove(choose(&list, now, DISTANCE.draw(random))),
        };
        order.push(stay.file as u32);
        stay.left -= 1;
        if stay.left > 0 {
            list.push(stay);
        }
    }
    order
}

/// The stay that begins now. A file whose last stay went on across the end of the round can still
/// be on the list.
fn begin(mut stay: Stay, now: f64, list: &mut Vec<Stay>) -> Stay {
    stay.from = now;
    if let Some(place) = list.iter().position(|other| other.file == stay.file) {
        stay.left += list.remove(place).left;
        stay.requests = stay.left;
    }
    stay
}

/// Which place of the list is next, `distance` from its top having been drawn.
fn choose(list: &[Stay], now: f64, distance: f64) -> usize {
    let farthest = (distance.ceil() as usize).clamp(1, list.len());
    let nearest = ((farthest as f64 / NEARER).ceil() as usize).max(1);
    let places = list.len() - farthest..=list.len() - nearest;
    places.max_by(|a, b| list[*a].behind(now).total_cmp(&list[*b].behind(now))).unwrap_or(list.len() - 1)
}

/// Who is on the list when the round begins, and who comes later, in order. The round is a
/// circle: a stay that goes on at its end goes on at its beginning. Beginnings are spread by the
/// golden section over the files in order of popularity, so that at each time files of all
/// degrees of popularity are there.
fn stays(requests: &[u32], total: f64, random: &mut StdRng) -> (Vec<Stay>, Vec<Stay>) {
    const GOLDEN_SECTION: f64 = 0.618_033_988_749_894_8;
    let mut by_popularity: Vec<usize> = (0..requests.len()).collect();
    by_popularity.sort_by_key(|file| std::cmp::Reverse(requests[*file]));
    let offset: f64 = random.random();
    let (mut present, mut coming) = (Vec::new(), Vec::new());
    let mut stay = |file, from, length, requests| {
        let stay = Stay { file, from, length, requests, left: requests };
        match requests {
            0 => {}
            _ if from == 0.0 => present.push(stay),
            _ => coming.push(stay),
        }
    };
    for (rank, file) in by_popularity.into_iter().enumerate() {
        let count = requests[file];
        let length = f64::from(count) * PACE;
        let from = (rank as f64 * GOLDEN_SECTION + offset).fract() * total;
        let across = from + length - total;
        if length >= total {
            stay(file, 0.0, total, count);
        } else if across <= 0.0 {
            stay(file, from, length, count);
        } else {
            let at_beginning = (f64::from(count) * across / length).round() as u32;
            stay(file, 0.0, across, at_beginning);
            stay(file, from, total - from, count - at_beginning);
        }
    }
    coming.sort_by(|a, b| a.from.total_cmp(&b.from));
    (present, coming)
}
