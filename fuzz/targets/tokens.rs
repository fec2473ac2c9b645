//! See [`gate::fuzz::tokens`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gate::fuzz::tokens(data));
