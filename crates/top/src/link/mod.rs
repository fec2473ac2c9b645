//! The conversation with a gate that comes and goes: [`News`](news::News) in one direction, [`Order`](news::Order)s in
//! the other.

pub(crate) mod ask;
pub(crate) mod conversation;
pub(crate) mod news;
#[cfg(test)]
mod tests;
