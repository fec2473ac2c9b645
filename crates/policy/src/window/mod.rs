//! Stage 8, the window: how many requests may be inside the server.

mod observed;
mod places;
mod posterior;
mod search;
#[cfg(test)]
mod server_model;
mod setting;
#[cfg(test)]
mod tests;
mod trial;

pub(crate) use places::Places;
pub use setting::Window;
