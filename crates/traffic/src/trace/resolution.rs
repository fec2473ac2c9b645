//! [`Resolution`]: how exactly points in time are written, on a line and in a file.

use std::fmt;

/// How exactly points in time are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resolution {
    /// Whole seconds.
    Seconds,
    /// Tenths to thousandths.
    Millis,
    /// Microseconds or finer.
    Micros,
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seconds => "seconds",
            Self::Millis => "milliseconds",
            Self::Micros => "microseconds",
        })
    }
}

/// How exactly those of a file are: as all but a few are at least. Programs that write times as numbers leave out zeros at
/// the end, so that of times in milliseconds one in a thousand looks like whole seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Resolutions([u64; 3]);

/// Of so many lines one may look coarser than they are.
const LOOKS_COARSER: u64 = 5;

impl Resolutions {
    const ALL: [Resolution; 3] = [Resolution::Seconds, Resolution::Millis, Resolution::Micros];

    /// A line has this.
    pub fn add(&mut self, resolution: Resolution) {
        self.0[resolution as usize] += 1;
    }

    /// That of all lines.
    pub fn overall(&self) -> Resolution {
        let few = self.0.iter().sum::<u64>() / LOOKS_COARSER;
        let mut coarser = 0;
        let overall = Self::ALL.into_iter().zip(self.0).find(|(_, lines)| {
            coarser += lines;
            coarser > few
        });
        overall.map_or(Resolution::Micros, |(resolution, _)| resolution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overall(counts: [u64; 3]) -> Resolution {
        Resolutions(counts).overall()
    }

    #[test]
    fn zeros_that_were_left_out_make_no_coarse_file() {
        assert_eq!(overall([0, 0, 0]), Resolution::Micros);
        assert_eq!(overall([1, 0, 0]), Resolution::Seconds);
        assert_eq!(overall([1, 1, 2]), Resolution::Seconds);
        // Tenths of a second: each tenth of them ends in a zero.
        assert_eq!(overall([1000, 9000, 0]), Resolution::Millis);
        assert_eq!(overall([1, 999, 0]), Resolution::Millis);
        assert_eq!(overall([0, 1, 999]), Resolution::Micros);
        assert_eq!(overall([1000, 0, 1000]), Resolution::Seconds);
    }
}
