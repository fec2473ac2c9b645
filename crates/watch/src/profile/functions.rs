//! [`Functions`]: where in a file what is done.

use std::fs;
use std::path::Path;

use object::{Object as _, ObjectSegment as _, ObjectSymbol as _, SymbolKind};

use super::activity::Activity;
use crate::bpf::code::{Binary, read};
use crate::bpf::go_table::GoTable;

/// Of larger files nothing is read: they would fill the memory of a small machine.
const LARGEST: u64 = 96 << 20;

/// What is done at each place of a file, as far as names tell.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// From the address on, up to the next; in rising order.
    known: Vec<(u64, Option<Activity>)>,
    /// Parts of the file in memory: place in the file, length, address.
    segments: Vec<(u64, u64, u64)>,
    /// Where there is no name.
    otherwise: Option<Activity>,
}

impl Functions {
    /// Of a file as the process sees it; nothing is known of one that cannot be read.
    pub(super) fn read(process: i32, file: &str) -> Self {
        let otherwise = Activity::of_file(file);
        let path = format!("/proc/{process}/root{file}");
        let is_small = fs::metadata(&path).is_ok_and(|about| about.len() <= LARGEST);
        let bytes = is_small.then(|| read(Path::new(&path))).flatten();
        let binary = bytes.as_deref().and_then(|bytes| Binary::parse(bytes).ok());
        let Some(binary) = binary else { return Self { otherwise, ..Self::default() } };
        Self { otherwise, ..Self::of(&binary, otherwise) }
    }

    fn of(binary: &Binary<'_>, otherwise: Option<Activity>) -> Self {
        let mut known = Vec::new();
        for symbol in binary.symbols().chain(binary.dynamic_symbols()) {
            let is_function = symbol.is_definition() && symbol.kind() == SymbolKind::Text;
            if let (true, Ok(name)) = (is_function, symbol.name()) {
                known.push((symbol.address(), Activity::of_function(name), symbol.size()));
            }
        }
        let of_go = GoTable::of(binary).map(|table| table.functions()).unwrap_or_default();
        known.extend(of_go.into_iter().map(|(address, name)| (address, Activity::of_function(name), 0)));
        known.sort_by_key(|(address, ..)| *address);
        known.dedup_by_key(|(address, ..)| *address);
        let mut ends = Vec::with_capacity(known.len());
        let mut places = known.iter().peekable();
        while let Some((address, activity, size)) = places.next() {
            ends.push((*address, activity.or(otherwise)));
            // What follows the end of a function and has no name.
            let end = address + size;
            if *size > 0 && places.peek().is_none_or(|(next, ..)| *next > end) {
                ends.push((end, otherwise));
            }
        }
        let segments = binary.segments().map(|segment| {
            let (offset, length) = segment.file_range();
            (offset, length, segment.address())
        });
        Self { known: ends, segments: segments.collect(), otherwise }
    }

    /// At a place in the file.
    pub(super) fn at(&self, offset: u64) -> Option<Activity> {
        let within = |(from, length, _): &&(u64, u64, u64)| (*from..from + length).contains(&offset);
        let Some((from, _, address)) = self.segments.iter().find(within) else { return self.otherwise };
        let address = offset - from + address;
        let next = self.known.partition_point(|(begin, _)| *begin <= address);
        next.checked_sub(1).map_or(self.otherwise, |at| self.known[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_a_place_is_found() {
        let functions = Functions {
            known: vec![(0x1100, Some(Activity::Collecting)), (0x1200, None)],
            segments: vec![(0x100, 0x1000, 0x1100)],
            otherwise: None,
        };
        let at = [0x100, 0x1ff, 0x200, 0x2000].map(|offset| functions.at(offset));
        assert_eq!(at, [Some(Activity::Collecting), Some(Activity::Collecting), None, None]);
    }

    /// The library of this machine, in which public keys are between other things.
    #[test]
    fn a_real_library_has_both() {
        let own = i32::try_from(std::process::id()).unwrap();
        let places = ["/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/lib/x86_64-linux-gnu/libcrypto.so.3"];
        let Some(file) = places.into_iter().find(|file| Path::new(file).exists()) else {
            testkit::skip_here(&"there is no libcrypto.so.3 where Debian has it");
            return;
        };
        let functions = Functions::read(own, file);
        let has = |wanted| functions.known.iter().any(|(_, activity)| *activity == Some(wanted));
        assert!(has(Activity::Handshaking) && has(Activity::Encrypting));
        assert_eq!(Functions::read(own, "/nonexistent").at(0), None);
    }
}
