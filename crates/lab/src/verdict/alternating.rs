//! Resources that are at their ends in turns, which shows in no mean, but look by look.

use catalogue::watch::{limits, processes};
use record::search::Used;

use super::level::Level;

/// In this share of all looks each has to be at its end without the other, and in this one or the other.
const EACH: f64 = 0.25;
const EITHER: f64 = 0.75;
/// Of fewer looks chance decides.
const MIN_LOOKS: usize = 8;

/// A sentence with figures when nearly all of two resources was used in turns: `full` of it or more. Only where what
/// comes in turns takes longer than a look.
pub(super) fn indicator(level: &Level, light: &Level, full: f64) -> Option<String> {
    let mut looks = looks(level, full);
    looks.push((HELD, held(level, light)));
    let pairs =
        looks.iter().enumerate().flat_map(|(at, other)| looks[..at].iter().map(move |one| (one, other)));
    let unlike = pairs.filter(|(one, other)| one.0 != other.0);
    let mut shared = unlike.map(|(one, other)| (one.0, other.0, Shares::of(&one.1, &other.1)));
    shared.find(|(.., shares)| shares.are_in_turns()).map(|(one, other, shares)| {
        let [of_one, of_other] = [shares.one, shares.other].map(|alone| (alone + shares.both) * 100.0);
        format!(
            "At its end in so many of all looks: {} {of_one:.0} %, {} {of_other:.0} %, one of the two {:.0} %.",
            one,
            other,
            shares.either() * 100.0
        )
    })
}

/// What is not seen from outside.
const HELD: &str = "something within the server, which held requests back";

/// Whether at each look requests had been read and not answered, more than at a light load, while processors were idle.
fn held(level: &Level, light: &Level) -> Vec<bool> {
    const SOME: f64 = 5.0;
    const IDLE: f64 = 0.5;
    let before = light.mean(limits::SOCKETS_OWED).unwrap_or_default();
    let owed = level.values(limits::SOCKETS_OWED, "");
    let programs = level.labels(processes::CPU);
    let busy = programs.map(|program| level.values(limits::PROGRAM_PROCESSORS_BUSY, program));
    let busy = busy.max_by_key(|busy| busy.len()).unwrap_or_default();
    // Looks are told apart by their place alone.
    if busy.len() != owed.len() || level.may_ask() {
        return Vec::new();
    }
    owed.iter().zip(busy).map(|(owed, busy)| *owed >= before + SOME && *busy < IDLE).collect()
}

/// Of each resource, whether nearly all of it was in use at each look.
fn looks(level: &Level, full: f64) -> Vec<(&'static str, Vec<bool>)> {
    let of_program = |program| {
        let limits =
            [(Used::Processors, limits::PROGRAM_PROCESSORS), (Used::Quota, limits::PROGRAM_CPU_QUOTA)];
        let used = level.values(processes::CPU, program);
        limits.map(|(of, most)| {
            let most = level.mean_of(most, program);
            (of.name(), used.iter().map(|used| most > 0.0 && *used >= full * most).collect())
        })
    };
    let programs = level.labels(processes::CPU).flat_map(of_program);
    // The server does not wait for a disk that only others use.
    let waiting: Vec<&[f64]> = level
        .labels(limits::PROGRAM_DISK)
        .map(|program| level.values(limits::PROGRAM_DISK, program))
        .collect();
    let disks = [(Used::DiskLimit, limits::PROGRAM_IO_USED), (Used::Disk, limits::DISK_BUSY)];
    let disks = disks.into_iter().flat_map(|(of, metric)| {
        let waiting = &waiting;
        level.labels(metric).map(move |label| {
            let looks = level.values(metric, label).iter().enumerate();
            let is_full = |(at, used): (usize, &f64)| {
                *used >= full && waiting.iter().any(|threads| threads.get(at).is_some_and(|it| *it > 0.0))
            };
            (of.name(), looks.map(is_full).collect())
        })
    });
    programs.chain(disks).collect()
}

/// The shares of looks in which one of two was at its end, the other, and both.
struct Shares {
    one: f64,
    other: f64,
    both: f64,
}

impl Shares {
    fn of(one: &[bool], other: &[bool]) -> Self {
        let looks = one.len().min(other.len());
        let share = |wanted: (bool, bool)| {
            let found = one.iter().zip(other).filter(|(one, other)| (**one, **other) == wanted).count();
            if looks < MIN_LOOKS { 0.0 } else { found as f64 / looks as f64 }
        };
        Self { one: share((true, false)), other: share((false, true)), both: share((true, true)) }
    }

    fn either(&self) -> f64 {
        self.one + self.other + self.both
    }

    fn are_in_turns(&self) -> bool {
        self.one >= EACH && self.other >= EACH && self.either() >= EITHER
    }
}
