//! [`HeldIds`]: where requests are found by id.

use core::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;
use units::RequestId;

/// Requests by id. The table is made for as many as there may be, and mostly few are held: those lie together.
pub(crate) type HeldIds<V> = HashMap<RequestId, V, BuildHasherDefault<Together>>;

/// Ids of the driver have a small number in their lower half, which no other has that is held; the upper half
/// grows with each request.
#[derive(Debug, Default, Clone)]
pub(crate) struct Together(u64);

impl Hasher for Together {
    fn write_u64(&mut self, id: u64) {
        /// The golden ratio: the bits that tell neighbours apart are the highest.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let low = u64::from(u32::MAX);
        self.0 = (id & low) | ((id >> 32).wrapping_mul(SPREAD) & !low);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0.rotate_left(8) ^ u64::from(*byte)));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_all_sorts_are_found() {
        let mut held = HeldIds::default();
        let id = |n: u64| RequestId((n << 32) | (n % 21));
        (0..5000).for_each(|n| {
            held.insert(id(n), n);
            held.insert(RequestId(n), n + 1);
        });
        for n in 1..5000 {
            assert_eq!((held.get(&id(n)), held.get(&RequestId(n))), (Some(&n), Some(&(n + 1))), "{n}");
        }
        assert_eq!(held.get(&RequestId(5000)), None);
    }
}
