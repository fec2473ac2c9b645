//! Whose certificates are believed by those who connect with TLS.

mod trusted;

pub use trusted::Trusted;
