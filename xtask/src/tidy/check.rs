//! All checks, one after the other.

use std::path::Path;

use anyhow::Context;

use super::complaint::Complaint;
use super::workspace::Workspace;
use super::{comments, documents, edges, layers, manifests, size, sources};
use crate::rules::Rules;

/// Checks the workspace at `root`; an error means that it could not be read at all.
pub fn check(root: &Path, rules: &Rules) -> anyhow::Result<Vec<Complaint>> {
    let workspace = Workspace::read(root)?;
    let mut complaints = Vec::new();
    edges::check(&workspace, rules, &mut complaints);
    manifests::check(&workspace, rules, &mut complaints);
    layers::check(&workspace, rules, &mut complaints);
    sources::check(&workspace, rules, &mut complaints);
    size::check(&workspace, rules, &mut complaints);
    comments::check(&workspace, rules, &mut complaints)?;
    documents::check(&workspace, rules, &mut complaints)?;
    complaints.sort();
    Ok(complaints)
}

/// The rooms of the crate `name` from low to high, each with the rooms that it imports from.
pub fn rooms(root: &Path, name: &str) -> anyhow::Result<Vec<(String, Vec<String>)>> {
    let workspace = Workspace::read(root)?;
    let package = workspace.packages.iter().find(|package| package.name == name);
    let package = package.with_context(|| format!("there is no crate {name}"))?;
    Ok(layers::rooms_of(package))
}
