//! What was seen while a server stood still.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::Unit;
use catalogue::watch::limits;
use record::MetricName;
use units::Time;

use super::stalls::Stalls;

/// Values by metric and label, in the course of time.
pub(super) type Seen = BTreeMap<Key, Vec<f64>>;
/// [`Seen`], each value with its moment.
pub(super) type Moments = BTreeMap<Key, Vec<(Time, f64)>>;
type Key = (MetricName, String);

/// Of fewer looks while it stood still what is so at a moment says nothing.
const LEAST_AMID: usize = 2;

/// What there was of everything while the server stood still: of what is so at a moment, what was seen at these moments; of
/// what is added up between two looks, what it has to have been for its part of the time.
pub(super) fn seen_while(stalls: &Stalls, moments: &Moments) -> Seen {
    let of = |is_meant: &dyn Fn(&Time) -> bool| values(moments, is_meant);
    let [with, without] = [true, false].map(|is| of(&|at| stalls.at.contains(at) == is));
    let shares: BTreeSet<&str> = catalogue::page::all()
        .filter(|metric| metric.unit() == Unit::Share)
        .filter_map(catalogue::Metric::sampled)
        .collect();
    let mean = |seen: &Seen, key: &Key| {
        let looks = seen.get(&looks_key()).map_or(0, Vec::len);
        stats::mean_with_absent(seen.get(key).into_iter().flatten().copied(), looks)
    };
    let alone = |key: &Key| {
        let is_share = shares.contains(key.0.as_str()) || key.0 == limits::PROGRAM_BUSIEST;
        let most = if is_share { 1.0 } else { f64::MAX };
        vec![stalls.alone(mean(&with, key), mean(&without, key)).min(most)]
    };
    let rates = with.keys().filter(|(metric, _)| !is_of_a_moment(metric));
    let mut seen: Seen = rates.map(|key| (key.clone(), alone(key))).collect();
    let amid = of(&|at| stalls.amid.contains(at));
    seen.extend(amid.into_iter().filter(|((metric, _), _)| is_of_a_moment(metric)));
    seen
}

/// Without what was seen at too few moments to say anything.
pub(super) fn known(mut seen: Seen) -> Seen {
    let is_known = seen.get(&looks_key()).is_some_and(|looks| looks.len() >= LEAST_AMID);
    seen.retain(|(metric, _), values| !values.is_empty() && (is_known || !is_of_a_moment(metric)));
    seen
}

/// Those at the moments that are meant.
pub(super) fn values(moments: &Moments, is_meant: &dyn Fn(&Time) -> bool) -> Seen {
    let values =
        |all: &[(Time, f64)]| all.iter().filter(|(at, _)| is_meant(at)).map(|(_, value)| *value).collect();
    moments.iter().map(|(key, all)| (key.clone(), values(all))).collect()
}

/// What has a value at each look.
pub(super) fn looks_key() -> Key {
    (limits::SOCKETS_UNREAD.into(), String::new())
}

/// Whether a value is that of a moment, and not of the time since the look before.
pub(super) fn is_of_a_moment(metric: &MetricName) -> bool {
    limits::OF_A_MOMENT.iter().any(|of_a_moment| *metric == *of_a_moment)
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;

    /// Of ten looks two are with a stall for 40 % of their time, in which another program has all of a processor that is used
    /// to a tenth otherwise; one of them is made amid it.
    #[test]
    fn what_is_added_up_is_worked_out_for_the_stall_and_what_is_so_at_a_moment_is_not() {
        let at = |number: u64| Time::ZERO + Span::from_millis(200 * number);
        let series = |value: &dyn Fn(u64) -> f64| (0..10).map(|look| (at(look), value(look))).collect();
        let is_stall = |look: u64| look == 3 || look == 7;
        let key = |metric: catalogue::Metric, label: &str| (metric.into(), label.to_owned());
        let moments: Moments = BTreeMap::from([
            (looks_key(), series(&|_| 0.0)),
            (
                key(limits::PROGRAM_PROCESSORS_BUSY, "httpd"),
                series(&|look| if is_stall(look) { 0.4 + 0.6 * 0.1 } else { 0.1 }),
            ),
            (key(limits::OTHERS, "backup"), [3, 7].map(|look| (at(look), 0.4)).to_vec()),
            (key(limits::PROGRAM_DESCRIPTORS, "httpd"), series(&|look| if look == 3 { 0.6 } else { 0.45 })),
        ]);
        let stalls =
            Stalls { at: [at(3), at(7)].into(), amid: [at(3)].into(), part: 0.4, ..Stalls::default() };
        let seen = seen_while(&stalls, &moments);
        let of = |metric, label| seen[&key(metric, label)].clone();
        let near = |values: Vec<f64>, expected: f64| values.len() == 1 && (values[0] - expected).abs() < 1e-9;
        assert!(near(of(limits::PROGRAM_PROCESSORS_BUSY, "httpd"), 1.0), "{seen:?}");
        assert!(near(of(limits::OTHERS, "backup"), 1.0), "{seen:?}");
        assert!(near(of(limits::PROGRAM_DESCRIPTORS, "httpd"), 0.6), "{seen:?}");
        // A single look says nothing of moments.
        let known = known(seen);
        assert!(!known.contains_key(&key(limits::PROGRAM_DESCRIPTORS, "httpd")));
        assert!(known.contains_key(&key(limits::OTHERS, "backup")));
    }
}
