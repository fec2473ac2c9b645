//! [`Checks`]: what a response must be to count as one.

use std::fmt;
use std::str::FromStr;

use regex::bytes::Regex;
use sha2::{Digest, Sha256};
use traffic::model::Object;
use traffic::model::content::{Filler, bytes_of};

/// What is kept of a body for a pattern to be looked for in.
const MOST_KEPT: usize = 1 << 20;

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

/// Looks at a body as it passes.
#[derive(Debug)]
pub(crate) struct Inspector {
    hasher: Option<Sha256>,
    kept: Option<Vec<u8>>,
    /// What is still to come of the content, as long as it agreed.
    content: Option<Result<Filler, Differs>>,
}

/// The content is not what was made.
#[derive(Debug, Clone, Copy)]
struct Differs;

impl Checks {
    /// What has to see the body; `None` where its length says all.
    pub(crate) fn inspector(&self, content: Option<&Object>) -> Option<Box<Inspector>> {
        let content = content.filter(|_| self.content);
        if self.digest.is_none() && self.pattern.is_none() && content.is_none() {
            return None;
        }
        Some(Box::new(Inspector {
            hasher: self.digest.map(|_| Sha256::new()),
            kept: self.pattern.as_ref().map(|_| Vec::new()),
            content: content.map(|object| Ok(bytes_of(object))),
        }))
    }

    /// Whether a response of this kind is what was asked for.
    pub(crate) fn hold(&self, status: u16, length: u64, inspector: Option<Box<Inspector>>) -> bool {
        let status = self.status.as_ref().is_none_or(|set| set.contains(status));
        let length = self.length.is_none_or(|wanted| wanted == length);
        status && length && inspector.is_none_or(|inspector| inspector.holds(self))
    }
}

impl Inspector {
    pub(crate) fn look_at(&mut self, data: &[u8]) {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(data);
        }
        if let Some(Ok(filler)) = &mut self.content
            && !filler.agrees(data)
        {
            self.content = Some(Err(Differs));
        }
        if let Some(kept) = &mut self.kept {
            let room = MOST_KEPT.saturating_sub(kept.len()).min(data.len());
            kept.extend_from_slice(data.get(..room).unwrap_or_default());
        }
    }

    fn holds(self, checks: &Checks) -> bool {
        let digest = match (self.hasher, checks.digest) {
            (Some(hasher), Some(Sha256Digest(wanted))) => hasher.finalize().as_slice() == wanted,
            _ => true,
        };
        let matches = match (&self.kept, &checks.pattern) {
            (Some(kept), Some(pattern)) => pattern.is_match(kept),
            _ => true,
        };
        let agrees = match &self.content {
            Some(Ok(filler)) => filler.left() == 0,
            Some(Err(Differs)) => false,
            None => true,
        };
        digest && matches && agrees
    }
}

/// Statuses, such as `200,204,3xx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusSet(Vec<(u16, u16)>);

/// A text that names no set of statuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no status; write them as 200, 2xx or 200,304")]
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
pub struct Sha256Digest([u8; 32]);

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no SHA-256; it has 64 hexadecimal digits, as sha256sum prints them")]
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
    use std::io::Read;

    use traffic::model::{Model, ModelName};

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
    fn a_body_is_checked_as_it_passes() {
        let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824".parse().unwrap();
        let check = |body: &[&str], checks: &Checks| {
            let mut inspector = checks.inspector(None).unwrap();
            body.iter().for_each(|piece| inspector.look_at(piece.as_bytes()));
            checks.hold(200, 5, Some(inspector))
        };
        let digest = Checks { digest: Some(digest), ..Checks::default() };
        assert!(check(&["hel", "lo"], &digest));
        assert!(!check(&["hallo"], &digest));
        let pattern = Checks { pattern: Some(Regex::new("l+o$").unwrap()), ..Checks::default() };
        assert!(check(&["hel", "lo"], &pattern));
        assert!(!check(&["help"], &pattern));
        let status = Checks { status: "2xx".parse().ok(), length: Some(5), ..Checks::default() };
        assert!(status.inspector(None).is_none());
        assert!(status.hold(204, 5, None) && !status.hold(304, 5, None) && !status.hold(200, 4, None));
    }

    #[test]
    fn content_of_a_model_is_known() {
        let model = Model::named(ModelName::WebStone2, 1);
        let object = &model.objects()[0];
        let mut body = Vec::new();
        bytes_of(object).read_to_end(&mut body).unwrap();
        let checks = Checks { content: true, ..Checks::default() };
        let holds = |body: &[u8]| {
            let mut inspector = checks.inspector(Some(object)).unwrap();
            body.chunks(7).for_each(|piece| inspector.look_at(piece));
            checks.hold(200, body.len() as u64, Some(inspector))
        };
        assert!(holds(&body));
        assert!(!holds(&body[..body.len() - 1]));
        body[3] ^= 1;
        assert!(!holds(&body));
        assert!(Checks::default().inspector(Some(object)).is_none());
    }

    #[test]
    fn digests_are_read() {
        assert!("abc".parse::<Sha256Digest>().is_err());
        assert!("g".repeat(64).parse::<Sha256Digest>().is_err());
    }
}
