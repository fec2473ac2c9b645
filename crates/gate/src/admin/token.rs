//! Which token an operator shows.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;

use gate_config::settings::token::Token;

/// The one of `tokens` that was shown. Digests of one length are compared, and all of them, so
/// that the time says nothing about what is right.
pub(super) fn shown<'t>(tokens: &'t [Token], secret: &[u8]) -> Option<&'t Token> {
    let digest: [u8; 32] = Sha256::digest(secret).into();
    tokens.iter().fold(
        None,
        |found, token| if bool::from(token.digest().ct_eq(&digest)) { Some(token) } else { found },
    )
}
