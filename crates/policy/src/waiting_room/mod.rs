//! The waiting room of a class: sessions that begin and find no room come back in the order of their first visits.
//!
//! Nothing is kept for each visitor: what it carries itself says who it is ([`Visit`](visit::Visit)).
//! [`Line`](line::Line) counts visitors by the time of their first visit, and who of them still comes;
//! [`WaitingRoom`](room::WaitingRoom) measures how many are let in, calls so many from the head of the line, and says
//! when to come back.

mod line;
pub(crate) mod room;
pub(crate) mod visit;
