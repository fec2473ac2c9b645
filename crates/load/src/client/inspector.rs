//! [`Inspector`]: looks at a body as it passes, and [`hold`]: whether a response is what was asked for.

use sha2::{Digest, Sha256};
use traffic::model::Object;
use traffic::model::content::{Filler, bytes_of};

use crate::client::fault::Reason;
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
///
/// # Errors
/// What is not.
pub(crate) fn hold(
    checks: &Checks,
    status: u16,
    length: u64,
    inspector: Option<&mut Inspector>,
) -> Result<(), Reason> {
    if let Some(set) = checks.status.as_ref().filter(|set| !set.contains(status)) {
        return Err(format!("status {status} instead of {set}").into());
    }
    if let Some(wanted) = checks.length.filter(|wanted| *wanted != length) {
        return Err(format!("{length} bytes instead of {wanted}").into());
    }
    inspector.map_or(Ok(()), |inspector| inspector.holds(checks))
}

impl Inspector {
    /// What has to see a body that is to be `content`, or of which something is kept; `None` where its length says all.
    pub(crate) fn new(checks: &Checks, content: Option<&Object>, is_kept: bool) -> Option<Box<Self>> {
        let content = content.filter(|_| checks.content);
        let is_kept = is_kept || checks.pattern.is_some();
        if checks.digest.is_none() && !is_kept && content.is_none() {
            return None;
        }
        Some(Box::new(Self {
            hasher: checks.digest.map(|_| Sha256::new()),
            kept: is_kept.then(Vec::new),
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
            keep(kept, data);
        }
    }

    /// What is kept of the body: its beginning.
    pub(crate) fn kept(&self) -> &[u8] {
        self.kept.as_deref().unwrap_or_default()
    }

    fn holds(&mut self, checks: &Checks) -> Result<(), Reason> {
        if let (Some(hasher), Some(Sha256Digest(wanted))) = (self.hasher.take(), checks.digest)
            && hasher.finalize().as_slice() != wanted
        {
            return Err("another SHA-256 than was expected".into());
        }
        if let (Some(kept), Some(pattern)) = (&self.kept, &checks.pattern)
            && !pattern.is_match(kept)
        {
            return Err("the pattern that was expected is not in it".into());
        }
        match &self.content {
            Some(Ok(filler)) if filler.left() == 0 => Ok(()),
            Some(_) => Err("not the content that was made for the workload".into()),
            None => Ok(()),
        }
    }
}

/// Keeps of `data` what there is room for; a long body's room is made once, as each move leaves as much to the allocator.
fn keep(kept: &mut Vec<u8>, data: &[u8]) {
    let room = MAX_KEPT.saturating_sub(kept.len()).min(data.len());
    if !kept.is_empty() && kept.len() + room > kept.capacity() {
        kept.reserve_exact(MAX_KEPT - kept.len());
    }
    kept.extend_from_slice(data.get(..room).unwrap_or_default());
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
            let mut inspector = Inspector::new(checks, None, false).unwrap();
            body.iter().for_each(|piece| inspector.look_at(piece.as_bytes()));
            hold(checks, 200, 5, Some(&mut inspector)).is_ok()
        };
        let digest = Checks { digest: Some(digest), ..Checks::default() };
        assert!(check(&["hel", "lo"], &digest));
        assert!(!check(&["hallo"], &digest));
        let pattern = Checks { pattern: Some(Regex::new("l+o$").unwrap()), ..Checks::default() };
        assert!(check(&["hel", "lo"], &pattern));
        assert!(!check(&["help"], &pattern));
        let status = Checks { status: "2xx".parse().ok(), length: Some(5), ..Checks::default() };
        assert!(Inspector::new(&status, None, false).is_none());
        assert_eq!(hold(&status, 204, 5, None), Ok(()));
        assert_eq!(hold(&status, 304, 5, None), Err("status 304 instead of 2xx".into()));
        assert_eq!(hold(&status, 200, 4, None), Err("4 bytes instead of 5".into()));
    }

    #[test]
    fn content_of_a_model_is_known() {
        let model = Model::named(ModelName::WebStone2, 1);
        let object = &model.objects()[0];
        let mut body = Vec::new();
        bytes_of(object).read_to_end(&mut body).unwrap();
        let checks = Checks { content: true, ..Checks::default() };
        let holds = |body: &[u8]| {
            let mut inspector = Inspector::new(&checks, Some(object), false).unwrap();
            body.chunks(7).for_each(|piece| inspector.look_at(piece));
            hold(&checks, 200, body.len() as u64, Some(&mut inspector)).is_ok()
        };
        assert!(holds(&body));
        assert!(!holds(&body[..body.len() - 1]));
        body[3] ^= 1;
        assert!(!holds(&body));
        assert!(Inspector::new(&Checks::default(), Some(object), false).is_none());
    }
}
