//! Signs that resources are at their ends at a [`Level`](super::level::Level), and by which figures: utilisation,
//! saturation and errors of each (Gregg, "Systems Performance", section 2.5.9).

mod behind;
mod bounds;
mod connections;
mod event_loop;
mod generator;
mod held;
mod nearly;
mod network;
mod of_resource;
mod processors;
mod refusals;
mod sign;
mod tls;
mod waits;

pub(super) use nearly::{Nearly, nearly};
pub(super) use of_resource::sign;
pub(super) use sign::Sign;
pub(super) use waits::is_limit_of_group;
