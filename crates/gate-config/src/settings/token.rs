//! [`Token`]: what an operator shows to be obeyed (RFC 6750).

use sha2::{Digest, Sha256};

/// A bearer token, of which only the digest is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    name: String,
    digest: [u8; 32],
    read_only: bool,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token")
            .field("name", &self.name)
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

impl Token {
    /// In bytes: shorter tokens can be guessed.
    pub const MIN_LENGTH: usize = 16;

    /// None when it is too short.
    pub fn new(name: &str, secret: &[u8], read_only: bool) -> Option<Self> {
        let long_enough = secret.len() >= Self::MIN_LENGTH;
        long_enough.then(|| Self { name: name.to_owned(), digest: Sha256::digest(secret).into(), read_only })
    }

    /// What its holder is called in records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the SHA-256 of the secret is.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Whether it may only read.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }
}
