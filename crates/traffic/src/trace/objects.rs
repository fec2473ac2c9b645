//! [`Objects`]: what is asked for, each thing once; and which requests can be sent again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::entry::Entry;
use super::request::{Body, Method, Object};
use super::skipped::Reason;
use super::target::{self, Request};

/// Objects by number, and numbers by object.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) list: Vec<Object>,
    numbers: HashMap<Object, u32>,
    /// There are few, and each is in many objects.
    hosts: HashSet<Arc<str>>,
}

impl Objects {
    /// The number of what `entry` asks for; its method where that is left out.
    ///
    /// # Errors
    /// When it is not a request.
    pub(super) fn number(&mut self, entry: Entry) -> Result<Result<u32, Vec<u8>>, Reason> {
        let Request { method: name, target } = target::request(&entry.asked)?;
        let Entry { host, body, content_type, .. } = entry;
        let Some(target) = target else { return Ok(Err([&name, &b" *"[..]].concat())) };
        let Some(method) = Method::named(&name) else { return Ok(Err(name)) };
        let sent = body.as_deref().unwrap_or_default();
        // To change something once more with half of a request is not what the log says. That of a DELETE is whole
        // without a body, if the log has bodies.
        let is_whole = match method {
            Method::Post | Method::Put | Method::Patch => !sent.is_empty(),
            Method::Delete => body.is_some(),
            _ => method.is_safe(),
        };
        if !is_whole {
            return Ok(Err(name));
        }
        let host = target.host.or_else(|| target::host(&host?)).map(|host| self.host(host));
        let body = (!sent.is_empty()).then(|| Arc::new(with_type(sent, content_type.as_deref())));
        Ok(Ok(self.object(Object { method, url: target.url.into(), host, body })))
    }

    fn object(&mut self, object: Object) -> u32 {
        if let Some(number) = self.numbers.get(&object) {
            return *number;
        }
        // Four thousand million URLs do not fit into memory.
        let number = self.list.len() as u32;
        self.list.push(object.clone());
        self.numbers.insert(object, number);
        number
    }

    fn host(&mut self, host: String) -> Arc<str> {
        if let Some(held) = self.hosts.get(host.as_str()) {
            return Arc::clone(held);
        }
        let host: Arc<str> = host.into();
        self.hosts.insert(Arc::clone(&host));
        host
    }
}

fn with_type(bytes: &[u8], logged: Option<&[u8]>) -> Body {
    let is_value = |text: &&[u8]| text.iter().all(|byte| matches!(byte, b' '..=b'~'));
    let logged = logged.filter(is_value).and_then(|text| str::from_utf8(text).ok());
    Body { content_type: logged.unwrap_or_else(|| guessed(bytes)).into(), bytes: bytes.into() }
}

/// What a body looks like.
fn guessed(bytes: &[u8]) -> &'static str {
    let is_of_form = |byte: &u8| byte.is_ascii_alphanumeric() || b"%=&+-._~*!'()[],:;@/".contains(byte);
    if bytes.contains(&b'=') && bytes.iter().all(is_of_form) {
        "application/x-www-form-urlencoded"
    } else if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        "application/json"
    } else {
        "application/octet-stream"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_the_log_or_guessed() {
        let of = |bytes: &str, logged: Option<&str>| {
            with_type(bytes.as_bytes(), logged.map(str::as_bytes)).content_type.into_string()
        };
        assert_eq!(of("a=1&b=%20", None), "application/x-www-form-urlencoded");
        assert_eq!(of(r#"{"a": 1}"#, None), "application/json");
        assert_eq!(of("a b", None), "application/octet-stream");
        assert_eq!(of("a=1", Some("text/plain; charset=utf-8")), "text/plain; charset=utf-8");
        assert_eq!(of("a=1", Some("text/plain\r\nx: y")), "application/x-www-form-urlencoded");
    }
}
