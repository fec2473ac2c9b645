//! Reads the workspace, holds it against the [`Rules`] and complains. Each file is one idea.

mod complaint;
mod documents;
mod edges;
mod files;
mod manifests;
mod size;
mod sources;
mod workspace;

use std::path::Path;

pub use complaint::Complaint;

use crate::rules::Rules;
use workspace::Workspace;

/// Checks the workspace at `root`; an error means that it could not be read at all.
pub fn check(root: &Path, rules: &Rules) -> anyhow::Result<Vec<Complaint>> {
    let workspace = Workspace::read(root)?;
    let mut complaints = Vec::new();
    edges::check(&workspace, rules, &mut complaints);
    manifests::check(&workspace, rules, &mut complaints);
    sources::check(&workspace, rules, &mut complaints);
    size::check(&workspace, rules, &mut complaints);
    documents::check(&workspace, rules, &mut complaints)?;
    complaints.sort();
    Ok(complaints)
}
