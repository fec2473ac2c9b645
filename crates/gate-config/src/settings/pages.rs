//! `[pages]`: files for what the gate says itself, by status.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bytes::Bytes;
use config::{Error, Source, Spanned};
use http::StatusCode;

use crate::settings::page::Form;
use crate::settings::text::Texts;

/// What clients are shown instead of the gate's own words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pages(Vec<OwnPage>);

#[derive(Debug, Clone, PartialEq)]
struct OwnPage {
    status: StatusCode,
    form: Form,
    body: Bytes,
}

/// What the gate says itself of a request whose head it has read, beside the status of a refusal.
const STATUSES: [StatusCode; 8] = [
    StatusCode::BAD_REQUEST,
    StatusCode::URI_TOO_LONG,
    StatusCode::EXPECTATION_FAILED,
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    StatusCode::NOT_IMPLEMENTED,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

impl Pages {
    /// The file for a status in that form, if there is one.
    pub fn own(&self, status: StatusCode, form: Form) -> Option<&Bytes> {
        let fits = |page: &&OwnPage| page.status == status && page.form == form;
        self.0.iter().find(fits).map(|page| &page.body)
    }

    /// Statuses, each once, that have files.
    pub(super) fn describe(&self) -> String {
        let mut statuses: Vec<&str> = self.0.iter().map(|page| page.status.as_str()).collect();
        statuses.dedup();
        if statuses.is_empty() {
            "the gate's own".to_owned()
        } else {
            format!("files for {}", statuses.join(", "))
        }
    }
}

/// `refusal` is the status of a refusal.
pub(super) fn resolve(
    source: &Source,
    directory: &Path,
    file: &BTreeMap<String, Texts>,
    refusal: StatusCode,
) -> Result<Pages, Error> {
    let mut pages = Pages::default();
    for (key, files) in file {
        let known = |status: &StatusCode| *status == refusal || STATUSES.contains(status);
        let status = StatusCode::from_bytes(key.as_bytes()).ok().filter(known).ok_or_else(|| {
            let all = STATUSES.map(|status| status.as_str().to_owned()).join(", ");
            source.error(files.1.clone(), format!("the gate gives no {key} itself")).mend(format!(
                "name one of {all}, or the status of [reject]; pages of the servers pass as they are"
            ))
        })?;
        for name in &files.0 {
            let form = form(source, name)?;
            if pages.own(status, form).is_some() {
                let what = format!("{status} has another file of that kind already");
                return Err(source.error(name.span(), what).mend("leave one of them out"));
            }
            let path = directory.join(name.get_ref());
            let body = fs::read(&path)
                .map_err(|why| source.error(name.span(), format!("cannot read {}: {why}", path.display())))?;
            pages.0.push(OwnPage { status, form, body: body.into() });
        }
    }
    Ok(pages)
}

/// What is in a file, by the end of its name.
fn form(source: &Source, name: &Spanned<String>) -> Result<Form, Error> {
    match Path::new(name.get_ref()).extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Ok(Form::Page),
        Some("json") => Ok(Form::Problem),
        Some("txt") => Ok(Form::Text),
        _ => Err(source
            .error(name.span(), format!("\"{}\" says not what it is", name.get_ref()))
            .mend("name a file that ends with .html, .json or .txt")),
    }
}
