//! The workload file as it stands in TOML, and what it must fulfil.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use config::{Error, Source, Spanned};
use serde::Deserialize;
use units::{Ratio, Span};

use super::script::{Class, Page, Workload};
use super::think::Think;

/// The name of the only class where the file has none.
const ONLY_CLASS: &str = "all";

/// What the clients of the Web2K measurements allowed a request (section 4.3).
const DEFAULT_TIMEOUT: Span = Span::from_secs(20);

/// Browsers fetch images in parallel (section 4.2); this is what those of the time opened.
const DEFAULT_CONNECTIONS: usize = 4;

const MAX_CONNECTIONS: usize = 256;
const MAX_CLASSES: usize = 255;

/// Shares are decimal fractions that people type; their sum is not exact in binary.
const SHARES_TOLERANCE: f64 = 1e-6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[allow(dead_code, reason = "there is one kind; reading it refuses all others")]
    kind: Kind,
    timeout: Option<Spanned<Quantity<Span>>>,
    connections: Option<Spanned<usize>>,
    #[serde(default, rename = "class")]
    classes: Vec<Spanned<ClassEntry>>,
    #[serde(default, rename = "page")]
    pages: Vec<PageEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Sessions,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassEntry {
    name: Spanned<String>,
    share: Spanned<Quantity<Ratio>>,
    cookie: Option<Spanned<String>>,
    #[serde(default)]
    header: BTreeMap<Spanned<String>, Spanned<String>>,
    address: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageEntry {
    url: Spanned<String>,
    #[serde(default)]
    think: Think,
    #[serde(default)]
    embedded: Vec<Spanned<String>>,
}

/// A quantity with a unit where a line number is wanted as well.
#[derive(Deserialize)]
#[serde(transparent, bound = "T: std::str::FromStr, T::Err: std::fmt::Display")]
struct Quantity<T>(#[serde(with = "config::quantity")] T);

impl Workload {
    /// Reads and checks a workload file.
    ///
    /// # Errors
    /// What is wrong with it, with file and line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&Source::read(path)?)
    }

    /// Reads and checks the text of a workload file.
    ///
    /// # Errors
    /// What is wrong with it, with file and line.
    pub fn parse(source: &Source) -> Result<Self, Error> {
        parse(source)
    }
}

fn parse(source: &Source) -> Result<Workload, Error> {
    let file: File = source.parse()?;
    let timeout = match &file.timeout {
        Some(timeout) if timeout.get_ref().0.is_zero() => {
            return Err(source
                .error(timeout.span(), "timeout is 0")
                .mend("give a time above 0, such as \"20s\""));
        }
        Some(timeout) => timeout.get_ref().0,
        None => DEFAULT_TIMEOUT,
    };
    let connections = match &file.connections {
        Some(connections) if !(1..=MAX_CONNECTIONS).contains(connections.get_ref()) => {
            return Err(source.error(
                connections.span(),
                format!("connections is {}; it must be 1 to {MAX_CONNECTIONS}", connections.get_ref()),
            ));
        }
        Some(connections) => *connections.get_ref(),
        None => DEFAULT_CONNECTIONS,
    };
    if file.pages.is_empty() {
        return Err(source.missing("there is no page").mend("add [[page]] with a url"));
    }
    Ok(Workload {
        timeout,
        connections,
        classes: classes(source, file.classes)?,
        pages: file.pages.into_iter().map(|page| self::page(source, page)).collect::<Result<_, _>>()?,
    })
}

fn classes(source: &Source, entries: Vec<Spanned<ClassEntry>>) -> Result<Vec<Class>, Error> {
    let Some(last) = entries.last().map(Spanned::span) else {
        let name = Arc::from(ONLY_CLASS);
        return Ok(vec![Class { name, share: 1.0, cookie: None, headers: Vec::new(), address: None }]);
    };
    if entries.len() > MAX_CLASSES {
        return Err(source.error(last, format!("there are more than {MAX_CLASSES} classes")));
    }
    let mut classes: Vec<Class> = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = entry.get_ref().name.span();
        let class = class(source, entry.into_inner())?;
        if classes.iter().any(|other| other.name == class.name) {
            return Err(source.error(name, format!("class \"{}\" is defined twice", class.name)));
        }
        classes.push(class);
    }
    let sum: f64 = classes.iter().map(|class| class.share).sum();
    if (sum - 1.0).abs() > SHARES_TOLERANCE {
        let sum = (sum * 1e6).round() / 1e6;
        return Err(source
            .error(last, format!("the shares of the classes sum to {sum}"))
            .mend("they must sum to 1"));
    }
    Ok(classes)
}

fn class(source: &Source, entry: ClassEntry) -> Result<Class, Error> {
    let share = entry.share.get_ref().0.as_f64();
    if share <= 0.0 {
        return Err(source
            .error(entry.share.span(), "share is 0")
            .mend("leave the class out, or give it a share"));
    }
    if entry.name.get_ref().is_empty() {
        return Err(source.error(entry.name.span(), "name is empty"));
    }
    let cookie = match entry.cookie {
        Some(cookie) => Some(self::cookie(source, &cookie)?),
        None => None,
    };
    let mut headers = Vec::with_capacity(entry.header.len());
    for (name, value) in entry.header {
        if !is_token(name.get_ref()) {
            return Err(source.error(name.span(), format!("\"{}\" is not a header name", name.get_ref())));
        }
        if !is_value(value.get_ref()) {
            return Err(source.error(value.span(), "a header value holds visible ASCII and spaces only"));
        }
        headers.push((name.into_inner(), value.into_inner()));
    }
    let address = match entry.address {
        Some(address) => Some(self::address(source, &address)?),
        None => None,
    };
    Ok(Class { name: Arc::from(entry.name.into_inner()), share, cookie, headers, address })
}

fn cookie(source: &Source, cookie: &Spanned<String>) -> Result<(String, String), Error> {
    match cookie.get_ref().split_once('=') {
        Some((name, value)) if is_token(name) && is_value(value) && !value.contains(';') => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(source
            .error(cookie.span(), format!("\"{}\" is not a cookie", cookie.get_ref()))
            .mend("write it as \"name=value\"")),
    }
}

fn address(source: &Source, address: &Spanned<String>) -> Result<IpAddr, Error> {
    address.get_ref().parse().map_err(|_| {
        source
            .error(address.span(), format!("\"{}\" is not an IP address", address.get_ref()))
            .mend("give the source address of this class, such as \"127.0.0.2\"")
    })
}

fn page(source: &Source, entry: PageEntry) -> Result<Page, Error> {
    let embedded = entry.embedded.into_iter().map(|object| path(source, object));
    Ok(Page {
        url: path(source, entry.url)?,
        think: entry.think,
        embedded: embedded.collect::<Result<_, _>>()?,
    })
}

fn path(source: &Source, url: Spanned<String>) -> Result<Arc<str>, Error> {
    let span: Range<usize> = url.span();
    let text = url.into_inner();
    if !text.starts_with('/') {
        return Err(source
            .error(span, format!("\"{text}\" does not start with \"/\""))
            .mend("give path and query; the host is on the command line"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Err(source
            .error(span, format!("\"{text}\" holds a character that cannot stand in a URL"))
            .mend("write it as %XX"));
    }
    Ok(Arc::from(text))
}

/// RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}
