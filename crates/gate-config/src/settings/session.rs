//! `[session]`: cookies, secrets, and how long sessions last.

use std::path::Path;

use config::{Error, Source};
use policy::SessionLimits;
use units::Span;

use crate::rules::condition::PathPattern;
use crate::settings::file;
use crate::settings::pattern;
use crate::settings::secret::{self, Secret};
use crate::settings::words::is_token;

/// Session cookies.
#[derive(Debug, Clone)]
pub struct Sessions {
    /// Name of the cookie.
    pub cookie: String,
    /// Whether it is for TLS only; `None` follows the client's connection.
    pub secure: Option<bool>,
    /// How long sessions last.
    pub limits: SessionLimits,
    /// Tokens of one site are not valid on another with the same secret.
    pub site: String,
    /// The first seals, all open; without any, sessions end with the process.
    pub secrets: Vec<Secret>,
    /// Paths whose responses begin no session.
    pub(super) except: Vec<PathPattern>,
}

impl Sessions {
    /// Whether there are paths whose responses begin no session.
    pub fn has_exceptions(&self) -> bool {
        !self.except.is_empty()
    }

    /// Whether responses of a path begin no session.
    pub fn excepts(&self, path: &str) -> bool {
        self.except.iter().any(|pattern| pattern.matches(path))
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            cookie: "headworks".to_owned(),
            secure: None,
            limits: SessionLimits::default(),
            site: String::new(),
            secrets: Vec::new(),
            except: Vec::new(),
        }
    }
}

pub(super) fn resolve(
    source: &Source,
    directory: &Path,
    file: &file::Session,
    session: &mut Sessions,
) -> Result<(), Error> {
    if let Some(cookie) = &file.cookie {
        if !is_token(cookie.get_ref()) {
            let what = format!("\"{}\" cannot name a cookie", cookie.get_ref());
            return Err(source.error(cookie.span(), what).mend("use letters, digits, - and _"));
        }
        session.cookie.clone_from(cookie.get_ref());
    }
    session.secure = file.secure;
    if let Some(except) = &file.except {
        session.except = pattern::paths(source, except)?;
    }
    ends(source, file, &mut session.limits)?;
    session.secrets = secret::secrets(source, directory, file)?;
    session.site = file.site.clone().unwrap_or_default();
    Ok(())
}

fn ends(source: &Source, file: &file::Session, limits: &mut SessionLimits) -> Result<(), Error> {
    for (place, given, name) in
        [(&mut limits.idle, &file.idle, "idle"), (&mut limits.absolute, &file.absolute, "absolute")]
    {
        let Some(given) = given else { continue };
        if given.get_ref().0 == Span::ZERO {
            let what = format!("{name} is 0, so that no session would last");
            return Err(source.error(given.span(), what).mend("for example \"30m\""));
        }
        *place = given.get_ref().0;
    }
    match &file.idle {
        Some(idle) if limits.idle > limits.absolute => Err(source
            .error(idle.span(), format!("idle is {} and absolute {}", limits.idle, limits.absolute))
            .mend("absolute is the longest that a session lasts in all; idle must not be above it")),
        _ => Ok(()),
    }
}
