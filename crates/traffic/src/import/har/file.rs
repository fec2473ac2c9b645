//! [`File`]: the parts of an HTTP Archive that are read.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Deserialize)]
pub(super) struct File {
    pub(super) log: Log,
}

#[derive(Deserialize)]
pub(super) struct Log {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) version: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) pages: Vec<Page>,
    pub(super) entries: Vec<Entry>,
}

#[derive(Deserialize)]
pub(super) struct Page {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) id: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) title: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) started_date_time: Option<String>,
    /// In milliseconds.
    pub(super) time: Option<f64>,
    pub(super) request: Request,
    pub(super) response: Response,
    pub(super) pageref: Option<String>,
    /// Chrome: `document`, `xhr`, `fetch`, `image`, ..
    #[serde(rename = "_resourceType")]
    pub(super) kind: Option<String>,
    /// Chrome: `memory` or `disk`.
    #[serde(rename = "_fromCache")]
    pub(super) from_cache: Option<Value>,
    /// Chrome: what was sent over a WebSocket.
    #[serde(rename = "_webSocketMessages")]
    pub(super) messages: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) headers: Vec<Pair>,
    pub(super) post_data: Option<PostData>,
    /// In bytes; -1 where it is not known.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) body_size: f64,
}

/// The value is absent for a file among the parameters of a form.
#[derive(Deserialize, Clone)]
pub(super) struct Pair {
    pub(super) name: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PostData {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) mime_type: String,
    pub(super) text: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) params: Vec<Pair>,
    /// `base64`, where a proxy writes it.
    #[serde(alias = "_encoding")]
    pub(super) encoding: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    /// 0, or less, for a request that was blocked or failed.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) status: i64,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) headers: Vec<Pair>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) content: Content,
    #[serde(default, rename = "redirectURL", deserialize_with = "or_default")]
    pub(super) redirect_url: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) mime_type: String,
    pub(super) text: Option<String>,
    pub(super) encoding: Option<String>,
}

/// Some programs write `null` for what they do not know.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
