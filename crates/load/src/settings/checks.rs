//! [`Checks`]: what a response must be to count as one.

use std::fmt;
use std::str::FromStr;

use regex::bytes::Regex;

/// What every response must fulfil; one that does not is counted as an error of kind `body`.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// Its status.
    pub status: Option<StatusSet>,
    /// The length of its body, in bytes.
    pub length: Option<u64>,
    /// The SHA-256 of its body.
    pub digest: Option<Sha256Digest>,
    /// Whether it must be, byte by byte, what was made for the workload.
    pub content: bool,
    /// A regular expression that matches somewhere in the first MiB of its body.
    pub pattern: Option<Regex>,
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

/// A SHA-256 digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sha256Digest(pub(crate) [u8; 32]);

/// A text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a SHA-256; it has 64 hexadecimal digits, as sha256sum prints them")]
pub struct DigestError(String);

impl FromStr for Sha256Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let error = || DigestError(text.to_owned());
        if text.len() != 64 || !text.is_ascii() {
            return Err(error());
        }
        let mut digest = [0; 32];
        for (index, byte) in digest.iter_mut().enumerate() {
            let digits = text.get(index * 2..index * 2 + 2).ok_or_else(error)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| error())?;
        }
        Ok(Self(digest))
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

    #[test]
    fn digests_are_read() {
        assert!("abc".parse::<Sha256Digest>().is_err());
        assert!("g".repeat(64).parse::<Sha256Digest>().is_err());
    }
}
