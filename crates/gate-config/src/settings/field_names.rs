//! [`FieldNames`]: capitals in the names of header fields.

use schemars::JsonSchema;
use serde::Deserialize;

/// How field names are written over HTTP/1, where capitals mean nothing (RFC 9110 section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FieldNames {
    /// `content-type`
    #[default]
    LowerCase,
    /// `Content-Type`, for clients that look for it in that form.
    TitleCase,
}
