//! `[server]`: which server it is, and with how many of what.

use config::{Error, Quantity, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;
use testbed::{Cpus, Mpm};
use toml::{Table, Value};
use units::Span;

use super::length::Length;
use crate::http;

/// What stands in the words of a server's command for what the lab gives it.
pub(crate) const ADDRESS: &str = "{address}";
pub(crate) const PORT: &str = "{port}";
pub(crate) const FILES: &str = "{files}";
pub(crate) const WORKERS: &str = "{workers}";
pub(crate) const BACKLOG: &str = "{backlog}";

/// The server under test.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) kind: Kind,
    /// Connections, or in nginx and Node event loops, served at once.
    pub(crate) workers: u32,
    /// Workers behind it that compute its pages; without them it does so itself.
    pub(crate) backend_workers: Option<u32>,
    /// Length of the listen queue.
    pub(crate) backlog: u16,
    pub(crate) keep_alive: Span,
    pub(crate) cpus: Cpus,
    /// Of what stands in front of it; the same where none are given.
    pub(crate) front_cpus: Option<Cpus>,
    /// What its configuration says besides, directive by directive.
    pub(crate) directives: Vec<(String, String)>,
    /// The most descriptors that a process of it may have open.
    pub(crate) descriptors: Option<u64>,
    /// Another program that runs on its processors meanwhile, with its arguments; none where this is empty.
    pub(crate) neighbour: Vec<String>,
}

/// Which server it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Origin,
    Apache(Mpm),
    Nginx,
    Node,
    /// A program of somebody's own, with its arguments.
    Command(Vec<String>),
    /// One that runs already, and where.
    Url(String),
}

impl Kind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Origin => "origin",
            Self::Apache(_) => "apache",
            Self::Nginx => "nginx",
            Self::Node => "node",
            Self::Command(_) => "command",
            Self::Url(_) => "url",
        }
    }
}

/// How Apache ties requests to processes and threads.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Mpm")]
enum MpmEntry {
    /// A process for each connection.
    Prefork,
    /// A thread for each connection.
    Worker,
    /// A thread for each request; idle connections need none.
    Event,
}

impl From<MpmEntry> for Mpm {
    fn from(entry: MpmEntry) -> Self {
        match entry {
            MpmEntry::Prefork => Self::Prefork,
            MpmEntry::Worker => Self::Worker,
            MpmEntry::Event => Self::Event,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ServerEntry {
    kind: KindEntry,
    /// Of kind command: a program and its arguments; {address}, {port}, {workers}, {backlog} and {files} are filled in.
    command: Option<Spanned<Vec<String>>>,
    /// Of kind url: where the server is.
    url: Option<Spanned<String>>,
    /// Of Apache: a process for each connection, or threads.
    mpm: Option<Spanned<MpmEntry>>,
    /// Workers behind it that compute its pages.
    backend_workers: Option<Spanned<u32>>,
    /// Connections, or in nginx and Node event loops, served at once.
    workers: Option<Spanned<u32>>,
    /// Length of the listen queue.
    #[serde(default = "default_backlog")]
    #[schemars(with = "u16")]
    backlog: Spanned<u16>,
    /// How long an idle connection is kept.
    keep_alive: Option<Spanned<Length>>,
    /// Processors by number, such as 0 or 0-1.
    #[serde(default = "default_cpus", with = "config::quantity")]
    #[schemars(with = "Quantity<Cpus>")]
    cpus: Cpus,
    /// Processors of the gate, or what else stands in front of it.
    #[serde(default)]
    front_cpus: Option<Quantity<Cpus>>,
    /// The most descriptors that a process of it may have open.
    descriptors: Option<Spanned<u64>>,
    /// Another program that runs on its processors meanwhile, without its limits: the program and its arguments.
    #[serde(default)]
    neighbour: Vec<String>,
    /// Of its configuration, directive by directive.
    #[serde(default)]
    #[schemars(with = "super::entries::Free")]
    directives: Table,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum KindEntry {
    Origin,
    Apache,
    Nginx,
    Node,
    Command,
    Url,
}

const MAX_THREADS: u32 = Mpm::MAX_THREADS;

/// Apache's and nginx's own default.
fn default_backlog() -> Spanned<u16> {
    Spanned::new(0..0, 511)
}

/// Apache's and Node's default.
const KEEP_ALIVE: Span = Span::from_secs(5);

fn default_cpus() -> Cpus {
    Cpus::one(0)
}

/// Checks what stands under `[server]`, for a workload with files or without; gives besides how many descriptors it may have.
pub(super) fn check(
    source: &Source,
    entry: Spanned<ServerEntry>,
    has_files: bool,
) -> Result<(Server, Option<Spanned<u64>>), Error> {
    let kind = kind(source, &entry)?;
    let span = entry.span();
    let entry = entry.into_inner();
    if let Kind::Command(words) = &kind {
        told(source, &entry, words, has_files)?;
    }
    let backend_workers = match at_least_one(source, "backend-workers", entry.backend_workers.as_ref())? {
        // The CPU time that Lua can tell is that of all threads. Debian's php-fpm has 5.
        None if matches!(kind, Kind::Apache(Mpm::Event | Mpm::Worker)) => Some(5),
        workers => workers,
    };
    if let Some(workers) = &entry.backend_workers
        && !matches!(kind, Kind::Apache(_) | Kind::Nginx)
    {
        return Err(source
            .error(workers.span(), "only servers of kind \"apache\" and \"nginx\" have backend-workers")
            .mend("leave it out"));
    }
    if *entry.backlog.get_ref() == 0 {
        return Err(source.error(entry.backlog.span(), "backlog is 0").mend("give at least 1"));
    }
    let workers = match (at_least_one(source, "workers", entry.workers.as_ref())?, &kind) {
        (Some(workers), _) => workers,
        // Debian's configurations: worker_processes auto, one per processor; MaxRequestWorkers 150.
        (None, Kind::Nginx) => u32::try_from(entry.cpus.numbers().count()).unwrap_or(1),
        // A program of one's own has one event loop unless it does something about it.
        (None, Kind::Node) => 1,
        (None, _) => 150,
    };
    let is_uneven = workers > MAX_THREADS && !workers.is_multiple_of(MAX_THREADS);
    if let (true, Kind::Apache(Mpm::Worker | Mpm::Event), Some(given)) = (is_uneven, &kind, &entry.workers) {
        return Err(source
            .error(given.span(), format!("an Apache of threads has {MAX_THREADS} of them in each process"))
            .mend(format!("give a multiple of {MAX_THREADS}, or less than that")));
    }
    if !entry.directives.is_empty() && !matches!(kind, Kind::Apache(_) | Kind::Nginx) {
        return Err(source
            .error(span, "only servers of kind \"apache\" and \"nginx\" have directives")
            .mend("leave them out"));
    }
    let descriptors = entry.descriptors;
    let most = descriptors.as_ref().map(|most| *most.get_ref());
    let server = Server {
        kind,
        workers,
        backend_workers,
        backlog: entry.backlog.into_inner(),
        keep_alive: entry.keep_alive.map_or(KEEP_ALIVE, |length| length.get_ref().0),
        cpus: entry.cpus,
        front_cpus: entry.front_cpus.map(|cpus| cpus.0),
        directives: directives(&entry.directives),
        descriptors: most,
        neighbour: entry.neighbour,
    };
    Ok((server, descriptors))
}

/// Names and what stands behind them; a list has the directive several times.
fn directives(table: &Table) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let each = |(name, value): (&String, &Value)| match value {
        Value::Array(values) => values.iter().map(|value| (name.clone(), text(value))).collect(),
        value => vec![(name.clone(), text(value))],
    };
    table.iter().flat_map(each).collect()
}

fn kind(source: &Source, entry: &Spanned<ServerEntry>) -> Result<Kind, Error> {
    let ServerEntry { kind, url, mpm, command, .. } = entry.get_ref();
    if let Some(command) = command.as_ref().filter(|_| *kind != KindEntry::Command) {
        return Err(source
            .error(command.span(), "only a server of kind \"command\" has a command")
            .mend("leave it out, or set kind"));
    }
    if let Some(url) = url.as_ref().filter(|_| *kind != KindEntry::Url) {
        return Err(source
            .error(url.span(), "only a server of kind \"url\" has a url")
            .mend("leave it out; the lab starts the others on free ports"));
    }
    if let Some(mpm) = mpm.as_ref().filter(|_| *kind != KindEntry::Apache) {
        return Err(source
            .error(mpm.span(), "only a server of kind \"apache\" has an mpm")
            .mend("leave it out"));
    }
    Ok(match (kind, url) {
        (KindEntry::Origin, _) => Kind::Origin,
        (KindEntry::Apache, _) => {
            Kind::Apache(mpm.as_ref().map(|mpm| Mpm::from(*mpm.get_ref())).unwrap_or_default())
        }
        (KindEntry::Nginx, _) => Kind::Nginx,
        (KindEntry::Node, _) => Kind::Node,
        (KindEntry::Command, _) => match command {
            Some(command) if tells(command.get_ref(), PORT) => Kind::Command(command.get_ref().clone()),
            _ => {
                return Err(source
                    .error(entry.span(), "a server of kind \"command\" needs a command that is told the port")
                    .mend("add command = [\"my-server\", \"--listen\", \"{address}:{port}\"]"));
            }
        },
        (KindEntry::Url, None) => {
            return Err(source
                .error(entry.span(), "the server is of kind \"url\" and has no url")
                .mend("add url = \"http://127.0.0.1:8080\""));
        }
        (KindEntry::Url, Some(url)) => match http::authority(url.get_ref()) {
            Some(_) => Kind::Url(url.get_ref().clone()),
            None => {
                return Err(source
                    .error(url.span(), format!("\"{}\" is not an address of a server", url.get_ref()))
                    .mend("write it as http://HOST:PORT"));
            }
        },
    })
}

/// Whether one of a program's arguments has this in it.
fn tells(words: &[String], what: &str) -> bool {
    words.iter().skip(1).any(|word| word.contains(what))
}

/// A program of somebody's own is what its command says: what is not said to it would have no effect.
fn told(source: &Source, entry: &ServerEntry, words: &[String], has_files: bool) -> Result<(), Error> {
    let backlog = entry.backlog.span();
    let given = [
        (entry.workers.as_ref().map(Spanned::span), "workers", WORKERS),
        ((!backlog.is_empty()).then_some(backlog), "backlog", BACKLOG),
    ];
    for (span, name, place) in given {
        if let Some(span) = span.filter(|_| !tells(words, place)) {
            let mend = format!("leave {name} out, or say {place} in the command");
            return Err(source.error(span, format!("the command is not told of {name}")).mend(mend));
        }
    }
    if let Some(keep_alive) = &entry.keep_alive {
        return Err(source
            .error(keep_alive.span(), "keep-alive is nothing that a server of kind \"command\" can be told")
            .mend("leave it out, and say it in the command"));
    }
    match &entry.command {
        Some(command) if has_files && !tells(words, FILES) => Err(source
            .error(command.span(), "the workload has files, and the command is not told where they are")
            .mend("say {files} in it")),
        _ => Ok(()),
    }
}

fn at_least_one(source: &Source, name: &str, number: Option<&Spanned<u32>>) -> Result<Option<u32>, Error> {
    match number {
        Some(zero) if *zero.get_ref() == 0 => {
            Err(source.error(zero.span(), format!("{name} is 0")).mend("give at least 1"))
        }
        number => Ok(number.map(|number| *number.get_ref())),
    }
}
