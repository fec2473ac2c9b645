//! [`explain`]: which class a request is of, and why, its session's token opened.

use gate_config::Settings;
use gate_config::dry_run::{self, Explanation, Question};

use crate::process::error::Error;
use crate::runtime::clock::Clock;
use crate::session::cookies::Sessions;

/// Says which class a request is of, as a gate with these settings would find it.
///
/// # Errors
/// When it is not a request, the session's class is not configured, or the system gives no random numbers.
pub fn explain(settings: &Settings, question: Question<'_>) -> Result<Explanation, Error> {
    let sessions = Sessions::new(settings.session.clone(), &settings.classes, None).map_err(Error::System)?;
    let now = Clock::start().read();
    let explained = dry_run::explain(settings, question, |headers| {
        sessions.find(headers, now).map(|current| (current.session, now))
    });
    Ok(explained?)
}
