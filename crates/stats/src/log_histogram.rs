//! [`LogHistogram`]: number, sum and distribution of latencies, in constant memory.

/// Each power of two is divided into this many classes of equal width.
const CLASSES: usize = 128;
const CLASS_BITS: u32 = CLASSES.trailing_zeros();
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;

/// Powers of two from about a nanosecond to a year.
const MIN_POWER: i32 = -30;
const MAX_POWER: i32 = 25;
const LENGTH: usize = (MAX_POWER - MIN_POWER) as usize * CLASSES;

/// The distribution of latencies, in seconds as floating-point numbers. Quantiles are interpolated within a class and
/// known to 0.4 %. Recording is an addition at an index that the number's own bits hold: simulations record every
/// request. [`Histogram`](crate::Histogram) is for measured latencies in whole nanoseconds, to three digits.
#[derive(Debug, Clone)]
pub struct LogHistogram {
    counts: Vec<u64>,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl Default for LogHistogram {
    fn default() -> Self {
        Self { counts: vec![0; LENGTH], count: 0, sum: 0.0, min: f64::INFINITY, max: 0.0 }
    }
}

impl LogHistogram {
    /// Adds a latency, in seconds.
    #[inline]
    pub fn record(&mut self, seconds: f64) {
        self.counts[class_of(seconds)] += 1;
        self.count += 1;
        self.sum += seconds;
        self.min = self.min.min(seconds);
        self.max = self.max.max(seconds);
    }

    /// Adds all latencies of `other`.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many latencies it holds.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum, in seconds.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// The mean, in seconds; not a number when there are none.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// The latency that a share of `portion` does not exceed; not a number when there are none.
    pub fn quantile(&self, portion: f64) -> f64 {
        let wanted = portion * self.count as f64;
        let mut before = 0.0;
        for (class, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = *count as f64;
            if before + count >= wanted {
                let (from, to) = self.ends(class);
                return from + (to - from) * (wanted - before) / count;
            }
            before += count;
        }
        f64::NAN
    }

    /// About how many do not exceed `seconds`: those of its class are taken to be spread evenly.
    pub fn below(&self, seconds: f64) -> f64 {
        let class = class_of(seconds);
        let (from, to) = self.ends(class);
        let within = if from < to {
            ((seconds - from) / (to - from)).clamp(0.0, 1.0)
        } else {
            f64::from(seconds >= to)
        };
        let before: u64 = self.counts[..class].iter().sum();
        before as f64 + self.counts[class] as f64 * within
    }

    /// Between which values those of a class are: nothing is shorter than the shortest, nor longer than the longest.
    fn ends(&self, class: usize) -> (f64, f64) {
        let from = lower_end(class).max(self.min);
        (from, lower_end(class + 1).min(self.max).max(from))
    }
}

/// The exponent and the first bits of the mantissa are a logarithm that costs nothing.
#[inline]
fn class_of(seconds: f64) -> usize {
    const FIRST: u64 = ((1023 + MIN_POWER) as u64) << CLASS_BITS;
    let logarithm = seconds.to_bits() >> (MANTISSA_BITS - CLASS_BITS);
    (logarithm.saturating_sub(FIRST) as usize).min(LENGTH - 1)
}

fn lower_end(class: usize) -> f64 {
    let (octave, within) = (class / CLASSES, class % CLASSES);
    (1.0 + within as f64 / CLASSES as f64) * 2.0_f64.powi(MIN_POWER + octave as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_known_numbers() {
        let mut latencies = LogHistogram::default();
        (1..=10_000).for_each(|i| latencies.record(f64::from(i) * 1e-3));
        assert_eq!(latencies.count(), 10_000);
        assert!((latencies.mean() - 5.0005).abs() < 1e-9);
        for portion in [0.01, 0.5, 0.9, 0.99, 0.999] {
            let quantile = latencies.quantile(portion);
            assert!((quantile / (portion * 10.0) - 1.0).abs() < 0.004, "{portion}: {quantile}");
            assert!((latencies.below(quantile) - portion * 10_000.0).abs() < 1e-6);
        }
        assert!((latencies.quantile(1.0) - 10.0).abs() < 1e-9);
        assert!(LogHistogram::default().quantile(0.5).is_nan());
    }

    #[test]
    fn quantiles_of_a_constant_are_exact() {
        let mut latencies = LogHistogram::default();
        (0..100).for_each(|_| latencies.record(0.005));
        for portion in [0.001, 0.5, 0.9, 1.0] {
            assert_eq!(latencies.quantile(portion), 0.005);
        }
        assert_eq!((latencies.below(0.005), latencies.below(0.00499)), (100.0, 0.0));
    }

    #[test]
    fn what_is_out_of_range_is_counted_all_the_same() {
        let mut latencies = LogHistogram::default();
        for seconds in [0.0, 1e-12, 1e12] {
            latencies.record(seconds);
        }
        assert_eq!(latencies.count(), 3);
        assert!(latencies.quantile(1.0) > 1e7);
    }
}
