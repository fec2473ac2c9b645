//! [`Outcomes`]: how much of what is served goes to sessions that are lost.

/// Requests that were served of sessions that have ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcomes {
    finished: f64,
    lost: f64,
    sessions: f64,
    /// How many there ever were.
    seen: f64,
}

impl Outcomes {
    /// Of so many sessions the older ones count half.
    const REMEMBERED: f64 = 64.0;
    /// As many more are taken to be finished: a few that are lost say little.
    const PRIOR: f64 = 8.0;
    /// No session counts for more than so many of the mean: one that goes on all day is not what others are like.
    const LONGEST: f64 = 4.0;

    /// A session has ended of which so many requests were served; it was lost where its last was refused, or given up
    /// for its wait. On average one has so many, if that is known.
    pub(super) fn learn(&mut self, served: u32, is_lost: bool, mean: Option<f32>) {
        let most = mean.map_or(f64::INFINITY, |mean| Self::LONGEST * f64::from(mean));
        *if is_lost { &mut self.lost } else { &mut self.finished } += f64::from(served).min(most);
        self.sessions += 1.0;
        self.seen += 1.0;
        if self.sessions > Self::REMEMBERED {
            for sum in [&mut self.finished, &mut self.lost, &mut self.sessions] {
                *sum /= 2.0;
            }
        }
    }

    /// The share of requests that are those of sessions which are lost.
    pub(super) fn lost(self) -> f64 {
        let all = self.finished + self.lost;
        if all > 0.0 { self.lost / (all * (1.0 + Self::PRIOR / self.seen)) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_share_of_requests_and_a_few_say_little() {
        let mut outcomes = Outcomes::default();
        assert_eq!(outcomes.lost(), 0.0);
        outcomes.learn(40, true, None);
        assert!(outcomes.lost() < 0.12, "{}", outcomes.lost());
        // One in two, with half of the requests.
        for _ in 0..500 {
            outcomes.learn(20, true, Some(40.0));
            outcomes.learn(40, false, Some(40.0));
        }
        assert!((0.31..0.35).contains(&outcomes.lost()), "{}", outcomes.lost());
        (0..200).for_each(|_| outcomes.learn(40, false, Some(40.0)));
        assert!(outcomes.lost() < 0.05, "{}", outcomes.lost());
        // One that went on all day is lost.
        outcomes.learn(100_000, true, Some(40.0));
        assert!(outcomes.lost() < 0.12, "{}", outcomes.lost());
    }
}
