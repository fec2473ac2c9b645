//! [`Page`]: what a client asks for, and what the server makes of it.
//!
//! Everything is in the path, so that client and server agree on it and the gate in between cannot know.

use std::time::Duration;

use bytes::Bytes;

/// How a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Head and body, with a length.
    Whole,
    /// In chunks, some time apart.
    Chunks,
    /// Before it has read the request's body.
    Early,
    /// It closes the connection in the middle of the body.
    Cut,
    /// It closes the connection without an answer.
    Nothing,
    /// It takes the request and never answers.
    Never,
    /// With an error of its own.
    Error,
}

impl Manner {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Whole, "whole"),
        (Self::Chunks, "chunks"),
        (Self::Early, "early"),
        (Self::Cut, "cut"),
        (Self::Nothing, "nothing"),
        (Self::Never, "never"),
        (Self::Error, "error"),
    ];

    /// Whether the server is at fault when it answers so.
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Cut | Self::Nothing | Self::Never)
    }
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The number of the request, of all in the world.
    pub id: u64,
    /// How long the server works on it.
    pub work: Duration,
    /// Bytes of the response's body.
    pub size: usize,
    /// How it answers.
    pub manner: Manner,
}

impl Page {
    /// The path that asks for it.
    pub fn path(&self) -> String {
        let manner =
            Manner::ALL.iter().find(|(manner, _)| *manner == self.manner).map_or("whole", |(_, name)| name);
        format!("/{manner}/{}/{}/{}", self.work.as_millis(), self.size, self.id)
    }

    /// What a path asks for.
    pub fn parse(path: &str) -> Option<Self> {
        let mut parts = path.trim_start_matches('/').split('/');
        let name = parts.next()?;
        let manner = Manner::ALL.iter().find(|(_, known)| *known == name)?.0;
        let work = Duration::from_millis(parts.next()?.parse().ok()?);
        Some(Self { manner, work, size: parts.next()?.parse().ok()?, id: parts.next()?.parse().ok()? })
    }

    /// The response's body: it differs between requests, and from place to place in one.
    pub fn body(&self) -> Bytes {
        let period = self.period();
        let mut body = period.repeat(self.size.div_ceil(period.len()));
        body.truncate(self.size);
        body.into()
    }

    /// Whether `body` is the response's.
    pub fn is_body(&self, body: &[u8]) -> bool {
        let period = self.period();
        body.len() == self.size && body.chunks(period.len()).all(|piece| period.starts_with(piece))
    }

    /// What a body repeats: no power of two, so that no two buffers look alike.
    fn period(&self) -> [u8; 251] {
        std::array::from_fn(|place| (self.id as u8).wrapping_mul(31).wrapping_add(place as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_all_of_a_page() {
        for (manner, _) in Manner::ALL {
            let page = Page { id: 7, work: Duration::from_millis(250), size: 3000, manner };
            assert_eq!(Page::parse(&page.path()), Some(page));
        }
        assert_eq!(Page::parse("/favicon.ico"), None);
    }
}
