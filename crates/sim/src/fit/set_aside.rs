//! What says nothing of a server's requests although it stands in its log.

use stats::order;
use units::Span;

use super::observation::Request;

/// A moment that so many seconds are after another one.
pub(super) fn moment(origin: Span, after: f64) -> Span {
    let nanoseconds = (origin.as_nanos() as f64 + after * 1e9).max(0.0);
    Span::from_nanos(nanoseconds as u64)
}

/// Of all requests, at most so many are far from the others in time.
const RARE: f64 = 0.005;

/// What is farther from the others than they are from each other, this many times, and than a day, is not of their time.
const FAR: f64 = 10.0;
const DAY: f64 = 86_400.0;

/// What takes longer than this may be held rather than worked on,
const LONG: f64 = 2.0;
/// if it is this many times longer than 99 of 100 of the others.
const LONGER: f64 = 50.0;

/// Requests that are named one by one.
const NAMED: usize = 3;

/// Takes out what is not of the time of the others, and what was held rather than worked on; says so, a sentence each.
pub(super) fn set_aside(requests: &mut Vec<Request>, origin: Span) -> Vec<String> {
    let named = |requests: &[Request]| {
        let named: Vec<String> =
            requests.iter().take(NAMED).map(|request| told(moment(origin, request.at))).collect();
        let more = if requests.len() > NAMED { ", .." } else { "" };
        format!("{}{more}", named.join(", "))
    };
    let mut remarks = Vec::new();
    let elsewhen = take(requests, not_of_this_time(requests));
    if !elsewhen.is_empty() {
        remarks.push(format!(
            "{} of its requests are dated far from all others ({}), and left out.",
            elsewhen.len(),
            named(&elsewhen)
        ));
    }
    let held = take(requests, held(requests));
    if !held.is_empty() {
        let longest = held.iter().filter_map(|request| request.took).fold(0.0, f64::max);
        remarks.push(format!(
            "{} of its requests took {LONGER} times as long as 99 of 100 others, and more, up to {} ({}): streams, long polls, or mistakes. How long they lasted is taken for no demand, and they are left out.",
            held.len(),
            Span::from_secs_f64(longest),
            named(&held)
        ));
    }
    remarks
}

fn take(requests: &mut Vec<Request>, is_aside: impl Fn(&Request) -> bool) -> Vec<Request> {
    let (aside, rest) = requests.iter().partition(|request| is_aside(request));
    *requests = rest;
    aside
}

/// With a date of 1970 or of 2036, between others of today.
fn not_of_this_time(requests: &[Request]) -> impl Fn(&Request) -> bool + use<> {
    let rising = order::rising(requests.iter().map(|request| request.at));
    let at = |portion: f64| order::nearest_rank(&rising, portion).unwrap_or_default();
    // One of few is more than so large a share.
    let rare = RARE.max(1.5 / rising.len().max(1) as f64).min(0.25);
    let (first, last) = (at(rare), at(1.0 - rare));
    let margin = DAY.max(FAR * (last - first));
    move |request| !(first - margin..=last + margin).contains(&request.at)
}

/// For so long that the server cannot have worked on them, unless it takes long for all.
fn held(requests: &[Request]) -> impl Fn(&Request) -> bool + use<> {
    let took = || requests.iter().filter_map(|request| request.took);
    let short = order::rising(took().filter(|took| *took < LONG));
    let usual = order::nearest_rank(&short, 0.99).unwrap_or(f64::INFINITY);
    let are_most_short = 2 * short.len() > took().count();
    let longest = LONG.max(LONGER * usual);
    move |request| are_most_short && request.took.is_some_and(|took| took > longest)
}

fn told(at: Span) -> String {
    record::Timestamp::try_from(std::time::UNIX_EPOCH + std::time::Duration::from(at))
        .map_or_else(|_| format!("{at} after 1970"), |at| format!("{at:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordinary(number: u32) -> Request {
        let at = f64::from(number) / 10.0;
        Request {
            at,
            took: Some(0.05 + f64::from(number % 100) / 1000.0),
            status: Some(200),
            ..Request::default()
        }
    }

    const START: Span = Span::from_secs(1_773_130_000);

    #[test]
    fn one_absurd_line_changes_nothing_and_is_named() {
        let usual: Vec<Request> = (0..1000).map(ordinary).collect();
        for (absurd, says) in [
            (Request { at: -1_773_130_000.0, ..ordinary(0) }, "1970-01-01"),
            (Request { at: 3e8, ..ordinary(0) }, "2035-09-"),
            (Request { took: Some(3.0 * DAY), ..ordinary(500) }, "up to 259200s ("),
        ] {
            let mut requests = usual.clone();
            requests.push(absurd);
            let remarks = set_aside(&mut requests, START);
            assert_eq!(requests, usual);
            assert!(remarks.len() == 1 && remarks[0].contains(says), "{remarks:?}");
        }
        let mut requests = usual.clone();
        assert!(set_aside(&mut requests, START).is_empty() && requests == usual);
    }

    #[test]
    fn long_polls_are_no_demand_and_slow_servers_are_believed() {
        let mut requests: Vec<Request> = (0..1000).map(ordinary).collect();
        requests.extend((0..200).map(|number| Request { took: Some(25.0), ..ordinary(number * 5) }));
        let remarks = set_aside(&mut requests, START);
        assert!(requests.len() == 1000 && remarks[0].starts_with("200 of its requests"), "{remarks:?}");
        let mut slow: Vec<Request> =
            (0..1000).map(|number| Request { took: Some(10.0), ..ordinary(number) }).collect();
        slow.push(ordinary(3));
        assert!(set_aside(&mut slow, START).is_empty() && slow.len() == 1001);
    }
}
