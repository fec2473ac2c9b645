//! A few worlds, and the promise that a seed repeats its world.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use simulate::trace::Keep;
use simulate::world::run;

/// Enough for each kind of weather.
const SEEDS: std::ops::Range<u64> = 1..13;

#[test]
fn nothing_is_found_in_some_worlds() {
    for seed in SEEDS {
        let outcome = run(seed, Keep::Hash).unwrap();
        assert!(outcome.tally.served > 0, "seed {seed}: no request was served: {:?}", outcome.tally);
        assert!(outcome.findings.is_empty(), "seed {seed}: {:#?}", outcome.findings);
    }
}

#[test]
fn a_seed_repeats_its_world_byte_for_byte() {
    for seed in [1, 2, 3, 4] {
        let (first, second) = (run(seed, Keep::Lines).unwrap(), run(seed, Keep::Lines).unwrap());
        assert!(first.text == second.text, "seed {seed} went two ways");
        assert_ne!(first.hash, run(seed + 100, Keep::Hash).unwrap().hash);
    }
}
