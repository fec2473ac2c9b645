//! [`Crowd`]: a closed loop instead of a search, for what a server does in all.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use record::Estimate;
use units::Span;

use super::probe::Probe;
use crate::Error;
use crate::parts::Part;

/// So many clients, each with one request after the other, for so long; written as `64:5s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowd {
    /// From 1 on.
    pub clients: u32,
    /// The measuring window.
    pub hold: Span,
}

/// What is wrong with a text that should be a [`Crowd`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not CLIENTS:HOLD, such as 64:5s")]
pub struct NoCrowd(String);

impl FromStr for Crowd {
    type Err = NoCrowd;

    fn from_str(text: &str) -> Result<Self, NoCrowd> {
        let parsed = text.split_once(':').and_then(|(clients, hold)| {
            Some(Self { clients: clients.parse().ok()?, hold: hold.parse().ok()? })
        });
        let is_possible = |crowd: &Self| crowd.clients > 0 && !crowd.hold.is_zero();
        parsed.filter(is_possible).ok_or_else(|| NoCrowd(text.to_owned()))
    }
}

impl fmt::Display for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.clients, self.hold)
    }
}

/// What the clients of a probe got per second together, and its 95 % confidence interval over parts of the window.
pub(super) fn achieved(probe: &Probe, directory: &Path, of_sessions: bool) -> Result<(f64, [f64; 2]), Error> {
    let in_part = |part: &Part| {
        let completed = || part.sessions.values().map(|(_, completed)| completed).sum::<u64>();
        let count = if of_sessions { completed() } else { part.good };
        count as f64 / part.length
    };
    let Estimate { mean, ci } = Estimate::of(Part::read(directory)?.iter().map(in_part));
    let achieved = probe.achieved();
    // By the moment at which requests began, and with those that were refused, it is a little different.
    let ci = ci.map(|end| if mean > 0.0 && end.is_finite() { end * achieved / mean } else { achieved });
    Ok((achieved, ci))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crowds_are_read_and_written() {
        let crowd: Crowd = "64:5s".parse().unwrap();
        assert_eq!((crowd.clients, crowd.hold, &*crowd.to_string()), (64, Span::from_secs(5), "64:5s"));
        for wrong in ["64", "0:5s", "64:0s", "x:5s", "64:", ":5s"] {
            assert_eq!(
                wrong.parse::<Crowd>().unwrap_err().to_string(),
                format!("\"{wrong}\" is not CLIENTS:HOLD, such as 64:5s")
            );
        }
    }
}
