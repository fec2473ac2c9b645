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

impl Resolution {
    /// Of so many digits behind the point of the second.
    pub(super) fn of_digits(digits: usize) -> Self {
        match digits {
            0 => Self::Seconds,
            1..=3 => Self::Millis,
            _ => Self::Micros,
        }
    }
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

/// How exactly a line has its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// As it stands.
    pub resolution: Resolution,
    /// Digits behind the point of the second, in a notation that leaves out zeros at its end: numbers of seconds, and ISO
    /// 8601 as Go has it. `None` in others, which have as many on each line.
    pub digits: Option<u8>,
}

/// Gathers how exactly the lines of a file have their times.
///
/// A file is as coarse as its coarsest line. But where zeros at the end are left out, of times in milliseconds one in a
/// thousand looks like a whole second; so few are not counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Resolutions {
    /// By [`Resolution`], of the lines that have as many digits as any other.
    fixed: [u64; 3],
    /// By digits, of the others.
    loose: [u64; DIGITS],
}

/// Nanoseconds have nine; beyond that they are as good as that.
const DIGITS: usize = 10;

/// So many times as many lines without a fraction as chance makes are still chance.
const AS_CHANCE: f64 = 5.0;

impl Resolutions {
    const ALL: [Resolution; 3] = [Resolution::Seconds, Resolution::Millis, Resolution::Micros];

    /// Counts a line.
    pub fn add(&mut self, written: Written) {
        match written.digits {
            Some(digits) => self.loose[usize::from(digits).min(DIGITS - 1)] += 1,
            None => self.fixed[written.resolution as usize] += 1,
        }
    }

    /// How exactly the file has its times; the finest where it has none.
    pub fn overall(&self) -> Resolution {
        let fixed = Self::ALL.into_iter().zip(self.fixed).find(|(_, lines)| *lines > 0);
        let fixed = fixed.map_or(Resolution::Micros, |(resolution, _)| resolution);
        self.loose().map_or(fixed, |loose| fixed.min(loose))
    }

    fn loose(&self) -> Option<Resolution> {
        let lines: u64 = self.loose.iter().sum();
        // Most lines have as many as there are, or one fewer.
        let mut fewer = 0;
        let usual = self.loose.iter().position(|count| {
            fewer += count;
            2 * fewer > lines
        })?;
        let by_chance = AS_CHANCE * lines as f64 / 10_f64.powi(usual as i32);
        let whole = self.loose[0];
        let is_chance = whole as f64 <= by_chance.max(1.0) && 5 * whole <= lines;
        Some(if is_chance { Resolution::of_digits(usual) } else { Resolution::Seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overall(lines: &[(u64, u8, bool)]) -> Resolution {
        let mut resolutions = Resolutions::default();
        for (count, digits, is_loose) in lines.iter().copied() {
            let resolution = Resolution::of_digits(digits.into());
            (0..count).for_each(|_| {
                resolutions.add(Written { resolution, digits: is_loose.then_some(digits) });
            });
        }
        resolutions.overall()
    }

    #[test]
    fn zeros_that_were_left_out_make_no_coarse_file() {
        assert_eq!(overall(&[]), Resolution::Micros);
        assert_eq!(overall(&[(5, 0, true)]), Resolution::Seconds);
        // Tenths of a second: each tenth of them is a whole one.
        assert_eq!(overall(&[(1000, 0, true), (9000, 1, true)]), Resolution::Millis);
        assert_eq!(overall(&[(1, 0, true), (9, 1, true), (90, 2, true), (900, 3, true)]), Resolution::Millis);
        assert_eq!(overall(&[(1, 3, true), (999, 6, true)]), Resolution::Micros);
    }

    #[test]
    fn a_file_is_as_coarse_as_its_coarsest_lines() {
        assert_eq!(overall(&[(150, 0, true), (850, 3, true)]), Resolution::Seconds);
        assert_eq!(overall(&[(1, 0, false), (1000, 3, true)]), Resolution::Seconds);
        assert_eq!(overall(&[(1, 0, false), (1, 3, false)]), Resolution::Seconds);
        assert_eq!(overall(&[(10, 3, false), (10, 6, true)]), Resolution::Millis);
    }
}
