//! [`Queue`]: which there are, and what is known of them.

/// A queue; a request is in service for 1 s on average.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// M/M/1 at 0.8.
    Mm1,
    /// M/M/4 with room for 20, at 0.9.
    Mm4With20,
    /// M/G/1-PS at 0.8, with a coefficient of variation of 2.
    Mg1Ps,
}

impl Queue {
    pub(super) const ALL: [Self; 3] = [Self::Mm1, Self::Mm4With20, Self::Mg1Ps];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mm1 => "M/M/1 at 0.8",
            Self::Mm4With20 => "M/M/4/20 at 0.9",
            Self::Mg1Ps => "M/G/1-PS at 0.8, c_v 2",
        }
    }

    /// As options of `headworks sim`, which the others take as well.
    pub(super) fn options(self) -> &'static [&'static str] {
        macro_rules! options {
            ($($word:literal)*) => { &[$($word,)* "--dynamic", "0", "--static-time", "1s"] };
        }
        match self {
            Self::Mm1 => {
                options!("--load" "0.8" "--threads" "1" "--processors" "1" "--queue" "none" "--service" "exponential" "--discipline" "fcfs")
            }
            Self::Mm4With20 => {
                options!("--load" "0.9" "--threads" "4" "--processors" "4" "--queue" "16" "--service" "exponential" "--discipline" "fcfs")
            }
            // So many threads never limit it.
            Self::Mg1Ps => {
                options!("--load" "0.8" "--threads" "100000" "--processors" "1" "--queue" "none" "--service" "h2:2" "--discipline" "ps")
            }
        }
    }

    /// The share that is rejected, and the mean time in the system, s (Kleinrock, "Queueing Systems", volume I, sections
    /// 3.2, 3.6, and volume II, section 4.4: with processor sharing the mean does not depend on the law).
    pub(super) fn known(self) -> (f64, f64) {
        match self {
            Self::Mm1 | Self::Mg1Ps => (0.0, 1.0 / (1.0 - 0.8)),
            Self::Mm4With20 => {
                let (servers, room, rate) = (4, 20, 3.6);
                // Of each number of requests in it, over that of none.
                let weights = (1..=room).scan(1.0, |weight, present: i32| {
                    *weight *= rate / f64::from(present.min(servers));
                    Some((present, *weight))
                });
                let weights: Vec<(i32, f64)> = weights.collect();
                let all = 1.0 + weights.iter().map(|(_, weight)| weight).sum::<f64>();
                let present =
                    weights.iter().map(|(present, weight)| f64::from(*present) * weight).sum::<f64>();
                let rejected = weights.last().map_or(0.0, |(_, weight)| weight / all);
                (rejected, present / all / (rate * (1.0 - rejected)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the chain of its 21 states gives it, solved numerically.
    #[test]
    fn what_is_known_is_right() {
        assert!((Queue::Mm1.known().1 - 5.0).abs() < 1e-12);
        let (rejected, latency) = Queue::Mm4With20.known();
        assert!(
            (rejected - 0.016_805).abs() < 5e-6 && (latency - 2.1950).abs() < 5e-5,
            "{rejected} {latency}"
        );
    }
}
