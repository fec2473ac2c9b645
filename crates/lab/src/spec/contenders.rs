//! `[peers]`: what HAProxy, nginx and mod_qos are told, which have no policy like the gate's.

use config::{Error, Quantity, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;
use units::Span;

/// Settings of the software that can stand where the gate stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContenderSettings {
    /// Name and value of the cookie that premium requests carry.
    pub(crate) cookie: String,
    pub(crate) value: String,
    /// Requests in the server at once, for what can keep the others waiting.
    pub(crate) window: u32,
    /// The longest wait for that.
    pub(crate) patience: Span,
    /// Requests in the server at once that are not premium, for what can only refuse.
    pub(crate) others: u32,
    /// Of those, requests that begin a session.
    pub(crate) newcomers: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PeersEntry")]
pub(super) struct ContendersEntry {
    /// Cookie of the users to favour, NAME=VALUE.
    premium: Spanned<String>,
    /// Requests in the server at once, for what keeps the others waiting.
    window: Spanned<u32>,
    /// The longest wait for that.
    patience: Spanned<Patience>,
    /// Requests of other users in the server at once, for what refuses the rest.
    others: Spanned<u32>,
    /// Of those, requests that begin a session.
    newcomers: Spanned<u32>,
}

#[derive(Deserialize, Clone, Copy, JsonSchema)]
#[serde(transparent)]
struct Patience(
    #[serde(with = "config::quantity")]
    #[schemars(with = "Quantity<Span>")]
    Span,
);

/// Checks what stands under `[peers]`.
pub(super) fn check(source: &Source, entry: ContendersEntry) -> Result<ContenderSettings, Error> {
    for (name, number) in
        [("window", &entry.window), ("others", &entry.others), ("newcomers", &entry.newcomers)]
    {
        if *number.get_ref() == 0 {
            return Err(source.error(number.span(), format!("{name} is 0")).mend("give at least 1"));
        }
    }
    if entry.newcomers.get_ref() > entry.others.get_ref() {
        return Err(source
            .error(entry.newcomers.span(), "there are more newcomers than others")
            .mend("newcomers are some of the others: give at most as many"));
    }
    let Patience(patience) = *entry.patience.get_ref();
    if patience < Span::from_millis(1) {
        return Err(source.error(entry.patience.span(), "patience is less than 1 ms").mend("give more"));
    }
    // These words need no quoting in any of the configurations that they go into.
    let plain = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let (cookie, value) = match entry.premium.get_ref().split_once('=') {
        Some((cookie, value)) if plain(cookie) && plain(value) => (cookie.to_owned(), value.to_owned()),
        _ => {
            return Err(source
                .error(entry.premium.span(), format!("\"{}\" is not a cookie", entry.premium.get_ref()))
                .mend("write it as NAME=VALUE, of letters, digits and \"_\", such as \"tier=premium\""));
        }
    };
    let [window, others, newcomers] = [entry.window, entry.others, entry.newcomers].map(Spanned::into_inner);
    Ok(ContenderSettings { cookie, value, window, patience, others, newcomers })
}
