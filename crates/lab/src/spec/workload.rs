//! The workload of a spec: sessions in a file, in keys of the spec itself, or in a file with keys laid over it; or a
//! URL, or a model of the literature.

use std::path::Path;

use config::{Error, Quantity, Source};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Table, Value};
use traffic::Workload;
use traffic::model::ModelName;
use units::Span;

use super::place::without_place;
use super::workload_files::gather;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Asked {
    /// Instead of sessions.
    pub(crate) what: Option<What>,
    /// How, as options of `headworks load`.
    pub(crate) options: Vec<String>,
    /// Whether files come from the disk, not from memory.
    pub(crate) cold: Cold,
    /// Whether the server speaks TLS, with whatever certificate.
    pub(crate) tls: bool,
}

/// Whether files come from the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cold {
    /// From memory, where they are when they have been written.
    #[default]
    Never,
    /// When the server starts.
    Once,
    /// Before each probe of a search.
    Always,
}

impl Asked {
    /// Whether files are to be on the disk alone when the server starts.
    pub(crate) fn is_from_disk(&self) -> bool {
        self.cold != Cold::Never
    }
}

/// What is asked for other than sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// The same page again and again.
    Url(String),
    /// Files as a model of the literature has them, such as `specweb96:50`.
    Model(ModelName),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct AskedEntry {
    /// A path, such as /bytes/1000.
    url: Option<String>,
    /// A model of the literature, such as specweb96:20.
    #[serde(default, with = "config::quantity::optional")]
    #[schemars(with = "Option<String>")]
    model: Option<ModelName>,
    /// 1.0, 1.1 or 2.
    #[schemars(with = "Option<Quantity<f64>>")]
    http: Option<Value>,
    /// Before a connection is closed.
    requests_per_connection: Option<u32>,
    /// Requests under way on a connection at once.
    pipeline: Option<u32>,
    /// How long a request may take.
    #[serde(default, with = "config::quantity::optional")]
    #[schemars(with = "Option<Quantity<Span>>")]
    timeout: Option<Span>,
    /// Whether files come from the disk.
    #[serde(default)]
    cold: Cold,
    /// Of a server of kind command: whether it speaks TLS; its certificate is not checked.
    #[serde(default)]
    tls: bool,
}

/// Resolves a `[workload]` that has a URL or names a model; nothing where it has sessions.
pub(super) fn asked(
    source: &Source,
    span: &std::ops::Range<usize>,
    keys: &Table,
) -> Result<Option<(Asked, Table)>, Error> {
    if !keys.contains_key("url") && !keys.contains_key("model") {
        return Ok(None);
    }
    let text = toml::to_string(keys).map_err(|why| source.error(span.clone(), why.to_string()))?;
    let entry: AskedEntry = Source::new("", text)
        .parse()
        .map_err(|error| source.error(span.clone(), format!("[workload]: {}", without_place(&error))))?;
    let what = match (entry.url, entry.model) {
        (Some(url), None) if url.starts_with('/') => What::Url(url),
        (None, Some(model)) => What::Model(model),
        (Some(url), None) => {
            return Err(source
                .error(span.clone(), format!("[workload]: url \"{url}\" is not a path"))
                .mend("begin it with /; the lab knows where the server is"));
        }
        _ => {
            return Err(source.error(span.clone(), "[workload] has a url and a model").mend("leave one out"));
        }
    };
    let http = entry.http.map(|http| http.as_str().map_or_else(|| http.to_string(), str::to_owned));
    let options = [
        ("--http", http),
        ("--requests-per-connection", entry.requests_per_connection.map(|number| number.to_string())),
        ("--pipeline", entry.pipeline.map(|number| number.to_string())),
        ("--timeout", entry.timeout.map(|timeout| timeout.to_string())),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
    // What the server has to have, as sessions.
    let page = match &what {
        What::Url(url) => url,
        What::Model(_) => "/",
    };
    let page = Table::from_iter([("url".to_owned(), Value::String(page.to_owned()))]);
    let sessions = Table::from_iter([
        ("kind".to_owned(), Value::String("sessions".to_owned())),
        ("page".to_owned(), Value::Array(vec![Value::Table(page)])),
    ]);
    Ok(Some((
        Asked { what: Some(what), options: options.flatten().collect(), cold: entry.cold, tls: entry.tls },
        sessions,
    )))
}

/// Resolves a `[workload]` of sessions, which stands at `span` of `source`.
pub(super) fn sessions(
    source: &Source,
    span: std::ops::Range<usize>,
    mut keys: Table,
    directory: &Path,
) -> Result<(Workload, Table), Error> {
    let mut table = match keys.remove("file") {
        Some(Value::String(name)) => {
            let file = Source::read(&directory.join(name))?;
            // The file by itself first: its errors have lines to point at.
            Workload::parse(&file)?;
            let mut table = file.parse()?;
            gather(&mut table, file.directory());
            table
        }
        Some(_) => {
            return Err(source
                .error(span, "key \"file\" of [workload] is not a string")
                .mend("give a path, relative to the spec"));
        }
        None => Table::new(),
    };
    gather(&mut keys, directory);
    table.extend(keys);
    let text = toml::to_string(&table).map_err(|why| source.error(span.clone(), why.to_string()))?;
    let workload = Workload::parse(&Source::new("", text))
        .map_err(|error| source.error(span, format!("[workload]: {}", without_place(&error))))?;
    Ok((workload, table))
}
