//! A few worlds, each in a process of its own, in which nothing is found.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::process::{Command, Output};

/// Of several kinds of weather.
const SEEDS: std::ops::Range<u64> = 1..6;

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
