//! The workload of a spec: a file, keys in the spec itself, or a file with keys laid over it.

use std::path::Path;

use config::{Error, Source};
use toml::{Table, Value};
use traffic::Workload;

use super::without_place;

/// Resolves `[workload]`, which stands at `span` of `source`.
pub(super) fn resolve(
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
            file.parse()?
        }
        Some(_) => {
            return Err(source
                .error(span, "key \"file\" of [workload] is no string")
                .mend("give a path, relative to the spec"));
        }
        None => Table::new(),
    };
    table.extend(keys);
    let text = toml::to_string(&table).map_err(|why| source.error(span.clone(), why.to_string()))?;
    let workload = Workload::parse(&Source::new("", text))
        .map_err(|error| source.error(span, format!("[workload]: {}", without_place(&error))))?;
    Ok((workload, table))
}
