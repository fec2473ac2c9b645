//! The live view: a picture of the watch on the whole terminal, a tab for each group, and keys.

mod body;
mod draw;
mod kernel;
mod network;
mod overhead;
mod processes;
mod requests;
mod state;
mod tab;
#[cfg(test)]
mod tests;
pub(super) mod view;
