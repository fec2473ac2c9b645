//! Reads the workspace, holds it against the [`Rules`](crate::rules::Rules) and complains. Each file is one idea.

mod check;
mod comments;
mod complaint;
mod documents;
mod edges;
mod files;
mod layers;
mod manifests;
mod modules;
mod size;
mod sources;
mod workspace;

pub use check::{check, rooms};
pub use complaint::Complaint;
