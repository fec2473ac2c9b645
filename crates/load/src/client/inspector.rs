//! [`Inspector`]: looks at a body as it passes, and [`hold`]: whether a response is what was asked for.

use sha2::{Digest, Sha256};
use traffic::model::Object;
use traffic::model::content::{Filler, bytes_of};

use crate::settings::checks::{Checks, Sha256Digest};

/// Bytes kept of a body for a pattern to be looked for in.
const MAX_KEPT: usize = 1 << 20;

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

/// Whether a response with this status, and a body of this length, is what `checks` ask for.
pub(crate) fn hold(checks: &Checks, status: u16, length: u64, inspector: Option<Box<Inspector>>) -> bool {
    let status = checks.status.as_ref().is_none_or(|set| set.contains(status));
    let length = checks.length.is_none_or(|wanted| wanted == length);
    status && length && inspector.is_none_or(|inspector| inspector.holds(checks))
}

impl Inspector {
    /// What has to see a body that is to be `content`; `None` where its length says all.
    pub(crate) fn new(checks: &Checks, content: Option<&Object>) -> Option<Box<Self>> {
        let content = content.filter(|_| checks.content);
        if checks.digest.is_none() && checks.pattern.is_none() && content.is_none() {
            return None;
        }
        Some(Box::new(Self {
            hasher: checks.digest.map(|_| Sha256::new()),
            kept: checks.pattern.as_ref().map(|_| Vec::new()),
            content: content.map(|object| Ok(bytes_of(object))),
        }))
    }

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
            let room = MAX_KEPT.saturating_sub(kept.len()).min(data.len());
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

#[cfg(test)]
mod tests {
    use std::io::Read;

    use regex::bytes::Regex;
    use traffic::model::{Model, ModelName};

    use super::*;

    #[test]
    fn a_body_is_checked_as_it_passes() {
        let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824".parse().unwrap();
        let check = |body: &[&str], checks: &Checks| {
            let mut inspector = Inspector::new(checks, None).unwrap();
            body.iter().for_each(|piece| inspector.look_at(piece.as_bytes()));
            hold(checks, 200, 5, Some(inspector))
        };
        let digest = Checks { digest: Some(digest), ..Checks::default() };
        assert!(check(&["hel", "lo"], &digest));
        assert!(!check(&["hallo"], &digest));
        let pattern = Checks { pattern: Some(Regex::new("l+o$").unwrap()), ..Checks::default() };
        assert!(check(&["hel", "lo"], &pattern));
        assert!(!check(&["help"], &pattern));
        let status = Checks { status: "2xx".parse().ok(), length: Some(5), ..Checks::default() };
        assert!(Inspector::new(&status, None).is_none());
        assert!(hold(&status, 204, 5, None) && !hold(&status, 304, 5, None) && !hold(&status, 200, 4, None));
    }

    #[test]
    fn content_of_a_model_is_known() {
        let model = Model::named(ModelName::WebStone2, 1);
        let object = &model.objects()[0];
        let mut body = Vec::new();
        bytes_of(object).read_to_end(&mut body).unwrap();
        let checks = Checks { content: true, ..Checks::default() };
        let holds = |body: &[u8]| {
            let mut inspector = Inspector::new(&checks, Some(object)).unwrap();
            body.chunks(7).for_each(|piece| inspector.look_at(piece));
            hold(&checks, 200, body.len() as u64, Some(inspector))
        };
        assert!(holds(&body));
        assert!(!holds(&body[..body.len() - 1]));
        body[3] ^= 1;
        assert!(!holds(&body));
        assert!(Inspector::new(&Checks::default(), Some(object)).is_none());
    }
}
