//! The servers under test: the lab's own instances, fresh for every test, gone after it; or one that runs already.

mod apache;
mod burn;
mod command;
pub(crate) mod content;
mod nginx;
mod node;
pub(crate) mod origin;
pub(crate) mod running;
pub(crate) mod site;
pub(crate) mod start;
