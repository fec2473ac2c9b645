//! [`Spent`]: what a program's samples come to.

/// Samples per second and processor: a prime, so that nothing that comes every few milliseconds is always there or never.
pub(crate) const FREQUENCY: u64 = 199;

/// Samples of one program since the profile began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// All of them.
    pub all: u64,
    /// In functions that collect garbage.
    pub collecting: u64,
    /// In functions of handshakes of TLS: public keys, and what makes the messages.
    pub handshaking: u64,
    /// In a library of cryptography, in other functions, and in those without names.
    pub encrypting: u64,
}
