//! [`Checks`]: what a response must be to count as one.

use std::str::FromStr;

use regex::bytes::Regex;
use traffic::StatusSet;

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
    fn digests_are_read() {
        assert!("abc".parse::<Sha256Digest>().is_err());
        assert!("g".repeat(64).parse::<Sha256Digest>().is_err());
    }
}
