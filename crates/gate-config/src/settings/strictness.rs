//! `[strictness]`: how much of what a request may have.

use std::ops::RangeInclusive;

use config::{Error, Source, Spanned, quantity};
use http1::request::Limits;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use units::Bytes;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StrictnessFile {
    /// The request line and all header lines.
    head: Option<Spanned<Size>>,
    /// The target of the request.
    uri: Option<Spanned<Size>>,
    /// One header line.
    header: Option<Spanned<Size>>,
    /// Lines; and again as many trailers.
    headers: Option<Spanned<Size>>,
    /// All trailers.
    trailers: Option<Spanned<Size>>,
    /// A chunk's length and extensions.
    chunk_line: Option<Spanned<Size>>,
}

/// Bytes, or how many of something.
#[derive(Debug, JsonSchema)]
pub(super) struct Size(#[schemars(with = "config::Quantity<Bytes>")] Bytes);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        quantity::deserialize(deserializer).map(Self)
    }
}

/// hyper's buffer for a head has room for no more.
const MAX_HEAD_BYTES: usize = 256 * 1024;

pub(super) fn resolve(source: &Source, file: &StrictnessFile) -> Result<Limits, Error> {
    let Limits { head, target, field, fields, trailers, chunk_line } = Limits::default();
    let head = size(source, "head", &file.head, head, 1024..=MAX_HEAD_BYTES)?;
    // What has to fit into a smaller head is smaller by itself, unless somebody says otherwise.
    let part = |name, given: &Option<Spanned<Size>>, default: usize, most: usize| {
        size(source, name, given, default.min(head), 256..=most.min(head))
    };
    // An address that `http::Uri` cannot hold is not one.
    const MAX_URI_BYTES: usize = 60 * 1024;
    Ok(Limits {
        head,
        target: part("uri", &file.uri, target, MAX_URI_BYTES)?,
        field: part("header", &file.header, field, head)?,
        fields: size(source, "headers", &file.headers, fields, 10..=1000)?,
        trailers: size(source, "trailers", &file.trailers, trailers.min(head), 0..=head)?,
        chunk_line: size(source, "chunk-line", &file.chunk_line, chunk_line, 16..=4096)?,
    })
}

pub(super) fn size(
    source: &Source,
    name: &str,
    given: &Option<Spanned<Size>>,
    default: usize,
    range: RangeInclusive<usize>,
) -> Result<usize, Error> {
    let Some(given) = given else { return Ok(default) };
    let Size(Bytes(bytes)) = *given.get_ref();
    usize::try_from(bytes).ok().filter(|size| range.contains(size)).ok_or_else(|| {
        let mend = format!("give {} to {}", range.start(), range.end());
        source.error(given.span(), format!("{name} cannot be {bytes}")).mend(mend)
    })
}

pub(super) fn describe(limits: &Limits) -> (&'static str, String) {
    let Limits { head, target, field, fields, trailers, chunk_line } = limits;
    let text = format!(
        "head {head}, uri {target}, header {field}, headers {fields}, trailers {trailers}, chunk line {chunk_line}"
    );
    ("strictness", text)
}
