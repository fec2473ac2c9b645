//! A few worlds in which nothing is found, and what a seed repeats of one.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::process::{Command, Output};

use simulate::trace::Keep;
use simulate::world;

/// Of several kinds of weather.
const SEEDS: [u64; 5] = [1, 4, 6, 7, 8];
/// With faults of the network and of servers.
const REPEATED: [u64; 2] = [1, 4];

fn simulate(seed: u64, arguments: &[&str]) -> Output {
    let seed = seed.to_string();
    Command::new(env!("CARGO_BIN_EXE_simulate")).args(["--seed", &seed]).args(arguments).output().unwrap()
}

#[test]
fn nothing_is_found_in_some_worlds() {
    for seed in SEEDS {
        let output = simulate(seed, &["--worlds", "1"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("; 0 findings"), "seed {seed}: {text}");
        assert!(!text.contains(" 0 requests in"), "seed {seed}: no request was sent: {text}");
    }
}

#[test]
fn a_seed_repeats_a_world_to_the_byte() {
    for seed in REPEATED {
        let first = simulate(seed, &["--trace"]).stdout;
        assert!(first.len() > 1_000, "seed {seed}: {} bytes", first.len());
        // In another second: what is dated would be of another length.
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        let again = simulate(seed, &["--trace"]).stdout;
        let differs = || first.iter().zip(&again).position(|(one, other)| one != other);
        assert!(first == again, "seed {seed}: from byte {:?} on", differs());
    }
}

#[test]
fn a_world_does_not_know_which_came_before() {
    let [seed, other] = REPEATED;
    let hash = |seed| world::run(seed, Keep::Hash).unwrap().hash;
    let alone = hash(seed);
    hash(other);
    assert_eq!(hash(seed), alone);
}
