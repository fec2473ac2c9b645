//! [`Progress`]: how far a session has come.

/// How far a session has come, from little to much: of few requests each counts, of many a quarter more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Progress(u8);

impl Progress {
    /// How many there are.
    pub(crate) const COUNT: usize = 32;

    /// With so many requests before.
    pub(crate) fn after(requests: u32) -> Self {
        /// Up to so many each counts.
        const SINGLE: u32 = 8;
        let step = match requests {
            0..SINGLE => requests,
            // Four to an octave.
            _ => {
                let octave = requests.ilog2();
                let quarter = (requests >> (octave - 2)) & 3;
                SINGLE + 4 * (octave - SINGLE.ilog2()) + quarter
            }
        };
        Self(step.min(Self::COUNT as u32 - 1) as u8)
    }

    /// How many requests bring a session from this to the next.
    pub(crate) const fn requests_at(index: usize) -> u32 {
        match index {
            0..8 => 1,
            _ => 1 << (index / 4 - 1),
        }
    }

    /// Position among all, from little to much.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_come_farther_has_more_progress_up_to_a_bound() {
        let all: alloc::vec::Vec<usize> =
            (0..2000).map(|requests| Progress::after(requests).index()).collect();
        assert_eq!(all[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 8]);
        assert!(all.is_sorted());
        assert!(all.windows(2).all(|pair| pair[1] - pair[0] <= 1));
        assert_eq!(all[1999], Progress::COUNT - 1);
        for index in 0..Progress::COUNT - 1 {
            let requests = all.iter().filter(|progress| **progress == index).count();
            assert_eq!(requests as u32, Progress::requests_at(index), "{index}");
        }
    }
}
