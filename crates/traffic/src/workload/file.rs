//! The workload file as it stands in TOML, and what it must fulfil.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use config::{Error, Source, Spanned};
use regex::bytes::Regex;
use serde::Deserialize;
use units::{Ratio, Span};

use super::data::{Data, Order};
use super::expect::{Expect, StatusError};
use super::retry::RetryEntry;
use super::script::{Class, Condition, Page, Request, Workload};
use super::take::{Place, Take};
use super::template::{Names, Part, Template};
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
    retry: Option<RetryEntry>,
    data: Option<Spanned<DataEntry>>,
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
    method: Option<Spanned<String>>,
    body: Option<Spanned<String>>,
    #[serde(default)]
    header: BTreeMap<Spanned<String>, Spanned<String>>,
    expect: Option<Spanned<ExpectEntry>>,
    #[serde(default)]
    take: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    when: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    think: Think,
    #[serde(default)]
    embedded: Vec<Spanned<String>>,
}

/// A file, or a file and which row a session gets.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a file name such as \"users.csv\", or { file = \"users.csv\", rows = \"unique\" }"
)]
enum DataEntry {
    File(String),
    Table(DataTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DataTable {
    file: String,
    #[serde(default)]
    rows: Order,
}

/// Statuses, or a table.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "statuses such as \"2xx\", or { status = \"200,304\", body = \"REGEX\", length = 5 }"
)]
enum ExpectEntry {
    Status(Statuses),
    Table(ExpectTable),
}

/// One, or several in a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Statuses {
    One(u16),
    Several(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectTable {
    status: Option<Statuses>,
    body: Option<String>,
    length: Option<u64>,
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
    let retry = file.retry.map(|entry| entry.check(source)).transpose()?;
    let data = match file.data {
        Some(entry) => Some(data(source, entry)?),
        None => None,
    };
    let columns = data.as_ref().map_or_else(Vec::new, |data| data.columns.clone());
    let mut names = Names { columns, taken: Vec::new() };
    let classes = classes(source, file.classes)?;
    let mut pages = Vec::with_capacity(file.pages.len());
    for entry in file.pages {
        pages.push(page(source, entry, &mut names)?);
    }
    Ok(Workload { timeout, connections, classes, pages, retry, data, taken: names.taken })
}

fn data(source: &Source, entry: Spanned<DataEntry>) -> Result<Data, Error> {
    let span = entry.span();
    let (file, order) = match entry.into_inner() {
        DataEntry::File(file) => (file, Order::default()),
        DataEntry::Table(table) => (table.file, table.rows),
    };
    let path = source.directory().join(&file);
    if !path.exists() {
        return Err(source
            .error(span, format!("there is no file {}", path.display()))
            .mend("files are looked for beside the one that names them"));
    }
    Data::read(&path, order)
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
        check_field(source, &name, &value)?;
        headers.push((name.into_inner(), value.into_inner()));
    }
    let address = match entry.address {
        Some(address) => Some(self::address(source, &address)?),
        None => None,
    };
    Ok(Class { name: Arc::from(entry.name.into_inner()), share, cookie, headers, address })
}

fn check_field(source: &Source, name: &Spanned<String>, value: &Spanned<String>) -> Result<(), Error> {
    let is_framing = |other: &&&str| name.get_ref().eq_ignore_ascii_case(other);
    if !is_token(name.get_ref()) {
        return Err(source.error(name.span(), format!("\"{}\" is not a header name", name.get_ref())));
    }
    if !is_value(value.get_ref()) {
        return Err(source.error(value.span(), "a header value holds visible ASCII and spaces only"));
    }
    match ["content-length", "transfer-encoding", "connection"].iter().find(is_framing) {
        Some(other) => Err(source
            .error(name.span(), format!("{other} is written by the generator"))
            .mend("leave it out: it follows from the body and from --requests-per-connection")),
        None => Ok(()),
    }
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

fn page(source: &Source, entry: PageEntry, names: &mut Names) -> Result<Page, Error> {
    let conditions = entry.when.into_iter().map(|(name, pattern)| condition(source, &name, &pattern, names));
    let conditions = conditions.collect::<Result<_, _>>()?;
    let url = template(source, &entry.url, names)?;
    check_url(source, &entry.url, &url)?;
    let method = match entry.method {
        Some(method) if !is_token(method.get_ref()) => {
            return Err(source.error(method.span(), format!("\"{}\" is not a method", method.get_ref())));
        }
        Some(method) => Some(method.into_inner()),
        None => entry.body.as_ref().map(|_| "POST".to_owned()),
    };
    let body = match entry.body {
        Some(body) => Some(self::body(source, body, names)?),
        None => None,
    };
    let mut headers = Vec::with_capacity(entry.header.len());
    for (name, value) in entry.header {
        check_field(source, &name, &value)?;
        headers.push((name.into_inner(), template(source, &value, names)?));
    }
    let expect = entry.expect.map_or_else(|| Ok(Expect::default()), |entry| expect(source, entry))?;
    let mut takes = Vec::with_capacity(entry.take.len());
    for (name, place) in entry.take {
        takes.push(take(source, name, &place, names)?);
    }
    for object in &entry.embedded {
        if object.get_ref().contains("${") {
            return Err(source
                .error(object.span(), "what is embedded is the same in each session")
                .mend("make it a page of its own"));
        }
    }
    let embedded = entry.embedded.into_iter().map(|object| path(source, object));
    Ok(Page {
        url: Arc::clone(url.text()),
        request: Request { method, url, body, headers, expect, takes },
        conditions,
        think: entry.think,
        embedded: embedded.collect::<Result<_, _>>()?,
    })
}

fn template(source: &Source, text: &Spanned<String>, names: &Names) -> Result<Template, Error> {
    Template::parse(text.get_ref(), names).map_err(|(what, mend)| source.error(text.span(), what).mend(mend))
}

/// Refuses what cannot be a URL whatever a session knows.
fn check_url(source: &Source, text: &Spanned<String>, url: &Template) -> Result<(), Error> {
    match (url.fixed(), url.start()) {
        (Some(_), _) => path(source, text.clone()).map(drop),
        (None, Some(start)) => path(source, Spanned::new(text.span(), start.to_owned())).map(drop),
        (None, None) => Ok(()),
    }
}

/// The text, or with @ what is in a file.
fn body(source: &Source, body: Spanned<String>, names: &Names) -> Result<Template, Error> {
    let Some(file) = body.get_ref().strip_prefix('@') else { return template(source, &body, names) };
    let path = source.directory().join(file);
    let text = std::fs::read_to_string(&path)
        .map_err(|why| source.error(body.span(), format!("cannot read {}: {why}", path.display())))?;
    template(source, &Spanned::new(body.span(), text), names)
}

fn expect(source: &Source, entry: Spanned<ExpectEntry>) -> Result<Expect, Error> {
    let wrong = |what: String| source.error(entry.span(), what);
    let (status, body, length) = match entry.get_ref() {
        ExpectEntry::Status(status) => (Some(status), None, None),
        ExpectEntry::Table(table) => (table.status.as_ref(), table.body.as_ref(), table.length),
    };
    let status = status.map(|status| match status {
        Statuses::One(status) => status.to_string(),
        Statuses::Several(status) => status.clone(),
    });
    let status = status.map(|status| status.parse().map_err(|why: StatusError| wrong(why.to_string())));
    let pattern = body.map(|body| Regex::new(body).map_err(|why| wrong(why.to_string())));
    Ok(Expect { status: status.transpose()?, length, pattern: pattern.transpose()? })
}

fn take(
    source: &Source,
    name: Spanned<String>,
    place: &Spanned<String>,
    names: &mut Names,
) -> Result<Take, Error> {
    if !is_token(name.get_ref()) || names.columns.contains(name.get_ref()) {
        let what = format!("\"{}\" is a column of the data, or no name", name.get_ref());
        return Err(source.error(name.span(), what).mend("give it a name of its own"));
    }
    let place = Place::parse(place.get_ref()).map_err(|what| source.error(place.span(), what))?;
    let name = name.into_inner();
    let known = names.taken.iter().position(|other| *other == name);
    let number = known.unwrap_or_else(|| {
        names.taken.push(name.clone());
        names.taken.len() - 1
    });
    Ok(Take { name, number, place })
}

fn condition(
    source: &Source,
    name: &Spanned<String>,
    pattern: &Spanned<String>,
    names: &Names,
) -> Result<Condition, Error> {
    let of = Spanned::new(name.span(), format!("${{{}}}", name.get_ref()));
    match &template(source, &of, names)?.parts[..] {
        [of @ (Part::Column(_) | Part::Taken(_))] => Ok(Condition::new(of.clone(), pattern.get_ref())),
        _ => Err(source
            .error(name.span(), format!("\"{}\" has no value to compare", name.get_ref()))
            .mend("name a column of the data, or something that was taken from a response")),
    }
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

/// Whether a text can name a method or a header field (RFC 9110, section 5.6.2).
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a text can be the value of a header field.
pub(crate) fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}
