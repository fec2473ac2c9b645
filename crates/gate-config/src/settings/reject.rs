//! `[reject]`: what a refused client is told.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use config::{Error, Source, Spanned, quantity};
use http::{HeaderValue, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use units::Span;

use crate::settings::page::{Misprint, PLACEHOLDERS, Template, WAITING};

/// The table as people write it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    /// From 400 to 599.
    pub(super) status: Option<Spanned<u16>>,
    /// The least that `Retry-After` says.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) retry_after: Option<Span>,
    /// Up to so much more, so that not all come back at once.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) jitter: Option<Span>,
    /// What everybody is sent.
    pub(super) body_file: Option<Spanned<String>>,
    /// `built-in`, or a file with `{{refresh}}`, `{{seconds}}` and `{{waiting}}` to fill in.
    pub(super) waiting_page: Option<Spanned<String>>,
    /// Whose connection is closed after a refusal.
    pub(super) close: Option<Close>,
}

impl File {
    /// Whether nothing is said of what clients are shown.
    pub(super) fn says_nothing(&self) -> bool {
        self.body_file.is_none() && self.waiting_page.is_none()
    }
}

/// What a refused client is told.
#[derive(Debug, Clone)]
pub struct Reject {
    /// From 400 to 599.
    pub status: StatusCode,
    /// Seconds, from..=to: spread, or those refused together come back together.
    pub retry_after: (u32, u32),
    /// What it says.
    pub words: Words,
    /// Whose connection is closed.
    pub close: Close,
}

/// What a refusal says.
#[derive(Debug, Clone, PartialEq)]
pub enum Words {
    /// This to everybody, and its type.
    Own(Bytes, HeaderValue),
    /// A page to browsers, and the same as JSON or text to others.
    Prepared(Template),
}

/// Whose connection is closed after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
    /// Clients without a session: most likely they were turned away for longer.
    New,
    /// Every connection.
    Always,
    /// No connection.
    Never,
}

impl Default for Reject {
    fn default() -> Self {
        const PAGE: &str = "<!doctype html><html lang=\"en\"><title>Busy</title>\
            <h1>We are busy</h1><p>More visitors than we can serve just now. Please try again in a few seconds.\n";
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after: (5, 15),
            words: Words::Prepared(Template::fixed(PAGE)),
            close: Close::New,
        }
    }
}

pub(super) fn resolve(source: &Source, directory: &Path, file: &File) -> Result<Reject, Error> {
    let mut reject = Reject::default();
    if let Some(status) = &file.status {
        let code = StatusCode::from_u16(*status.get_ref()).ok();
        reject.status =
            code.filter(|code| code.is_client_error() || code.is_server_error()).ok_or_else(|| {
                source
                    .error(status.span(), format!("status {} does not refuse anything", status.get_ref()))
                    .mend("give one from 400 to 599, for example 503")
            })?;
    }
    let seconds = |span: Option<Span>, default: u32| match span {
        Some(span) => span.as_secs_f64().round() as u32,
        None => default,
    };
    let (from, to) = reject.retry_after;
    let shortest = seconds(file.retry_after, from);
    reject.retry_after = (shortest, shortest.saturating_add(seconds(file.jitter, to - from)));
    reject.close = file.close.unwrap_or(reject.close);
    reject.words = match (&file.body_file, &file.waiting_page) {
        (None, None) => reject.words,
        (Some(body), None) => own(source, directory, body)?,
        (None, Some(page)) => Words::Prepared(self::page(source, directory, page, (WAITING, &PLACEHOLDERS))?),
        (Some(_), Some(page)) => {
            return Err(source
                .error(page.span(), "body-file and waiting-page are both what a refused client is shown")
                .mend("leave one of them out"));
        }
    };
    Ok(reject)
}

fn own(source: &Source, directory: &Path, file: &Spanned<String>) -> Result<Words, Error> {
    let path = directory.join(file.get_ref());
    let body = fs::read(&path)
        .map_err(|why| source.error(file.span(), format!("cannot read {}: {why}", path.display())))?;
    let html = path.extension().is_some_and(|extension| extension == "html" || extension == "htm");
    let content_type = if html { "text/html; charset=utf-8" } else { "text/plain; charset=utf-8" };
    Ok(Words::Own(body.into(), HeaderValue::from_static(content_type)))
}

/// `"built-in"`, or a file, with some of the placeholders in it.
pub(super) fn page(
    source: &Source,
    directory: &Path,
    page: &Spanned<String>,
    (built_in, placeholders): (&str, &[&str]),
) -> Result<Template, Error> {
    let misprint = |place: &str, why: &Misprint| {
        let known: Vec<_> = placeholders.iter().map(|placeholder| format!("{{{{{placeholder}}}}}")).collect();
        source.error(page.span(), format!("{place}: {why}")).mend(format!("there are {}", known.join(", ")))
    };
    if page.get_ref() == "built-in" {
        return Template::new(built_in, placeholders).map_err(|why| misprint("built-in", &why));
    }
    let path = directory.join(page.get_ref());
    let text = fs::read_to_string(&path).map_err(|why| {
        source
            .error(page.span(), format!("cannot read {}: {why}", path.display()))
            .mend("name a file, or \"built-in\" for the page of the house")
    })?;
    Template::new(&text, placeholders).map_err(|why| misprint(&path.display().to_string(), &why))
}
