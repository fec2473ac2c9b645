//! [`Manifest`]: what was written, in a file beside it.

use serde::{Deserialize, Serialize};

use crate::model::{Model, ModelName};

use super::filler::fnv1a;

/// Says of which model the files are, so that a later run can see that what a server serves is
/// what it will ask for. It is one of the files served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The name of the model, as it is written on the command line.
    pub workload: String,
    /// Files, without this one.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// A hash of their URLs and lengths, from which their contents follow.
    pub digest: String,
}

impl Manifest {
    /// What the manifest of `model` says.
    pub fn of(model: &Model) -> Self {
        let entries = model
            .objects()
            .iter()
            .flat_map(|object| object.url.bytes().chain([0]).chain(object.length.to_le_bytes()));
        Self {
            workload: model.name().to_string(),
            files: model.objects().len() as u64,
            bytes: model.total_bytes(),
            digest: format!("{:016x}", fnv1a(entries)),
        }
    }

    /// Where the manifest of a model is, from the root of the server.
    pub fn url(name: ModelName) -> String {
        format!("/{}/headworks-content.json", name.folder())
    }
}
