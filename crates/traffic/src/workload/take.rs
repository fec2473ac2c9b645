//! [`Take`]: what a session remembers of a response.

use std::fmt;

use regex::bytes::Regex;

/// Something that a session remembers of a response, to send it later.
#[derive(Debug, Clone)]
pub struct Take {
    /// What `${..}` calls it.
    pub name: String,
    /// Number of the name among all that is taken.
    pub(super) number: usize,
    /// Where it is.
    pub place: Place,
}

/// Where something is in a response.
#[derive(Debug, Clone)]
pub enum Place {
    /// `json:/a/0/b`: in a body that is JSON, by JSON Pointer (RFC 6901).
    Json(String),
    /// `regex:id=(\d+)`: what the first group matches in the body; without a group, the whole match.
    Pattern(Regex),
    /// `header:Location`: the value of a header field, the first of several. The name is in lower case.
    Header(String),
}

impl Place {
    /// Reads `json:..`, `regex:..` or `header:..`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (kind, what) = text.split_once(':').unwrap_or((text, ""));
        match kind {
            "json" if what.is_empty() || what.starts_with('/') => Ok(Self::Json(what.to_owned())),
            "json" => Err(format!("\"{what}\" is not a JSON Pointer; it begins with /, as in json:/token")),
            "regex" if !what.is_empty() => Regex::new(what).map(Self::Pattern).map_err(|why| why.to_string()),
            "header" if !what.is_empty() => Ok(Self::Header(what.to_ascii_lowercase())),
            _ => Err(format!(
                "\"{text}\" says no place; write json:/token, regex:id=(\\d+) or header:Location"
            )),
        }
    }

    /// Whether it is in the body.
    pub fn is_in_body(&self) -> bool {
        !matches!(self, Self::Header(_))
    }

    /// What is there in a response with this body, and these header fields, whose names are in lower case.
    pub fn find<'f>(
        &self,
        body: &[u8],
        fields: impl IntoIterator<Item = (&'f str, &'f str)>,
    ) -> Option<String> {
        match self {
            Self::Json(pointer) => {
                let body: serde_json::Value = serde_json::from_slice(body).ok()?;
                match body.pointer(pointer)? {
                    serde_json::Value::String(text) => Some(text.clone()),
                    serde_json::Value::Null => None,
                    other => Some(other.to_string()),
                }
            }
            Self::Pattern(pattern) => {
                let found = pattern.captures(body)?;
                let group = found.get(1).or_else(|| found.get(0))?;
                Some(String::from_utf8_lossy(group.as_bytes()).into_owned())
            }
            Self::Header(name) => {
                fields.into_iter().find(|(other, _)| other == name).map(|(_, value)| value.to_owned())
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(pointer) => write!(f, "json:{pointer}"),
            Self::Pattern(pattern) => write!(f, "regex:{pattern}"),
            Self::Header(name) => write!(f, "header:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(place: &str, expected: Option<&str>) {
        let body = br#"{"token":"t-1","items":[{"id":7,"ok":true},{"id":8}],"none":null}"#;
        let fields = [("location", "/next?a=1"), ("x-a", "1"), ("x-a", "2")];
        let found = Place::parse(place).unwrap().find(body, fields);
        assert_eq!(found.as_deref(), expected, "{place}");
    }

    #[test]
    fn what_is_in_a_response_is_found() {
        check("json:/token", Some("t-1"));
        check("json:/items/1/id", Some("8"));
        check("json:/items/0/ok", Some("true"));
        check("json:/items/1", Some("{\"id\":8}"));
        check("json:/items/2", None);
        check("json:/none", None);
        check("regex:\"id\":(\\d+)", Some("7"));
        check("regex:t-\\d", Some("t-1"));
        check("regex:nothing", None);
        check("header:Location", Some("/next?a=1"));
        check("header:X-A", Some("1"));
        check("header:x-b", None);
    }

    #[test]
    fn places_that_are_none_are_refused() {
        for wrong in ["token", "json:token", "regex:", "regex:(", "header:", "xpath:/a"] {
            assert!(Place::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            Place::parse("json:token").unwrap_err(),
            "\"token\" is not a JSON Pointer; it begins with /, as in json:/token"
        );
    }
}
