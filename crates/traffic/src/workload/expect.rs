//! [`Expect`]: what a response must be for a session to go on.

use std::fmt;
use std::str::FromStr;

use regex::bytes::Regex;

/// What the response to a page must be; one that is not is an error, at which the session ends.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    /// Its status; without this, any below 400.
    pub status: Option<StatusSet>,
    /// The length of its body, in bytes.
    pub length: Option<u64>,
    /// A regular expression that matches somewhere in the first MiB of its body.
    pub pattern: Option<Regex>,
}

impl Expect {
    /// Whether any response will do.
    pub fn is_nothing(&self) -> bool {
        self.status.is_none() && self.length.is_none() && self.pattern.is_none()
    }
}

/// Statuses, such as `200,204,3xx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusSet(Vec<(u16, u16)>);

/// A text that does not name a set of statuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a status; write them as 200, 2xx or 200,304")]
pub struct StatusError(String);

impl StatusSet {
    /// Whether `status` is one of them.
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&status))
    }
}

impl FromStr for StatusSet {
    type Err = StatusError;

    fn from_str(text: &str) -> Result<Self, StatusError> {
        let one = |part: &str| {
            let error = || StatusError(part.to_owned());
            if let Some(class) = part.strip_suffix("xx") {
                let class: u16 = class.parse().map_err(|_| error())?;
                return if (1..=5).contains(&class) {
                    Ok((class * 100, class * 100 + 99))
                } else {
                    Err(error())
                };
            }
            let status: u16 = part.parse().map_err(|_| error())?;
            if (100..=999).contains(&status) { Ok((status, status)) } else { Err(error()) }
        };
        text.split(',').map(|part| one(part.trim())).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (from, to)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            if from == to { write!(f, "{comma}{from}")? } else { write!(f, "{comma}{}xx", from / 100)? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_and_shown() {
        let set: StatusSet = "200, 3xx".parse().unwrap();
        assert!(set.contains(200) && set.contains(304) && !set.contains(204));
        assert_eq!(set.to_string(), "200,3xx");
        for wrong in ["", "ok", "6xx", "20x", "99", "200;201"] {
            assert!(wrong.parse::<StatusSet>().is_err(), "{wrong}");
        }
    }
}
