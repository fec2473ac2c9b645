//! [`sweep`]: what the targets of a fuzzer hold, held in an ordinary test as well.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Tries `target` on each of `seeds`, and on what `cases` random changes make of them: those of one
/// run are those of every run.
///
/// # Panics
/// When the target does.
#[track_caller]
pub fn sweep(target: fn(&[u8]), seeds: &[Vec<u8>], cases: u32) {
    seeds.iter().for_each(|seed| target(seed));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6);
    let tries = (prop::sample::select(seeds.to_vec()), changes);
    runner
        .run(&tries, |(mut bytes, changes)| {
            for (place, byte, kind) in changes {
                let at = place.index(bytes.len() + 1);
                match kind {
                    0 => bytes.insert(at, byte),
                    1 => bytes.truncate(at),
                    _ if at == bytes.len() => bytes.push(byte),
                    2 => bytes[at] = byte,
                    _ => drop(bytes.remove(at)),
                }
            }
            target(&bytes);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
