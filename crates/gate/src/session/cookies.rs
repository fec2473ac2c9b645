//! [`Sessions`]: reading and writing the session cookie.

use std::cell::Cell;
use std::io;

use http::{HeaderMap, HeaderName, HeaderValue};
use http1::headers::cookie;
use policy::{Session, SessionStatus, Visit};
use serde::{Deserialize, Serialize};
use units::{ClassId, SessionId, Time};

use crate::admission::decision::Basis;
use crate::session::current::CurrentSession;
use crate::session::place;
use crate::session::token;
use crate::session::token::{Classes, Key};
use gate_config::settings::session::Sessions as Settings;

/// The header of a place's token, for programs that keep no cookies.
pub(crate) const PLACE: HeaderName = HeaderName::from_static("headworks-place");

/// Opening a token costs arithmetic, and a head has room for hundreds.
const MAX_TOKENS: usize = 8;

/// Reads and writes the session cookie, and that of a place in the waiting room.
#[derive(Debug)]
pub(crate) struct Sessions {
    settings: Settings,
    /// Name of the cookie of a place.
    place: String,
    /// The first seals, all open.
    keys: Vec<Key>,
    classes: Classes,
    next_id: Cell<u64>,
    /// Made up because none is configured.
    own: Option<Secret>,
}

/// A secret of the gate's own. It is told to the gate that follows, and to no other process.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Secret([u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    fn make_up() -> io::Result<Self> {
        let mut secret = [0; 32];
        random(&mut secret)?;
        Ok(Self(secret))
    }

    fn key(&self) -> Key {
        Key::new(&self.0, "")
    }
}

impl Sessions {
    /// Without a secret, one is made up that lives as long as the process, unless the gate before
    /// has left its own.
    pub(crate) fn new(settings: Settings, classes: &[String], left: Option<Secret>) -> io::Result<Self> {
        let mut start = [0; 8];
        random(&mut start)?;
        Self::with(settings, classes, u64::from_ne_bytes(start), left)
    }

    /// Other settings in the place of these. A secret that was made up before opens the sessions
    /// that began with it, also beside one that is given now.
    pub(crate) fn next(&self, settings: Settings, classes: &[String]) -> io::Result<Self> {
        Self::with(settings, classes, self.next_id.get(), self.own.clone())
    }

    fn with(
        settings: Settings,
        classes: &[String],
        next_id: u64,
        mut own: Option<Secret>,
    ) -> io::Result<Self> {
        if settings.secrets.is_empty() && own.is_none() {
            own = Some(Secret::make_up()?);
        }
        let given = settings.secrets.iter().map(|secret| Key::new(secret.bytes(), &settings.site));
        let keys = given.chain(own.as_ref().map(Secret::key)).collect();
        let classes = Classes::new(classes.iter().map(String::as_str));
        let place = format!("{}-place", settings.cookie);
        Ok(Self { settings, place, keys, classes, next_id: Cell::new(next_id), own })
    }

    /// The session a request belongs to: of the first token that holds. Cookies of that name may
    /// also be older ones of another path or domain.
    pub(crate) fn find(&self, headers: &HeaderMap, now: Time) -> Option<CurrentSession> {
        cookie::called(headers, self.name()).take(MAX_TOKENS).find_map(|text| self.open(text, now))
    }

    fn open(&self, text: &[u8], now: Time) -> Option<CurrentSession> {
        let session = token::open(self.keys.iter(), &self.classes, text)?;
        match session.status(now, &self.settings.limits) {
            SessionStatus::Valid => Some(CurrentSession::new(session, false, basis(&session))),
            SessionStatus::Renew => Some(CurrentSession::new(session, true, basis(&session))),
            SessionStatus::Expired => None,
        }
    }

    /// A session that begins with this request: the one that a visit was to become, if there is one.
    pub(crate) fn begin(&self, class: ClassId, visit: Option<Visit>, now: Time) -> CurrentSession {
        let id = visit.map_or_else(|| self.new_id(), |visit| visit.id);
        CurrentSession::new(Session::begin(id, class, now), true, Basis::Session)
    }

    fn new_id(&self) -> SessionId {
        let id = self.next_id.get();
        self.next_id.set(id.wrapping_add(1));
        SessionId(id)
    }

    /// The visit that a request without a session belongs to: of the first token of a place that holds, in a cookie or,
    /// from programs that keep none, in a header.
    pub(crate) fn visit(&self, headers: &HeaderMap, now: Time) -> Visit {
        let cookies = cookie::called(headers, self.place.as_bytes());
        let texts = cookies.chain(headers.get(PLACE).map(HeaderValue::as_bytes)).take(MAX_TOKENS);
        let mut visits = texts.filter_map(|text| place::open(self.keys.iter(), text));
        let kept = visits.find(|visit| self.settings.limits.keep_place(visit, now));
        kept.unwrap_or_else(|| Visit::begin(self.new_id(), now))
    }

    /// Sessions that begin from now on are numbered from `id`.
    #[cfg(feature = "simulate")]
    pub(crate) fn number_from(&self, id: u64) {
        self.next_id.set(id);
    }

    /// The value of `Set-Cookie`, for a client whose connection is one of TLS or not.
    pub(crate) fn cookie(&self, mut session: Session, secure: bool, now: Time) -> Option<HeaderValue> {
        session.last_seen = now;
        let token = token::seal(self.keys.first()?, &self.classes, &session);
        // Without Max-Age it ends with the browser; the token knows when it ends in any case.
        self.set_cookie(&self.settings.cookie, &token, "", secure)
    }

    /// The token of a visitor's place.
    pub(crate) fn place_token(&self, visit: &Visit) -> Option<String> {
        place::seal(self.keys.first()?, visit)
    }

    /// The value of `Set-Cookie` with the token of a place.
    pub(crate) fn place_cookie(&self, token: &str, secure: bool) -> Option<HeaderValue> {
        self.set_cookie(&self.place, token, "", secure)
    }

    /// The value of `Set-Cookie` that takes a place's cookie back.
    pub(crate) fn no_place_cookie(&self, secure: bool) -> Option<HeaderValue> {
        self.set_cookie(&self.place, "", "; Max-Age=0", secure)
    }

    fn set_cookie(&self, name: &str, value: &str, ends: &str, secure: bool) -> Option<HeaderValue> {
        let secure = if self.settings.secure.unwrap_or(secure) { "; Secure" } else { "" };
        let text = [name, "=", value, "; Path=/", ends, "; HttpOnly; SameSite=Lax", secure].concat();
        HeaderValue::from_maybe_shared(bytes::Bytes::from(text)).ok()
    }

    /// Takes the gate's own tokens out of what a server gets to see.
    pub(crate) fn remove(&self, headers: &mut HeaderMap) {
        cookie::remove(headers, &[self.name(), self.place.as_bytes()]);
        headers.remove(PLACE);
    }

    /// The secret that was made up, if one was.
    pub(crate) fn own_secret(&self) -> Option<Secret> {
        self.own.clone()
    }

    /// Tokens that open are sealed with one of these.
    pub(crate) fn key_ids(&self) -> impl Iterator<Item = u8> {
        self.keys.iter().map(Key::id)
    }

    /// Name of the session cookie.
    fn name(&self) -> &[u8] {
        self.settings.cookie.as_bytes()
    }
}

fn basis(session: &Session) -> Basis {
    if session.raised { Basis::Raised } else { Basis::Session }
}

fn random(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(|why| io::Error::other(why.to_string()))
}
