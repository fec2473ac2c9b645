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
    /// When it was started, in ticks since the machine was: its number can be given to another.
    pub began: u64,
    /// The processor on which it ran last.
    pub processor: usize,
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
    /// Those that have one of these sockets, of all processes; each socket is looked for once, since that reads all
    /// descriptors of all processes.
    pub(super) fn holders(
        &mut self,
        listeners: &BTreeSet<u64>,
        all: impl Iterator<Item = i32>,
    ) -> BTreeSet<i32> {
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
        self.holders.values().flatten().copied().collect()
    }
}

/// Processors that each program used between two moments, of these processors: who is behind, and who is not.
pub(super) fn used(
    before: &BTreeMap<i32, Other>,
    after: &BTreeMap<i32, Other>,
    processors: &BTreeSet<usize>,
    length: Span,
) -> [BTreeMap<String, f64>; 2] {
    let mut programs = [BTreeMap::new(), BTreeMap::new()];
    for (pid, other) in after.iter().filter(|(_, other)| processors.contains(&other.processor)) {
        // Who was not there before has begun since.
        let had = before.get(pid).filter(|before| before.began == other.began);
        let used = other.used.saturating_sub(had.map_or(Span::ZERO, |before| before.used));
        if used > Span::ZERO {
            let share = used.as_secs_f64() / length.as_secs_f64();
            *programs[usize::from(!other.is_behind)].entry(other.name.clone()).or_default() += share;
        }
    }
    programs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(name: &str, millis: u64, processor: usize, is_behind: bool) -> Other {
        Other { name: name.to_owned(), used: Span::from_millis(millis), began: 7, processor, is_behind }
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
            (4, other("elsewhere", 900, 1, false)),
            // The number has been given to another.
            (5, Other { began: 8, ..other("new", 100, 0, false) }),
            (6, other("idle", 0, 0, false)),
        ]);
        let [behind, others] = used(&before, &after, &BTreeSet::from([0]), Span::from_secs(1));
        assert_eq!(behind, BTreeMap::from([("php-fpm".to_owned(), 0.5)]));
        assert_eq!(others, BTreeMap::from([("make".to_owned(), 0.45), ("new".to_owned(), 0.1)]));
    }
}
