//! [`Share`]: one of the threads of a run, and the part of the whole that it has.

/// One of the threads of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) number: u32,
    pub(crate) of: u32,
}

impl Share {
    /// This thread's part of `whole`; all parts sum to it.
    pub(crate) fn part(self, whole: u32) -> u32 {
        whole / self.of + u32::from(self.number < whole % self.of)
    }

    /// This thread's part of a `whole` that may be large; all parts sum to it.
    pub(crate) fn part_of(self, whole: u64) -> u64 {
        let of = u64::from(self.of);
        whole / of + u64::from(u64::from(self.number) < whole % of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole() {
        for (whole, of) in [(10, 3), (2, 3), (0, 2), (64, 1)] {
            let parts: Vec<u32> = (0..of).map(|number| Share { number, of }.part(whole)).collect();
            assert_eq!(parts.iter().sum::<u32>(), whole);
            let large = (0..of).map(|number| Share { number, of }.part_of(u64::from(whole)));
            assert!(large.eq(parts.iter().copied().map(u64::from)));
            assert!(parts.iter().max() <= parts.iter().min().map(|least| least + 1).as_ref());
        }
    }
}
