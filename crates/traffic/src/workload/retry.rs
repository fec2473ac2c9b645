//! [`Retry`]: what users do whose requests fail.

use config::{Error, Source, Spanned};
use serde::Deserialize;
use units::Span;

use super::think::{Think, Thinking};

/// How users ask again for what failed: a response with status 429 or from 500 on, none in time, or no connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// How often at most, after the first attempt; at least once.
    pub times: u32,
    /// The pause before the first retry.
    pub pause: Think,
    /// How many times as long each further pause is; 1 where they are all alike.
    pub backoff: f64,
    /// Whether it waits for at least as long as `Retry-After` says (RFC 9110, section 10.2.3).
    pub heeds_retry_after: bool,
}

impl Retry {
    /// No pause is longer than this, whatever grows, and no `Retry-After` is waited for longer.
    pub const MAX_PAUSE: Span = Span::from_secs(60);

    /// How long the user pauses before retry number `number`, from 1; the response asked for `asked`.
    pub fn pause(&self, number: u32, asked: Option<Span>, thinking: &mut Thinking) -> Span {
        let pause = thinking.next(&self.pause).mul_f64(self.factor(number));
        let asked = asked.filter(|_| self.heeds_retry_after).unwrap_or_default();
        pause.max(asked).min(Self::MAX_PAUSE)
    }

    /// How long all pauses before one request can take.
    pub fn longest(&self) -> Span {
        let least = if self.heeds_retry_after { Self::MAX_PAUSE } else { Span::ZERO };
        let longest =
            |number| self.pause.longest().mul_f64(self.factor(number)).max(least).min(Self::MAX_PAUSE);
        (1..=self.times).map(longest).sum()
    }

    fn factor(&self, number: u32) -> f64 {
        self.backoff.powi(number.saturating_sub(1).min(100) as i32)
    }
}

const MAX_RETRIES: u32 = 20;
const MAX_BACKOFF: f64 = 10.0;

/// As it stands in a workload file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RetryEntry {
    times: Spanned<u32>,
    #[serde(default)]
    pause: Think,
    backoff: Option<Spanned<f64>>,
    #[serde(default)]
    retry_after: bool,
}

impl RetryEntry {
    /// Checks it.
    pub(super) fn check(&self, source: &Source) -> Result<Retry, Error> {
        let times = *self.times.get_ref();
        if !(1..=MAX_RETRIES).contains(&times) {
            let what = format!("a request is retried {times} times; it must be 1 to {MAX_RETRIES}");
            return Err(source
                .error(self.times.span(), what)
                .mend("leave retry out where users do not ask again"));
        }
        let backoff = match &self.backoff {
            Some(backoff) if !(1.0..=MAX_BACKOFF).contains(backoff.get_ref()) => {
                let what = format!("backoff is {}; it must be 1 to {MAX_BACKOFF}", backoff.get_ref());
                return Err(source.error(backoff.span(), what).mend("2 makes each pause twice as long"));
            }
            Some(backoff) => *backoff.get_ref(),
            None => 1.0,
        };
        Ok(Retry { times, pause: self.pause, backoff, heeds_retry_after: self.retry_after })
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;

    #[test]
    fn pauses_grow_and_heed_the_server() {
        let retry = Retry {
            times: 3,
            pause: Think::constant(Span::from_millis(100)),
            backoff: 2.0,
            heeds_retry_after: true,
        };
        let mut thinking = Thinking::of_retries(1, Time::ZERO);
        let mut pause = |number, asked| retry.pause(number, asked, &mut thinking);
        let millis: Vec<Span> = (1..=3).map(|number| pause(number, None)).collect();
        assert_eq!(millis, [100, 200, 400].map(Span::from_millis));
        assert_eq!(pause(1, Some(Span::from_secs(5))), Span::from_secs(5));
        assert_eq!(pause(1, Some(Span::from_secs(500))), Retry::MAX_PAUSE);
        assert_eq!(retry.longest(), Retry::MAX_PAUSE * 3);
        let deaf = Retry { heeds_retry_after: false, ..retry };
        assert_eq!(deaf.pause(2, Some(Span::from_secs(5)), &mut thinking), Span::from_millis(200));
        assert_eq!(deaf.longest(), Span::from_millis(700));
        let patient = Retry { times: 20, backoff: 10.0, ..deaf };
        assert_eq!(patient.pause(20, None, &mut thinking), Retry::MAX_PAUSE);
        assert!(patient.longest() < Retry::MAX_PAUSE * 20);
    }
}
