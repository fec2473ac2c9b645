//! [`Other`]: what programs do that are not watched, on the processors of those that are.

use std::collections::{BTreeMap, BTreeSet};

use units::Span;

use super::descriptors::sockets_of;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Other {
    /// Its name, as the kernel keeps it.
    pub name: String,
    /// Processor time since it began, of all its threads.
    pub used: Span,
    /// When it was started, since the machine was: its number can be given to another.
    pub began: Span,
    /// The processor on which it ran last; of one with several threads all on which it may run, in equal parts.
    pub processors: Vec<usize>,
    /// Whether the watched programs are connected to it.
    pub is_behind: bool,
}

/// Who listens at the ports and paths that the programs connect to.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// The processes that have each listening socket, by its number.
    holders: BTreeMap<u64, Vec<i32>>,
}

impl Behind {
    /// By its number, those that have each of these sockets, of all processes; each socket is looked for once, since that
    /// reads all descriptors of all processes.
    pub(super) fn holders(
        &mut self,
        listeners: &BTreeSet<u64>,
        all: impl Iterator<Item = i32>,
    ) -> &BTreeMap<u64, Vec<i32>> {
        self.holders.retain(|inode, _| listeners.contains(inode));
        let unknown: Vec<u64> =
            listeners.iter().copied().filter(|inode| !self.holders.contains_key(inode)).collect();
        if !unknown.is_empty() {
            let mut found: BTreeMap<u64, Vec<i32>> =
                unknown.iter().map(|inode| (*inode, Vec::new())).collect();
            for pid in all {
                let own = sockets_of(pid).unwrap_or_default();
                for inode in own.iter().filter(|inode| unknown.contains(inode)) {
                    found.entry(*inode).or_default().push(pid);
                }
            }
            self.holders.extend(found);
        }
        &self.holders
    }
}

/// Beginnings of the names of what runs applications, alone or behind a front.
const RUNTIMES: [&str; 24] = [
    "php",
    "uwsgi",
    "gunicorn",
    "uvicorn",
    "hypercorn",
    "daphne",
    "granian",
    "waitress",
    "python",
    "pypy",
    "node",
    "bun",
    "deno",
    "ruby",
    "puma",
    "unicorn",
    "Passenger",
    "perl",
    "starman",
    "java",
    "dotnet",
    "beam",
    "fcgiwrap",
    "spawn-fcgi",
];
/// And of what is a part of the server however it is asked.
const PARTS: [&str; 1] = ["php-fpm"];

/// Whether a program that the watched ones ask is a part of the server: what runs an application behind a front on this
/// host, which a socket without a port is for. What is not known to, such as a database or a daemon of the system, is not.
pub(super) fn is_part(name: &str, is_unix: bool) -> bool {
    let begins = |with: &&str| name.starts_with(*with);
    PARTS.iter().any(begins) || is_unix && RUNTIMES.iter().any(begins)
}

/// What times of processes are rounded to, and a little.
const TICK: Span = Span::from_millis(50);

/// Processors that each program used between two moments, of which the first is so long after the start of the machine, of
/// these processors: who is behind, and who is not.
pub(super) fn used(
    before: (Span, &BTreeMap<i32, Other>),
    after: &BTreeMap<i32, Other>,
    processors: &BTreeSet<usize>,
    length: Span,
) -> [BTreeMap<String, f64>; 2] {
    let mut programs = [BTreeMap::new(), BTreeMap::new()];
    let (uptime, before) = before;
    for (pid, other) in after {
        let had = before.get(pid).filter(|before| before.began == other.began).map(|before| before.used);
        // Who was not there before has begun since, or was of the programs then, whose it was.
        let is_new = other.began + TICK >= uptime;
        let Some(had) = had.or_else(|| is_new.then_some(Span::ZERO)) else { continue };
        let here = other.processors.iter().filter(|number| processors.contains(number)).count();
        let part = here as f64 / other.processors.len().max(1) as f64;
        let used = other.used.saturating_sub(had);
        if used > Span::ZERO && here > 0 {
            let share = part * used.as_secs_f64() / length.as_secs_f64();
            *programs[usize::from(!other.is_behind)].entry(other.name.clone()).or_default() += share;
        }
    }
    programs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(name: &str, millis: u64, processor: usize, is_behind: bool) -> Other {
        let (used, began) = (Span::from_millis(millis), Span::from_secs(7));
        Other { name: name.to_owned(), used, began, processors: vec![processor], is_behind }
    }

    #[test]
    fn what_runs_an_application_is_a_part_of_the_server() {
        let asked = ["php-fpm8.2", "gunicorn", "postgres", "dockerd", "nscd"];
        assert_eq!(asked.map(|name| is_part(name, true)), [true, true, false, false, false]);
        assert_eq!(asked.map(|name| is_part(name, false)), [true, false, false, false, false]);
    }

    #[test]
    fn programs_are_told_apart_by_processor_and_by_whether_they_are_asked() {
        let before = BTreeMap::from([
            (1, other("make", 100, 0, false)),
            (2, other("make", 100, 0, false)),
            (3, other("php-fpm", 100, 0, true)),
            (4, other("elsewhere", 100, 1, false)),
            (5, other("old", 900, 0, false)),
        ]);
        let after = BTreeMap::from([
            (1, other("make", 300, 0, false)),
            (2, other("make", 350, 0, false)),
            (3, other("php-fpm", 600, 0, true)),
            // The number has been given to another.
            (5, Other { began: Span::from_secs(70), ..other("new", 100, 0, false) }),
            (6, other("idle", 0, 0, false)),
            // It was there before, and has not used all of that since.
            (7, other("renamed", 900_000, 0, false)),
            // It has threads on both.
            (4, Other { processors: vec![0, 1], ..other("elsewhere", 500, 0, false) }),
        ]);
        let [behind, others] =
            used((Span::from_secs(70), &before), &after, &BTreeSet::from([0]), Span::from_secs(1));
        assert_eq!(behind, BTreeMap::from([("php-fpm".to_owned(), 0.5)]));
        let expected = [("elsewhere", 0.2), ("make", 0.45), ("new", 0.1)];
        assert_eq!(others, expected.map(|(name, used)| (name.to_owned(), used)).into());
    }
}
