//! See the tests of `http1`, which try the target without a fuzzer.
#![no_main]

#[path = "../../crates/http1/tests/codec/targets/against_hyper.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::try_on(data));
