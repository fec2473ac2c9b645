//! What is measured against what: servers on processors of their own, in a network of their own.

pub(crate) mod certificate;
pub(crate) mod server;
pub(crate) mod site;
