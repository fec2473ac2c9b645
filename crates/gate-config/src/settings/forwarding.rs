//! `forwarded` and `trusted-proxies`: what is said, and believed, of whom a request is for.

use config::{Error, Source};
use http1::headers::forwarded::{self, Forwarding};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::text::Texts;
use crate::settings::words;

/// Which headers tell the server for whom a request is.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Style {
    /// `X-Forwarded-For`, `-Host` and `-Proto`.
    #[default]
    XForwarded,
    /// `Forwarded`.
    Rfc7239,
    /// All of them.
    Both,
    /// None of our own.
    Off,
}

impl From<Style> for forwarded::Style {
    fn from(style: Style) -> Self {
        match style {
            Style::XForwarded => Self::XForwarded,
            Style::Rfc7239 => Self::Rfc7239,
            Style::Both => Self::Both,
            Style::Off => Self::Off,
        }
    }
}

pub(super) fn resolve(
    source: &Source,
    style: Option<Style>,
    trusted: Option<&Texts>,
) -> Result<Forwarding, Error> {
    let trusted = trusted.map(|nets| words::networks(source, nets)).transpose()?.unwrap_or_default();
    Ok(Forwarding { style: style.unwrap_or_default().into(), trusted })
}
