//! A server that closes, duplicates, passes on and takes over descriptors in any order.

use std::process::Command;

use crate::properties::Site;
use crate::servers::Server;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/attach/descriptors.py");

/// With a gate at its socket, or none.
fn are_what_they_are(with_gate: bool, seeds: std::ops::Range<u32>) {
    let server = Server::python();
    let site = Site::of(&server);
    let gate = with_gate.then(|| site.gate("window = 3"));
    for seed in seeds {
        let mut command = Command::new("timeout");
        site.attach(command.args(["60", "python3", SERVER, &seed.to_string()]));
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "seed {seed}: {errors}");
    }
    if let Some(gate) = gate {
        assert!(gate.metric("headworks_gate_dispatched_total") > 100.0);
        gate.is_empty();
    }
}

#[test]
fn descriptors_are_what_they_are_with_a_gate() {
    are_what_they_are(true, 0..6);
}

#[test]
fn descriptors_are_what_they_are_without_one() {
    are_what_they_are(false, 0..6);
}
