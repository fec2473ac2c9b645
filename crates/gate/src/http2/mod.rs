//! Bodies on streams of HTTP/2, of clients as of servers: how they are read (`received`) and sent (`pour`).

pub(crate) mod pour;
pub(crate) mod received;
