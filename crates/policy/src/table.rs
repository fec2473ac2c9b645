//! [`Table`]: what is remembered of sessions and clients, bounded.

use alloc::vec;
use alloc::vec::Vec;

use units::Time;

/// So many share a row; the one that was seen longest ago makes room.
const WAYS: usize = 4;

/// An entry for each number, of as many numbers as there is room for.
#[derive(Debug)]
pub(crate) struct Table<V> {
    places: Vec<Option<Entry<V>>>,
}

#[derive(Debug, Clone, Copy)]
struct Entry<V> {
    number: u64,
    seen: Time,
    value: V,
}

impl<V: Copy + Default> Table<V> {
    /// Room for `entries`, or somewhat more.
    pub(crate) fn new(entries: usize) -> Self {
        Self { places: vec![None; entries.next_power_of_two().max(WAYS)] }
    }

    /// The entry of a number that asks now, and when it did so before. If it has none, another makes room.
    pub(crate) fn see(&mut self, number: u64, now: Time) -> (Option<Time>, &mut V) {
        let row = self.row(number);
        let places = &mut self.places[row..row + WAYS];
        let is_mine = |place: &Option<Entry<V>>| place.as_ref().is_some_and(|entry| entry.number == number);
        let mine = places.iter().position(is_mine);
        let place = mine.unwrap_or_else(|| {
            let oldest = (0..WAYS).min_by_key(|way| places[*way].as_ref().map(|entry| entry.seen));
            let oldest = oldest.unwrap_or_default();
            places[oldest] = None;
            oldest
        });
        let entry = places[place].get_or_insert(Entry { number, seen: now, value: V::default() });
        let before = mine.map(|_| entry.seen);
        entry.seen = now;
        (before, &mut entry.value)
    }

    /// Where the row of a number begins.
    fn row(&self, number: u64) -> usize {
        (spread(number) as usize & (self.places.len() - 1)) / WAYS * WAYS
    }
}

/// Sessions are numbered one after the other and addresses lie together: multiplied by the golden section they spread
/// (Knuth, volume 3, section 6.4).
pub(crate) fn spread(number: u64) -> u32 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    ((number ^ (number >> 32)).wrapping_mul(GOLDEN) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    #[test]
    fn who_was_seen_last_is_remembered() {
        let mut table = Table::<u32>::new(16);
        let at = |second| Time::ZERO + Span::from_secs(second);
        for number in 0..1000 {
            *table.see(number, at(number)).1 = number as u32;
        }
        assert_eq!(table.see(999, at(1000)), (Some(at(999)), &mut 999));
        assert_eq!(table.places.iter().flatten().count(), 16);
        assert_eq!(table.see(1000, at(1000)), (None, &mut 0));
        assert_eq!(table.see(1000, at(1001)).0, Some(at(1000)));
    }
}
