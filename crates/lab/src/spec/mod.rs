//! What an experiment is: the spec as plain values, read, checked and with its defaults filled in.

pub(crate) mod contenders;
pub(crate) mod crowd;
pub(crate) mod defaults;
pub(crate) mod design;
mod entries;
pub(crate) mod experiment;
pub(crate) mod factors;
mod file;
mod length;
pub(crate) mod method;
mod place;
pub(crate) mod prediction;
pub(crate) mod read;
mod resources;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod server;
mod settings;
pub(crate) mod subject;
pub(crate) mod workload;
pub(crate) mod workload_files;
