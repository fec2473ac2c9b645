//! The gate under a server instead of in front of it: it accepts the connections of the server's own listeners, and hands each
//! over when its first request has a place (`handoff` has what passes between them, `shim` what is in the server).

mod attached;
mod begun;
mod calm;
mod connection;
mod crowd;
mod crowded;
mod decide;
mod given_back;
mod group;
mod idle;
mod in_place;
mod leaving;
mod peek;
mod process;
mod raised;
mod recount;
mod refuse;
pub(crate) mod serve;
mod served;
mod socket;
