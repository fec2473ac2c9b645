//! Values of the options of `headworks load`.

use std::path::PathBuf;
use std::str::FromStr;

use load::Target;
use traffic::model::{ModelName, UnknownModel};
use traffic::{Process, ProcessError};

const TRACE: &str = "trace:";

/// What `--arrivals` takes.
#[derive(Debug, Clone)]
pub(super) enum Arrivals {
    Process(Process),
    Times(PathBuf),
}

impl FromStr for Arrivals {
    type Err = ProcessError;

    fn from_str(text: &str) -> Result<Self, ProcessError> {
        match text.strip_prefix(TRACE) {
            Some(file) => Ok(Self::Times(file.into())),
            None => text.parse().map(Self::Process),
        }
    }
}

/// What `--workload` takes.
#[derive(Debug, Clone)]
pub(super) enum WorkloadName {
    Model(ModelName),
    Trace(PathBuf),
    Url(Target),
    Sessions(PathBuf),
}

impl FromStr for WorkloadName {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        if let Some(file) = text.strip_prefix(TRACE) {
            return Ok(Self::Trace(file.into()));
        }
        if let Ok(target) = text.parse() {
            return Ok(Self::Url(target));
        }
        match text.parse() {
            Ok(name) => Ok(Self::Model(name)),
            // A word alone is more likely a name that is misspelt than a file.
            Err(unknown) if !text.contains(['.', '/']) => {
                if PathBuf::from(text).exists() {
                    Ok(Self::Sessions(text.into()))
                } else {
                    Err(unknown)
                }
            }
            Err(_) => Ok(Self::Sessions(text.into())),
        }
    }
}

/// A header field.
#[derive(Debug, Clone)]
pub(super) struct Header(pub(super) String, pub(super) String);

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write it as 'Name: value'".to_owned();
        let (name, value) = text.split_once(':').ok_or_else(wrong)?;
        let name: http::HeaderName = name.trim().parse().map_err(|_| wrong())?;
        let value: http::HeaderValue = value.trim().parse().map_err(|_| wrong())?;
        let value = value.to_str().map_err(|_| wrong())?.to_owned();
        // The response has to be found in what comes back, and the request has one body.
        match name.as_str() {
            "content-length" => Err("the length is that of --body".to_owned()),
            "transfer-encoding" => Err("bodies are sent whole".to_owned()),
            "connection" if !["close", "keep-alive"].contains(&value.to_ascii_lowercase().as_str()) => {
                Err("a connection is closed or kept: write Connection: close, or --requests-per-connection"
                    .to_owned())
            }
            _ => Ok(Self(capitalized(name.as_str()), value)),
        }
    }
}

/// `x-name` as `X-Name`, as HTTP/1 messages are usually written.
fn capitalized(name: &str) -> String {
    let parts: Vec<String> = name
        .split('-')
        .map(|part| {
            let mut letters = part.chars();
            letters.next().map(|first| first.to_ascii_uppercase().to_string()).unwrap_or_default()
                + letters.as_str()
        })
        .collect();
    parts.join("-")
}

/// A method other than those that do not ask for a response of the usual kind.
pub(super) fn method(text: &str) -> Result<String, String> {
    match text.parse::<http::Method>() {
        Ok(method) if method == http::Method::CONNECT => Err("CONNECT opens a tunnel".to_owned()),
        Ok(method) => Ok(method.as_str().to_owned()),
        Err(_) => Err("no method; write GET, HEAD, POST or another".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_told_apart() {
        assert!(matches!("surge".parse(), Ok(WorkloadName::Model(ModelName::Surge))));
        assert!(
            matches!("trace:access.log".parse(), Ok(WorkloadName::Trace(file)) if file.as_os_str() == "access.log")
        );
        assert!(matches!("bank.toml".parse(), Ok(WorkloadName::Sessions(_))));
        assert!(matches!("http://localhost/x".parse(), Ok(WorkloadName::Url(_))));
        assert!("surg".parse::<WorkloadName>().unwrap_err().to_string().contains("surge"));
    }

    #[test]
    fn header_fields_are_read() {
        let Header(name, value) = "x-forwarded-for:  10.0.0.1 ".parse().unwrap();
        assert_eq!((name.as_str(), value.as_str()), ("X-Forwarded-For", "10.0.0.1"));
        for right in ["connection: close", "Connection: Keep-Alive"] {
            assert!(right.parse::<Header>().is_ok(), "{right}");
        }
        for wrong in ["x", "a b: c", "x: a\nb", "Content-Length: 3", "connection: upgrade"] {
            assert!(wrong.parse::<Header>().is_err(), "{wrong}");
        }
    }
}
