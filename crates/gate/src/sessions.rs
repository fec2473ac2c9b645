//! [`Sessions`]: reading and writing the session cookie.

use std::cell::Cell;
use std::fmt::Write as _;

use http::{HeaderMap, HeaderValue};
use policy::{Session, SessionStatus};
use units::{ClassId, SessionId, Time};

use crate::settings;
use crate::token::{self, Classes, Key};
use crate::{cookie, error::Error};

/// Reads and writes the session cookie.
#[derive(Debug)]
pub(crate) struct Sessions {
    settings: settings::Sessions,
    classes: Classes,
    next_id: Cell<u64>,
}

/// A session and whether its cookie must go out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) session: Session,
    pub(crate) write: bool,
}

impl Sessions {
    /// Without a secret, one is made up that lives as long as the process.
    pub(crate) fn new(mut settings: settings::Sessions, classes: &[String]) -> Result<Self, Error> {
        let random = |bytes: &mut [u8]| {
            getrandom::fill(bytes).map_err(|why| Error::System(std::io::Error::other(why.to_string())))
        };
        if settings.keys.is_empty() {
            let mut secret = [0; 32];
            random(&mut secret)?;
            settings.keys.push(Key::new(&secret, ""));
        }
        let mut start = [0; 8];
        random(&mut start)?;
        let classes = Classes::new(classes.iter().map(String::as_str));
        Ok(Self { settings, classes, next_id: Cell::new(u64::from_ne_bytes(start)) })
    }

    /// The session a request belongs to, if its token holds.
    pub(crate) fn find(&self, headers: &HeaderMap, now: Time) -> Option<Visit> {
        let text = cookie::find(headers, self.name())?;
        let session = token::open(self.settings.keys.iter(), &self.classes, text)?;
        match session.status(now, &self.settings.limits) {
            SessionStatus::Valid => Some(Visit { session, write: false }),
            SessionStatus::Renew => Some(Visit { session, write: true }),
            SessionStatus::Expired => None,
        }
    }

    /// A session that begins with this request.
    pub(crate) fn begin(&self, class: ClassId, now: Time) -> Visit {
        let id = self.next_id.get();
        self.next_id.set(id.wrapping_add(1));
        Visit { session: Session::begin(SessionId(id), class, now), write: true }
    }

    /// The value of `Set-Cookie`.
    pub(crate) fn cookie(&self, mut session: Session, now: Time) -> Option<HeaderValue> {
        session.last_seen = now;
        let key = self.settings.keys.first()?;
        let mut text = String::with_capacity(160);
        let token = token::seal(key, &self.classes, &session);
        // Without Max-Age it ends with the browser; the token knows when it ends in any case.
        write!(text, "{}={token}; Path=/; HttpOnly; SameSite=Lax", self.settings.cookie).ok()?;
        if self.settings.secure {
            text.push_str("; Secure");
        }
        HeaderValue::from_maybe_shared(bytes::Bytes::from(text)).ok()
    }

    /// Name of the cookie.
    pub(crate) fn name(&self) -> &[u8] {
        self.settings.cookie.as_bytes()
    }
}
