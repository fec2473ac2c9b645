//! [`random`]: one seed for everything that chance has a part in.

use rand::SeedableRng;
use rand::rngs::StdRng;

/// Stream number `stream` of the random numbers of `seed`, for something of its own: `of` is at most 16 bytes.
pub(crate) fn random(seed: u64, stream: u64, of: &[u8]) -> StdRng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&stream.to_le_bytes());
    key[16..16 + of.len()].copy_from_slice(of);
    StdRng::from_seed(key)
}
